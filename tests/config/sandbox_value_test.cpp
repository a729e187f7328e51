#include "config/sandbox_value.hpp"

#include <doctest/doctest.h>

using namespace bureau::config;

TEST_CASE("bubblewrap is a value with one profile") {
  for (auto text : {"bwrap", "bwrap:default"}) {
    auto parsed = parse_sandbox_value(text);
    REQUIRE(parsed);
    CHECK(parsed.value.type == sandbox_type::bwrap);
    CHECK(parsed.value.profile == "default");
  }
  CHECK(parse_sandbox_value("bwrap:").fault == sandbox_fault::missing_profile);
  CHECK(parse_sandbox_value("bwrap:x").fault
        == sandbox_fault::unsupported_profile);
  CHECK(parse_sandbox_value("BWRAP").fault == sandbox_fault::invalid_type);
}

TEST_CASE("a value prints as it would be typed") {
  for (auto text :
       {"host", "bwrap:default", "container:x:y", "image:ubuntu:24.04",
        "gondolin:default", "firecracker:vm:/w:u:2222", "cloudflare:a:b"}) {
    CAPTURE(std::string{text});
    auto parsed = parse_sandbox_value(text);
    REQUIRE(parsed);
    CHECK(to_string(parsed.value) == text);
    CHECK(parse_sandbox_value(to_string(parsed.value)).value == parsed.value);
  }
}

TEST_CASE("refusals say what to type instead") {
  struct row {
    const char* value;
    const char* part;
  };
  for (auto [value, part] :
       {row{"container:", "container sandbox requires container name"},
        row{"image:", "image sandbox requires image name"},
        row{"gondolin:", "gondolin sandbox requires a profile"},
        row{"gondolin:foo", "unsupported gondolin profile 'foo'"},
        row{"gondolin:foo", "gondolin:default"},
        row{"firecracker:a", "requires vm-id and host-path"},
        row{"firecracker:a",
            "firecracker:<vm-id>:<host-path>[:<ssh-user>[:<ssh-port>]]"},
        row{"firecracker:vm:/w:u:22abc", "invalid SSH port '22abc'"},
        row{"firecracker:vm:/w:u:65536", "invalid SSH port"},
        row{"firecracker:vm:/w:u:22:extra", "more fields"},
        row{"cloudflare:   ", "cloudflare sandbox requires sandbox id"},
        row{"docker:x", "container:<container-name>"},
        row{"bogus:nope", "Invalid sandbox type 'bogus:nope'"},
        row{"bogus:nope", "Use host, bwrap[:default], container:"}}) {
    CAPTURE(std::string{value});
    auto sentence = parse_sandbox_value(value).sentence();
    CAPTURE(sentence);
    CHECK(sentence.find(part) != std::string::npos);
    CHECK(sentence.starts_with("Error: "));
  }
}

TEST_CASE("only types with a managed projection keep an isolated door") {
  struct row {
    sandbox_type type;
    bool projection;
    bool available;
  };
  for (auto [type, projection, available] :
       {row{sandbox_type::host, false, true},
        row{sandbox_type::bwrap, true, true},
        row{sandbox_type::container, false, false},
        row{sandbox_type::image, true, false},
        row{sandbox_type::gondolin, true, false},
        row{sandbox_type::firecracker, false, false},
        row{sandbox_type::cloudflare, false, false}}) {
    CAPTURE(to_string(type));
    CHECK(capabilities_of(type).managed_projection == projection);
    CHECK(capabilities_of(type).available == available);
  }
}

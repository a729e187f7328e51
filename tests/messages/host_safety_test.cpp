#include "messages/contracts/host_safety.hpp"

#include "messages/errc.hpp"

#include <doctest/doctest.h>

#include <string>

using namespace bureau;
using namespace bureau::contracts;

TEST_CASE("loopback is told by the address") {
  for (auto host : {"localhost", "LOCALHOST", "127.5.5.5", "127.255.255.255",
                    "::1", "[::1]", "0:0:0:0:0:0:0:1", "::ffff:127.0.0.1",
                    "[::ffff:7f05:505]", "::FFFF:127.0.0.1"})
    CHECK_MESSAGE(is_loopback_host(host), host);
  for (auto host : {"",
                    "127.1",
                    "127",
                    "127.00.00.01",
                    "0177.0.0.1",
                    "0x7f.0.0.1",
                    "[127.0.0.1]",
                    "127.attacker.example",
                    "127.0.0.1.attacker.example",
                    "127.0.0.1:80",
                    "[::1",
                    "::1]",
                    "[::1]:80",
                    "[[::1]]",
                    " localhost",
                    "localhost ",
                    "localhost.",
                    "::ffff:128.0.0.1",
                    "::127.0.0.1",
                    "::ffff:0:127.0.0.1",
                    "0.0.0.0",
                    "::",
                    "::2",
                    "::1%lo",
                    "fe80::1%eth0",
                    "127.0.0.1\n",
                    "１２７.0.0.1",
                    "127.0.0.256",
                    "2130706433"})
    CHECK_FALSE_MESSAGE(is_loopback_host(host), host);
  using namespace std::string_literals;
  CHECK_FALSE(is_loopback_host("127.0.0.1\0.attacker.example"s));
  CHECK_FALSE(is_loopback_host("localhost\0"s));
  CHECK_FALSE(is_loopback_host("::1\0"s));
  CHECK_FALSE(is_loopback_host(std::string(10'000'000, '1')));
}

TEST_CASE("wildcards are told by the address") {
  for (auto host : {"0.0.0.0", "::", "[::]", "0:0:0:0:0:0:0:0", "::0",
                    "::ffff:0.0.0.0", "::ffff:0:0"})
    CHECK_MESSAGE(is_wildcard_host(host), host);
  for (auto host : {"*", "", "0", "0.0.0.0 ", "[0.0.0.0]", "0.0.0.0:80", "::1",
                    "000.0.0.0", "localhost"})
    CHECK_FALSE_MESSAGE(is_wildcard_host(host), host);
}

TEST_CASE("hosts as they are bound and written") {
  CHECK(normalize_host_for_bind("[::1]") == "::1");
  CHECK(normalize_host_for_bind("[2001:DB8::1]") == "2001:DB8::1");
  CHECK(normalize_host_for_bind("[127.0.0.1]") == "[127.0.0.1]");
  CHECK(normalize_host_for_bind("[]") == "[]");
  CHECK(host_for_url("::1") == "[::1]");
  CHECK(host_for_url("[::1]") == "[::1]");
  CHECK(host_for_url("127.0.0.1") == "127.0.0.1");
}

TEST_CASE("an unsafe bind is the caller's error") {
  auto unsafe = make_failure(errc::bad_config, "bind to 127.0.0.1");
  CHECK_FALSE(assert_safe_bind("0.0.0.0", true, unsafe));
  CHECK_FALSE(assert_safe_bind("localhost", false, unsafe));
  CHECK(assert_safe_bind("0.0.0.0", false, unsafe) == unsafe);
  CHECK(assert_safe_bind("", false, unsafe) == unsafe);
}

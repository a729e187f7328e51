#include "actors/io/http_core.hpp"

#include <doctest/doctest.h>

#include <functional>

using namespace bureau;

namespace {

http_request good_request() {
  http_request result;
  result.id = 1;
  result.url = "https://api.example/v1/chat?x=1";
  result.headers = {{"Authorization", "Bearer k", true}};
  return result;
}

} // namespace

TEST_CASE("a request is checked before it reaches the loop") {
  CHECK(io::request_fault(good_request()).empty());
  struct row {
    const char* name;
    std::function<void(http_request&)> spoil;
    const char* says;
  };
  const row rows[] = {
    {"no id", [](http_request& r) { r.id = 0; }, "no id"},
    {"method with a blank", [](http_request& r) { r.method = "GE T"; },
     "method"},
    {"file scheme", [](http_request& r) { r.url = "file:///etc/passwd"; },
     "http://"},
    {"no host", [](http_request& r) { r.url = "https:///x"; }, "host"},
    {"raw blank in the URL", [](http_request& r) { r.url += " x"; }, "encoded"},
    {"raw UTF-8 in the URL", [](http_request& r) { r.url += "\xc3\xa4"; },
     "encoded"},
    {"URL of 17 KiB",
     [](http_request& r) { r.url += std::string(17u << 10, 'a'); }, "too long"},
    {"header name with a colon",
     [](http_request& r) { r.headers[0].name = "A:"; }, "header name"},
    {"header value with a line break",
     [](http_request& r) { r.headers[0].value = "a\r\nB: c"; },
     "Authorization"},
    {"129 headers",
     [](http_request& r) {
       r.headers.resize(129, {"A", "b", false});
     },
     "too many"},
    {"body and parts",
     [](http_request& r) {
       r.body = "x";
       r.parts = {{"f", "", "", "y"}};
     },
     "either"},
    {"part without a name", [](http_request& r) { r.parts = {{}}; }, "name"},
    {"part name with a line break",
     [](http_request& r) {
       r.parts = {{"a\nb", "", "", ""}};
     },
     "line break"},
    {"11 redirects", [](http_request& r) { r.redirects = 11; }, "redirects"},
    {"secret header that redirects would leak",
     [](http_request& r) {
       r.redirects = 1;
       r.headers.push_back({"x-api-key", "k", true});
     },
     "x-api-key"},
  };
  for (const auto& row : rows) {
    CAPTURE(row.name);
    auto request = good_request();
    row.spoil(request);
    auto fault = io::request_fault(request);
    CHECK(fault.find(row.says) != std::string::npos);
    CHECK(fault.find("Bearer") == std::string::npos);
  }
}

TEST_CASE("only the origin of a URL is ever shown") {
  struct row {
    const char* url;
    const char* shown;
  };
  const row rows[] = {
    {"https://api.telegram.org/bot123:secret/getMe",
     "https://api.telegram.org"},
    {"HTTP://user:pw@Host:81?token=t", "HTTP://Host:81"},
    {"http://[::1]:8080/x#y", "http://[::1]:8080"},
    {"ftp://host/secret", "an unsupported URL"},
    {"http://a b/secret", "http://a?b"},
  };
  for (const auto& row : rows)
    CHECK(io::shown_origin(row.url) == row.shown);
}

TEST_CASE("this machine is recognised in a URL") {
  for (auto url : {"http://127.0.0.1/", "http://127.1.2.3:80/x",
                   "https://localhost:1/", "http://LOCALHOST", "http://[::1]/"})
    CHECK(io::is_loopback(url));
  for (auto url :
       {"http://127.0.0.1.evil.example/", "http://localhost.example/",
        "http://[::2]/", "http://user@10.0.0.1/"})
    CHECK_FALSE(io::is_loopback(url));
}

TEST_CASE("the end of a transfer maps to a code of ours") {
  CHECK(code_of(io::fetch_failure(http_error::too_large, "d"))
        == errc::too_large);
  CHECK(code_of(io::fetch_failure(http_error::timeout, "d")) == errc::timeout);
  CHECK(code_of(io::fetch_failure(http_error::cancelled, "d"))
        == errc::aborted);
  CHECK(code_of(io::fetch_failure(http_error::shutting_down, "d"))
        == errc::shutting_down);
  for (auto error : {http_error::resolve, http_error::connect, http_error::tls,
                     http_error::reset, http_error::truncated,
                     http_error::protocol, http_error::local}) {
    auto failure = io::fetch_failure(error, "the detail");
    CHECK(code_of(failure) == errc::transport);
    CHECK(sentence_of(failure) == "the detail");
  }
}

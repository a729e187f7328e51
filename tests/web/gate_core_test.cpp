#include "web/http/gate_core.hpp"

#include <doctest/doctest.h>

using namespace bureau::web;
using namespace std::string_literals;

namespace {

constexpr uint64_t max_body = 100;
constexpr uint32_t partial = 1;
constexpr uint32_t whole = 2;

/// partial, whole or the status of the refusal.
uint32_t outcome(const arrival& state) {
  if (state.refusal != 0)
    return state.refusal;
  return state.whole ? whole : partial;
}

uint32_t judged(const std::string& bytes) {
  request_gate gate{max_body};
  return outcome(gate.judge(bytes));
}

/// The same bytes one at a time: the first judgement that is final.
uint32_t judged_slowly(const std::string& bytes) {
  request_gate gate{max_body};
  auto last = partial;
  for (size_t size = 1; size <= bytes.size() && last == partial; ++size)
    last = outcome(gate.judge(std::string_view{bytes}.substr(0, size)));
  return last;
}

std::string get(const std::string& fields) {
  return "GET /x HTTP/1.1\r\n" + fields + "\r\n";
}

} // namespace

TEST_CASE("a request is whole, or not yet, or refused") {
  struct row {
    const char* name;
    std::string bytes;
    uint32_t outcome;
  };
  const row rows[] = {
    {"nothing", "", partial},
    {"half a line", "GET /x HT", partial},
    {"no end of the headers", "GET /x HTTP/1.1\r\nHost: h\r\n", partial},
    {"half an end", "GET /x HTTP/1.1\r\nHost: h\r\n\r", partial},
    {"plain", get("Host: h\r\n"), whole},
    {"without a Host", get(""), whole},
    {"line feeds alone", "GET /x HTTP/1.0\n\n", whole},
    {"after an empty line", "\r\n" + get("Host: h\r\n"), whole},
    {"after many", std::string(100, '\n') + get("Host: h\r\n"), 400},
    {"a second one behind it", get("Host: h\r\n") + "GET /y", whole},
    {"body to come", get("Content-Length: 5\r\n") + "hell", partial},
    {"body", get("Content-Length: 5\r\n") + "hello", whole},
    {"empty body", get("Content-Length: 0\r\n"), whole},
    {"longest body", get("Content-Length: 100\r\n") + std::string(100, 'x'),
     whole},
    {"body too long", get("Content-Length: 101\r\n"), 413},
    {"chunks to come", get("Transfer-Encoding: chunked\r\n") + "5\r\nhel",
     partial},
    {"chunks without their end",
     get("Transfer-Encoding: chunked\r\n") + "5\r\nhello\r\n", partial},
    {"chunks",
     get("Transfer-Encoding: Chunked\r\n") + "5;a=b\r\nhello\r\nA\r\n"
       + std::string(10, 'x') + "\r\n0\r\n\r\n",
     whole},
    {"chunks with a trailer",
     get("Transfer-Encoding: chunked\r\n") + "0\r\nX: y\r\n\r\n", whole},
    {"chunks too long together",
     get("Transfer-Encoding: chunked\r\n") + "40\r\n" + std::string(64, 'x')
       + "\r\n40\r\n",
     413},
    {"chunks that are all frame",
     get("Transfer-Encoding: chunked\r\n") + "1;" + std::string(2000, 'x'),
     413},
    {"chunk size that is none", get("Transfer-Encoding: chunked\r\n") + "x\r\n",
     400},
    {"chunk size beyond 64 bits",
     get("Transfer-Encoding: chunked\r\n") + "fffffffffffffffff\r\n", 400},
    {"chunk longer than it says",
     get("Transfer-Encoding: chunked\r\n") + "1\r\nxy\r\n", 400},
    {"two Hosts", get("Host: a\r\nHost: a\r\n"), 400},
    {"two Hosts in two spellings", get("Host: a\r\nhOST: b\r\n"), 400},
    {"two lengths", get("Content-Length: 1\r\nContent-Length: 1\r\n"), 400},
    {"a list of lengths", get("Content-Length: 1, 1\r\n"), 400},
    {"length that is none", get("Content-Length: +1\r\n"), 400},
    {"length beyond 64 bits", get("Content-Length: 99999999999999999999\r\n"),
     400},
    {"length and chunks",
     get("Content-Length: 5\r\nTransfer-Encoding: chunked\r\n"), 400},
    {"chunks and length",
     get("Transfer-Encoding: chunked\r\nContent-Length: 0\r\n"), 400},
    {"another encoding", get("Transfer-Encoding: gzip, chunked\r\n"), 400},
    {"two encodings",
     get("Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n"), 400},
    {"blank before the colon", get("Content-Length : 5\r\n"), 400},
    {"folded line", get("X: a\r\n b\r\n"), 400},
    {"no colon", get("nonsense\r\n"), 400},
    {"no name", get(": x\r\n"), 400},
    {"NUL in a value", get("X: a\0b\r\n"s), 400},
    {"bare carriage return", get("X: a\rHost: h\r\n"), 400},
    {"expects to be asked",
     get("Content-Length: 5\r\nExpect: 100-continue\r\n"), 417},
    {"no method", " /x HTTP/1.1\r\n", 400},
    {"no target", "GET HTTP/1.1\r\n", 400},
    {"no version", "GET /x\r\n", 400},
    {"another version", "PRI * HTTP/2.0\r\n", 400},
    {"TLS", "\x16\x03\x01\x02\x01\n", 400},
    {"endless line", "GET /" + std::string(longest_head, 'x'), 431},
    {"endless headers",
     get("X: " + std::string(longest_head / 2, 'x')
         + "\r\nY: " + std::string(longest_head / 2, 'y') + "\r\n"),
     431},
  };
  for (const auto& row : rows) {
    CAPTURE(row.name);
    CHECK(judged(row.bytes) == row.outcome);
    CHECK(judged_slowly(row.bytes) == row.outcome);
  }
}

TEST_CASE("a refusal is a complete response") {
  auto text = refusal_text(400);
  CHECK(text.starts_with("HTTP/1.1 400 Bad Request\r\n"));
  CHECK(text.find("\r\nConnection: close\r\n") != std::string::npos);
  CHECK(text.find("\r\nContent-Length: 0\r\n") != std::string::npos);
  CHECK(text.ends_with("\r\n\r\n"));
  CHECK(refusal_text(413).starts_with("HTTP/1.1 413 Content Too Large\r\n"));
}

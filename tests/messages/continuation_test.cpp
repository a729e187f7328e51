#include "messages/contracts/continuation.hpp"

#include "messages/codec/json_support.hpp"

#include <doctest/doctest.h>

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>

#include <functional>

using namespace bureau;
using namespace bureau::contracts;

namespace {

namespace bj = boost::json;

bj::object good() {
  return json::parse(R"({"schemaVersion":1,"conversationId":"chat:9",
    "originRunId":"r1","historyBoundary":"r1",
    "capturedAt":"2026-01-02T03:04:05.000Z","messages":[
    {"role":"user","content":"q","runId":"r1",
     "timestamp":"2026-01-02T03:04:05.000Z"},
    {"role":"assistant","content":"a","runId":"r1",
     "timestamp":"2026-01-02T03:04:05.000Z"}]})")
    .value.as_object();
}

bj::array& messages(bj::object& context) {
  return context["messages"].as_array();
}

bj::object& message(bj::object& context, size_t index) {
  return messages(context)[index].as_object();
}

void put_before(bj::object& context, size_t count, std::string content) {
  auto& list = messages(context);
  for (size_t i = 0; i < count; ++i)
    list.insert(list.begin(),
                bj::object{{"role", "tool"}, {"content", content}});
}

} // namespace

TEST_CASE("origin contexts of continuations") {
  using fault = continuation_fault;
  struct row {
    const char* name;
    std::function<void(bj::object&)> change;
    fault want;
  };
  const row rows[] = {
    {"good", [](auto&) {}, fault::none},
    {"64 messages", [](auto& c) { put_before(c, 62, "x"); }, fault::none},
    {"65 messages", [](auto& c) { put_before(c, 63, "x"); }, fault::envelope},
    {"another boundary", [](auto& c) { c["historyBoundary"] = "r2"; },
     fault::envelope},
    {"no milliseconds",
     [](auto& c) { c["capturedAt"] = "2026-01-02T03:04:05Z"; },
     fault::envelope},
    {"one key more", [](auto& c) { c["x"] = 1; }, fault::envelope},
    {"blank id", [](auto& c) { c["conversationId"] = " "; }, fault::envelope},
    {"version as text", [](auto& c) { c["schemaVersion"] = "1"; },
     fault::envelope},
    {"longest content",
     [](auto& c) { message(c, 0)["content"] = std::string(65'536, 'x'); },
     fault::none},
    {"content too long",
     [](auto& c) { message(c, 0)["content"] = std::string(65'537, 'x'); },
     fault::message},
    {"unknown role", [](auto& c) { message(c, 0)["role"] = "User"; },
     fault::message},
    {"name is null", [](auto& c) { message(c, 0)["name"] = nullptr; },
     fault::message},
    {"last one of a tool", [](auto& c) { message(c, 1)["role"] = "tool"; },
     fault::ending},
    {"of another run", [](auto& c) { message(c, 0)["runId"] = "r2"; },
     fault::ending},
    {"too much in all",
     [](auto& c) { put_before(c, 4, std::string(65'500, 'x')); }, fault::size},
  };
  for (const auto& row : rows) {
    CAPTURE(row.name);
    auto context = good();
    row.change(context);
    CHECK(check_continuation_origin_context(context) == row.want);
  }
  CHECK(check_continuation_origin_context(nullptr) == fault::envelope);
  CHECK(check_continuation_origin_context(bj::array{}) == fault::envelope);
}

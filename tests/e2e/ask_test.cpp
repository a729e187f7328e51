#include "tests/e2e/e2e_support.hpp"

#include <doctest/doctest.h>

using namespace bureau::e2e;

namespace {

constexpr const char* painter = R"json({"fixtures":[
  {"match":{"userMessage":"paint","hasToolResult":false},
   "response":{"toolCalls":[{"id":"call_1","name":"ask","arguments":{
     "label":"colour","questions":[{"header":"Colour",
       "question":"Which one is it to be?","options":[
         {"label":"red","description":"as roses"},
         {"label":"blue","description":"as the sky"}]}]}}]}},
  {"match":{"userMessage":"paint","hasToolResult":true},
   "response":{"content":"I painted it."}}]})json";

/// A home whose model asks for a colour before it paints.
struct painter_home : home {
  painter_home() {
    write_file(state + "/models.json",
               R"({"providers":{"lab":{"api":"openai-completions","baseUrl":")"
                 + mock.url()
                 + R"(/v1","apiKey":"k","models":[{"id":"tiny"}]}}})");
  }
  provider mock{painter};
};

} // namespace

TEST_CASE("a question of the model is answered by a number") {
  painter_home place;
  program node{place.command(), place.environment, true};
  REQUIRE(node.read_until("lab/tiny"));
  node.write("paint it\n");
  REQUIRE(node.read_until("2. blue - as the sky"));
  node.write("2\n");
  CHECK(node.read_until("I painted it."));
  CHECK(contains(place.session(), "Colour (Which one is it to be?): blue"));
  node.write("\x04");
  CHECK(node.wait() == 0);
}

TEST_CASE("a stop withdraws a question, and the end does not wait for it") {
  painter_home place;
  program node{place.command(), place.environment, true};
  REQUIRE(node.read_until("lab/tiny"));
  node.write("paint it\n");
  REQUIRE(node.read_until("2. blue - as the sky"));
  node.write("stop\n");
  CHECK(node.read_until("The question was withdrawn."));
  node.write("\x04");
  CHECK(node.wait() == 0);
}

TEST_CASE("in a pipe the model learns at once that nobody can be asked") {
  painter_home place;
  auto run = place.converse("paint it\n");
  INFO(run.err);
  CHECK(run.code == 0);
  CHECK(contains(run.out, "I painted it."));
  CHECK(contains(place.session(), "Nobody can be asked here"));
}

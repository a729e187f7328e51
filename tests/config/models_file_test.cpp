#include "config/models_file.hpp"
#include "tests/support/scratch_directory.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <set>

using namespace bureau;
using namespace bureau::config;

namespace {

reading<models_file> read(const std::string& text) {
  return parse_models(text, "/s/models.json");
}

/// A file with one provider `p`.
reading<models_file> provider(const std::string& members) {
  return read("{\"providers\":{\"p\":{" + members + "}}}");
}

} // namespace

TEST_CASE("a descriptor is filled from the model, its provider and defaults") {
  auto result = provider(R"("api":"openai-completions","baseUrl":"http://h/v1",
    "apiKey":"k","headers":{"X-A":"1","X-B":"2"},"compat":{"a":1},
    "models":[{"id":"m"},{"id":"n","name":"N","api":"anthropic-messages",
      "baseUrl":"http://g","reasoning":true,"input":["text","image"],
      "contextWindow":1000,"maxOutputTokens":50,"headers":{"x-b":"3"},
      "compat":{"b":2},"thinkingLevelMap":{"high":"h","xhigh":null},
      "cost":{"input":0.25,"output":2,"cacheRead":0.025,"cacheWrite":0.3125,
        "tiers":[{"inputTokensAbove":200,"input":4},
                 {"inputTokensAbove":100,"input":1}]}}])");
  INFO(result.fault);
  REQUIRE(result);
  CHECK(result.warnings.empty());
  const auto& entry = result.value.providers.at(0);
  CHECK(entry.id == "p");
  CHECK(entry.api_key.reveal() == "k");
  const auto& m = entry.models.at(0);
  CHECK(m.id == "m");
  CHECK(m.name == "m");
  CHECK(m.api == "openai-completions");
  CHECK(m.provider == "p");
  CHECK(m.base_url == "http://h/v1");
  CHECK_FALSE(m.reasoning);
  CHECK_FALSE(m.image_input);
  CHECK(m.context_window == 128'000);
  CHECK(m.max_tokens == 16'384);
  CHECK(m.rates == std::vector<token_rates>{{}});
  CHECK(m.headers.size() == 2);
  CHECK(m.headers[0].secret);
  CHECK(m.compat.text == R"({"a":1})");
  const auto& n = entry.models.at(1);
  CHECK(n.name == "N");
  CHECK(n.api == "anthropic-messages");
  CHECK(n.base_url == "http://g");
  CHECK(n.reasoning);
  CHECK(n.image_input);
  CHECK(n.context_window == 1000);
  CHECK(n.max_tokens == 50);
  CHECK(n.headers
        == std::vector<header_field>{{"X-A", "1", true}, {"x-b", "3", true}});
  CHECK(n.compat.text == R"({"b":2})");
  CHECK(n.thinking_levels.text == R"({"high":"h","xhigh":null})");
  REQUIRE(n.rates.size() == 3);
  CHECK(n.rates[0] == token_rates{250'000, 2'000'000, 25'000, 312'500, 0});
  CHECK(n.rates[1] == token_rates{1'000'000, 0, 0, 0, 100});
  CHECK(n.rates[2] == token_rates{4'000'000, 0, 0, 0, 200});
}

TEST_CASE("providers stay in file order") {
  auto result = read(R"({"providers":{"z":{},"a":{},"m":{}}})");
  REQUIRE(result);
  CHECK(result.value.providers.at(0).id == "z");
  CHECK(result.value.providers.at(2).id == "m");
  CHECK(result.value.find("a") != nullptr);
  CHECK(result.value.find("b") == nullptr);
}

TEST_CASE("a file of another shape is a fault with its place") {
  CHECK(
    read("{").fault.starts_with("/s/models.json:1:2: Malformed models file: "));
  CHECK(read("[]").fault.starts_with("/s/models.json:1:1: Malformed models "
                                     "file: expected a JSON object"));
  CHECK(read("{}").fault.find("/providers: Expected object")
        != std::string::npos);
  CHECK(
    read("{\"providers\":\n []}").fault.starts_with("/s/models.json:2:2: "));
}

TEST_CASE("a bad provider is disabled with one warning and the rest stays") {
  struct row {
    const char* entry;
    const char* pointer;
    const char* reason;
  };
  for (auto [entry, pointer, reason] : {
         row{"1", "/providers/bad", "Expected object"},
         row{R"({"models":[{"id":"m"}]})", "/providers/bad/api",
             "Expected openai-completions or anthropic-messages"},
         row{R"({"api":"offline","models":[{"id":"m"}]})", "/providers/bad/api",
             "Expected openai-completions"},
         row{R"({"api":"openai-completions","models":{}})",
             "/providers/bad/models", "Expected array"},
         row{R"({"api":"openai-completions","models":[{"id":"m"},7]})",
             "/providers/bad/models/1", "Expected object"},
         row{R"({"api":"openai-completions","models":[{"name":"m"}]})",
             "/providers/bad/models/0/id", "Expected string"},
         row{R"({"api":"openai-completions","models":[{"id":"m","api":"x"}]})",
             "/providers/bad/models/0/api", "Expected openai-completions"},
         row{R"({"api":"openai-completions","models":[{"id":"m",
             "contextWindow":0}]})",
             "/providers/bad/models/0/contextWindow", "Expected positive"},
         row{R"({"api":"openai-completions","models":[{"id":"m",
             "cost":{"input":-1}}]})",
             "/providers/bad/models/0/cost/input", "Expected price"},
         row{R"({"api":"openai-completions","models":[{"id":"m",
             "cost":{"tiers":[{}]}}]})",
             "/providers/bad/models/0/cost/tiers/0", "Expected"},
         row{R"({"api":"openai-completions","models":[{"id":"m",
             "input":["audio"]}]})",
             "/providers/bad/models/0/input/0", "Expected \"text\""},
         row{R"({"api":"openai-completions","models":[{"id":"m",
             "thinkingLevelMap":{"huge":"x"}}]})",
             "/providers/bad/models/0/thinkingLevelMap/huge",
             "Expected thinking level"},
         row{R"({"headers":{"a":"x\r\ny: z"}})", "/providers/bad/headers/a",
             "without line breaks"},
         row{R"({"apiKey":"x\ny"})", "/providers/bad/apiKey",
             "without line breaks"},
         row{R"({"baseUrl":1})", "/providers/bad/baseUrl", "Expected string"},
         row{R"({"baseUrl":"localhost:9000"})", "/providers/bad/baseUrl",
             "Expected http or https address"},
         // Well-formed, but nothing that this version can call.
         row{R"({"api":"openai-completions","models":[{"id":"a"},{"id":"b"}]})",
             "/providers/bad: baseUrl is not set", "Set baseUrl"},
         row{R"({"api":"openai-responses","baseUrl":"http://h",
             "models":[{"id":"a"},{"id":"b"}]})",
             "/providers/bad/api: the api openai-responses is not spoken",
             "Set api to openai-completions or anthropic-messages"},
         row{R"({"compat":[]})", "/providers/bad/compat", "Expected object"},
       }) {
    CAPTURE(std::string{entry});
    auto result = read(std::string{"{\"providers\":{\"bad\":"} + entry
                       + R"(,"good":{"api":"openai-completions",
                          "baseUrl":"http://h","models":[{"id":"m"}]}}})");
    REQUIRE(result);
    REQUIRE(result.warnings.size() == 1);
    CAPTURE(result.warnings[0]);
    CHECK(result.warnings[0].starts_with("/s/models.json:"));
    CHECK(result.warnings[0].find("the provider bad is not used: "
                                  + std::string{pointer})
          != std::string::npos);
    CHECK(result.warnings[0].find(reason) != std::string::npos);
    auto bad = result.value.find("bad");
    REQUIRE(bad != nullptr);
    CHECK(bad->models.empty());
    CHECK_FALSE(bad->fault.empty());
    CHECK(result.value.find("good")->models.size() == 1);
  }
}

TEST_CASE("a model that cannot be called does not take the others along") {
  auto result = provider(R"("api":"openai-completions","baseUrl":"http://h",
 "models":[{"id":"a","api":"google-generative-ai"},{"id":"b"}])");
  REQUIRE(result);
  REQUIRE(result.warnings.size() == 1);
  CHECK(result.warnings[0]
        == "/s/models.json:2:28: the model p/a is not used: "
           "/providers/p/models/0/api: the api google-generative-ai is not "
           "spoken by this version. Set api to openai-completions or "
           "anthropic-messages.");
  const auto& entry = result.value.providers.at(0);
  CHECK(entry.fault.empty());
  REQUIRE(entry.models.size() == 1);
  CHECK(entry.models[0].id == "b");
  REQUIRE(entry.unusable.size() == 1);
  CHECK(entry.unusable[0].id == "a");
}

TEST_CASE("the two providers with an address of their own need no baseUrl") {
  auto result = read(R"({"providers":{
    "openai":{"api":"openai-completions","models":[{"id":"m"}]},
    "anthropic":{"api":"anthropic-messages","models":[{"id":"m"}]}}})");
  CHECK(result.warnings.empty());
  CHECK(result.value.find("openai")->models.size() == 1);
  CHECK(result.value.find("anthropic")->models.size() == 1);
}

TEST_CASE("unknown keys are warned about with their place") {
  auto result = read(R"({"version":1,"providers":{"p":{"baseurl":"http://h",
 "baseUrl":"http://h","api":"openai-completions","compat":{"any":1},
 "models":[{"id":"m","cost":{"in":1,"tiers":[{"inputTokensAbove":1,"x":2}]},
  "ctx":5}]}}})");
  REQUIRE(result);
  REQUIRE(result.warnings.size() == 5);
  CHECK(
    result.warnings[0]
    == "/s/models.json:1:12: the key /version is unknown and has no effect. "
       "Correct its spelling or remove it.");
  CHECK(result.warnings[1]
        == "/s/models.json:1:42: the key /providers/p/baseurl is unknown and "
           "has no effect. Write it as baseUrl.");
  for (auto at : {"3:35: the key /providers/p/models/0/cost/in ",
                  "3:72: the key /providers/p/models/0/cost/tiers/0/x ",
                  "4:9: the key /providers/p/models/0/ctx "}) {
    CAPTURE(std::string{at});
    CHECK(std::any_of(result.warnings.begin(), result.warnings.end(),
                      [at](const std::string& warning) {
                        return warning.find(at) != std::string::npos;
                      }));
  }
  CHECK(result.value.find("p")->models.size() == 1);
}

TEST_CASE("the warnings of a models file are bounded") {
  std::string members = "\"models\":[]";
  for (auto i = 0; i < 100; ++i)
    members += ",\"k" + std::to_string(i) + "\":1";
  auto result = provider(members);
  CHECK(result.warnings.size() == 21);
  CHECK(result.warnings.back()
        == "/s/models.json: 80 further warnings are left out");
}

TEST_CASE("the built-in catalogue is complete") {
  const auto& catalogue = builtin_models();
  CHECK(catalogue.as_of.size() == 10);
  std::set<std::string> ids;
  for (const auto& entry : catalogue.file.providers) {
    CAPTURE(entry.id);
    ids.insert(entry.id);
    CHECK(entry.fault.empty());
    CHECK_FALSE(entry.models.empty());
    auto has_default = false;
    for (const auto& model : entry.models) {
      CAPTURE(model.id);
      has_default = has_default || model.id == entry.default_model;
      CHECK(model.context_window > model.max_tokens);
      REQUIRE_FALSE(model.rates.empty());
      if (entry.id != "offline") {
        CHECK(model.rates[0].input_micro > 0);
        CHECK(model.rates[0].output_micro > model.rates[0].input_micro);
        CHECK(model.base_url.starts_with("https://"));
      }
    }
    CHECK(has_default);
    CHECK(entry.env.empty() == (entry.id == "offline"));
  }
  CHECK(ids
        == std::set<std::string>{"anthropic", "deepseek", "google", "groq",
                                 "mistral", "offline", "openai", "openrouter",
                                 "xai"});
}

TEST_CASE("the models of a predecessor are read as they are") {
  auto result =
    read(test::get_file(std::string{BUREAU_TEST_SOURCE_DIR}
                        + "/tests/golden/mikan-0.5.3/state/models.json"));
  REQUIRE(result);
  CHECK(result.warnings.empty());
  CHECK(result.value.providers.at(0).models.at(0).max_tokens == 4096);
}

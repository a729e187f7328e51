#include "config/model_choice_core.hpp"

#include <doctest/doctest.h>

#include <map>

using namespace bureau;
using namespace bureau::config;

namespace {

/// Inputs of the choice, from texts.
struct situation {
  std::map<std::string, std::string, std::less<>> variables;
  models_file models;
  auth_file auth;
  choice_inputs inputs;

  situation() {
    inputs.builtin = &builtin_models().file;
    inputs.global_file = "/s/settings.json";
    inputs.conversation_file = "/s/conversations/k/settings.json";
    inputs.now_ms = 1'000'000;
  }

  void set_models(const std::string& providers) {
    auto read = parse_models("{\"providers\":" + providers + "}", "m");
    REQUIRE(read);
    models = std::move(read.value);
  }

  void set_auth(const std::string& text) {
    auto read = parse_auth(text, "a");
    REQUIRE(read);
    auth = std::move(read.value);
  }

  choice_result choose() {
    inputs.models = &models;
    inputs.auth = &auth;
    inputs.variable = [this](std::string_view name) {
      auto entry = variables.find(name);
      return entry != variables.end() ? entry->second : std::string{};
    };
    return choose_model(inputs);
  }

  /// "provider/model key reason" of a choice, or its sentence.
  std::string chosen() {
    auto result = choose();
    if (!result)
      return to_string(result.code) + ": " + result.sentence;
    return result.choice.model.provider + '/' + result.choice.model.id + " ["
           + result.choice.api_key.reveal() + "] " + result.choice.reason;
  }
};

constexpr auto lab = R"({"lab":{"api":"openai-completions",
  "baseUrl":"https://lab.example/v1","models":[{"id":"tiny"},{"id":"big"}]}})";

} // namespace

TEST_CASE_FIXTURE(situation, "nothing configured answers offline") {
  CHECK(chosen()
        == "offline/offline [] no model is named and no credential was found");
  CHECK(choose().step == choice_step::offline);
  CHECK(choose().choice.model.api == "offline");
}

TEST_CASE_FIXTURE(situation, "the conversation's model wins over the global "
                             "one and all else") {
  variables = {{"OPENAI_API_KEY", "o"}, {"ANTHROPIC_API_KEY", "a"}};
  inputs.global = model_name{"anthropic", "claude-haiku-4-5"};
  CHECK(chosen() == "anthropic/claude-haiku-4-5 [a] named in /s/settings.json");
  CHECK(choose().step == choice_step::global);
  inputs.conversation = model_name{"openai", "gpt-5.4-mini"};
  CHECK(chosen()
        == "openai/gpt-5.4-mini [o] named in /s/conversations/k/settings.json");
  CHECK(choose().step == choice_step::conversation);
}

TEST_CASE_FIXTURE(situation, "a named model that cannot be used is an error "
                             "and never a fallback") {
  variables = {{"ANTHROPIC_API_KEY", "a"}};
  inputs.global = model_name{"anthropic", "claude-haiku-4-5"};
  inputs.conversation = model_name{"lab", "tiny"};
  CHECK(chosen()
        == "bad_config: The model lab/tiny named in "
           "/s/conversations/k/settings.json is unknown: there is no provider "
           "lab. Register it in models.json or name another model.");
  set_models(lab);
  CHECK(chosen()
        == "no_credential: The model lab/tiny named in "
           "/s/conversations/k/settings.json has no credential: set "
           "LAB_API_KEY or store a key for lab in auth.json.");
  inputs.conversation = model_name{"lab", "huge"};
  CHECK(chosen()
        == "bad_config: The model lab/huge named in "
           "/s/conversations/k/settings.json is unknown: the provider lab has "
           "no model huge. Register it in models.json or name another model.");
  set_models(R"({"lab":{"models":5}})");
  CHECK(chosen().find("cannot be used: models.json has /providers/lab/models: "
                      "Expected array.")
        != std::string::npos);
}

TEST_CASE_FIXTURE(situation, "without a name the first usable entry of "
                             "models.json comes first") {
  variables = {{"ANTHROPIC_API_KEY", "a"}, {"SECOND_API_KEY", "s"}};
  set_models(R"({
    "bad":{"models":5},
    "redirect":{"baseUrl":"http://127.0.0.1"},
    "keyless":{"api":"openai-completions","baseUrl":"https://x.example",
               "models":[{"id":"k"}]},
    "second":{"api":"openai-completions","baseUrl":"https://y.example",
              "models":[{"id":"one"},{"id":"two"}]}})");
  CHECK(chosen() == "second/one [s] first entry of models.json");
  CHECK(choose().step == choice_step::first_custom);
}

TEST_CASE_FIXTURE(situation, "an entry that cannot be called does not win over "
                             "a usable one") {
  variables = {{"PIGEON_API_KEY", "p"}, {"LOST_API_KEY", "l"}};
  set_models(R"({
    "pigeon":{"api":"openai-responses","baseUrl":"https://p.example",
              "models":[{"id":"grey"}]},
    "lost":{"api":"openai-completions","models":[{"id":"m"}]},
    "mixed":{"api":"mistral-conversations","baseUrl":"http://127.0.0.1:1",
             "models":[{"id":"no"},{"id":"yes","api":"openai-completions"}]}})");
  CHECK(chosen() == "mixed/yes [local] first entry of models.json");
  inputs.global = model_name{"mixed", "no"};
  CHECK(chosen()
        == "bad_config: The model mixed/no named in /s/settings.json cannot be "
           "used: models.json has /providers/mixed/api: the api "
           "mistral-conversations is not spoken by this version. Correct that "
           "entry or name another model.");
  inputs.global = model_name{"lost", "m"};
  CHECK(chosen().find("models.json has /providers/lost: baseUrl is not set.")
        != std::string::npos);
}

TEST_CASE_FIXTURE(situation, "a server of this machine needs no key") {
  for (auto url : {"http://127.0.0.1:8082/v1", "http://localhost/v1",
                   "http://[::1]:11434/v1"}) {
    CAPTURE(std::string{url});
    set_models(std::string{R"({"lab":{"api":"openai-completions","baseUrl":")"}
               + url + R"(","models":[{"id":"tiny"}]}})");
    auto result = choose();
    REQUIRE(result);
    CHECK(result.step == choice_step::first_custom);
    CHECK_FALSE(result.choice.api_key.empty());
  }
  for (auto url : {"http://127.0.0.1.evil.example/v1", "http://10.0.0.1/v1",
                   "http://localhost@evil.example/v1", "127.0.0.1"}) {
    CAPTURE(std::string{url});
    set_models(std::string{R"({"lab":{"api":"openai-completions","baseUrl":")"}
               + url + R"(","models":[{"id":"tiny"}]}})");
    CHECK(choose().step == choice_step::offline);
  }
}

TEST_CASE_FIXTURE(situation, "an authorization header replaces the key") {
  set_models(R"({"lab":{"api":"openai-completions","baseUrl":"https://x",
    "headers":{"Authorization":"Bearer z"},"models":[{"id":"tiny"}]}})");
  CHECK(chosen() == "lab/tiny [] first entry of models.json");
}

TEST_CASE_FIXTURE(situation, "then the first provider whose credential is "
                             "found, in the fixed order") {
  struct row {
    const char* variable;
    const char* provider;
  };
  for (auto [variable, provider] :
       {row{"DEEPSEEK_API_KEY", "deepseek"}, row{"XAI_API_KEY", "xai"},
        row{"MISTRAL_API_KEY", "mistral"}, row{"GROQ_API_KEY", "groq"},
        row{"OPENROUTER_API_KEY", "openrouter"},
        row{"GEMINI_API_KEY", "google"}, row{"OPENAI_API_KEY", "openai"},
        row{"ANTHROPIC_API_KEY", "anthropic"}}) {
    CAPTURE(std::string{variable});
    // Each is earlier in the order than all before it.
    variables[variable] = "k";
    auto result = choose();
    REQUIRE(result);
    CHECK(result.step == choice_step::first_credential);
    CHECK(result.choice.model.provider == provider);
    CHECK(result.choice.model.id
          == inputs.builtin->find(provider)->default_model);
    CHECK(result.choice.reason
          == std::string{"credential found in "} + variable);
  }
  variables["ANTHROPIC_OAUTH_TOKEN"] = "t";
  CHECK(choose().choice.api_key.reveal() == "t");
}

TEST_CASE_FIXTURE(situation, "a stored credential owns its provider") {
  variables = {{"ANTHROPIC_API_KEY", "env"}, {"GROQ_API_KEY", "g"}};
  set_auth(R"({"anthropic":{"type":"api_key","key":"stored"}})");
  CHECK(choose().choice.api_key.reveal() == "stored");
  CHECK(choose().choice.reason == "credential found in auth.json");
  set_auth(R"({"anthropic":{"type":"api_key","env":
    {"ANTHROPIC_API_KEY":"inner"}}})");
  CHECK(choose().choice.api_key.reveal() == "inner");
  // None of these falls back to the environment of the same provider.
  for (auto entry :
       {R"({"type":"api_key","env":{"OTHER":"x"}})", R"({"type":"api_key"})",
        R"({"type":"oauth","access":"t","expires":999999})"}) {
    CAPTURE(std::string{entry});
    set_auth(std::string{"{\"anthropic\":"} + entry + '}');
    CHECK(choose().choice.model.provider == "groq");
  }
  // An entry of an unknown type is no credential at all.
  set_auth(R"({"anthropic":{"type":"other"}})");
  CHECK(choose().choice.api_key.reveal() == "env");
}

TEST_CASE_FIXTURE(situation, "a sign-in counts until it expires and only where "
                             "it fits") {
  set_auth(R"({"anthropic":{"type":"oauth","access":"t","expires":1000001}})");
  CHECK(choose().choice.api_key.reveal() == "t");
  inputs.global = model_name{"anthropic", "claude-sonnet-4-6"};
  inputs.now_ms = 1'000'001;
  CHECK(chosen().find("no_credential: ") == 0);
  CHECK(chosen().find("has expired") != std::string::npos);
  set_auth(R"({"groq":{"type":"oauth","access":"t","expires":9000000}})");
  inputs.global = model_name{"groq", "openai/gpt-oss-120b"};
  CHECK(chosen().find("does not fit groq") != std::string::npos);
}

TEST_CASE_FIXTURE(situation, "a custom provider has its key in three places") {
  set_models(R"({"my-llm.v2":{"api":"openai-completions","baseUrl":"https://x",
    "apiKey":"literal","models":[{"id":"m"}]}})");
  variables = {{"MY_LLM_V2_API_KEY", "env"}};
  CHECK(choose().choice.api_key.reveal() == "literal");
  set_auth(R"({"my-llm.v2":{"type":"api_key","key":"stored"}})");
  CHECK(choose().choice.api_key.reveal() == "stored");
  set_auth("{}");
  set_models(R"({"my-llm.v2":{"api":"openai-completions","baseUrl":"https://x",
    "models":[{"id":"m"}]}})");
  CHECK(choose().choice.api_key.reveal() == "env");
  CHECK(key_variable_of("my-llm.v2") == "MY_LLM_V2_API_KEY");
  CHECK(key_variable_of("a--b") == "A_B_API_KEY");
}

TEST_CASE_FIXTURE(situation, "models.json replaces or redirects a built-in "
                             "provider") {
  variables = {{"OPENAI_API_KEY", "o"}};
  set_models(R"({"openai":{"baseUrl":"https://proxy.example/v1",
    "compat":{"supportsStore":false}}})");
  auto redirected = choose();
  REQUIRE(redirected);
  CHECK(redirected.choice.model.base_url == "https://proxy.example/v1");
  CHECK(redirected.choice.model.compat.text == R"({"supportsStore":false})");
  CHECK(redirected.step == choice_step::first_credential);
  set_models(R"({"openai":{"api":"openai-completions","baseUrl":"https://own",
    "models":[{"id":"own"}]}})");
  CHECK(chosen() == "openai/own [o] first entry of models.json");
  inputs.global = model_name{"openai", "gpt-5.4"};
  CHECK(choose().code == errc::bad_config);
}

TEST_CASE_FIXTURE(situation, "an unlisted model of a built-in provider has its "
                             "limits and no price") {
  variables = {{"OPENAI_API_KEY", "o"}};
  inputs.global = model_name{"openai", "gpt-99"};
  auto result = choose();
  REQUIRE(result);
  const auto& model = result.choice.model;
  const auto& standard = inputs.builtin->find("openai")->models.front();
  CHECK(model.id == "gpt-99");
  CHECK(model.rates.empty());
  CHECK(model.context_window == standard.context_window);
  CHECK(model.max_tokens == standard.max_tokens);
  CHECK(model.base_url == standard.base_url);
}

TEST_CASE_FIXTURE(situation, "offline may be named, by its one id") {
  variables = {{"OPENAI_API_KEY", "o"}};
  inputs.global = model_name{"offline", "offline"};
  CHECK(chosen() == "offline/offline [] named in /s/settings.json");
  inputs.global = model_name{"offline", "other"};
  CHECK(choose().code == errc::bad_config);
}

TEST_CASE_FIXTURE(situation, "no sentence and no reason tells a key") {
  variables = {{"ANTHROPIC_API_KEY", "SECRET"}};
  set_auth(R"({"anthropic":{"type":"oauth","access":"SECRET","expires":1},
    "groq":{"type":"api_key","key":"SECRET"}})");
  CHECK(choose().choice.reason.find("SECRET") == std::string::npos);
  CHECK(describe_choice(choose().choice)
        == "model groq/openai/gpt-oss-120b: credential found in auth.json");
  inputs.global = model_name{"anthropic", "claude-sonnet-4-6"};
  CHECK(choose().sentence.find("SECRET") == std::string::npos);
}

TEST_CASE("a thinking level is clamped to what the model supports") {
  struct row {
    const char* name;
    bool reasoning;
    const char* map;
    const char* wanted;
    const char* got;
  };
  for (auto [name, reasoning, map, wanted, got] : {
         row{"no reasoning", false, "", "high", "off"},
         row{"plain", true, "", "high", "high"},
         row{"xhigh needs a mapping", true, "", "xhigh", "high"},
         row{"mapped xhigh", true, R"({"xhigh":"x"})", "xhigh", "xhigh"},
         row{"max falls to mapped xhigh", true, R"({"xhigh":"x"})", "max",
             "xhigh"},
         row{"above before below", true, R"({"low":null})", "low", "medium"},
         row{"below when nothing is above", true, R"({"high":null})", "high",
             "medium"},
         row{"off unsupported", true, R"({"off":null})", "off", "minimal"},
         row{"unknown word", true, "", "wild", "off"},
         row{"nothing supported", true,
             R"({"off":null,"minimal":null,"low":null,"medium":null,
                 "high":null})",
             "high", "off"},
       }) {
    CAPTURE(std::string{name});
    model_descriptor model;
    model.reasoning = reasoning;
    model.thinking_levels = json_text{map};
    CHECK(clamp_thinking_level(model, wanted) == got);
  }
}

#include "sandbox/variables_core.hpp"

#include <doctest/doctest.h>

using namespace bureau;
using namespace bureau::sandbox;

namespace {

std::vector<std::string> lines(const contracts::tool_environment& environment) {
  std::vector<std::string> result;
  for (const auto& entry : run_environment(environment, "/usr/bin:/bin"))
    result.push_back(entry.name + "=" + entry.value);
  return result;
}

} // namespace

TEST_CASE("variables of a run enter its processes") {
  contracts::tool_environment environment;
  environment.values = {{"AGENT_RUN_ID", "r1"}, {"EMPTY", ""}};
  CHECK(lines(environment)
        == std::vector<std::string>{"AGENT_RUN_ID=r1", "EMPTY="});
  environment.path_prepend = {"/opt/tools/bin", "relative", "/a:b"};
  CHECK(lines(environment).front() == "PATH=/opt/tools/bin:/usr/bin:/bin");
  CHECK(lines({}).empty());
}

TEST_CASE("what the environment owns, and what is no variable, stays out") {
  contracts::tool_environment environment;
  environment.values = {{"PATH", "/evil"}, {"HOME", "/evil"},
                        {"TZ", "x"},       {"BUREAU_EXEC_ID", "x"},
                        {"1X", "x"},       {"A=B", "x"},
                        {"", "x"},         {"NUL", std::string{"a\0b", 3}},
                        {"FINE", "x"}};
  CHECK(lines(environment) == std::vector<std::string>{"FINE=x"});
}

TEST_CASE("variables are bounded in number and size") {
  contracts::tool_environment environment;
  for (size_t i = 0; i < run_variables + 10; ++i)
    environment.values.emplace("V" + std::to_string(i), "x");
  CHECK(lines(environment).size() == run_variables);
  environment.values = {{"BIG", std::string(run_variable_bytes, 'x')}};
  CHECK(lines(environment).empty());
}

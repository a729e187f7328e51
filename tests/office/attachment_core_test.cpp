#include "actors/office/attachment_core.hpp"

#include <doctest/doctest.h>

#include <set>

namespace {

using namespace bureau::offices;

constexpr int64_t at = 1'746'057'600'000;
constexpr const char* key = "v1-slack-c123-f1bbf4ab194ff2ea";

incoming_attachment item(std::string name, int64_t ms = at) {
  return {std::move(name), ms};
}

std::string file_of(std::string name) {
  return plan_attachments(key, {item(std::move(name))}, 0).at(0).file;
}

} // namespace

TEST_CASE("names are reduced to what every file system takes") {
  struct row {
    const char* name;
    const char* file;
  };
  const row rows[] = {
    {"report final.pdf", "1746057600000_report_final.pdf"},
    {"../../etc/passwd", "1746057600000_.._.._etc_passwd"},
    {"日本.png", "1746057600000___.png"},
    {"😀.png", "1746057600000___.png"},
    {"Ünïcode name (1).TXT", "1746057600000__n_code_name__1_.TXT"},
    {"", "1746057600000_"},
    {".hidden", "1746057600000_.hidden"},
    {"a\xFF\x62", "1746057600000_a_b"},
  };
  for (const auto& [name, file] : rows) {
    CAPTURE(name);
    CHECK(file_of(name) == file);
  }
}

TEST_CASE("a planned file is named relative to the workspace") {
  auto plan = plan_attachments(key, {item("report final.pdf")}, 0);
  REQUIRE(plan.size() == 1);
  CHECK(plan[0].original == "report final.pdf");
  CHECK(plan[0].local_path
        == std::string{key} + "/attachments/1746057600000_report_final.pdf");
  CHECK(plan[0].staging != plan[0].file);
  CHECK(plan_attachments(key, {}, 0).empty());
  CHECK(plan_attachments(key, {{"x", std::nullopt}}, 42).at(0).file == "42_x");
}

TEST_CASE("equal names never meet in one file") {
  auto plan =
    plan_attachments(key,
                     {item("image.png"), item("image.png"), item("image.png"),
                      item("x"), item("x"), item("image.png", at + 1)},
                     0);
  std::vector<std::string> files;
  for (const auto& planned : plan)
    files.push_back(planned.file.substr(10));
  CHECK(files
        == std::vector<std::string>{"000_image.png", "000_image-2.png",
                                    "000_image-3.png", "000_x", "000_x-2",
                                    "001_image.png"});
}

TEST_CASE("a file that is already there is not overwritten") {
  std::set<std::string> there = {"1746057600000_a.png",
                                 "1746057600000_a-2.png"};
  auto plan = plan_attachments(
    key, {item("a.png"), item("b.png")}, 0,
    [&](const std::string& file) { return there.count(file) != 0; });
  CHECK(plan[0].file == "1746057600000_a-3.png");
  CHECK(plan[1].file == "1746057600000_b.png");
}

TEST_CASE("long names are shortened and keep their extension") {
  auto name = sanitise_attachment_name(std::string(400, 'n') + ".pdf");
  CHECK(name.size() == 180);
  CHECK(name.substr(170) == "nnnnnn.pdf");
  auto strange = sanitise_attachment_name("a." + std::string(400, 'x'));
  CHECK(strange.size() == 180);
  CHECK(sanitise_attachment_name(std::string(180, 'n')).size() == 180);
}

TEST_CASE("one failed download touches no other file") {
  std::vector<attachment_source> sources;
  for (auto name : {"one", "two", "three"}) {
    attachment_source source;
    source.item = item(name);
    auto fails = std::string{name} == "two";
    source.download = [fails](const planned_attachment&) {
      return download_result{!fails, fails ? "no answer" : ""};
    };
    sources.push_back(std::move(source));
  }
  auto report = save_attachments(key, sources, 0);
  REQUIRE(report.saved.size() == 2);
  CHECK(report.saved[0].original == "one");
  CHECK(report.saved[1].original == "three");
  CHECK(report.failed == std::vector<failed_attachment>{{"two", "no answer"}});
}

#include "messages/contracts/notify_suppression.hpp"

#include <doctest/doctest.h>

using namespace bureau::contracts;

TEST_CASE("answers that say there is nothing to say") {
  using why = notify_suppression;
  struct row {
    const char* text;
    why want;
  };
  const row rows[] = {
    {"", why::empty},
    {" \uFEFF", why::empty},
    {" nothing_to_report \n", why::sentinel},
    {"done\nNOTHING_TO_REPORT", why::narrated_sentinel},
    {"done\r\nnothing_to_report\r\n", why::narrated_sentinel},
    {"a\nb\n\n  NOTHING_TO_REPORT  ", why::narrated_sentinel},
    {"NOTHING_TO_REPORT\nNOTHING_TO_REPORT", why::narrated_sentinel},
    {"x\n\u3000NOTHING_TO_REPORT", why::narrated_sentinel},
    {"NOTHING_TO_REPORT\nmore", why::none},
    {"x NOTHING_TO_REPORT", why::none},
    {"NOTHING_TO_REPORT.", why::none},
    {"\u200BNOTHING_TO_REPORT", why::none},
  };
  for (const auto& row : rows) {
    CAPTURE(row.text);
    CHECK(classify_notify_suppression(row.text) == row.want);
    CHECK(suppresses_notification(row.text) == (row.want != why::none));
  }
}

#include "actors/delivery/stream_end_core.hpp"

#include <doctest/doctest.h>

using namespace bureau;
using namespace bureau::delivery;

namespace {

contracts::finish_options with_failure() {
  contracts::failed_part part;
  part.id = "p";
  part.code = contracts::part_failure_code::artifact_missing;
  part.message = "gone";
  return {{part}, contracts::unsupported_part_fallback::human};
}

} // namespace

TEST_CASE("the text at the end of a stream") {
  const std::string line = "⚠️ Reply part failed (artifact_missing): gone";
  stream_end end;
  CHECK(final_text_of(end, "streamed") == "streamed");
  end.options = with_failure();
  CHECK(final_text_of(end, "streamed") == "streamed\n\n" + line);
  end.text = std::string{"whole "};
  CHECK(final_text_of(end, "streamed") == "whole \n\n" + line);
  end.options.fallback = contracts::unsupported_part_fallback::none;
  CHECK(final_text_of(end, "streamed") == "whole ");
}

TEST_CASE("an answer without text says so") {
  stream_end end;
  CHECK(answer_text(end) == empty_answer);
  end.text = std::string{" \n"};
  CHECK(answer_text(end) == empty_answer);
  end.text = std::string{"4 \n"};
  CHECK(answer_text(end) == "4");
  end.text = caf::none;
  end.options = with_failure();
  CHECK(answer_text(end).find("gone") != std::string::npos);
}

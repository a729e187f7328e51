#include "messages/errc.hpp"

#include <caf/message.hpp>
#include <caf/sec.hpp>

#include <array>

namespace bureau {

namespace {

constexpr std::array<const char*, errc_count> names = {
  "none",      "shutting_down", "queue_full", "timeout",       "aborted",
  "cancelled", "bad_request",   "not_found",  "is_directory",  "denied",
  "busy",      "not_ready",     "transport",  "spawn_failed",  "too_large",
  "disk",      "corrupt",       "bad_config", "no_credential", "bad_identity",
  "conflict",  "internal",
};

static_assert(static_cast<size_t>(errc::internal) + 1 == errc_count);

} // namespace

std::string to_string(errc code) {
  auto index = static_cast<size_t>(code);
  return index < names.size() ? names[index] : "unknown";
}

caf::error make_failure(errc code, std::string sentence) {
  return caf::make_error(code, std::move(sentence));
}

errc code_of(const caf::error& err) {
  if (!err)
    return errc::none;
  if (err.category() == caf::atom("bureau"))
    return err.code() < errc_count ? static_cast<errc>(err.code())
                                   : errc::internal;
  if (err == caf::sec::request_timeout)
    return errc::timeout;
  if (err == caf::sec::request_receiver_down)
    return errc::shutting_down;
  if (err == caf::sec::unexpected_message || err == caf::sec::invalid_argument)
    return errc::bad_request;
  return errc::internal;
}

std::string sentence_of(const caf::error& err) {
  if (err.category() == caf::atom("bureau")) {
    auto context = err.context();
    if (context.match_elements<std::string>())
      return context.get_as<std::string>(0);
  }
  switch (code_of(err)) {
  case errc::none:
    return "no error";
  case errc::timeout:
    return "no answer within the time allowed";
  case errc::shutting_down:
    return "the component that should answer has ended";
  default:
    return "internal error " + to_string(err);
  }
}

} // namespace bureau

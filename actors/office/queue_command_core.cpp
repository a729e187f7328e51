#include "actors/office/queue_command_core.hpp"

#include "messages/codec/json_support.hpp"
#include "messages/text/command_text.hpp"

#include <array>

namespace bureau::offices {

namespace {

/// What may be chosen in chat; to refuse messages is for the settings alone.
constexpr std::array chosen_in_chat = {queue_mode::follow_up, queue_mode::steer,
                                       queue_mode::collect,
                                       queue_mode::interrupt};

const char* meaning_of(queue_mode mode) {
  switch (mode) {
  case queue_mode::follow_up:
    return "each message has a turn of its own, in its order";
  case queue_mode::steer:
    return "plain text reaches the turn that is running";
  case queue_mode::collect:
    return "what waits is answered together";
  case queue_mode::interrupt:
    return "a new message ends the running turn and is next";
  case queue_mode::reject:
    return "while a turn runs, messages are refused";
  }
  return "";
}

std::string lower(std::string word) {
  for (auto& c : word)
    if (c >= 'A' && c <= 'Z')
      c = static_cast<char>(c - 'A' + 'a');
  return word;
}

} // namespace

std::optional<queue_command> queue_command_of(const conversation_event& event) {
  if (event.origin != turn_origin::user)
    return std::nullopt;
  auto line = text::match_command(event.text, {"/queue", "/pi-queue"}, true);
  if (!line)
    return std::nullopt;
  queue_command result;
  if (line->args.empty())
    return result;
  for (auto mode : chosen_in_chat)
    if (lower(line->args.front()) == to_string(mode))
      result.mode = mode;
  result.understood = result.mode && line->args.size() == 1;
  return result;
}

json_text queue_patch(queue_mode mode) {
  boost::json::object patch;
  patch["queue"] = boost::json::object{{"mode", to_string(mode)}};
  return json_text{json::print(patch)};
}

std::string queue_mode_told(queue_mode mode) {
  return "The queue mode is " + to_string(mode) + ": " + meaning_of(mode)
         + ". Change it with `/queue follow-up`, `/queue steer`, `/queue "
           "collect` or `/queue interrupt`.";
}

std::string queue_mode_changed(queue_mode mode) {
  return "The queue mode is " + to_string(mode) + " now: " + meaning_of(mode)
         + ".";
}

} // namespace bureau::offices

#pragma once

#include "messages/interfaces/model.hpp"
#include "messages/ports/entropy.hpp"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

/// The model that is always there (decisions B3 and B40): no network, no
/// chance but ids, and it says what it is.
namespace bureau::models {

/// A user's message as the runner puts it into the transcript:
/// `[2026-05-01 08:00:02+08:00] [name]: text`, with ` [in-thread:TS]` before
/// the colon in threads (note on the harness, section 3.12).
struct attributed_text {
  std::string user;
  std::string text;
};

/// The parts of one line, strictly; nothing when it does not begin like that.
std::optional<attributed_text> parse_attribution(std::string_view line);

/// The messages in a user's turn: what stands before the first attribution is
/// instructions of ours and left out, several attributions are several
/// messages, a trailing list of attachments is left out. Text without any
/// attribution is one message.
std::vector<std::string> spoken_texts(std::string_view turn);

/// What the offline model answers; `stop` is tool_use when there is a call.
/// On the console `run:`, `background:`, `read:` and `write:` become calls of
/// the tools bash, read and write, when the tools are offered. After tool
/// results it repeats them, and so it does with the end of a job. Everywhere
/// else it says what is missing, once in an hour, and is silent otherwise
/// (decision B40); all it knows is the session, so a conversation with threads
/// hears it once in each of them.
transcript_message offline_answer(const model_request& request, entropy& ids,
                                  int64_t now_ms);

/// Lengths in bytes of the deltas in which text is streamed; they add up to
/// its size and never cut a character.
std::vector<size_t> delta_lengths(std::string_view text);

} // namespace bureau::models

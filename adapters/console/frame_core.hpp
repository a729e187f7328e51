#pragma once

#include "messages/contracts/stream_event.hpp"
#include "messages/contracts/stream_frame.hpp"
#include "messages/interfaces/transport.hpp"

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

/// The console as a machine reads it: NDJSON frames (decision A30, agent
/// contracts 3.8).
namespace bureau::console {

/// Turns whose frames are remembered while they are open.
inline constexpr size_t frame_turns = 1024;

/// Turns what turns tell into lines of frames. Every frame names its turn in
/// `metadata`; every turn ends with exactly one finish or error. Pure; each
/// member answers the lines to be written.
class frame_core {
public:
  /// A message is offered to the offices.
  /// @param line number of its line of the input; 0: it was not typed
  void begin(const std::string& id, const std::string& conversation,
             uint64_t line);

  // -- while a run is under way; `what` names its conversation, message, run --

  std::string status(const outbound& what);
  std::string append(const outbound& what);
  std::string replace(const outbound& what);
  std::string event(const outbound& what, contracts::stream_event event);
  /// Something that the reader of an answer should know.
  std::string warning(const outbound& what, std::string_view sentence);

  // -- what the outbox is given -----------------------------------------------

  /// A part of a final answer; the last one is the end of the turn.
  std::string answer(const outbound& part);
  /// A notice; nothing when it belongs to no open turn.
  std::optional<std::string> notice(const outbound& what);

  // -- ends without an answer -------------------------------------------------

  /// The ledger entry of a message is closed.
  std::string closed(const closed_entry& entry);
  /// A message has ended without ever being open.
  /// @param outcome logged, stopped, duplicate, or the name of an error
  /// @param fault what went wrong; empty: nothing did
  std::string settled(const std::string& id, const std::string& outcome,
                      const std::string& fault);

  size_t remembered() const { return turns_.size(); }

private:
  struct turn {
    std::string conversation;
    std::string run;
    uint64_t line = 0;
    /// Its last frame was written.
    bool ended = false;
    /// Text of this run was told.
    bool told = false;
    /// Parts of its final answer so far.
    std::string text;
    /// What goes with the answer, and what of it could not be delivered.
    std::vector<contracts::reply_part> parts;
    std::vector<contracts::delivery_outcome> outcomes;
    /// The last notice about it.
    std::string notice;
  };

  turn& turn_of(const outbound& what);
  turn& remember(const std::string& id);
  /// What a line is about.
  static json_text about(const std::string& id, const turn& of,
                         std::string_view outcome = {});
  static std::string lines_of(const contracts::stream_frame& frame);
  static std::string text_frame(contracts::frame_kind kind,
                                const outbound& what, const turn& of,
                                std::string_view text);
  std::string end(const std::string& id, const std::string& outcome,
                  caf::optional<std::string> text);
  std::string end_badly(const std::string& id, const std::string& code,
                        const std::string& sentence, bool cancelled);

  std::map<std::string, turn> turns_;
};

} // namespace bureau::console

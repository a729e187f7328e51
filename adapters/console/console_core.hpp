#pragma once

#include "adapters/console/input_core.hpp"
#include "adapters/console/message_id_core.hpp"
#include "messages/contracts/ask.hpp"
#include "messages/errc.hpp"
#include "messages/interfaces/office.hpp"

#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <variant>
#include <vector>

/// The inbound side of the console (decisions A10, B5): which line becomes
/// which message, how many may be open, when the program ends.
namespace bureau::console {

namespace effect {

/// Read the ids of a conversation's chat log; answer with log_read.
struct read_log {
  std::string name;
};
/// Offer a message to the offices; answer with taken or not_taken.
struct submit {
  std::string name;
  std::string id;
  std::string text;
  /// Absolute path of a file that goes with it; empty: none.
  std::string file = {};
  /// Number of the line it came from; 0: nobody typed it.
  uint64_t line = 0;
};
/// A message has ended without being open: it was carried out, logged, refused,
/// or never offered.
struct settled {
  std::string id;
  /// Of the intake, or the name of an error.
  std::string outcome;
  /// What went wrong; empty: nothing did.
  std::string fault = {};
  /// Conversation and line of one that was never offered.
  std::string name = {};
  uint64_t line = 0;
};
/// Hand an answer of the user to the hub; a refusal comes back with
/// answer_refused.
struct answer {
  std::string name;
  contracts::ask_submission submission;
};
/// Nobody will answer any more: cancel the open ask of a conversation.
struct cancel_ask {
  /// Contract id.
  std::string conversation_id;
};
/// See whether a file can be sent; answer with looked.
struct look {
  uint64_t number = 0;
  /// As it was written.
  std::string path;
};
/// Keep a file of an answer; the shell says what came of it.
struct save {
  uint64_t number = 0;
  /// As it was written; empty: where the program was started.
  std::string path;
};
/// Stop a turn that the console did not ask for (one that a restart resumed):
/// ask the offices for these conversations, one after the other, until one has
/// a turn; answer with stop_answered.
struct stop_any {
  std::vector<std::string> names;
};
/// Call retry_due after this time.
struct retry {
  std::string name;
  int64_t delay_ms = 0;
};
/// Text of the console itself.
struct say {
  std::string text;
};
/// Lines of so many more bytes may be read; a line counts its bytes and
/// limits::console_line_cost.
struct allow {
  size_t bytes = 0;
};
/// The conversation that lines go to has changed.
struct prompt {
  std::string name;
};
/// Begin the ordered shutdown of the node.
struct shutdown {
  std::string reason;
  /// Not before everything accepted is answered, an earlier run's work
  /// included.
  bool when_settled = false;
};

} // namespace effect

using console_effect =
  std::variant<effect::read_log, effect::submit, effect::settled,
               effect::answer, effect::cancel_ask, effect::look, effect::save,
               effect::stop_any, effect::retry, effect::say, effect::allow,
               effect::prompt, effect::shutdown>;

using console_effects = std::vector<console_effect>;

/// Decides for the console; knows no clock, no file and no actor. Every member
/// answers the effects of one event.
class console_core {
public:
  /// @param interactive a terminal: no bound on reading, `/quit` and the end of
  ///   input end the program at once
  console_core(bool interactive, std::string first_name);

  /// Begins to take lines.
  console_effects start();
  console_effects line(const raw_line& input, int64_t now_ms);
  console_effects end_of_input();
  /// ^C or SIGINT: stops a running turn, also one of an earlier run; else, and
  /// when it comes again, ends the program.
  console_effects interrupt(int64_t now_ms);
  /// @param message_id message whose turn is being stopped; empty: none was
  ///   found
  console_effects stop_answered(const std::string& message_id);
  /// Something was printed for a conversation.
  void met(const std::string& name);
  /// @param ids message ids in the tail of the chat log
  console_effects log_read(const std::string& name,
                           const std::vector<std::string>& ids, int64_t now_ms);
  console_effects taken(const std::string& name, const std::string& id,
                        intake_outcome outcome, int64_t now_ms);
  console_effects not_taken(const std::string& name, const std::string& id,
                            errc why, const std::string& sentence);
  /// @param file absolute path of the file
  /// @param refusal one sentence; empty: it can be sent
  console_effects looked(uint64_t number, const std::string& file,
                         const std::string& refusal, int64_t now_ms);
  /// Whether lines are taken, which may answer a question.
  bool takes_lines() const { return !draining_ && !input_ended_; }
  /// An agent asks; lines of that conversation answer until it is settled.
  console_effects asked(const std::string& name,
                        const contracts::ask_snapshot& ask);
  /// The hub says how an ask stands.
  console_effects ask_changed(const std::string& name,
                              const contracts::ask_snapshot& ask);
  console_effects answer_refused(
    const std::string& name, const contracts::ask_submission_result& result);
  console_effects retry_due(const std::string& name, int64_t now_ms);
  /// The ledger entry of a message is closed.
  console_effects closed(const std::string& id, int64_t now_ms);
  /// Nothing new is taken any more; answers what is lost by that.
  console_effects drain(int64_t now_ms);
  /// Standard output is gone: nobody can read answers.
  console_effects output_lost();

  /// An id for a message of ours.
  std::string next_id(int64_t now_ms) { return ids_.next(now_ms); }
  /// Line before the answer to a message, once; empty = none.
  std::string preface_of(const std::string& id);
  /// Messages that are open or waiting.
  size_t load() const;
  const std::string& current() const { return current_; }

private:
  struct message {
    std::string id;
    std::string text;
    std::string file;
    /// Number of its line of the input, and what it counts.
    uint64_t line = 0;
    size_t cost = 0;
    /// Its file is being looked at; 0: it has none, or it is fine.
    uint64_t look = 0;
    bool cut = false;
    /// The magic word.
    bool stop = false;
    bool offered_before = false;
    /// Waits for its next offer.
    bool resting = false;
    /// Its ledger entry closed before its intake was answered.
    bool closed = false;
  };

  struct conversation {
    /// Its log has been read.
    bool ready = false;
    std::deque<message> waiting;
    std::optional<message> offered;
    int64_t retry_ms = 0;
    /// A stop was sent and no turn has ended since.
    bool stopping = false;
  };

  void take(console_effects& out, console_line parsed, size_t cost,
            int64_t now_ms);
  void refuse_late(console_effects& out, const console_line& parsed,
                   int64_t now_ms);
  void offer_next(console_effects& out, int64_t now_ms);
  void offer(console_effects& out, const std::string& name, message& entry,
             int64_t now_ms);
  void overtake(console_effects& out, int64_t now_ms);
  bool has_room() const;
  void answer(console_effects& out, const std::string& text);
  void say_question(console_effects& out, const std::string& name,
                    bool with_message);
  /// A line does not wait here any more.
  void release(console_effects& out, size_t cost);
  void drop(console_effects& out, const std::string& name, const message& entry,
            errc why, const std::string& sentence, int64_t now_ms);
  void forget_stop(const std::string& name);
  void end_when_done(console_effects& out);
  void end(console_effects& out, const std::string& reason,
           bool when_settled = false);
  conversation& enter(console_effects& out, const std::string& name);
  bool has_open(const std::string& name) const;
  void end_by_interrupt(console_effects& out);

  bool interactive_;
  std::string current_;
  std::map<std::string, conversation> conversations_;
  /// Open asks by conversation, with the answers that were handed over.
  std::map<std::string, contracts::ask_snapshot> asks_;
  /// Open message → its conversation.
  std::map<std::string, std::string> open_;
  /// Stops that were offered past the messages before them.
  std::map<std::string, message> overtaking_;
  /// Conversations that something was printed for, at most
  /// limits::console_visible_messages.
  std::set<std::string> met_;
  /// A stop of an earlier run's turn is asked for, or under way: its message.
  bool asked_to_stop_ = false;
  std::string stopping_other_;
  /// Messages whose line was cut.
  std::set<std::string> cut_;
  message_ids ids_;
  uint64_t last_look_ = 0;
  uint64_t last_line_ = 0;
  bool input_ended_ = false;
  bool draining_ = false;
  bool ended_ = false;
  bool interrupted_ = false;
  /// It was said that lines are not taken any more.
  bool late_told_ = false;
};

} // namespace bureau::console

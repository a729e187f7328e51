#pragma once

#include "messages/codec/log_record.hpp"
#include "messages/errc.hpp"
#include "messages/interfaces/session.hpp"
#include "messages/limits.hpp"

#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

/// Accepted messages whose line in the chat log waits for files, their own or
/// those of an earlier message of their session: which file is asked for next,
/// which message may go on, and what people are told about a file that did not
/// come (decision A2, steps 8 and 9). Pure.
namespace bureau::offices {

/// Directory of an office that files of messages are kept in.
inline constexpr const char* attachments_name = "attachments";

/// Files of one message that are remembered at all, and of their names so much;
/// a platform that announces more forges.
inline constexpr size_t announced_files = 2 * limits::attachments_per_message;
inline constexpr size_t announced_name_bytes = 255;

/// The files of a message within these bounds, their names well-formed.
std::vector<attachment> bounded_files(std::vector<attachment> files);

/// Whether files of a message are still to be fetched.
bool awaits_files(const conversation_event& event);

/// Whether a message starts no run when one of its files is missing.
bool needs_every_file(platform_id platform);

/// Whether the name is that of a file that was being fetched.
bool is_staging_name(std::string_view name);

/// One file to ask the transport for.
struct file_order {
  uint64_t number = 0;
  std::string message_id;
  std::string session_key;
  std::string ref;
  /// As it was received.
  std::string name;
  /// Names in the directory: while it is fetched, and then.
  std::string staging;
  std::string file;
};

/// A message that stands in line, as it goes on.
struct arrival {
  conversation_event event;
  std::string display_name;
  /// The chat log gets a line about it.
  bool logs = true;
  /// Its entry is closed: the record that says so.
  std::string closing;
};

class arrival_core {
public:
  /// @param first_number orders have numbers above it, and staging names the
  ///   numbers: none may repeat, not even after a restart
  arrival_core(std::string office_key, uint64_t first_number)
    : office_key_(std::move(office_key)), last_number_(first_number) {}

  // -- messages ---------------------------------------------------------------

  /// Puts an accepted message at the end of the line of its session key.
  void add(const conversation_event& event, std::string display_name,
           bool logs);
  bool contains(const std::string& id) const { return messages_.contains(id); }
  bool empty() const { return messages_.empty(); }
  /// Whether a later message of this key has to wait.
  bool blocks(const std::string& session_key) const;
  std::vector<std::string> keys() const;

  /// Names the files of a message. Those beyond limits::attachments_per_message
  /// are refused.
  /// @param taken names in the directory
  void plan(const std::string& id, const std::vector<std::string>& taken,
            int64_t now_ms);
  /// None of its files can be saved.
  void give_up(const std::string& id, const std::string& fault);
  /// Its entry is closed: what is not there by now is left out.
  void close(const std::string& id, std::string closing);
  /// Names of its files that are being fetched.
  std::vector<std::string> stagings_of(const std::string& id) const;
  /// Leaves out the saved files as well; answers their names.
  std::vector<std::string> drop_files(const std::string& id);

  /// The first message of a key when all its files have come or failed.
  const arrival* ready(const std::string& session_key) const;
  /// Takes a message out of its line.
  arrival take(const std::string& id);

  // -- files ------------------------------------------------------------------

  /// The next file to ask for; counts as under way until `ended` or `put_back`.
  std::optional<file_order> next();
  /// Whether anybody still wants a file that is under way.
  bool wanted(uint64_t number) const;
  /// The order is done with, and its names are free.
  /// @param fault empty: the file has its name now
  void ended(uint64_t number, const std::string& fault);
  /// The transport ended: the file is to be asked for again.
  void put_back(uint64_t number);
  /// Whether a name in the directory is that of a file under way.
  bool fetches(const std::string& staging) const;

private:
  /// A file of a message by its place in the event.
  struct place {
    std::string id;
    size_t index = 0;
  };
  struct message {
    arrival what;
    /// Files by their place in the event; only those that are to be fetched.
    std::map<size_t, file_order> files;
    bool planned = false;
    bool complete() const { return planned && files.empty(); }
  };

  attachment& item(const place& at);

  std::string office_key_;
  std::map<std::string, message> messages_;
  /// By session key, in the order of acceptance.
  std::map<std::string, std::deque<std::string>> lines_;
  std::deque<place> waiting_;
  struct asked {
    /// Without a message when nobody wants it any more.
    place at;
    file_order order;
  };
  std::map<uint64_t, asked> under_way_;
  uint64_t last_number_;
};

/// Why a file could not be saved, as people are told.
std::string file_fault(errc code, const std::string& sentence);

/// The files of a message as a line of the chat log has them.
std::vector<attachment> files_in_log(const std::vector<attachment>& announced,
                                     const log_record& line);

/// What the user is told about the files that are missing; empty: none is.
std::string missing_files_notice(const conversation_event& event);

} // namespace bureau::offices

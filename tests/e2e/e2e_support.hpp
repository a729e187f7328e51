#pragma once

#include <chrono>
#include <csignal>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include <sys/types.h>

/// Driving real programs: the node itself and servers other people wrote.
namespace bureau::e2e {

using std::chrono::milliseconds;
using std::chrono::seconds;

/// Longest time any step of a story may take before it counts as failed.
inline constexpr seconds patience{60};

/// A directory that is removed at the end.
class temp_dir {
public:
  temp_dir();
  temp_dir(const temp_dir&) = delete;
  temp_dir& operator=(const temp_dir&) = delete;
  ~temp_dir();
  const std::string& path() const { return path_; }
  std::string operator/(const std::string& name) const {
    return path_ + "/" + name;
  }

private:
  std::string path_;
};

std::string read_file(const std::string& path);
void write_file(const std::string& path, const std::string& content);
std::vector<std::string> lines_of(const std::string& text);
bool contains(const std::string& text, const std::string& part);
size_t count(const std::string& text, const std::string& part);

/// A running child with pipes, or on a pseudo-terminal.
class program {
public:
  /// @param environment added to a minimal one (PATH, HOME, LANG)
  program(std::vector<std::string> argv,
          std::map<std::string, std::string> environment = {},
          bool terminal = false, const std::string& cwd = "/");
  program(const program&) = delete;
  program& operator=(const program&) = delete;
  ~program();

  void write(const std::string& text);
  void close_input();
  void signal(int number);
  pid_t pid() const { return pid_; }

  /// Reads until stdout contains `text` beyond what earlier calls matched.
  bool read_until(const std::string& text, milliseconds limit = patience);
  bool read_error_until(const std::string& text, milliseconds limit = patience);

  /// Reads to the end and answers the exit code, 128+n for a signal; -1 when
  /// the time is over.
  int wait(milliseconds limit = patience);

  const std::string& out() const { return out_; }
  const std::string& err() const { return err_; }

private:
  bool pump(milliseconds limit);
  bool seek(const std::string& text, std::string& where, size_t& seen,
            milliseconds limit);

  pid_t pid_ = -1;
  int input_ = -1;
  int output_ = -1;
  int error_ = -1;
  std::string out_;
  std::string err_;
  size_t out_seen_ = 0;
  size_t err_seen_ = 0;
  bool waited_ = false;
  int code_ = -1;
};

/// A state directory with a workspace, and runs of the node on it.
struct home {
  temp_dir dir;
  std::string state = dir / "state";
  std::string workspace = dir / "workspace";
  std::map<std::string, std::string> environment;
  std::vector<std::string> flags;

  home();
  std::vector<std::string> command(std::vector<std::string> more = {}) const;
  /// One conversation through a pipe.
  struct result {
    int code;
    std::string out;
    std::string err;
  };
  result converse(const std::string& input) const;
  std::string office() const;
  std::string log() const { return read_file(office() + "/log.jsonl"); }
  /// Content of the current session file.
  std::string session() const;
  /// Roles of the messages in the current session file.
  std::vector<std::string> roles() const;
};

/// Whether no process with this in its command line is left, looking again for
/// a while: the kernel takes its time to end a killed sandbox.
bool none_left(const std::string& command);

/// A port of the machine on which nothing listens any more.
int unused_port();

/// A model provider written by other people (aimock), with fixtures.
class provider {
public:
  explicit provider(const std::string& fixtures_json,
                    std::vector<std::string> flags = {});
  /// http://127.0.0.1:PORT
  const std::string& url() const { return url_; }
  /// Requests that came in, as JSON text.
  std::string journal() const;

private:
  temp_dir dir_;
  std::string url_;
  std::unique_ptr<program> server_;
};

/// GET over HTTP; the whole response text, empty when nothing answers.
std::string http_get(const std::string& url);

} // namespace bureau::e2e

#include "tests/e2e/e2e_support.hpp"

#include "messages/codec/json_support.hpp"

#include <doctest/doctest.h>

#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <poll.h>
#include <pty.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <sstream>

namespace bureau::e2e {

namespace fs = std::filesystem;
using clock = std::chrono::steady_clock;

temp_dir::temp_dir() {
  char name[] = "/tmp/bureau-e2e-XXXXXX";
  REQUIRE(::mkdtemp(name) != nullptr);
  path_ = name;
}

temp_dir::~temp_dir() {
  std::error_code ignored;
  fs::remove_all(path_, ignored);
}

std::string read_file(const std::string& path) {
  std::ifstream file{path, std::ios::binary};
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

void write_file(const std::string& path, const std::string& content) {
  fs::create_directories(fs::path{path}.parent_path());
  std::ofstream{path, std::ios::binary} << content;
}

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> result;
  std::istringstream lines{text};
  for (std::string line; std::getline(lines, line);)
    if (!line.empty())
      result.push_back(line);
  return result;
}

bool contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

size_t count(const std::string& text, const std::string& part) {
  size_t found = 0;
  for (auto pos = text.find(part); pos != std::string::npos;
       pos = text.find(part, pos + part.size()))
    ++found;
  return found;
}

// -- program
// ----------------------------------------------------------------------

program::program(std::vector<std::string> argv,
                 std::map<std::string, std::string> environment, bool terminal,
                 const std::string& cwd) {
  environment.emplace("PATH", std::getenv("PATH"));
  environment.emplace("LANG", "C.UTF-8");
  environment.emplace("HOME", "/root");
  for (auto name :
       {"ASAN_OPTIONS", "UBSAN_OPTIONS", "LSAN_OPTIONS", "TSAN_OPTIONS"})
    if (auto value = std::getenv(name))
      environment.emplace(name, value);
  if (terminal)
    environment.emplace("TERM", "xterm");
  std::vector<std::string> variables;
  for (const auto& entry : environment)
    variables.push_back(entry.first + "=" + entry.second);
  std::vector<char*> arguments;
  for (auto& argument : argv)
    arguments.push_back(argument.data());
  arguments.push_back(nullptr);
  std::vector<char*> envp;
  for (auto& variable : variables)
    envp.push_back(variable.data());
  envp.push_back(nullptr);
  int in[2];
  int out[2];
  int err[2];
  REQUIRE(::pipe2(in, O_CLOEXEC) == 0);
  REQUIRE(::pipe2(out, O_CLOEXEC) == 0);
  REQUIRE(::pipe2(err, O_CLOEXEC) == 0);
  int master = -1;
  if (terminal) {
    winsize size{24, 80, 0, 0};
    pid_ = ::forkpty(&master, nullptr, nullptr, &size);
  } else {
    pid_ = ::fork();
  }
  REQUIRE(pid_ >= 0);
  if (pid_ == 0) {
    if (!terminal) {
      ::dup2(in[0], 0);
      ::dup2(out[1], 1);
    }
    ::dup2(err[1], 2);
    if (::chdir(cwd.c_str()) == 0)
      ::execve(arguments[0], arguments.data(), envp.data());
    ::_exit(127);
  }
  ::close(in[0]);
  ::close(out[1]);
  ::close(err[1]);
  error_ = err[0];
  if (terminal) {
    ::close(in[1]);
    ::close(out[0]);
    input_ = output_ = master;
    ::fcntl(master, F_SETFD, FD_CLOEXEC);
  } else {
    input_ = in[1];
    output_ = out[0];
  }
}

program::~program() {
  if (!waited_) {
    ::kill(pid_, SIGKILL);
    ::waitpid(pid_, nullptr, 0);
  }
  if (input_ >= 0 && input_ != output_)
    ::close(input_);
  ::close(output_);
  ::close(error_);
}

void program::write(const std::string& text) {
  std::signal(SIGPIPE, SIG_IGN);
  size_t done = 0;
  auto end = clock::now() + patience;
  while (done < text.size() && clock::now() < end) {
    pollfd entry{input_, POLLOUT, 0};
    ::poll(&entry, 1, 50);
    if ((entry.revents & (POLLERR | POLLHUP)) != 0)
      return;
    if ((entry.revents & POLLOUT) != 0) {
      auto piece = std::min<size_t>(text.size() - done, 4096);
      auto wrote = ::write(input_, text.data() + done, piece);
      if (wrote > 0)
        done += static_cast<size_t>(wrote);
    }
    pump(milliseconds{0});
  }
}

void program::close_input() {
  if (input_ >= 0 && input_ != output_) {
    ::close(input_);
    input_ = -1;
  }
}

void program::signal(int number) {
  ::kill(pid_, number);
}

bool program::pump(milliseconds limit) {
  pollfd entries[] = {{output_, POLLIN, 0}, {error_, POLLIN, 0}};
  if (::poll(entries, 2, static_cast<int>(limit.count())) <= 0)
    return true;
  auto open = false;
  char buffer[65536];
  for (size_t i = 0; i < 2; ++i) {
    if (entries[i].revents == 0) {
      open = true;
      continue;
    }
    auto got = ::read(entries[i].fd, buffer, sizeof buffer);
    if (got > 0) {
      (i == 0 ? out_ : err_).append(buffer, static_cast<size_t>(got));
      open = true;
    }
  }
  return open;
}

bool program::seek(const std::string& text, std::string& where, size_t& seen,
                   milliseconds limit) {
  auto end = clock::now() + limit;
  for (;;) {
    auto pos = where.find(text, seen);
    if (pos != std::string::npos) {
      seen = pos + text.size();
      return true;
    }
    if (clock::now() >= end)
      return false;
    if (!pump(milliseconds{50}) && where.find(text, seen) == std::string::npos)
      return false;
  }
}

bool program::read_until(const std::string& text, milliseconds limit) {
  return seek(text, out_, out_seen_, limit);
}

bool program::read_error_until(const std::string& text, milliseconds limit) {
  return seek(text, err_, err_seen_, limit);
}

int program::wait(milliseconds limit) {
  if (waited_)
    return code_;
  auto end = clock::now() + limit;
  auto open = true;
  while (clock::now() < end) {
    if (open)
      open = pump(milliseconds{20});
    int status = 0;
    auto got = ::waitpid(pid_, &status, WNOHANG);
    if (got == pid_) {
      while (open && pump(milliseconds{20})) {
        // Until both ends are closed or nothing more comes.
        pollfd rest[] = {{output_, POLLIN, 0}, {error_, POLLIN, 0}};
        if (::poll(rest, 2, 0) <= 0)
          break;
      }
      waited_ = true;
      code_ =
        WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
      return code_;
    }
    if (!open)
      ::poll(nullptr, 0, 10);
  }
  return -1;
}

// -- home
// ---------------------------------------------------------------------------

home::home() {
  fs::create_directories(workspace);
}

std::vector<std::string> home::command(std::vector<std::string> more) const {
  std::vector<std::string> argv = {BUREAU_BINARY, "run", "--state-dir", state};
  argv.insert(argv.end(), flags.begin(), flags.end());
  argv.insert(argv.end(), more.begin(), more.end());
  argv.push_back(workspace);
  return argv;
}

home::result home::converse(const std::string& input) const {
  program node{command(), environment};
  node.write(input);
  node.close_input();
  auto code = node.wait();
  return {code, node.out(), node.err()};
}

std::string home::office() const {
  return workspace + "/v1-console-local-aeb48c12d1f82266";
}

std::string home::session() const {
  auto sessions = office() + "/sessions/";
  return read_file(sessions + read_file(sessions + "current"));
}

std::vector<std::string> home::roles() const {
  std::vector<std::string> found;
  for (const auto& line : lines_of(session())) {
    auto entry = json::parse(line);
    REQUIRE(entry);
    if (auto message = json::member(entry.value, "message"))
      found.push_back(json::text_or_empty(message->as_object(), "role"));
  }
  return found;
}

// -- network
// -------------------------------------------------------------------------

namespace {

int connect_to(int port) {
  auto fd = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(static_cast<uint16_t>(port));
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  if (::connect(fd, reinterpret_cast<sockaddr*>(&address), sizeof address) == 0)
    return fd;
  ::close(fd);
  return -1;
}

} // namespace

bool none_left(const std::string& command) {
  auto end = clock::now() + seconds{20};
  do {
    program look{{"/usr/bin/env", "pgrep", "-f", command}};
    if (look.wait() == 1)
      return true;
    ::poll(nullptr, 0, 100);
  } while (clock::now() < end);
  return false;
}

int unused_port() {
  auto fd = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t length = sizeof address;
  ::bind(fd, reinterpret_cast<sockaddr*>(&address), length);
  ::getsockname(fd, reinterpret_cast<sockaddr*>(&address), &length);
  ::close(fd);
  return ntohs(address.sin_port);
}

std::string http_get(const std::string& url) {
  auto rest = url.substr(std::strlen("http://"));
  auto slash = rest.find('/');
  auto host = rest.substr(0, slash);
  auto port = std::stoi(host.substr(host.find(':') + 1));
  auto fd = connect_to(port);
  if (fd < 0)
    return {};
  auto request = "GET " + rest.substr(slash) + " HTTP/1.1\r\nHost: " + host
                 + "\r\nConnection: close\r\n\r\n";
  ::send(fd, request.data(), request.size(), MSG_NOSIGNAL);
  std::string answer;
  char buffer[65536];
  pollfd entry{fd, POLLIN, 0};
  while (::poll(&entry, 1, 10'000) == 1) {
    auto got = ::recv(fd, buffer, sizeof buffer, 0);
    if (got <= 0)
      break;
    answer.append(buffer, static_cast<size_t>(got));
  }
  ::close(fd);
  return answer;
}

provider::provider(const std::string& fixtures_json,
                   std::vector<std::string> flags) {
  write_file(dir_ / "fixtures/fixtures.json", fixtures_json);
  std::string tool =
    BUREAU_E2E_DIR "/node_modules/@copilotkit/aimock/dist/cli.js";
  REQUIRE_MESSAGE(fs::exists(tool), "run ./dev test once: it installs aimock");
  std::vector<std::string> argv = {"/usr/bin/env", "node", tool,
                                   "-p",           "0",    "-h",
                                   "127.0.0.1",    "-f",   dir_ / "fixtures"};
  argv.insert(argv.end(), flags.begin(), flags.end());
  server_ = std::make_unique<program>(argv);
  std::string mark = "listening on http://127.0.0.1:";
  REQUIRE(server_->read_until(mark));
  REQUIRE(server_->read_until("\n"));
  auto begin = server_->out().find(mark) + std::strlen("listening on ");
  url_ = server_->out().substr(begin, server_->out().find('\n', begin) - begin);
}

std::string provider::journal() const {
  auto answer = http_get(url_ + "/__aimock/journal");
  auto body = answer.find("\r\n\r\n");
  return body == std::string::npos ? std::string{} : answer.substr(body + 4);
}

} // namespace bureau::e2e

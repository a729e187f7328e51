#include "actors/io/control_socket.hpp"

#include "config/os/durable.hpp"

#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>

#include <cerrno>
#include <cstdio>

namespace bureau::io {

namespace {

constexpr int backlog = 16;
constexpr mode_t socket_mode = 0600;

owned_fd open_directory(const std::string& path) {
  return owned_fd{::open(path.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC)};
}

owned_fd new_socket() {
  return owned_fd{
    ::socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0)};
}

/// The socket's name below an open directory.
sockaddr_un address_in(int directory) {
  sockaddr_un result{};
  result.sun_family = AF_UNIX;
  std::snprintf(result.sun_path, sizeof result.sun_path, "/proc/self/fd/%d/%s",
                directory, control_socket_name);
  return result;
}

/// bind(2) and connect(2) take addresses of every family.
const sockaddr* generic(const sockaddr_un& address) {
  return reinterpret_cast<const sockaddr*>(&address);
}

/// Facts about the name, links not followed; false when there is none.
bool stat_name(int directory, struct stat& facts) {
  return ::fstatat(directory, control_socket_name, &facts, AT_SYMLINK_NOFOLLOW)
         == 0;
}

} // namespace

control_socket control_socket::open(const std::string& state_dir,
                                    std::string& fault) {
  auto path = state_dir + '/' + control_socket_name;
  auto refuse = [&](const std::string& why) {
    fault = "The control socket " + path + " cannot be opened: " + why + '.';
    return control_socket{};
  };
  control_socket result;
  result.directory_ = open_directory(state_dir);
  if (!result.directory_)
    return refuse(os::errno_text(errno));
  auto directory = result.directory_.get();
  struct stat facts {};
  if (stat_name(directory, facts)) {
    if (!S_ISSOCK(facts.st_mode))
      return refuse("something that is no socket has its name; remove it");
    if (::unlinkat(directory, control_socket_name, 0) != 0)
      return refuse(os::errno_text(errno));
  }
  result.listener_ = new_socket();
  auto fd = result.listener_.get();
  auto address = address_in(directory);
  // The mode of the socket becomes the mode of its name: there is no moment in
  // which others may connect.
  if (!result.listener_ || ::fchmod(fd, socket_mode) != 0
      || ::bind(fd, generic(address), sizeof address) != 0)
    return refuse(os::errno_text(errno));
  if (!stat_name(directory, facts) || !S_ISSOCK(facts.st_mode)
      || ::listen(fd, backlog) != 0)
    return refuse(os::errno_text(errno));
  result.inode_ = facts.st_ino;
  fault.clear();
  return result;
}

void control_socket::remove() {
  listener_.reset();
  struct stat facts {};
  if (directory_ && stat_name(directory_.get(), facts)
      && S_ISSOCK(facts.st_mode) && facts.st_ino == inode_)
    ::unlinkat(directory_.get(), control_socket_name, 0);
  directory_.reset();
}

owned_fd connect_control(const std::string& state_dir) {
  auto directory = open_directory(state_dir);
  if (!directory)
    return {};
  auto result = new_socket();
  auto address = address_in(directory.get());
  if (result
      && ::connect(result.get(), generic(address), sizeof address) != 0) {
    auto why = errno;
    result.reset();
    errno = why;
  }
  return result;
}

} // namespace bureau::io

#include "config/instance_lock.hpp"

#include "messages/codec/json_support.hpp"
#include "messages/identity/workspace.hpp"
#include "messages/product.hpp"
#include "messages/text/time_text.hpp"

#include <fcntl.h>
#include <poll.h>

#include <cerrno>

namespace bureau::config {

namespace {

constexpr size_t record_bytes = 16 * 1024;

std::string lock_path(const std::string& state_dir) {
  return join_path(state_dir, "node.lock");
}

std::string record_path(const std::string& state_dir) {
  return join_path(state_dir, "node.json");
}

json::bj::value listener_value(const std::optional<listener>& place) {
  if (!place)
    return nullptr;
  return json::bj::object{{"host", place->host}, {"port", place->port}};
}

std::optional<listener> read_listener(const json::bj::object& from,
                                      std::string_view name) {
  auto found = json::member(from, name);
  auto object = found != nullptr ? found->if_object() : nullptr;
  if (object == nullptr)
    return std::nullopt;
  auto port = json::int_member(*object, "port");
  if (!port || *port < 0 || *port > 65535)
    return std::nullopt;
  return listener{json::text_or_empty(*object, "host"),
                  static_cast<int>(*port)};
}

std::string busy_sentence(file_system& fs, int fd,
                          const std::string& state_dir) {
  std::string result =
    "The state directory " + state_dir + " is already in use by ";
  auto text = os::read_to_end(fs, fd, record_bytes);
  auto holder = text ? parse_node_record(text.value) : std::nullopt;
  if (holder)
    result += "pid " + std::to_string(holder->pid) + " since "
              + holder->started_at + " on " + holder->host;
  else
    result +=
      std::string{"another "} + product::name + " that is just starting";
  return result + "; stop that one or choose another --state-dir.";
}

} // namespace

void pause_a_bit() {
  ::poll(nullptr, 0, static_cast<int>(lock_pause.count()));
}

std::string print_node_record(const node_record& record) {
  json::bj::object root;
  root["version"] = 1;
  root["pid"] = record.pid;
  root["startTicks"] = record.start_ticks;
  root["bootId"] = record.boot_id;
  root["host"] = record.host;
  root["startedAt"] = record.started_at;
  root["product"] = std::string{product::name} + '/' + product::version;
  root["http"] = listener_value(record.http);
  root["observer"] = listener_value(record.observer);
  if (auto observer = root["observer"].if_object())
    (*observer)["tls"] = record.observer_tls;
  return json::print_pretty(root) + '\n';
}

std::optional<node_record> parse_node_record(std::string_view text) {
  auto parsed = json::parse(text);
  auto root = parsed ? parsed.value.if_object() : nullptr;
  if (root == nullptr || json::int_member(*root, "version") != 1)
    return std::nullopt;
  auto pid = json::int_member(*root, "pid");
  if (!pid)
    return std::nullopt;
  node_record result;
  result.pid = *pid;
  result.start_ticks = json::int_member(*root, "startTicks").value_or(0);
  result.boot_id = json::text_or_empty(*root, "bootId");
  result.host = json::text_or_empty(*root, "host");
  result.started_at = json::text_or_empty(*root, "startedAt");
  result.http = read_listener(*root, "http");
  result.observer = read_listener(*root, "observer");
  if (auto observer = json::member(*root, "observer");
      observer != nullptr && observer->is_object())
    result.observer_tls =
      json::bool_member(observer->get_object(), "tls").value_or(false);
  return result;
}

instance_lock instance_lock::acquire(file_system& fs,
                                     const std::string& state_dir,
                                     const os::machine_facts& machine,
                                     int64_t now_ms, std::string& fault,
                                     const std::function<void()>& pause) {
  instance_lock result;
  auto path = lock_path(state_dir);
  auto refuse = [&](std::string_view doing, int error) {
    fault = "The node lock " + path + " cannot be " + std::string{doing} + ": "
            + os::errno_text(error) + '.';
    return instance_lock{};
  };
  auto opened = fs.open(path, O_RDWR | O_CREAT | O_NOFOLLOW | O_NONBLOCK, 0600);
  if (!opened)
    return refuse("opened", opened.error);
  os::descriptor file{fs, opened.value};
  auto locked = fs.lock(file.get());
  for (auto tries = 1; locked.error == EWOULDBLOCK && tries < lock_tries;
       ++tries) {
    pause();
    locked = fs.lock(file.get());
  }
  if (!locked) {
    if (locked.error != EWOULDBLOCK)
      return refuse("taken, because its file system has no locks",
                    locked.error);
    fault = busy_sentence(fs, file.get(), state_dir);
    return result;
  }
  auto& record = result.record_;
  record.pid = machine.pid;
  record.start_ticks = machine.start_ticks;
  record.boot_id = machine.boot_id;
  record.host = machine.host;
  record.started_at = text::iso_utc(now_ms);
  if (auto cut = fs.truncate(file.get(), 0); !cut)
    return refuse("written", cut.error);
  if (auto written = os::write_all(fs, file.get(), print_node_record(record));
      !written)
    return refuse("written", written.error);
  result.fs_ = &fs;
  result.state_dir_ = state_dir;
  result.lock_ = std::move(file);
  fault.clear();
  return result;
}

os::io_fault instance_lock::publish(entropy& chance,
                                    std::optional<listener> http,
                                    std::optional<listener> observer,
                                    bool observer_tls) {
  record_.http = std::move(http);
  record_.observer = std::move(observer);
  record_.observer_tls = observer_tls;
  return os::write_private_atomically(*fs_, chance, record_path(state_dir_),
                                      print_node_record(record_));
}

void instance_lock::release() {
  if (!lock_)
    return;
  fs_->unlink(record_path(state_dir_));
  // An empty lock file tells the next reader nothing false.
  fs_->truncate(lock_.get(), 0);
  lock_.close();
}

lock_holder find_lock_holder(file_system& fs, const std::string& state_dir,
                             const std::function<void()>& pause) {
  lock_holder result;
  auto opened =
    fs.open(lock_path(state_dir), O_RDONLY | O_NOFOLLOW | O_NONBLOCK, 0);
  if (!opened) {
    auto absent = opened.error == ENOENT || opened.error == ENOTDIR;
    result.error = absent ? 0 : opened.error;
    return result;
  }
  os::descriptor file{fs, opened.value};
  for (auto tries = 1;; ++tries) {
    auto locked = fs.lock(file.get());
    if (locked)
      return result;
    if (locked.error != EWOULDBLOCK) {
      result.error = locked.error;
      return result;
    }
    auto text = os::read_to_end(fs, file.get(), record_bytes);
    result.record = text ? parse_node_record(text.value) : std::nullopt;
    if (result.record || tries == lock_tries)
      break;
    pause();
  }
  result.held = true;
  return result;
}

std::optional<node_record> read_node_record(file_system& fs,
                                            const std::string& state_dir) {
  auto text = os::read_whole(fs, record_path(state_dir), record_bytes);
  return text ? parse_node_record(text.value) : std::nullopt;
}

} // namespace bureau::config

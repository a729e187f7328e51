#include "actors/io/control_host.hpp"

#include "actors/io/control_line_core.hpp"
#include "actors/kit/generation_timer.hpp"
#include "actors/kit/promise_guard.hpp"
#include "actors/kit/requests.hpp"
#include "actors/kit/spawn_stateful.hpp"

#include <caf/all.hpp>

#include <system_error>

namespace bureau::io {

namespace {

/// `control` answers within the bounds of its own requests, which are shorter.
constexpr auto call_timeout = std::chrono::seconds{30};
/// Calls that are open at a stop are waited for this long.
constexpr auto stop_patience = std::chrono::seconds{1};
/// Code of JSON-RPC for a fault of the server.
constexpr int internal_error = -32603;

using host_interface = service_actor::extend_with<control_loop_owner_actor>;

// (call, connection, line)  ⇒ call
// (drain)                   ⇒ drained
// (status) → status_line    ⇒ status
// (stop) → ok               ⇒ stop
class control_host_state {
public:
  using pointer = host_interface::stateful_pointer<control_host_state>;
  static inline const char* name = "control_host";

  explicit control_host_state(pointer self) : self_(self) {}

  void init(std::shared_ptr<control_queue> queue, control_actor control) {
    queue_ = std::move(queue);
    control_ = std::move(control);
    queue_->push(control_attach{control_loop_owner_actor{self_}});
  }

  host_interface::behavior_type make_behavior() {
    return {
      [this](atom::status) { return status(); },
      [this](atom::stop) { return stop(); },
      [this](atom::call, uint64_t connection, const std::string& line) {
        call(connection, line);
      },
      [this](atom::drain) { drained(); },
    };
  }

private:
  status_line status() const {
    return {"control_host", stopping_ ? "stopping" : "ok",
            std::to_string(calls_) + " calls open, " + std::to_string(served_)
              + " answered"};
  }

  void call(uint64_t connection, const std::string& line) {
    ++calls_;
    kit::bounded_request(self_, control_, call_timeout, atom::call_v, line)
      .then([this, connection](
              const std::string& answer) { answered(connection, answer); },
            [this, connection](const caf::error& reason) {
              answered(connection, socket_error_line(
                                     internal_error, to_string(code_of(reason)),
                                     "The node did not answer."));
            });
  }

  void answered(uint64_t connection, std::string line) {
    --calls_;
    ++served_;
    queue_->push(control_answer{connection, std::move(line)});
    if (stopping_ && calls_ == 0)
      end_loop();
  }

  caf::result<caf::ok_atom> stop() {
    if (ended_)
      return caf::ok_atom_v;
    auto answer = self_->make_response_promise<caf::ok_atom>();
    stops_.keep(answer);
    if (!std::exchange(stopping_, true)) {
      if (calls_ == 0)
        end_loop();
      else
        patience_.arm(self_, stop_patience, [this] { end_loop(); });
    }
    return answer;
  }

  void end_loop() {
    patience_.cancel();
    if (!queue_->push(control_stop{}))
      drained();
  }

  void drained() {
    stopping_ = ended_ = true;
    stops_.deliver_all(caf::ok_atom_v);
  }

  pointer self_;
  std::shared_ptr<control_queue> queue_;
  control_actor control_;
  kit::promise_guard<caf::ok_atom> stops_;
  kit::generation_timer patience_;
  size_t calls_ = 0;
  uint64_t served_ = 0;
  bool stopping_ = false;
  bool ended_ = false;
};

} // namespace

control_service start_control(caf::actor_system& system, control_actor control,
                              const std::string& state_dir, uid_t own,
                              std::string& fault, control_bounds bounds) {
  auto socket = control_socket::open(state_dir, fault);
  if (!socket)
    return {};
  control_service result;
  try {
    result.loop =
      std::make_unique<control_loop>(std::move(socket), own, bounds);
  } catch (const std::system_error& ex) {
    fault =
      std::string{"The control socket cannot be served: "} + ex.what() + '.';
    return {};
  }
  result.host = kit::spawn_stateful<host_interface, control_host_state>(
    system, result.loop->queue(), std::move(control));
  return result;
}

} // namespace bureau::io

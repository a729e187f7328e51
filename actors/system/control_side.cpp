#include "actors/system/control_side.hpp"

#include "actors/control/control.hpp"
#include "actors/kit/log.hpp"
#include "actors/system/office_inspector.hpp"
#include "messages/limits.hpp"
#include "messages/product.hpp"

#include <caf/all.hpp>

namespace bureau::system {

namespace {

control::control_args args_of(const boot_result& boot, const runtime& parts,
                              const node_control_actor& node) {
  control::control_args args;
  args.node = node;
  args.offices = parts.offices;
  args.registry = parts.registry;
  args.events = parts.events;
  args.turns = parts.turns;
  args.jobs = parts.job_operators;
  args.operator_token = parts.operator_token;
  args.facts = {product::version, boot.lock.record().pid,
                boot.lock.record().started_at};
  args.deadline = boot.config->shutdown_timeout;
  args.log_level = boot.config->log_level;
  args.workspace_root = boot.config->workspace_root;
  return args;
}

} // namespace

void control_side::open(caf::actor_system& system, const boot_result& boot,
                        const runtime& parts, const node_control_actor& node) {
  inspector_ =
    spawn_office_inspector(system, boot.config->place(), parts.files);
  auto args = args_of(boot, parts, node);
  args.inspector = inspector_;
  control_ = control::spawn_control(system, std::move(args));
  std::string fault;
  service_ = io::start_control(system, control_, boot.config->state_dir,
                               boot.machine.euid, fault);
  if (service_)
    return;
  kit::log::warning("control", fault);
  caf::anon_send(node, atom::degrade_v, degraded_part{"control", fault});
}

void control_side::close(caf::actor_system& system) {
  if (service_) {
    caf::scoped_actor self{system};
    self->request(service_.host, limits::mailbox_timeout, atom::stop_v)
      .receive([](caf::ok_atom) {},
               [](const caf::error& reason) {
                 kit::log::warning("control",
                                   "did not close: " + sentence_of(reason));
               });
    service_.loop.reset();
  }
  for (auto handle : {caf::actor_cast<caf::actor>(service_.host),
                      caf::actor_cast<caf::actor>(control_),
                      caf::actor_cast<caf::actor>(inspector_)})
    if (handle)
      caf::anon_send_exit(handle, caf::exit_reason::user_shutdown);
  service_.host = nullptr;
  control_ = nullptr;
  inspector_ = nullptr;
}

} // namespace bureau::system

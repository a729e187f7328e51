#include "tests/continuation/whole_node.hpp"

#include "actors/kit/promise_guard.hpp"
#include "actors/kit/requests.hpp"
#include "actors/kit/spawn_stateful.hpp"
#include "actors/metrics/metrics.hpp"
#include "config/cli.hpp"

#include <caf/all.hpp>
#include <doctest/doctest.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <sstream>

namespace bureau::continuation {

namespace fs = std::filesystem;
using namespace std::chrono_literals;

namespace {

/// Longest time a step may take before the story counts as failed.
constexpr auto patience = 60s;

using telegram_actor = adapter_service_actor::extend_with<
  transport_actor>::extend<caf::reacts_to<atom::done>>;

/// A platform that shows every final answer to the test.
class telegram_state {
public:
  using pointer = telegram_actor::stateful_pointer<telegram_state>;
  static inline const char* name = "scripted_telegram";
  explicit telegram_state(pointer self) : self_(self) {}

  void init(offices_actor offices, caf::actor viewer) {
    offices_ = std::move(offices);
    viewer_ = std::move(viewer);
  }

  telegram_actor::behavior_type make_behavior() {
    return {
      [this](atom::start) -> caf::result<caf::ok_atom> {
        return self_->delegate(offices_, atom::attach_v, platform_id::telegram,
                               transport_actor{telegram_actor{self_}});
      },
      [](atom::drain) { return caf::ok_atom_v; },
      [](atom::stop) { return caf::ok_atom_v; },
      [](atom::status) {
        return status_line{"adapter/telegram", "ok", ""};
      },
      [this](atom::deliver, const outbound& operation) {
        return deliver(operation);
      },
      [](atom::drop, const std::string&) {},
      [](atom::fetch, const attachment_fetch&) -> caf::result<uint64_t> {
        return make_failure(errc::not_found, "no such file");
      },
      [](atom::closed, const closed_entry&) {},
      [](atom::config) {
        transport_info info;
        info.platform = platform_id::telegram;
        info.streaming = false;
        return info;
      },
      [](atom::done) {},
    };
  }

private:
  using delivery_promise = caf::typed_response_promise<delivered>;

  delivery_promise deliver(const outbound& operation) {
    auto answer = self_->make_response_promise<delivery_promise>();
    auto id = deliveries_.keep(answer);
    if (operation.rank != outbound_class::final_answer) {
      deliveries_.deliver(id, delivered{});
      return answer;
    }
    delivery_key key{operation.conversation, operation.message_id,
                     operation.run,          operation.part,
                     operation.op,           {}};
    kit::bounded_request(self_, offices_, limits::disk_timeout,
                         atom::may_send_v, key)
      .then(
        [this, id, text = operation.text](caf::ok_atom) {
          delivered outcome;
          outcome.ref = std::to_string(++posts_);
          deliveries_.deliver(id, outcome);
          caf::anon_send(viewer_, text);
        },
        [this, id](caf::error& reason) { deliveries_.fail(id, reason); });
    return answer;
  }

  pointer self_;
  offices_actor offices_;
  caf::actor viewer_;
  kit::promise_guard<delivered> deliveries_;
  size_t posts_ = 90'000;
};

std::string content_of(const fs::path& path) {
  std::ifstream file{path, std::ios::binary};
  std::ostringstream bytes;
  bytes << file.rdbuf();
  return bytes.str();
}

} // namespace

std::map<std::string, std::string>
read_tree(const std::vector<std::string>& directories) {
  std::map<std::string, std::string> result;
  for (size_t number = 0; number < directories.size(); ++number)
    for (const auto& entry :
         fs::recursive_directory_iterator{directories[number]}) {
      auto path = fs::relative(entry.path(), directories[number]).string();
      auto of_a_run = path == "node.json" || path == "node.lock"
                      || path.starts_with("journal/");
      if (!of_a_run)
        result[std::to_string(number) + "/" + path] =
          entry.is_regular_file() ? content_of(entry.path()) : "directory";
    }
  return result;
}

void copy_fixture(const std::string& state, const std::string& workspace) {
  fs::path source = BUREAU_TEST_SOURCE_DIR "/tests/golden/mikan-0.5.3";
  fs::copy(source / "state", state, fs::copy_options::recursive);
  fs::copy(source / "workspace", workspace, fs::copy_options::recursive);
  fs::permissions(state, fs::perms::owner_all);
}

whole_node::whole_node(const std::string& state, const std::string& workspace) {
  auto plan =
    config::parse_command_line({"run", "--headless", "--sandbox", "bwrap",
                                "--state-dir", state, workspace});
  REQUIRE(plan);
  config::environment environment{
    {{"HOME", state}, {"TELEGRAM_BOT_TOKEN", "1:scripted"}}};
  auto refusal = system::prepare(plan.plan, environment, boot_);
  REQUIRE(refusal == "");
  parts_.metrics =
    metrics::spawn_metrics(system_, [] { return metrics::process_figures{}; });
  system::start_io(system_, boot_, parts_);
  caf::actor viewer = self_;
  node_ = system::spawn_node(system_, [&](const node_actor& self) {
    auto composed = system::compose(system_, boot_, parts_, self);
    composed.tell_main = [viewer](system::main_event event) {
      caf::anon_send(viewer, static_cast<uint64_t>(event));
    };
    composed.set_exit_code = [](int) {
    };
    system::adapter_plan telegram;
    telegram.platform = platform_id::telegram;
    telegram.spawn = [offices = parts_.offices,
                      viewer](caf::actor_system& where, const node_actor&,
                              const system::channel_link&) {
      return adapter_service_actor{
        kit::spawn_stateful<telegram_actor, telegram_state>(where, offices,
                                                            viewer)};
    };
    std::erase_if(composed.channels, [](const system::channel_plan& item) {
      return item.platform == platform_id::telegram;
    });
    composed.adapters.push_back(std::move(telegram));
    return composed;
  });
  await(system::main_event::ready);
}

whole_node::~whole_node() {
  caf::anon_send(node_, atom::shutdown_v, std::string{"the story ends"});
  await(system::main_event::finished);
  caf::anon_send_exit(node_, caf::exit_reason::user_shutdown);
  node_ = nullptr;
  parts_.end();
}

void whole_node::await(system::main_event wanted) {
  auto seen = false;
  while (!seen)
    self_->receive(
      [&](uint64_t event) { seen = event == static_cast<uint64_t>(wanted); },
      caf::after(patience) >>
        [&] {
          seen = true;
          FAIL_CHECK("the node told nothing");
        });
}

std::string whole_node::ask(const std::string& conversation,
                            const std::string& id, const std::string& text) {
  intake_request request;
  request.event.address = {platform_id::telegram, conversation};
  request.event.session_key = conversation;
  request.event.message_id = id;
  request.event.user = conversation;
  request.event.user_name = "u0";
  request.event.text = text;
  request.event.sent_ms = boot_.ports.wall->now_ms();
  auto taken = false;
  self_
    ->request(parts_.offices, limits::disk_timeout, atom::intake_v,
              std::move(request))
    .receive(
      [&](const intake_reply& reply) {
        taken = reply.outcome == intake_outcome::taken;
      },
      [](caf::error& reason) { FAIL_CHECK(sentence_of(reason)); });
  REQUIRE(taken);
  std::string answer;
  self_->receive([&](const std::string& shown) { answer = shown; },
                 caf::after(patience) >>
                   [] { FAIL_CHECK("no answer was shown"); });
  return answer;
}

} // namespace bureau::continuation

#include "actors/settings/settings.hpp"

#include "actors/kit/promise_guard.hpp"
#include "actors/kit/requests.hpp"
#include "actors/kit/spawn_stateful.hpp"
#include "actors/settings/patch_core.hpp"
#include "actors/settings/watched_file_core.hpp"
#include "config/readers.hpp"
#include "messages/limits.hpp"

#include <deque>
#include <functional>
#include <map>
#include <set>
#include <utility>
#include <vector>

namespace bureau::settings {

namespace {

using config::auth_file;
using config::models_file;
using config::reading;
using config::settings_document;
using time_point = caf::actor_clock::time_point;

/// A run that waits for its settings.
struct ticket {
  uint64_t answer = 0;
  office place;
};

/// The settings file of one conversation.
struct conversation_file {
  watched_file<settings_document> content;
  time_point looked{};
  bool ever_looked = false;
  /// For dropping the longest unused one.
  uint64_t used = 0;
  /// Changes written so far: a look that began before one does not count.
  uint64_t writes = 0;
};

/// A change of a file that waits for its turn.
struct open_change {
  uint64_t answer = 0;
  std::string path;
  config::settings_file_kind kind = config::settings_file_kind::global;
  /// Key of the conversation; empty: the global file.
  std::string key;
  json_text patch;
};

/// Turns the text of a file into its checked content.
template <class T>
using parser = std::function<reading<T>(const std::string& text)>;

// (resolve, office_address) -> run_settings => resolve
// (patch, settings_patch) -> ok             => change
// (status) -> status_line                   => describe
struct settings_state {
  using pointer = settings_actor::stateful_pointer<settings_state>;
  static inline const char* name = "settings";

  explicit settings_state(pointer me) : self(me) {}

  void init(settings_args given) {
    args = std::move(given);
    const auto& initial = args.initial;
    settings = {initial.settings, initial.settings_signature};
    models = {initial.models, initial.models_signature};
    auth = {initial.auth, initial.auth_signature};
  }

  settings_actor::behavior_type make_behavior() {
    announce();
    return {
      [this](atom::resolve, const office_address& address) {
        return resolve(address);
      },
      [this](atom::patch, const settings_patch& what) { return change(what); },
      [this](atom::status) { return describe(); },
    };
  }

  // -- a request --------------------------------------------------------------

  caf::result<run_settings> resolve(const office_address& address) {
    if (check_conversation_id(address.conversation_id) != address_fault::none)
      return make_failure(errc::bad_identity,
                          "The conversation id is malformed; no settings "
                          "belong to it.");
    if (answers.size() >= limits::config_waiting)
      return make_failure(errc::busy, "Too many runs wait for their settings; "
                                      "try again in a moment.");
    auto promise = self->make_response_promise<run_settings>();
    waiting.push_back(
      {answers.keep(promise), make_office(args.boot->place(), address)});
    if (open_looks == 0)
      look_at_global_files();
    return promise;
  }

  status_line describe() const {
    return {name, degraded.empty() ? "ok" : "degraded",
            "conversations " + std::to_string(conversations.size())
              + ", waiting " + std::to_string(answers.size()) + ", reloads "
              + std::to_string(reloads)};
  }

  // -- the global files -------------------------------------------------------

  void look_at_global_files() {
    auto now = self->clock().now();
    if (ever_looked && now - looked < limits::config_look_interval)
      return serve_waiting();
    ever_looked = true;
    looked = now;
    const auto& state_dir = args.boot->state_dir;
    open_looks = 3;
    look<settings_document>(
      config::settings_path(state_dir), settings,
      [path = config::settings_path(state_dir)](const std::string& text) {
        return config::parse_settings(text, path,
                                      config::settings_file_kind::global);
      },
      "settings.json");
    look<models_file>(
      config::models_path(state_dir), models,
      [path = config::models_path(state_dir)](const std::string& text) {
        return config::parse_models(text, path);
      },
      "models.json");
    look<auth_file>(
      config::auth_path(state_dir), auth,
      [path = config::auth_path(state_dir)](const std::string& text) {
        return config::parse_auth(text, path);
      },
      "auth.json");
  }

  template <class T>
  void look(const std::string& path, watched_file<T>& file, parser<T> parse,
            const char* component) {
    look_at<T>(path, file, std::move(parse),
               [this, path, &file, component](const file_change& change,
                                              const caf::error& err) {
                 tell_change(component, file.fault(), change);
                 if (err)
                   kit::log::warning(
                     name, path + " was not looked at: " + sentence_of(err));
                 if (--open_looks == 0)
                   serve_waiting();
               });
  }

  /// Looks at a file and reads it when it must be read; `done` runs once, with
  /// an error when the pool could not do it.
  /// @param file stays alive as long as this actor
  template <class T, class Done>
  void look_at(const std::string& path, watched_file<T>& file, parser<T> parse,
               Done done) {
    file_job job;
    job.reason = name;
    job.op = file_op::stat;
    job.path = path;
    kit::bounded_request(self, args.files, limits::disk_timeout, atom::file_v,
                         std::move(job))
      .then(
        [this, path, &file, parse, done](const file_outcome& seen) {
          auto signature = signature_of(seen);
          if (!file.must_read(signature))
            return done(file_change{}, caf::error{});
          if (seen.kind == file_kind::absent)
            return done(file.take(signature, args.wall->now_ms(), {}),
                        caf::error{});
          read<T>(path, signature, file, parse, done);
        },
        [done](const caf::error& err) { done(file_change{}, err); });
  }

  template <class T, class Done>
  void read(const std::string& path, const config::file_signature& signature,
            watched_file<T>& file, const parser<T>& parse, const Done& done) {
    file_job job;
    job.reason = name;
    job.op = file_op::read;
    job.path = path;
    job.length = limits::config_file_bytes;
    auto take = [this, &file, signature, done](reading<T> content) {
      ++reloads;
      done(file.take(signature, args.wall->now_ms(), std::move(content)),
           caf::error{});
    };
    kit::bounded_request(self, args.files, limits::disk_timeout, atom::file_v,
                         std::move(job))
      .then(
        [take, parse](const file_outcome& content) {
          take(parse(content.bytes));
        },
        [path, take, done](const caf::error& err) {
          auto code = code_of(err);
          if (code == errc::not_found)
            return take({}); // It went between look and reading.
          if (code == errc::denied || code == errc::is_directory
              || code == errc::too_large)
            return take({{}, {}, config::unreadable(path, sentence_of(err))});
          done(file_change{}, err);
        });
  }

  // -- the file of a conversation ---------------------------------------------

  void serve_waiting() {
    for (auto& next : std::exchange(waiting, {}))
      look_at_conversation(std::move(next));
  }

  void look_at_conversation(ticket next) {
    auto& file = conversation_of(next.place.key);
    auto now = self->clock().now();
    if (file.ever_looked && now - file.looked < limits::config_look_interval)
      return answer(next);
    auto path = config::conversation_settings_path(next.place);
    auto parse = [path](const std::string& text) {
      return config::parse_settings(text, path,
                                    config::settings_file_kind::conversation);
    };
    // Held here, because the table may forget the conversation meanwhile.
    auto held = conversations.at(next.place.key);
    look_at<settings_document>(
      path, held->content, parse,
      [this, held, next, now, writes = held->writes](const file_change& change,
                                                     const caf::error& err) {
        for (const auto& warning : change.warnings)
          kit::log::warning(name, warning);
        if (err && !held->ever_looked)
          return answers.fail(
            next.answer,
            make_failure(code_of(err), "The settings of this conversation "
                                       "cannot be read: "
                                         + sentence_of(err)));
        if (held->writes == writes) {
          held->ever_looked = true;
          held->looked = now;
        }
        answer(next);
      });
  }

  conversation_file& conversation_of(const std::string& key) {
    auto& entry = conversations[key];
    if (!entry)
      entry = std::make_shared<conversation_file>();
    entry->used = ++uses;
    auto& result = *entry;
    if (conversations.size() > limits::config_conversations)
      forget_longest_unused();
    return result;
  }

  void forget_longest_unused() {
    auto oldest = conversations.begin();
    for (auto i = conversations.begin(); i != conversations.end(); ++i)
      if (i->second->used < oldest->second->used)
        oldest = i;
    auto gone = oldest->first;
    conversations.erase(oldest);
    model_works(gone);
  }

  // -- changes, one after the other -------------------------------------------

  caf::result<caf::ok_atom> change(const settings_patch& what) {
    const auto& address = what.conversation;
    open_change next;
    next.patch = what.patch;
    if (address.conversation_id.empty()) {
      next.path = config::settings_path(args.boot->state_dir);
    } else if (check_conversation_id(address.conversation_id)
               != address_fault::none) {
      return make_failure(errc::bad_identity,
                          "The conversation id is malformed; no settings "
                          "belong to it.");
    } else {
      auto place = make_office(args.boot->place(), address);
      next.path = config::conversation_settings_path(place);
      next.kind = config::settings_file_kind::conversation;
      next.key = std::move(place.key);
    }
    if (changes.size() >= limits::config_waiting)
      return make_failure(errc::busy, "Too many changes of settings wait; try "
                                      "again in a moment.");
    auto promise = self->make_response_promise<caf::ok_atom>();
    next.answer = change_answers.keep(promise);
    changes.push_back(std::move(next));
    if (changes.size() == 1)
      read_for_change();
    return promise;
  }

  void read_for_change() {
    file_job job;
    job.reason = name;
    job.op = file_op::read;
    job.path = changes.front().path;
    job.length = limits::config_file_bytes;
    kit::bounded_request(self, args.files, limits::disk_timeout, atom::file_v,
                         std::move(job))
      .then([this](const file_outcome& found) { make_change(found.bytes); },
            [this](const caf::error& err) {
              auto code = code_of(err);
              if (code == errc::not_found)
                return make_change(std::nullopt);
              if (code == errc::denied || code == errc::is_directory
                  || code == errc::too_large)
                return end_change(make_failure(
                  errc::bad_config,
                  config::unreadable(changes.front().path, sentence_of(err))));
              end_change(make_failure(errc::disk, sentence_of(err)));
            });
  }

  void make_change(std::optional<std::string_view> current) {
    const auto& next = changes.front();
    auto text = patched_text(current, next.patch, next.path, next.kind);
    if (!text)
      return end_change(text.error());
    file_job job;
    job.reason = name;
    job.op = file_op::ensure_directory;
    job.path = next.path.substr(0, next.path.rfind('/'));
    job.mode = 0700;
    kit::bounded_request(self, args.files, limits::disk_timeout, atom::file_v,
                         std::move(job))
      .then([this, bytes = std::move(*text)](
              const file_outcome&) { write_change(bytes); },
            [this](const caf::error& err) {
              end_change(make_failure(errc::disk, sentence_of(err)));
            });
  }

  void write_change(const std::string& bytes) {
    file_job job;
    job.reason = name;
    job.op = file_op::write_atomic;
    job.path = changes.front().path;
    job.bytes = bytes;
    job.mode = 0600;
    kit::bounded_request(self, args.files, limits::disk_timeout, atom::file_v,
                         std::move(job))
      .then(
        [this](const file_outcome&) {
          kit::log::info(name, changes.front().path + " was changed");
          end_change({});
        },
        [this](const caf::error& err) {
          end_change(make_failure(errc::disk, sentence_of(err)));
        });
  }

  void end_change(const caf::error& fault) {
    auto done = std::move(changes.front());
    changes.pop_front();
    // Even a write that failed may have happened: the next run looks anew.
    auto file = conversations.find(done.key);
    if (done.key.empty()) {
      ever_looked = false;
    } else if (file != conversations.end()) {
      file->second->ever_looked = false;
      ++file->second->writes;
    }
    if (fault)
      change_answers.fail(done.answer, fault);
    else
      change_answers.deliver(done.answer, caf::ok_atom_v);
    if (!changes.empty())
      read_for_change();
  }

  // -- the answer -------------------------------------------------------------

  void answer(const ticket& next) {
    const auto& file = conversation_of(next.place.key).content;
    if (!file.fault().empty())
      return answers.fail(next.answer,
                          make_failure(errc::bad_config, file.fault()));
    const auto& own = *file.value();
    auto chosen = choose(&own, config::conversation_settings_path(next.place));
    tell_choice(next, own, chosen);
    if (!chosen)
      return answers.fail(next.answer,
                          make_failure(chosen.code, chosen.sentence));
    config::layered_settings layered{*settings.value(), &own};
    auto caps = budget_of(layered, "budget.run.");
    auto event_caps = budget_of(layered, "budget.event.");
    // A cap on what is not known would hold nothing (decision B37).
    if (chosen.choice.model.rates.empty())
      for (const auto& [budget, path] :
           {std::pair{&caps, "budget.run."}, {&event_caps, "budget.event."}})
        if (budget->max_cost_micro > 0)
          return answers.fail(
            next.answer,
            make_failure(errc::bad_config, unknown_price(chosen, path)));
    auto door = layered.effective_door();
    run_settings result;
    result.budget = caps;
    result.event_budget = event_caps;
    result.history = history_of(layered);
    result.choice = std::move(chosen.choice);
    result.sandbox_network = layered.text("sandbox.network");
    result.door_policy = std::move(door.policy);
    result.layout = std::move(door.layout);
    result.output_mode = layered.text("output.mode");
    result.queue_cap = static_cast<uint32_t>(
      layered.integer("queue.cap").value_or(limits::session_queue_cap));
    result.mode = mode_of(layered.text("queue.mode"));
    result.overflow = layered.text("queue.overflow") == "collect"
                        ? queue_overflow::collect
                        : queue_overflow::refuse;
    answers.deliver(next.answer, std::move(result));
  }

  /// The schema lets no other words through.
  static queue_mode mode_of(std::string_view word) {
    for (auto mode : {queue_mode::steer, queue_mode::collect,
                      queue_mode::interrupt, queue_mode::reject})
      if (to_string(mode) == word)
        return mode;
    return queue_mode::follow_up;
  }

  /// Caps of a run: only what somebody set.
  /// @param path of their section, with its dot
  static run_budget budget_of(const config::layered_settings& layered,
                              const std::string& path) {
    run_budget result;
    result.max_tokens = layered.integer(path + "maxTokens").value_or(0);
    result.max_duration_ms =
      layered.integer(path + "maxDurationMs").value_or(0);
    result.max_llm_calls = layered.integer(path + "maxLlmCalls").value_or(0);
    if (auto dollars = layered.number(path + "maxCostUsd"))
      result.max_cost_micro = config::micro_of(*dollars);
    return result;
  }

  static history_window history_of(const config::layered_settings& layered) {
    history_window result;
    auto whole = [&layered](std::string_view path, int64_t otherwise) {
      return layered.integer(path).value_or(otherwise);
    };
    result.recent_days = whole("history.recentDays", result.recent_days);
    result.messages = static_cast<size_t>(whole(
      "history.maxTopLevelMessages", static_cast<int64_t>(result.messages)));
    result.thread_seed = static_cast<size_t>(whole(
      "history.threadSeedTopLevel", static_cast<int64_t>(result.thread_seed)));
    return result;
  }

  static std::string unknown_price(const config::choice_result& chosen,
                                   const std::string& path) {
    const auto& model = chosen.choice.model;
    return path + "maxCostUsd is set, but the price of the model "
           + model.provider + '/' + model.id
           + " is not known. Name a model with a price, or limit " + path
           + "maxTokens instead.";
  }

  config::choice_result choose(const settings_document* own,
                               std::string own_path) const {
    config::config_snapshot now;
    now.settings = settings.value();
    now.models = models.value();
    now.auth = auth.value();
    return config::choose_model(config::choice_inputs_of(
      *args.boot, now, own, std::move(own_path), args.wall->now_ms()));
  }

  // -- log and health ---------------------------------------------------------

  void tell_change(const std::string& component, const std::string& fault,
                   const file_change& change) {
    for (const auto& warning : change.warnings)
      kit::log::warning(name, warning);
    if (change.recovered)
      kit::log::info(name, component + " is good again");
    if (change.turned_bad)
      mark(component, fault + " The last good content stays in force.");
    else if (change.loaded)
      mark(component, entry_fault(component));
  }

  /// What the files of the boot leave out of use, and the model that runs get
  /// as long as no conversation names another one.
  void announce() {
    for (auto component : {"models.json", "auth.json"})
      mark(component, entry_fault(component));
    auto chosen = choose(nullptr, {});
    if (chosen) {
      told_choice = config::describe_choice(chosen.choice);
      kit::log::info(name, told_choice);
    } else {
      kit::log::warning(name, chosen.sentence);
      global_model_fault = chosen.sentence;
      mark_model();
    }
  }

  /// A bad provider or credential disables that part only; health names it.
  std::string entry_fault(const std::string& component) const {
    if (component == "models.json") {
      for (const auto& entry : models.value()->providers)
        if (!entry.fault.empty())
          return "The provider " + entry.id + " is not used: " + entry.fault
                 + '.';
      for (const auto& entry : models.value()->providers)
        for (const auto& model : entry.unusable)
          return "The model " + entry.id + '/' + model.id
                 + " is not used: " + model.fault + '.';
    } else if (component == "auth.json") {
      for (const auto& [provider, entry] : auth.value()->entries)
        if (entry.kind == config::credential_kind::broken)
          return "The credential of " + provider
                 + " is not used: " + entry.fault + '.';
    }
    return {};
  }

  void tell_choice(const ticket& next, const settings_document& own,
                   const config::choice_result& chosen) {
    if (!config::model_of(own)) {
      global_model_fault = chosen ? std::string{} : chosen.sentence;
      model_works(next.place.key);
    } else if (chosen) {
      model_works(next.place.key);
    } else {
      model_fails(next.place.key, chosen.sentence);
    }
    if (!chosen || chosen.step < config::choice_step::first_custom)
      return;
    // A choice that nobody named is said once.
    auto line = config::describe_choice(chosen.choice);
    if (line != told_choice)
      kit::log::info(name, line);
    told_choice = std::move(line);
  }

  void model_works(const std::string& office) {
    model_faults.erase(office);
    mark_model();
  }

  void model_fails(const std::string& office, const std::string& sentence) {
    auto& known = model_faults[office];
    if (std::exchange(known, sentence) != sentence)
      kit::log::warning(name, office + ": " + sentence);
    mark_model();
  }

  /// One component for all models: which conversations are meant is for the log
  /// alone (decision B14).
  void mark_model() {
    if (!global_model_fault.empty() || model_faults.empty())
      mark("model", global_model_fault);
    else
      mark("model", std::to_string(model_faults.size())
                      + (model_faults.size() == 1 ? " conversation names"
                                                  : " conversations name")
                      + " a model that cannot be used; the log says which.");
  }

  /// Marks a part degraded, or well again with an empty reason; the node hears
  /// about changes only.
  void mark(const std::string& component, const std::string& reason) {
    auto entry = degraded.find(component);
    auto before = entry != degraded.end() ? entry->second : std::string{};
    if (before == reason)
      return;
    if (reason.empty())
      degraded.erase(component);
    else
      degraded[component] = reason;
    if (args.node)
      self->send(args.node, atom::degrade_v, degraded_part{component, reason});
  }

  /// The actor.
  pointer self;
  settings_args args;
  watched_file<settings_document> settings;
  watched_file<models_file> models;
  watched_file<auth_file> auth;
  /// When the global files were looked at last.
  time_point looked{};
  bool ever_looked = false;
  /// Looks at global files that are out; runs wait until it is 0.
  size_t open_looks = 0;
  std::vector<ticket> waiting;
  kit::promise_guard<run_settings> answers;
  /// The first one is under way.
  std::deque<open_change> changes;
  kit::promise_guard<caf::ok_atom> change_answers;
  std::map<std::string, std::shared_ptr<conversation_file>> conversations;
  uint64_t uses = 0;
  uint64_t reloads = 0;
  /// Component to reason, as the node knows it.
  std::map<std::string, std::string> degraded;
  /// Why the model that nobody named otherwise cannot be used.
  std::string global_model_fault;
  /// Conversations with a model of their own that cannot be used: key to
  /// sentence. At most as many as there are conversations.
  std::map<std::string, std::string> model_faults;
  /// The last choice that was said in the log.
  std::string told_choice;
};

} // namespace

settings_actor spawn_settings(caf::actor_system& system, settings_args args) {
  return kit::spawn_stateful<settings_actor, settings_state>(system,
                                                             std::move(args));
}

} // namespace bureau::settings

#include "actors/events/events_state.hpp"
#include "actors/kit/log.hpp"
#include "messages/codec/event_file.hpp"
#include "messages/text/sha256.hpp"
#include "messages/text/utf8.hpp"

#include <caf/all.hpp>

#include <memory>
#include <utility>

namespace bureau::events {

namespace {

constexpr const char* home = "events";

std::string trimmed(const std::string& file) {
  return std::string{text::trim(text::is_valid_utf8(file) ? file : "")};
}

caf::error bad_file_name() {
  return make_failure(errc::bad_request,
                      "invalid event filename: it must be the bare name of a "
                      ".json file");
}

caf::error no_such_file(const std::string& file) {
  return make_failure(errc::not_found, "there is no event '" + file + "'");
}

caf::error foreign_file(const std::string& file) {
  return make_failure(errc::denied, "the event '" + file
                                      + "' belongs to another conversation");
}

} // namespace

bool events_state::belongs(const event_entry& entry,
                           const office_address& office) const {
  if (office.conversation_id.empty() || !entry.payload)
    return true;
  if (entry.payload->conversation_id != office.conversation_id)
    return false;
  if (!entry.payload->platform)
    return true;
  auto target = core_.target(entry.filename);
  return target && target->conversation == office;
}

// -- writing ------------------------------------------------------------------

caf::result<event_stored> events_state::on_write(const event_write& request) {
  auto wanted = request;
  wanted.filename = trimmed(request.filename);
  if (!is_event_file_name(wanted.filename))
    return bad_file_name();
  // The tool never grants what only an operator may.
  if (wanted.author == event_author::agent)
    wanted.payload.allow_schedules = false;
  auto built = build_event(std::move(wanted.payload));
  if (!built)
    return make_failure(errc::bad_request, built.sentence);
  wanted.payload = std::move(built.payload);
  if (wanted.payload.type == event_type::periodic) {
    if (auto pattern = parse_cron(wanted.payload.schedule); !pattern)
      return pattern.error();
    if (!deps_.zones->find(wanted.payload.timezone))
      return make_failure(errc::bad_request,
                          "there is no time zone '" + wanted.payload.timezone
                            + "'; name one of the IANA database, such as "
                              "Europe/Berlin");
  }
  auto answer = self_->make_response_promise<event_stored>();
  auto promise = stores_.keep(answer);
  when_ready(
    [this, wanted = std::move(wanted), promise](const caf::error& trouble) {
      if (trouble)
        stores_.fail(promise, trouble);
      else
        write(wanted, promise);
    });
  return answer;
}

caf::error events_state::refusal(const event_write& request) const {
  if (stopping_)
    return make_failure(errc::shutting_down, "the schedules are ending");
  if (request.cause.starts_with(event_id_head)) {
    auto run = core_.runs().find_id(request.cause);
    if (run == nullptr || !run->may_schedule)
      return make_failure(errc::denied,
                          "Scheduled runs cannot create schedules.");
  }
  auto known = core_.entry(request.filename);
  if (!known)
    return request.must_exist ? no_such_file(request.filename)
           : core_.living().size() >= limits::event_files ? make_failure(
               errc::queue_full, "there are too many events; delete some")
                                                          : caf::error{};
  if (!belongs(*known, request.office))
    return foreign_file(request.filename);
  if (request.author == event_author::agent && known->payload
      && known->payload->allow_schedules
      && known->author == event_author::operators)
    return make_failure(errc::denied, "the event '" + request.filename
                                        + "' was made by an operator, who may "
                                          "change it");
  return {};
}

void events_state::write(const event_write& request, uint64_t promise) {
  if (auto refused = refusal(request)) {
    stores_.fail(promise, refused);
    return;
  }
  auto content = print_event_file(request.payload);
  if (content.size() > limits::event_file_bytes) {
    stores_.fail(
      promise,
      make_failure(errc::too_large, "an event is at most "
                                      + std::to_string(limits::event_file_bytes)
                                      + " bytes long"));
    return;
  }
  // Who wrote it is known before anybody can read it.
  log_line line;
  line.step = log_step::written;
  line.at_ms = now().wall_ms;
  line.file = request.filename;
  line.content = {line.at_ms, content.size(), text::sha256_hex(content)};
  line.author = request.author;
  writing_.insert(request.filename);
  append(print_log_line(line), durability::sync,
         [this, request, line, promise,
          content = std::move(content)](const caf::error& reason) {
           if (!reason) {
             core_.runs().apply(line);
             put(request, content, promise);
             return;
           }
           writing_.erase(writing_.find(request.filename));
           stores_.fail(promise, reason);
         });
}

void events_state::put(const event_write& request, std::string content,
                       uint64_t promise) {
  auto file = request.filename;
  auto size = content.size();
  auto job = event_job(file_op::write_atomic, file);
  job.bytes = std::move(content);
  ask_files(
    std::move(job),
    [this, file, size, promise](const file_outcome&) {
      writing_.erase(writing_.find(file));
      stores_.deliver(promise, event_stored{join_path(home, file), size});
      carry_out(core_.written(file, now()));
    },
    [this, file, promise](const caf::error& reason) {
      writing_.erase(writing_.find(file));
      stores_.fail(promise, reason);
      // It may have been written even so.
      carry_out(core_.written(file, now()));
    });
}

// -- reading ------------------------------------------------------------------

caf::result<event_list> events_state::on_list(const event_query& query) {
  auto answer = self_->make_response_promise<event_list>();
  auto promise = lists_.keep(answer);
  when_ready([this, promise, office = query.office](const caf::error& trouble) {
    if (trouble) {
      lists_.fail(promise, trouble);
      return;
    }
    event_list result;
    for (auto& entry : core_.entries())
      if (office.conversation_id.empty()
          || (entry.payload && belongs(entry, office)))
        result.events.push_back(std::move(entry));
    lists_.deliver(promise, std::move(result));
  });
  return answer;
}

caf::result<event_entry> events_state::on_read(const event_query& query) {
  auto file = trimmed(query.filename);
  if (!is_event_file_name(file))
    return bad_file_name();
  auto answer = self_->make_response_promise<event_entry>();
  auto promise = reads_.keep(answer);
  when_ready(
    [this, promise, file, office = query.office](const caf::error& trouble) {
      auto known = core_.entry(file);
      if (trouble)
        reads_.fail(promise, trouble);
      else if (!known)
        reads_.fail(promise, no_such_file(file));
      else if (!belongs(*known, office))
        reads_.fail(promise, foreign_file(file));
      else
        reads_.deliver(promise, std::move(*known));
    });
  return answer;
}

caf::result<bool> events_state::on_drop(const event_query& query) {
  auto file = trimmed(query.filename);
  if (!is_event_file_name(file))
    return bad_file_name();
  auto answer = self_->make_response_promise<bool>();
  auto promise = drops_.keep(answer);
  when_ready(
    [this, promise, file, office = query.office](const caf::error& trouble) {
      auto known = core_.entry(file);
      if (trouble) {
        drops_.fail(promise, trouble);
        return;
      }
      if (known && !belongs(*known, office)) {
        drops_.fail(promise, foreign_file(file));
        return;
      }
      ask_files(
        event_job(file_op::remove, file),
        [this, promise, file,
         was_there = known.has_value()](const file_outcome&) {
          drops_.deliver(promise, was_there);
          carry_out(core_.dropped(file, now()));
        },
        [this, promise](const caf::error& reason) {
          drops_.fail(promise, reason);
        });
    });
  return answer;
}

// -- jobs and runs ------------------------------------------------------------

void events_state::ask_active(const std::string& job,
                              std::function<void(const active_runs&)> then) {
  struct collection {
    active_runs found;
    size_t missing = 1;
  };
  auto all = std::make_shared<collection>();
  auto told = [all, then = std::move(then)] {
    if (--all->missing == 0)
      then(all->found);
  };
  for (const auto& run : possible_runs(core_, job)) {
    ++all->missing;
    kit::bounded_request(self_, desk_, limits::mailbox_timeout, atom::locate_v,
                         session_query{run.conversation, run.session_key})
      .then(
        [all, told, id = run.id](const session_snapshot& session) {
          if (session.message_id == id && !session.run.empty())
            all->found[id] = session.run;
          told();
        },
        [told](const caf::error&) { told(); });
  }
  told();
}

caf::result<contracts::cron_overview> events_state::on_describe() {
  auto answer = self_->make_response_promise<contracts::cron_overview>();
  auto promise = overviews_.keep(answer);
  when_ready([this, promise](const caf::error& trouble) {
    if (trouble) {
      overviews_.fail(promise, trouble);
      return;
    }
    ask_active({}, [this, promise](const active_runs& active) {
      if (auto told = overview_of(core_, active, trouble_, now().wall_ms))
        overviews_.deliver(promise, std::move(*told));
      else
        overviews_.fail(promise, told.error());
    });
  });
  return answer;
}

caf::result<contracts::cron_run_page>
events_state::on_page(const event_run_query& query) {
  auto answer = self_->make_response_promise<contracts::cron_run_page>();
  auto promise = pages_.keep(answer);
  when_ready([this, promise, query](const caf::error& trouble) {
    if (trouble) {
      pages_.fail(promise, trouble);
      return;
    }
    ask_active(query.job_id, [this, promise, query](const active_runs& active) {
      if (auto told = page_of(core_, active, query.job_id, query.page))
        pages_.deliver(promise, std::move(*told));
      else
        pages_.fail(promise, told.error());
    });
  });
  return answer;
}

caf::result<contracts::cron_run>
events_state::on_run(const event_run_query& query) {
  auto answer = self_->make_response_promise<contracts::cron_run>();
  auto promise = runs_.keep(answer);
  when_ready([this, promise, query](const caf::error& trouble) {
    if (trouble) {
      runs_.fail(promise, trouble);
      return;
    }
    ask_active(query.job_id, [this, promise, query](const active_runs& active) {
      if (auto told = detail_of(core_, active, query.job_id, query.run_id))
        runs_.deliver(promise, std::move(*told));
      else
        runs_.fail(promise, told.error());
    });
  });
  return answer;
}

} // namespace bureau::events

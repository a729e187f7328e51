#include "adapters/console/console_state.hpp"

#include "adapters/console/attach_core.hpp"

#include <caf/all.hpp>

namespace bureau::console {

void console_state::apply(effect::look& item) {
  auto path = resolve_path(item.path, options_.home, options_.working_dir);
  if (path.empty()) {
    carry_out(core_->looked(item.number, {},
                            "It is not known where " + item.path
                              + " is; give the whole path.",
                            now()));
    return;
  }
  if (auto why = private_place(path, deps_.ws); !why.empty()) {
    carry_out(core_->looked(item.number, path, why, now()));
    return;
  }
  ask_files(
    file_of_user(file_op::stat, path, 0),
    [this, number = item.number, path](const file_outcome& found) {
      auto refusal = refusal_of(path, found);
      if (refusal.empty())
        try_reading(number, path);
      else
        carry_out(core_->looked(number, path, refusal, now()));
    },
    [this, number = item.number, path](const caf::error& reason) {
      carry_out(core_->looked(number, path, sentence_of(reason) + ".", now()));
    });
}

void console_state::try_reading(uint64_t number, const std::string& path) {
  ask_files(
    file_of_user(file_op::read_range, path, 1),
    [this, number, path](const file_outcome&) {
      carry_out(core_->looked(number, path, {}, now()));
    },
    [this, number, path](const caf::error& reason) {
      carry_out(core_->looked(number, path, sentence_of(reason) + ".", now()));
    });
}

console_state::size_promise
console_state::on_fetch(const attachment_fetch& what) {
  auto promise = self_->make_response_promise<size_promise>();
  auto id = fetches_.keep(promise);
  auto path = path_of_ref(what.ref);
  if (!path || what.conversation.platform != platform_id::console) {
    fetches_.fail(id,
                  make_failure(errc::denied, "the console has no such file"));
    return promise;
  }
  if (!started_ || port_ended_) {
    fetches_.fail(id,
                  make_failure(errc::shutting_down, "the console is not open"));
    return promise;
  }
  auto fail = [this, id](const caf::error& reason) {
    fetches_.fail(id, reason);
  };
  ask_files(
    file_of_user(file_op::read, *path, what.max_bytes),
    [this, id, what, fail](file_outcome& found) {
      file_job job;
      job.reason = "console";
      job.op = file_op::write_atomic;
      job.root = what.root;
      job.path = what.path;
      job.bytes = std::move(found.bytes);
      auto size = uint64_t{job.bytes.size()};
      ask_files(
        std::move(job),
        [this, id, size](const file_outcome&) { fetches_.deliver(id, size); },
        fail);
    },
    fail);
  return promise;
}

void console_state::apply(effect::save& item) {
  const auto* offered = offered_.find(item.number);
  if (offered == nullptr || !deps_.artifacts) {
    say("There is no file " + std::to_string(item.number) + " here.");
    return;
  }
  auto typed = item.path.empty()
                 ? std::string{}
                 : resolve_path(item.path, options_.home, options_.working_dir);
  auto path = item.path.empty() || !typed.empty()
                ? target_of(typed, offered->file.name, options_.working_dir)
                : std::string{};
  if (path.empty()) {
    say("It is not known where " + item.path + " is; give the whole path.");
    return;
  }
  contracts::artifact_open_request request;
  request.conversation_id = offered->conversation_id;
  request.artifact_id = offered->file.artifact_id;
  request.expected_integrity_id = offered->file.integrity_id;
  // What is there already stays.
  ask_files(
    file_of_user(file_op::stat, path, 0),
    [this, path, request](const file_outcome& found) {
      if (found.kind == file_kind::absent)
        open_artifact(path, request);
      else
        say(path + " exists already; name another place.");
    },
    [this](const caf::error& reason) { not_saved(reason); });
}

void console_state::open_artifact(
  const std::string& path, const contracts::artifact_open_request& request) {
  kit::bounded_request(self_, deps_.artifacts, limits::disk_timeout,
                       atom::open_v, request)
    .then(
      [this, path](const artifact_opened& opened) {
        if (opened.fault)
          say(sentence_of_fault(*opened.fault));
        else
          read_artifact(
            std::make_shared<saving>(saving{opened.token, path, {}}));
      },
      [this](caf::error& reason) { not_saved(reason); });
}

void console_state::read_artifact(const std::shared_ptr<saving>& file) {
  kit::bounded_request(
    self_, deps_.artifacts, limits::disk_timeout, atom::read_v,
    artifact_read{file->token, file->bytes.size(), limits::artifact_read_bytes})
    .then(
      [this, file](const artifact_slice& slice) {
        if (slice.fault) {
          close_artifact(*file);
          say(sentence_of_fault(*slice.fault));
          return;
        }
        file->bytes += slice.bytes;
        if (slice.eof)
          write_artifact(file);
        else
          read_artifact(file);
      },
      [this, file](caf::error& reason) {
        close_artifact(*file);
        not_saved(reason);
      });
}

void console_state::write_artifact(const std::shared_ptr<saving>& file) {
  close_artifact(*file);
  file_job job;
  job.reason = "console";
  job.op = file_op::write_atomic;
  job.path = file->path;
  job.bytes = std::move(file->bytes);
  job.mode = 0644;
  auto size = job.bytes.size();
  ask_files(
    std::move(job),
    [this, file, size](const file_outcome&) {
      say("Saved " + file->path + " (" + std::to_string(size) + " bytes).");
    },
    [this](const caf::error& reason) { not_saved(reason); });
}

void console_state::close_artifact(const saving& file) {
  self_->send(deps_.artifacts, atom::close_v, file.token);
}

void console_state::not_saved(const caf::error& reason) {
  say(sentence_of(reason) + ". Nothing was saved.");
}

} // namespace bureau::console

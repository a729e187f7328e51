#include "actors/events/event_log_core.hpp"

#include "messages/codec/event_file.hpp"
#include "messages/codec/json_support.hpp"
#include "messages/limits.hpp"
#include "messages/text/time_text.hpp"
#include "messages/text/utf8.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <chrono>

namespace bureau::events {

namespace {

namespace bj = boost::json;

constexpr int log_version = 1;

constexpr std::array<std::string_view, 6> step_names = {
  "written", "claimed", "delivered", "refused", "missed", "ended"};

void put(bj::object& into, std::string_view name, std::string_view value) {
  if (!value.empty())
    into.emplace(name, bj::string(text::sanitize_utf8(value)));
}

void put_number(bj::object& into, std::string_view name, int64_t value) {
  if (value != 0)
    into.emplace(name, value);
}

std::optional<log_step> parse_step(std::string_view name) {
  for (size_t i = 0; i < step_names.size(); ++i)
    if (step_names[i] == name)
      return static_cast<log_step>(i);
  return std::nullopt;
}

/// The lines that made a run what it is.
std::vector<log_line> lines_of(const std::string& file, const run_record& run) {
  std::vector<log_line> result;
  auto add = [&](log_step step, int64_t at_ms) -> log_line& {
    auto& line = result.emplace_back();
    line.step = step;
    line.at_ms = at_ms;
    line.file = file;
    line.occurrence = run.occurrence;
    return line;
  };
  auto& claim = add(log_step::claimed, run.claimed_ms);
  claim.sequence = run.sequence;
  claim.skipped = run.skipped;
  claim.may_schedule = run.may_schedule;
  claim.conversation = run.conversation;
  if (run.refused && run.is_open())
    add(log_step::refused, run.claimed_ms).why = run.why;
  if (run.step == log_step::missed)
    add(log_step::missed, run.ended_ms).why = run.why;
  if (run.delivered_ms != 0)
    add(log_step::delivered, run.delivered_ms);
  if (run.step == log_step::ended) {
    auto& end = add(log_step::ended, run.ended_ms);
    end.why = run.why;
    end.run = run.run;
    end.text = run.text;
    end.text_cut = run.text_cut;
  }
  return result;
}

} // namespace

std::string print_log_line(const log_line& line) {
  bj::object result;
  result.emplace("v", log_version);
  result.emplace("at", text::iso_utc(line.at_ms));
  put(result, "file", line.file);
  if (line.step == log_step::written) {
    bj::object content;
    content.emplace("mtimeMs", line.content.modified_ms);
    content.emplace("size", line.content.size);
    content.emplace("sha256", line.content.sha256);
    result.emplace("gen", std::move(content));
    result.emplace("by", to_string(line.author));
    return json::print(result) + '\n';
  }
  put(result, "occ", line.occurrence);
  result.emplace("st", step_names[static_cast<size_t>(line.step)]);
  if (line.step == log_step::claimed) {
    put_number(result, "seq", line.sequence);
    put_number(result, "skipped", line.skipped);
    if (line.may_schedule)
      result.emplace("maySchedule", true);
    if (!line.conversation.conversation_id.empty()) {
      result.emplace("platform", to_string(line.conversation.platform));
      put(result, "conversationId", line.conversation.conversation_id);
    }
  }
  put(result, "why", line.why);
  put(result, "run", line.run);
  put(result, "text", line.text);
  if (line.text_cut)
    result.emplace("cut", true);
  return json::print(result) + '\n';
}

std::optional<log_line> parse_log_line(std::string_view text) {
  auto parsed = json::parse(text);
  if (!parsed || !parsed.value.is_object())
    return std::nullopt;
  const auto& object = parsed.value.get_object();
  log_line result;
  result.at_ms = text::parse_iso(json::text_or_empty(object, "at")).value_or(0);
  result.file = json::text_or_empty(object, "file");
  if (json::int_member(object, "v") != log_version || result.file.empty())
    return std::nullopt;
  auto content = json::member(object, "gen");
  if (content != nullptr && content->is_object()) {
    const auto& members = content->get_object();
    result.step = log_step::written;
    result.content.modified_ms =
      json::int_member(members, "mtimeMs").value_or(0);
    result.content.size =
      static_cast<uint64_t>(json::int_member(members, "size").value_or(0));
    result.content.sha256 = json::text_or_empty(members, "sha256");
    result.author = json::text_or_empty(object, "by") == "operator"
                      ? event_author::operators
                      : event_author::agent;
    return result;
  }
  auto step = parse_step(json::text_or_empty(object, "st"));
  result.occurrence = json::text_or_empty(object, "occ");
  if (!step || *step == log_step::written || result.occurrence.empty())
    return std::nullopt;
  result.step = *step;
  result.sequence = json::int_member(object, "seq").value_or(0);
  result.skipped = json::int_member(object, "skipped").value_or(0);
  result.may_schedule =
    json::bool_member(object, "maySchedule").value_or(false);
  if (auto platform = parse_platform(json::text_or_empty(object, "platform")))
    result.conversation = {*platform,
                           json::text_or_empty(object, "conversationId")};
  result.why = json::text_or_empty(object, "why");
  result.run = json::text_or_empty(object, "run");
  result.text = json::text_or_empty(object, "text");
  result.text_cut = json::bool_member(object, "cut").value_or(false);
  return result;
}

std::string occurrence_id(std::string_view file, std::string_view occurrence) {
  std::string result{event_id_head};
  result += event_name_of(file);
  result += '@';
  result += occurrence;
  return result;
}

int64_t occurrence_ms(std::string_view occurrence) {
  if (auto instant = text::parse_iso(occurrence))
    return *instant;
  // `<mtime ms>-<size>`.
  int64_t result = 0;
  auto end = occurrence.find('-', 1);
  auto digits = occurrence.substr(0, end);
  std::from_chars(digits.data(), digits.data() + digits.size(), result);
  return result;
}

// -- the table ----------------------------------------------------------------

run_record* run_table::find_run(const std::string& file,
                                std::string_view occurrence) {
  auto found = files_.find(file);
  if (found == files_.end())
    return nullptr;
  auto& runs = found->second.runs;
  // The newest are the ones that are asked for.
  for (auto run = runs.rbegin(); run != runs.rend(); ++run)
    if (run->occurrence == occurrence)
      return &*run;
  return nullptr;
}

const run_record* run_table::find(const std::string& file,
                                  std::string_view occurrence) const {
  return const_cast<run_table*>(this)->find_run(file, occurrence);
}

const run_record* run_table::find_id(std::string_view id) const {
  if (!id.starts_with(event_id_head))
    return nullptr;
  id.remove_prefix(event_id_head.size());
  auto at = id.rfind('@');
  if (at == std::string_view::npos)
    return nullptr;
  return find(std::string{id.substr(0, at)} + ".json", id.substr(at + 1));
}

void run_table::apply(const log_line& line) {
  auto& file = files_[line.file];
  if (line.step == log_step::written) {
    file.written = line;
    return;
  }
  auto run = find_run(line.file, line.occurrence);
  if (run == nullptr) {
    // What is missed without a claim has none.
    run = &file.runs.emplace_back();
    run->occurrence = line.occurrence;
    run->claimed_ms = line.at_ms;
    run->sequence = std::max(line.sequence, file.last_sequence + 1);
    file.last_sequence = run->sequence;
    while (file.runs.size() > limits::event_runs_kept
           && !file.runs.front().is_open())
      file.runs.pop_front();
  }
  switch (line.step) {
  case log_step::written:
    break;
  case log_step::claimed:
    run->skipped = line.skipped;
    run->may_schedule = line.may_schedule;
    run->conversation = line.conversation;
    break;
  case log_step::refused:
    run->refused = true;
    run->why = line.why;
    break;
  case log_step::delivered:
    run->step = log_step::delivered;
    run->delivered_ms = line.at_ms;
    run->why.clear();
    break;
  case log_step::missed:
    run->step = log_step::missed;
    run->ended_ms = line.at_ms;
    run->why = line.why;
    break;
  case log_step::ended:
    run->step = log_step::ended;
    run->ended_ms = line.at_ms;
    run->why = line.why;
    run->run = line.run;
    run->text = line.text;
    run->text_cut = line.text_cut;
    break;
  }
}

const std::deque<run_record>*
run_table::runs_of(const std::string& file) const {
  auto found = files_.find(file);
  if (found == files_.end() || found->second.runs.empty())
    return nullptr;
  return &found->second.runs;
}

const run_record* run_table::last(const std::string& file) const {
  auto runs = runs_of(file);
  return runs == nullptr ? nullptr : &runs->back();
}

int64_t run_table::next_sequence(const std::string& file) const {
  auto found = files_.find(file);
  return found == files_.end() ? 1 : found->second.last_sequence + 1;
}

std::optional<event_author>
run_table::author_of(const std::string& file, const generation& content) const {
  auto found = files_.find(file);
  if (found == files_.end() || !found->second.written)
    return std::nullopt;
  const auto& known = *found->second.written;
  // The instant of a file is not known before it is written.
  if (known.content.size != content.size
      || known.content.sha256 != content.sha256)
    return std::nullopt;
  return known.author;
}

std::vector<std::string> run_table::files() const {
  std::vector<std::string> result;
  for (const auto& [file, record] : files_)
    if (!record.runs.empty())
      result.push_back(file);
  return result;
}

std::vector<std::pair<std::string, std::string>> run_table::under_way() const {
  std::vector<std::pair<std::string, std::string>> result;
  for (const auto& [file, record] : files_)
    for (const auto& run : record.runs)
      if (run.step == log_step::delivered)
        result.emplace_back(file, run.occurrence);
  return result;
}

std::string run_table::compact(const std::set<std::string>& living,
                               int64_t now_ms) {
  constexpr int64_t age_ms =
    std::chrono::milliseconds{limits::event_runs_age}.count();
  std::string result;
  for (auto file = files_.begin(); file != files_.end();) {
    auto& [name, record] = *file;
    auto lives = living.contains(name);
    // The last one tells what is behind a schedule.
    auto last = lives ? record.last_sequence : 0;
    std::erase_if(record.runs, [&](const run_record& run) {
      return !run.is_open() && now_ms - run.claimed_ms > age_ms
             && run.sequence != last;
    });
    if (!lives)
      record.written.reset();
    if (record.written)
      result += print_log_line(*record.written);
    for (const auto& run : record.runs)
      for (const auto& line : lines_of(name, run))
        result += print_log_line(line);
    file = record.runs.empty() && !record.written ? files_.erase(file)
                                                  : std::next(file);
  }
  return result;
}

} // namespace bureau::events

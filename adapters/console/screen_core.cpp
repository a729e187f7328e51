#include "adapters/console/screen_core.hpp"

#include "messages/limits.hpp"
#include "messages/text/harmless.hpp"

#include <algorithm>
#include <utility>

namespace bureau::console {

namespace {

constexpr const char* dim_on = "\x1b[2m";
constexpr const char* dim_off = "\x1b[0m";

std::string_view without_last_breaks(std::string_view text) {
  while (text.ends_with('\n'))
    text.remove_suffix(1);
  return text;
}

/// Whole lines at the beginning of a text.
std::string_view whole_lines(std::string_view text) {
  auto end = text.rfind('\n');
  return end == std::string_view::npos ? std::string_view{}
                                       : text.substr(0, end + 1);
}

/// A notice reads better without the marks of its emphasis.
std::string_view without_emphasis(std::string_view text) {
  if (text.size() > 2 && text.front() == '_' && text.back() == '_')
    return text.substr(1, text.size() - 2);
  return text;
}

/// Lines of `after` that `before` does not have, each as often as it has more.
std::string new_lines(std::string_view before, std::string_view after) {
  std::map<std::string_view, size_t> known;
  auto each = [](std::string_view text, auto visit) {
    while (!text.empty()) {
      auto end = text.find('\n') + 1;
      visit(text.substr(0, end));
      text.remove_prefix(end);
    }
  };
  each(before, [&](std::string_view line) { ++known[line]; });
  std::string result;
  each(after, [&](std::string_view line) {
    auto entry = known.find(line);
    if (entry != known.end() && entry->second > 0)
      --entry->second;
    else
      result += line;
  });
  return result;
}

/// Length of the longest end of `before` that `after` begins with and that
/// starts at a line.
size_t line_overlap(std::string_view before, std::string_view after) {
  for (size_t at = 0; at < before.size();) {
    auto tail = before.substr(at);
    if (after.starts_with(tail))
      return tail.size();
    auto next = before.find('\n', at);
    if (next == std::string_view::npos)
      break;
    at = next + 1;
  }
  return 0;
}

} // namespace

void screen_core::meet(const std::string& conversation) {
  conversations_.insert(conversation);
}

std::string screen_core::line_of(std::string_view line, tone how) const {
  auto to_out = how == tone::answer || interactive_;
  auto to_terminal = to_out ? where_.out : where_.err;
  return to_terminal ? text::harmless(line) : std::string{line};
}

std::string screen_core::lines_of(std::string_view text,
                                  const std::string& conversation,
                                  tone how) const {
  std::string result;
  auto dim = how == tone::aside && interactive_;
  auto prefix =
    conversations_.size() > 1 ? "[" + conversation + "] " : std::string{};
  while (!text.empty()) {
    auto end = text.find('\n');
    result += dim ? dim_on : "";
    result += prefix;
    result += line_of(text.substr(0, end), how);
    result += dim ? dim_off : "";
    result += '\n';
    text =
      end == std::string_view::npos ? std::string_view{} : text.substr(end + 1);
  }
  return result;
}

printed screen_core::show(const outbound& operation, const std::string& ref,
                          std::string_view preface) {
  const auto& name = operation.conversation.conversation_id;
  meet(name);
  printed result;
  if (operation.content == outbound_content::notice) {
    auto text = without_last_breaks(operation.text);
    auto& stream = interactive_ ? result.out : result.err;
    stream =
      lines_of(interactive_ ? without_emphasis(text) : text, name, tone::aside);
    return result;
  }
  if (operation.content == outbound_content::activity) {
    auto& entry = remember(ref, operation.run, tone::aside);
    auto text = std::string{without_last_breaks(operation.text)} + "\n";
    auto known = line_overlap(entry.printed, text);
    auto fresh =
      known > 0 ? text.substr(known) : new_lines(entry.printed, text);
    auto& stream = interactive_ ? result.out : result.err;
    stream = lines_of(fresh, name, tone::aside);
    entry.printed = std::move(text);
    return result;
  }
  if (operation.rank == outbound_class::interim) {
    if (!interactive_)
      return result;
    auto& entry = remember(ref, operation.run, tone::answer);
    auto whole = whole_lines(operation.text);
    auto known =
      whole.starts_with(entry.printed) ? entry.printed.size() : size_t{0};
    result.out = lines_of(whole.substr(known), name, tone::answer);
    entry.printed = whole;
    return result;
  }
  std::string_view text = operation.text;
  auto entry = visible_.find(ref);
  if (entry != visible_.end() && entry->second.how == tone::answer
      && text.starts_with(entry->second.printed))
    text.remove_prefix(entry->second.printed.size());
  result.out = lines_of(preface, name, tone::answer);
  result.out += lines_of(without_last_breaks(text), name, tone::answer);
  forget(ref);
  return result;
}

printed screen_core::own(std::string_view text) const {
  printed result;
  auto& stream = interactive_ ? result.out : result.err;
  text = without_last_breaks(text);
  for (;;) {
    auto end = text.find('\n');
    stream += line_of(text.substr(0, end), tone::aside) + '\n';
    if (end == std::string_view::npos)
      return result;
    text.remove_prefix(end + 1);
  }
}

screen_core::visible& screen_core::remember(const std::string& ref,
                                            const std::string& run, tone how) {
  auto [entry, fresh] = visible_.try_emplace(ref);
  entry->second.run = run;
  // What a message says of its kind continues nothing of the other one.
  if (std::exchange(entry->second.how, how) != how)
    entry->second.printed.clear();
  if (!fresh)
    return entry->second;
  order_.push_back(ref);
  if (order_.size() > limits::console_visible_messages) {
    visible_.erase(order_.front());
    order_.pop_front();
  }
  return visible_[ref];
}

void screen_core::forget(const std::string& ref) {
  if (visible_.erase(ref) > 0)
    std::erase(order_, ref);
}

void screen_core::forget_run(const std::string& run) {
  std::erase_if(order_, [&](const std::string& ref) {
    auto entry = visible_.find(ref);
    if (entry == visible_.end() || entry->second.run != run)
      return false;
    visible_.erase(entry);
    return true;
  });
}

} // namespace bureau::console

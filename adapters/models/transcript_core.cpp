#include "adapters/models/transcript_core.hpp"

#include "messages/text/utf8.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

namespace bureau::models {

namespace {

constexpr size_t image_chars = 4800;
constexpr std::string_view user_image_note =
  "(image left out: this model reads no images)";
constexpr std::string_view tool_image_note =
  "(image of the tool left out: this model reads no images)";
constexpr std::string_view no_result_note = "No result provided.";

bool is_alphanumeric(char c) {
  return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z')
         || (c >= 'A' && c <= 'Z');
}

std::string sanitised(std::string_view id) {
  std::string result{id};
  for (auto& c : result)
    if (!is_alphanumeric(c) && c != '_' && c != '-')
      c = '_';
  return result;
}

/// Letters and digits that depend on the whole id (FNV-1a in base 62).
std::string digest(std::string_view id, size_t length) {
  constexpr std::string_view alphabet =
    "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
  uint64_t hash = 0xcbf29ce484222325ull;
  for (auto c : id) {
    hash ^= static_cast<unsigned char>(c);
    hash *= 0x100000001b3ull;
  }
  std::string result;
  for (size_t i = 0; i < length; ++i) {
    result += alphabet[hash % alphabet.size()];
    hash /= alphabet.size();
  }
  return result;
}

size_t longest_id(call_id_rule rule) {
  switch (rule) {
  case call_id_rule::anthropic:
    return 64;
  case call_id_rule::chat:
  case call_id_rule::chat_openai:
    return 40;
  case call_id_rule::nine_alphanumerics:
    return 9;
  }
  return 40;
}

/// Maps ids for one request. Two ids that a cut makes equal are told apart.
class id_map {
public:
  explicit id_map(call_id_rule rule) : rule_(rule) {}

  std::string operator()(const std::string& id) {
    auto known = mapped_.find(id);
    if (known != mapped_.end())
      return known->second;
    auto result = normal_call_id(id, rule_);
    auto salted = id;
    while (!used_.insert(result).second) {
      // The tail tells them apart; salting ends even a collision of digests.
      salted += '+';
      auto tail = digest(salted, std::min<size_t>(longest_id(rule_), 8));
      result.resize(std::min(result.size(), longest_id(rule_) - tail.size()));
      result += tail;
    }
    mapped_.emplace(id, result);
    return result;
  }

private:
  call_id_rule rule_;
  std::map<std::string, std::string> mapped_;
  std::set<std::string> used_;
};

std::vector<content_block> without_images(
  const std::vector<content_block>& content, std::string_view note) {
  std::vector<content_block> result;
  for (const auto& block : content) {
    if (block.kind != block_kind::image) {
      result.push_back(block);
      continue;
    }
    // One note for a run, also when the text before it is such a note.
    auto noted = !result.empty() && result.back().kind == block_kind::text
                 && result.back().text == note;
    if (!noted)
      result.push_back(text_block(std::string{note}));
  }
  return result;
}

transcript_message as_user(const transcript_message& message) {
  auto result = message;
  result.role = message_role::user;
  if (message.role == message_role::compaction_summary)
    result.content = {
      text_block("The conversation so far was condensed into this summary:\n\n"
                 "<summary>\n"
                 + message.summary + "\n</summary>")};
  else if (message.role == message_role::branch_summary)
    result.content = {text_block(
      "The conversation came back from a branch, summarised here:\n\n"
      "<summary>\n"
      + message.summary + "\n</summary>")};
  return result;
}

bool is_same_model(const transcript_message& message,
                   const model_descriptor& model) {
  return message.provider == model.provider && message.api == model.api
         && message.model == model.id;
}

transcript_message readable_assistant(const transcript_message& message,
                                      const model_descriptor& model,
                                      id_map& ids) {
  auto same = is_same_model(message, model);
  auto result = message;
  result.content.clear();
  for (const auto& block : message.content) {
    auto copy = block;
    switch (block.kind) {
    case block_kind::text:
      if (!same)
        copy.signature.clear();
      break;
    case block_kind::thinking:
      if (block.text.empty() && (!same || block.signature.empty()))
        continue;
      if (!same && block.redacted)
        continue;
      if (!same)
        copy = text_block(block.text);
      break;
    case block_kind::tool_call:
      if (!same)
        copy.signature.clear();
      copy.id = ids(block.id);
      break;
    case block_kind::image:
      continue;
    }
    result.content.push_back(std::move(copy));
  }
  return result;
}

bool is_failed(const transcript_message& message) {
  return message.stop == stop_reason::error
         || message.stop == stop_reason::aborted;
}

transcript_message missing_result(const content_block& call) {
  transcript_message result;
  result.role = message_role::tool_result;
  result.tool_call_id = call.id;
  result.tool_name = call.name;
  result.is_error = true;
  result.content = {text_block(std::string{no_result_note})};
  return result;
}

class normaliser {
public:
  normaliser(const std::vector<transcript_message>& messages,
             const model_descriptor& model, call_id_rule rule)
    : messages_(messages), model_(model), ids_(rule) {}

  std::vector<transcript_message> run() {
    result_.reserve(messages_.size());
    for (size_t i = 0; i < messages_.size(); ++i) {
      const auto& message = messages_[i];
      switch (message.role) {
      case message_role::assistant:
        if (!is_failed(message))
          add_assistant(i);
        break;
      case message_role::tool_result:
        // Placed after its call, or nobody asked for it.
        break;
      case message_role::user:
      case message_role::custom:
      case message_role::compaction_summary:
      case message_role::branch_summary:
        add_readable(as_user(message), user_image_note);
        break;
      }
    }
    return std::move(result_);
  }

private:
  void add_readable(transcript_message message, std::string_view note) {
    if (!model_.image_input)
      message.content = without_images(message.content, note);
    result_.push_back(std::move(message));
  }

  /// The answer at `at`, then the results of its calls up to the next answer
  /// that counts.
  void add_assistant(size_t at) {
    result_.push_back(readable_assistant(messages_[at], model_, ids_));
    std::vector<content_block> open;
    for (const auto& block : result_.back().content)
      if (block.kind == block_kind::tool_call)
        open.push_back(block);
    for (auto i = at + 1; i < messages_.size() && !open.empty(); ++i) {
      const auto& later = messages_[i];
      if (later.role == message_role::assistant && !is_failed(later))
        break;
      if (later.role == message_role::tool_result)
        add_result(later, open);
    }
    for (const auto& call : open)
      result_.push_back(missing_result(call));
  }

  void add_result(const transcript_message& message,
                  std::vector<content_block>& open) {
    auto id = ids_(message.tool_call_id);
    auto call = std::find_if(open.begin(), open.end(),
                             [&id](const auto& x) { return x.id == id; });
    if (call == open.end())
      return;
    open.erase(call);
    auto copy = message;
    copy.tool_call_id = std::move(id);
    add_readable(std::move(copy), tool_image_note);
  }

  const std::vector<transcript_message>& messages_;
  const model_descriptor& model_;
  id_map ids_;
  std::vector<transcript_message> result_;
};

} // namespace

std::string normal_call_id(std::string_view id, call_id_rule rule) {
  switch (rule) {
  case call_id_rule::anthropic: {
    auto result = sanitised(id).substr(0, longest_id(rule));
    return result.empty() ? digest(id, 9) : result;
  }
  case call_id_rule::chat:
  case call_id_rule::chat_openai: {
    auto bar = id.find('|');
    if (bar != std::string_view::npos) {
      auto result = sanitised(id.substr(0, bar)).substr(0, longest_id(rule));
      return result.empty() ? digest(id, 9) : result;
    }
    if (rule == call_id_rule::chat_openai)
      return std::string{text::prefix_bytes(id, longest_id(rule))};
    return std::string{id};
  }
  case call_id_rule::nine_alphanumerics:
    if (id.size() == 9 && std::all_of(id.begin(), id.end(), is_alphanumeric))
      return std::string{id};
    return digest(id, 9);
  }
  return std::string{id};
}

std::vector<transcript_message>
normal_transcript(const std::vector<transcript_message>& messages,
                  const model_descriptor& model, call_id_rule rule) {
  return normaliser{messages, model, rule}.run();
}

int64_t estimate_tokens(std::string_view text) {
  return static_cast<int64_t>((text::utf16_length(text) + 3) / 4);
}

int64_t estimate_tokens(const transcript_message& message) {
  auto chars = text::utf16_length(message.summary);
  for (const auto& block : message.content) {
    switch (block.kind) {
    case block_kind::text:
    case block_kind::thinking:
      chars += text::utf16_length(block.text);
      break;
    case block_kind::image:
      chars += image_chars;
      break;
    case block_kind::tool_call:
      chars += text::utf16_length(block.name)
               + text::utf16_length(block.arguments->text);
      break;
    }
  }
  return static_cast<int64_t>((chars + 3) / 4);
}

} // namespace bureau::models

#include "messages/contracts/ask.hpp"

#include "messages/codec/json_support.hpp"
#include "messages/contracts/vocabulary.hpp"
#include "messages/errc.hpp"
#include "messages/text/utf8.hpp"

#include <algorithm>

namespace bureau::contracts {

namespace {

constexpr std::array<std::string_view, 4> status_names = {
  "pending", "answered", "expired", "cancelled"};
constexpr std::array<std::string_view, 3> refusal_names = {"not_found", "stale",
                                                           "invalid_answer"};

/// Reads an ask; the first violation is kept as a sentence.
class ask_reader {
public:
  std::string fault;

  ask_snapshot read(const bj::value& value) {
    ask_snapshot result;
    if (auto message = json::member(value, "message"))
      result.message = text(message, "message", ask_max_message);
    auto questions = json::member(value, "questions");
    auto list = questions != nullptr ? questions->if_array() : nullptr;
    if (list == nullptr || list->empty() || list->size() > ask_max_questions) {
      refuse("an ask has one to 5 questions");
      return result;
    }
    for (const auto& entry : *list)
      result.questions.push_back(
        question(entry, "q" + std::to_string(result.questions.size())));
    return result;
  }

private:
  void refuse(std::string why) {
    if (fault.empty())
      fault = std::move(why);
  }

  std::string text(const bj::value* value, const char* name, size_t max_units) {
    auto raw = value != nullptr ? value->if_string() : nullptr;
    auto trimmed = raw != nullptr ? text::trim(*raw) : std::string_view{};
    if (trimmed.empty() || text::utf16_length(trimmed) > max_units)
      refuse(std::string{name} + " must be a text of 1 to "
             + std::to_string(max_units) + " characters");
    return std::string{trimmed};
  }

  ask_question question(const bj::value& value, std::string id) {
    ask_question result;
    result.id = std::move(id);
    result.header =
      text(json::member(value, "header"), "header", ask_max_header);
    result.question =
      text(json::member(value, "question"), "question", ask_max_question);
    if (auto multi = json::member(value, "multiSelect")) {
      if (!multi->is_bool())
        refuse("multiSelect must be true or false");
      else
        result.multi_select = multi->get_bool();
    }
    auto options = json::member(value, "options");
    auto list = options != nullptr ? options->if_array() : nullptr;
    if (list == nullptr || list->size() < ask_min_options
        || list->size() > ask_max_options) {
      refuse("a question has 2 or 3 options");
      return result;
    }
    for (const auto& entry : *list) {
      ask_option option;
      option.id = result.id + "o" + std::to_string(result.options.size());
      option.label = text(json::member(entry, "label"), "label", ask_max_label);
      option.description = text(json::member(entry, "description"),
                                "description", ask_max_description);
      result.options.push_back(std::move(option));
    }
    return result;
  }
};

bool is_option(const ask_question& question, const std::string& id) {
  return std::any_of(question.options.begin(), question.options.end(),
                     [&id](const ask_option& x) { return x.id == id; });
}

/// Whether an answer fits its question. An answer that does is trimmed.
bool accept(const ask_question& question, ask_answer& answer) {
  auto& selected = answer.selected_option_ids;
  if (answer.question_id != question.id
      || selected.size() > question.options.size())
    return false;
  for (auto it = selected.begin(); it != selected.end(); ++it)
    if (!is_option(question, *it) || std::find(selected.begin(), it, *it) != it)
      return false;
  if (answer.custom_reply) {
    answer.custom_reply = std::string{text::trim(*answer.custom_reply)};
    if (answer.custom_reply->empty())
      return false;
  }
  auto choices = selected.size() + (answer.custom_reply ? 1 : 0);
  return question.multi_select ? choices >= 1 : choices == 1;
}

bj::object json_of(const ask_question& question) {
  bj::array options;
  for (const auto& option : question.options)
    options.push_back({{"id", option.id},
                       {"label", option.label},
                       {"description", option.description}});
  return {{"id", question.id},
          {"header", question.header},
          {"question", question.question},
          {"options", std::move(options)},
          {"multiSelect", question.multi_select}};
}

bj::object json_of(const ask_answer& answer) {
  bj::array selected;
  for (const auto& id : answer.selected_option_ids)
    selected.emplace_back(id);
  bj::object result{{"questionId", answer.question_id},
                    {"selectedOptionIds", std::move(selected)}};
  if (answer.custom_reply)
    result["customReply"] = *answer.custom_reply;
  return result;
}

} // namespace

std::string to_string(ask_status status) {
  return name_in(status_names, status);
}

std::string to_string(ask_refusal refusal) {
  return name_in(refusal_names, refusal);
}

caf::expected<ask_snapshot> parse_ask(const bj::value& value) {
  ask_reader reader;
  auto result = reader.read(value);
  if (!reader.fault.empty())
    return make_failure(errc::bad_request, reader.fault);
  return result;
}

size_t active_question(const ask_snapshot& ask) {
  return std::min(ask.answers.size(), ask.questions.size());
}

bool take_answers(ask_snapshot& ask, const std::vector<ask_answer>& answers) {
  auto next = active_question(ask);
  if (ask.status != ask_status::pending || answers.empty()
      || answers.size() > ask.questions.size() - next)
    return false;
  auto accepted = answers;
  for (size_t i = 0; i < accepted.size(); ++i)
    if (!accept(ask.questions[next + i], accepted[i]))
      return false;
  for (auto& answer : accepted)
    ask.answers.push_back(std::move(answer));
  if (active_question(ask) == ask.questions.size())
    ask.status = ask_status::answered;
  return true;
}

bj::object to_json(const ask_snapshot& ask) {
  bj::object result{{"interactionId", ask.interaction_id}};
  if (ask.message)
    result["message"] = *ask.message;
  bj::array questions;
  for (const auto& question : ask.questions)
    questions.push_back(json_of(question));
  bj::array answers;
  for (const auto& answer : ask.answers)
    answers.push_back(json_of(answer));
  result["questions"] = std::move(questions);
  result["answers"] = std::move(answers);
  result["activeQuestionIndex"] = static_cast<int64_t>(active_question(ask));
  result["status"] = to_string(ask.status);
  result["createdAt"] = ask.created_at;
  result["expiresAt"] = ask.expires_at;
  return result;
}

} // namespace bureau::contracts

#include "messages/codec/conversation_names.hpp"
#include "messages/codec/json_support.hpp"
#include "messages/identity/office_address.hpp"
#include "messages/identity/session_key.hpp"
#include "messages/text/command_text.hpp"
#include "tests/conformance/functions.hpp"

namespace bureau::conformance {

namespace {

outcome address_outcome(const address_result& result, bool as_key) {
  if (!result)
    return failure(to_string(result.fault));
  if (as_key)
    return answer(bj::value(office_key(result.address)));
  return answer(bj::object{{"platform", to_string(result.address.platform)},
                           {"conversationId", result.address.conversation_id}});
}

outcome office_key_case(const bj::array& args) {
  return address_outcome(parse_address(argument(args, 0)), true);
}

outcome create_address_case(const bj::array& args) {
  bj::object both;
  if (has_argument(args, 0))
    both["platform"] = args[0];
  if (has_argument(args, 1))
    both["conversationId"] = args[1];
  return address_outcome(parse_address(both), false);
}

outcome key_outcome(const key_result& result) {
  if (!result)
    return failure(to_string(result.fault));
  return answer(bj::value(result.key));
}

outcome derive_case(const bj::array& args) {
  auto& event = argument(args, 0).as_object();
  key_source source;
  source.conversation_id = json::text_or_empty(event, "conversationId");
  source.session_key = json::string_member(event, "sessionKey");
  source.thread_ts = json::string_member(event, "thread_ts");
  source.ts = json::text_or_empty(event, "ts");
  return key_outcome(derive_session_key(source));
}

outcome resolve_case(const bj::array& args) {
  auto& given = argument(args, 0).as_object();
  chat_key_options options;
  options.conversation_id = json::text_or_empty(given, "conversationId");
  options.kind =
    parse_conversation_kind(json::text_or_empty(given, "conversationKind"))
      .value_or(conversation_kind::shared);
  options.message_id = json::text_or_empty(given, "messageId");
  options.thread_ts = json::string_member(given, "threadTs");
  options.persistent_top_level =
    json::bool_member(given, "persistentTopLevel").value_or(false);
  options.scope_direct_threads =
    json::bool_member(given, "scopeDirectThreads").value_or(false);
  return key_outcome(resolve_chat_session_key(options));
}

outcome conversation_id_case(const bj::array& args) {
  auto key = text_of(argument(args, 0));
  return answer(bj::value(bj::string(conversation_id_of(key))));
}

outcome suffix_case(const bj::array& args) {
  auto key = text_of(argument(args, 0));
  auto suffix = thread_suffix_of(key);
  return answer(suffix ? bj::value(bj::string(*suffix)) : bj::value());
}

outcome command_text_case(const bj::array& args) {
  return answer(text::is_command_text(text_of(argument(args, 0))));
}

outcome magic_word_case(const bj::array& args) {
  bool stop = text::is_stop_word(text_of(argument(args, 0)));
  return answer(stop ? bj::value("stop") : bj::value());
}

outcome match_command_case(const bj::array& args) {
  std::vector<std::string> spellings;
  for (auto& spelling : argument(args, 1).as_array())
    spellings.push_back(text_of(spelling));
  bool strip = false;
  if (auto options = argument(args, 2).if_object())
    strip = json::bool_member(*options, "stripMention").value_or(false);
  auto matched =
    text::match_command(text_of(argument(args, 0)), spellings, strip);
  if (!matched)
    return answer(nullptr);
  bj::array words;
  for (auto& word : matched->args)
    words.emplace_back(word);
  return answer(
    bj::object{{"command", matched->command}, {"args", std::move(words)}});
}

const registration all[] = {
  {"officeKey", office_key_case},
  {"createOfficeAddress", create_address_case},
  {"deriveSessionKey", derive_case},
  {"resolveChatSessionKey", resolve_case},
  {"conversationIdOf", conversation_id_case},
  {"threadSuffixOf", suffix_case},
  {"isCommandText", command_text_case},
  {"matchMagicWord", magic_word_case},
  {"matchCommand", match_command_case},
};

} // namespace

} // namespace bureau::conformance

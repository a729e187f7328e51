#include "messages/codec/json_support.hpp"
#include "messages/contracts/activity_line.hpp"
#include "messages/contracts/attachment_kind.hpp"
#include "messages/contracts/closed_object.hpp"
#include "messages/contracts/continuation.hpp"
#include "messages/contracts/notify_suppression.hpp"
#include "messages/contracts/provider_status.hpp"
#include "messages/contracts/subagent_outcome.hpp"
#include "messages/contracts/text_split.hpp"
#include "messages/contracts/tool_names.hpp"
#include "tests/conformance/functions.hpp"

namespace bureau::conformance {

namespace {

using namespace bureau::contracts;

using splitter = std::optional<std::vector<std::string>> (*)(std::string_view,
                                                             size_t);

outcome split_case(const bj::array& args, splitter split) {
  auto bound = safe_integer(argument(args, 1));
  if (!bound || *bound < 0)
    return failure("RangeError");
  auto pieces = split(text_of(argument(args, 0)), static_cast<size_t>(*bound));
  if (!pieces)
    return failure("RangeError");
  bj::array result;
  for (const auto& piece : *pieces)
    result.emplace_back(piece);
  return answer(std::move(result));
}

outcome code_points_case(const bj::array& args) {
  return split_case(args, split_text_by_code_points);
}

outcome chat_case(const bj::array& args) {
  return split_case(args, split_text_for_chat);
}

outcome tail_case(const bj::array& args) {
  auto text = text_of(argument(args, 0));
  auto bound = safe_integer(argument(args, 1)).value_or(0);
  auto room = bound < 0 ? size_t{0} : static_cast<size_t>(bound);
  auto preview = has_argument(args, 2)
                   ? build_streaming_tail_preview(text, room, text_of(args[2]))
                   : build_streaming_tail_preview(text, room);
  return answer(bj::value(preview));
}

outcome normalize_case(const bj::array& args) {
  return answer(bj::value(normalize_trailing(text_of(argument(args, 0)),
                                             text_of(argument(args, 1)))));
}

outcome hint_case(const bj::array& args) {
  return answer(
    bj::value(bj::string(tool_hint_for(text_of(argument(args, 0))))));
}

outcome leaf_case(const bj::array& args) {
  return answer(bj::value(tool_name_leaf(text_of(argument(args, 0)))));
}

outcome subagent_name_case(const bj::array& args) {
  auto name = split_subagent_tool_name(text_of(argument(args, 0)));
  bj::object result{{"tool", name.tool}};
  if (name.profile)
    result["profile"] = *name.profile;
  return answer(std::move(result));
}

outcome launch_case(const bj::array& args) {
  return answer(is_subagent_launch_tool_name(text_of(argument(args, 0))));
}

path_roots roots_of(const bj::value& value) {
  path_roots result;
  if (auto object = value.if_object()) {
    result.workspace = json::text_or_empty(*object, "workspaceRoot");
    result.home = json::text_or_empty(*object, "homeDir");
  }
  return result;
}

outcome tool_line_case(const bj::array& args) {
  return answer(bj::value(
    format_tool_activity_line(text_of(argument(args, 0)), argument(args, 1),
                              roots_of(argument(args, 2)))));
}

outcome steered_case(const bj::array& args) {
  return answer(bj::value(format_live_input_activity_line(
    text_of(argument(args, 0)), roots_of(argument(args, 1)))));
}

outcome provider_case(const bj::array& args) {
  auto line =
    format_provider_status_line(parse_stream_event(argument(args, 0)));
  return line.empty() ? nothing() : answer(bj::value(line));
}

outcome subagent_outcome_case(const bj::array& args) {
  auto is_error = argument(args, 1).is_bool() && argument(args, 1).get_bool();
  auto line = format_subagent_outcome_activity_line(
    text_of(argument(args, 0)), is_error, roots_of(argument(args, 2)));
  return line.empty() ? nothing() : answer(bj::value(line));
}

outcome classify_case(const bj::array& args) {
  return answer(bj::value(
    to_string(classify_notify_suppression(text_of(argument(args, 0))))));
}

outcome suppresses_case(const bj::array& args) {
  return answer(suppresses_notification(text_of(argument(args, 0))));
}

outcome kind_case(const bj::array& args) {
  return answer(bj::value(
    to_string(attachment_kind_from_mime_type(text_of(argument(args, 0))))));
}

outcome decode_case(const bj::array& args) {
  auto text = decode_attachment_text(text_of(argument(args, 0)),
                                     text_of(argument(args, 1)));
  return text ? answer(bj::value(*text)) : nothing();
}

outcome continuation_case(const bj::array& args) {
  auto fault = check_continuation_origin_context(argument(args, 0));
  return fault == continuation_fault::none ? nothing()
                                           : failure(to_string(fault));
}

const registration all[] = {
  {"splitTextByCodePoints", code_points_case},
  {"splitTextForChat", chat_case},
  {"buildStreamingTailPreview", tail_case},
  {"normalizeTrailing", normalize_case},
  {"toolHintFor", hint_case},
  {"toolNameLeaf", leaf_case},
  {"splitSubagentToolName", subagent_name_case},
  {"isSubagentLaunchToolName", launch_case},
  {"formatToolActivityLine", tool_line_case},
  {"formatLiveInputActivityLine", steered_case},
  {"formatProviderStatusLine", provider_case},
  {"formatSubagentOutcomeActivityLine", subagent_outcome_case},
  {"classifyNotifySuppression", classify_case},
  {"suppressesNotification", suppresses_case},
  {"agentAttachmentKindFromMimeType", kind_case},
  {"decodeAgentAttachmentText", decode_case},
  {"assertAgentContinuationOriginContext", continuation_case},
};

} // namespace

} // namespace bureau::conformance

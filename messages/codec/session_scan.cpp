#include "messages/codec/session_record.hpp"

#include <boost/json/basic_parser_impl.hpp>

#include <array>
#include <deque>
#include <functional>
#include <utility>

namespace bureau {

namespace {

namespace bj = boost::json;

constexpr std::array<std::pair<std::string_view, record_type>, 12> types = {{
  {"session", record_type::header},
  {"message", record_type::message},
  {"model_change", record_type::model_change},
  {"thinking_level_change", record_type::thinking_level_change},
  {"active_tools_change", record_type::active_tools_change},
  {"compaction", record_type::compaction},
  {"branch_summary", record_type::branch_summary},
  {"custom", record_type::custom},
  {"custom_message", record_type::custom_message},
  {"label", record_type::label},
  {"session_info", record_type::session_info},
  {"leaf", record_type::leaf},
}};

record_type type_of(std::string_view name) {
  for (const auto& [text, type] : types)
    if (text == name)
      return type;
  return record_type::other;
}

/// Members that the scanner listens to.
enum class slot : uint8_t {
  none,
  type,
  id,
  parent,
  target,
  first_kept,
  custom_type,
  version,
  message,
  role,
  provider,
};

slot top_level_slot(std::string_view key) {
  constexpr std::array<std::pair<std::string_view, slot>, 8> names = {{
    {"type", slot::type},
    {"id", slot::id},
    {"parentId", slot::parent},
    {"targetId", slot::target},
    {"firstKeptEntryId", slot::first_kept},
    {"customType", slot::custom_type},
    {"version", slot::version},
    {"message", slot::message},
  }};
  for (const auto& [text, which] : names)
    if (text == key)
      return which;
  return slot::none;
}

slot message_slot(std::string_view key) {
  if (key == "role")
    return slot::role;
  return key == "provider" ? slot::provider : slot::none;
}

/// Receives the events of Boost.JSON's parser for one line.
struct scan_handler {
  static constexpr std::size_t max_object_size = ~std::size_t{0};
  static constexpr std::size_t max_array_size = ~std::size_t{0};
  static constexpr std::size_t max_key_size = ~std::size_t{0};
  static constexpr std::size_t max_string_size = ~std::size_t{0};
  using ec_ref = boost::system::error_code&;

  scanned_line line;
  std::string_view text;
  size_t depth = 0;
  slot pending = slot::none;
  bool inside_message = false;
  bool assistant = false;
  bool history = false;
  /// Text that arrives in parts.
  std::string part;
  /// Decoded text that is no plain piece of the line.
  std::deque<std::string> decoded;

  void begin(std::string_view input) {
    line = {};
    text = input;
    depth = 0;
    pending = slot::none;
    inside_message = false;
    assistant = false;
    history = false;
    part.clear();
    decoded.clear();
  }

  /// Keeps a view that outlives the parser's buffers.
  std::string_view keep(std::string_view value) {
    auto first = text.data();
    auto at = value.data();
    if (std::less_equal<>{}(first, at)
        && std::less_equal<>{}(at + value.size(), first + text.size()))
      return value;
    return decoded.emplace_back(value);
  }

  bool listens() const { return pending != slot::none; }

  void take_text(std::string_view value) {
    switch (std::exchange(pending, slot::none)) {
    case slot::type:
      line.typed = true;
      line.type = type_of(value);
      break;
    case slot::id:
      line.id = keep(value);
      break;
    case slot::parent:
      line.parent = scanned_line::link::text;
      line.parent_id = keep(value);
      break;
    case slot::target:
      line.target = scanned_line::link::text;
      line.target_id = keep(value);
      break;
    case slot::first_kept:
      line.first_kept = keep(value);
      break;
    case slot::custom_type:
      line.custom_type = keep(value);
      break;
    case slot::version:
      line.version = -1;
      break;
    case slot::role:
      take_role(value);
      break;
    case slot::provider:
      history = value == history_provider;
      break;
    case slot::message:
    case slot::none:
      break;
    }
  }

  void take_role(std::string_view value) {
    assistant = value == "assistant";
    line.hook_message = value == "hookMessage";
    if (assistant)
      line.role = entry_role::assistant;
    else if (value == "user")
      line.role = entry_role::user;
    else if (value == "toolResult")
      line.role = entry_role::tool_result;
    else
      line.role = entry_role::other;
  }

  /// A member of interest has a value of another type.
  void take_other(bool is_null) {
    auto link =
      is_null ? scanned_line::link::null : scanned_line::link::invalid;
    switch (std::exchange(pending, slot::none)) {
    case slot::type:
      line.typed = false;
      break;
    case slot::id:
      line.id.reset();
      break;
    case slot::parent:
      line.parent = link;
      break;
    case slot::target:
      line.target = link;
      break;
    case slot::first_kept:
      line.first_kept.reset();
      break;
    case slot::version:
      line.version = -1;
      break;
    default:
      break;
    }
  }

  // -- events of the parser ---------------------------------------------------

  bool on_document_begin(ec_ref) { return true; }
  bool on_document_end(ec_ref) {
    line.from_history = assistant && history;
    return true;
  }
  bool on_object_begin(ec_ref) {
    if (depth == 0)
      line.is_object = true;
    else if (depth == 1)
      inside_message = pending == slot::message;
    take_other(false);
    ++depth;
    return true;
  }
  bool on_object_end(std::size_t, ec_ref) {
    --depth;
    if (depth == 1)
      inside_message = false;
    return true;
  }
  bool on_array_begin(ec_ref) {
    take_other(false);
    ++depth;
    return true;
  }
  bool on_array_end(std::size_t, ec_ref) {
    --depth;
    return true;
  }
  bool on_key_part(bj::string_view value, std::size_t, ec_ref) {
    if (depth <= 2)
      part.append(value.data(), value.size());
    return true;
  }
  bool on_key(bj::string_view value, std::size_t, ec_ref) {
    if (depth > 2)
      return true;
    auto key = std::string_view{value.data(), value.size()};
    if (!part.empty()) {
      part.append(key);
      pending = slot_of(part);
      part.clear();
    } else {
      pending = slot_of(key);
    }
    return true;
  }
  slot slot_of(std::string_view key) const {
    if (depth == 1)
      return top_level_slot(key);
    return inside_message ? message_slot(key) : slot::none;
  }
  bool on_string_part(bj::string_view value, std::size_t, ec_ref) {
    if (listens())
      part.append(value.data(), value.size());
    return true;
  }
  bool on_string(bj::string_view value, std::size_t, ec_ref) {
    if (!listens())
      return true;
    auto last = std::string_view{value.data(), value.size()};
    if (part.empty()) {
      take_text(last);
    } else {
      part.append(last);
      take_text(part);
      part.clear();
    }
    return true;
  }
  bool on_number_part(bj::string_view, ec_ref) { return true; }
  bool on_int64(std::int64_t value, bj::string_view, ec_ref) {
    if (pending == slot::version) {
      line.version = value;
      pending = slot::none;
    }
    take_other(false);
    return true;
  }
  bool on_uint64(std::uint64_t, bj::string_view, ec_ref) {
    take_other(false);
    return true;
  }
  bool on_double(double, bj::string_view, ec_ref) {
    take_other(false);
    return true;
  }
  bool on_bool(bool, ec_ref) {
    take_other(false);
    return true;
  }
  bool on_null(ec_ref) {
    take_other(true);
    return true;
  }
  bool on_comment_part(bj::string_view, ec_ref) { return true; }
  bool on_comment(bj::string_view, ec_ref) { return true; }
};

} // namespace

std::string_view name_of(record_type type) {
  for (const auto& [text, known] : types)
    if (known == type)
      return text;
  return "other";
}

struct line_scanner::impl {
  static bj::parse_options options() {
    bj::parse_options result;
    result.max_depth = 256;
    return result;
  }
  bj::basic_parser<scan_handler> parser{options()};
};

line_scanner::line_scanner() : impl_(std::make_unique<impl>()) {
  // nop
}

line_scanner::~line_scanner() {
  // nop
}

const scanned_line& line_scanner::scan(std::string_view line) {
  auto& parser = impl_->parser;
  auto& handler = parser.handler();
  handler.begin(line);
  parser.reset();
  boost::system::error_code ec;
  auto used = parser.write_some(false, line.data(), line.size(), ec);
  if (ec || !parser.done() || used != line.size())
    handler.line = {};
  return handler.line;
}

} // namespace bureau

#include "messages/codec/json_support.hpp"

#include "messages/text/utf8.hpp"

#include <boost/json/basic_parser_impl.hpp>
#include <boost/json/serialize.hpp>
#include <boost/json/value_stack.hpp>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>

namespace bureau::json {

namespace {

parse_fault locate(std::string_view text, size_t offset, std::string what) {
  parse_fault fault;
  fault.what = std::move(what);
  if (offset > text.size())
    offset = text.size();
  for (size_t i = 0; i < offset; ++i) {
    if (text[i] == '\n') {
      ++fault.line;
      fault.column = 1;
    } else {
      ++fault.column;
    }
  }
  return fault;
}

bool is_finite(const bj::value& value) {
  if (auto number = value.if_double())
    return std::isfinite(*number);
  if (auto list = value.if_array())
    return std::all_of(list->begin(), list->end(), is_finite);
  if (auto object = value.if_object())
    return std::all_of(object->begin(), object->end(), [](const auto& entry) {
      return is_finite(entry.value());
    });
  return true;
}

/// Numbers that JSON has no text for become null, as the peers print them.
void make_finite(bj::value& value) {
  if (auto number = value.if_double(); number && !std::isfinite(*number))
    value = nullptr;
  else if (auto list = value.if_array())
    std::for_each(list->begin(), list->end(), make_finite);
  else if (auto object = value.if_object())
    for (auto& entry : *object)
      make_finite(entry.value());
}

void print_pretty_into(std::string& out, const bj::value& value, size_t depth) {
  auto indent = [&out](size_t levels) {
    out.append(levels * 2, ' ');
  };
  if (value.is_object() && !value.get_object().empty()) {
    out += "{\n";
    auto first = true;
    for (const auto& entry : value.get_object()) {
      if (!first)
        out += ",\n";
      first = false;
      indent(depth + 1);
      out += bj::serialize(entry.key());
      out += ": ";
      print_pretty_into(out, entry.value(), depth + 1);
    }
    out += '\n';
    indent(depth);
    out += '}';
  } else if (value.is_array() && !value.get_array().empty()) {
    out += "[\n";
    auto first = true;
    for (const auto& element : value.get_array()) {
      if (!first)
        out += ",\n";
      first = false;
      indent(depth + 1);
      print_pretty_into(out, element, depth + 1);
    }
    out += '\n';
    indent(depth);
    out += ']';
  } else {
    out += print(value);
  }
}

/// A cursor over text that is known to parse; follows a pointer to a value.
class pointer_walk {
public:
  explicit pointer_walk(std::string_view text) : text_(text) {}

  std::optional<size_t> find(std::string_view pointer) {
    skip_space();
    while (!pointer.empty()) {
      pointer.remove_prefix(1); // '/'
      auto end = pointer.find('/');
      auto token = unescape(pointer.substr(0, end));
      pointer = end == std::string_view::npos ? std::string_view{}
                                              : pointer.substr(end);
      if (!descend(token))
        return std::nullopt;
    }
    return pos_;
  }

private:
  static std::string unescape(std::string_view token) {
    std::string result;
    for (size_t i = 0; i < token.size(); ++i) {
      if (token[i] == '~' && i + 1 < token.size())
        result += token[++i] == '1' ? '/' : '~';
      else
        result += token[i];
    }
    return result;
  }

  void skip_space() {
    while (pos_ < text_.size()
           && (text_[pos_] == ' ' || text_[pos_] == '\t' || text_[pos_] == '\n'
               || text_[pos_] == '\r'))
      ++pos_;
  }

  std::string_view skip_string() {
    auto begin = pos_++;
    while (pos_ < text_.size() && text_[pos_] != '"')
      pos_ += text_[pos_] == '\\' ? 2u : 1u;
    ++pos_;
    return text_.substr(begin, pos_ - begin);
  }

  void skip_value() {
    size_t depth = 0;
    do {
      skip_space();
      if (pos_ >= text_.size())
        return;
      auto c = text_[pos_];
      if (c == '"') {
        skip_string();
      } else if (c == '{' || c == '[') {
        ++depth;
        ++pos_;
      } else if (c == '}' || c == ']') {
        --depth;
        ++pos_;
      } else if (c == ',' || c == ':') {
        ++pos_;
      } else {
        while (pos_ < text_.size()
               && std::string_view{",]} \t\r\n"}.find(text_[pos_])
                    == std::string_view::npos)
          ++pos_;
      }
    } while (depth > 0);
  }

  bool descend(const std::string& token) {
    if (pos_ >= text_.size())
      return false;
    if (text_[pos_] == '{') {
      ++pos_;
      for (;;) {
        skip_space();
        if (pos_ >= text_.size() || text_[pos_] == '}')
          return false;
        auto key = parse(skip_string());
        skip_space();
        ++pos_; // ':'
        skip_space();
        if (key && key.value.is_string() && key.value.get_string() == token)
          return true;
        skip_value();
        skip_space();
        if (pos_ < text_.size() && text_[pos_] == ',')
          ++pos_;
      }
    }
    if (text_[pos_] == '[') {
      ++pos_;
      for (size_t index = 0;; ++index) {
        skip_space();
        if (pos_ >= text_.size() || text_[pos_] == ']')
          return false;
        if (std::to_string(index) == token)
          return true;
        skip_value();
        skip_space();
        if (pos_ < text_.size() && text_[pos_] == ',')
          ++pos_;
      }
    }
    return false;
  }

  std::string_view text_;
  size_t pos_ = 0;
};

/// Builds the value that a text stands for. Boost's own builder rounds twice:
/// one in ten fractions of 17 digits comes out as a neighbour.
class value_builder {
public:
  static constexpr size_t max_object_size = bj::object::max_size();
  static constexpr size_t max_array_size = bj::array::max_size();
  static constexpr size_t max_key_size = bj::string::max_size();
  static constexpr size_t max_string_size = bj::string::max_size();

  using fault = boost::system::error_code;
  using view = bj::string_view;

  value_builder() : stack_({}, room_.data(), room_.size()) { stack_.reset(); }
  value_builder(const value_builder&) = delete;
  value_builder& operator=(const value_builder&) = delete;

  bj::value release() { return stack_.release(); }

  bool on_document_begin(fault&) { return true; }
  bool on_document_end(fault&) { return true; }
  bool on_object_begin(fault&) { return true; }
  bool on_object_end(size_t members, fault&) {
    stack_.push_object(members);
    return true;
  }
  bool on_array_begin(fault&) { return true; }
  bool on_array_end(size_t elements, fault&) {
    stack_.push_array(elements);
    return true;
  }
  bool on_key_part(view part, size_t, fault&) {
    stack_.push_chars(part);
    return true;
  }
  bool on_key(view rest, size_t, fault&) {
    stack_.push_key(rest);
    return true;
  }
  bool on_string_part(view part, size_t, fault&) {
    stack_.push_chars(part);
    return true;
  }
  bool on_string(view rest, size_t, fault&) {
    stack_.push_string(rest);
    return true;
  }
  bool on_number_part(view, fault&) { return true; }
  bool on_int64(int64_t number, view, fault&) {
    stack_.push_int64(number);
    return true;
  }
  bool on_uint64(uint64_t number, view, fault&) {
    stack_.push_uint64(number);
    return true;
  }
  /// The text is whole, because it is never parsed in pieces.
  bool on_double(double rounded, view text, fault&) {
    auto exact = rounded;
    auto end = text.data() + text.size();
    if (std::from_chars(text.data(), end, exact).ec != std::errc{})
      exact = rounded;
    stack_.push_double(exact);
    return true;
  }
  bool on_bool(bool flag, fault&) {
    stack_.push_bool(flag);
    return true;
  }
  bool on_null(fault&) {
    stack_.push_null();
    return true;
  }
  bool on_comment_part(view, fault&) { return true; }
  bool on_comment(view, fault&) { return true; }

private:
  /// What is not tied to its list or object yet; enough for most texts.
  std::array<unsigned char, 4096> room_;
  bj::value_stack stack_;
};

} // namespace

parsed parse(std::string_view text) {
  parsed result;
  bj::parse_options options;
  options.max_depth = 256;
  bj::basic_parser<value_builder> parser{options};
  boost::system::error_code ec;
  auto consumed = parser.write_some(false, text.data(), text.size(), ec);
  auto rest = text.substr(consumed);
  while (!rest.empty()
         && std::string_view{" \t\r\n"}.find(rest.front())
              != std::string_view::npos)
    rest.remove_prefix(1);
  if (ec)
    result.fault = locate(text, consumed, ec.message());
  else if (!parser.done())
    result.fault = locate(text, text.size(), "unexpected end of the text");
  else if (!rest.empty())
    result.fault = locate(text, text.size() - rest.size(),
                          "text after the end of the value");
  else
    result.value = parser.handler().release();
  return result;
}

parse_fault position_of(std::string_view text, std::string_view pointer) {
  auto offset = pointer_walk{text}.find(pointer);
  return locate(text, offset.value_or(0), {});
}

std::string print(const bj::value& value) {
  if (is_finite(value))
    return bj::serialize(value);
  auto copy = value;
  make_finite(copy);
  return bj::serialize(copy);
}

std::string print_pretty(const bj::value& value) {
  std::string result;
  print_pretty_into(result, value, 0);
  return result;
}

const bj::value* member(const bj::object& object, std::string_view name) {
  return object.if_contains(name);
}

const bj::value* member(const bj::value& value, std::string_view name) {
  auto object = value.if_object();
  return object != nullptr ? object->if_contains(name) : nullptr;
}

std::optional<std::string> string_member(const bj::object& object,
                                         std::string_view name) {
  auto value = object.if_contains(name);
  if (value == nullptr || !value->is_string())
    return std::nullopt;
  return std::string{value->get_string()};
}

std::optional<bool> bool_member(const bj::object& object,
                                std::string_view name) {
  auto value = object.if_contains(name);
  if (value == nullptr || !value->is_bool())
    return std::nullopt;
  return value->get_bool();
}

std::optional<int64_t> int_member(const bj::object& object,
                                  std::string_view name) {
  constexpr int64_t bound = int64_t{1} << 53;
  auto value = object.if_contains(name);
  if (value == nullptr)
    return std::nullopt;
  if (value->is_int64()) {
    auto number = value->get_int64();
    return number >= -bound && number <= bound ? std::optional{number}
                                               : std::nullopt;
  }
  if (value->is_double()) {
    auto number = value->get_double();
    if (std::trunc(number) == number
        && std::fabs(number) <= static_cast<double>(bound))
      return static_cast<int64_t>(number);
  }
  return std::nullopt;
}

std::optional<double> number_member(const bj::object& object,
                                    std::string_view name) {
  auto value = object.if_contains(name);
  if (value == nullptr)
    return std::nullopt;
  if (value->is_int64())
    return static_cast<double>(value->get_int64());
  if (value->is_uint64())
    return static_cast<double>(value->get_uint64());
  if (value->is_double())
    return value->get_double();
  return std::nullopt;
}

std::string text_or_empty(const bj::object& object, std::string_view name) {
  return string_member(object, name).value_or(std::string{});
}

} // namespace bureau::json

#pragma once

#include "messages/interfaces/transport.hpp"
#include "messages/text/length_unit.hpp"

#include <cstddef>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

/// Answers that are too long for one message (decision A22).
namespace bureau::delivery {

/// Whether a Markdown source fits in one message, as it is rendered there.
using fits_function = std::function<bool(std::string_view source)>;

/// Pieces of a Markdown source that fit one by one: they end between blocks,
/// else at a line, a word or a character. A fenced block that is cut is closed
/// and opened again with its info string. Nothing is lost but white space at
/// the ends of pieces. Each piece has at least one character, even where that
/// does not fit; at least one piece.
std::vector<std::string> split_markdown(std::string_view source,
                                        const fits_function& fits);

/// Pieces of an answer for a transport.
using answer_splitter = std::function<std::vector<std::string>(
  std::string_view, const transport_info&)>;

/// The splitter of transports that bring no own: split_markdown, measured
/// before it is rendered.
std::vector<std::string> split_for(std::string_view source,
                                   const transport_info& info);

/// The end of a text that grows, at most `max` long in a unit: the text itself
/// when it fits, else the prefix and as many last characters as fit behind it,
/// at least one.
std::string tail_preview(std::string_view text, size_t max,
                         std::string_view prefix, text::length_function length);

} // namespace bureau::delivery

#pragma once

#include <boost/json/monotonic_resource.hpp>
#include <boost/json/parser.hpp>
#include <boost/json/value.hpp>

#include <array>
#include <string_view>

namespace bureau::json {

/// Reads many lines of JSON in a row without a memory allocation per value. The
/// document lives only during the visit.
class line_reader {
public:
  line_reader() : parser_({}, options()) {}
  line_reader(const line_reader&) = delete;
  line_reader& operator=(const line_reader&) = delete;

  /// Calls `visit(object)` if the line is a JSON object; tells whether it is.
  template <class Visit>
  bool read(std::string_view line, Visit visit) {
    boost::json::monotonic_resource memory{buffer_.data(), buffer_.size()};
    parser_.reset(&memory);
    boost::system::error_code ec;
    parser_.write(line.data(), line.size(), ec);
    if (ec) {
      parser_.reset();
      return false;
    }
    auto document = parser_.release();
    parser_.reset();
    auto object = document.if_object();
    if (object == nullptr)
      return false;
    const auto& fields = *object;
    visit(fields);
    return true;
  }

private:
  static boost::json::parse_options options() {
    boost::json::parse_options result;
    result.max_depth = 256;
    return result;
  }

  std::array<unsigned char, 16384> buffer_;
  boost::json::parser parser_;
};

} // namespace bureau::json

#pragma once

#include <boost/json/object.hpp>

#include <utility>

namespace bureau::contracts {

/// An object made from text of strangers. What lies deep in it is taken apart
/// step by step at its end: ends inside of ends inside of ends cost half as
/// much again.
class parsed_object : public boost::json::object {
public:
  explicit parsed_object(boost::json::object&& from) noexcept
    : boost::json::object(std::move(from)) {}

  parsed_object(const parsed_object&) = default;
  parsed_object(parsed_object&&) noexcept = default;
  parsed_object& operator=(const parsed_object&) = default;
  parsed_object& operator=(parsed_object&&) = default;
  ~parsed_object();
};

} // namespace bureau::contracts

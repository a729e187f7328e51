#include "messages/contracts/parsed_object.hpp"

#include <boost/json/array.hpp>
#include <boost/json/value.hpp>

#include <algorithm>
#include <vector>

namespace bureau::contracts {

namespace {

namespace bj = boost::json;

/// Calls and returns that a processor foresees.
constexpr size_t deep = 16;
/// Elements that are looked at for one with an inside.
constexpr size_t looked_at = 4;

/// The first value of a list or object that has an inside, if it is not far.
const bj::value* inside_of(const bj::value& value) {
  if (auto list = value.if_array()) {
    auto end = list->begin()
               + static_cast<std::ptrdiff_t>(std::min(list->size(), looked_at));
    auto found = std::find_if(list->begin(), end, [](const bj::value& element) {
      return element.is_structured();
    });
    return found == end ? nullptr : &*found;
  }
  auto object = value.if_object();
  if (object == nullptr)
    return nullptr;
  size_t seen = 0;
  for (const auto& member : *object) {
    if (member.value().is_structured())
      return &member.value();
    if (++seen == looked_at)
      break;
  }
  return nullptr;
}

bool is_deep(const bj::value& value) {
  auto at = &value;
  for (size_t level = 0; at != nullptr && level < deep; ++level)
    at = inside_of(*at);
  return at != nullptr;
}

/// Takes the insides of a value out.
void take_insides(bj::value& value, std::vector<bj::value>& into) {
  auto take = [&into](bj::value& inside) {
    if (inside.is_structured())
      into.push_back(std::move(inside));
  };
  if (auto list = value.if_array())
    std::for_each(list->begin(), list->end(), take);
  else if (auto object = value.if_object())
    for (auto& member : *object)
      take(member.value());
}

} // namespace

parsed_object::~parsed_object() {
  auto wanted = std::any_of(begin(), end(), [](const auto& member) {
    return member.value().is_structured() && is_deep(member.value());
  });
  if (!wanted)
    return;
  std::vector<bj::value> open;
  for (auto& member : *this)
    take_insides(member.value(), open);
  while (!open.empty()) {
    auto value = std::move(open.back());
    open.pop_back();
    take_insides(value, open);
  }
}

} // namespace bureau::contracts

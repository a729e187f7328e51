#pragma once

#include <array>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

/// Closed vocabularies: the names of an enumeration in the order of its values.
namespace bureau::contracts {

template <class Enum, size_t Count>
std::string name_in(const std::array<std::string_view, Count>& names,
                    Enum value) {
  auto index = static_cast<size_t>(value);
  return std::string{index < Count ? names[index] : "unknown"};
}

template <class Enum, size_t Count>
std::optional<Enum> find_in(const std::array<std::string_view, Count>& names,
                            std::string_view name) {
  for (size_t i = 0; i < Count; ++i)
    if (names[i] == name)
      return static_cast<Enum>(i);
  return std::nullopt;
}

} // namespace bureau::contracts

#pragma once

#include <caf/error.hpp>
#include <caf/meta/load_callback.hpp>

#include <concepts>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

namespace bureau {

/// A member that most objects leave empty, in the size of a pointer: a
/// transcript holds a hundred thousand messages, and an empty string has 32
/// bytes. Reads as a T, the empty one when nothing is kept; a value, copied
/// with its owner. Never holds an empty T.
/// @tparam T regular, default-constructed empty, with an empty()
template <class T>
class rare {
public:
  rare() = default;
  rare(T value) { *this = std::move(value); }
  rare(const rare& other) { *this = other.get(); }
  rare(rare&& other) noexcept = default;
  ~rare() = default;

  rare& operator=(const rare& other) {
    if (this != &other)
      *this = other.get();
    return *this;
  }

  rare& operator=(rare&& other) noexcept = default;

  rare& operator=(T value) {
    if (value.empty())
      kept_.reset();
    else if (kept_)
      *kept_ = std::move(value);
    else
      kept_ = std::make_unique<T>(std::move(value));
    return *this;
  }

  const T& get() const {
    static const T nothing{};
    return kept_ ? *kept_ : nothing;
  }

  operator const T&() const { return get(); }
  const T& operator*() const { return get(); }
  const T* operator->() const { return &get(); }
  bool empty() const { return !kept_; }

  /// Takes the value away; empty after it.
  T take() {
    auto kept = std::move(kept_);
    return kept ? std::move(*kept) : T{};
  }

  friend bool operator==(const rare& x, const rare& y) {
    return x.get() == y.get();
  }

private:
  std::unique_ptr<T> kept_;
};

/// A text that most objects leave empty.
class rare_text : public rare<std::string> {
public:
  using rare::rare;
  rare_text() = default;
  rare_text(const char* text) : rare(std::string{text}) {}
  explicit rare_text(std::string_view text) : rare(std::string{text}) {}

  rare_text& operator=(std::string text) {
    rare::operator=(std::move(text));
    return *this;
  }

  rare_text& operator=(const char* text) { return *this = std::string{text}; }

  rare_text& operator=(std::string_view text) {
    return *this = std::string{text};
  }

  rare_text& operator+=(std::string_view more) {
    auto whole = take();
    whole += more;
    return *this = std::move(whole);
  }

  void clear() { *this = std::string{}; }

  operator std::string_view() const { return get(); }
  size_t size() const { return get().size(); }
  const char* c_str() const { return get().c_str(); }

  template <std::convertible_to<std::string_view> Text>
  friend bool operator==(const rare_text& x, const Text& y) {
    return std::string_view{x} == std::string_view{y};
  }
  friend std::string operator+(const rare_text& x, std::string_view y) {
    return x.get() + std::string{y};
  }
  friend std::string operator+(std::string x, const rare_text& y) {
    return std::move(x) + y.get();
  }
};

template <class Inspector, class T>
typename Inspector::result_type inspect(Inspector& f, rare<T>& x) {
  if constexpr (Inspector::reads_state) {
    return f(const_cast<T&>(x.get()));
  } else {
    T value;
    auto keep = [&]() -> caf::error {
      x = std::move(value);
      return {};
    };
    return f(value, caf::meta::load_callback(keep));
  }
}

} // namespace bureau

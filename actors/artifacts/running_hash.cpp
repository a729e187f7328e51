#include "actors/artifacts/running_hash.hpp"

#include <openssl/evp.h>

#include <array>

namespace bureau::artifacts {

namespace {

struct freed_by_library {
  void operator()(EVP_MD_CTX* raw) const { ::EVP_MD_CTX_free(raw); }
};

} // namespace

struct running_hash::context {
  std::unique_ptr<EVP_MD_CTX, freed_by_library> raw{::EVP_MD_CTX_new()};
  bool good = raw && ::EVP_DigestInit_ex(raw.get(), ::EVP_sha256(), nullptr);
};

running_hash::running_hash() : context_(std::make_unique<context>()) {
}

running_hash::~running_hash() = default;
running_hash::running_hash(running_hash&&) noexcept = default;
running_hash& running_hash::operator=(running_hash&&) noexcept = default;

void running_hash::add(std::string_view bytes) {
  if (context_->good)
    context_->good =
      ::EVP_DigestUpdate(context_->raw.get(), bytes.data(), bytes.size());
}

std::string running_hash::finish() {
  static constexpr char digits[] = "0123456789abcdef";
  std::array<unsigned char, EVP_MAX_MD_SIZE> digest{};
  unsigned size = 0;
  if (!context_->good
      || !::EVP_DigestFinal_ex(context_->raw.get(), digest.data(), &size))
    return {};
  context_->good = false;
  std::string result;
  for (unsigned i = 0; i < size; ++i) {
    result += digits[digest[i] >> 4];
    result += digits[digest[i] & 15];
  }
  return result;
}

} // namespace bureau::artifacts

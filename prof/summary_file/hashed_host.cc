#include "prof/summary_file/hashed_host.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>

#include <array>
#include <filesystem>
#include <span>

#include "base/error.h"
#include "parse/model/run_place.h"
#include "prof/views/common/host_mark.h"

namespace oplens::prof {

std::string HashedHost(std::string_view salt, std::string_view host) {
  constexpr size_t kShown = 8;
  std::array<unsigned char, EVP_MAX_MD_SIZE> sum{};
  unsigned int size = 0;
  const auto* const made =
      HMAC(EVP_sha256(), salt.data(), static_cast<int>(salt.size()),
           reinterpret_cast<const unsigned char*>(host.data()), host.size(), sum.data(), &size);
  if (made == nullptr || size < kShown) {
    throw Error("SHA-256", "this machine's libcrypto does not give it", "see its configuration");
  }
  return MarkedHost(fmt::format("{:02x}", fmt::join(std::span(sum).first(kShown), "")));
}

std::string SaltOf(const std::string& input) {
  std::error_code error;
  std::filesystem::path path = std::filesystem::weakly_canonical(input, error);
  if (error) path = input;
  const bool named_by_folder =
      RankOfPath(path.filename().string()) < 0 && RankOfPath(path.string()) >= 0;
  path = path.parent_path();
  return (named_by_folder ? path.parent_path() : path).string();
}

std::string SaltOr(const std::string& given, const std::string& input) {
  return given.empty() ? SaltOf(input) : given;
}

}  // namespace oplens::prof

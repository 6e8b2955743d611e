#include "prof/summary_file/hashed_host.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nettle/hmac.h>

#include <array>
#include <filesystem>
#include <span>

#include "parse/model/run_place.h"
#include "prof/views/common/host_mark.h"

namespace oplens::prof {

std::string HashedHost(std::string_view salt, std::string_view host) {
  constexpr size_t kShown = 8;
  const auto bytes = [](std::string_view text) {
    return reinterpret_cast<const uint8_t*>(text.data());
  };
  hmac_sha256_ctx context;
  hmac_sha256_set_key(&context, salt.size(), bytes(salt));
  hmac_sha256_update(&context, host.size(), bytes(host));
  std::array<uint8_t, SHA256_DIGEST_SIZE> sum{};
  hmac_sha256_digest(&context, sum.size(), sum.data());
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

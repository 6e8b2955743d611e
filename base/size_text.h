#ifndef OPLENS_BASE_SIZE_TEXT_H_
#define OPLENS_BASE_SIZE_TEXT_H_

#include <cstdint>
#include <optional>
#include <string_view>

namespace oplens {

/// Parses a size such as "10MB", "1.5 G" or "500k" (units are powers of 1000 or missing) to bytes,
/// 1 to 10^15; nullopt otherwise.
std::optional<int64_t> ReadSizeText(std::string_view text);

}  // namespace oplens

#endif  // OPLENS_BASE_SIZE_TEXT_H_

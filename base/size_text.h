#ifndef OPLENS_BASE_SIZE_TEXT_H_
#define OPLENS_BASE_SIZE_TEXT_H_

#include <cstdint>
#include <optional>
#include <string_view>

namespace oplens {

/// The bytes that "10MB", "1.5 G" or "500k" says: a number with a unit of powers of 1000 or none.
/// From 1 to 10^15; nullopt for all else.
std::optional<int64_t> ReadSizeText(std::string_view text);

}  // namespace oplens

#endif  // OPLENS_BASE_SIZE_TEXT_H_

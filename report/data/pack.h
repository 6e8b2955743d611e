#ifndef OPLENS_REPORT_DATA_PACK_H_
#define OPLENS_REPORT_DATA_PACK_H_

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace oplens::report {

/// Raw deflate (no header), level 6. The same bytes give the same result.
std::string Deflate(std::string_view bytes);

/// Length of the base64 of so many bytes.
constexpr size_t Base64Length(size_t bytes) { return (bytes + 2) / 3 * 4; }
void AppendBase64(std::string_view bytes, std::string* out);

/// Appends unsigned numbers as planes: the least byte of all, then the next of all, ... `width`
/// planes. What a number has beyond them is cut off.
void AppendPlanes(std::span<const uint64_t> values, int width, std::string* out);

}  // namespace oplens::report

#endif  // OPLENS_REPORT_DATA_PACK_H_

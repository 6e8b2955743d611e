#ifndef OPLENS_REPORT_DATA_PACK_H_
#define OPLENS_REPORT_DATA_PACK_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>

namespace oplens::report {

/// Raw deflate (no header), level 6. Deterministic, however the bytes are split.
std::string Deflate(std::string_view bytes);

/// Deflate for bytes that come in pieces.
class Deflater {
 public:
  Deflater();
  ~Deflater();
  Deflater(const Deflater&) = delete;
  Deflater& operator=(const Deflater&) = delete;

  void Add(std::string_view bytes) { Run(bytes, false); }
  /// Call after the last piece; returns the whole result.
  std::string Finish();

 private:
  void Run(std::string_view bytes, bool last);

  struct Stream;
  std::unique_ptr<Stream> stream_;
  std::string packed_;
};

constexpr size_t Base64Length(size_t bytes) { return (bytes + 2) / 3 * 4; }
void AppendBase64(std::string_view bytes, std::string* out);

/// Appends unsigned numbers as byte planes: the lowest bytes of all, then the next bytes of all,
/// and so on for `width` planes. Higher bytes are dropped.
void AppendPlanes(std::span<const uint64_t> values, int width, std::string* out);

}  // namespace oplens::report

#endif  // OPLENS_REPORT_DATA_PACK_H_

#ifndef OPLENS_REPORT_DATA_PACK_H_
#define OPLENS_REPORT_DATA_PACK_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>

namespace oplens::report {

/// Raw deflate (no header), level 6. The same bytes give the same result, in one piece or several.
std::string Deflate(std::string_view bytes);

/// The same of bytes that come in pieces.
class Deflater {
 public:
  Deflater();
  ~Deflater();
  Deflater(const Deflater&) = delete;
  Deflater& operator=(const Deflater&) = delete;

  void Add(std::string_view bytes) { Run(bytes, false); }
  /// After the last piece: all of it.
  std::string Finish();

 private:
  void Run(std::string_view bytes, bool last);

  struct Stream;
  std::unique_ptr<Stream> stream_;
  std::string packed_;
};

/// Length of the base64 of so many bytes.
constexpr size_t Base64Length(size_t bytes) { return (bytes + 2) / 3 * 4; }
void AppendBase64(std::string_view bytes, std::string* out);

/// Appends unsigned numbers as planes: the least byte of all, then the next of all, ... `width`
/// planes. What a number has beyond them is cut off.
void AppendPlanes(std::span<const uint64_t> values, int width, std::string* out);

}  // namespace oplens::report

#endif  // OPLENS_REPORT_DATA_PACK_H_

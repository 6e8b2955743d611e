#include "base/byte_writer.h"

#include <algorithm>
#include <bit>

namespace oplens {

void ByteWriter::Number(uint64_t value) {
  for (; value >= 0x80; value >>= 7) Byte(static_cast<uint8_t>(value | 0x80));
  Byte(static_cast<uint8_t>(value));
}

void ByteWriter::Signed(int64_t value) {
  Number(static_cast<uint64_t>(value) << 1 ^ (value < 0 ? ~uint64_t{0} : 0));
}

void ByteWriter::Text(std::string_view text) {
  std::string changed;
  if (change_) text = changed = change_(text);
  const auto found = texts_.find(text);
  if (found != texts_.end()) return Number(found->second);
  Number(texts_.size());
  Number(text.size());
  Raw(text);
  texts_.emplace(text, texts_.size());
}

void ByteWriter::Texts(const std::string_view* texts) {
  Number(static_cast<uint64_t>(std::count(texts->begin(), texts->end(), '\0')) + 1);
  std::string_view rest = *texts;
  for (size_t end = rest.find('\0'); end != std::string_view::npos; end = rest.find('\0')) {
    Text(rest.substr(0, end));
    rest.remove_prefix(end + 1);
  }
  Text(rest);
}

void ByteWriter::Put(double value) {
  const auto bits = std::bit_cast<uint64_t>(value);
  for (int shift = 0; shift < 64; shift += 8) Byte(static_cast<uint8_t>(bits >> shift));
}

void ByteWriter::Put(const Checked& value) {
  // Most values fit into 64 bits; a flag marks the others.
  constexpr uint8_t kWide = 1;
  constexpr uint8_t kOverflow = 2;
  const Checked::Parts parts = value.parts();
  const bool wide = parts.high != (static_cast<int64_t>(parts.low) < 0 ? -1 : 0);
  Byte(static_cast<uint8_t>((wide ? kWide : 0) | (parts.overflow ? kOverflow : 0)));
  Signed(static_cast<int64_t>(parts.low));
  if (wide) Signed(parts.high);
}

}  // namespace oplens

#include "base/byte_reader.h"

#include <fmt/format.h>

#include <bit>
#include <cmath>

#include "base/error.h"

namespace oplens {

void ByteReader::Fail(std::string_view problem) const {
  throw Error(fmt::format("{}, byte {}", what_, at_), problem,
              "the file is damaged: save it again");
}

uint8_t ByteReader::Byte() {
  Check(left() > 0, "it ends early");
  return static_cast<uint8_t>(bytes_[at_++]);
}

uint64_t ByteReader::Number() {
  uint64_t value = 0;
  for (int shift = 0;; shift += 7) {
    const uint8_t byte = Byte();
    // The tenth byte has room for one bit.
    Check(shift < 63 || byte <= 1, "a number is too large");
    value |= static_cast<uint64_t>(byte & 0x7F) << shift;
    if ((byte & 0x80) == 0) return value;
  }
}

int64_t ByteReader::Signed() {
  const uint64_t value = Number();
  return static_cast<int64_t>(value >> 1 ^ ((value & 1) != 0 ? ~uint64_t{0} : 0));
}

uint64_t ByteReader::NumberUpTo(int64_t most) {
  const uint64_t value = Number();
  Check(value <= static_cast<uint64_t>(most), "a number is larger than it can be");
  return value;
}

std::string_view ByteReader::Raw(size_t size) {
  Check(size <= left(), "it ends early");
  const std::string_view raw = bytes_.substr(at_, size);
  at_ += size;
  return raw;
}

size_t ByteReader::Size(size_t least_bytes) {
  const uint64_t size = Number();
  Check(size <= left() / least_bytes, "it announces more than there is");
  return static_cast<size_t>(size);
}

std::string_view ByteReader::Text() {
  const uint64_t number = Number();
  Check(number <= texts_.size(), "a text has a number that does not exist");
  if (number == texts_.size()) {
    const std::string_view raw = Raw(Size());
    texts_.push_back(change_ == nullptr ? raw : changed_.emplace_back(change_(raw)));
  }
  const std::string_view text = texts_[static_cast<size_t>(number)];
  text_bytes_ += text.size();
  Check(text_bytes_ <= most_text_bytes_, "its texts take too much memory");
  return text;
}

void ByteReader::Texts(std::string* texts) {
  const size_t count = Size();
  Check(count > 0, "a list of texts is empty");
  texts->assign(Text());
  for (size_t i = 1; i < count; ++i) (*texts += '\0') += Text();
}

void ByteReader::Get(bool* value) {
  const uint8_t byte = Byte();
  Check(byte <= 1, "a yes or no is neither");
  *value = byte != 0;
}

void ByteReader::Get(double* value) {
  uint64_t bits = 0;
  for (int shift = 0; shift < 64; shift += 8) bits |= uint64_t{Byte()} << shift;
  *value = std::bit_cast<double>(bits);
  Check(std::isfinite(*value), "a number is not finite");
}

void ByteReader::Get(Checked* value) {
  constexpr uint8_t kWide = 1;
  constexpr uint8_t kOverflow = 2;
  const uint8_t form = Byte();
  Check(form <= (kWide | kOverflow), "a sum has a form that is not known");
  Checked::Parts parts;
  const int64_t low = Signed();
  parts.low = static_cast<uint64_t>(low);
  parts.high = (form & kWide) != 0 ? Signed() : (low < 0 ? -1 : 0);
  parts.overflow = (form & kOverflow) != 0;
  *value = Checked(parts);
}

}  // namespace oplens

#ifndef OPLENS_BASE_BYTE_WRITER_H_
#define OPLENS_BASE_BYTE_WRITER_H_

#include <array>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include "base/checked.h"
#include "base/hash.h"
#include "base/members.h"

namespace oplens {

/// Writes values as bytes that ByteReader reads (docs/summary_format.md): small numbers take few
/// bytes, and each distinct text is stored once. The same values give the same bytes on every
/// machine.
///
/// A type saved as a whole has one function template for reading and writing, so that the order of
/// its fields is stated once:
///
///     template <typename Bytes, typename Self>
///     static void Transfer(Bytes* bytes, Self* self) {
///       bytes->Counts(&self->calls);
///       bytes->Values(&self->name, &self->lengths);
///     }
///
/// or, if all members are saved by their types, nothing: a struct's are known, and a class lists
/// them (base/members.h).
class ByteWriter {
 public:
  /// For Transfer to tell the two classes apart.
  static constexpr bool kReads = false;

  /// `change` maps each text to the one to write; null: unchanged.
  explicit ByteWriter(std::function<std::string(std::string_view)> change = nullptr)
      : change_(std::move(change)) {}

  /// LEB128: seven bits per byte, lowest first; a set high bit means that more bytes follow.
  void Number(uint64_t value);
  /// Number of 2 * value, or of -2 * value - 1 for negative values (zigzag).
  void Signed(int64_t value);
  void Byte(uint8_t value) { bytes_.push_back(static_cast<char>(value)); }
  /// The index of the text; a new one is followed by its length and bytes.
  void Text(std::string_view text);
  /// Bytes without a length, which the reader must know.
  void Raw(std::string_view bytes) { bytes_ += bytes; }

  /// Writes each value by its type: numbers, texts, types with Transfer, types with members,
  /// containers of these, and enums with `constexpr size_t WordCountOf(Enum)`, found by ADL, which
  /// returns how many values there are, from 0.
  template <typename... T>
  void Values(const T*... values) {
    (Put(*values), ...);
  }
  /// Numbers of things, 0 to 2^48; the reader rejects others.
  template <typename... T>
  void Counts(const T*... values) {
    (Number(static_cast<uint64_t>(*values)), ...);
  }
  /// Sums that must not be negative; the reader checks the range of their type.
  template <typename... T>
  void Sums(const T*... values) {
    (Number(static_cast<uint64_t>(*values)), ...);
  }
  /// An enum of `count` values, numbered from 0.
  template <typename Enum>
  void Word(const Enum* value, size_t count) {
    static_cast<void>(count);
    Number(static_cast<uint64_t>(*value));
  }
  /// A time or other number close to `base`, which the reader knows by then.
  void Near(const int64_t* value, int64_t base) {
    Signed(static_cast<int64_t>(static_cast<uint64_t>(*value) - static_cast<uint64_t>(base)));
  }
  /// Several texts joined by '\0'.
  void Texts(const std::string_view* texts);
  void Texts(const std::string* texts) {
    const std::string_view view = *texts;
    Texts(&view);
  }

  size_t size() const { return bytes_.size(); }
  const std::string& bytes() const { return bytes_; }
  std::string Take() { return std::move(bytes_); }

 private:
  void Put(bool value) { Byte(value ? 1 : 0); }
  void Put(std::signed_integral auto value) { Signed(value); }
  void Put(std::unsigned_integral auto value) { Number(value); }
  template <typename Enum>
  requires std::is_enum_v<Enum>
  void Put(Enum value) { Word(&value, WordCountOf(value)); }
  void Put(double value);
  void Put(const Checked& value);
  void Put(const std::string& text) { Text(text); }
  template <typename T>
  void Put(const std::optional<T>& value) {
    Put(value.has_value());
    if (value) Put(*value);
  }
  template <typename A, typename B>
  void Put(const std::pair<A, B>& pair) {
    Put(pair.first);
    Put(pair.second);
  }
  template <typename T, size_t n>
  void Put(const std::array<T, n>& values) {
    for (const T& value : values) Put(value);
  }
  template <typename T>
  void Put(const std::vector<T>& values) {
    PutAll(values);
  }
  template <typename... T>
  void Put(const std::set<T...>& values) {
    PutAll(values);
  }
  template <typename... T>
  void Put(const std::map<T...>& values) {
    PutAll(values);
  }
  template <typename T>
  requires requires(ByteWriter* bytes, const T* value) { T::Transfer(bytes, value); }
  void Put(const T& value) { T::Transfer(this, &value); }
  template <HasMembers T>
  requires(!requires(ByteWriter * bytes, const T* value) {
    T::Transfer(bytes, value);
  }) void Put(const T& value) {
    std::apply([&](const auto&... members) { (Put(members), ...); }, MembersOf(value));
  }
  template <typename T>
  void PutAll(const T& values) {
    Number(values.size());
    for (const auto& value : values) Put(value);
  }

  std::function<std::string(std::string_view)> change_;
  std::string bytes_;
  TextMap<uint64_t> texts_;
};

}  // namespace oplens

#endif  // OPLENS_BASE_BYTE_WRITER_H_

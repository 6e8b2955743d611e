#ifndef OPLENS_BASE_BYTE_READER_H_
#define OPLENS_BASE_BYTE_READER_H_

#include <algorithm>
#include <array>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <limits>
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
#include "base/members.h"

namespace oplens {

/// Reads what ByteWriter wrote. The bytes are not trusted: every invalid value throws Error that
/// says what was read and where. Memory stays proportional to the bytes; repeated texts expand to
/// at most kMostTextBytes.
class ByteReader {
 public:
  static constexpr bool kReads = true;
  /// Limit of the total size of all returned texts.
  static constexpr size_t kMostTextBytes = size_t{256} << 20;
  static constexpr int64_t kMostCount = int64_t{1} << 48;

  /// `bytes` must outlive this object. `what` names them in errors: "run.baseline: view overview".
  /// `change` maps each text to the one to return; null: unchanged.
  ByteReader(std::string_view bytes, std::string what,
             std::function<std::string(std::string_view)> change = nullptr)
      : bytes_(bytes), what_(std::move(what)), change_(std::move(change)) {}
  /// Deleted: the bytes would be destroyed before this object.
  template <std::same_as<std::string> Bytes>
  ByteReader(Bytes&& bytes, std::string what,
             std::function<std::string(std::string_view)> change = nullptr) = delete;
  ByteReader(const ByteReader&) = delete;
  ByteReader& operator=(const ByteReader&) = delete;

  /// Lifts the limit on texts, for bytes that this program wrote itself.
  void TrustTexts() { most_text_bytes_ = std::numeric_limits<size_t>::max(); }

  uint64_t Number();
  int64_t Signed();
  uint8_t Byte();
  /// Valid as long as this object and the bytes.
  std::string_view Text();
  std::string_view Raw(size_t size);
  /// Reads a number of elements that take at least `least_bytes` each; throws Error if fewer bytes
  /// are left.
  size_t Size(size_t least_bytes = 1);

  template <typename... T>
  void Values(T*... values) {
    (Get(values), ...);
  }
  template <typename... T>
  void Counts(T*... values) {
    ((*values = static_cast<T>(NumberUpTo(kMostCount))), ...);
  }
  template <typename... T>
  void Sums(T*... values) {
    ((*values = static_cast<T>(NumberUpTo(std::numeric_limits<T>::max()))), ...);
  }
  template <typename Enum>
  void Word(Enum* value, size_t count) {
    *value = static_cast<Enum>(NumberUpTo(static_cast<int64_t>(count) - 1));
  }
  void Near(int64_t* value, int64_t base) {
    *value = static_cast<int64_t>(static_cast<uint64_t>(Signed()) + static_cast<uint64_t>(base));
  }
  void Texts(std::string* texts);

  const std::string& what() const { return what_; }

  /// Throws Error unless `holds`. `problem`: "a step stands for no place".
  void Check(bool holds, std::string_view problem) const {
    if (!holds) Fail(problem);
  }
  [[noreturn]] void Fail(std::string_view problem) const;
  /// Call after the last value: throws Error if bytes are left.
  void End() const { Check(left() == 0, "there is more than belongs here"); }
  size_t left() const { return bytes_.size() - at_; }

 private:
  uint64_t NumberUpTo(int64_t most);

  void Get(bool* value);
  void Get(std::signed_integral auto* value) {
    using Limits = std::numeric_limits<std::remove_pointer_t<decltype(value)>>;
    const int64_t read = Signed();
    Check(read >= Limits::min() && read <= Limits::max(), "a number is too large");
    *value = static_cast<std::remove_pointer_t<decltype(value)>>(read);
  }
  void Get(std::unsigned_integral auto* value) {
    using Limits = std::numeric_limits<std::remove_pointer_t<decltype(value)>>;
    const uint64_t read = Number();
    Check(read <= Limits::max(), "a number is too large");
    *value = static_cast<std::remove_pointer_t<decltype(value)>>(read);
  }
  template <typename Enum>
  requires std::is_enum_v<Enum>
  void Get(Enum* value) { Word(value, WordCountOf(*value)); }
  void Get(double* value);
  void Get(Checked* value);
  void Get(std::string* text) { *text = Text(); }
  template <typename T>
  void Get(std::optional<T>* value) {
    bool known = false;
    Get(&known);
    value->reset();
    if (known) Get(&value->emplace());
  }
  template <typename A, typename B>
  void Get(std::pair<A, B>* pair) {
    Get(&pair->first);
    Get(&pair->second);
  }
  template <typename T, size_t n>
  void Get(std::array<T, n>* values) {
    for (T& value : *values) Get(&value);
  }
  template <typename T>
  void Get(std::vector<T>* values) {
    values->clear();
    for (size_t left = Size(); left > 0; --left) {
      T value{};
      Get(&value);
      values->push_back(std::move(value));
    }
  }
  template <typename T, typename... Rest>
  void Get(std::set<T, Rest...>* values) {
    values->clear();
    for (size_t left = Size(); left > 0; --left) {
      T value{};
      Get(&value);
      values->insert(values->end(), std::move(value));
    }
    // Duplicates of an element collapse.
  }
  template <typename K, typename V, typename... Rest>
  void Get(std::map<K, V, Rest...>* values) {
    values->clear();
    for (size_t left = Size(); left > 0; --left) {
      K key{};
      Get(&key);
      const size_t before = values->size();
      const auto place = values->try_emplace(values->end(), std::move(key));
      Check(values->size() > before, "a key comes twice");
      Get(&place->second);
    }
  }
  template <typename T>
  requires requires(ByteReader* bytes, T* value) { T::Transfer(bytes, value); }
  void Get(T* value) { T::Transfer(this, value); }
  /// If the type has `std::string_view Problem() const`, that returns what is wrong with it, or "".
  template <HasMembers T>
  requires(!requires(ByteReader * bytes, T* value) {
    T::Transfer(bytes, value);
  }) void Get(T* value) {
    std::apply([&](auto&... members) { (Get(&members), ...); }, MembersOf(*value));
    if constexpr (requires { value->Problem(); }) Check(value->Problem().empty(), value->Problem());
  }

  std::string_view bytes_;
  size_t at_ = 0;
  std::string what_;
  std::function<std::string(std::string_view)> change_;
  std::vector<std::string_view> texts_;
  std::deque<std::string> changed_;  // Texts that `change_` has changed.
  size_t text_bytes_ = 0;
  size_t most_text_bytes_ = kMostTextBytes;
};

}  // namespace oplens

#endif  // OPLENS_BASE_BYTE_READER_H_

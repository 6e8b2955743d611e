#ifndef OPLENS_BASE_HASH_H_
#define OPLENS_BASE_HASH_H_

// Public header: installed, docs/library.md.

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <functional>
#include <string>
#include <string_view>
#include <unordered_map>

// Hashes for tables in memory and for comparison. None is seeded: where a file's author could
// choose colliding keys, use base/id_map.h.

namespace oplens {

/// Mixes `value` into `hash`.
template <std::integral Value>
constexpr uint64_t MixHash(uint64_t hash, Value value) {
  constexpr int kShift = 29;
  // 2^64 / golden ratio.
  hash = (hash ^ static_cast<uint64_t>(value)) * 0x9e3779b97f4a7c15;
  return hash ^ (hash >> kShift);
}

/// Spreads a number: every bit of the result depends on every bit of it (SplitMix64's finaliser).
constexpr uint64_t SpreadBits(uint64_t value) {
  value = (value ^ (value >> 30)) * 0xbf58476d1ce4e5b9;
  value = (value ^ (value >> 27)) * 0x94d049bb133111eb;
  return value ^ (value >> 31);
}

/// Two numbers as one key of an IdMap.
constexpr int64_t PairKey(uint32_t high, uint32_t low) {
  return static_cast<int64_t>(uint64_t{high} << 32 | low);
}

/// Folds the 128-bit product a * b into 64 bits: every bit depends on every bit of both.
constexpr uint64_t FoldedProduct(uint64_t a, uint64_t b) {
  __extension__ using Wide = unsigned __int128;
  const Wide product = static_cast<Wide>(a) * b;
  return static_cast<uint64_t>(product) ^ static_cast<uint64_t>(product >> 64);
}

/// FNV-1a: the same on all machines and in all versions, so it may be stored in files.
constexpr uint64_t StableHash(std::string_view text) {
  uint64_t hash = 0xcbf29ce484222325;
  for (const char c : text) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3;
  return hash;
}

/// A 64-bit hash of any bytes, fast for texts of some ten to some hundred bytes; never 0. Changes
/// between versions: not for files.
inline uint64_t HashText(std::string_view text) {
  constexpr uint64_t kA = 0x9e3779b97f4a7c15;  // Odd constants with well-spread bits.
  constexpr uint64_t kB = 0xd1b54a32d192ed03;
  constexpr size_t kWords = 16;
  const size_t size = text.size();
  uint64_t hash = FoldedProduct(size ^ kA, kB);
  const char* p = text.data();
  const char* const end = p + size;
  uint64_t words[2] = {};
  for (; end - p > std::ptrdiff_t{kWords}; p += kWords) {
    std::memcpy(words, p, kWords);
    hash = FoldedProduct(words[0] ^ kA ^ hash, words[1] ^ kB);
  }
  // The last bytes, some of them twice.
  if (size >= kWords) {
    std::memcpy(words, end - kWords, kWords);
  } else if (size >= 8) {
    std::memcpy(&words[0], p, 8);
    std::memcpy(&words[1], end - 8, 8);
  } else if (size >= 4) {
    std::memcpy(&words[0], p, 4);
    std::memcpy(&words[1], end - 4, 4);
  } else if (size > 0) {
    std::memcpy(&words[0], p, 1);
    std::memcpy(&words[1], end - (size + 1) / 2, (size + 1) / 2);
  }
  hash = FoldedProduct(words[0] ^ kA ^ hash, words[1] ^ kB);
  return hash == 0 ? 1 : hash;
}

struct TextHash {
  using is_transparent = void;
  size_t operator()(std::string_view text) const { return HashText(text); }
};

/// A map keyed by text with lookup by string_view.
template <typename Value>
using TextMap = std::unordered_map<std::string, Value, TextHash, std::equal_to<>>;

}  // namespace oplens

#endif  // OPLENS_BASE_HASH_H_

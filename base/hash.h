#ifndef OPLENS_BASE_HASH_H_
#define OPLENS_BASE_HASH_H_

// Public header: installed, docs/library.md.

#include <concepts>
#include <cstddef>
#include <cstdint>
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

struct TextHash {
  using is_transparent = void;
  size_t operator()(std::string_view text) const { return std::hash<std::string_view>{}(text); }
};

/// A map keyed by text with lookup by string_view.
template <typename Value>
using TextMap = std::unordered_map<std::string, Value, TextHash, std::equal_to<>>;

}  // namespace oplens

#endif  // OPLENS_BASE_HASH_H_

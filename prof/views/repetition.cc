#include "prof/views/repetition.h"

#include <algorithm>
#include <functional>
#include <string_view>

namespace oplens::prof {
namespace {

uint64_t Mixed(uint64_t hash, int64_t value) {
  constexpr uint64_t kOddPrime = 0x9E3779B97F4A7C15u;  // 2^64 over the golden ratio.
  hash = (hash ^ static_cast<uint64_t>(value)) * kOddPrime;
  return hash ^ (hash >> 32);
}

uint64_t WhatOf(const KernelRecord& record) {
  const std::string_view name = record.long_name.empty() ? record.short_name : record.long_name;
  uint64_t hash = std::hash<std::string_view>{}(name);
  for (const int64_t blocks : {record.grid.x, record.grid.y, record.grid.z}) {
    hash = Mixed(hash, blocks);
  }
  return hash;
}

}  // namespace

void RepetitionFinder::Stop() {
  stopped_ = true;
  kernels_ = {};
}

void RepetitionFinder::Add(const KernelRecord& record, uint32_t group) {
  if (stopped_) return;
  const std::string_view rank = record.rank.value_or(std::string_view());
  if (kernels_.empty()) {
    rank_ = rank;
    device_id_ = record.device_id;
  }
  if (rank_ != rank || device_id_ != record.device_id || kernels_.size() >= kMaxKernels) {
    return Stop();
  }
  kernels_.push_back({WhatOf(record), record.timed() ? record.duration_ns : 0, group});
}

std::optional<Repetition> RepetitionFinder::Find() const {
  const size_t n = kernels_.size();
  if (n < 2) return std::nullopt;
  // same[p]: of the kernels counted from the last, how many from the p-th on are those from the
  // 0-th on (the Z function). The last p + same[p] kernels then have period p.
  std::vector<uint32_t> same(n, 0);
  const auto from_end = [this, n](size_t i) { return kernels_[n - 1 - i].what; };
  Repetition best;
  size_t best_size = 0;
  size_t left = 0;
  size_t right = 0;  // [left, right) is the match that reaches furthest.
  for (size_t p = 1; p < n; ++p) {
    size_t match = p < right ? std::min<size_t>(right - p, same[p - left]) : 0;
    while (p + match < n && from_end(match) == from_end(p + match)) ++match;
    same[p] = static_cast<uint32_t>(match);
    if (p + match > right) {
      left = p;
      right = p + match;
    }
    const size_t count = (p + match) / p;
    // Shorter periods come first, and their multiples reach no further.
    if (count >= static_cast<size_t>(kLeastCount) && p + match > best_size) {
      best_size = p + match;
      best = {static_cast<int64_t>(p), static_cast<int64_t>(count)};
    }
  }
  if (best.count == 0 || 2 * best.period * best.count < static_cast<int64_t>(n)) {
    return std::nullopt;
  }
  // The shortest period of one kernel only is a loop over a kernel, whatever it is a part of.
  if (best.period == 1) return std::nullopt;
  return best;
}

}  // namespace oplens::prof

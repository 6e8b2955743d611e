#include "prof/views/common/histogram.h"

#include <algorithm>
#include <bit>
#include <cstddef>
#include <iterator>
#include <utility>

#include "base/saturating.h"

namespace oplens::prof {
namespace {

// Values below kExact have their own buckets; each power of two above has kParts.
constexpr uint32_t kPartBits = 5;
constexpr uint32_t kHistogramParts = 1u << kPartBits;
constexpr uint32_t kExact = 2 * kHistogramParts;

uint32_t HistogramNumberOf(uint64_t value) {
  if (value < kExact) return static_cast<uint32_t>(value);
  const auto shift = static_cast<uint32_t>(std::bit_width(value)) - 1 - kPartBits;
  return shift * kHistogramParts + static_cast<uint32_t>(value >> shift);
}

int64_t MiddleOf(uint32_t number) {
  if (number < kExact) return number;
  const uint32_t shift = number / kHistogramParts - 1;
  const uint64_t first = static_cast<uint64_t>(number % kHistogramParts + kHistogramParts) << shift;
  return static_cast<int64_t>(first + (uint64_t{1} << shift) / 2);
}

}  // namespace

/// Without branches, which would depend on the values.
size_t Histogram::PlaceOf(uint32_t number) const {
  const Bucket* first = buckets_.data();
  for (size_t size = buckets_.size(); size > 0;) {
    const size_t half = size - size / 2;
    first += first[half - 1].number < number ? half : 0;
    size -= half;
  }
  return static_cast<size_t>(first - buckets_.data());
}

void Histogram::Add(int64_t value, int64_t times) {
  value = std::max<int64_t>(value, 0);
  const uint32_t number = HistogramNumberOf(static_cast<uint64_t>(value));
  const auto at = buckets_.begin() + static_cast<std::ptrdiff_t>(PlaceOf(number));
  if (at == buckets_.end() || at->number != number) {
    buckets_.insert(at, {number, times});
  } else {
    SaturatingAdd(&at->count, times);
  }
  SaturatingAdd(&count_, times);
  least_ = std::min(least_, value);
  largest_ = std::max(largest_, value);
}

void Histogram::Merge(const Histogram& other) {
  std::vector<Bucket> both;
  both.reserve(buckets_.size() + other.buckets_.size());
  std::merge(buckets_.begin(), buckets_.end(), other.buckets_.begin(), other.buckets_.end(),
             std::back_inserter(both),
             [](const Bucket& a, const Bucket& b) { return a.number < b.number; });
  size_t kept = 0;
  for (const Bucket& bucket : both) {
    if (kept > 0 && both[kept - 1].number == bucket.number) {
      both[kept - 1].count = SaturatingSum(both[kept - 1].count, bucket.count);
    } else {
      both[kept++] = bucket;
    }
  }
  both.resize(kept);
  buckets_ = std::move(both);
  SaturatingAdd(&count_, other.count_);
  least_ = std::min(least_, other.least_);
  largest_ = std::max(largest_, other.largest_);
}

std::optional<int64_t> Histogram::Quantile(int percent) const {
  if (count_ == 0) return std::nullopt;
  // ceil(count * percent / 100) without overflow.
  const int64_t rest = (count_ % 100 * percent + 99) / 100;
  const int64_t rank = std::max<int64_t>(count_ / 100 * percent + rest, 1);
  int64_t seen = 0;
  for (const Bucket& bucket : buckets_) {
    SaturatingAdd(&seen, bucket.count);
    if (seen >= rank) return std::clamp(MiddleOf(bucket.number), least_, largest_);
  }
  return largest_;
}

}  // namespace oplens::prof

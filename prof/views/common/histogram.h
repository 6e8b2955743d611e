#ifndef OPLENS_PROF_VIEWS_COMMON_HISTOGRAM_H_
#define OPLENS_PROF_VIEWS_COMMON_HISTOGRAM_H_

#include <cstdint>
#include <optional>
#include <vector>

#include "base/saturating.h"

namespace oplens::prof {

/// Counts of values by size: one bucket per value below 64, above that 32 per power of two.
/// Histograms merge exactly, so quantiles do not depend on how the values were split. 16 bytes per
/// occupied bucket, of at most 1,888.
class Histogram {
 public:
  /// Counts a value `times` >= 1 times, such as the ns for which it holds. Negative values count as
  /// 0. Counts saturate.
  void Add(int64_t value, int64_t times = 1);
  void Merge(const Histogram& other);

  int64_t count() const { return count_; }
  /// Exact; nullopt if empty.
  std::optional<int64_t> least() const { return Known(least_); }
  std::optional<int64_t> largest() const { return Known(largest_); }

  /// The value of the nearest rank: of n ascending values the ceil(percent / 100 * n)-th, for 0
  /// percent the first. Returns the middle of its bucket, clamped to [least, largest]: exact below
  /// 64, otherwise at most 1.6 % (1/64) off. nullopt if empty. `percent` is in [0, 100].
  std::optional<int64_t> Quantile(int percent) const;

  /// For ByteWriter and ByteReader: the extremes, then the occupied buckets.
  template <typename Bytes, typename Self>
  static void Transfer(Bytes* bytes, Self* self);

 private:
  std::optional<int64_t> Known(int64_t value) const {
    return count_ == 0 ? std::nullopt : std::optional(value);
  }

  struct Bucket {
    uint32_t number;
    int64_t count;
  };

  /// Index of the first bucket whose number is not below this.
  size_t PlaceOf(uint32_t number) const;

  static constexpr uint32_t kMostBuckets = 1888;

  std::vector<Bucket> buckets_;  // By number.
  int64_t count_ = 0;
  int64_t least_ = INT64_MAX;
  int64_t largest_ = 0;
};

template <typename Bytes, typename Self>
void Histogram::Transfer(Bytes* bytes, Self* self) {
  uint64_t size = self->buckets_.size();
  if constexpr (Bytes::kReads) {
    size = bytes->Size(2);
    self->buckets_.resize(size);
    self->count_ = 0;
  } else {
    bytes->Number(size);
  }
  uint32_t next = 0;  // The least possible number of the current bucket.
  for (auto& bucket : self->buckets_) {
    uint64_t ahead = bucket.number - next;
    if constexpr (Bytes::kReads) {
      bytes->Values(&ahead);
      bytes->Check(ahead < kMostBuckets - next, "a histogram has a bucket that does not exist");
      bucket.number = next + static_cast<uint32_t>(ahead);
    } else {
      bytes->Values(&ahead);
    }
    bytes->Sums(&bucket.count);
    next = bucket.number + 1;
    if constexpr (Bytes::kReads) SaturatingAdd(&self->count_, bucket.count);
  }
  if (size > 0) bytes->Sums(&self->least_, &self->largest_);
  if constexpr (Bytes::kReads) {
    bytes->Check(size == 0 || self->least_ <= self->largest_, "a histogram has no extremes");
  }
}

}  // namespace oplens::prof

#endif  // OPLENS_PROF_VIEWS_COMMON_HISTOGRAM_H_

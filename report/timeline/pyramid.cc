#include "report/timeline/pyramid.h"

#include <algorithm>
#include <bit>

#include "report/data/pack.h"
#include "report/timeline/signatures.h"

namespace oplens::report {
namespace {

/// The first and last covered moment; for a last event without a duration, its start.
struct Extent {
  int64_t start_ns = 0;
  int64_t last_ns = 0;
};

Extent ExtentOf(std::span<const LaneEvent> events) {
  Extent extent{events.front().start_ns, events.front().start_ns};
  for (const LaneEvent& event : events) {
    extent.last_ns = std::max(
        {extent.last_ns, event.start_ns, event.duration_ns > 0 ? event.end_ns() - 1 : INT64_MIN});
  }
  return extent;
}

/// The bucket of a moment, counted from the origin: floor(time / 2^shift).
int64_t PyramidPlaceOf(int64_t time_ns, int shift) { return time_ns >> shift; }

/// The number of 2^shift ns buckets that cover `extent`, capped at UINT64_MAX.
uint64_t CountOf(const Extent& extent, int shift) {
  const uint64_t others = static_cast<uint64_t>(PyramidPlaceOf(extent.last_ns, shift)) -
                          static_cast<uint64_t>(PyramidPlaceOf(extent.start_ns, shift));
  return others == UINT64_MAX ? others : others + 1;
}

/// Sums the time of each signature within one bucket.
class BucketMaker {
 public:
  BucketMaker(int shift, int64_t first, size_t count, size_t signatures)
      : shift_(shift), first_(first), buckets_(count), times_(signatures, 0) {}

  void Begin(const LaneEvent& event) {
    Bucket& bucket = buckets_[IndexOf(event.start_ns)];
    if (bucket.events < UINT16_MAX) ++bucket.events;
    // Shown only if nothing has time in the bucket: time counted later overwrites it.
    if (event.duration_ns == 0 && bucket.busy == 0) {
      bucket.signature = std::min(bucket.signature, event.signature);
    }
  }

  /// Adds time of a signature. Calls must ascend and not overlap.
  void Add(int64_t start_ns, int64_t end_ns, uint32_t signature) {
    while (start_ns < end_ns) {
      const size_t index = IndexOf(start_ns);
      if (index != open_) Close();
      open_ = index;
      const int64_t bucket_end = EndOf(index);
      const int64_t until = std::min(end_ns, bucket_end);
      if (times_[signature] == 0) touched_.push_back(signature);
      times_[signature] += until - start_ns;
      start_ns = until;
    }
  }

  std::vector<Bucket> Finish() {
    Close();
    return std::move(buckets_);
  }

 private:
  static constexpr size_t kNone = SIZE_MAX;

  size_t IndexOf(int64_t time_ns) const {
    return static_cast<size_t>(PyramidPlaceOf(time_ns, shift_) - first_);
  }
  int64_t EndOf(size_t index) const {
    const int64_t next = first_ + static_cast<int64_t>(index) + 1;
    return next > (INT64_MAX >> shift_) ? INT64_MAX : next * (int64_t{1} << shift_);
  }

  void Close() {
    if (open_ == kNone) return;
    Bucket& bucket = buckets_[open_];
    int64_t most = 0;
    uint64_t busy = 0;
    bucket.signature = Signatures::kNone;
    for (const uint32_t signature : touched_) {
      const int64_t time = times_[signature];
      busy += static_cast<uint64_t>(time);
      if (time > most || (time == most && signature < bucket.signature)) {
        most = time;
        bucket.signature = signature;
      }
      times_[signature] = 0;
    }
    touched_.clear();
    const double share = static_cast<double>(busy) / static_cast<double>(uint64_t{1} << shift_);
    bucket.busy = static_cast<uint8_t>(std::clamp(share * 255 + 0.5, 1.0, 255.0));
    open_ = kNone;
  }

  int shift_;
  int64_t first_;
  std::vector<Bucket> buckets_;
  std::vector<int64_t> times_;  // In the open bucket, by signature.
  std::vector<uint32_t> touched_;
  size_t open_ = kNone;
};

std::string PackBuckets(std::span<const Bucket> buckets) {
  std::vector<uint64_t> values(buckets.size());
  std::string planes;
  const auto append = [&](auto of, int width) {
    for (size_t i = 0; i < buckets.size(); ++i) values[i] = of(buckets[i]);
    AppendPlanes(values, width, &planes);
  };
  append([](const Bucket& bucket) { return uint64_t{bucket.signature}; }, 4);
  append([](const Bucket& bucket) { return uint64_t{bucket.busy}; }, 1);
  append([](const Bucket& bucket) { return uint64_t{bucket.events}; }, 2);
  return Deflate(planes);
}

}  // namespace

std::vector<Bucket> MakeBuckets(std::span<const LaneEvent> events, int64_t bucket_ns,
                                size_t signatures) {
  if (events.empty()) return {};
  const int shift = std::countr_zero(static_cast<uint64_t>(bucket_ns));
  const Extent extent = ExtentOf(events);
  BucketMaker maker(shift, PyramidPlaceOf(extent.start_ns, shift),
                    static_cast<size_t>(CountOf(extent, shift)), signatures);
  int64_t reach_ns = extent.start_ns;
  for (const LaneEvent& event : events) {
    maker.Begin(event);
    maker.Add(std::max(event.start_ns, reach_ns), event.end_ns(), event.signature);
    reach_ns = std::max(reach_ns, event.end_ns());
  }
  return maker.Finish();
}

std::vector<Level> MakePyramid(std::span<const LaneEvent> events, size_t signatures) {
  if (events.empty()) return {};
  const Extent extent = ExtentOf(events);
  const size_t wanted = std::clamp(std::bit_ceil(events.size()), kLeastBuckets, kMaxBuckets);
  int shift = 0;
  while (CountOf(extent, shift) > wanted) ++shift;
  std::vector<Level> levels;
  constexpr int kFactorBits = 2;
  static_assert(1 << kFactorBits == kLevelFactor);
  for (; shift <= 62; shift += kFactorBits) {
    Level level;
    level.bucket_ns = int64_t{1} << shift;
    level.start_ns = PyramidPlaceOf(extent.start_ns, shift) * level.bucket_ns;
    const std::vector<Bucket> buckets = MakeBuckets(events, level.bucket_ns, signatures);
    level.count = buckets.size();
    level.packed = PackBuckets(buckets);
    levels.push_back(std::move(level));
    if (buckets.size() <= kLeastBuckets) break;
  }
  return levels;
}

}  // namespace oplens::report

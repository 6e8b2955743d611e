#include "prof/run/memory_curve.h"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace oplens::prof {
namespace {

std::vector<size_t> All(size_t count) {
  std::vector<size_t> all(count);
  std::iota(all.begin(), all.end(), size_t{0});
  return all;
}

/// Divides the points between first and last of `count` into buckets, larger ones first.
class Buckets {
 public:
  Buckets(size_t count, size_t buckets)
      : each_((count - 2) / buckets), larger_((count - 2) % buckets) {}
  size_t BeginOf(size_t bucket) const { return 1 + bucket * each_ + std::min(bucket, larger_); }

 private:
  size_t each_;
  size_t larger_;
};

}  // namespace

std::vector<size_t> ThinByExtremes(std::span<const int64_t> values, size_t most) {
  if (values.size() <= most) return All(values.size());
  const size_t count = (most - 2) / 2;
  const Buckets buckets(values.size(), count);
  std::vector<size_t> kept = {0};
  for (size_t bucket = 0; bucket < count; ++bucket) {
    size_t least = buckets.BeginOf(bucket);
    size_t largest = least;
    for (size_t i = least; i < buckets.BeginOf(bucket + 1); ++i) {
      if (values[i] < values[least]) least = i;
      if (values[i] > values[largest]) largest = i;
    }
    kept.push_back(std::min(least, largest));
    if (least != largest) kept.push_back(std::max(least, largest));
  }
  kept.push_back(values.size() - 1);
  return kept;
}

std::vector<size_t> ThinByTriangles(std::span<const double> times, std::span<const double> values,
                                    size_t most) {
  if (values.size() <= most) return All(values.size());
  const size_t count = most - 2;
  const Buckets buckets(values.size(), count);
  std::vector<size_t> kept = {0};
  for (size_t bucket = 0; bucket < count; ++bucket) {
    const size_t begin = buckets.BeginOf(bucket);
    const size_t end = buckets.BeginOf(bucket + 1);
    // The last bucket is followed by the last point alone.
    const size_t next_end = bucket + 1 < count ? buckets.BeginOf(bucket + 2) : values.size();
    double time = 0;
    double value = 0;
    for (size_t i = end; i < next_end; ++i) {
      time += times[i];
      value += values[i];
    }
    time /= static_cast<double>(next_end - end);
    value /= static_cast<double>(next_end - end);
    const size_t before = kept.back();
    size_t best = begin;
    double best_area = -1;
    for (size_t i = begin; i < end; ++i) {
      const double area = std::abs((times[before] - time) * (values[i] - values[before]) -
                                   (times[before] - times[i]) * (value - values[before]));
      if (area > best_area) {
        best = i;
        best_area = area;
      }
    }
    kept.push_back(best);
  }
  kept.push_back(values.size() - 1);
  return kept;
}

}  // namespace oplens::prof

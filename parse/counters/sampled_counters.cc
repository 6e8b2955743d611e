#include "parse/counters/sampled_counters.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <iterator>
#include <limits>
#include <map>
#include <set>
#include <utility>

#include "base/saturating.h"
#include "parse/counters/counter_metrics.h"

namespace oplens::parse {
namespace {

/// The samples of one GPU, in the order of their times.
class GpuSamples {
 public:
  explicit GpuSamples(std::vector<CounterSample> values) : values_(std::move(values)) {
    std::sort(values_.begin(), values_.end(), [](const CounterSample& a, const CounterSample& b) {
      return std::pair(a.start_ns, a.metric) < std::pair(b.start_ns, b.metric);
    });
    for (size_t i = 0; i < values_.size(); ++i) {
      if (i > 0 && values_[i].start_ns == values_[i - 1].start_ns) continue;
      starts_.push_back(values_[i].start_ns);
      firsts_.push_back(i);
    }
    firsts_.push_back(values_.size());
    std::vector<int64_t> lengths;
    for (size_t i = 0; i + 1 < starts_.size(); ++i) lengths.push_back(LengthOf(i));
    if (lengths.empty()) return;
    const auto middle = lengths.begin() + static_cast<ptrdiff_t>(lengths.size() / 2);
    std::nth_element(lengths.begin(), middle, lengths.end());
    interval_ns_ = *middle;
  }

  int64_t interval_ns() const { return interval_ns_; }

  /// The figures of a kernel that ran alone; nullopt if samples cover less than half of it.
  std::optional<KernelCounters> Of(const Kernel& kernel, const StringPool& strings) const {
    const auto first = std::lower_bound(starts_.begin(), starts_.end(), kernel.start_ns);
    int64_t covered_ns = 0;
    int64_t sample_count = 0;
    std::map<StringId, Sums> sums;
    for (auto i = static_cast<size_t>(first - starts_.begin());
         i + 1 < starts_.size() && starts_[i + 1] <= kernel.end_ns; ++i) {
      const int64_t length_ns = LengthOf(i);
      if (length_ns / 3 * 2 > interval_ns_) continue;
      SaturatingAdd(&covered_ns, length_ns);
      ++sample_count;
      for (size_t at = firsts_[i]; at < firsts_[i + 1]; ++at) {
        Sums& own = sums[values_[at].metric];
        own.sum += values_[at].value;
        own.by_time += values_[at].value * static_cast<double>(length_ns);
        ++own.count;
      }
    }
    const int64_t duration_ns = SaturatingDifference(kernel.end_ns, kernel.start_ns);
    if (covered_ns == 0 || covered_ns < duration_ns - covered_ns) return std::nullopt;
    const double whole = static_cast<double>(duration_ns) / static_cast<double>(covered_ns);
    MetricValues metrics;
    for (const auto& [name, own] : sums) {
      const std::string_view text = strings.View(name);
      const std::optional<CounterMetric> metric = CounterMetricOf(text);
      // A metric that some sample lacks, or has twice, is not known.
      if (!metric || *metric == CounterMetric::kDuration || own.count != sample_count) continue;
      metrics.Set(*metric, text,
                  *metric == CounterMetric::kAchievedOccupancy
                      ? own.by_time / static_cast<double>(covered_ns)
                      : own.sum * whole);
    }
    return metrics.Counters(strings.View(kernel.name));
  }

 private:
  struct Sums {
    double sum = 0;
    double by_time = 0;
    int64_t count = 0;
  };

  int64_t LengthOf(size_t sample) const {
    return SaturatingDifference(starts_[sample + 1], starts_[sample]);
  }

  std::vector<CounterSample> values_;
  std::vector<int64_t> starts_;  // Of the samples.
  std::vector<size_t> firsts_;   // Into values_; one more than there are samples.
  int64_t interval_ns_ = 0;      // Median.
};

constexpr size_t kNoKernel = SIZE_MAX;

struct DeviceSpan {
  int64_t start_ns;
  int64_t end_ns;
  size_t kernel;  // kNoKernel for a copy or memset.
};

/// The kernels of one GPU that no other work of it overlaps.
std::vector<size_t> KernelsAlone(std::vector<DeviceSpan> spans) {
  std::sort(spans.begin(), spans.end(), [](const DeviceSpan& a, const DeviceSpan& b) {
    return std::pair(a.start_ns, a.end_ns) < std::pair(b.start_ns, b.end_ns);
  });
  std::vector<size_t> alone;
  int64_t latest_ns = std::numeric_limits<int64_t>::min();
  for (size_t i = 0; i < spans.size(); ++i) {
    const bool before = latest_ns <= spans[i].start_ns;
    const bool after = i + 1 == spans.size() || spans[i + 1].start_ns >= spans[i].end_ns;
    if (before && after && spans[i].kernel != kNoKernel) alone.push_back(spans[i].kernel);
    latest_ns = std::max(latest_ns, spans[i].end_ns);
  }
  return alone;
}

}  // namespace

SampledCounters::SampledCounters(const Trace& trace) {
  any_ = !trace.counter_samples.empty();
  if (!any_) return;
  std::map<int32_t, std::vector<CounterSample>> by_device;
  std::set<StringId> metrics;
  for (const CounterSample& sample : trace.counter_samples) {
    by_device[sample.device_id].push_back(sample);
    metrics.insert(sample.metric);
  }
  for (const StringId name : metrics) {
    const std::string_view text = trace.strings.View(name);
    if (!CounterMetricOf(text)) unread_.emplace_back(text);
  }
  std::sort(unread_.begin(), unread_.end());
  std::map<int32_t, std::vector<DeviceSpan>> spans;
  for (size_t i = 0; i < trace.kernels.size(); ++i) {
    const Kernel& kernel = trace.kernels[i];
    ++kernel_count_;
    if (!kernel.timed() || kernel.end_ns <= kernel.start_ns) continue;
    spans[kernel.device_id].push_back({kernel.start_ns, kernel.end_ns, i});
  }
  for (const MemoryCopy& copy : trace.copies) {
    spans[copy.device_id].push_back({copy.start_ns, copy.end_ns, kNoKernel});
  }
  for (const MemorySet& set : trace.sets) {
    spans[set.device_id].push_back({set.start_ns, set.end_ns, kNoKernel});
  }
  rows_.assign(trace.kernels.size(), kNone);
  for (auto& [device_id, values] : by_device) {
    const GpuSamples samples(std::move(values));
    if (interval_ns_ == 0) interval_ns_ = samples.interval_ns();
    for (const size_t kernel : KernelsAlone(std::move(spans[device_id]))) {
      std::optional<KernelCounters> counters = samples.Of(trace.kernels[kernel], trace.strings);
      if (!counters) continue;
      rows_[kernel] = static_cast<uint32_t>(counters_.size());
      counters_.push_back(*counters);
    }
  }
}

std::string SampledCounters::Sentence() const {
  if (!any_) return {};
  const std::string rate =
      interval_ns_ == 0 ? "once"
                        : fmt::format("every {:.3f} ms", static_cast<double>(interval_ns_) / 1e6);
  std::string text = fmt::format(
      "counters of whole GPUs, sampled {}, tell of {} of {} kernels: those that ran alone and are "
      "covered by samples for half of their time or more",
      rate, counters_.size(), kernel_count_);
  if (!unread_.empty()) text += fmt::format("; no figure comes from {}", fmt::join(unread_, ", "));
  return text;
}

}  // namespace oplens::parse

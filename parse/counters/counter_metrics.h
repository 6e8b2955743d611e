#ifndef OPLENS_PARSE_COUNTERS_COUNTER_METRICS_H_
#define OPLENS_PARSE_COUNTERS_COUNTER_METRICS_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "parse/model/kernel_counters.h"

namespace oplens::parse {

/// A metric of Nsight Compute that is read, whether counted by multiprocessor (sm__) or by its
/// partitions (smsp__).
enum class CounterMetric : uint8_t {
  kFadd,
  kFmul,
  kFfma,
  kDadd,
  kDmul,
  kDfma,
  kHfma,
  kTensorInstructions,
  kTensorInstructionsOfKind,  ///< By operation; several add up.
  kTensorOps,                 ///< By types of factors and result; several add up.
  kDramBytes,
  kDramBytesRead,
  kDramBytesWritten,
  kDramSectorsRead,
  kDramSectorsWritten,
  kL2Bytes,
  kL2Sectors,
  kDuration,
  kAchievedOccupancy,
  kBlocks,   ///< "Grid Size" of the page details.
  kThreads,  ///< "Block Size".
};
inline constexpr size_t kCounterMetricCount = static_cast<size_t>(CounterMetric::kThreads) + 1;

/// nullopt for a metric that is not read.
std::optional<CounterMetric> CounterMetricOf(std::string_view name);

/// The metrics of one kernel. Of a metric that comes several times the first value counts.
class MetricValues {
 public:
  void Set(CounterMetric metric, std::string_view name, double value);
  std::optional<int64_t> Whole(CounterMetric metric) const;
  /// `kernel`: its name, which may tell the size of its Tensor Core instructions.
  KernelCounters Counters(std::string_view kernel) const;

 private:
  struct Part {
    std::string name;
    double value = 0;
  };
  std::optional<double> Of(CounterMetric metric) const {
    return values_[static_cast<size_t>(metric)];
  }
  std::optional<double> SumOf(CounterMetric metric) const;
  std::optional<double> CoreFlops() const;
  std::optional<double> TensorOps() const;
  std::optional<double> TensorInstructions(std::string_view kernel) const;
  std::optional<double> TensorFlops(std::string_view kernel) const;
  std::optional<double> DramBytes() const;

  std::array<std::optional<double>, kCounterMetricCount> values_;
  std::vector<Part> parts_[2];  // Of kTensorInstructionsOfKind, kTensorOps.
};

}  // namespace oplens::parse

#endif  // OPLENS_PARSE_COUNTERS_COUNTER_METRICS_H_

#ifndef OPLENS_PROF_VIEWS_STREAMS_UTILISATION_H_
#define OPLENS_PROF_VIEWS_STREAMS_UTILISATION_H_

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "base/sums.h"
#include "prof/price/priced_kernel.h"

namespace oplens::prof {

/// Model FLOPs utilisation: the time that the matrix products of a run would take at the peak rates
/// of its GPUs, over the time from the first kernel to the last, summed over the GPUs of all ranks.
/// With one data type that is matrix FLOPs / (time x peak). Products recomputed for the backward
/// pass (Phase::kRecompute) add no FLOPs, only time.
class Utilisation {
 public:
  Utilisation() = default;
  Utilisation(const Utilisation&) = delete;
  Utilisation& operator=(const Utilisation&) = delete;

  /// `peak_flops_per_s`: best dense peak for the kernel's product; 0: unknown.
  void Add(const PricedKernel& row, double peak_flops_per_s);
  /// Adds a graph replay whose kernels are not in the file: time with unknown FLOPs.
  void AddReplay(const KernelRecord& record);
  /// The next input has another clock.
  void EndInput();
  /// Adds the results of other inputs. Precondition: EndInput() of both.
  void Merge(const Utilisation& other) { MergeMembers(this, other); }

  /// Percent; nullopt without a peak, a product or a time, or if a kernel has no start.
  std::optional<double> Percent() const;
  /// FLOPs of matrix products whose peak is known.
  double model_flops() const { return model_flops_; }

  /// One sentence, or none if no peak or product is known.
  std::vector<std::string> Sentences() const;

 private:
  struct Span {
    int64_t first_ns = 0;
    int64_t last_ns = 0;
  };

  double WallNs() const;
  void AddSpan(const KernelRecord& record);

  using Spans = std::map<std::pair<std::string, int64_t>, Span>;  // By rank and device.

  Spans spans_;
  Spans::iterator last_ = spans_.end();
  double ended_wall_ns_ = 0;
  double model_flops_ = 0;
  double recomputed_flops_ = 0;
  double unrated_flops_ = 0;  // Of products without a known peak for the GPU or type.
  double ideal_s_ = 0;
  Sum timed_ns_;
  Sum unknown_ns_;   // Time of kernels of unknown FLOPs.
  Sum measured_ns_;  // Time of kernels whose FLOPs the hardware counted.
  Count replays_;
  All starts_known_;

 public:
  /// Precondition: EndInput().
  static constexpr std::tuple kMembers{
      &Utilisation::ended_wall_ns_, &Utilisation::model_flops_, &Utilisation::recomputed_flops_,
      &Utilisation::unrated_flops_, &Utilisation::ideal_s_,     &Utilisation::timed_ns_,
      &Utilisation::unknown_ns_,    &Utilisation::measured_ns_, &Utilisation::replays_,
      &Utilisation::starts_known_};
};

}  // namespace oplens::prof

#endif  // OPLENS_PROF_VIEWS_STREAMS_UTILISATION_H_

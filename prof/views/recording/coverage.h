#ifndef OPLENS_PROF_VIEWS_RECORDING_COVERAGE_H_
#define OPLENS_PROF_VIEWS_RECORDING_COVERAGE_H_

#include <array>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "base/sums.h"
#include "parse/model/family.h"
#include "parse/model/recording_advice.h"
#include "prof/price/priced_kernel.h"

namespace oplens::prof {

/// How much time the kernels of some rows took, and for how much of it a question is answered.
class Coverage {
 public:
  /// `family`: of the kernel's profile.
  void Add(const PricedKernel& row, Family family = Family::kUnknown);
  /// A graph replay whose kernels the file hides: its span bounds from above how long the GPU was
  /// busy. Between the kernels, in the order of their starts.
  void AddReplay(const KernelRecord& record);
  /// What was added so far has another clock than what comes.
  void EndInput();
  /// Adds what was found of other inputs; after EndInput() of both.
  void Merge(const Coverage& other) { MergeMembers(this, other); }

  int64_t kernel_count() const { return kernel_count_; }
  /// The sum over all timed kernels, ns.
  int64_t kernel_ns() const { return kernel_ns_; }
  /// The time in which at least one kernel ran, summed over the GPUs of each rank, ns. -1 when a
  /// kernel's start is not known, or kernels of a GPU did not come in the order of their starts. An
  /// upper bound where there are graph replays.
  int64_t BusyNs() const;
  /// Time of the kernels that have this, ns.
  int64_t op_ns() const { return op_ns_; }
  /// Of op_ns(): what tells the op is this.
  int64_t evidence_ns(Evidence evidence) const {
    return evidence_ns_[static_cast<size_t>(evidence)];
  }
  int64_t shapes_ns() const { return shapes_ns_; }  ///< The op's call has a tensor argument.
  int64_t direction_ns() const { return direction_ns_; }
  int64_t flops_ns() const { return flops_ns_; }
  int64_t bytes_ns() const { return bytes_ns_; }
  int64_t launch_ns() const { return launch_ns_; }  ///< The launch call is in the file.
  int64_t range_ns() const { return range_ns_; }    ///< Some range encloses the launch.

  /// Sentences for standard error: the times, and last the shares.
  std::vector<std::string> Facts() const;

  /// A question that is not answered for all of the time, and what to record or write so that it
  /// is answered for more of it.
  struct Gap {
    std::string_view raises;  ///< The shares that the remedy raises: "shapes, FLOPs, bytes".
    Lack lack = {};           ///< What to record.
    double share_pct = 0;     ///< Of kernel time.
    std::string_view remedy;

    std::string Sentence() const;
  };
  /// Those whose remedy is known and is not followed already.
  std::vector<Gap> Gaps() const;

  /// All of these as sentences.
  std::vector<std::string> Sentences() const;

 private:
  /// When a GPU was busy. Kernels must come in the order of their starts, as parse writes them.
  struct Busy {
    int64_t closed_ns = 0;  ///< Of all stretches but the last.
    int64_t start_ns = 0;   ///< Of the last stretch.
    int64_t end_ns = 0;
    bool any = false;

    /// False when the kernel starts before the last stretch.
    bool Add(int64_t start, int64_t end);
    int64_t Total() const;
  };

  /// Why a question is not answered, with a remedy. Numbers index a table in coverage.cc.
  static constexpr size_t kGapCount = 8;

  /// Of the kernels of a family: what the recording shows that it holds, so that nobody is told to
  /// record it.
  struct Recorded {
    Any launches;
    Any ranges;
    Any shapes;

    static constexpr std::tuple kMembers{&Recorded::launches, &Recorded::ranges, &Recorded::shapes};
  };
  /// Time of the kernels that have a gap.
  using GapTimes = std::array<std::array<Sum, kGapCount>, kFamilyCount>;

  /// Shares of kernel time by what tells the op; "" where the ranges alone do.
  std::string EvidenceShares() const;
  std::string_view RemedyFor(size_t gap, Family family) const;
  void AddGaps(const PricedKernel& row, Family family);
  void AddBusy(const KernelRecord& record);
  Busy* BusyOf(const KernelRecord& record);

  std::map<std::pair<std::string, int64_t>, Busy> busy_;  // By rank and device.
  Busy* last_busy_ = nullptr;
  std::string last_rank_;
  int64_t last_device_ = 0;
  Sum ended_busy_ns_;  // Of the inputs that ended.
  Count kernel_count_;
  Sum kernel_ns_;
  Count replay_count_;
  Sum replay_ns_;
  Sum op_ns_;
  Sum shapes_ns_;
  Sum direction_ns_;
  Sum flops_ns_;
  Sum bytes_ns_;
  Sum launch_ns_;
  Sum range_ns_;
  std::array<Sum, kEvidenceCount> evidence_ns_;  // With an op, by what tells it.
  GapTimes gap_ns_;
  std::array<Recorded, kFamilyCount> recorded_;
  bool launched_ = false;  // A kernel of the input so far has its launch.
  All busy_known_;

 public:
  /// After EndInput().
  static constexpr std::tuple kMembers{
      &Coverage::kernel_count_, &Coverage::replay_count_, &Coverage::ended_busy_ns_,
      &Coverage::kernel_ns_,    &Coverage::replay_ns_,    &Coverage::op_ns_,
      &Coverage::shapes_ns_,    &Coverage::direction_ns_, &Coverage::flops_ns_,
      &Coverage::bytes_ns_,     &Coverage::launch_ns_,    &Coverage::range_ns_,
      &Coverage::evidence_ns_,  &Coverage::gap_ns_,       &Coverage::recorded_,
      &Coverage::busy_known_};
};

}  // namespace oplens::prof

#endif  // OPLENS_PROF_VIEWS_RECORDING_COVERAGE_H_

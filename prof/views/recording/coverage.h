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

/// Total time of kernels, and how much of it has an answer to each question.
class Coverage {
 public:
  /// `family`: of the kernel's profile.
  void Add(const PricedKernel& row, Family family = Family::kUnknown);
  /// Adds a graph replay whose kernels are not in the file: its span is an upper bound on the GPU's
  /// busy time. Kernels and replays must come in order of start.
  void AddReplay(const KernelRecord& record);
  /// The next input has another clock.
  void EndInput();
  /// Adds the results of other inputs. Precondition: EndInput() of both.
  void Merge(const Coverage& other) { MergeMembers(this, other); }

  int64_t kernel_count() const { return kernel_count_; }
  int64_t kernel_ns() const { return kernel_ns_; }
  /// Time during which at least one kernel ran, ns, summed over the GPUs of each rank. An upper
  /// bound if there are graph replays. -1 if a start is unknown or kernels of a GPU did not come in
  /// order of start.
  int64_t BusyNs() const;
  /// Time of the kernels that have this, ns.
  int64_t op_ns() const { return op_ns_; }
  /// The part of op_ns() whose op is known by this evidence.
  int64_t evidence_ns(Evidence evidence) const {
    return evidence_ns_[static_cast<size_t>(evidence)];
  }
  /// The part of evidence_ns(Evidence::kCapture) that is inferred.
  int64_t matched_capture_ns() const { return matched_capture_ns_; }
  int64_t shapes_ns() const { return shapes_ns_; }  ///< The op's call has a tensor argument.
  int64_t direction_ns() const { return direction_ns_; }
  int64_t flops_ns() const { return flops_ns_; }
  /// The part of it that names and launches alone tell.
  int64_t flops_by_launch_ns() const { return flops_by_launch_ns_; }
  int64_t bytes_ns() const { return bytes_ns_; }
  int64_t launch_ns() const { return launch_ns_; }  ///< The launch call is in the file.
  int64_t range_ns() const { return range_ns_; }    ///< Some range encloses the launch.

  /// Sentences for standard error: the times, then the shares.
  std::vector<std::string> Facts() const;

  /// A question unanswered for part of the time, and what to record or write to answer it.
  struct Gap {
    std::string_view raises;  ///< Shares that the remedy raises: "shapes, FLOPs, bytes".
    MissingFact lack = {};    ///< What to record.
    double share_pct = 0;     ///< Of kernel time.
    std::string_view remedy;

    std::string Sentence() const;
  };
  /// Gaps with a known remedy that is not followed already.
  std::vector<Gap> Gaps() const;

  /// Facts(), then the sentences of Gaps().
  std::vector<std::string> Sentences() const;

 private:
  /// When a GPU was busy. Kernels must come in order of start, as parse writes them.
  struct Busy {
    int64_t closed_ns = 0;  ///< Of all intervals but the last.
    int64_t start_ns = 0;   ///< Of the last interval.
    int64_t end_ns = 0;
    bool any = false;

    /// Returns false if the kernel starts before the last interval.
    bool Add(int64_t start, int64_t end);
    int64_t Total() const;
  };

  /// Number of gaps; they index a table in coverage.cc.
  static constexpr size_t kGapCount = 8;

  /// What the recording of a family holds, so that no remedy asks for it.
  struct Recorded {
    Any launches;
    Any ranges;
    Any shapes;
  };
  /// Time of kernels by family and gap.
  using GapTimes = std::array<std::array<Sum, kGapCount>, kFamilyCount>;

  /// " (70.0 % by name)": shares of kernel time by evidence of the op other than ranges; "" if all
  /// comes from ranges.
  std::string EvidenceShares() const;
  std::string_view RemedyFor(size_t gap, Family family) const;
  void AddGaps(const PricedKernel& row, Family family);
  void AddBusy(const KernelRecord& record);
  Busy* BusyOf(const KernelRecord& record);

  std::map<std::pair<std::string, int64_t>, Busy> busy_;  // By rank and device.
  Busy* last_busy_ = nullptr;
  std::string last_rank_;
  int64_t last_device_ = 0;
  Sum ended_busy_ns_;  // Of ended inputs.
  Count kernel_count_;
  Sum kernel_ns_;
  Count replay_count_;
  Sum replay_ns_;
  Sum op_ns_;
  Sum shapes_ns_;
  Sum direction_ns_;
  Sum flops_ns_;
  Sum flops_by_launch_ns_;
  Sum bytes_ns_;
  Sum launch_ns_;
  Sum range_ns_;
  std::array<Sum, kEvidenceCount> evidence_ns_;  // With an op, by its evidence.
  Sum matched_capture_ns_;
  GapTimes gap_ns_;
  std::array<Recorded, kFamilyCount> recorded_;
  bool launched_ = false;  // Some kernel of this input has its launch.
  All busy_known_;

 public:
  /// Precondition: EndInput().
  static constexpr std::tuple kMembers{
      &Coverage::kernel_count_,       &Coverage::replay_count_,
      &Coverage::ended_busy_ns_,      &Coverage::kernel_ns_,
      &Coverage::replay_ns_,          &Coverage::op_ns_,
      &Coverage::shapes_ns_,          &Coverage::direction_ns_,
      &Coverage::flops_ns_,           &Coverage::bytes_ns_,
      &Coverage::launch_ns_,          &Coverage::range_ns_,
      &Coverage::evidence_ns_,        &Coverage::gap_ns_,
      &Coverage::recorded_,           &Coverage::busy_known_,
      &Coverage::matched_capture_ns_, &Coverage::flops_by_launch_ns_};
};

}  // namespace oplens::prof

#endif  // OPLENS_PROF_VIEWS_RECORDING_COVERAGE_H_

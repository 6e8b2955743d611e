#ifndef OPLENS_PROF_SUMMARY_FILE_SUMMARY_SINK_H_
#define OPLENS_PROF_SUMMARY_FILE_SUMMARY_SINK_H_

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/path_cutter.h"
#include "prof/price/kernel_sink.h"
#include "prof/run/selection.h"
#include "prof/summary_file/summary_file.h"
#include "prof/views/run_views.h"

namespace oplens::prof {

class Run;
class Steps;

/// Facts of the runs of a summary that decide whether two summaries are comparable, as texts by
/// key. Unknown facts have no key.
///
///  - `gpu`: names of the GPUs that worked, sorted, "; " between them; `gpus`: how many worked
///  - `gpu_clock_hz`, `gpu_memory_bytes`: of these, in the same form
///  - `ranks`: inputs; `world_size`: as recorded
///  - `steps`: per rank, "20" or "18 to 20"; `cut_steps`: number of incomplete steps of all ranks
///  - `step_source`: "marked", "repetition" or "none"
///  - `selection`: "steps 3 to 7; device 0; time 0 to 5000 ns", unless all was read
///  - `kernels`: of all ranks; `families`: of the profiles, "kineto; nsys"
class RunFacts {
 public:
  explicit RunFacts(const Selection& selection = {}) : selection_(selection) {}

  /// Adds a rank; null if it has records only.
  void Add(const Run* run);
  std::map<std::string, std::string> Texts() const;

 private:
  void AddSteps(const Steps& steps);

  Selection selection_;
  int64_t ranks_ = 0;
  int64_t gpus_ = 0;
  int64_t kernels_ = 0;
  int64_t cut_steps_ = 0;
  std::set<std::string> names_;
  std::set<int64_t> clocks_hz_;
  std::set<int64_t> memories_bytes_;
  std::set<int64_t> step_counts_;
  std::set<int64_t> world_sizes_;
  std::set<std::string> step_sources_;
  std::set<std::string> families_;
};

/// The plans of the views in `list` (as --view; empty or "all": those that save), with words of
/// --by: each as requested and, if it takes `step`, also by step. Throws UsageError for a view that
/// does not save, and as PlanViews.
std::vector<ViewPlan> PlanSummaryViews(std::string_view list, std::string_view by, bool copies);

enum class SummaryTexts : uint8_t {
  /// For others to read: hides names of machines and people. Paths are cut (base/path_cutter.h),
  /// host names are hashed, and the N-th rank named by its file becomes "input N".
  kOfRun,
  kOfInput,  ///< As kOfRun, but ranks have marks.
  kWhole,    ///< No change.
};

class SummarySink : public KernelSink {
 public:
  /// `plans` must outlive this object. `folder`: the working folder; paths are cut relative to it.
  /// `salt`: for host names (HashedHost).
  SummarySink(const std::vector<ViewPlan>& plans, RunOptions options, std::string folder,
              SummaryTexts texts, std::string salt = {})
      : plans_(plans),
        facts_(options.selection),
        runner_(plans, std::move(options), nullptr),
        cutter_(std::move(folder)),
        texts_(texts),
        salt_(std::move(salt)) {}

  void BeginInput(const parse::KernelRecords* profile) override;
  void Add(const PricedKernel& kernel) override;
  bool AddReplay(const PricedKernel& replay) override { return runner_.AddReplay(replay); }
  void EndInput() override;
  void EndLastInput() override;
  std::optional<int64_t> StepOf(const PricedKernel& kernel,
                                std::optional<int64_t> told) const override {
    return runner_.StepOf(kernel, told);
  }
  size_t Lanes() override { return runner_.Lanes(); }
  void TakeHeld(HeldRows* rows) override { runner_.TakeHeld(rows); }
  void Look(size_t lane, const HeldRows& rows) override { runner_.Look(lane, rows); }

  /// After the last input.
  std::vector<std::string> Notes() const { return runner_.Notes(); }
  /// After the last input. `writer`: the version of this oplens.
  SummaryFile Take(std::string_view writer);

 private:
  /// Renames a rank whose name is not a number: it is a file's.
  void NameRank(std::string_view rank);
  std::string Changed(std::string_view text) const;

  const std::vector<ViewPlan>& plans_;
  RunFacts facts_;
  ViewRunner runner_;
  PathCutter cutter_;
  SummaryTexts texts_;
  std::string salt_;
  std::map<std::string, std::string, std::less<>> renamed_;  // Ranks named by files.
  std::string last_rank_;                                    // Of the records.
};

/// The partial of a plan in a summary. `ranks`: names for the marks of SummaryFile::ranks. Throws
/// Error if the view is missing.
std::unique_ptr<Partial> LoadView(const SummaryFile& summary, const ViewPlan& plan,
                                  std::span<const std::string> ranks, std::string_view path);

/// Whether LoadView() finds the view.
bool HoldsView(const SummaryFile& summary, const ViewPlan& plan);

/// Passes a summary's results of each plan, and its collective calls, to `runner`. Throws Error if
/// a view is missing or damaged.
void AddSummary(const SummaryFile& summary, const std::vector<ViewPlan>& plans,
                std::span<const std::string> ranks, std::string_view path, ViewRunner* runner);

}  // namespace oplens::prof

#endif  // OPLENS_PROF_SUMMARY_FILE_SUMMARY_SINK_H_

#ifndef OPLENS_PROF_SUMMARY_FILE_SUMMARY_SINK_H_
#define OPLENS_PROF_SUMMARY_FILE_SUMMARY_SINK_H_

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/path_cutter.h"
#include "prof/price/kernel_sink.h"
#include "prof/summary_file/run_facts.h"
#include "prof/summary_file/summary_file.h"
#include "prof/views/run_views.h"

namespace oplens::prof {

/// Of the views that `list` names (as --view; empty or "all": those that save), with words of --by:
/// each as asked for and, where it takes `step`, with the steps apart too. Throws UsageError for a
/// view that does not save, and as PlanViews.
std::vector<ViewPlan> PlanSummaryViews(std::string_view list, std::string_view by, bool copies);

/// Makes a summary of what it is given. Names of machines and people stay out of it: paths are cut
/// (base/path_cutter.h), and the N-th rank that is called by its file is called "input N".
class SummarySink : public KernelSink {
 public:
  /// `plans` must outlive this object. `folder`: the working folder; paths are cut to what is below
  /// it.
  SummarySink(const std::vector<ViewPlan>& plans, RunOptions options, std::string folder)
      : plans_(plans),
        facts_(options.selection),
        runner_(plans, std::move(options), nullptr),
        cutter_(std::move(folder)) {}

  void BeginInput(const parse::KernelRecords* profile) override;
  void Add(const PricedKernel& kernel) override;
  bool AddReplay(const PricedKernel& replay) override { return runner_.AddReplay(replay); }
  void EndInput() override;
  void EndLastInput() override;
  std::optional<int64_t> StepOf(const PricedKernel& kernel,
                                std::optional<int64_t> told) const override {
    return runner_.StepOf(kernel, told);
  }

  /// After the last input. `writer`: the version of this oplens.
  SummaryFile Take(std::string_view writer);

 private:
  /// A name that is not a number is one of a file.
  void NameRank(std::string_view rank);
  std::string Changed(std::string_view text) const;

  const std::vector<ViewPlan>& plans_;
  RunFacts facts_;
  ViewRunner runner_;
  PathCutter cutter_;
  std::map<std::string, std::string, std::less<>> renamed_;  // Ranks that files name.
  std::string last_rank_;                                    // Of the records.
};

/// What a summary holds of a plan. Throws Error where it has not that view.
std::unique_ptr<Partial> LoadView(const SummaryFile& summary, const ViewPlan& plan,
                                  std::string_view path);

/// Gives what summaries hold of each plan to `runner`. Throws Error where one has not that view, or
/// cannot be read.
void AddSummaries(const std::vector<std::string>& paths, const std::vector<ViewPlan>& plans,
                  ViewRunner* runner);

}  // namespace oplens::prof

#endif  // OPLENS_PROF_SUMMARY_FILE_SUMMARY_SINK_H_

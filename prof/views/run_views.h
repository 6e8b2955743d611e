#ifndef OPLENS_PROF_VIEWS_RUN_VIEWS_H_
#define OPLENS_PROF_VIEWS_RUN_VIEWS_H_

#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "prof/price/kernel_sink.h"
#include "prof/run/run.h"
#include "prof/views/calls/before_calls.h"
#include "prof/views/collectives/collective_matches.h"
#include "prof/views/common/view.h"
#include "prof/views/view_plan.h"

namespace oplens::prof {

/// Makes all views in one pass over the kernels: one partial per view and rank, merged as ranks
/// end. With the last input, views are emitted one after the other, each freed before the next
/// reads the run; of a large run beside each other if the destination's tables_apart(). Tables
/// without --view (ViewOptions::plain) read no run and have one partial for all inputs.
///
/// If ThreadLimit() allows, up to that many threads share the views of a large run: each view takes
/// the run's beginning, its kernels in batches, and its end on one thread at a time, beside others,
/// and beside the pricing of later batches.
class ViewRunner : public KernelSink {
 public:
  /// Tables go to `destination`, which must outlive this object; null: results are kept for
  /// TakePartials().
  ViewRunner(const std::vector<ViewPlan>& plans, RunOptions options, Destination* destination);
  ~ViewRunner() override;

  void BeginInput(const parse::KernelRecords* profile) override;
  void Add(const PricedKernel& kernel) override;
  bool AddReplay(const PricedKernel& replay) override;
  /// Adds a copy or memset, for tables of copies without --view.
  void AddCopy(const CopyRow& copy);
  void EndInput() override { EndBeside({}, false); }
  void EndLastInput() override { EndBeside({}, true); }
  /// EndInput(), or if `last` EndLastInput(), beside `work`, which may use run() as views do.
  void EndBeside(const std::function<void()>& work, bool last);
  std::optional<int64_t> StepOf(const PricedKernel& kernel,
                                std::optional<int64_t> told) const override;
  size_t Lanes() override {
    holds_ = large_;
    return holds_ ? lanes_.size() : 0;
  }
  void TakeHeld(HeldRows* rows) override;
  void Look(size_t lane, const HeldRows& rows) override;

  /// After the last input: emits the remaining views. Returns the number of rows of the view with
  /// the fewest, ignoring views that may be empty.
  int64_t Finish();
  /// After Finish(): what readers of the rows must know.
  std::vector<std::string> Notes() const;
  /// After the last input, without a destination: the results, one partial per plan, before
  /// AddCalls.
  std::vector<std::unique_ptr<Partial>> TakePartials();
  /// As TakePartials(): the collective calls, if a view takes them.
  CollectiveSet TakeCalls();
  /// Adds results found elsewhere, one partial per plan, and calls, as if from another input.
  void AddPartials(std::vector<std::unique_ptr<Partial>> partials, CollectiveSet calls);
  /// Whether the current input's kernel is selected.
  bool Selects(const PricedKernel& kernel);
  /// The selected part of the current input; null between inputs and for records.
  const Run* run() const { return run_ ? &*run_ : nullptr; }

 private:
  struct Running;
  /// Views that share something: one thread looks after them.
  using Lane = std::vector<Running*>;

  /// Whether a run is worth threads.
  static bool IsLarge(const parse::KernelRecords* profile);
  /// For a large run. `first`: done beside; empty: nothing.
  void ForEachLane(const std::function<void(const Lane&)>& work,
                   const std::function<void()>& first = {});
  void Give(const HeldRow& held, Running* view) const;
  void Begin(const parse::KernelRecords* profile);
  void MakePartials();
  void EndRun();
  void FinishAll();

  RunOptions options_;
  bool plain_;
  bool tables_apart_;  // Destination::tables_apart().
  std::vector<std::unique_ptr<Running>> views_;
  std::vector<Lane> lanes_;
  bool large_ = false;  // The current run: IsLarge().
  bool holds_ = false;
  HeldRows held_;
  const Run* RunOf(const Running& view) const;
  void NoteWhatIsLookedAt();

  /// The calls of all ranks, matched; calls added later are not included.
  const CollectiveMatches& Matches();
  /// All inputs ended: emits the rows of a view.
  void Finish(Running* view);

  CollectiveSet calls_;                     // If a view takes them.
  std::optional<BeforeCallsMaker> before_;  // Of the current run, if there are calls.
  std::optional<CollectiveMatches> matches_;
  std::optional<Run> run_;
  std::optional<Run> whole_run_;  // If part of the run is selected: the whole run.
  std::set<std::string> notes_;
  std::optional<int64_t> first_start_ns_;  // Of the kernels of records.
};

}  // namespace oplens::prof

#endif  // OPLENS_PROF_VIEWS_RUN_VIEWS_H_

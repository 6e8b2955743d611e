#ifndef OPLENS_PROF_VIEWS_RUN_VIEWS_H_
#define OPLENS_PROF_VIEWS_RUN_VIEWS_H_

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

/// Makes all views of one pass over the kernels: a partial a view and rank, merged as ranks end.
/// With the last input they come one after the other, each gone before the next looks at the run.
/// Tables without --view (ViewOptions::plain) look at no run: theirs is one partial of all inputs.
class ViewRunner : public KernelSink {
 public:
  /// Tables go to `destination`, which must outlive this object; null: what is found is kept for
  /// TakePartials().
  ViewRunner(const std::vector<ViewPlan>& plans, RunOptions options, Destination* destination);
  ~ViewRunner() override;

  void BeginInput(const parse::KernelRecords* profile) override;
  void Add(const PricedKernel& kernel) override;
  bool AddReplay(const PricedKernel& replay) override;
  /// A copy or fill, of tables of copies without --view.
  void AddCopy(const CopyRow& copy);
  void EndInput() override { End(false); }
  void EndLastInput() override { End(true); }
  std::optional<int64_t> StepOf(const PricedKernel& kernel,
                                std::optional<int64_t> told) const override;

  /// After the last input: the rows of the views that still keep them. Answers how many rows that
  /// view has that has the fewest, but for those that may have none.
  int64_t Finish();
  /// After Finish(): what readers of the rows must know.
  std::vector<std::string> Notes() const;
  /// Without a destination, after the last input: what was found, a partial a plan, before
  /// AddCalls.
  std::vector<std::unique_ptr<Partial>> TakePartials();
  /// Likewise the calls of collectives, where a view takes them.
  CollectiveSet TakeCalls();
  /// Takes over what was found elsewhere, a partial a plan, and the calls, as if of an input more.
  void AddPartials(std::vector<std::unique_ptr<Partial>> partials, CollectiveSet calls);
  /// Whether a kernel of the input at hand is looked at.
  bool Selects(const PricedKernel& kernel);
  /// What is looked at of the input at hand; null between inputs, and of records.
  const Run* run() const { return run_ ? &*run_ : nullptr; }

 private:
  struct Running;

  void Begin(const parse::KernelRecords* profile);
  /// Makes the partials of an input.
  void MakePartials();
  void End(bool last);

  RunOptions options_;
  bool plain_;
  std::vector<std::unique_ptr<Running>> views_;
  const Run* RunOf(const Running& view) const;
  void NoteWhatIsLookedAt();

  /// The calls of all ranks, matched; what is added after is not in it.
  const CollectiveMatches& Matches();
  /// All inputs ended: the rows of a view go out.
  void Finish(Running* view);

  CollectiveSet calls_;                     // Where a view takes them.
  std::optional<BeforeCallsMaker> before_;  // Of the run at hand, where there are calls.
  std::optional<CollectiveMatches> matches_;
  std::optional<Run> run_;
  std::optional<Run> whole_run_;  // Where something is selected: all of it.
  std::set<std::string> notes_;
  std::optional<int64_t> first_start_ns_;  // Of the kernels of records.
};

}  // namespace oplens::prof

#endif  // OPLENS_PROF_VIEWS_RUN_VIEWS_H_

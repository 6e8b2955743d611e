#ifndef OPLENS_PROF_VIEWS_RUN_VIEWS_H_
#define OPLENS_PROF_VIEWS_RUN_VIEWS_H_

#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "prof/price/kernel_sink.h"
#include "prof/table/sink_chain.h"
#include "prof/views/before_calls.h"
#include "prof/views/collective_matches.h"
#include "prof/views/view.h"
#include "prof/where/row_filter.h"

namespace oplens::prof {

/// A view as it is asked for.
struct ViewPlan {
  const View* view = nullptr;
  ViewOptions options;
  std::vector<size_t> places;     ///< Of the fields that are printed.
  std::optional<RowOrder> order;  ///< Of --sort, where the view does not sort itself.
  size_t top = 0;                 ///< The same of --top; 0: all rows.
  /// Something asks for rows or fields of it: a document that is ours gives way to them.
  bool rows_asked = false;
  std::shared_ptr<const Condition> where =
      nullptr;  ///< Of --where: rows that are shown; null: all.
};

/// The fields of a view, with those that its options add; behind them, of rows that may stand for
/// others, kRowKindField.
std::vector<Field> FieldsOf(const View& view, const ViewOptions& options);

/// What --view takes, one line a view, for `--view list`.
std::string ListOfViews();

/// The plan of a list such as "overview,gpu" or "all", with what is asked of each. `by`, `sort`,
/// `top` and `columns` go to the views that know their words; `columns` "" is not given.
/// `in_lines`: for a reader, not for a program. Throws UsageError, naming the word and the valid
/// ones.
struct ViewRequest {
  std::string_view list = {};
  Compat compat = Compat::kNone;
  std::string_view by = {};
  std::string_view sort = {};
  std::string_view columns = {};
  size_t top = 0;
  bool in_lines = false;
  bool narrow = false;  // In a terminal: columns of fixed width.
  bool copies = false;
  std::vector<std::string> what_if = {};
  std::string_view where = {};
  std::string_view option = "--view";  // That `list` is of.
};
/// `kernels` becomes what --where asks of kernels before a view groups them; null for nothing.
std::vector<ViewPlan> PlanViews(const ViewRequest& request,
                                std::unique_ptr<ItemFilter<PricedKernel>>* kernels = nullptr);

/// The same view with its rows by rank and step apart, as far as it takes these words: what two
/// runs are compared by. nullopt where it does not take steps, or is asked for them already.
std::optional<ViewPlan> WithSteps(const ViewPlan& plan);

/// Whether one of these takes the calls of collectives.
bool TakeCalls(std::span<const ViewPlan> plans);

/// The parts of traces that these need.
TraceNeeds NeedsOf(std::span<const ViewPlan> plans);

/// Makes all views of one pass over the kernels: a partial a view and rank, merged as ranks end.
/// With the last input they come one after the other, each gone before the next looks at the run.
class ViewRunner : public KernelSink {
 public:
  /// Tables go to `destination`, which must outlive this object; null: what is found is kept for
  /// TakePartials().
  ViewRunner(const std::vector<ViewPlan>& plans, RunOptions options, Destination* destination);
  ~ViewRunner() override;

  void BeginInput(const parse::KernelRecords* profile) override;
  void Add(const PricedKernel& kernel) override;
  bool AddReplay(const PricedKernel& replay) override;
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
  /// What is looked at of the input at hand; null between inputs, and of records.
  const Run* run() const { return run_ ? &*run_ : nullptr; }

 private:
  struct Running;

  /// Makes the partials of an input.
  void MakePartials();
  void End(bool last);
  /// Whether a kernel of the input at hand is looked at.
  bool Selects(const PricedKernel& kernel);

  RunOptions options_;
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

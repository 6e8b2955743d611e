#include "prof/views/run_views.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>

#include "base/append_format.h"
#include "base/error.h"
#include "base/near_words.h"
#include "base/words.h"
#include "prof/table/row_sinks.h"
#include "prof/table/top_rows.h"
#include "prof/views/give_calls.h"
#include "prof/views/group_key.h"
#include "prof/views/kernel_where.h"
#include "prof/where/read_where.h"

namespace oplens::prof {
namespace {

/// `option`: that names it.
const View& FindView(std::string_view name, std::string_view option) {
  for (const View& view : Views()) {
    if (view.name == name) return view;
  }
  std::vector<std::string_view> names;
  for (const View& view : Views()) names.push_back(view.name);
  names.insert(names.end(), {"all", "list"});
  throw UsageError(fmt::format("{}: {}", option, NoSuchName("view", name, names, "the views are")));
}

std::vector<const View*> ViewsOf(std::string_view list, std::string_view option) {
  std::vector<const View*> views;
  const auto add = [&](const View& view) {
    if (std::find(views.begin(), views.end(), &view) == views.end()) views.push_back(&view);
  };
  for (const std::string_view name : WordsOf(list)) {
    if (name == "all") {
      for (const View& view : Views()) add(view);
    } else {
      add(FindView(name, option));
    }
  }
  return views;
}

/// Gives each view the words of --by that it knows.
void PlanKeys(std::string_view by, std::vector<ViewPlan>* plans) {
  if (by.empty()) return;
  if (std::all_of(plans->begin(), plans->end(),
                  [](const ViewPlan& plan) { return plan.view->by == nullptr; })) {
    throw UsageError(fmt::format("--by: the rows of {} are what they are: no view named has keys",
                                 plans->front().view->name));
  }
  for (const std::string_view word : WordsOf(by)) {
    bool known = false;
    std::string valid;
    std::vector<std::string_view> all;
    for (ViewPlan& plan : *plans) {
      if (plan.view->by == nullptr) continue;
      const std::span<const std::string_view> words = plan.view->by();
      AppendFormat(&valid, "; those of {} are {}", plan.view->name, fmt::join(words, ","));
      all.insert(all.end(), words.begin(), words.end());
      const std::string_view key = plan.view->groups_kernels ? KeyOfWord(word) : word;
      if (std::find(words.begin(), words.end(), key) == words.end()) continue;
      plan.options.by.emplace_back(word);
      known = true;
    }
    if (known) continue;
    throw UsageError(
        fmt::format("--by: {}", NearNames(word, all).empty()
                                    ? fmt::format("there is no key '{}'{}", word, valid)
                                    : NoSuchName("key", word, all, "")));
  }
}

bool HasSortWords(const ViewPlan& plan) {
  return plan.view->sort_words != nullptr && !plan.view->sort_words(plan.options.compat).empty();
}

/// Gives --what-if to the views that follow it.
void PlanWhatIf(const ViewRequest& request, std::vector<ViewPlan>* plans) {
  if (request.what_if.empty()) return;
  bool known = false;
  for (ViewPlan& plan : *plans) {
    if (!plan.view->what_if) continue;
    plan.options.what_if = request.what_if;
    known = true;
  }
  if (!known) throw UsageError("--what-if needs a view that computes anew, such as critical-path");
}

/// Gives each view --sort and --top.
void PlanOrder(const ViewRequest& request, std::vector<ViewPlan>* plans) {
  std::string wrong;
  bool known = request.sort.empty();
  for (ViewPlan& plan : *plans) {
    const bool words = HasSortWords(plan);
    const bool sorts = words || (plan.view->sorts && request.compat == Compat::kNone);
    if (sorts) {
      plan.options.top = request.top;
    } else {
      plan.top = request.top;
    }
    if (request.sort.empty()) continue;
    if (words) {
      const auto valid = plan.view->sort_words(request.compat);
      plan.options.sort = request.sort;
      if (std::find(valid.begin(), valid.end(), request.sort) != valid.end()) {
        known = true;
      } else {
        wrong =
            fmt::format("--sort: {}", NoSuchName("key", request.sort, valid,
                                                 fmt::format("those of {} are", plan.view->name)));
      }
      continue;
    }
    try {
      plan.order = ParseOrder(request.sort, FieldsOf(*plan.view, plan.options));
      if (sorts) {
        plan.options.sort = request.sort;
        plan.order.reset();
      }
      known = true;
    } catch (const UsageError& error) {
      wrong = error.what();
    }
  }
  if (!known) throw UsageError(wrong);
}

/// Gives --where to the one view, and `kernels` what it asks of kernels.
void PlanWhere(const ViewRequest& request, std::vector<ViewPlan>* plans,
               std::unique_ptr<ItemFilter<PricedKernel>>* kernels) {
  if (request.where.empty()) return;
  if (plans->size() > 1) {
    throw UsageError("--where names the columns of one view: give one to --view");
  }
  ViewPlan& plan = plans->front();
  const Compat compat = plan.options.compat;
  if (plan.view->torch && (compat == Compat::kTorch || compat == Compat::kTorchLegacy)) {
    throw UsageError("--where: with --compat torch the table is PyTorch's: leave one of them out");
  }
  std::vector<Field> fields = FieldsOf(*plan.view, plan.options);
  if (!plan.view->groups_kernels || compat != Compat::kNone) {
    plan.where = ReadWhere(request.where, std::vector<WhereScope>{{"row", "rows", fields}}).front();
    return;
  }
  if (plan.options.copies) {
    // Copies are not asked what kernels are.
    plan.options.where =
        ReadWhere(request.where, std::vector<WhereScope>{{"group", "groups", fields}}).front();
    return;
  }
  Where<PricedKernel> where = ReadKernelWhere(request.where, std::move(fields));
  plan.options.where = std::move(where.groups);
  if (kernels != nullptr) *kernels = std::move(where.items);
}

/// The keys, then the figures that fit beside them.
std::string NarrowList(std::span<const Field> fields, std::string_view figures) {
  std::string list;
  for (const Field& field : fields) {
    if (field.fold == Fold::kKey) AppendFormat(&list, "{},", field.key);
  }
  return list.append(figures);
}

/// Says which fields matter most: what was asked for with --by, then those of View::important.
void RankFields(const ViewPlan& plan, std::vector<Field>* fields) {
  const View& view = *plan.view;
  std::string list = fmt::format("{},", fmt::join(plan.options.by, ","));
  list += view.important.empty() ? NarrowList(*fields, view.narrow) : std::string(view.important);
  RankFields(list, fields);
}

void PlanColumns(const ViewRequest& request, std::vector<ViewPlan>* plans) {
  if (!request.columns.empty() && plans->size() > 1) {
    throw UsageError("-c names the columns of one view: give one to --view");
  }
  for (ViewPlan& plan : *plans) {
    const std::vector<Field> fields = FieldsOf(*plan.view, plan.options);
    std::string list = "all";
    if (request.in_lines && !plan.view->some.empty()) list = plan.view->some;
    if (request.narrow && !plan.view->narrow.empty() && plan.options.compat == Compat::kNone) {
      list = NarrowList(fields, plan.view->narrow);
    }
    plan.places = SelectFields(request.columns.empty() ? list : request.columns, fields);
  }
}

constexpr Field kRulesField = {
    "rules",   "Rules",
    "",        FieldType::kText,
    6,         "with --compat: whose rules the row is by: tb, hta, or oplens where these have none",
    Fold::kKey};

/// Says in front of each row by whose rules it is.
class RulesSink : public Sink {
 public:
  RulesSink(std::string_view rules, Sink* sink) : rules_(rules), sink_(sink) {}
  void Begin(std::string_view table, std::vector<Field> fields) override {
    fields.insert(fields.begin(), kRulesField);
    cells_.resize(fields.size());
    sink_->Begin(table, std::move(fields));
  }
  void Row(std::span<const Cell> cells) override {
    cells_.front() = Text(rules_);
    std::copy(cells.begin(), cells.end(), cells_.begin() + 1);
    sink_->Row(cells_);
  }
  void End() override { sink_->End(); }

 private:
  std::string_view rules_;
  Sink* sink_;
  std::vector<Cell> cells_;
};

/// Passes rows on and counts them.
class CountingSink : public Sink {
 public:
  explicit CountingSink(Sink* sink) : sink_(sink) {}
  void Begin(std::string_view table, std::vector<Field> fields) override {
    sink_->Begin(table, std::move(fields));
  }
  void Row(std::span<const Cell> cells) override {
    ++rows_;
    sink_->Row(cells);
  }
  void End() override { sink_->End(); }
  int64_t rows() const { return rows_; }

 private:
  Sink* sink_;
  int64_t rows_ = 0;
};

}  // namespace

namespace {

bool Has(std::span<const Field> fields, std::string_view key) {
  return std::any_of(fields.begin(), fields.end(), [&](const Field& f) { return f.key == key; });
}

}  // namespace

std::vector<Field> FieldsOf(const View& view, const ViewOptions& options) {
  if (view.make != nullptr) {
    std::vector<Field> all = view.make(options)->Fields();
    if (!Has(all, kRowKindField.key)) all.push_back(kRowKindField);
    return all;
  }
  const std::span<const Field> fields = view.fields();
  return {fields.begin(), fields.end()};
}

std::string ListOfViews() {
  std::string text;
  for (const View& view : Views()) AppendFormat(&text, "  {:<14} {}\n", view.name, view.help);
  return text;
}

std::vector<ViewPlan> PlanViews(const ViewRequest& request,
                                std::unique_ptr<ItemFilter<PricedKernel>>* kernels) {
  std::vector<ViewPlan> plans;
  for (const View* view : ViewsOf(request.list, request.option)) {
    ViewPlan& plan = plans.emplace_back();
    plan.view = view;
    plan.options.compat = request.compat;
    plan.options.copies = request.copies;
    plan.rows_asked = !request.columns.empty() || !request.where.empty() || !request.sort.empty() ||
                      request.top > 0;
  }
  PlanKeys(request.by, &plans);
  PlanWhatIf(request, &plans);
  PlanOrder(request, &plans);
  PlanColumns(request, &plans);
  PlanWhere(request, &plans, kernels);
  return plans;
}

std::optional<ViewPlan> WithSteps(const ViewPlan& plan) {
  const View& view = *plan.view;
  if (view.by == nullptr) return std::nullopt;
  const std::span<const std::string_view> words = view.by();
  const auto takes = [&](std::string_view word) {
    return std::find(words.begin(), words.end(), word) != words.end() &&
           std::none_of(plan.options.by.begin(), plan.options.by.end(),
                        [&](const std::string& given) {
                          return (view.groups_kernels ? KeyOfWord(given) : given) == word;
                        });
  };
  if (!takes("step")) return std::nullopt;
  ViewPlan with_steps = plan;
  std::vector<std::string>& by = with_steps.options.by;
  // Without words a view of groups takes its first.
  if (view.groups_kernels && by.empty()) by = {"kernel"};
  if (takes("rank")) by.emplace_back("rank");
  by.emplace_back("step");
  return with_steps;
}

TraceNeeds NeedsOf(std::span<const ViewPlan> plans) {
  TraceNeeds needs;
  for (const ViewPlan& plan : plans) {
    needs = needs | plan.view->needs;
    if (plan.options.compat == Compat::kTensorBoard) needs = needs | plan.view->tb_needs;
    if (plan.options.compat == Compat::kHta) needs = needs | plan.view->hta_needs;
  }
  return needs;
}

bool TakeCalls(std::span<const ViewPlan> plans) {
  return std::any_of(plans.begin(), plans.end(), [](const ViewPlan& plan) {
    return TakesCalls(*plan.view, plan.options.compat);
  });
}

/// A view with what it found so far.
struct ViewRunner::Running {
  Running(const ViewPlan& of, Destination* destination)
      : plan(of),
        table(destination == nullptr ? nullptr : destination->NewTable()),
        counted(table.get()) {
    const View& view = *plan.view;
    if (table == nullptr) {
      total = view.make(plan.options);
      return;
    }
    const Compat compat = plan.options.compat;
    if (compat != Compat::kNone) rules.emplace(RulesOf(view, compat), &counted);
    Sink* const out = rules ? static_cast<Sink*>(&*rules) : &counted;
    if (view.make == nullptr) {
      BeginStream(out);
      return;
    }
    total = view.make(plan.options);
    // PyTorch's own texts stay as they are.
    const bool rows = plan.rows_asked && !view.torch;
    document = total->IsDocument() && table->TakesDocuments() && !rows;
    if (document) return;
    selected.emplace(plan.places, out);
    head = &*selected;
    if (plan.order || plan.top > 0) head = &sorted.emplace(plan.order, plan.top, head);
    if (plan.where != nullptr) head = &filtered.emplace(plan.where, head);
    std::vector<Field> fields = total->Fields();
    RankFields(plan, &fields);
    if (AsksForKind(fields.size())) head = &kinds.emplace(head);
    head->Begin(view.name, std::move(fields));
  }

  /// Of a view that keeps nothing: only the fields that something asks for are computed.
  void BeginStream(Sink* out) {
    const View& view = *plan.view;
    std::vector<Field> fields(view.fields().begin(), view.fields().end());
    RankFields(plan, &fields);
    std::vector<size_t> places = plan.places;
    head = out;
    if (plan.order || plan.top > 0 || plan.where != nullptr) {
      if (plan.where != nullptr) {
        for (const size_t place : plan.where->Fields()) places.push_back(place);
      }
      if (plan.order) places.push_back(plan.order->field);
      std::sort(places.begin(), places.end());
      places.erase(std::unique(places.begin(), places.end()), places.end());
      head = &selected.emplace(plan.places, head);
      if (plan.order || plan.top > 0) head = &first.emplace(plan.order, plan.top, head);
      if (plan.where != nullptr) head = &filtered.emplace(plan.where, head);
      head = &spread.emplace(places, fields, head);
    }
    std::vector<Field> computed;
    for (const size_t place : places) computed.push_back(fields[place]);
    head->Begin(view.name, std::move(computed));
    stream = view.stream(places, head);
  }

  /// Whether anything names kRowKindField, which stands behind `count` fields.
  bool AsksForKind(size_t count) const {
    const auto is = [count](size_t place) { return place == count; };
    if (std::any_of(plan.places.begin(), plan.places.end(), is)) return true;
    if (plan.order && is(plan.order->field)) return true;
    const std::vector<size_t> asked =
        plan.where != nullptr ? plan.where->Fields() : std::vector<size_t>();
    return std::any_of(asked.begin(), asked.end(), is);
  }

  /// The input at hand ends.
  void End(const Run* run) {
    partial->End(run);
    Take(std::move(partial));
  }

  void Take(std::unique_ptr<Partial> found) {
    if (any) {
      total->Merge(*found);
    } else {
      total = std::move(found);
    }
    any = true;
  }

  bool TakesCalls() const { return prof::TakesCalls(*plan.view, plan.options.compat); }

  /// All inputs ended: the rows go out, and what they were made of.
  void Finish() {
    finished = true;
    if (document) {
      const std::string text = total->Document();
      table->Document(text);
      empty = text.empty();
    } else {
      if (total != nullptr) total->Emit(head);
      head->End();
    }
    if (total != nullptr) notes = total->Notes();
    total.reset();
  }

  /// After Finish(): how many rows there are; of a document whether it says anything.
  int64_t rows() const { return document ? (empty ? 0 : INT64_MAX) : counted.rows(); }

  const ViewPlan& plan;
  std::unique_ptr<Sink> table;  // Null where what is found is kept.
  CountingSink counted;
  std::optional<RulesSink> rules;      // With --compat.
  std::unique_ptr<ViewStream> stream;  // Of a view that keeps nothing; else
  // From the last to the first that a row comes through.
  std::optional<SelectingSink> selected;
  std::optional<SortingSink> sorted;
  std::optional<TopRows> first;
  std::optional<FilteringSink> filtered;
  std::optional<RowKindSink> kinds;
  std::optional<SpreadingSink> spread;
  Sink* head = nullptr;  // The first; null of a document.
  std::unique_ptr<Partial> total;
  std::unique_ptr<Partial> partial;  // Of the input at hand.
  std::vector<std::string> notes;    // Once it is finished.
  bool any = false;                  // Total is of an input.
  bool document = false;             // It is printed as one.
  bool empty = false;                // The document says nothing.
  bool finished = false;
};

ViewRunner::ViewRunner(const std::vector<ViewPlan>& plans, RunOptions options,
                       Destination* destination)
    : options_(std::move(options)) {
  for (const ViewPlan& plan : plans) views_.push_back(std::make_unique<Running>(plan, destination));
}

ViewRunner::~ViewRunner() = default;

void ViewRunner::BeginInput(const parse::KernelRecords* profile) {
  run_.reset();
  first_start_ns_.reset();
  whole_run_.reset();
  if (profile != nullptr) {
    run_.emplace(*profile, options_);
    if (!options_.selection.empty()) whole_run_.emplace(*profile, RunOptions{{}, options_.step_in});
  }
  MakePartials();
  const auto takes = [](const auto& view) { return view->TakesCalls(); };
  if (run_ && std::any_of(views_.begin(), views_.end(), takes)) before_.emplace(*run_);
  for (const auto& view : views_) {
    if (view->stream != nullptr) {
      view->stream->Begin(run_ ? &*run_ : nullptr);
      continue;
    }
    view->partial->Begin(RunOf(*view));
  }
}

void ViewRunner::MakePartials() {
  std::map<const View*, std::vector<Running*>> together;
  for (const auto& view : views_) {
    if (view->stream != nullptr) continue;
    if (view->plan.view->make_together != nullptr) {
      together[view->plan.view].push_back(view.get());
    } else {
      view->partial = view->plan.view->make(view->plan.options);
    }
  }
  for (const auto& [view, those] : together) {
    std::vector<ViewOptions> options;
    for (const Running* one : those) options.push_back(one->plan.options);
    auto partials = view->make_together(options);
    for (size_t i = 0; i < those.size(); ++i) those[i]->partial = std::move(partials[i]);
  }
}

bool ViewRunner::Selects(const PricedKernel& kernel) {
  const Selection& selection = options_.selection;
  if (selection.empty()) return true;
  if (run_ && !kernel.replay) {
    return run_->Selects(run_->trace().kernels[kernel.work], kernel.work);
  }
  if (run_) return run_->Selects(run_->trace().graph_replays[kernel.work], kernel.work);
  const KernelRecord& record = *kernel.record;
  if (!first_start_ns_) first_start_ns_ = record.start_ns;
  if (selection.device && record.device_id != *selection.device) return false;
  if (selection.steps && (!record.step || *record.step < selection.steps->first ||
                          *record.step > selection.steps->last)) {
    return false;
  }
  if (!selection.time) return true;
  int64_t since_ns = 0;
  return record.start_ns &&
         !__builtin_sub_overflow(*record.start_ns, *first_start_ns_, &since_ns) &&
         since_ns >= selection.time->start_ns && since_ns < selection.time->end_ns;
}

void ViewRunner::Add(const PricedKernel& kernel) {
  const bool selected = Selects(kernel);
  if (selected && before_) before_->Add(kernel);
  for (const auto& view : views_) {
    if (!selected && !view->plan.view->whole) continue;
    if (view->stream != nullptr) {
      view->stream->Add(kernel);
    } else {
      view->partial->Add(kernel);
    }
  }
}

bool ViewRunner::AddReplay(const PricedKernel& replay) {
  const bool selected = Selects(replay);
  for (const auto& view : views_) {
    if (!selected && !view->plan.view->whole) continue;
    if (view->partial != nullptr) view->partial->AddReplay(replay);
  }
  return false;
}

void ViewRunner::End(bool last) {
  if (before_) calls_.Add(*run_, before_->Take());
  before_.reset();
  for (const auto& view : views_) {
    if (view->stream == nullptr) view->End(RunOf(*view));
    if (last) Finish(view.get());
  }
  NoteWhatIsLookedAt();
  run_.reset();
  whole_run_.reset();
}

const Run* ViewRunner::RunOf(const Running& view) const {
  if (view.plan.view->whole && whole_run_) return &*whole_run_;
  return run_ ? &*run_ : nullptr;
}

/// Says which steps there are where none of them is in what is selected.
void ViewRunner::NoteWhatIsLookedAt() {
  if (!whole_run_ || !run_->steps().all().empty()) return;
  const auto steps = whole_run_->steps().all();
  if (steps.empty()) return;
  notes_.insert(fmt::format(
      "no step lies in what is selected: the steps are {} to {}, in the first {:.3f} ms",
      steps.front().number, steps.back().number,
      static_cast<double>(whole_run_->steps().window().end_ns - whole_run_->origin_ns()) / 1e6));
}

std::optional<int64_t> ViewRunner::StepOf(const PricedKernel& kernel,
                                          std::optional<int64_t> told) const {
  if (!run_ || kernel.work == PricedKernel::kNoWork) return told;
  const Run& run = whole_run_ ? *whole_run_ : *run_;
  if (run.steps().source() == StepSource::kNone ||
      run.steps().source() == StepSource::kRepetition) {
    return told;
  }
  const size_t step = kernel.replay
                          ? run.StepOf(run.trace().graph_replays[kernel.work], kernel.work)
                          : run.StepOf(run.trace().kernels[kernel.work], kernel.work);
  return step == Steps::kNone ? std::nullopt
                              : std::optional<int64_t>(run.steps().all()[step].number);
}

const CollectiveMatches& ViewRunner::Matches() {
  if (!matches_) matches_.emplace(calls_);
  return *matches_;
}

void ViewRunner::Finish(Running* view) {
  if (view->finished || view->table == nullptr) return;
  if (view->TakesCalls()) {
    Partial* const partial = view->total.get();
    GiveCalls(Matches(), std::span(&partial, 1));
  }
  view->Finish();
}

int64_t ViewRunner::Finish() {
  int64_t least = INT64_MAX;
  for (const auto& view : views_) {
    Finish(view.get());
    if (!view->plan.view->may_be_empty) least = std::min(least, view->rows());
  }
  return least;
}

std::vector<std::unique_ptr<Partial>> ViewRunner::TakePartials() {
  std::vector<std::unique_ptr<Partial>> partials;
  for (const auto& view : views_) partials.push_back(std::move(view->total));
  return partials;
}

CollectiveSet ViewRunner::TakeCalls() { return std::move(calls_); }

void ViewRunner::AddPartials(std::vector<std::unique_ptr<Partial>> partials, CollectiveSet calls) {
  calls_.Merge(std::move(calls));
  for (size_t i = 0; i < views_.size(); ++i) views_[i]->Take(std::move(partials[i]));
}

std::vector<std::string> ViewRunner::Notes() const {
  std::vector<std::string> notes(notes_.begin(), notes_.end());
  for (const auto& view : views_) {
    if (view->filtered) notes.push_back(view->filtered->count().Sentence("rows"));
    if (view->first && !view->first->Sentence("rows").empty()) {
      notes.push_back(view->first->Sentence("rows"));
    }
    for (const std::string& note : view->notes) {
      const std::string_view name = view->plan.view->name;
      notes.push_back(note.starts_with(name) ? note : fmt::format("{}: {}", name, note));
    }
  }
  return notes;
}

}  // namespace oplens::prof

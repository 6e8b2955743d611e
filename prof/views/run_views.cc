#include "prof/views/run_views.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <numeric>

#include "base/team.h"
#include "base/threads.h"
#include "parse/records/kernel_records.h"
#include "prof/run/steps.h"
#include "prof/table/sink_chain.h"
#include "prof/table/top_rows.h"
#include "prof/views/collectives/collective_matches.h"

namespace oplens::prof {
namespace {

/// Of a run that is worth threads.
constexpr size_t kManyKernels = 2048;

constexpr Field kRulesField = {
    "rules",
    "Rules",
    "",
    FieldType::kText,
    6,
    "with --compat: whose rules the row follows: tb, hta, or oplens where these have none",
    Fold::kKey};

/// Prepends to each row whose rules it follows.
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

std::string_view RowsOf(const ViewPlan& plan) {
  if (!plan.options.plain) return "rows";
  return plan.options.copies ? "copies and memsets" : "kernels";
}

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

/// A view with its results so far.
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
    if (plan.says_rules) rules.emplace(view.rules, &counted);
    Sink* const out = rules ? static_cast<Sink*>(&*rules) : &counted;
    if (view.make == nullptr) {
      BeginStream(out);
      return;
    }
    total = view.make(plan.options);
    const bool rows = plan.rows_requested && !view.keeps_document;
    document = total->IsDocument() && table->TakesDocuments() && !rows;
    if (document) return;
    selected.emplace(plan.places, out);
    head = &*selected;
    if (plan.order || plan.top > 0) {
      head = &sorted.emplace(plan.order, plan.top, head, plan.places);
    }
    if (plan.where != nullptr) head = &filtered.emplace(plan.where, std::vector<size_t>(), head);
    std::vector<Field> fields = total->Fields();
    RankFields(plan, &fields);
    if (AsksForKind(fields.size())) head = &kinds.emplace(head);
    head->Begin(view.name, std::move(fields));
  }

  /// For a view that keeps nothing: only requested fields are computed, printed ones first.
  void BeginStream(Sink* out) {
    const View& view = *plan.view;
    std::vector<Field> fields(view.fields().begin(), view.fields().end());
    RankFields(plan, &fields);
    std::vector<size_t> places = plan.places;
    const auto place_of = [&](size_t field) {
      const auto found = std::find(places.begin(), places.end(), field);
      if (found != places.end()) return static_cast<size_t>(found - places.begin());
      places.push_back(field);
      return places.size() - 1;
    };
    std::vector<size_t> printed(places.size());
    std::iota(printed.begin(), printed.end(), size_t{0});
    head = &selected.emplace(std::move(printed), out);
    if (plan.order || plan.top > 0) {
      std::optional<RowOrder> order = plan.order;
      if (order) order->field = place_of(order->field);
      head = &first.emplace(order, plan.top, head);
    }
    if (plan.where != nullptr) {
      std::vector<size_t> asked(fields.size());
      for (const size_t field : plan.where->Fields()) asked[field] = place_of(field);
      head = &filtered.emplace(plan.where, std::move(asked), head);
    }
    std::vector<Field> computed;
    for (const size_t place : places) computed.push_back(fields[place]);
    head->Begin(view.name, std::move(computed));
    stream = view.stream(places, head);
  }

  /// Whether anything names kRowKindField, which follows `count` fields.
  bool AsksForKind(size_t count) const {
    const auto is = [count](size_t place) { return place == count; };
    if (std::any_of(plan.places.begin(), plan.places.end(), is)) return true;
    if (plan.order && is(plan.order->field)) return true;
    const std::vector<size_t> asked =
        plan.where != nullptr ? plan.where->Fields() : std::vector<size_t>();
    return std::any_of(asked.begin(), asked.end(), is);
  }

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

  /// All inputs ended: emits the rows, and frees their sources.
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

  /// After Finish(): the number of rows; for a document 0 if it is empty.
  int64_t rows() const { return document ? (empty ? 0 : INT64_MAX) : counted.rows(); }

  const ViewPlan& plan;
  std::unique_ptr<Sink> table;  // Null if results are kept.
  CountingSink counted;
  std::optional<RulesSink> rules;      // With --compat.
  std::unique_ptr<ViewStream> stream;  // Of a view that keeps nothing; otherwise
  // From the last sink to the first.
  std::optional<SelectingSink> selected;
  std::optional<SortingSink> sorted;
  std::optional<TopRows> first;
  std::optional<FilteringSink> filtered;
  std::optional<RowKindSink> kinds;
  Sink* head = nullptr;  // The first; null for a document.
  std::unique_ptr<Partial> total;
  std::unique_ptr<Partial> partial;  // Of the current input.
  std::vector<std::string> notes;    // After Finish().
  bool any = false;                  // `total` has an input.
  bool document = false;             // Printed as a document.
  bool empty = false;                // The document is empty.
  bool finished = false;
};

ViewRunner::ViewRunner(const std::vector<ViewPlan>& plans, RunOptions options,
                       Destination* destination)
    : options_(std::move(options)),
      plain_(!plans.empty() && plans.front().options.plain),
      tables_apart_(destination != nullptr && destination->tables_apart()) {
  std::map<const View*, size_t> shared;  // Lanes; null: of views that print rows as they come.
  for (const ViewPlan& plan : plans) {
    views_.push_back(std::make_unique<Running>(plan, destination));
    Running* const view = views_.back().get();
    const bool prints = view->stream != nullptr;
    size_t lane = lanes_.size();
    if (prints || plan.view->make_together != nullptr) {
      lane = shared.try_emplace(prints ? nullptr : plan.view, lane).first->second;
    }
    if (lane == lanes_.size()) lanes_.emplace_back();
    lanes_[lane].push_back(view);
  }
  if (plain_) Begin(nullptr);
}

ViewRunner::~ViewRunner() = default;

void ViewRunner::BeginInput(const parse::KernelRecords* profile) {
  if (!plain_) return Begin(profile);
  large_ = IsLarge(profile);
}

bool ViewRunner::IsLarge(const parse::KernelRecords* profile) {
  return profile != nullptr && ThreadLimit() > 1 && profile->kernel_count() >= kManyKernels;
}

void ViewRunner::Begin(const parse::KernelRecords* profile) {
  run_.reset();
  first_start_ns_.reset();
  whole_run_.reset();
  if (profile != nullptr) {
    run_.emplace(*profile, options_);
    if (!options_.selection.empty()) {
      RunOptions whole = options_;
      whole.selection = {};
      whole_run_.emplace(*profile, std::move(whole));
    }
  }
  large_ = IsLarge(profile);
  holds_ = false;
  MakePartials();
  const auto takes = [](const auto& view) { return view->plan.view->calls; };
  if (run_ && std::any_of(views_.begin(), views_.end(), takes)) before_.emplace(*run_);
  const auto begin = [this](Running* view) {
    if (view->stream != nullptr) {
      view->stream->Begin(run_ ? &*run_ : nullptr);
    } else {
      view->partial->Begin(RunOf(*view));
    }
  };
  if (large_) return ForEachLane([&](const Lane& lane) { std::ranges::for_each(lane, begin); });
  for (const auto& view : views_) begin(view.get());
}

void ViewRunner::ForEachLane(const std::function<void(const Lane&)>& work,
                             const std::function<void()>& first) {
  const auto others = static_cast<size_t>(std::max(ThreadLimit() - 1, 0));
  const size_t before = first ? 1 : 0;
  const size_t pieces = before + lanes_.size();
  Team(std::min(pieces, others)).Each(pieces, [&](size_t piece) {
    if (piece < before) return first();
    work(lanes_[piece - before]);
  });
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

void ViewRunner::Give(const HeldRow& held, Running* view) const {
  if (!held.selected && !view->plan.view->whole) return;
  if (held.row->replay) {
    if (view->partial != nullptr) view->partial->AddReplay(*held.row);
  } else if (view->stream != nullptr) {
    view->stream->Add(*held.row);
  } else {
    view->partial->Add(*held.row);
  }
}

void ViewRunner::Add(const PricedKernel& kernel) {
  const HeldRow held = {&kernel, Selects(kernel)};
  if (held.selected && before_) before_->Add(kernel);
  if (holds_) return held_.push_back(held);
  for (const auto& view : views_) Give(held, view.get());
}

bool ViewRunner::AddReplay(const PricedKernel& replay) {
  const HeldRow held = {&replay, Selects(replay)};
  if (holds_) {
    held_.push_back(held);
  } else {
    for (const auto& view : views_) Give(held, view.get());
  }
  return false;
}

void ViewRunner::TakeHeld(HeldRows* rows) {
  rows->clear();
  std::swap(held_, *rows);
}

void ViewRunner::Look(size_t lane, const HeldRows& rows) {
  for (const HeldRow& held : rows) {
    for (Running* const view : lanes_[lane]) Give(held, view);
  }
}

void ViewRunner::AddCopy(const CopyRow& copy) {
  for (const auto& view : views_) {
    if (view->stream != nullptr) {
      view->stream->AddCopy(copy);
    } else {
      view->partial->AddCopy(copy);
    }
  }
}

void ViewRunner::EndBeside(const std::function<void()>& work, bool last) {
  if (work && (plain_ || !large_)) work();
  if (plain_) return;
  if (before_) calls_.Add(*run_, before_->Take());
  before_.reset();
  const auto end = [this](Running* view) {
    if (view->stream == nullptr) view->End(RunOf(*view));
  };
  if (large_) {
    ForEachLane([&](const Lane& lane) { std::ranges::for_each(lane, end); }, work);
  } else {
    for (const auto& view : views_) {
      end(view.get());
      if (last) Finish(view.get());
    }
  }
  NoteWhatIsLookedAt();
  if (last && large_ && tables_apart_) return FinishAll();
  EndRun();
  if (!last || !large_) return;
  for (const auto& view : views_) Finish(view.get());
}

void ViewRunner::EndRun() {
  run_.reset();
  whole_run_.reset();
}

/// All inputs ended, of which the last is large: no view needs its run.
void ViewRunner::FinishAll() {
  const auto takes = [](const auto& view) { return view->plan.view->calls; };
  if (std::ranges::any_of(views_, takes)) Matches();  // Once for all of them.
  const auto finish = [this](const Lane& lane) {
    for (Running* const view : lane) Finish(view);
  };
  ForEachLane(finish, [this] { EndRun(); });
}

const Run* ViewRunner::RunOf(const Running& view) const {
  if (view.plan.view->whole && whole_run_) return &*whole_run_;
  return run_ ? &*run_ : nullptr;
}

/// If the selection contains no step, notes which steps there are.
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
  if (view->plan.view->calls) {
    Partial* const partial = view->total.get();
    GiveCalls(Matches(), std::span(&partial, 1));
  }
  view->Finish();
}

int64_t ViewRunner::Finish() {
  int64_t least = INT64_MAX;
  for (const auto& view : views_) {
    if (plain_ && view->partial != nullptr) view->End(nullptr);
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
    const std::string_view rows = RowsOf(view->plan);
    if (view->filtered) notes.push_back(view->filtered->count().Sentence(rows));
    if (view->first && !view->first->Sentence(rows).empty()) {
      notes.push_back(view->first->Sentence(rows));
    }
    for (const std::string& note : view->notes) {
      const std::string_view name = view->plan.view->name;
      const bool named = plain_ || note.starts_with(name);
      notes.push_back(named ? note : fmt::format("{}: {}", name, note));
    }
  }
  return notes;
}

}  // namespace oplens::prof

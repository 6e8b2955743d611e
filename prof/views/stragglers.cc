#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "base/ratio.h"
#include "base/saturating.h"
#include "parse/join/range_texts.h"
#include "prof/run/device_work.h"
#include "prof/run/run.h"
#include "prof/views/collective_notes.h"
#include "prof/views/rank_groups.h"
#include "prof/views/rank_order.h"
#include "prof/views/straggler_ranks.h"
#include "prof/views/straggler_verdict.h"
#include "prof/views/time_keys.h"
#include "prof/views/view_notes.h"
#include "prof/views/views.h"

namespace oplens::prof {
namespace {

using enum FieldType;

constexpr Field kStragglersFields[] = {
    kRankField,
    {"verdict", "Verdict", "", FieldType::kText, 9,
     "slow op: an op is slower there than on the median rank, and others wait for the rank; late: "
     "it comes late, and no op of its GPU says why; follows: it comes late, but waits for another "
     "rank of a group of it; chance: none of these; few steps: too few to tell",
     Fold::kNone},
    {"since_step", "Since", "", kInteger, 6, "number of the first step in which that is so",
     Fold::kNone},
    {"op", "Op", "", FieldType::kText, 20, "the op that is slow there; a kernel without one",
     Fold::kNone},
    {"layer", "Layer", "", FieldType::kName, 16, "its layer, where it is slow in one alone",
     Fold::kNone},
    {"op_ns", "Op(ns)", "ns", kInteger, 11, "its time on the GPU in a step, the mean since then",
     Fold::kNone},
    {"median_op_ns", "Median(ns)", "ns", kInteger, 11,
     "the same on the median of the other ranks (of its stage of a pipeline)", Fold::kNone},
    {"op_excess_pct", "Excess(%)", "%", FieldType::kDecimal, 9,
     "100 x (op_ns - median_op_ns) / median_op_ns", Fold::kNone},
    {"late_ns", "Late(ns)", "ns", kInteger, 11,
     "by how much later than the median of the other ranks it comes in a step: by how much less it "
     "waits; the mean since then, negative where it waits more",
     Fold::kNone},
    {"late_pct", "Late(%)", "%", FieldType::kDecimal, 8, "100 x late_ns / time of a step",
     Fold::kNone},
    {"caused_ns", "Caused(ns)", "ns", kInteger, 13,
     "sum of what other ranks waited in calls for which this rank came last; unknown where it is "
     "not "
     "known who did",
     Fold::kSum},
    {"last_calls", "Last", "", kInteger, 7, "calls for which it came last; the same", Fold::kSum},
    {"calls", "Calls", "", kInteger, 7, "calls of it that were found on other ranks", Fold::kSum},
    {"wait_ns", "Wait(ns)", "ns", kInteger, 13, "sum of what it waited itself", Fold::kSum},
    {"before_op", "Before", "", FieldType::kText, 20,
     "what its GPU mostly ran before the calls for which it came last, since the call before",
     Fold::kNone},
    {"before_layer", "BeforeLayer", "", FieldType::kName, 16, "the layer of that", Fold::kNone},
    {"before_idle_pct", "BeforeIdle(%)", "%", FieldType::kDecimal, 8,
     "the mean share of that time in which its GPU computed nothing", Fold::kNone},
};

class Stragglers : public Partial {
 public:
  Stragglers() : notes_("stragglers") {}

  void Begin(const Run* run) override {
    notes_.Begin(run);
    if (run != nullptr && !run->work().events().empty()) maker_.emplace(*run, ranks_.texts());
  }
  void Add(const PricedKernel& kernel) override {
    if (maker_) maker_->Add(kernel);
  }
  void End(const Run* run) override {
    if (!maker_) return;
    ranks_.Add(*run, maker_->Take());
    maker_.reset();
  }
  void AddCalls(std::span<const CollectiveRow> calls) override {
    if (ranks_.AddCalls(calls)) call_notes_.Add(calls);
  }
  void Merge(const Partial& other) override {
    const auto& more = dynamic_cast<const Stragglers&>(other);
    ranks_.Merge(more.ranks_);
    call_notes_.Merge(more.call_notes_);
    notes_.Merge(more.notes_);
  }
  std::vector<Field> Fields() const override {
    return {std::begin(kStragglersFields), std::end(kStragglersFields)};
  }
  void Emit(Sink* sink) const override;
  std::vector<std::string> Notes() const override;
  void Save(ByteWriter* bytes) const override {
    ranks_.Save(bytes);
    bytes->Values(&call_notes_, &notes_);
  }
  void Load(ByteReader* bytes) override {
    ranks_.Load(bytes);
    bytes->Values(&call_notes_, &notes_);
  }

 private:
  StragglerRanks ranks_;
  CollectiveNotes call_notes_;
  ViewNotes notes_;
  std::optional<StragglerWorkMaker> maker_;  // Of the run that is read.
};

void Stragglers::Emit(Sink* sink) const {
  const TextNumbers& texts = ranks_.text_numbers();
  for (const StragglerRanks::Row& row : ranks_.Rows()) {
    const StragglerFinding& found = row.finding;
    const bool slow = found.place.has_value();
    const auto excess_ns = static_cast<double>(found.op_ns) - static_cast<double>(found.median_ns);
    const StragglerRanks::Sums& sums = *row.sums;
    const auto before = sums.MostBefore(texts);
    const bool matched = sums.calls > 0;
    const bool placed = sums.placed_calls > 0;
    const Cell cells[] = {
        Text(*row.rank),
        Text(StragglerWord(found.verdict)),
        Integer(found.since_step),
        slow ? Text(texts.TextOf(found.place->op)) : Cell{},
        slow ? Text(texts.TextOf(found.place->layer)) : Cell{},
        slow ? Integer(found.op_ns) : Cell{},
        slow ? Integer(found.median_ns) : Cell{},
        slow ? Decimal(Percent(excess_ns, static_cast<double>(found.median_ns))) : Cell{},
        Integer(found.late_ns),
        found.late_ns ? Decimal(Percent(static_cast<double>(*found.late_ns), row.step_ns)) : Cell{},
        placed ? Integer(row.caused_ns) : Cell{},
        placed ? Integer(sums.last_calls) : Cell{},
        Integer(sums.calls),
        matched ? Integer(sums.wait_ns) : Cell{},
        before ? Text(texts.TextOf(before->op)) : Cell{},
        before ? Text(texts.TextOf(before->layer)) : Cell{},
        sums.last_calls > 0 ? Cell{static_cast<double>(sums.idle_permille) / 10 /
                                   static_cast<double>(sums.last_calls)}
                            : Cell{}};
    sink->Row(cells);
  }
}

std::vector<std::string> Stragglers::Notes() const {
  std::vector<std::string> notes = notes_.Sentences();
  for (std::string& note : call_notes_.Sentences("stragglers", ranks_.size())) {
    notes.push_back(std::move(note));
  }
  return notes;
}

}  // namespace

constexpr View kStragglersView = {
    .name = "stragglers",
    .help = "which ranks keep the others waiting, since when, and by which op",
    .fields = FieldsWithoutBy<kStragglersFields>,
    .make = MakePartial<Stragglers>,
    .narrow = "verdict,since_step,op,op_excess_pct,late_ns,late_pct,caused_ns",
    .on_pages = false,
    .calls = true,
    .saved_form = 1};

}  // namespace oplens::prof

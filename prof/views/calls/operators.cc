
#include <algorithm>
#include <compare>
#include <deque>
#include <optional>
#include <string>
#include <tuple>
#include <utility>

#include "prof/views/calls/call_groups.h"
#include "prof/views/calls/call_places.h"
#include "prof/views/calls/operator_run.h"
#include "prof/views/common/bounded_partial.h"
#include "prof/views/common/grouped_partial.h"

namespace oplens::prof {
namespace {

using enum FieldType;

constexpr std::string_view kUnattributedName = "(unattributed)";
constexpr std::string_view kOperatorsCollectives = "(collectives)";
constexpr std::string_view kOperatorsOtherName = "(other)";

// In the order of OperatorKey.
constexpr std::string_view kOperatorKeys[] = {"shape", "layer", "stack", "phase", "step", "rank"};

/// The texts of a row, each terminated by a 0, and its step.
struct OperatorRowKey {
  std::string texts;
  std::optional<int64_t> step;
  friend auto operator<=>(const OperatorRowKey&, const OperatorRowKey&) = default;

  size_t TextBytes() const { return texts.size(); }
  OperatorRowKey Other() const { return {std::string(kOperatorsOtherName), {}}; }
  template <typename Bytes, typename Self>
  static void Transfer(Bytes* bytes, Self* self) {
    bytes->Texts(&self->texts);
    bytes->Values(&self->step);
  }
};

struct OperatorRow {
  OperatorTexts texts;
  std::optional<int64_t> step;
  const OperatorSums& sums;

  Cell OfCalls(const Cell& cell) const { return sums.calls == 0 ? Cell{} : cell; }
};

constexpr Column<OperatorRow> kOperatorColumns[] = {
    TextColumn<0>{"op", "Op", Field::kShared,
                  "operator, by its recorded name; \"mm (inferred)\": kernels without a call whose "
                  "op is inferred"},
    TextColumn<TextPlaceOf(OperatorKey::kShape), true>{
        "shape", "Shape", Field::kShared, "extents of the tensors among the arguments"},
    kOperatorLayerColumn,
    kOperatorStackColumn,
    TextColumn<TextPlaceOf(OperatorKey::kPhase), true>{
        "phase", "Phase", 10, "forward, backward, recompute, gradient or optimizer"},
    {kOperatorStepField, [](const OperatorRow& row) { return Integer(row.step); }, Need::kNothing,
     true},
    kOperatorRankColumn,
    FigureColumn<&OperatorSums::calls>{"calls", "Calls", "", 8, "calls"},
    {{"device_self_ns", "DevSelf(ns)", "ns", kInteger, 13,
      "sum of the durations of the device events that its calls launched themselves", Fold::kSum},
     [](const OperatorRow& row) { return CellOf(row.sums.self.device_ns); }},
    {{"device_total_ns", "DevTotal(ns)", "ns", kInteger, 13,
      "device_self_ns plus that of calls inside; a call inside another of the same row adds "
      "nothing"},
     [](const OperatorRow& row) { return CellOf(row.sums.total.device_ns); }},
    FigureColumn<&OperatorSums::device_busy_ns>{
        "device_busy_ns", "DevBusy(ns)", "ns", 13,
        "time in which any device event of device_self_ns ran, summed over GPUs"},
    {{"host_self_ns", "HostSelf(ns)", "ns", kInteger, 13,
      "host time of its calls, without the time in which calls inside ran", Fold::kSum},
     [](const OperatorRow& row) { return row.OfCalls(CellOf(row.sums.host_self_ns)); }},
    {{"host_total_ns", "HostTotal(ns)", "ns", kInteger, 13,
      "host time of its calls; a call inside another of the same row adds nothing"},
     [](const OperatorRow& row) { return row.OfCalls(CellOf(row.sums.host_total_ns)); }},
    {{"mean_ns", "Mean(ns)", "ns", kDecimal, 13,
      "mean length of a call on the host: sum of all lengths / calls", Fold::kMean},
     RatioOf<&OperatorSums::length_ns, &OperatorSums::calls>},
    FigureColumn<&OperatorSums::lengths, 50>{
        "p50_ns", "P50(ns)", "ns", 11,
        "median length: the call of rank ceil(0.5 * calls), at most 1.6 % off"},
    FigureColumn<&OperatorSums::lengths, 95>{
        "p95_ns", "P95(ns)", "ns", 11,
        "95th percentile: the call of rank ceil(0.95 * calls), at most 1.6 % off"},
    FigureColumn<&OperatorSums::launches>{"launches", "Launches", "", 8,
                                          "device events that its calls launched themselves"},
    {{"flops", "FLOPs", "FLOP", kInteger, 18,
      "sum over the kernels that its calls launched themselves and whose FLOPs are known",
      Fold::kSum},
     KnownOf<&OperatorSums::with_flops, &OperatorSums::flops>},
    {{"bytes", "Bytes", "B", kInteger, 16,
      "sum over the kernels that its calls launched themselves and whose bytes are known",
      Fold::kSum},
     KnownOf<&OperatorSums::with_bytes, &OperatorSums::bytes>},
    {{"tc_elig", "TCElig", "", kText, 7,
      "yes: one of its kernels, or of calls inside, runs or could run on Tensor Cores; no: none "
      "could"},
     [](const OperatorRow& row) { return Text(row.sums.total.Eligible()); }},
    {{"tc_self_pct", "TCSelf(%)", "%", kDecimal, 8,
      "time of kernels that use Tensor Cores / time of kernels for which that use is known * 100; "
      "of the kernels of device_self_ns"},
     [](const OperatorRow& row) { return Decimal(row.sums.self.TensorCorePercent()); }},
    {{"tc_total_pct", "TCTotal(%)", "%", kDecimal, 8,
      "tc_self_pct for the kernels of device_total_ns"},
     [](const OperatorRow& row) { return Decimal(row.sums.total.TensorCorePercent()); }},
};

/// Input that several partials share, from the first Begin to the last End.
struct OperatorInput {
  struct OfRun {
    explicit OfRun(const Run& run) : prices(run), places(run.joined(), run.calls()) {}

    KernelPrices prices;
    CallPlaces places;
  };

  void Begin(const Run& run) {
    if (begun++ == 0) of_run.emplace(run);
  }
  void End() {
    if (--begun == 0) of_run.reset();
  }

  std::optional<OfRun> of_run;
  size_t begun = 0;  // Number of partials.
};

class Operators : public BoundedPartial<OperatorRowKey, OperatorSums, OperatorRow, CallNotes> {
 public:
  /// `fills`: of the partials that share `input`, this one fills it.
  Operators(const ViewOptions& options, std::shared_ptr<OperatorInput> input, bool fills)
      : BoundedPartial("operators", options, kOperatorKeys, kOperatorColumns, ByOrder::kOfWords),
        input_(std::move(input)),
        fills_(fills) {
    for (const size_t place : words_.PlacesIn(kOperatorKeys)) {
      by_.push_back(static_cast<OperatorKey>(place));
    }
    if (By("step")) most_rows_ = options.most_rows;  // Else rows of several steps become one.
  }

  void Begin(const Run* run) override {
    BoundedPartial::Begin(run);
    if (run != nullptr) input_->Begin(*run);
  }
  void Add(const PricedKernel& kernel) override {
    if (fills_ && input_->of_run) input_->of_run->prices.Add(kernel);
  }
  void End(const Run* run) override;
  void Merge(const Partial& other) override;
  void Emit(Sink* sink) const override;

 private:
  struct Row {
    const OperatorRowKey* key;
    const OperatorSums* sums;
  };

  OperatorRowKey KeyOf(const Run& run, const OperatorRun& found,
                       const OperatorRun::Slot& slot) const;
  /// `folded`: owns sums over several steps.
  std::vector<Row> Rows(std::deque<OperatorSums>* folded) const;
  /// Forgets the rows if there are too many.
  void Cut();

  std::vector<OperatorKey> by_;
  std::shared_ptr<OperatorInput> input_;
  bool fills_;
  size_t most_rows_ = SIZE_MAX;  // As ViewOptions::most_rows.
  bool cut_ = false;             // There are more: none is kept.
};

void Operators::End(const Run* run) {
  if (run == nullptr || !input_->of_run) return;
  OperatorRun found(*run, by_, input_->of_run->prices, &input_->of_run->places, most_rows_);
  found.TakeSlots(
      [&](const OperatorRun::Slot& slot) { Take(KeyOf(*run, found, slot), slot.sums); });
  cut_ = found.cut();
  Cut();
  input_->End();
}

void Operators::Merge(const Partial& other) {
  cut_ = cut_ || dynamic_cast<const Operators&>(other).cut_;
  if (!cut_) BoundedPartial::Merge(other);
  Cut();
}

void Operators::Cut() {
  cut_ = cut_ || groups_.size() > most_rows_;
  if (cut_) groups_ = {};
}

OperatorRowKey Operators::KeyOf(const Run& run, const OperatorRun& found,
                                const OperatorRun::Slot& slot) const {
  std::vector<std::string_view> parts = found.TextsOf(slot.group);
  if (slot.group == OperatorRun::kUnattributed) parts[0] = kUnattributedName;
  if (slot.group == OperatorRun::kOfHooks) parts[0] = kOperatorsCollectives;
  OperatorRowKey key;
  AppendKeyText(parts[0], &key.texts);
  size_t next = 1;
  for (const OperatorKey by : by_) {
    if (by == OperatorKey::kStep) continue;
    AppendKeyText(by == OperatorKey::kRank ? run.rank() : parts[next++], &key.texts);
  }
  if (slot.step != Steps::kNone) key.step = run.steps().all()[slot.step].number;
  return key;
}

std::vector<Operators::Row> Operators::Rows(std::deque<OperatorSums>* folded) const {
  std::vector<Row> rows;
  for (const auto& [key, group] : groups_.index()) {
    const OperatorSums& sums = groups_[group];
    if (!rows.empty() && rows.back().key->texts == key.texts && !By("step")) {
      if (folded->empty() || rows.back().sums != &folded->back()) {
        folded->push_back(*rows.back().sums);
        rows.back().sums = &folded->back();
      }
      MergeInto(&folded->back(), sums);
    } else {
      rows.push_back({&key, &sums});
    }
  }
  // Stable: ties stay in the order of keys.
  std::stable_sort(rows.begin(), rows.end(), [](const Row& a, const Row& b) {
    return std::tuple<int64_t, int64_t>(a.sums->self.device_ns, a.sums->host_self_ns) >
           std::tuple<int64_t, int64_t>(b.sums->self.device_ns, b.sums->host_self_ns);
  });
  return rows;
}

void Operators::Emit(Sink* sink) const {
  TableOf<OperatorRow> table(columns_, sink);
  if (cut_) {
    const OperatorSums nothing;
    for (size_t i = 0; i <= most_rows_; ++i) table.Add({{}, 0, nothing});
    return;
  }
  std::deque<OperatorSums> folded;
  for (const Row& row : Rows(&folded)) {
    OperatorRow shown = {{}, row.key->step, *row.sums};
    std::string_view rest = row.key->texts;
    shown.texts[0] = TakeKeyText(&rest);
    for (const OperatorKey by : by_) {
      if (by != OperatorKey::kStep) shown.texts[TextPlaceOf(by)] = TakeKeyText(&rest);
    }
    table.Add(shown);
  }
}

std::vector<std::unique_ptr<Partial>> MakeOperatorsTogether(std::span<const ViewOptions> options) {
  std::vector<std::unique_ptr<Partial>> partials;
  const auto input = std::make_shared<OperatorInput>();
  bool first = true;
  for (const ViewOptions& one : options) {
    partials.push_back(std::make_unique<Operators>(one, input, first));
    first = false;
  }
  return partials;
}

}  // namespace

extern constexpr View kOperatorsView = {
    .name = "operators",
    .help = "what each operator cost on host and device",
    .fields = FieldsWithoutBy<kOperatorColumns>,
    .make = MakeAlone<MakeOperatorsTogether>,
    .make_together = MakeOperatorsTogether,
    .by = kOperatorKeys,
    .narrow = "calls,device_self_ns,host_self_ns,mean_ns,launches,tc_self_pct",
    .saved_form = 1};

}  // namespace oplens::prof

#include "ops/gpu/roofline.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <optional>
#include <string>
#include <vector>

#include "parse/model/kernel_record.h"
#include "parse/model/trace.h"
#include "prof/run/run.h"
#include "prof/views/common/grouped_partial.h"
#include "prof/views/common/saved_partial.h"
#include "prof/views/kernels/gpu_groups.h"
#include "prof/views/kernels/gpu_list.h"
#include "prof/views/kernels/roof_sums.h"

namespace oplens::prof {
namespace {

using enum FieldType;

constexpr std::string_view kRooflineOther = "(other)";
constexpr std::string_view kRooflineKeys[] = {"rank", "phase", "layer"};

/// Indices of a row's texts; those of --by come last, in the order of its words.
enum RoofText : size_t {
  kRoofOp,
  kRoofShape,
  kRoofDir,
  kRoofDType,
  kRoofRank,
  kRoofPhase,
  kRoofLayer,
  kRoofTexts
};
constexpr size_t kRoofByTexts = kRoofRank;

std::optional<double> RooflineRatio(std::optional<double> part, double whole) {
  return part && whole > 0 ? std::optional<double>(*part / whole) : std::nullopt;
}

std::optional<double> RooflinePositive(double value) {
  return value > 0 ? std::optional<double>(value) : std::nullopt;
}

struct RoofRow {
  std::string_view key;
  const RoofSums* sums;
  const ops::Gpu* gpu;  ///< Null: unknown.
  std::optional<double> math_s = {};
  std::optional<double> memory_s = {};
  std::optional<int64_t> roof_ns = {};
  std::optional<int64_t> gap_ns = {};

  RoofRow(std::string_view key_of_row, const RoofSums* sums_of_row, const ops::Gpu* gpu_of_row);

  // Rows of kernels without a price or time have only a count.
  bool IsPriced() const { return sums->units != 0 || sums->without_unit > 0; }
  Cell OfPriced(const Cell& cell) const { return IsPriced() ? cell : Cell{}; }
  std::optional<double> Known(const Checked& sum) const {
    return IsPriced() ? sum.Approximate() : std::nullopt;
  }
  std::optional<double> OverTime(std::optional<double> part) const {
    return RooflineRatio(part, static_cast<double>(sums->time_ns));
  }
  std::string_view BoundWord() const;
};

RoofRow::RoofRow(std::string_view key_of_row, const RoofSums* sums_of_row,
                 const ops::Gpu* gpu_of_row)
    : key(key_of_row), sums(sums_of_row), gpu(gpu_of_row) {
  if (gpu == nullptr) return;
  math_s = sums->MathSeconds(*gpu);
  memory_s = sums->MemorySeconds(*gpu);
  if (!math_s || !memory_s) return;
  roof_ns = sums->RoofNs(*gpu);
  gap_ns = sums->time_ns - *roof_ns;
}

// Kernels without a share of their op's work have no FLOPs, bytes or bound.
std::string_view RoofRow::BoundWord() const {
  const double time_s = static_cast<double>(sums->time_ns) * 1e-9;
  if (!roof_ns || time_s <= 0) return {};
  switch (ops::BoundOfShares(100 * *math_s / time_s, 100 * *memory_s / time_s)) {
    case ops::Bound::kMath:
      return "compute";
    case ops::Bound::kDram:
      return "memory";
    case ops::Bound::kLatency:
      return "latency";
    case ops::Bound::kUnknown:
      break;
  }
  return {};
}

struct ShownRoof : RoofRow {
  std::array<std::string_view, kRoofTexts> texts = {};
  bool other = false;
};

constexpr Column<ShownRoof> kRooflineColumns[] = {
    TextColumn<kRoofOp>{"op", "Op", Field::kShared, "op that the kernels belong to"},
    TextColumn<kRoofShape>{"shape", "Shape", Field::kShared, "shapes of the op's tensors"},
    TextColumn<kRoofDir>{"dir", "Dir", 5, "fprop (forward) or bprop (backward)"},
    TextColumn<kRoofDType>{"dtype", "DType", 6, "data type of the op's first tensor"},
    {{"gpu", "GPU", "", kText, 14, "GPU that the kernels ran on", Fold::kKey},
     [](const ShownRoof& row) { return row.gpu == nullptr ? Cell{} : Text(row.gpu->name); }},
    TextColumn<kRoofRank, true>{"rank", "Rank", 6, "rank of the process"},
    TextColumn<kRoofPhase, true>{"phase", "Phase", 10,
                                 "forward, backward, recompute, gradient, accumulate or optimizer"},
    TextColumn<kRoofLayer, true>{"layer", "Layer", Field::kShared,
                                 "names of the enclosing layers, outermost first"},
    {{"count", "Count", "", kInteger, 7, "kernels", Fold::kSum},
     [](const ShownRoof& row) { return CellOf(row.sums->count); }},
    {{"time_ns", "Time(ns)", "ns", kInteger, 13, "sum of their durations", Fold::kSum},
     [](const ShownRoof& row) { return CellOf(row.sums->time_ns); }},
    {{"flops", "FLOPs", "FLOP", kInteger, 18, "sum over the kernels that have a time", Fold::kSum},
     [](const ShownRoof& row) { return row.OfPriced(CellOf(row.sums->flops)); }},
    {{"bytes", "Bytes", "B", kInteger, 16,
      "least traffic of the ops, over the kernels that have a time", Fold::kSum},
     [](const ShownRoof& row) { return row.OfPriced(CellOf(row.sums->bytes)); }},
    {AsRatio({"ai", "AI", "FLOP/B", kDecimal, 9, "arithmetic intensity: flops / bytes"},
             {"flops", "bytes", 1}),
     [](const ShownRoof& row) {
       return Decimal(
           RooflineRatio(row.Known(row.sums->flops), row.Known(row.sums->bytes).value_or(0)));
     }},
    {AsRatio({"tflops", "TFLOP/s", "TFLOP/s", kDecimal, 9, "flops / time_ns, 10^12 per second"},
             {"flops", "time_ns", 1e-3}),
     [](const ShownRoof& row) {
       constexpr double kPerNsInTera = 1e-3;
       const std::optional<double> per_ns = row.OverTime(row.Known(row.sums->flops));
       return per_ns ? Cell{*per_ns * kPerNsInTera} : Cell{};
     }},
    {AsRatio({"gbps", "GB/s", "GB/s", kDecimal, 9, "bytes / time_ns, 10^9 per second"},
             {"bytes", "time_ns", 1}),
     [](const ShownRoof& row) { return Decimal(row.OverTime(row.Known(row.sums->bytes))); }},
    {{"unit", "Unit", "", kText, 12,
      "arithmetic whose peak counts: what the kernels use, or could use of Tensor Cores (tc_); of "
      "several, the one with most FLOPs"},
     [](const ShownRoof& row) {
       const std::optional<ops::MathUnit> unit = row.sums->MainUnit();
       return unit ? Text(ops::MathUnitWord(*unit)) : Cell{};
     }},
    {{"peak_tflops", "Peak(TFLOP/s)", "TFLOP/s", kDecimal, 10, "the GPU's peak for unit"},
     [](const ShownRoof& row) {
       constexpr double kTera = 1e12;
       const std::optional<ops::MathUnit> unit = row.sums->MainUnit();
       if (row.gpu == nullptr || !row.IsPriced() || !unit) return Cell{};
       return Decimal(RooflinePositive(row.gpu->Peak(*unit) / kTera));
     }},
    {{"peak_gbps", "Peak(GB/s)", "GB/s", kDecimal, 10, "bandwidth of the GPU's memory"},
     [](const ShownRoof& row) {
       constexpr double kGiga = 1e9;
       if (row.gpu == nullptr || !row.IsPriced()) return Cell{};
       return Decimal(RooflinePositive(static_cast<double>(row.gpu->dram_bytes_per_s) / kGiga));
     }},
    {{"bound", "Bound", "", kText, 7,
      "compute or memory: the slower one, if efficiency_pct is 60 or more; else latency"},
     [](const ShownRoof& row) { return Text(row.BoundWord()); }},
    {{"roof_ns", "Roof(ns)", "ns", kInteger, 13,
      "time at the roof: the larger of FLOPs / peak (for matrix FLOPs that of Tensor Cores) and "
      "bytes / bandwidth",
      Fold::kSum},
     [](const ShownRoof& row) { return row.OfPriced(Integer(row.roof_ns)); }},
    {AsRatio({"efficiency_pct", "Efficiency(%)", "%", kDecimal, 8, "roof_ns / time_ns * 100"},
             {"roof_ns", "time_ns", 100}),
     [](const ShownRoof& row) {
       if (!row.roof_ns) return Cell{};
       return row.OfPriced(Decimal(row.OverTime(100 * static_cast<double>(*row.roof_ns))));
     }},
    {{"gap_ns", "Gap(ns)", "ns", kInteger, 13, "time_ns - roof_ns", Fold::kSum},
     [](const ShownRoof& row) { return row.OfPriced(Integer(row.gap_ns)); }},
    {OnRequest({"inferred_ns", "Inferred(ns)", "ns", kInteger, 13,
                "part of time_ns in kernels whose op is inferred, not recorded", Fold::kSum}),
     [](const ShownRoof& row) { return row.other ? Cell{} : CellOf(row.sums->inferred_ns); }},
    {OnRequest(
         AsRatio({"inferred_pct", "Inferred(%)", "%", kDecimal, 11, "inferred_ns / time_ns * 100"},
                 {"inferred_ns", "time_ns", 100})),
     [](const ShownRoof& row) {
       return Decimal(row.OverTime(100 * static_cast<double>(row.sums->inferred_ns)));
     }},
};

class Rooflines : public SavedPartial<Rooflines> {
 public:
  explicit Rooflines(const ViewOptions& options)
      : words_("roofline", options, kRooflineKeys),
        columns_(words_.InOrder(std::span<const Column<ShownRoof>>(kRooflineColumns))) {
    for (const size_t place : words_.PlacesIn(kRooflineKeys)) {
      by_.push_back(static_cast<RoofText>(kRoofByTexts + place));
    }
  }

  void Begin(const Run* run) override {
    if (run != nullptr) family_ = run->trace().family;
  }
  void Add(const PricedKernel& kernel) override;
  void Merge(const Partial& other) override;
  std::vector<Field> Fields() const override { return FieldsOf(columns_); }
  void Emit(Sink* sink) const override;
  std::vector<std::string> Notes() const override;

  template <typename Bytes, typename Self>
  static void Transfer(Bytes* bytes, Self* self);

 private:
  using Groups = GpuGroups<RoofSums>;

  void EncodeKey(const PricedKernel& kernel, bool priced);
  static bool Before(const RoofRow& a, const RoofRow& b);

  ByWords words_;
  Columns<ShownRoof> columns_;
  std::vector<RoofText> by_;
  Groups groups_;
  std::string key_;  // Of the current kernel.
  int64_t kernels_ = 0;
  int64_t priced_ = 0;
  Family family_ = Family::kUnknown;
};

void Rooflines::EncodeKey(const PricedKernel& kernel, bool priced) {
  key_.clear();
  AppendKeyText(kernel.op, &key_);
  AppendKeyText(priced ? kernel.shapes : std::string_view(), &key_);
  const bool known = priced && IsDirectionKnown(kernel);
  AppendKeyText(known ? DirectionWord(kernel.record->direction) : std::string_view(), &key_);
  AppendKeyText(priced ? kernel.dtype : std::string_view(), &key_);
  for (const RoofText by : by_) {
    if (by == kRoofRank) {
      AppendKeyText(kernel.record->rank.value_or(std::string_view()), &key_);
    } else if (by == kRoofPhase) {
      AppendKeyText(PhaseWord(kernel.phase), &key_);
    } else {
      AppendKeyText(fmt::to_string(fmt::join(kernel.layer, ":")), &key_);
    }
  }
}

void Rooflines::Add(const PricedKernel& kernel) {
  const RatedWork work = RatedWorkOf(kernel);
  const bool priced = work.flops.has_value() && work.bytes.has_value();
  ++kernels_;
  if (priced) ++priced_;
  EncodeKey(kernel, priced);
  const uint32_t gpu = priced ? groups_.NumberOfGpu(kernel.gpu) : GpuList::kNone;
  groups_[groups_.NumberOf(gpu, &key_)].Add(kernel, priced);
}

void Rooflines::Merge(const Partial& other) {
  const auto& more = dynamic_cast<const Rooflines&>(other);
  groups_.Merge(more.groups_);
  kernels_ += more.kernels_;
  priced_ += more.priced_;
  if (family_ == Family::kUnknown) family_ = more.family_;
}

template <typename Bytes, typename Self>
void Rooflines::Transfer(Bytes* bytes, Self* self) {
  bytes->Counts(&self->kernels_, &self->priced_);
  bytes->Values(&self->family_);
  Groups::Transfer(bytes, &self->groups_, kRoofByTexts + self->by_.size());
}

// Rows without a roof come last.
bool Rooflines::Before(const RoofRow& a, const RoofRow& b) {
  if (a.gap_ns != b.gap_ns) return b.gap_ns < a.gap_ns;
  if (a.sums->time_ns != b.sums->time_ns) return a.sums->time_ns > b.sums->time_ns;
  if (a.key != b.key) return a.key < b.key;
  return GpuBefore(a.gpu, b.gpu);
}

void Rooflines::Emit(Sink* sink) const {
  std::vector<RoofRow> rows;
  rows.reserve(groups_.all().size());
  for (const Groups::Group& group : groups_.all()) {
    rows.push_back({Groups::TextsOf(group), &Groups::SumsOf(group), groups_.GpuOf(group)});
  }
  std::sort(rows.begin(), rows.end(), Before);
  TableOf<ShownRoof> table(columns_, sink);
  for (const RoofRow& row : rows) {
    ShownRoof shown{row};
    std::string_view rest = row.key;
    for (size_t i = 0; i < kRoofByTexts; ++i) shown.texts[i] = TakeKeyText(&rest);
    for (const RoofText by : by_) shown.texts[by] = TakeKeyText(&rest);
    table.Add(shown);
  }
  if (groups_.other().count == 0) return;
  RoofSums counted;
  counted.count = groups_.other().count;
  counted.time_ns = groups_.other().time_ns;
  table.Add({RoofRow({}, &counted, nullptr), {kRooflineOther}, true});
}

std::vector<std::string> Rooflines::Notes() const {
  return RoofNotes("roofline", kernels_, priced_, groups_.gpus(), family_);
}

}  // namespace

extern constexpr View kRooflineView = {
    .name = "roofline",
    .help = "how far the kernels of each op are from what the GPU can do",
    .fields = FieldsWithoutBy<kRooflineColumns>,
    .make = MakePartial<Rooflines>,
    .by = kRooflineKeys,
    .narrow = "count,time_ns,tflops,bound,efficiency_pct,gap_ns",
    .important = "op,time_ns,gap_ns,efficiency_pct,bound,tflops,dtype,dir,count,shape",
    .saved_form = 1};

}  // namespace oplens::prof

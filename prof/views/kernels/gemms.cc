#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/append_format.h"
#include "base/hash.h"
#include "base/parse_number.h"
#include "base/ratio.h"
#include "parse/model/kernel_record.h"
#include "parse/model/trace.h"
#include "prof/price/product_facts.h"
#include "prof/run/run.h"
#include "prof/views/common/grouped_partial.h"
#include "prof/views/common/saved_partial.h"
#include "prof/views/kernels/gpu_groups.h"
#include "prof/views/kernels/gpu_list.h"
#include "prof/views/kernels/roof_sums.h"

namespace oplens::prof {
namespace {

using enum FieldType;

constexpr std::string_view kGemmsOther = "(other)";
constexpr std::string_view kGemmsKeys[] = {"rank", "phase", "layer"};
constexpr std::string_view kGemmsSizes[] = {"m", "n", "k", "batch"};

/// Indices of a row's texts. Those of --by come after the others, in the order of its words.
enum GemmText : size_t {
  kGemmOp,
  kGemmM,
  kGemmN,
  kGemmK,
  kGemmBatch,
  kGemmDType,
  kGemmLayout,
  kGemmRank,
  kGemmPhase,
  kGemmLayer,
  kGemmTexts
};
constexpr size_t kGemmByTexts = kGemmRank;

/// Sums over the kernels of products of one size.
struct GemmSums {
  RoofSums roof;
  Count calls;                       ///< Of ops, as far as kernels are known to belong to one.
  std::map<ProductTile, Sum> tiles;  ///< Time of the main kernels whose tile is known.

  void Add(const PricedKernel& kernel, bool priced) {
    roof.Add(kernel, priced);
    if (!priced || kernel.share.role != ops::Role::kMain || !kernel.record->timed()) return;
    if (const auto tile = TileOf(kernel)) tiles[*tile] += kernel.record->duration_ns;
  }
};

struct GemmRow {
  std::array<std::string_view, kGemmTexts> texts = {};
  std::array<std::optional<int64_t>, std::size(kGemmsSizes)> sizes = {};
  const GemmSums* sums = nullptr;
  const ops::Gpu* gpu = nullptr;  ///< Null: unknown.
  std::string_view key;
  int64_t all_ns = 0;  ///< Time of all kernels of the run.
  std::optional<int64_t> roof_ns = {};
  std::optional<double> efficiency_pct = {};
  std::optional<double> best_pct = {};  ///< Of all rows of its type and GPU.
  std::string tile = {};                ///< With the most time: "128x64".

  // Rows of kernels without a price or time have only counts and time.
  bool IsPriced() const { return sums->roof.units != 0 || sums->roof.without_unit > 0; }
  std::optional<double> TileEfficiencyPct() const;
};

std::optional<double> GemmRow::TileEfficiencyPct() const {
  if (!sizes[0] || !sizes[1]) return std::nullopt;
  double weighted = 0;
  double time_ns = 0;
  for (const auto& [one, tile_ns] : sums->tiles) {
    const std::optional<double> efficiency = TileEfficiency(*sizes[0], *sizes[1], one);
    if (!efficiency) return std::nullopt;
    weighted += *efficiency * static_cast<double>(int64_t{tile_ns});
    time_ns += static_cast<double>(int64_t{tile_ns});
  }
  if (time_ns <= 0) return std::nullopt;
  return 100 * weighted / time_ns;
}

template <size_t place>
constexpr Column<GemmRow> GemmSize(std::string_view key, std::string_view header,
                                   std::string_view help) {
  return {{key, header, "", kInteger, 7, help, Fold::kKey},
          [](const GemmRow& row) { return Integer(row.sizes[place]); }};
}

constexpr Column<GemmRow> kGemmsColumns[] = {
    TextColumn<kGemmOp>{"op", "Op", Field::kShared, "op that the kernels belong to"},
    GemmSize<0>("m", "M", "M of the column-major product: PyTorch's last dimension"),
    GemmSize<1>("n", "N", "N of the column-major product"),
    GemmSize<2>("k", "K", "what the product sums over"),
    GemmSize<3>("batch", "Batch", "number of products of a call"),
    TextColumn<kGemmLayout>{"layout", "Layout", 6,
                            "which factors are transposed for BLAS: NN, NT, TN or TT"},
    TextColumn<kGemmDType>{"dtype", "DType", 6, "data type of the op's first tensor"},
    {{"gpu", "GPU", "", kText, 14, "GPU that the kernels ran on", Fold::kKey},
     [](const GemmRow& row) { return row.gpu == nullptr ? Cell{} : Text(row.gpu->name); }},
    TextColumn<kGemmRank, true>{"rank", "Rank", 6, "rank of the process"},
    TextColumn<kGemmPhase, true>{"phase", "Phase", 10,
                                 "forward, backward, recompute, gradient, accumulate or optimizer"},
    TextColumn<kGemmLayer, true>{"layer", "Layer", Field::kShared,
                                 "names of the enclosing layers, outermost first"},
    {{"calls", "Calls", "", kInteger, 7, "calls of the op, as far as they are known", Fold::kSum},
     [](const GemmRow& row) { return row.sums->calls > 0 ? CellOf(row.sums->calls) : Cell{}; }},
    {{"kernels", "Kernels", "", kInteger, 7, "kernels, with those that help the product",
      Fold::kSum},
     [](const GemmRow& row) { return CellOf(row.sums->roof.count); }},
    {{"time_ns", "Time(ns)", "ns", kInteger, 13, "sum of their durations", Fold::kSum},
     [](const GemmRow& row) { return CellOf(row.sums->roof.time_ns); }},
    {{"share_pct", "Share(%)", "%", kDecimal, 8, "time_ns / time of all kernels of the run * 100"},
     [](const GemmRow& row) { return PercentCell(row.sums->roof.time_ns, row.all_ns); }},
    {{"flops", "FLOPs", "FLOP", kInteger, 18, "sum over the kernels that have a time", Fold::kSum},
     [](const GemmRow& row) { return row.IsPriced() ? CellOf(row.sums->roof.flops) : Cell{}; }},
    {AsRatio({"tflops", "TFLOP/s", "TFLOP/s", kDecimal, 9, "flops / time_ns, 10^12 per second"},
             {"flops", "time_ns", 1e-3}),
     [](const GemmRow& row) {
       const auto flops = row.sums->roof.flops.Approximate();
       if (!row.IsPriced() || !flops) return Cell{};
       const auto per_ns = Ratio(*flops, static_cast<double>(int64_t{row.sums->roof.time_ns}));
       return per_ns ? Cell{*per_ns * 1e-3} : Cell{};
     }},
    {{"roof_ns", "Roof(ns)", "ns", kInteger, 13, "time at the roof, as in the view roofline",
      Fold::kSum},
     [](const GemmRow& row) { return Integer(row.roof_ns); }},
    {AsRatio({"efficiency_pct", "Efficiency(%)", "%", kDecimal, 8, "roof_ns / time_ns * 100"},
             {"roof_ns", "time_ns", 100}),
     [](const GemmRow& row) { return Decimal(row.efficiency_pct); }},
    {{"best_pct", "Best(%)", "%", kDecimal, 8,
      "largest efficiency_pct of a row of the same data type and GPU"},
     [](const GemmRow& row) { return Decimal(row.best_pct); }},
    {{"tile", "Tile", "", kText, 9,
      "m x n that a block computes at a time, by the kernel's name; of several, the one with the "
      "most time"},
     [](const GemmRow& row) { return Text(row.tile); }},
    {{"tile_efficiency_pct", "TileEff(%)", "%", kDecimal, 10,
      "m * n / the same padded to whole tiles * 100; of several tiles, the mean by time"},
     [](const GemmRow& row) { return Decimal(row.TileEfficiencyPct()); }},
};

/// Products of matrices by their sizes. Only some kernels of a call tell its layout, so what a call
/// took so far waits for it.
class Gemms : public SavedPartial<Gemms> {
 public:
  explicit Gemms(const ViewOptions& options)
      : words_("gemms", options, kGemmsKeys),
        columns_(words_.InOrder(std::span<const Column<GemmRow>>(kGemmsColumns))) {
    for (const size_t place : words_.PlacesIn(kGemmsKeys)) {
      by_.push_back(static_cast<GemmText>(kGemmByTexts + place));
    }
  }

  void Begin(const Run* run) override {
    if (run != nullptr) family_ = run->trace().family;
  }
  void Add(const PricedKernel& kernel) override;
  void End(const Run*) override {
    while (!order_.empty()) CloseFirst();
  }
  void Merge(const Partial& other) override;
  std::vector<Field> Fields() const override { return FieldsOf(columns_); }
  void Emit(Sink* sink) const override;
  std::vector<std::string> Notes() const override {
    return RoofNotes("gemms", kernels_, priced_, groups_.gpus(), family_);
  }

  template <typename Bytes, typename Self>
  static void Transfer(Bytes* bytes, Self* self);

 private:
  using Groups = GpuGroups<GemmSums>;
  /// A call whose kernels may still come.
  struct Open {
    std::string texts;  ///< Those before the layout.
    std::string by_texts;
    uint32_t gpu = GpuList::kNone;
    std::string_view op_layout;  ///< One of LayoutOf(), which lives as long as the program.
    std::optional<uint32_t> group;
    GemmSums waiting;  ///< Without `group`.
    int64_t last = 0;  ///< Number of its last kernel.
  };
  /// No call has kernels that are further apart (InstanceGrouper::kWindow has fewer).
  static constexpr int64_t kMostApart = 4096;

  static bool Before(const GemmRow& a, const GemmRow& b);

  uint32_t GroupOf(std::string_view texts, std::string_view layout, std::string_view by_texts,
                   uint32_t gpu);
  void Encode(const PricedKernel& kernel, bool priced);
  void CloseFirst();
  GemmRow RowOf(const Groups::Group& group) const;

  ByWords words_;
  Columns<GemmRow> columns_;
  std::vector<GemmText> by_;
  Groups groups_;
  TextMap<Open> open_;                            // By texts and call.
  std::deque<TextMap<Open>::value_type*> order_;  // Of open_, the oldest first.
  std::string key_, texts_, by_texts_;            // Of the current kernel.
  int64_t seen_ = 0;                              // Kernels of the current rank.
  int64_t kernels_ = 0;
  int64_t priced_ = 0;
  Sum all_ns_;
  Family family_ = Family::kUnknown;
};

uint32_t Gemms::GroupOf(std::string_view texts, std::string_view layout, std::string_view by_texts,
                        uint32_t gpu) {
  key_ = texts;
  AppendKeyText(layout, &key_);
  key_ += by_texts;
  return groups_.NumberOf(gpu, &key_);
}

void Gemms::Encode(const PricedKernel& kernel, bool priced) {
  texts_.clear();
  AppendKeyText(kernel.op, &texts_);
  for (const std::string_view size : kGemmsSizes) {
    const auto value = priced ? SizeOf(kernel, size) : std::nullopt;
    AppendKeyText(value ? fmt::to_string(*value) : std::string(), &texts_);
  }
  AppendKeyText(priced ? kernel.dtype : std::string_view(), &texts_);
  by_texts_.clear();
  for (const GemmText by : by_) {
    if (by == kGemmRank) {
      AppendKeyText(kernel.record->rank.value_or(std::string_view()), &by_texts_);
    } else if (by == kGemmPhase) {
      AppendKeyText(PhaseWord(kernel.phase), &by_texts_);
    } else {
      AppendKeyText(fmt::to_string(fmt::join(kernel.layer, ":")), &by_texts_);
    }
  }
}

void Gemms::Add(const PricedKernel& kernel) {
  ++seen_;
  if (kernel.record->timed()) all_ns_ += kernel.record->duration_ns;
  if (!IsOfProduct(kernel)) return;
  const RatedWork work = RatedWorkOf(kernel);
  const bool priced = work.flops.has_value() && work.bytes.has_value();
  ++kernels_;
  if (priced) ++priced_;
  Encode(kernel, priced);
  const uint32_t gpu = priced ? groups_.NumberOfGpu(kernel.gpu) : GpuList::kNone;
  if (!priced || kernel.instance == 0) {
    const std::string_view layout = priced ? LayoutOf(kernel) : std::string_view();
    groups_[GroupOf(texts_, layout, by_texts_, gpu)].Add(kernel, priced);
    return;
  }
  (key_ = texts_) += by_texts_;
  AppendFormat(&key_, "{} {}", kernel.instance, static_cast<int>(kernel.share.part));
  const auto [place, added] = open_.try_emplace(key_);
  Open& call = place->second;
  if (added) {
    order_.push_back(&*place);
    call.texts = texts_;
    call.by_texts = by_texts_;
    call.gpu = gpu;
    call.op_layout = kernel.op_layout;
  }
  call.last = seen_;
  const std::string_view layout = LayoutByName(kernel);
  if (!call.group && !layout.empty()) {
    call.group = GroupOf(texts_, layout, by_texts_, gpu);
    MergeInto(&groups_[*call.group], call.waiting);
    ++groups_[*call.group].calls;
  }
  (call.group ? groups_[*call.group] : call.waiting).Add(kernel, priced);
  while (!order_.empty() && order_.front()->second.last + kMostApart < seen_) {
    CloseFirst();
  }
}

void Gemms::CloseFirst() {
  const auto place = open_.find(order_.front()->first);
  order_.pop_front();
  Open& call = place->second;
  if (!call.group) {
    GemmSums& sums = groups_[GroupOf(call.texts, call.op_layout, call.by_texts, call.gpu)];
    MergeInto(&sums, call.waiting);
    ++sums.calls;
  }
  open_.erase(place);
}

void Gemms::Merge(const Partial& other) {
  const auto& more = dynamic_cast<const Gemms&>(other);
  groups_.Merge(more.groups_);
  kernels_ += more.kernels_;
  priced_ += more.priced_;
  all_ns_ += more.all_ns_;
  if (family_ == Family::kUnknown) family_ = more.family_;
}

template <typename Bytes, typename Self>
void Gemms::Transfer(Bytes* bytes, Self* self) {
  bytes->Counts(&self->kernels_, &self->priced_);
  bytes->Values(&self->all_ns_, &self->family_);
  Groups::Transfer(bytes, &self->groups_, kGemmByTexts + self->by_.size());
}

bool Gemms::Before(const GemmRow& a, const GemmRow& b) {
  if (a.sums->roof.time_ns != b.sums->roof.time_ns) {
    return a.sums->roof.time_ns > b.sums->roof.time_ns;
  }
  if (a.key != b.key) return a.key < b.key;
  return GpuBefore(a.gpu, b.gpu);
}

GemmRow Gemms::RowOf(const Groups::Group& group) const {
  GemmRow row;
  row.key = Groups::TextsOf(group);
  row.sums = &Groups::SumsOf(group);
  row.gpu = groups_.GpuOf(group);
  row.all_ns = all_ns_;
  std::string_view rest = row.key;
  for (size_t i = 0; i < kGemmByTexts; ++i) row.texts[i] = TakeKeyText(&rest);
  for (const GemmText by : by_) row.texts[by] = TakeKeyText(&rest);
  for (size_t i = 0; i < row.sizes.size(); ++i) {
    int64_t size = 0;
    if (ParseNumber(row.texts[kGemmM + i], &size)) row.sizes[i] = size;
  }
  if (row.gpu != nullptr && row.IsPriced()) row.roof_ns = row.sums->roof.RoofNs(*row.gpu);
  if (row.roof_ns) {
    const auto part = Ratio(static_cast<double>(*row.roof_ns),
                            static_cast<double>(int64_t{row.sums->roof.time_ns}));
    if (part) row.efficiency_pct = 100 * *part;
  }
  const auto& tiles = row.sums->tiles;
  const auto most = std::max_element(
      tiles.begin(), tiles.end(), [](const auto& a, const auto& b) { return a.second < b.second; });
  if (most != tiles.end()) row.tile = fmt::format("{}x{}", most->first.m, most->first.n);
  return row;
}

void Gemms::Emit(Sink* sink) const {
  std::vector<GemmRow> rows;
  rows.reserve(groups_.all().size());
  std::map<std::pair<std::string_view, const ops::Gpu*>, double> best;
  for (const Groups::Group& group : groups_.all()) {
    const GemmRow& row = rows.emplace_back(RowOf(group));
    if (!row.efficiency_pct) continue;
    double& most = best[{row.texts[kGemmDType], row.gpu}];
    most = std::max(most, *row.efficiency_pct);
  }
  std::sort(rows.begin(), rows.end(), Before);
  TableOf<GemmRow> table(columns_, sink);
  for (GemmRow& row : rows) {
    if (row.efficiency_pct) row.best_pct = best[{row.texts[kGemmDType], row.gpu}];
    table.Add(row);
  }
  if (groups_.other().roof.count == 0) return;
  GemmSums counted;
  counted.roof.count = groups_.other().roof.count;
  counted.roof.time_ns = groups_.other().roof.time_ns;
  GemmRow other;
  other.texts[kGemmOp] = kGemmsOther;
  other.sums = &counted;
  other.all_ns = all_ns_;
  table.Add(other);
}

}  // namespace

extern constexpr View kGemmsView = {
    .name = "gemms",
    .help = "what products of matrices of each size cost, and how far they are from the roof",
    .fields = FieldsWithoutBy<kGemmsColumns>,
    .make = MakePartial<Gemms>,
    .by = kGemmsKeys,
    .narrow = "calls,time_ns,share_pct,tflops,efficiency_pct,best_pct,tile_efficiency_pct",
    .important =
        "time_ns,m,n,k,efficiency_pct,op,share_pct,best_pct,layout,dtype,tflops,"
        "tile_efficiency_pct,batch,calls,tile,kernels",
    .saved_form = 1};

}  // namespace oplens::prof

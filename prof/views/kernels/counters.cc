// What the hardware counted of the kernels of each op, beside what the cost model says.

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>
#include <string>
#include <string_view>

#include "base/byte_map.h"
#include "base/parse_number.h"
#include "base/sums.h"
#include "ops/kernels/name_facts.h"
#include "parse/model/kernel_counters.h"
#include "parse/model/kernel_record.h"
#include "prof/price/figures.h"
#include "prof/price/kernel_facts.h"
#include "prof/price/priced_kernel.h"
#include "prof/table/field.h"
#include "prof/views/common/grouped_partial.h"

namespace oplens::prof {
namespace {

using enum FieldType;

struct CountersKey {
  std::string op;
  std::string shape;
  std::string dir;
  std::string dtype;

  auto operator<=>(const CountersKey&) const = default;
};

struct CountersSums {
  Count kernels;
  Count counted;  // Kernels with any counter.
  Sum time_ns;
  // Of kernels whose FLOPs are both modelled and measured:
  Count flops_pairs;
  Sum model_flops;
  Sum measured_flops;
  Sum padded_flops;  // Modelled, in whole tiles.
  Count fast;        // Winograd, FFT.
  Count convolutions;
  Count products;
  // Of kernels whose DRAM bytes are:
  Count bytes_pairs;
  Sum model_bytes;
  Sum dram_bytes;
  Count l2_pairs;  // Of them also those of the L2.
  Sum l2_bytes;
  Count with_tensor;
  Sum tensor_instructions;
};

using CountersRow = GroupRow<CountersKey, CountersSums>;

/// Figures this near to each other agree.
constexpr double kNear = 1.02;
/// Beside the product in whole tiles, an epilogue computes.
constexpr double kWithEpilogue = 1.05;

double AsReal(int64_t value) { return static_cast<double>(value); }

/// Why the FLOPs of the model and of the hardware differ: docs/views.md, "Counters".
std::string_view FlopsWhy(const CountersSums& sums) {
  if (sums.flops_pairs == 0) return {};
  const double model = AsReal(sums.model_flops);
  const double measured = AsReal(sums.measured_flops);
  if (model <= measured * kNear && measured <= model * kNear) return "agree";
  if (measured > model) {
    const double padded = AsReal(sums.padded_flops);
    if (padded > model && measured <= padded * kWithEpilogue) return "padding";
    return sums.products == 0 ? "instructions" : "model";
  }
  if (sums.fast > 0) return "algorithm";
  if (sums.products == 0) return "uncounted";
  return sums.convolutions > 0 ? "taps" : "model";
}

/// Likewise of the bytes.
std::string_view BytesWhy(const CountersSums& sums) {
  if (sums.bytes_pairs == 0) return {};
  const double model = AsReal(sums.model_bytes);
  const double dram = AsReal(sums.dram_bytes);
  if (model <= dram * kNear && dram <= model * kNear) return "agree";
  if (dram > model) return "rereads";
  const bool passed_l2 = sums.l2_pairs < sums.bytes_pairs || model <= AsReal(sums.l2_bytes) * kNear;
  return passed_l2 ? "cache" : "model";
}

constexpr Column<CountersRow> kCountersColumns[] = {
    KeyColumn<&CountersKey::op>{
        {"op", "Op", "", kText, Field::kShared, "op that the kernels belong to", Fold::kKey}},
    KeyColumn<&CountersKey::shape>{
        {"shape", "Shape", "", kText, Field::kShared, "shapes of the op's tensors", Fold::kKey}},
    KeyColumn<&CountersKey::dir>{
        {"dir", "Dir", "", kText, 5, "fprop (forward) or bprop (backward)", Fold::kKey}},
    KeyColumn<&CountersKey::dtype>{
        {"dtype", "DType", "", kText, 6, "data type of the op's first tensor", Fold::kKey}},
    FigureColumn<&CountersSums::kernels>{"count", "Count", "", 7, "kernels"},
    FigureColumn<&CountersSums::counted>{"counted", "Counted", "", 7,
                                         "kernels that the hardware counted"},
    FigureColumn<&CountersSums::time_ns>{"time_ns", "Time(ns)", "ns", 13, "sum of their durations"},
    {{"flops", "FLOPs", "FLOP", kInteger, 16, "modelled, over the kernels that have measured ones",
      Fold::kSum},
     KnownOf<&CountersSums::flops_pairs, &CountersSums::model_flops, CountersRow>},
    {{"measured_flops", "MeasuredFLOPs", "FLOP", kInteger, 16,
      "counted by the hardware, over the kernels that have modelled ones", Fold::kSum},
     KnownOf<&CountersSums::flops_pairs, &CountersSums::measured_flops, CountersRow>},
    {AsRatio({"flops_ratio", "FLOPsRatio", "", kDecimal, 9, "flops / measured_flops"},
             {"flops", "measured_flops", 1}),
     RatioOf<&CountersSums::model_flops, &CountersSums::measured_flops, 1, CountersRow>},
    {{"flops_why", "FLOPsWhy", "", kText, 12,
      "agree (2 %), padding (whole tiles), algorithm (Winograd, FFT), taps (on the padding), "
      "instructions (more of them than the formula has), uncounted (no FLOPs to the hardware), "
      "model (unexplained)"},
     [](const CountersRow& row) { return Text(FlopsWhy(row.sums)); }},
    {{"bytes", "Bytes", "B", kInteger, 14, "modelled, over the kernels that have measured ones",
      Fold::kSum},
     KnownOf<&CountersSums::bytes_pairs, &CountersSums::model_bytes, CountersRow>},
    {{"measured_bytes", "MeasuredBytes", "B", kInteger, 14,
      "DRAM traffic counted by the hardware, over the kernels that have modelled bytes",
      Fold::kSum},
     KnownOf<&CountersSums::bytes_pairs, &CountersSums::dram_bytes, CountersRow>},
    {{"l2_bytes", "L2Bytes", "B", kInteger, 14, "counted traffic through the L2 of these kernels",
      Fold::kSum},
     KnownOf<&CountersSums::l2_pairs, &CountersSums::l2_bytes, CountersRow>},
    {AsRatio({"bytes_ratio", "BytesRatio", "", kDecimal, 9, "bytes / measured_bytes"},
             {"bytes", "measured_bytes", 1}),
     RatioOf<&CountersSums::model_bytes, &CountersSums::dram_bytes, 1, CountersRow>},
    {{"bytes_why", "BytesWhy", "", kText, 9,
      "agree (2 %), cache (the L2 served them, or kept what was written), rereads (more than the "
      "least), model (more than passed the L2)"},
     [](const CountersRow& row) { return Text(BytesWhy(row.sums)); }},
    {{"tensor_insts", "TensorInsts", "", kInteger, 12,
      "Tensor Core instructions that the hardware counted", Fold::kSum},
     KnownOf<&CountersSums::with_tensor, &CountersSums::tensor_instructions, CountersRow>},
};

constexpr int64_t kMostTile = 1 << 20;

double InTiles(int64_t extent, int64_t tile) {
  return std::ceil(AsReal(extent) / AsReal(tile)) * AsReal(tile);
}

/// How often the pairs of an attention are all those of its tiles, whatever the mask hides.
double PairsInTiles(const ops::MatrixProduct& product, const ops::Work& whole) {
  constexpr int64_t kUsualTile = 128;
  if (product.extents.size() < 2) return 1;
  const double pairs =
      AsReal(product.batch) * InTiles(product.m, kUsualTile) * InTiles(product.n, kUsualTile);
  const double d = AsReal(product.extents[0].extent);
  const double dv = AsReal(product.extents[1].extent);
  const double exact = whole.mma.Approximate().value_or(0);
  // Of the forward; of the backward, which may be a call of its own.
  for (const double width : {d + dv, 3 * d + 2 * dv}) {
    const double all = 2 * pairs * width;
    if (exact > 0 && all >= exact) return all / exact;
  }
  return 1;
}

/// The tile of a name that says no more of it than "gemm_bf16_128x128_nn": its first two numbers
/// with an x between them.
ops::NameFacts WithPlainTile(std::string_view name, ops::NameFacts facts) {
  constexpr std::string_view kDigits = "0123456789";
  for (size_t x = name.find('x'); x != std::string_view::npos && !facts.tile_m;
       x = name.find('x', x + 1)) {
    const size_t before = name.find_last_not_of(kDigits, x - (x > 0 ? 1 : 0)) + 1;
    const size_t end = std::min(name.find_first_not_of(kDigits, x + 1), name.size());
    int64_t m = 0;
    int64_t n = 0;
    if (before < x && ParseNumber(name.substr(before, x - before), &m) &&
        ParseNumber(name.substr(x + 1, end - x - 1), &n)) {
      facts.tile_m = m;
      facts.tile_n = n;
    }
  }
  return facts;
}

/// How many times its FLOPs a product has if each extent fills whole tiles, in the order that pads
/// most: a gradient permutes the extents, and libraries count by columns. 1: no tile is known.
double ProductInTiles(const ops::MatrixProduct& product, const ops::NameFacts& facts) {
  constexpr int64_t kUsualDepth = 32;
  const int64_t tiles[] = {facts.tile_m.value_or(0), facts.tile_n.value_or(0),
                           facts.tile_k.value_or(kUsualDepth)};
  if (std::any_of(std::begin(tiles), std::end(tiles),
                  [](int64_t tile) { return tile < 1 || tile > kMostTile; })) {
    return 1;
  }
  std::array<int64_t, 3> extents = {product.m, product.n, product.k};
  std::sort(extents.begin(), extents.end());
  if (extents.front() <= 0) return 1;
  double most = 1;
  do {
    double times = 1;
    for (size_t i = 0; i < 3; ++i) times *= InTiles(extents[i], tiles[i]) / AsReal(extents[i]);
    most = std::max(most, times);
  } while (std::next_permutation(extents.begin(), extents.end()));
  if (product.kind != ops::MatrixProduct::Kind::kConvolution) return most;
  // Channels are padded at each tap of the filter.
  double channels = 1;
  for (const ops::NamedExtent& extent : product.extents) {
    if (extent.extent <= 0) continue;
    channels = std::max(channels, InTiles(extent.extent, tiles[2]) / AsReal(extent.extent));
  }
  return most * channels;
}

/// The kernel's FLOPs if it computes whole tiles.
double PaddedFlops(const PricedKernel& kernel) {
  const double exact = AsReal(kernel.share.flops.value_or(0));
  if (kernel.price == nullptr || !kernel.price->product || kernel.facts == nullptr) return exact;
  const ops::MatrixProduct& product = *kernel.price->product;
  if (product.kind == ops::MatrixProduct::Kind::kAttention) {
    return kernel.price->forward.empty()
               ? exact
               : exact * PairsInTiles(product, kernel.price->forward.front().work);
  }
  const std::string_view name = kernel.facts->name;
  return exact * ProductInTiles(product, WithPlainTile(name, ops::NameFactsOf(name)));
}

class CountersView : public GroupedPartial<CountersKey, CountersSums> {
 public:
  explicit CountersView(const ViewOptions& options)
      : GroupedPartial("counters", options, {}, kCountersColumns) {}

  void Add(const PricedKernel& kernel) override;
  std::vector<std::string> Notes() const override;
  void Save(ByteWriter* bytes) const override { bytes->Values(&notes_, &rows_); }
  void Load(ByteReader* bytes) override {
    bytes->Values(&notes_);
    // Texts may have become equal.
    TransferMap(bytes, &rows_,
                [&](const CountersKey& key, const CountersSums& sums) { Take(key, sums); });
  }

 private:
  static void AddFlops(const PricedKernel& kernel, CountersSums* sums);
  static void AddBytes(const PricedKernel& kernel, CountersSums* sums);
};

void CountersView::AddFlops(const PricedKernel& kernel, CountersSums* sums) {
  const std::optional<int64_t> measured = kernel.counters->flops();
  if (!measured || !kernel.share.flops) return;
  ++sums->flops_pairs;
  sums->model_flops += *kernel.share.flops;
  sums->measured_flops += *measured;
  constexpr double kMostFlops = 9e18;
  sums->padded_flops += static_cast<int64_t>(std::min(PaddedFlops(kernel), kMostFlops));
  sums->fast += kernel.share.fast_convolution ? 1 : 0;
  if (kernel.share.flops_mma.value_or(0) == 0 || kernel.price == nullptr) return;
  ++sums->products;
  const auto& product = kernel.price->product;
  const bool convolves = product && product->kind == ops::MatrixProduct::Kind::kConvolution;
  sums->convolutions += convolves ? 1 : 0;
}

void CountersView::AddBytes(const PricedKernel& kernel, CountersSums* sums) {
  if (!kernel.counters->dram_bytes || !kernel.share.bytes) return;
  ++sums->bytes_pairs;
  sums->model_bytes += *kernel.share.bytes;
  sums->dram_bytes += *kernel.counters->dram_bytes;
  if (!kernel.counters->l2_bytes) return;
  ++sums->l2_pairs;
  sums->l2_bytes += *kernel.counters->l2_bytes;
}

void CountersView::Add(const PricedKernel& kernel) {
  const std::string_view op = HasOwnOp(kernel) ? kernel.op : kernel.record->short_name;
  CountersSums sums;
  ++sums.kernels;
  sums.time_ns += kernel.record->timed() ? kernel.record->duration_ns : 0;
  if (kernel.counters != nullptr) {
    ++sums.counted;
    AddFlops(kernel, &sums);
    AddBytes(kernel, &sums);
    if (const auto instructions = kernel.counters->tensor_instructions) {
      ++sums.with_tensor;
      sums.tensor_instructions += *instructions;
    }
  }
  Take({std::string(op), std::string(kernel.shapes),
        std::string(DirectionWord(kernel.record->direction)), std::string(kernel.dtype)},
       sums);
}

std::vector<std::string> CountersView::Notes() const {
  std::vector<std::string> notes = GroupedPartial::Notes();
  const bool any = std::any_of(rows_.begin(), rows_.end(),
                               [](const auto& row) { return row.second.counted > 0; });
  if (!rows_.empty() && !any) {
    notes.push_back(
        "counters: no kernel was counted; count them with ncu, and give its export to --counters");
  }
  return notes;
}

}  // namespace

extern constexpr View kCountersView = {
    .name = "counters",
    .help = "FLOPs and bytes of each op: modelled, and counted by the hardware (--counters)",
    .fields = FieldsWithoutBy<kCountersColumns>,
    .make = MakePartial<CountersView>,
    .narrow = "count,counted,flops_ratio,flops_why,bytes_ratio,bytes_why",
    .important = "op,flops_ratio,flops_why,bytes_ratio,bytes_why,shape,dir,count",
    .saved_form = 1};

}  // namespace oplens::prof

// FLOPs utilisation of a model, with what each figure counts: of the products that ran, and by the
// conventions of a model that --model names.

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "parse/model/recording_advice.h"
#include "prof/run/idle_gaps.h"
#include "prof/run/run.h"
#include "prof/views/common/grouped_partial.h"
#include "prof/views/common/model_plan.h"
#include "prof/views/kernels/model_match.h"
#include "prof/views/kernels/product_sums.h"

namespace oplens::prof {
namespace {

using enum FieldType;

constexpr std::string_view kMfuKeys[] = {"layer"};

struct MfuRow {
  std::string_view rank;
  std::string_view counts;  ///< "products", "type", "A", "part", "layer", "total".
  std::string name;
  std::optional<double> token_flops;
  std::optional<double> model_flops;   ///< Per step.
  std::optional<double> kernel_flops;  ///< Likewise, without what is recomputed.
  std::optional<double> difference_pct;
  std::optional<double> tflops;  ///< Per GPU and second.
  std::optional<double> peak_tflops;
  std::optional<double> mfu_pct;
  std::optional<double> hfu_pct;
  std::string note;
};

template <std::optional<double> MfuRow::*member>
Cell WholeCell(const MfuRow& row) {
  constexpr double kMost = 9e18;
  const std::optional<double> value = row.*member;
  if (!value) return {};
  // Beyond the integers of a cell.
  if (std::abs(*value) > kMost) return Cell{*value};
  return Integer(static_cast<int64_t>(std::llround(*value)));
}

template <std::optional<double> MfuRow::*member>
Cell DecimalCell(const MfuRow& row) {
  return Decimal(row.*member);
}

constexpr Column<MfuRow> kMfuColumns[] = {
    {{"rank", "Rank", "", kText, 4, "rank", Fold::kKey},
     [](const MfuRow& row) { return Text(row.rank); }},
    {{"counts", "Counts", "", kText, 8,
      "products: matrix products that ran; type: those of a data type; A to D'': a convention "
      "(docs/mfu.md); part, total: products of the model's parts; layer: of a block",
      Fold::kKey},
     [](const MfuRow& row) { return Text(row.counts); }},
    {{"name", "Name", "", kText, Field::kShared, "formula, data type, part or layer", Fold::kKey},
     [](const MfuRow& row) { return Text(row.name); }},
    {{"mfu_pct", "MFU(%)", "%", kDecimal, 7, "100 x tflops / peak_tflops"},
     DecimalCell<&MfuRow::mfu_pct>},
    {{"hfu_pct", "HFU(%)", "%", kDecimal, 7,
      "as mfu_pct, with products that are computed again for the backward pass"},
     DecimalCell<&MfuRow::hfu_pct>},
    {{"model_flops", "ModelFLOP", "FLOP", kInteger, 18,
      "FLOPs of the model in a step, of what the rank's GPUs compute"},
     WholeCell<&MfuRow::model_flops>},
    {{"kernel_flops", "KernelFLOP", "FLOP", kInteger, 18,
      "FLOPs of the matrix products that ran in a step, without recomputed ones"},
     WholeCell<&MfuRow::kernel_flops>},
    {{"difference_pct", "Diff(%)", "%", kDecimal, 8,
      "100 x (kernel_flops - model_flops) / model_flops"},
     DecimalCell<&MfuRow::difference_pct>},
    {{"token_flops", "FLOP/token", "FLOP", kInteger, 14,
      "FLOPs per token: by the convention, by the configuration, or that ran"},
     WholeCell<&MfuRow::token_flops>},
    {{"tflops", "TFLOP/s", "TFLOP/s", kDecimal, 9,
      "model_flops, else kernel_flops, per second of a step and GPU"},
     DecimalCell<&MfuRow::tflops>},
    {{"peak_tflops", "Peak", "TFLOP/s", kDecimal, 9,
      "dense peak of the GPU for the products' types; of several types, mixed by their time at "
      "peak"},
     DecimalCell<&MfuRow::peak_tflops>},
    {{"note", "Note", "", kText, Field::kShared, "what the figure counts, or why it differs"},
     [](const MfuRow& row) { return Text(row.note); }},
};

std::optional<double> Ratio(double part, double whole, double times = 1) {
  return whole > 0 ? std::optional<double>(times * part / whole) : std::nullopt;
}

/// The rows of one rank.
class RankRows {
 public:
  RankRows(const RankName& rank, const ProductsOfRank& run, const ModelPlan* plan,
           TableOf<MfuRow>* table)
      : rank_(rank.text), run_(run), plan_(plan), table_(table) {
    for (const auto& [type, sums] : run.types) {
      flops_ += sums.flops;
      again_ += sums.again;
      if (type.peak_per_s <= 0) continue;
      ideal_ps_ += sums.ideal_ps;
      again_ps_ += sums.again_ideal_ps;
      rated_flops_ += sums.flops + sums.again;
      one_peak_ = one_peak_ && (peak_per_s_ == 0 || peak_per_s_ == type.peak_per_s);
      peak_per_s_ = type.peak_per_s;
    }
    if (plan_ != nullptr) match_ = MatchModel(run, *plan_);
  }

  void Emit(bool by_layer) const {
    AddProducts();
    AddTypes();
    if (plan_ == nullptr) return;
    for (const ops::Convention& convention : ops::Conventions()) {
      if (plan_->convention == nullptr || plan_->convention == &convention) {
        AddConvention(convention);
      }
    }
    AddParts();
    if (by_layer) AddLayers();
  }

 private:
  MfuRow Row(std::string_view counts, std::string name) const {
    MfuRow row;
    row.rank = rank_;
    row.counts = counts;
    row.name = std::move(name);
    return row;
  }
  double Steps() const { return static_cast<double>(std::max<int64_t>(run_.steps, 1)); }
  double CapacityNs() const { return static_cast<double>(run_.capacity_ns); }

  /// FLOP/s at which the products that ran would have run at their peaks; nullopt: unknown.
  std::optional<double> Peak() const {
    // Times at the peak are rounded.
    if (one_peak_ && peak_per_s_ > 0) return static_cast<double>(peak_per_s_);
    const double ideal_s = static_cast<double>(ideal_ps_ + again_ps_) * 1e-12;
    return Ratio(static_cast<double>(rated_flops_), ideal_s);
  }

  static std::string_view PassWord(bool trains) {
    return trains ? "forward and backward" : "forward only";
  }

  std::string NoteOfProducts() const {
    std::string note = "over the whole run";
    if (run_.marked) {
      note = fmt::format("over {} {}step{}", int64_t{run_.steps}, run_.steady ? "steady " : "",
                         run_.steps == 1 ? "" : "s");
    }
    constexpr int64_t kMuch = 20;  // A twentieth of the run.
    const bool cold = run_.cold_ns > run_.total_ns / kMuch;
    if (!run_.marked && cold && run_.total_ns > run_.cold_ns && flops_ > 0) {
      const double rest = static_cast<double>(run_.total_ns - run_.cold_ns);
      const std::optional<double> pct = Mfu(static_cast<double>(ideal_ps_));
      if (pct) {
        note += fmt::format("; {:.1f} % without its cold start",
                            *pct * static_cast<double>(run_.total_ns) / rest);
      }
    }
    const std::optional<double> unknown =
        Ratio(static_cast<double>(run_.unknown_ns), static_cast<double>(run_.kernel_ns), 100);
    constexpr double kLittlePct = 0.05;
    if (unknown && *unknown >= kLittlePct) {
      note += fmt::format("; at least: {:.1f} % of kernel time has no known FLOPs", *unknown);
    }
    return note;
  }

  std::optional<double> Mfu(double ideal_ps) const {
    if (rated_flops_ <= 0) return std::nullopt;
    return Ratio(ideal_ps, CapacityNs() * 1e3, 100);
  }

  void AddProducts() const {
    if (flops_ + again_ <= 0) return;
    MfuRow row = Row("products", "matrix products that ran, not recomputed ones");
    row.kernel_flops = static_cast<double>(flops_) / Steps();
    if (match_ && match_->tokens) {
      row.token_flops =
          Ratio(static_cast<double>(flops_) * static_cast<double>(match_->shards), *match_->tokens);
    } else if (!match_) {
      row.token_flops = Ratio(static_cast<double>(flops_), static_cast<double>(run_.tokens));
    }
    row.tflops = Ratio(static_cast<double>(flops_), CapacityNs() * 1e-9, 1e-12);
    const std::optional<double> peak = Peak();
    if (peak) row.peak_tflops = *peak * 1e-12;
    row.mfu_pct = Mfu(static_cast<double>(ideal_ps_));
    row.hfu_pct = Mfu(static_cast<double>(ideal_ps_ + again_ps_));
    row.note = NoteOfProducts();
    table_->Add(row);
  }

  void AddTypes() const {
    for (const auto& [type, sums] : run_.types) {
      MfuRow row = Row("type", type.type.empty() ? "(unknown type)" : type.type);
      row.kernel_flops = static_cast<double>(sums.flops) / Steps();
      row.tflops = Ratio(static_cast<double>(sums.flops), CapacityNs() * 1e-9, 1e-12);
      if (type.peak_per_s > 0) {
        row.peak_tflops = static_cast<double>(type.peak_per_s) * 1e-12;
        row.mfu_pct = Ratio(static_cast<double>(sums.ideal_ps), CapacityNs() * 1e3, 100);
        row.hfu_pct = Ratio(static_cast<double>(sums.ideal_ps + sums.again_ideal_ps),
                            CapacityNs() * 1e3, 100);
      }
      row.note = fmt::format(
          "{:.1f} % of the FLOPs",
          Ratio(static_cast<double>(sums.flops), static_cast<double>(flops_), 100).value_or(0));
      table_->Add(row);
    }
  }

  void AddConvention(const ops::Convention& convention) const {
    MfuRow row = Row(convention.word, std::string(convention.formula));
    // Conventions are of a training step: a third of it is the forward pass.
    const bool forward_only = !match_->trains;
    row.note = ops::WhatIsMissing(convention, plan_->network);
    if (row.note.empty() && forward_only && convention.counts_recomputation) {
      row.note = "nothing is computed again: only the forward pass ran";
    }
    if (row.note.empty() && !match_->sequence) {
      row.note = "the length of sequences is not recorded: give --seq";
    }
    if (!row.note.empty()) {
      table_->Add(row);
      return;
    }
    ops::TokenFlops flops =
        ops::FlopsPerToken(convention, plan_->network, *match_->sequence, plan_->recompute);
    const double part = forward_only ? 1.0 / 3 : 1;
    const std::optional<double> counted = flops.model ? flops.model : flops.hardware;
    if (counted) row.token_flops = *counted * part;
    if (forward_only) flops.hardware.reset();
    row.note = ops::RemarkOn(convention, plan_->network);
    const auto say = [&](std::string_view more) {
      if (more.empty()) return;
      row.note += fmt::format("{}{}", row.note.empty() ? "" : "; ", more);
    };
    if (forward_only) say("a third of it: only the forward pass ran");
    if (!run_.forward && !run_.backward)
      say("taken for a training step: no kernel has a direction");
    if (match_->tokens && counted) {
      const double tokens = *match_->tokens / static_cast<double>(match_->shards);
      const auto of_step = [&](double per_token) { return per_token * part * tokens / Steps(); };
      row.model_flops = of_step(*counted);
      row.kernel_flops = static_cast<double>(flops_) / Steps();
      if (flops_ <= 0) row.kernel_flops.reset();
      if (row.kernel_flops && flops.model) {
        row.difference_pct = Ratio(*row.kernel_flops - *row.model_flops, *row.model_flops, 100);
      }
      const double step_s = CapacityNs() * 1e-9 / Steps();
      row.tflops = Ratio(*row.model_flops, step_s, 1e-12);
      if (const std::optional<double> peak = Peak()) {
        row.peak_tflops = *peak * 1e-12;
        if (flops.model) row.mfu_pct = Ratio(of_step(*flops.model), step_s * *peak, 100);
        if (flops.hardware) row.hfu_pct = Ratio(of_step(*flops.hardware), step_s * *peak, 100);
      }
      if (row.difference_pct) say(WhyOf(convention, *row.model_flops, part, tokens));
    }
    table_->Add(row);
  }

  /// Why the kernels' FLOPs differ from a convention's: what it counts that they do not compute.
  std::string WhyOf(const ops::Convention& convention, double model_flops, double part,
                    double tokens) const {
    std::string why;
    const auto add = [&](double flops, std::string_view what) {
      constexpr double kLittlePct = 0.1;
      const double pct = 100 * flops / model_flops;
      if (std::abs(pct) >= kLittlePct) {
        why += fmt::format("{}{} {:+.1f} %", why.empty() ? "" : ", ", what, pct);
      }
    };
    if (convention.counts_recomputation || convention.word.starts_with('D')) return why;
    const std::optional<ops::ParameterCount> count =
        ops::ParametersOf(plan_->network, *match_->sequence);
    const double per_parameter = 6 * part * tokens / Steps();
    if (convention.word == "A" && count && count->embedding > 0) {
      add(-count->embedding * per_parameter, "embedding, which is looked up");
    }
    if (convention.word != "C" && count && count->all > count->active) {
      add(-(count->all - count->active) * per_parameter, "experts that do not run");
    }
    for (const PartMatch& match : match_->parts) {
      if (match.parts != "attention") continue;
      const double halves = convention.word == "C" ? 0.5 : 1;
      const double counted = AttentionBy(halves, part, tokens);
      add(match.kernels / Steps() - counted, "attention");
    }
    for (const PartMatch& match : match_->parts) {
      if (match.parts == "head") add((match.kernels - match.model) / Steps(), "head");
    }
    return why;
  }

  double AttentionBy(double halves, double part, double tokens) const {
    const ops::Network& network = plan_->network;
    const double heads = static_cast<double>(network.heads.value_or(0));
    const double dims = static_cast<double>(
        network.head_dim.value_or(0) + network.value_dim.value_or(network.head_dim.value_or(0)));
    return 6 * halves * static_cast<double>(network.layers) * heads * dims *
           static_cast<double>(*match_->sequence) * part * tokens / Steps();
  }

  void AddPart(std::string_view counts, std::string name, const PartMatch& part) const {
    MfuRow row = Row(counts, std::move(name));
    if (part.model > 0) {
      row.model_flops = part.model / Steps();
      if (match_->tokens) {
        row.token_flops = Ratio(part.model * static_cast<double>(match_->shards), *match_->tokens);
      }
    }
    if (flops_ > 0) row.kernel_flops = part.kernels / Steps();
    if (row.kernel_flops) row.difference_pct = part.DifferencePct();
    if (flops_ > 0) {
      row.note = part.why;
    } else if (counts == "total") {
      row.note = "the arithmetic alone: no matrix product of the profile has known FLOPs";
    }
    table_->Add(row);
  }

  void AddParts() const {
    for (const PartMatch& part : match_->parts) {
      std::string name = part.parts.empty() ? "(other)" : part.parts;
      if (!part.sizes.empty()) name += " " + part.sizes;
      AddPart("part", std::move(name), part);
    }
    PartMatch total = match_->total;
    std::string name(PassWord(match_->trains));
    if (match_->tokens) {
      name = fmt::format(
          "{:.0f} tokens {}{}, {}", *match_->tokens / Steps(),
          run_.marked ? "a step" : "in the run",
          match_->sequence ? fmt::format(" in sequences of {}", *match_->sequence) : "", name);
    }
    if (match_->shards > 1) name += fmt::format(", on {} GPUs", match_->shards);
    if (match_->tokens) AddPart("total", std::move(name), total);
  }

  /// The blocks: those modules of one name of which there are as many as layers.
  void AddLayers() const {
    std::string_view base;
    int64_t most = 0;
    int64_t count = 0;
    int64_t flops = 0;
    std::string_view name;
    const auto close = [&] {
      if (count == plan_->network.layers && flops > most) {
        most = flops;
        base = name;
      }
      count = 0;
      flops = 0;
    };
    for (const auto& [layer, sums] : run_.layers) {
      if (layer.name != name) close();
      name = layer.name;
      ++count;
      flops += sums.Counted();
    }
    close();
    int64_t number = 0;
    for (const auto& [layer, sums] : run_.layers) {
      if (most == 0 || layer.name != base) continue;
      PartMatch block;
      block.model = FlopsOfBlock(*match_, *plan_, number++).value_or(0);
      block.kernels = static_cast<double>(sums.Counted());
      AddPart("layer", fmt::format("{}{}", layer.name, layer.number), block);
    }
  }

  std::string_view rank_;
  const ProductsOfRank& run_;
  const ModelPlan* plan_;
  TableOf<MfuRow>* table_;
  std::optional<ModelMatch> match_;
  Sum flops_;
  Sum again_;
  Sum ideal_ps_;
  Sum again_ps_;
  Sum rated_flops_;
  int64_t peak_per_s_ = 0;  // Of the last type with one.
  bool one_peak_ = true;    // All that have one have the same.
};

class ModelUtilisation : public GroupedPartial<RankName, ProductsOfRank, MfuRow, TextNotes> {
 public:
  explicit ModelUtilisation(const ViewOptions& options)
      : GroupedPartial("mfu", options, kMfuKeys, kMfuColumns),
        plan_(options.model),
        gatherer_(By("layer")) {}

  void Begin(const Run* run) override {
    if (run == nullptr) {
      notes_.Add("mfu needs the profile itself: records hold no steps");
      return;
    }
    family_ = run->trace().family;
    gatherer_.Begin(*run);
  }
  void Add(const PricedKernel& kernel) override { gatherer_.Add(kernel); }
  void End(const Run* run) override {
    if (run == nullptr) return;
    const ProductsOfRank found = gatherer_.Take();
    const std::string_view flag = RecordingFlag(MissingFact::kArguments, family_);
    if (found.Total().Counted() == 0 && found.kernel_ns > 0) {
      notes_.Add(fmt::format("mfu: no matrix product has known FLOPs{}{}",
                             flag.empty() ? "" : "; recorded by ", flag));
    }
    Take(RankName(run->rank()), found);
  }
  std::vector<std::string> Notes() const override {
    std::vector<std::string> notes = GroupedPartial::Notes();
    if (plan_ == nullptr) {
      notes.push_back(
          "mfu: --model CONFIG adds the model's own FLOPs, by named conventions "
          "(docs/mfu.md)");
    }
    return notes;
  }

 private:
  void EmitGroup(const RankName& rank, const ProductsOfRank& found,
                 TableOf<MfuRow>* table) const override {
    RankRows(rank, found, plan_.get(), table).Emit(By("layer"));
  }

  std::shared_ptr<const ModelPlan> plan_;
  ProductGatherer gatherer_;
  Family family_{};
};

}  // namespace

extern constexpr View kMfuView = {
    .name = "mfu",
    .help =
        "FLOPs of the model beside those of its kernels, and the utilisation by each convention",
    .needs = kIdleGapsNeeds | TraceNeeds{TracePart::kApiTimes},
    .fields = FieldsWithoutBy<kMfuColumns>,
    .make = MakePartial<ModelUtilisation>,
    .by = kMfuKeys,
    .narrow = "mfu_pct,hfu_pct,model_flops,kernel_flops,difference_pct,tflops,note",
    .important = "counts,name,mfu_pct,difference_pct,hfu_pct,kernel_flops,model_flops,tflops,note",
    .saved_form = 1};

}  // namespace oplens::prof

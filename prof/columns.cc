#include "prof/columns.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <optional>

#include "base/error.h"
#include "ops/gradient_evidence.h"

namespace oplens::prof {
namespace {

Cell Integer(int64_t value) { return {value}; }
Cell Integer(const std::optional<int64_t>& value) { return value ? Cell{*value} : Cell{}; }
Cell Text(std::string_view value) { return value.empty() ? Cell{} : Cell{value}; }
Cell List(const std::vector<int64_t>& values) { return {std::span<const int64_t>(values)}; }
Cell List(std::span<const std::string_view> texts, int64_t more = 0) {
  return {Cell::Texts{texts, more}};
}

Cell ThreadId(const Row& row) {
  // An unlaunched kernel holds 0 there so that PyProf can read it.
  if (row.record->reasons.Has(Reason::kNoLaunchCall)) return {};
  return Integer(row.record->thread_id);
}

Cell DirectionOf(const Row& row) {
  return IsDirectionKnown(row) ? Text(DirectionWord(row.record->direction)) : Cell{};
}

Cell SubSeqId(const Row& row) {
  const KernelRecord& record = *row.record;
  if (record.seq_ids.empty() && record.alt_seq_ids.empty()) return {};
  return Integer(record.sub_seq_id);
}

Cell DurationNs(const Row& row) {
  const ReasonSet& reasons = row.record->reasons;
  if (reasons.Has(Reason::kUntimed) || reasons.Has(Reason::kBadTimes)) return {};
  return Integer(row.record->duration_ns);
}

Cell PhaseOf(const Row& row) {
  // Accumulating is one kind of work on gradients.
  const Phase phase = row.phase == Phase::kAccumulate ? Phase::kGradient : row.phase;
  return Text(PhaseWord(phase));
}

bool HasGradient(const Row& row) {
  return row.phase == Phase::kAccumulate || !ops::GradientWord(row.share.part).empty();
}

std::string_view GradientWord(const Row& row) {
  return row.phase == Phase::kAccumulate ? "accum" : ops::GradientWord(row.share.part);
}

Cell GradientConfidence(const Row& row) {
  if (!HasGradient(row)) return {};
  if (row.phase == Phase::kAccumulate) return Text("high");
  return Text(ops::ConfidenceWord(row.share.part_confidence));
}

Cell TensorCore(const Row& row) {
  switch (TensorCoreUseOf(row)) {
    case ops::TensorCoreUse::kNo:
      return Integer(0);
    case ops::TensorCoreUse::kYes:
      return Integer(1);
    case ops::TensorCoreUse::kUnknown:
      break;
  }
  return {};
}

Cell Decimal(const std::optional<double>& value) { return value ? Cell{*value} : Cell{}; }

using enum ColumnType;

// Headers and widths of the first 20 are PyProf's.
constexpr Column kColumns[] = {
    {"idx", "Idx", "", kInteger, 7, "", "", "number of the input line, from 1",
     [](const Row& row) { return Integer(row.index); }},
    {"seq", "SeqId", "", kIntegerList, 7, ",", "", "PyTorch sequence ids",
     [](const Row& row) { return List(row.record->seq_ids); }},
    {"altseq", "AltSeqId", "", kIntegerList, 7, ",", "", "sequence ids nested in those of seq",
     [](const Row& row) { return List(row.record->alt_seq_ids); }},
    {"tid", "TId", "", kInteger, 12, "", "", "host thread that launched the kernel", ThreadId},
    {"layer", "Layer", "", kTextList, 10, ":", "", "names of the enclosing layers, outermost first",
     [](const Row& row) { return List(row.layer); }},
    {"trace", "Trace", "", kFileList, 25, ",", "", "call stack, outermost frame first",
     [](const Row& row) { return List(row.trace); }},
    {"dir", "Direction", "", kText, 5, "", "", "fprop (forward) or bprop (backward)", DirectionOf},
    {"sub", "Sub", "", kInteger, 3, "", "", "number of the kernel within its sequence id, from 0",
     SubSeqId},
    {"mod", "Module", "", kText, 15, "", "", "module or class of the op",
     [](const Row& row) { return Text(row.mod); }},
    {"op", "Op", "", kText, 15, "", "", "op that the kernel belongs to",
     [](const Row& row) { return Text(row.op); }},
    {"kernel", "Kernel", "", kName, Column::kShared, "", "", "short kernel name",
     [](const Row& row) { return Text(row.record->short_name); }},
    {"params", "Params", "", kText, Column::kShared, "", "", "sizes and data type of the op",
     [](const Row& row) { return Text(row.params); }},
    {"sil", "Sil(ns)", "ns", kInteger, 10, "", "", "time on the GPU", DurationNs},
    {"tc", "TC", "", kText, 2, "", "?",
     "1: uses Tensor Cores, 0: does not, ?: the name does not tell", TensorCore},
    {"device", "Device", "", kInteger, 3, "", "", "GPU number",
     [](const Row& row) { return Integer(row.record->device_id); }},
    {"stream", "Stream", "", kInteger, 3, "", "", "CUDA stream number",
     [](const Row& row) { return Integer(row.record->stream_id); }},
    {"grid", "Grid", "blocks", kExtent, 12, ",", "", "blocks of the launch, x,y,z",
     [](const Row& row) { return Cell{row.record->grid}; }},
    {"block", "Block", "threads", kExtent, 12, ",", "", "threads of a block, x,y,z",
     [](const Row& row) { return Cell{row.record->block}; }},
    {"flops", "FLOPs", "FLOP", kInteger, 12, "", "",
     "floating point operations, a multiply-add is two; the kernel's share of its op",
     [](const Row& row) { return Integer(row.share.flops); }},
    {"bytes", "Bytes", "B", kInteger, 12, "", "",
     "least DRAM traffic: each input read once, each output written once",
     [](const Row& row) { return Integer(row.share.bytes); }},
    {"path", "Path", "", kTextList, 20, " > ", "", "annotated ops, outermost > innermost",
     [](const Row& row) { return List(row.path); }},
    {"range", "Range", "", kTextList, 20, " > ", "", "enclosing free-text ranges, outermost first",
     [](const Row& row) { return List(row.record->range, row.record->range_cut); }},
    {"rank", "Rank", "", kText, 8, "", "", "rank of the process, or the file of the kernel",
     [](const Row& row) { return Text(row.record->rank.value_or(std::string_view())); }},
    {"pid", "PId", "", kInteger, 7, "", "", "host process that launched the kernel",
     [](const Row& row) { return Integer(row.record->process_id); }},
    {"phase", "Phase", "", kText, 9, "", "",
     "forward, backward, recompute, gradient (sums of gradients) or optimizer", PhaseOf},
    {"grad", "Grad", "", kText, 5, "", "",
     "gradient that the kernel computes: dgrad, wgrad, bgrad; accum adds one up",
     [](const Row& row) { return Text(GradientWord(row)); }},
    {"grad_conf", "GradConf", "", kText, 6, "", "", "how sure grad is: high, medium or low",
     GradientConfidence},
    {"inst", "Inst", "", kInteger, 7, "", "",
     "number of the op call; its kernels' FLOPs and bytes sum to the call's",
     [](const Row& row) { return row.instance > 0 ? Cell{row.instance} : Cell{}; }},
    {"role", "Role", "", kText, 8, "", "",
     "part in its op: main, helper, layout, reduce or epilogue",
     [](const Row& row) { return Text(ops::RoleWord(row.share.role)); }},
    {"share", "Share", "", kDecimal, 6, "", "",
     "fraction of its gradient's or op's FLOPs (bytes where it has none), 0 to 1",
     [](const Row& row) { return Decimal(row.share.share); }},
    {"flops_kind", "FLOPsKind", "", kText, 8, "", "",
     "exact, estimate (weights of docs/costs.md), none (0 FLOPs) or unknown",
     [](const Row& row) { return Text(ops::FlopsKindWord(row.share.flops_kind)); }},
    {"flops_mma", "FLOPsMma", "FLOP", kInteger, 12, "", "",
     "of flops: matrix products, which Tensor Cores can do",
     [](const Row& row) { return Integer(row.share.flops_mma); }},
    {"flops_vec", "FLOPsVec", "FLOP", kInteger, 12, "", "", "of flops: all other",
     [](const Row& row) { return Integer(row.share.flops_vec); }},
    {"aux_bytes", "AuxBytes", "B", kInteger, 12, "", "",
     "traffic beside the least, where it can be derived",
     [](const Row& row) { return Integer(row.share.aux_bytes); }},
    {"ai", "AI", "FLOP/B", kDecimal, 9, "", "", "arithmetic intensity: flops over bytes",
     [](const Row& row) { return Decimal(FiguresOf(row).roofline.flops_per_byte); }},
    {"tflops", "TFLOP/s", "TFLOP/s", kDecimal, 9, "", "", "flops over time, 10^12 a second",
     [](const Row& row) { return Decimal(FiguresOf(row).roofline.tera_flops_per_s); }},
    {"gbps", "GB/s", "GB/s", kDecimal, 9, "", "",
     "bytes over time, 10^9 a second; of a collective: bus bandwidth",
     [](const Row& row) { return Decimal(FiguresOf(row).roofline.giga_bytes_per_s); }},
    {"pct_math", "%Math", "%", kDecimal, 7, "", "",
     "of the GPU's peak for the units that the kernel uses",
     [](const Row& row) { return Decimal(FiguresOf(row).roofline.percent_of_math); }},
    {"pct_dram", "%DRAM", "%", kDecimal, 7, "", "", "of the GPU's DRAM bandwidth",
     [](const Row& row) { return Decimal(FiguresOf(row).roofline.percent_of_dram); }},
    {"bound", "Bound", "", kText, 7, "", "",
     "which roof is nearer: math or dram; latency: short and far from both",
     [](const Row& row) { return Text(ops::BoundWord(FiguresOf(row).roofline.bound)); }},
    {"tc_elig", "TCElig", "", kText, 6, "", "",
     "could its op run on Tensor Cores? 1, 0, ? or - (not a product)",
     [](const Row& row) {
       return Text(ops::TensorCoreFitnessWord(FiguresOf(row).tensor_core.fitness));
     }},
    {"tc_why", "TCWhy", "", kText, 24, "", "",
     "rule of tc, type that is multiplied, causes and advice for tc_elig",
     [](const Row& row) { return Text(FiguresOf(row).tensor_core.why); }},
    {"occupancy", "Occupancy", "%", kDecimal, 9, "", "",
     "theoretical: resident warps of the most possible",
     [](const Row& row) { return Decimal(FiguresOf(row).occupancy_percent); }},
    {"waves", "Waves", "", kDecimal, 9, "", "", "how often the grid fills the GPU",
     [](const Row& row) { return Decimal(FiguresOf(row).waves); }},
    {"reason", "Reason", "", kTextList, 16, ",", "", "what is missing, and why a cost is unknown",
     [](const Row& row) { return Cell{row.reasons}; }},
};

constexpr Column kCopyColumns[] = {
    {"idx", "Idx", "", kInteger, 7, "", "", "number of the row, from 1",
     [](const Row& row) { return Integer(row.index); }},
    {"rank", "Rank", "", kText, 8, "", "", "rank of the process, or the file of the copy",
     [](const Row& row) { return Text(row.copy->rank); }},
    {"kind", "Kind", "", kText, 8, "", "", "HtoD, DtoH, DtoD, PtoP, HtoH, ..., fill",
     [](const Row& row) { return Text(row.copy->kind); }},
    {"src", "Source", "", kText, 10, "", "", "kind of memory that is read",
     [](const Row& row) { return Text(row.copy->source); }},
    {"dst", "Target", "", kText, 10, "", "", "kind of memory that is written",
     [](const Row& row) { return Text(row.copy->target); }},
    {"bytes", "Bytes", "B", kInteger, 12, "", "", "size",
     [](const Row& row) { return Integer(row.copy->size_bytes); }},
    {"dur", "Dur(ns)", "ns", kInteger, 10, "", "", "time on the GPU",
     [](const Row& row) { return Integer(row.copy->duration_ns); }},
    {"gbps", "GB/s", "GB/s", kDecimal, 9, "", "", "bytes over time, 10^9 bytes a second",
     [](const Row& row) { return Decimal(row.copy->gigabytes_per_s()); }},
    {"device", "Device", "", kInteger, 3, "", "", "GPU number",
     [](const Row& row) { return Integer(row.copy->device_id); }},
    {"stream", "Stream", "", kInteger, 3, "", "", "CUDA stream number",
     [](const Row& row) { return Integer(row.copy->stream_id); }},
    {"start", "Start(ns)", "ns", kInteger, 19, "", "", "start, on the file's own clock",
     [](const Row& row) { return Integer(row.copy->start_ns); }},
    {"api", "Call", "", kText, Column::kShared, "", "", "API call that asked for it",
     [](const Row& row) { return Text(row.copy->api); }},
    {"tid", "TId", "", kInteger, 12, "", "", "host thread of the call",
     [](const Row& row) { return Integer(row.copy->thread_id); }},
};

const Column* FindColumn(std::string_view key, std::span<const Column> all) {
  const auto place =
      std::find_if(all.begin(), all.end(), [&](const Column& column) { return column.key == key; });
  return place == all.end() ? nullptr : &*place;
}

std::string ValidKeys(std::span<const Column> all) {
  std::string keys;
  for (const Column& column : all) {
    keys += column.key;
    keys += ',';
  }
  return keys + "all";
}

std::string_view Trim(std::string_view text) {
  while (!text.empty() && text.front() == ' ') text.remove_prefix(1);
  while (!text.empty() && text.back() == ' ') text.remove_suffix(1);
  return text;
}

void AppendInteger(int64_t value, std::string* out) {
  const fmt::format_int digits(value);
  out->append(digits.data(), digits.size());
}

/// Appends the texts of a cell to `out`, one function a kind of value.
struct TextOf {
  const Column& column;
  std::string* out;

  void Separate(size_t i) const {
    if (i > 0) out->append(column.separator);
  }
  void operator()(std::monostate) const {}
  void operator()(int64_t value) const { AppendInteger(value, out); }
  void operator()(double value) const { fmt::format_to(std::back_inserter(*out), "{:.3f}", value); }
  void operator()(std::string_view text) const {
    out->append(text);
    if (column.type == ColumnType::kName) std::replace(out->begin(), out->end(), ' ', '_');
  }
  void operator()(std::span<const int64_t> values) const {
    for (size_t i = 0; i < values.size(); ++i) {
      Separate(i);
      AppendInteger(values[i], out);
    }
  }
  void operator()(const Cell::Texts& list) const {
    for (size_t i = 0; i < list.texts.size(); ++i) {
      Separate(i);
      out->append(list.texts[i]);
    }
    if (list.more <= 0) return;
    Separate(list.texts.size());
    fmt::format_to(std::back_inserter(*out), "... {} more", list.more);
  }
  void operator()(const Dim3& extent) const {
    AppendInteger(extent.x, out);
    out->append(column.separator);
    AppendInteger(extent.y, out);
    out->append(column.separator);
    AppendInteger(extent.z, out);
  }
  void operator()(ReasonSet reasons) const {
    reasons.ForEach([&](Reason reason) {
      Separate(out->size());
      out->append(ReasonWord(reason));
    });
  }
};

}  // namespace

bool IsDirectionKnown(const Row& row) {
  const KernelRecord& record = *row.record;
  // PyProf writes fprop for every kernel that nothing says is backward. Forward is only known of a
  // kernel that an annotation or a sequence marker encloses.
  if (record.direction == Direction::kForward) {
    return !record.markers.empty() || !record.seq_markers.empty();
  }
  return record.direction != Direction::kUnknown;
}

std::span<const Column> AllColumns() { return kColumns; }

std::span<const Column> CopyColumns() { return kCopyColumns; }

std::vector<const Column*> SelectColumns(std::string_view list, std::span<const Column> all) {
  std::vector<const Column*> columns;
  const auto add = [&](const Column& column) {
    if (std::find(columns.begin(), columns.end(), &column) == columns.end()) {
      columns.push_back(&column);
    }
  };
  for (bool more = true; more;) {
    const size_t comma = list.find(',');
    const std::string_view key = Trim(list.substr(0, comma));
    more = comma != std::string_view::npos;
    if (more) list.remove_prefix(comma + 1);
    if (key == "all") {
      for (const Column& column : all) add(column);
      continue;
    }
    const Column* column = FindColumn(key, all);
    if (column == nullptr) {
      throw UsageError(
          fmt::format("-c: there is no column '{}'; the columns are {}", key, ValidKeys(all)));
    }
    add(*column);
  }
  return columns;
}

std::string_view CellText(const Column& column, const Cell& cell, std::string* scratch) {
  if (const auto* text = std::get_if<std::string_view>(&cell.value);
      text != nullptr && column.type != ColumnType::kName) {
    return *text;
  }
  if (std::holds_alternative<std::monostate>(cell.value)) return column.unknown;
  scratch->clear();
  std::visit(TextOf{column, scratch}, cell.value);
  return *scratch;
}

}  // namespace oplens::prof

#include "parse/join/collectives.h"

#include <algorithm>
#include <iterator>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "base/checked.h"
#include "parse/model/torch_call.h"

namespace oplens::parse {
namespace {

struct CollectivesPair {
  std::string_view recorded;
  std::string_view name;
};

// As recorded by PyTorch's NCCL back end.
constexpr CollectivesPair kNames[] = {
    {"_allgather_base", "all_gather"},
    {"_reduce_scatter_base", "reduce_scatter"},
    {"all_gather", "all_gather"},
    {"all_reduce", "all_reduce"},
    {"all_to_all", "all_to_all"},
    {"all_to_allv", "all_to_all"},
    {"allgather", "all_gather"},
    {"allgather_coalesced", "all_gather"},
    {"allgather_into_tensor_coalesced", "all_gather"},
    {"allreduce", "all_reduce"},
    {"allreduce_coalesced", "all_reduce"},
    {"allreduce_sparse", "all_reduce"},
    {"alltoall", "all_to_all"},
    {"alltoall_base", "all_to_all"},
    {"reduce_scatter_tensor_coalesced", "reduce_scatter"},
};

// Names of c10::ScalarType.
constexpr CollectivesPair kTypes[] = {
    {"BFloat16", "bfloat16"},
    {"Bool", "bool"},
    {"Byte", "uint8"},
    {"Char", "int8"},
    {"ComplexDouble", "complex128"},
    {"ComplexFloat", "complex64"},
    {"Double", "float64"},
    {"Float", "float32"},
    {"Float8_e4m3fn", "float8_e4m3fn"},
    {"Float8_e4m3fnuz", "float8_e4m3fnuz"},
    {"Float8_e5m2", "float8_e5m2"},
    {"Float8_e5m2fnuz", "float8_e5m2fnuz"},
    {"Half", "float16"},
    {"Int", "int32"},
    {"Long", "int64"},
    {"Short", "int16"},
};

// Returns texts that are not in the table unchanged.
template <size_t N>
std::string_view Translate(const CollectivesPair (&table)[N], std::string_view recorded) {
  const auto* row =
      std::find_if(std::begin(table), std::end(table),
                   [&](const CollectivesPair& pair) { return pair.recorded == recorded; });
  return row == std::end(table) ? recorded : row->name;
}

// From a kernel's event, or the profiler's names for types of operators' arguments.
std::string_view TypeOf(std::string_view recorded) {
  return TorchDType(Translate(kTypes, recorded));
}

OpArg Tensor(int64_t elements, std::string_view dtype) {
  OpArg arg;
  arg.kind = OpArg::Kind::kTensor;
  arg.type = "tensor";
  arg.shape = {elements};
  arg.dtype = dtype;
  return arg;
}

OpArg Int(std::string_view name, int64_t value) {
  OpArg arg;
  arg.name = name;
  arg.kind = OpArg::Kind::kInt;
  arg.type = "int";
  arg.int_value = value;
  return arg;
}

constexpr int8_t kNotAsked = -1;

/// Whether it is a kernel of NCCL or RCCL.
bool IsOfLibrary(std::string_view name) { return name.find("ccl") != std::string_view::npos; }

int64_t WholeOf(std::string_view op, const Communication& communication) {
  // Labels have the input: for a gather, one rank's part.
  const bool part = op == "all_gather" && communication.output_elements < 0;
  if (part && communication.input_elements >= 0 && communication.group_size > 0) {
    return (Checked(communication.input_elements) * communication.group_size).Value().value_or(-1);
  }
  // A tensor that a rank only sends or only receives is recorded as empty on the other side.
  const bool one_side = op == "all_to_all" && communication.input_elements >= 0;
  return one_side ? communication.input_elements
                  : std::max(communication.input_elements, communication.output_elements);
}

}  // namespace

OpCall CommunicationCall(const Communication& communication, const StringPool& strings) {
  OpCall call;
  call.mod = "c10d";
  call.op = Translate(kNames, strings.View(communication.name));
  const int64_t elements = WholeOf(call.op, communication);
  if (elements >= 0) {
    call.args.push_back(Tensor(elements, TypeOf(strings.View(communication.dtype))));
  }
  if (communication.group_size > 0) {
    call.args.push_back(Int("world_size", communication.group_size));
  }
  return call;
}

CallElements ElementsOf(const OpCall& call) {
  if (call.cut > 0) return {};
  std::vector<Checked> sums;
  int32_t list = 0;
  for (const OpArg& arg : call.args) {
    if (arg.kind != OpArg::Kind::kTensor) continue;
    Checked elements = 1;
    for (const int64_t extent : arg.shape) {
      if (extent < 0) return {};
      elements = elements * extent;
    }
    if (!elements.Value()) return {};
    if (sums.empty() || arg.list == 0 || arg.list != list) sums.emplace_back();
    list = arg.list;
    sums.back() = sums.back() + elements;
  }
  if (sums.empty()) return {};
  if (sums.size() == 1) return {sums[0].Value().value_or(-1), -1};
  return {sums[1].Value().value_or(-1), sums[0].Value().value_or(-1)};
}

int64_t RanksByExtents(std::string_view collective, const CallElements& elements) {
  const bool scatters = collective.find("scatter") != std::string_view::npos;
  const bool gathers = !scatters && collective.find("gather") != std::string_view::npos;
  if (!scatters && !gathers) return kUnknownId;
  const int64_t whole = scatters ? elements.input : elements.output;
  const int64_t part = scatters ? elements.output : elements.input;
  return whole > 0 && part > 0 && whole % part == 0 ? whole / part : kUnknownId;
}

int64_t SizeOfGroup(const Trace& trace, StringId name) {
  const auto group =
      std::find_if(trace.process_groups.begin(), trace.process_groups.end(),
                   [&](const ProcessGroup& listed) { return name != 0 && listed.name == name; });
  return group == trace.process_groups.end() || group->size <= 0 ? kUnknownId : group->size;
}

bool NeedsRanks(std::string_view name) {
  constexpr std::string_view kNamespaces[] = {
      "_C_custom_ar::", "_c10d_functional::", "aiter::",  "c10d::", "flashinfer::",
      "sgl_kernel::",   "symm_mem::",         "trtllm::", "vllm::"};
  constexpr std::string_view kWords[] = {"all_reduce",     "allreduce",  "alltoall", "all_to_all",
                                         "reduce_scatter", "all_gather", "allgather"};
  const auto begins = [&](std::string_view space) { return name.starts_with(space); };
  const auto holds = [&](std::string_view word) {
    return name.find(word) != std::string_view::npos;
  };
  return std::any_of(std::begin(kNamespaces), std::end(kNamespaces), begins) &&
         std::any_of(std::begin(kWords), std::end(kWords), holds);
}

std::string WithRanks(std::string_view call, int64_t ranks) {
  std::string error;
  std::optional<OpCall> made = ParseOpCall(call, &error);
  if (!made) return {};
  bool tensors = false;
  for (const OpArg& arg : made->args) {
    if (arg.name == "world_size" || arg.name == "group_size") return {};
    tensors |= arg.kind == OpArg::Kind::kTensor;
  }
  if (!tensors || RanksByExtents(made->op, ElementsOf(*made)) != kUnknownId) return {};
  made->args.push_back(Int("world_size", ranks));
  std::string text;
  AppendOpCall(*made, &text);
  return text;
}

Collectives::Collectives(Trace* trace) : calls_(trace->communications.size()) {
  for (const Kernel& kernel : trace->kernels) {
    const ItemIndex communication = trace->DetailsOf(kernel).communication;
    if (communication < calls_.size()) {
      Make(trace, communication, trace->communications[communication]);
    }
  }
  FindLabels(trace);
}

void Collectives::Make(Trace* trace, ItemIndex communication, const Communication& facts) {
  Call& made = calls_[communication];
  if (made.text != 0) return;
  const OpCall call = CommunicationCall(facts, trace->strings);
  std::string text;
  AppendOpCall(call, &text);
  made.text = trace->strings.Intern(text);
  made.op = trace->strings.Intern(call.op);
  made.mod = trace->strings.Intern(call.mod);
}

/// The number of ranks of a library's label.
class Collectives::RanksOfLabels {
 public:
  explicit RanksOfLabels(const Trace& trace) : trace_(trace) {
    std::vector<int8_t> lacks(trace.strings.size(), kNotAsked);  // By name.
    for (size_t i = 0; i < trace.ranges.size(); ++i) {
      const Range& range = trace.ranges[i];
      const Operator* const op = trace.OperatorOf(range);
      if (op == nullptr) continue;
      int8_t& known = lacks[range.text];
      if (known == kNotAsked) known = NeedsRanks(trace.strings.View(range.text)) ? 1 : 0;
      if (known != 0 && op->call != 0) ops_.push_back(i);
    }
    std::stable_sort(ops_.begin(), ops_.end(),
                     [&](size_t a, size_t b) { return PlaceOf(a) < PlaceOf(b); });
  }

  /// kUnknownId: unknown.
  int64_t Of(const Communication& label) const {
    const int64_t by_extents = ByExtents(label);
    if (by_extents != kUnknownId) return by_extents;
    if (label.group_size > 0) return label.group_size;
    const int64_t of_group = SizeOfGroup(trace_, label.group);
    return of_group != kUnknownId ? of_group : trace_.group_size;
  }

 private:
  std::pair<ThreadIndex, int64_t> PlaceOf(size_t range) const {
    return {trace_.ThreadOf(trace_.ranges[range]), trace_.ranges[range].start_ns};
  }

  /// By the extents of the innermost op around it.
  int64_t ByExtents(const Communication& label) const {
    constexpr int kMostNested = 4;
    auto next = std::partition_point(ops_.begin(), ops_.end(), [&](size_t op) {
      return PlaceOf(op) <= std::pair(label.thread, label.start_ns);
    });
    for (int i = 0; i < kMostNested && next != ops_.begin(); ++i) {
      const Range& op = trace_.ranges[*--next];
      if (trace_.ThreadOf(op) != label.thread) break;
      if (op.end_ns < label.end_ns) continue;
      std::string error;
      const auto call = ParseOpCall(trace_.strings.View(trace_.OperatorOf(op)->call), &error);
      return call ? RanksByExtents(call->op, ElementsOf(*call)) : kUnknownId;
    }
    return kUnknownId;
  }

  const Trace& trace_;
  std::vector<size_t> ops_;  // Ranges, by thread and start.
};

void Collectives::FindLabels(Trace* trace) {
  std::vector<ItemIndex> labels;  // By thread and start.
  for (size_t i = 0; i < trace->communications.size(); ++i) {
    const Communication& label = trace->communications[i];
    const bool told = label.thread != kNoThread && label.name != 0 && label.input_elements >= 0;
    if (told) labels.push_back(static_cast<ItemIndex>(i));
  }
  if (labels.empty()) return;
  const RanksOfLabels ranks(*trace);
  std::erase_if(labels, [&](ItemIndex i) { return ranks.Of(trace->communications[i]) <= 0; });
  if (labels.empty()) return;
  const auto place_of = [&](ItemIndex i) {
    const Communication& label = trace->communications[i];
    return std::pair(label.thread, label.start_ns);
  };
  std::stable_sort(labels.begin(), labels.end(),
                   [&](ItemIndex a, ItemIndex b) { return place_of(a) < place_of(b); });
  std::vector<int8_t> of_library(trace->strings.size(), kNotAsked);  // By name.
  const size_t first_captured = trace->kernels.size() + trace->graph_replays.size();
  const size_t count = first_captured + trace->captured.size();
  for (size_t i = 0; i < count; ++i) {
    if (i >= trace->kernels.size() && i < first_captured) continue;
    const Kernel& kernel = KernelOf(*trace, static_cast<WorkIndex>(i));
    if (kernel.launch == kNoLaunch || trace->DetailsOf(kernel).communication != kNoItem) continue;
    int8_t& known = of_library[kernel.name];
    if (known == kNotAsked) known = IsOfLibrary(trace->strings.View(kernel.name)) ? 1 : 0;
    if (known == 0) continue;
    const LaunchCall& launch = trace->launches[kernel.launch];
    const auto after = std::partition_point(labels.begin(), labels.end(), [&](ItemIndex label) {
      return place_of(label) <= std::pair(launch.thread, launch.start_ns);
    });
    if (after == labels.begin()) continue;
    const ItemIndex at = *(after - 1);
    Communication label = trace->communications[at];
    if (label.thread != launch.thread || label.end_ns < launch.start_ns) continue;
    label.group_size = ranks.Of(label);
    Make(trace, at, label);
    calls_[at].start_ns = label.start_ns;
    by_label_.resize(count, kNoItem);
    by_label_[i] = at;
  }
}

}  // namespace oplens::parse

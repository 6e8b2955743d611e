#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <map>
#include <string>
#include <system_error>
#include <tuple>
#include <unordered_map>
#include <utility>
#include <vector>

#include "base/checked.h"
#include "base/error.h"
#include "base/sums.h"
#include "ops/kernels/tensorboard_names.h"
#include "parse/model/trace.h"
#include "prof/compat/tb/steps.h"
#include "prof/compat/tb/tree.h"
#include "prof/compat/tb/views.h"
#include "prof/run/run.h"
#include "prof/views/common/grouped_partial.h"

namespace oplens::prof {
namespace {

constexpr std::string_view kRoot = "CallTreeRoot";

/// Weights in 2^-20: sums of integers do not depend on their order.
int64_t TbKernelsScaled(float value) {
  constexpr double kScale = 1 << 20;
  constexpr double kMost = 1e12;
  return value > 0 ? std::llround(std::min(double{value}, kMost) * kScale) : 0;
}

struct TbKernelsSums {
  Sum calls;
  Sum total_ns;
  Max<int64_t> max_ns;
  Min min_ns;
  Checked blocks;  // Blocks per multiprocessor * duration, TbKernelsScaled.
  Checked occupancy;
  Any eligible;

  void Add(int64_t duration_ns, const KernelDetails& details);
};

void TbKernelsSums::Add(int64_t duration_ns, const KernelDetails& details) {
  ++calls;
  total_ns += duration_ns;
  max_ns.Add(duration_ns);
  min_ns.Add(duration_ns);
  blocks += Checked(TbKernelsScaled(details.blocks_per_multiprocessor)) * duration_ns;
  occupancy += Checked(TbKernelsScaled(details.achieved_occupancy_pct)) * duration_ns;
}

/// Name, op, grid, block, registers, shared memory; for the table by name only the name.
struct TbKernelsKey {
  std::string name;
  std::string op;
  std::array<int64_t, 8> numbers{};

  friend auto operator<=>(const TbKernelsKey&, const TbKernelsKey&) = default;
};

using TbKernelsRow = GroupRow<TbKernelsKey, TbKernelsSums>;

template <size_t first>
Cell TbExtentOf(const TbKernelsRow& row) {
  const auto& of = row.key.numbers;
  const Dim3 extent = {of[first], of[first + 1], of[first + 2]};
  return extent.known() ? Cell{extent} : Cell{};
}
template <size_t place>
Cell TbNumberOf(const TbKernelsRow& row) {
  return Integer(row.key.numbers[place]);
}
template <auto sum>
Cell TbMeanOf(const TbKernelsRow& row) {
  if (row.sums.total_ns <= 0) return Cell{0.0};
  const std::optional<double> whole = (row.sums.*sum).Approximate();
  return whole ? Cell{*whole / (1 << 20) / static_cast<double>(row.sums.total_ns)} : Cell{};
}
Cell YesOrNo(bool yes) { return Text(yes ? "yes" : "no"); }

constexpr Column<TbKernelsRow> kTbKernelsColumns[] = {
    KeyColumn<&TbKernelsKey::name>{
        {"kernel", "Kernel", "", FieldType::kText, Field::kShared, "name as recorded", Fold::kKey}},
    ByColumn<&TbKernelsKey::op>({"op", "Op", "", FieldType::kText, 30,
                                 "operator in the plugin's tree; CallTreeRoot: none", Fold::kKey}),
    {{"grid", "Grid", "", FieldType::kExtent, 14, "blocks", Fold::kKey},
     TbExtentOf<0>,
     Need::kNothing,
     true},
    {{"block", "Block", "", FieldType::kExtent, 12, "threads per block", Fold::kKey},
     TbExtentOf<3>,
     Need::kNothing,
     true},
    {{"regs", "Regs", "", FieldType::kInteger, 4, "registers per thread; 0: not recorded",
      Fold::kKey},
     TbNumberOf<6>,
     Need::kNothing,
     true},
    {{"smem", "Shared", "B", FieldType::kInteger, 7,
      "shared memory per block; 0: none or not recorded", Fold::kKey},
     TbNumberOf<7>,
     Need::kNothing,
     true},
    {{"tc", "TC", "", FieldType::kText, 3,
      "yes: the name is on the plugin's list of Tensor Core kernels", Fold::kKey},
     [](const TbKernelsRow& row) {
       return YesOrNo(ops::IsTensorBoardTensorCoreKernel(row.key.name));
     }},
    {{"tc_elig", "TC elig", "", FieldType::kText, 7,
      "yes: the op is on the plugin's list of those that could use them", Fold::kNone},
     [](const TbKernelsRow& row) { return YesOrNo(row.sums.eligible); },
     Need::kNothing,
     true},
    FigureColumn<&TbKernelsSums::calls>{"calls", "Calls", "", 8, "kernels"},
    FigureColumn<&TbKernelsSums::total_ns>{"total_ns", "Total(ns)", "ns", 13,
                                           "sum of their durations"},
    {{"mean_ns", "Mean(ns)", "ns", FieldType::kDecimal, 13, "total_ns / calls", Fold::kMean},
     RatioOf<&TbKernelsSums::total_ns, &TbKernelsSums::calls>},
    FigureColumn<&TbKernelsSums::max_ns>{"max_ns", "Max(ns)", "ns", 11, "longest"},
    {{"min_ns", "Min(ns)", "ns", FieldType::kInteger, 11, "shortest", Fold::kMin},
     [](const TbKernelsRow& row) { return Integer(row.sums.min_ns.value); }},
    {{"blocks_per_sm", "Blocks/SM", "", FieldType::kDecimal, 10,
      "blocks per multiprocessor: mean weighted by duration; kernels without it count as 0",
      Fold::kMean},
     TbMeanOf<&TbKernelsSums::blocks>},
    {{"achieved_occupancy_pct", "AchievedOccupancy(%)", "%", FieldType::kDecimal, 9,
      "estimated achieved occupancy: mean weighted by duration; kernels without it count as 0",
      Fold::kMean},
     TbMeanOf<&TbKernelsSums::occupancy>},
};

/// The grid as the kernel's event has it, "[65536, 1, 1]": some of ROCm's count threads, of which
/// Kernel::grid makes blocks.
void TakeGrid(std::string_view text, std::array<int64_t, 8>* numbers) {
  for (size_t i = 0; i < 3; ++i) {
    text.remove_prefix(std::min(text.find_first_of("0123456789"), text.size()));
    int64_t extent = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), extent);
    if (error != std::errc()) return;
    (*numbers)[i] = extent;
    text.remove_prefix(static_cast<size_t>(end - text.data()));
  }
}

/// The numbers in the kernel's own event; the plugin ignores those of its call.
std::array<int64_t, 8> NumbersOf(const Trace& trace, const Kernel& kernel,
                                 const KernelDetails& details, const TorchEvent& event) {
  std::array<int64_t, 8> numbers = {-1, -1, -1, -1, -1, -1, 0, 0};
  if (!event.has_extents) return numbers;
  const KernelShape& shape = trace.ShapeOf(kernel);
  std::copy(shape.grid, shape.grid + 3, numbers.begin());
  TakeGrid(trace.strings.View(event.dims), &numbers);
  std::copy(shape.block, shape.block + 3, numbers.begin() + 3);
  numbers[6] = std::max(shape.registers_per_thread, 0);
  if (event.has_shared_memory) numbers[7] = std::max(details.shared_memory_bytes, 0);
  return numbers;
}

constexpr std::string_view kByProperties[] = {"kernel", "op",   "grid",   "block",
                                              "regs",   "smem", "tc_elig"};

/// Nothing, "kernel", or all but the last of kByProperties, which is added.
ViewOptions TbKernelsBy(ViewOptions options) {
  std::vector<std::string>& by = options.by;
  if (by.empty() || (by.size() == 1 && by.front() == kByProperties[0])) return options;
  by.emplace_back(kByProperties[6]);
  if (!std::ranges::equal(by, kByProperties)) {
    throw UsageError("--compat tb has --by kernel and --by kernel,op,grid,block,regs,smem");
  }
  return options;
}

class TbKernels : public GroupedPartial<TbKernelsKey, TbKernelsSums, TbKernelsRow, TbEventNotes> {
 public:
  explicit TbKernels(const ViewOptions& options)
      : GroupedPartial("groups", TbKernelsBy(options), kByProperties, kTbKernelsColumns) {}

  void End(const Run* run) override;
  void Merge(const Partial& other) override {
    GroupedPartial::Merge(other);
    MergeInto(&tensor_core_, dynamic_cast<const TbKernels&>(other).tensor_core_);
  }
  void Emit(Sink* sink) const override;
  std::vector<std::string> Notes() const override;

 private:
  void AddByName(const Trace& trace);
  void AddByProperties(const Trace& trace, const TbTree& tree);

  TbTensorCoreTime tensor_core_;
};

void TbKernels::End(const Run* run) {
  if (run == nullptr) return;
  const TbTree tree(run->trace());
  MergeInto(&tensor_core_, TbTensorCoreTimeOf(run->trace(), tree));
  if (By("op")) {
    AddByProperties(run->trace(), tree);
  } else {
    AddByName(run->trace());
  }
}

void TbKernels::AddByName(const Trace& trace) {
  std::unordered_map<StringId, TbKernelsSums> found;
  for (const Kernel& kernel : trace.kernels) {
    if (!kernel.timed()) continue;
    found[kernel.name].Add(kernel.end_ns - kernel.start_ns, trace.DetailsOf(kernel));
  }
  for (const auto& [name, sums] : found) {
    Take({std::string(trace.strings.View(name)), "", {}}, sums);
  }
}

void TbKernels::AddByProperties(const Trace& trace, const TbTree& tree) {
  std::vector<uint32_t> events;
  for (const TbTree::KernelPlace& place : tree.kernels()) events.push_back(place.event);
  const std::vector<uint32_t> kernels = KernelsOfEvents(trace, events);
  using Ids = std::tuple<StringId, StringId, std::array<int64_t, 8>>;
  std::map<Ids, TbKernelsSums> found;
  for (size_t i = 0; i < events.size(); ++i) {
    if (kernels[i] == UINT32_MAX) continue;
    const TbTree::KernelPlace& place = tree.kernels()[i];
    const TorchEvent& event = trace.torch_events[events[i]];
    const Kernel& kernel = trace.kernels[kernels[i]];
    const KernelDetails details = trace.DetailsOf(kernel);
    const std::array<int64_t, 8> numbers = NumbersOf(trace, kernel, details, event);
    TbKernelsSums& sums = found[{kernel.name, place.op, numbers}];
    if (sums.calls == 0) sums.eligible.value = place.op_eligible;
    sums.Add(LengthNs(event), details);
  }
  for (const auto& [ids, sums] : found) {
    const auto& [name, op, numbers] = ids;
    const std::string_view op_name = op == 0 ? kRoot : trace.strings.View(op);
    Take({std::string(trace.strings.View(name)), std::string(op_name), numbers}, sums);
  }
}

void TbKernels::Emit(Sink* sink) const {
  std::vector<const std::pair<const TbKernelsKey, TbKernelsSums>*> rows;
  for (const auto& group : rows_) rows.push_back(&group);
  std::stable_sort(rows.begin(), rows.end(), [](const auto* a, const auto* b) {
    return a->second.total_ns > b->second.total_ns;
  });
  TableOf<TbKernelsRow> table(columns(), sink);
  for (const auto* row : rows) table.Add({row->first, row->second});
}

std::vector<std::string> TbKernels::Notes() const {
  std::vector<std::string> notes = notes_.Sentences("");
  if (notes.empty() && !By("op") && tensor_core_.kernel_ns != 0) {
    notes.push_back(fmt::format(
        "groups: {:.2f} % of the time of kernels uses Tensor Cores; operators that could use them "
        "launched {:.2f} % of the time of the kernels of operators",
        100 * tensor_core_.used_ratio(), 100 * tensor_core_.eligible_ratio()));
  }
  return notes;
}

}  // namespace

std::unique_ptr<Partial> MakeTbKernels(const ViewOptions& options) {
  return std::make_unique<TbKernels>(options);
}

}  // namespace oplens::prof

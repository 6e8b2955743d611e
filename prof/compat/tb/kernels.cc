#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <string>
#include <tuple>
#include <unordered_map>
#include <utility>
#include <vector>

#include "base/checked.h"
#include "base/error.h"
#include "base/id_map.h"
#include "ops/kernels/tensorboard_names.h"
#include "parse/model/trace.h"
#include "prof/compat/tb/tree.h"
#include "prof/compat/tb/views.h"
#include "prof/run/run.h"

namespace oplens::prof {
namespace {

constexpr std::string_view kRoot = "CallTreeRoot";
constexpr std::string_view kByName[] = {"kernel"};
constexpr std::string_view kByProperties[] = {"kernel", "op", "grid", "block", "regs", "smem"};

constexpr Field kTbKernelsKeyFields[] = {
    {"kernel", "Kernel", "", FieldType::kText, Field::kShared, "name as recorded", Fold::kKey},
    {"op", "Op", "", FieldType::kText, 30, "operator by the plugin's tree; CallTreeRoot: none",
     Fold::kKey},
    {"grid", "Grid", "", FieldType::kExtent, 14, "blocks", Fold::kKey},
    {"block", "Block", "", FieldType::kExtent, 12, "threads of a block", Fold::kKey},
    {"regs", "Regs", "", FieldType::kInteger, 4, "registers of a thread; 0: not recorded",
     Fold::kKey},
    {"smem", "Shared", "B", FieldType::kInteger, 7,
     "shared memory of a block; 0: none or not recorded", Fold::kKey},
};
constexpr Field kUse = {
    "tc",      "TC",
    "",        FieldType::kText,
    3,         "yes: the name is one of the plugin's list of Tensor Core kernels",
    Fold::kKey};
constexpr Field kEligible = {
    "tc_elig",  "TC elig",
    "",         FieldType::kText,
    7,          "yes: the op is one of the plugin's list of those that could use them",
    Fold::kNone};
constexpr Field kTbKernelsSumFields[] = {
    {"calls", "Calls", "", FieldType::kInteger, 8, "kernels", Fold::kSum},
    {"total_ns", "Total(ns)", "ns", FieldType::kInteger, 13, "sum of their durations", Fold::kSum},
    {"mean_ns", "Mean(ns)", "ns", FieldType::kDecimal, 13, "total_ns / calls", Fold::kMean},
    {"max_ns", "Max(ns)", "ns", FieldType::kInteger, 11, "longest", Fold::kMax},
    {"min_ns", "Min(ns)", "ns", FieldType::kInteger, 11, "shortest", Fold::kMin},
    {"blocks_per_sm", "Blocks/SM", "", FieldType::kDecimal, 10,
     "blocks per multiprocessor: mean weighted by duration; of kernels without it 0 counts",
     Fold::kMean},
    {"achieved_occupancy_pct", "AchievedOccupancy(%)", "%", FieldType::kDecimal, 9,
     "estimated achieved occupancy: mean weighted by duration; of kernels without it 0 counts",
     Fold::kMean},
};

/// What a kernel's times are a mean of, in 2^-20: sums of integers do not depend on their order.
int64_t TbKernelsScaled(float value) {
  constexpr double kScale = 1 << 20;
  constexpr double kMost = 1e12;
  return value > 0 ? std::llround(std::min(double{value}, kMost) * kScale) : 0;
}

struct TbKernelsSums {
  int64_t calls = 0;
  int64_t total_ns = 0;
  int64_t max_ns = 0;
  int64_t min_ns = INT64_MAX;
  Checked blocks;  // Blocks per multiprocessor * duration, Scaled.
  Checked occupancy;
  bool eligible = false;

  void Add(int64_t duration_ns, const KernelDetails& details);
  void Add(const TbKernelsSums& other);
  Cell MeanOf(const Checked& sum) const;
};

void TbKernelsSums::Add(int64_t duration_ns, const KernelDetails& details) {
  ++calls;
  total_ns += duration_ns;
  max_ns = std::max(max_ns, duration_ns);
  min_ns = std::min(min_ns, duration_ns);
  blocks += Checked(TbKernelsScaled(details.blocks_per_multiprocessor)) * duration_ns;
  occupancy += Checked(TbKernelsScaled(details.achieved_occupancy_pct)) * duration_ns;
}

void TbKernelsSums::Add(const TbKernelsSums& other) {
  calls += other.calls;
  total_ns += other.total_ns;
  max_ns = std::max(max_ns, other.max_ns);
  min_ns = std::min(min_ns, other.min_ns);
  blocks += other.blocks;
  occupancy += other.occupancy;
  eligible |= other.eligible;
}

Cell TbKernelsSums::MeanOf(const Checked& sum) const {
  if (total_ns <= 0) return Cell{0.0};
  const std::optional<double> whole = sum.Approximate();
  return whole ? Cell{*whole / (1 << 20) / static_cast<double>(total_ns)} : Cell{};
}

/// Name, op, grid, block, registers, shared memory; of the table by name the name alone.
struct TbKernelsKey {
  std::string name;
  std::string op;
  std::array<int64_t, 8> numbers{};
  friend bool operator<(const TbKernelsKey& a, const TbKernelsKey& b) {
    return std::tie(a.name, a.op, a.numbers) < std::tie(b.name, b.op, b.numbers);
  }
};

/// Those of its call are not the kernel's own to the plugin.
std::array<int64_t, 8> NumbersOf(const Kernel& kernel, const KernelDetails& details, bool own) {
  std::array<int64_t, 8> numbers = {-1, -1, -1, -1, -1, -1, 0, 0};
  if (!own) return numbers;
  std::copy(kernel.grid, kernel.grid + 3, numbers.begin());
  std::copy(kernel.block, kernel.block + 3, numbers.begin() + 3);
  numbers[6] = std::max(kernel.registers_per_thread, 0);
  numbers[7] = std::max(details.shared_memory_bytes, 0);
  return numbers;
}

class TbKernels : public Partial {
 public:
  explicit TbKernels(const ViewOptions& options) {
    const auto is = [&](const auto& words) {
      return std::equal(options.by.begin(), options.by.end(), std::begin(words), std::end(words));
    };
    by_properties_ = is(kByProperties);
    if (!by_properties_ && !options.by.empty() && !is(kByName)) {
      throw UsageError("--compat tb has --by kernel and --by kernel,op,grid,block,regs,smem");
    }
  }

  void End(const Run* run) override;
  void Merge(const Partial& other) override;
  std::vector<Field> Fields() const override;
  void Emit(Sink* sink) const override;
  std::vector<std::string> Notes() const override;

 private:
  void AddByName(const Trace& trace);
  void AddByProperties(const Trace& trace, const TbTree& tree);
  void EmitRow(const TbKernelsKey& key, const TbKernelsSums& sums, Sink* sink) const;

  bool by_properties_ = false;
  bool has_events_ = false;
  int64_t ranks_ = 0;
  TbTensorCoreTime tensor_core_;
  std::map<TbKernelsKey, TbKernelsSums> groups_;
};

void TbKernels::End(const Run* run) {
  ++ranks_;
  if (run == nullptr) return;
  const Trace& trace = run->trace();
  has_events_ |= !trace.torch_events.empty();
  const TbTree tree(trace);
  tensor_core_.Add(TbTensorCoreTimeOf(trace, tree));
  if (by_properties_) {
    AddByProperties(trace, tree);
  } else {
    AddByName(trace);
  }
}

void TbKernels::AddByName(const Trace& trace) {
  std::unordered_map<StringId, TbKernelsSums> found;
  for (const Kernel& kernel : trace.kernels) {
    if (!kernel.timed()) continue;
    found[kernel.name].Add(kernel.end_ns - kernel.start_ns, trace.DetailsOf(kernel));
  }
  for (const auto& [name, sums] : found) {
    groups_[{std::string(trace.strings.View(name)), "", {}}].Add(sums);
  }
}

void TbKernels::AddByProperties(const Trace& trace, const TbTree& tree) {
  IdMap kernel_of;  // By row id.
  for (size_t i = 0; i < trace.kernels.size(); ++i) {
    kernel_of.FindOrInsert(trace.kernels[i].row_id, static_cast<uint32_t>(i));
  }
  using Ids = std::tuple<StringId, StringId, std::array<int64_t, 8>>;
  std::map<Ids, TbKernelsSums> found;
  for (const TbTree::KernelPlace& place : tree.kernels()) {
    const TorchEvent& event = trace.torch_events[place.event];
    const uint32_t index = kernel_of.Find(event.number);
    if (index == IdMap::kNone) continue;
    const Kernel& kernel = trace.kernels[index];
    const KernelDetails details = trace.DetailsOf(kernel);
    const std::array<int64_t, 8> numbers = NumbersOf(kernel, details, event.has_extents);
    TbKernelsSums& sums = found[{kernel.name, place.op, numbers}];
    if (sums.calls == 0) sums.eligible = place.op_eligible;
    sums.Add(LengthNs(event), details);
  }
  for (const auto& [ids, sums] : found) {
    const auto& [name, op, numbers] = ids;
    const std::string_view op_name = op == 0 ? kRoot : trace.strings.View(op);
    groups_[{std::string(trace.strings.View(name)), std::string(op_name), numbers}].Add(sums);
  }
}

void TbKernels::Merge(const Partial& other) {
  const auto& more = dynamic_cast<const TbKernels&>(other);
  has_events_ |= more.has_events_;
  ranks_ += more.ranks_;
  tensor_core_.Add(more.tensor_core_);
  for (const auto& [key, sums] : more.groups_) groups_[key].Add(sums);
}

std::vector<Field> TbKernels::Fields() const {
  std::vector<Field> fields = {kTbKernelsKeyFields[0]};
  if (by_properties_) fields.assign(std::begin(kTbKernelsKeyFields), std::end(kTbKernelsKeyFields));
  fields.push_back(kUse);
  if (by_properties_) fields.push_back(kEligible);
  fields.insert(fields.end(), std::begin(kTbKernelsSumFields), std::end(kTbKernelsSumFields));
  return fields;
}

void TbKernels::Emit(Sink* sink) const {
  std::vector<const std::pair<const TbKernelsKey, TbKernelsSums>*> rows;
  for (const auto& group : groups_) rows.push_back(&group);
  std::stable_sort(rows.begin(), rows.end(), [](const auto* a, const auto* b) {
    return a->second.total_ns > b->second.total_ns;
  });
  for (const auto* row : rows) EmitRow(row->first, row->second, sink);
}

void TbKernels::EmitRow(const TbKernelsKey& key, const TbKernelsSums& sums, Sink* sink) const {
  const auto word = [](bool yes) { return Text(yes ? "yes" : "no"); };
  const std::array<int64_t, 8>& of = key.numbers;
  std::vector<Cell> cells = {Text(key.name)};
  if (by_properties_) {
    const auto extent = [](const Dim3& blocks) { return blocks.known() ? Cell{blocks} : Cell{}; };
    for (const Cell& cell : {Text(key.op), extent({of[0], of[1], of[2]}),
                             extent({of[3], of[4], of[5]}), Integer(of[6]), Integer(of[7])}) {
      cells.push_back(cell);
    }
  }
  cells.push_back(word(ops::IsTensorBoardTensorCoreKernel(key.name)));
  if (by_properties_) cells.push_back(word(sums.eligible));
  const double mean = static_cast<double>(sums.total_ns) / static_cast<double>(sums.calls);
  for (const Cell& cell :
       {Integer(sums.calls), Integer(sums.total_ns), Cell{mean}, Integer(sums.max_ns),
        Integer(sums.min_ns), sums.MeanOf(sums.blocks), sums.MeanOf(sums.occupancy)}) {
    cells.push_back(cell);
  }
  sink->Row(cells);
}

std::vector<std::string> TbKernels::Notes() const {
  if (ranks_ == 0) return {};
  if (!has_events_) {
    return {
        "groups: --compat tb goes by numbers that only the JSON trace of PyTorch's profiler holds"};
  }
  if (by_properties_ || tensor_core_.kernel_ns == 0) return {};
  return {fmt::format(
      "groups: {:.2f} % of the time of kernels uses Tensor Cores; operators that could use them "
      "launched {:.2f} % of the time of the kernels of operators",
      100 * tensor_core_.used_ratio(), 100 * tensor_core_.eligible_ratio())};
}

}  // namespace

std::unique_ptr<Partial> MakeTbKernels(const ViewOptions& options) {
  return std::make_unique<TbKernels>(options);
}

}  // namespace oplens::prof

#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "prof/run/device_times.h"
#include "prof/views/common/group_view.h"

namespace oplens::prof {
namespace {

/// Time by combination of the three classes, and whether it occurs.
struct Types {
  std::array<Sum, kClassCombinations> ns;
  std::array<Any, kClassCombinations> occurs;
};

/// One per window, or one for all time without windows.
std::vector<Types> OwnTypes(const Run& run, const std::optional<std::vector<Interval>>& windows) {
  std::map<int32_t, ClassSweep> devices;
  ClassSweep* sweep = nullptr;
  int32_t device = 0;
  for (const DeviceEvent& event : run.device_work().events()) {
    if (sweep == nullptr || event.device_id != device) {
      device = event.device_id;
      const auto [place, is_new] = devices.try_emplace(device);
      sweep = &place->second;
      if (is_new && windows) *sweep = ClassSweep(*windows);
    }
    sweep->Add(ClassBitOf(event.work), event.start_ns, event.end_ns);
  }
  std::vector<Types> types(windows ? windows->size() : 1);
  for (auto& [id, of_device] : devices) {
    const std::vector<ClassTimes> found = of_device.Finish();
    for (size_t i = 0; i < found.size(); ++i) {
      for (size_t c = 0; c < kClassCombinations; ++c) types[i].ns[c] += found[i].ns[c];
    }
  }
  for (Types& one : types) {
    for (size_t c = 1; c < kClassCombinations; ++c) one.occurs[c].value = one.ns[c] > 0;
  }
  return types;
}

std::string KernelTypesNameOf(size_t combination) {
  constexpr std::string_view kNames[] = {"COMPUTATION", "COMMUNICATION", "MEMORY"};
  std::string name;
  for (size_t i = 0; i < std::size(kNames); ++i) {
    if ((combination >> i & 1) == 0) continue;
    if (!name.empty()) name += " overlapping ";
    name += kNames[i];
  }
  return name;
}

struct TypesRow {
  const TimeKey& key;
  std::string type;
  int64_t ns;
  int64_t all_ns;

  Cell Share() const {
    if (all_ns == 0) return {};
    return {static_cast<double>(ns) / static_cast<double>(all_ns) * 100.0};
  }
};

constexpr Column<TypesRow> kKernelTypesColumns[] = {
    ByColumn<&TimeKey::rank>(kRankField),
    ByColumn<&TimeKey::step>(kStepField),
    {{"type", "Type", "", FieldType::kText, Field::kShared,
      "classes that run at once: COMPUTATION (including graph replays), COMMUNICATION, MEMORY "
      "(copies and memsets)",
      Fold::kKey},
     [](const TypesRow& row) { return Text(row.type); }},
    {{"sum_ns", "Time(ns)", "ns", FieldType::kInteger, 14,
      "time in which exactly these run, summed over ranks and devices", Fold::kSum},
     [](const TypesRow& row) { return Integer(row.ns); }},
    {{"share_pct", "Share%", "%", FieldType::kDecimal, 8, "100 x sum_ns / its sum over all rows",
      Fold::kSum},
     [](const TypesRow& row) { return row.Share(); }},
};

void FindKernelTypes(const Run& run, ViewGroups<kKernelTypesColumns, Types>* groups) {
  TimeKey key;
  if (groups->By("rank")) key.rank = RankName(run.rank());
  if (!groups->By("step")) {
    for (const Types& types : OwnTypes(run, run.windows())) groups->Take(key, types);
    return;
  }
  const std::vector<Types> found = OwnTypes(run, WindowsOf(run.steps()));
  for (size_t i = 0; i < found.size(); ++i) {
    key.step = run.steps().all()[i].number;
    groups->Take(key, found[i]);
  }
}

void EmitKernelTypes(const std::map<TimeKey, Types>& groups, TableOf<TypesRow>* table) {
  for (const auto& [key, types] : groups) {
    const auto& ns = types.ns;
    std::vector<size_t> order;
    Sum all_ns;
    for (size_t c = 1; c < kClassCombinations; ++c) {
      if (types.occurs[c]) order.push_back(c);
      all_ns += ns[c];
    }
    std::stable_sort(order.begin(), order.end(), [&](size_t a, size_t b) { return ns[a] > ns[b]; });
    for (const size_t c : order) table->Add({key, KernelTypesNameOf(c), ns[c], all_ns});
  }
}

}  // namespace

extern constexpr View kKernelTypesView = {
    .name = "kernel-types",
    .help = "device time by what ran at once",
    .fields = FieldsWithoutBy<kKernelTypesColumns>,
    .make = MakeGroups<kKernelTypesView, FindKernelTypes, EmitKernelTypes>,
    .by = kTimeKeys,
    .saved_form = 1};

}  // namespace oplens::prof

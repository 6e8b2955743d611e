#include "prof/views/kernel_types.h"

#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <string>

#include "prof/run/device_times.h"
#include "prof/views/rank_order.h"
#include "prof/views/saved_partial.h"
#include "prof/views/time_keys.h"
#include "prof/views/view_notes.h"

namespace oplens::prof {
namespace {

constexpr Field kKernelTypesFields[] = {
    {"type", "Type", "", FieldType::kText, Field::kShared,
     "the classes that run at once: COMPUTATION (replays of graphs too), COMMUNICATION, MEMORY "
     "(copies and fills)",
     Fold::kKey},
    {"sum_ns", "Time(ns)", "ns", FieldType::kInteger, 14,
     "time in which exactly these run, summed over ranks and devices", Fold::kSum},
    {"share_pct", "Share%", "%", FieldType::kDecimal, 8, "100 x sum_ns / its sum over all rows",
     Fold::kSum},
};

/// Sums by combination of the three classes, and whether it occurs.
struct Types {
  ClassTimes times;
  std::array<bool, kClassCombinations> occurs{};

  template <typename Bytes, typename Self>
  static void Transfer(Bytes* bytes, Self* self) {
    for (auto& ns : self->times.ns) bytes->Sums(&ns);
    bytes->Values(&self->occurs);
  }
};

/// Of each of some windows; without any, of all time.
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
    for (size_t i = 0; i < found.size(); ++i) types[i].times.Add(found[i]);
  }
  for (Types& one : types) {
    for (size_t c = 1; c < kClassCombinations; ++c) one.occurs[c] = one.times.ns[c] > 0;
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

/// What a row is of; what the rows are not split by is as in this.
struct KernelTypesKey {
  template <typename Bytes, typename Self>
  static void Transfer(Bytes* bytes, Self* self) {
    bytes->Values(&self->rank, &self->step);
  }

  std::string rank;
  int64_t step = 0;
};
struct KernelTypesKeyBefore {
  bool operator()(const KernelTypesKey& a, const KernelTypesKey& b) const {
    if (a.rank != b.rank) return RankBefore()(a.rank, b.rank);
    return a.step < b.step;
  }
};

class KernelTypes : public SavedPartial<KernelTypes> {
 public:
  template <typename Bytes, typename Self>
  static void Transfer(Bytes* bytes, Self* self) {
    bytes->Values(&self->rows_, &self->notes_);
  }

  explicit KernelTypes(const ViewOptions& options)
      : by_(options, "kernel-types"), notes_("kernel-types") {}

  void Begin(const Run* run) override { notes_.Begin(run); }
  void End(const Run* run) override;
  void Merge(const Partial& other) override;
  std::vector<Field> Fields() const override;
  void Emit(Sink* sink) const override;
  std::vector<std::string> Notes() const override { return notes_.Sentences(); }

 private:
  static Cell Share(int64_t part, int64_t whole) {
    if (whole == 0) return {};
    return {static_cast<double>(part) / static_cast<double>(whole) * 100.0};
  }

  void Take(const KernelTypesKey& key, const Types& more) {
    Types& types = rows_[key];
    types.times.Add(more.times);
    for (size_t c = 0; c < kClassCombinations; ++c) types.occurs[c] |= more.occurs[c];
  }

  void EmitRows(const KernelTypesKey& key, const Types& types, Sink* sink) const;

  TimeKeys by_;
  std::map<KernelTypesKey, Types, KernelTypesKeyBefore> rows_;
  ViewNotes notes_;
};

void KernelTypes::End(const Run* run) {
  if (run == nullptr) return;
  KernelTypesKey key;
  if (by_.rank) key.rank = run->rank();
  if (!by_.step) {
    for (const Types& types : OwnTypes(*run, run->windows())) Take(key, types);
    return;
  }
  const std::vector<Types> found = OwnTypes(*run, WindowsOf(run->steps()));
  for (size_t i = 0; i < found.size(); ++i) {
    key.step = run->steps().all()[i].number;
    Take(key, found[i]);
  }
}

void KernelTypes::Merge(const Partial& other) {
  const auto& more = dynamic_cast<const KernelTypes&>(other);
  for (const auto& [key, types] : more.rows_) Take(key, types);
  notes_.Merge(more.notes_);
}

std::vector<Field> KernelTypes::Fields() const {
  std::vector<Field> fields(std::begin(kKernelTypesFields), std::end(kKernelTypesFields));
  if (by_.step) fields.insert(fields.begin(), kStepField);
  if (by_.rank) fields.insert(fields.begin(), kRankField);
  return fields;
}

void KernelTypes::Emit(Sink* sink) const {
  for (const auto& [key, types] : rows_) EmitRows(key, types, sink);
}

void KernelTypes::EmitRows(const KernelTypesKey& key, const Types& types, Sink* sink) const {
  std::vector<size_t> order;
  for (size_t c = 1; c < kClassCombinations; ++c) {
    if (types.occurs[c]) order.push_back(c);
  }
  const auto& ns = types.times.ns;
  std::stable_sort(order.begin(), order.end(), [&](size_t a, size_t b) { return ns[a] > ns[b]; });
  const int64_t all_ns = types.times.AnyOf(kClassCombinations - 1);
  for (const size_t c : order) {
    const std::string name = KernelTypesNameOf(c);
    std::vector<Cell> cells;
    if (by_.rank) cells.push_back(Text(key.rank));
    if (by_.step) cells.push_back(Integer(key.step));
    for (const Cell& cell : {Text(name), Integer(ns[c]), Share(ns[c], all_ns)}) {
      cells.push_back(cell);
    }
    sink->Row(cells);
  }
}

}  // namespace

std::span<const Field> KernelTypesFields() { return kKernelTypesFields; }

std::unique_ptr<Partial> MakeKernelTypes(const ViewOptions& options) {
  return std::make_unique<KernelTypes>(options);
}

}  // namespace oplens::prof

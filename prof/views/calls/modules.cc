#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "base/byte_map.h"
#include "base/saturating.h"
#include "parse/model/recording_advice.h"
#include "prof/run/path_tree.h"
#include "prof/views/calls/module_run.h"
#include "prof/views/common/grouped_partial.h"
#include "prof/views/common/rank_order.h"
#include "prof/views/common/saved_partial.h"
#include "prof/views/common/time_keys.h"

namespace oplens::prof {
namespace {

constexpr std::string_view kNoModule = "(no module)";
constexpr std::string_view kModulesCollectives = "(collectives)";

/// Key of the rows that form one tree.
struct ModulesKey {
  RankName rank;
  std::optional<int64_t> step;

  friend auto operator<=>(const ModulesKey&, const ModulesKey&) = default;
};
using ModulesOfKey = std::map<uint32_t, ModuleSums>;  // By path.

struct ModuleRow {
  const ModulesKey& key;
  std::string_view path;
  std::string_view name;
  int64_t level;
  bool none;  ///< Outside of modules.
  const ModuleSums& sums;
  const ModuleSums& totals;  ///< Including nested modules.
  bool has_memory;

  Cell OfModule(const Cell& cell) const { return none ? Cell{} : cell; }
};

constexpr Column<ModuleRow> kModulesColumns[] = {
    ByColumn<&ModulesKey::rank>(kRankField),
    ByColumn<&ModulesKey::step>(kStepField),
    {{"path", "Path", "", FieldType::kText, Field::kShared,
      "the modules around it and itself, outermost first, joined by /; \"Net_0 (inferred)\" and "
      "what is in it: kernels whose layer is inferred",
      Fold::kKey},
     [](const ModuleRow& row) { return Text(row.path); }},
    {{"name", "Name", "", FieldType::kText, 24, "its own name, as recorded"},
     [](const ModuleRow& row) { return row.OfModule(Text(row.name)); }},
    {{"level", "Level", "", FieldType::kInteger, 5, "number of modules around it"},
     [](const ModuleRow& row) { return row.OfModule(Integer(row.level)); }},
    {{"calls", "Calls", "", FieldType::kInteger, 8,
      "calls of the module, including those that run again in the backward pass", Fold::kSum},
     [](const ModuleRow& row) { return row.OfModule(CellOf(row.sums.calls)); }},
    {{"wall_ns", "Wall(ns)", "ns", FieldType::kInteger, 13, "sum of the lengths of these calls"},
     [](const ModuleRow& row) { return row.OfModule(CellOf(row.sums.wall_ns)); }},
    FigureColumn<&ModuleSums::ops>{"ops", "Ops", "", 8,
                                   "operator calls in it, not in modules inside"},
    {{"device_self_ns", "DevSelf(ns)", "ns", FieldType::kInteger, 13,
      "sum of the durations of the device events that these calls launched, outside of the "
      "backward pass",
      Fold::kSum},
     [](const ModuleRow& row) { return CellOf(row.sums.forward.device_ns); }},
    {{"device_total_ns", "DevTotal(ns)", "ns", FieldType::kInteger, 13,
      "device_self_ns of it and all modules inside"},
     [](const ModuleRow& row) { return CellOf(row.totals.forward.device_ns); }},
    {{"host_self_ns", "HostSelf(ns)", "ns", FieldType::kInteger, 13,
      "host time of these calls, each without the time in which calls inside ran, outside of the "
      "backward pass",
      Fold::kSum},
     [](const ModuleRow& row) { return CellOf(row.sums.forward.host_ns); }},
    {{"host_total_ns", "HostTotal(ns)", "ns", FieldType::kInteger, 13,
      "host_self_ns of it and all modules inside"},
     [](const ModuleRow& row) { return CellOf(row.totals.forward.host_ns); }},
    {{"bwd_device_self_ns", "BwdDevSelf(ns)", "ns", FieldType::kInteger, 14,
      "as device_self_ns, in the backward pass", Fold::kSum},
     [](const ModuleRow& row) { return CellOf(row.sums.backward.device_ns); }},
    {{"bwd_device_total_ns", "BwdDevTotal(ns)", "ns", FieldType::kInteger, 15,
      "bwd_device_self_ns of it and all modules inside"},
     [](const ModuleRow& row) { return CellOf(row.totals.backward.device_ns); }},
    {{"bwd_host_self_ns", "BwdHostSelf(ns)", "ns", FieldType::kInteger, 15,
      "as host_self_ns, in the backward pass", Fold::kSum},
     [](const ModuleRow& row) { return CellOf(row.sums.backward.host_ns); }},
    {{"bwd_host_total_ns", "BwdHostTotal(ns)", "ns", FieldType::kInteger, 16,
      "bwd_host_self_ns of it and all modules inside"},
     [](const ModuleRow& row) { return CellOf(row.totals.backward.host_ns); }},
    FigureColumn<&ModuleSums::communication_ns>{"comm_self_ns", "CommSelf(ns)", "ns", 13,
                                                "sum of the durations of its communication "
                                                "kernels, in both passes; not in the times above"},
    {{"comm_total_ns", "CommTotal(ns)", "ns", FieldType::kInteger, 13,
      "comm_self_ns of it and all modules inside"},
     [](const ModuleRow& row) { return CellOf(row.totals.communication_ns); }},
    FigureColumn<&ModuleSums::collectives>{"collectives", "Collectives", "", 11,
                                           "number of kernels of comm_self_ns"},
    FigureColumn<&ModuleSums::launches>{
        "launches", "Launches", "", 8,
        "number of device events of device_self_ns and bwd_device_self_ns"},
    {{"flops", "FLOPs", "FLOP", FieldType::kInteger, 18,
      "sum over the kernels among launches whose FLOPs are known", Fold::kSum},
     KnownOf<&ModuleSums::with_flops, &ModuleSums::flops>},
    {{"bytes", "Bytes", "B", FieldType::kInteger, 16,
      "sum over the kernels among launches whose bytes are known", Fold::kSum},
     KnownOf<&ModuleSums::with_bytes, &ModuleSums::bytes>},
    {{"alloc_bytes", "Alloc(B)", "B", FieldType::kInteger, 14,
      "device memory that the framework allocated in it, not in modules inside", Fold::kSum},
     [](const ModuleRow& row) {
       return row.has_memory ? CellOf(row.sums.allocated_bytes) : Cell{};
     }},
    {{"freed_bytes", "Freed(B)", "B", FieldType::kInteger, 14,
      "device memory that the framework freed in it, not in modules inside", Fold::kSum},
     [](const ModuleRow& row) { return row.has_memory ? CellOf(row.sums.freed_bytes) : Cell{}; }},
    {{"tc_self_pct", "TCSelf(%)", "%", FieldType::kDecimal, 8,
      "time of kernels that use Tensor Cores / time of kernels for which that use is known * 100; "
      "of the kernels among launches"},
     PercentOf<&ModuleSums::tensor_core_ns, &ModuleSums::tensor_core_known_ns>},
};

class Modules : public GroupedPartial<ModulesKey, ModulesOfKey, ModuleRow, TextNotes> {
 public:
  explicit Modules(const ViewOptions& options)
      : GroupedPartial("modules", options, kTimeKeys, kModulesColumns) {}

  void Begin(const Run* run) override;
  void Add(const PricedKernel& kernel) override {
    if (run_) run_->Add(kernel);
  }
  void End(const Run* run) override;
  void Merge(const Partial& other) override;
  std::vector<std::string> Notes() const override;
  void Save(ByteWriter* bytes) const override;
  void Load(ByteReader* bytes) override;

 private:
  // Further rows count as outside of modules.
  static constexpr size_t kMaxRows = size_t{1} << 20;

  /// The rows of a group except those outside of modules; parents come first.
  struct Outline {
    std::vector<uint32_t> paths;
    std::vector<uint32_t> parents;   // Indices in `paths`.
    std::vector<ModuleSums> totals;  // Times include nested modules.
  };

  void TakePath(const ModulesKey& key, uint32_t path, const ModuleSums& sums);
  Outline OutlineOf(const ModulesOfKey& sums) const;
  void EmitGroup(const ModulesKey& key, const ModulesOfKey& sums,
                 TableOf<ModuleRow>* table) const override;
  ModuleRow RowOf(const ModulesKey& key, std::string_view path, uint32_t module,
                  const ModuleSums& sums, const ModuleSums& totals) const {
    const bool none = module == PathTree::kRoot;
    return {key,  path,   tree_.TextOf(module), int64_t{tree_.nodes()[module].depth} - 1, none,
            sums, totals, has_memory_};
  }

  std::unique_ptr<ModuleRun> run_;  // Between Begin and End.
  PathTree tree_;
  size_t row_count_ = 0;
  bool has_memory_ = false;
  int64_t ranks_without_trace_ = 0;
  std::map<std::pair<Family, ModuleSource>, int64_t> ranks_without_modules_;
};

void Modules::Begin(const Run* run) {
  if (run == nullptr) {
    ++ranks_without_trace_;
  } else {
    run_ = std::make_unique<ModuleRun>(*run, By("step"));
  }
}

void Modules::End(const Run* run) {
  if (run == nullptr || !run_) return;
  run_->Finish();
  if (run_->source() != ModuleSource::kModules) {
    ++ranks_without_modules_[{run->trace().family, run_->source()}];
  }
  const std::vector<uint32_t> numbers = tree_.Take(run_->tree());
  for (const ModuleRun::Slot& slot : run_->slots()) {
    ModulesKey key;
    if (By("rank")) key.rank = RankName(run->rank());
    if (slot.step != Steps::kNone) key.step = run->steps().all()[slot.step].number;
    TakePath(key, numbers[slot.module], slot.sums);
  }
  run_.reset();
}

void Modules::TakePath(const ModulesKey& key, uint32_t path, const ModuleSums& sums) {
  const bool nothing = sums.calls == 0 && sums.ops == 0 && sums.launches == 0 &&
                       sums.collectives == 0 && sums.memory_events == 0 && sums.with_flops == 0 &&
                       sums.with_bytes == 0;
  if (nothing) return;
  has_memory_ |= sums.memory_events > 0;
  ModulesOfKey& group = rows_[key];
  const auto at = group.find(path);
  if (at != group.end()) {
    MergeInto(&at->second, sums);
  } else if (row_count_ < kMaxRows) {
    ++row_count_;
    group.emplace(path, sums);
  } else {
    MergeInto(&group[PathTree::kRoot], sums);
  }
}

void Modules::Merge(const Partial& other) {
  const auto& more = dynamic_cast<const Modules&>(other);
  const std::vector<uint32_t> numbers = tree_.Take(more.tree_);
  for (const auto& [key, group] : more.rows_) {
    for (const auto& [path, sums] : group) TakePath(key, numbers[path], sums);
  }
  ranks_without_trace_ += more.ranks_without_trace_;
  for (const auto& [what, count] : more.ranks_without_modules_) {
    ranks_without_modules_[what] += count;
  }
}

void Modules::Save(ByteWriter* bytes) const {
  bytes->Counts(&ranks_without_trace_);
  bytes->Values(&ranks_without_modules_);
  tree_.Save(bytes);
  bytes->Values(&rows_);
}

void Modules::Load(ByteReader* bytes) {
  bytes->Counts(&ranks_without_trace_);
  bytes->Values(&ranks_without_modules_);
  const std::vector<uint32_t> numbers = tree_.Load(bytes);
  TransferMap(bytes, &rows_, [&](const ModulesKey& key, const ModulesOfKey& group) {
    for (const auto& [path, sums] : group) {
      bytes->Check(path < numbers.size(), "a module has a path that does not exist");
      TakePath(key, numbers[path], sums);
    }
  });
}

/// The path of a module from its parent's. Names may already be paths: "encoder.2.fc" in
/// "encoder.2".
std::string ModulesPathOf(std::string_view parent_path, std::string_view parent,
                          std::string_view name) {
  if (parent_path.empty()) return std::string(name);
  std::string path(parent_path);
  if (name.size() > parent.size() && name.starts_with(parent) && name[parent.size()] == '.') {
    return path.append(name.substr(parent.size()));
  }
  return path.append("/").append(name);
}

Modules::Outline Modules::OutlineOf(const ModulesOfKey& sums) const {
  // Paths with sums, and their ancestors, which have lower numbers.
  std::map<uint32_t, ModuleSums> totals = sums;
  for (const auto& [path, own] : sums) {
    for (uint32_t at = path; at != PathTree::kNone; at = tree_.nodes()[at].parent) {
      if (!totals.try_emplace(at).second && at != path) break;
    }
  }
  totals.erase(PathTree::kRoot);
  for (auto at = totals.rbegin(); at != totals.rend(); ++at) {
    const auto around = totals.find(tree_.nodes()[at->first].parent);
    if (around == totals.end()) continue;
    MergeInto(&around->second.forward, at->second.forward);
    MergeInto(&around->second.backward, at->second.backward);
    around->second.communication_ns += at->second.communication_ns;
  }
  Outline outline;
  std::map<uint32_t, uint32_t> places;
  for (auto& [path, total] : totals) {
    const auto parent = places.find(tree_.nodes()[path].parent);
    outline.parents.push_back(parent == places.end() ? PathTree::kNone : parent->second);
    places.emplace(path, static_cast<uint32_t>(places.size()));
    outline.paths.push_back(path);
    outline.totals.push_back(total);
  }
  return outline;
}

void Modules::EmitGroup(const ModulesKey& key, const ModulesOfKey& sums,
                        TableOf<ModuleRow>* table) const {
  static const ModuleSums kNothing;
  const Outline outline = OutlineOf(sums);
  const auto weight = [&](uint32_t place) {
    const ModuleSums& total = outline.totals[place];
    ModuleSums::Pass both = total.forward;
    MergeInto(&both, total.backward);
    return std::tuple(int64_t{both.device_ns}, int64_t{both.host_ns}, int64_t{total.wall_ns});
  };
  const std::vector<uint32_t> order = TreeOrder(outline.parents, [&](uint32_t a, uint32_t b) {
    const auto of_a = weight(a);
    const auto of_b = weight(b);
    return of_a != of_b ? of_a > of_b
                        : tree_.TextOf(outline.paths[a]) < tree_.TextOf(outline.paths[b]);
  });
  std::vector<std::string> around;  // Paths of the current row's ancestors.
  for (const uint32_t place : order) {
    const uint32_t path = outline.paths[place];
    around.resize(tree_.nodes()[path].depth - 1);
    around.push_back(ModulesPathOf(around.empty() ? "" : around.back(),
                                   tree_.TextOf(tree_.nodes()[path].parent), tree_.TextOf(path)));
    const auto own = sums.find(path);
    table->Add(RowOf(key, around.back(), path, own == sums.end() ? kNothing : own->second,
                     outline.totals[place]));
  }
  const auto none = sums.find(PathTree::kRoot);
  if (none == sums.end()) return;
  ModuleSums other = none->second;
  if (other.collectives > 0) {
    ModuleSums collectives;
    std::swap(collectives.collectives, other.collectives);
    std::swap(collectives.communication_ns, other.communication_ns);
    table->Add(RowOf(key, kModulesCollectives, PathTree::kRoot, collectives, collectives));
  }
  table->Add(RowOf(key, kNoModule, PathTree::kRoot, other, other));
}

std::vector<std::string> Modules::Notes() const {
  std::vector<std::string> notes;
  if (ranks_without_trace_ > 0) {
    notes.push_back(
        "modules: records say nothing of the calls of modules; give the profile itself");
  }
  for (const auto& [what, count] : ranks_without_modules_) {
    const auto& [family, source] = what;
    notes.push_back(fmt::format(
        "modules: {} recorded no modules{}; to record them: {}",
        count == 1 ? "the profile" : "the profiles",
        source == ModuleSource::kScopes ? ": the rows are the ranges that the program names" : "",
        RecordingFlag(MissingFact::kLayers, family)));
  }
  return notes;
}

}  // namespace

extern constexpr View kModulesView = {
    .name = "modules",
    .help = "what each module of the network cost, forward and backward",
    .needs = {TracePart::kMemoryEvents},
    .fields = FieldsWithoutBy<kModulesColumns>,
    .make = MakePartial<Modules>,
    .by = kTimeKeys,
    .narrow = "calls,wall_ns,device_total_ns,bwd_device_total_ns,host_total_ns,bwd_host_total_ns",
    .saved_form = 2};

}  // namespace oplens::prof

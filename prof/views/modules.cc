#include "prof/views/modules.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "base/saturating.h"
#include "parse/model/recording_advice.h"
#include "prof/run/path_tree.h"
#include "prof/views/group_sums.h"
#include "prof/views/module_run.h"
#include "prof/views/module_sums.h"
#include "prof/views/rank_order.h"
#include "prof/views/saved_partial.h"
#include "prof/views/time_keys.h"

namespace oplens::prof {
namespace {

constexpr std::string_view kNoModule = "(no module)";
constexpr std::string_view kModulesCollectives = "(collectives)";

class Modules : public SavedPartial<Modules> {
 public:
  explicit Modules(const ViewOptions& options) : keys_(options, "modules") {}

  void Begin(const Run* run) override;
  void Add(const PricedKernel& kernel) override {
    if (run_) run_->Add(kernel);
  }
  void End(const Run* run) override;
  void Merge(const Partial& other) override;
  std::vector<Field> Fields() const override;
  void Emit(Sink* sink) const override;
  std::vector<std::string> Notes() const override;

  template <typename Bytes, typename Self>
  static void Transfer(Bytes* bytes, Self* self);

 private:
  // Rows that come once there are so many count in those of no module.
  static constexpr size_t kMaxRows = size_t{1} << 20;
  /// Rows of which one tree is made.
  struct Key {
    template <typename Bytes, typename Self>
    static void Transfer(Bytes* bytes, Self* self) {
      bytes->Values(&self->rank, &self->step);
    }

    std::string rank;
    std::optional<int64_t> step;
  };
  struct KeyOrder {
    bool operator()(const Key& a, const Key& b) const {
      if (a.rank != b.rank) return RankBefore()(a.rank, b.rank);
      return a.step < b.step;
    }
  };
  using Sums = std::map<uint32_t, ModuleSums>;  // By path.

  /// The rows of a group but that of no module, those of modules around others before them.
  struct Outline {
    std::vector<uint32_t> paths;
    std::vector<uint32_t> parents;   // Places here.
    std::vector<ModuleSums> totals;  // Times with those of modules inside.
  };

  void Take(const Key& key, uint32_t path, const ModuleSums& sums);
  Outline OutlineOf(const Sums& sums) const;
  void EmitTree(const Key& key, const Sums& sums, Sink* sink) const;
  void EmitRow(const Key& key, std::string_view path, uint32_t module, const ModuleSums& sums,
               const ModuleSums& totals, Sink* sink) const;

  TimeKeys keys_;
  std::unique_ptr<ModuleRun> run_;  // Between Begin and End.
  PathTree tree_;
  std::map<Key, Sums, KeyOrder> groups_;
  size_t rows_ = 0;
  bool has_memory_ = false;
  int64_t ranks_without_trace_ = 0;
  std::map<std::pair<Family, ModuleSource>, int64_t> ranks_without_modules_;
};

void Modules::Begin(const Run* run) {
  if (run == nullptr) {
    ++ranks_without_trace_;
  } else {
    run_ = std::make_unique<ModuleRun>(*run, keys_.step);
  }
}

void Modules::End(const Run* run) {
  if (run == nullptr || !run_) return;
  if (run_->source() != ModuleSource::kModules) {
    ++ranks_without_modules_[{run->trace().family, run_->source()}];
  }
  const std::vector<uint32_t> numbers = tree_.Take(run_->tree());
  for (const ModuleRun::Slot& slot : run_->slots()) {
    Key key;
    if (keys_.rank) key.rank = run->rank();
    if (slot.step != Steps::kNone) key.step = run->steps().all()[slot.step].number;
    Take(key, numbers[slot.module], slot.sums);
  }
  run_.reset();
}

void Modules::Take(const Key& key, uint32_t path, const ModuleSums& sums) {
  const bool nothing = sums.calls == 0 && sums.ops == 0 && sums.launches == 0 &&
                       sums.collectives == 0 && sums.memory_events == 0 && sums.with_flops == 0 &&
                       sums.with_bytes == 0;
  if (nothing) return;
  has_memory_ |= sums.memory_events > 0;
  Sums& group = groups_[key];
  const auto at = group.find(path);
  if (at != group.end()) {
    at->second.Add(sums);
  } else if (rows_ < kMaxRows) {
    ++rows_;
    group.emplace(path, sums);
  } else {
    group[PathTree::kRoot].Add(sums);
  }
}

void Modules::Merge(const Partial& other) {
  const auto& more = dynamic_cast<const Modules&>(other);
  const std::vector<uint32_t> numbers = tree_.Take(more.tree_);
  for (const auto& [key, group] : more.groups_) {
    for (const auto& [path, sums] : group) Take(key, numbers[path], sums);
  }
  ranks_without_trace_ += more.ranks_without_trace_;
  for (const auto& [what, count] : more.ranks_without_modules_) {
    ranks_without_modules_[what] += count;
  }
}

template <typename Bytes, typename Self>
void Modules::Transfer(Bytes* bytes, Self* self) {
  bytes->Counts(&self->ranks_without_trace_);
  bytes->Values(&self->ranks_without_modules_);
  if constexpr (Bytes::kReads) {
    const std::vector<uint32_t> numbers = self->tree_.Load(bytes);
    TransferMap(bytes, &self->groups_, [&](const Key& key, const Sums& group) {
      for (const auto& [path, sums] : group) {
        bytes->Check(path < numbers.size(), "a module has a path that none has");
        self->Take(key, numbers[path], sums);
      }
    });
  } else {
    self->tree_.Save(bytes);
    bytes->Values(&self->groups_);
  }
}

std::vector<Field> Modules::Fields() const {
  std::vector<Field> fields;
  if (keys_.rank) fields.push_back(kRankField);
  if (keys_.step) fields.push_back(kStepField);
  fields.insert(fields.end(), ModulesFields().begin(), ModulesFields().end());
  return fields;
}

void Modules::Emit(Sink* sink) const {
  for (const auto& [key, sums] : groups_) EmitTree(key, sums, sink);
}

/// The path of a module whose parent's is known. Names may be such paths themselves: "encoder.2.fc"
/// in "encoder.2".
std::string ModulesPathOf(std::string_view parent_path, std::string_view parent,
                          std::string_view name) {
  if (parent_path.empty()) return std::string(name);
  std::string path(parent_path);
  if (name.size() > parent.size() && name.starts_with(parent) && name[parent.size()] == '.') {
    return path.append(name.substr(parent.size()));
  }
  return path.append("/").append(name);
}

Modules::Outline Modules::OutlineOf(const Sums& sums) const {
  // What has sums, and all that is around it, which has lower numbers.
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
    around->second.forward.Add(at->second.forward);
    around->second.backward.Add(at->second.backward);
    around->second.communication_ns =
        SaturatingSum(around->second.communication_ns, at->second.communication_ns);
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

void Modules::EmitTree(const Key& key, const Sums& sums, Sink* sink) const {
  const Outline outline = OutlineOf(sums);
  const auto weight = [&](uint32_t place) {
    const ModuleSums& total = outline.totals[place];
    ModuleSums::Pass both = total.forward;
    both.Add(total.backward);
    return std::tuple(both.device_ns, both.host_ns, total.wall_ns);
  };
  const std::vector<uint32_t> order = TreeOrder(outline.parents, [&](uint32_t a, uint32_t b) {
    const auto of_a = weight(a);
    const auto of_b = weight(b);
    return of_a != of_b ? of_a > of_b
                        : tree_.TextOf(outline.paths[a]) < tree_.TextOf(outline.paths[b]);
  });
  std::vector<std::string> around;  // Paths of what is around the row at hand.
  for (const uint32_t place : order) {
    const uint32_t path = outline.paths[place];
    around.resize(tree_.nodes()[path].depth - 1);
    around.push_back(ModulesPathOf(around.empty() ? "" : around.back(),
                                   tree_.TextOf(tree_.nodes()[path].parent), tree_.TextOf(path)));
    const auto own = sums.find(path);
    EmitRow(key, around.back(), path, own == sums.end() ? ModuleSums() : own->second,
            outline.totals[place], sink);
  }
  const auto none = sums.find(PathTree::kRoot);
  if (none == sums.end()) return;
  ModuleSums other = none->second;
  if (other.collectives > 0) {
    ModuleSums collectives;
    std::swap(collectives.collectives, other.collectives);
    std::swap(collectives.communication_ns, other.communication_ns);
    EmitRow(key, kModulesCollectives, PathTree::kRoot, collectives, collectives, sink);
  }
  EmitRow(key, kNoModule, PathTree::kRoot, other, other, sink);
}

void Modules::EmitRow(const Key& key, std::string_view path, uint32_t module,
                      const ModuleSums& sums, const ModuleSums& totals, Sink* sink) const {
  const bool none = module == PathTree::kRoot;
  const auto of_module = [&](const Cell& cell) { return none ? Cell{} : cell; };
  const auto of_memory = [&](const Checked& bytes) {
    return has_memory_ ? Integer(bytes.Value()) : Cell{};
  };
  std::vector<Cell> cells;
  if (keys_.rank) cells.push_back(Text(key.rank));
  if (keys_.step) cells.push_back(Integer(key.step));
  for (const Cell& cell : {
           Text(path),
           of_module(Text(tree_.TextOf(module))),
           of_module(Integer(int64_t{tree_.nodes()[module].depth} - 1)),
           of_module(Integer(sums.calls)),
           of_module(Integer(sums.wall_ns)),
           Integer(sums.ops),
           Integer(sums.forward.device_ns),
           Integer(totals.forward.device_ns),
           Integer(sums.forward.host_ns),
           Integer(totals.forward.host_ns),
           Integer(sums.backward.device_ns),
           Integer(totals.backward.device_ns),
           Integer(sums.backward.host_ns),
           Integer(totals.backward.host_ns),
           Integer(sums.communication_ns),
           Integer(totals.communication_ns),
           Integer(sums.collectives),
           Integer(sums.launches),
           sums.with_flops > 0 ? Integer(sums.flops.Value()) : Cell{},
           sums.with_bytes > 0 ? Integer(sums.bytes.Value()) : Cell{},
           of_memory(sums.allocated_bytes),
           of_memory(sums.freed_bytes),
           Decimal(Percent(sums.tensor_core_ns, sums.tensor_core_known_ns)),
       }) {
    cells.push_back(cell);
  }
  sink->Row(cells);
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
        RecordingFlag(Lack::kLayers, family)));
  }
  return notes;
}

}  // namespace

std::unique_ptr<Partial> MakeModules(const ViewOptions& options) {
  return std::make_unique<Modules>(options);
}

}  // namespace oplens::prof

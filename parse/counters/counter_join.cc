#include "parse/counters/counter_join.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>
#include <span>
#include <unordered_map>

#include "base/hash.h"
#include "parse/counters/kernel_key.h"

namespace oplens::parse {
namespace {

constexpr uint32_t kNoGroup = UINT32_MAX;
constexpr uint32_t kNoRow = UINT32_MAX;

/// Counted kernels of one name and extents, in the order of their launches.
struct CountedGroup {
  std::vector<uint32_t> rows;
  bool alike = true;  // So that any of them tells of all.
  int64_t kernels = 0;
};

bool AreNear(std::optional<int64_t> a, std::optional<int64_t> b, double tolerance) {
  if (!a || !b) return a == b;
  const auto larger = static_cast<double>(std::max(*a, *b));
  return std::abs(static_cast<double>(*a) - static_cast<double>(*b)) <= tolerance * larger;
}

/// The same work; traffic varies a little from launch to launch.
bool AreAlike(const KernelCounters& a, const KernelCounters& b) {
  constexpr double kWork = 0.01;
  constexpr double kTraffic = 0.1;
  return AreNear(a.core_flops, b.core_flops, kWork) &&
         AreNear(a.tensor_flops, b.tensor_flops, kWork) &&
         AreNear(a.tensor_instructions, b.tensor_instructions, kWork) &&
         AreNear(a.dram_bytes, b.dram_bytes, kTraffic) && AreNear(a.l2_bytes, b.l2_bytes, kTraffic);
}

/// How exactly the rows of a table say what was launched.
enum class ExtentsKnown : uint64_t { kAll = 1, kProducts, kNone };

uint64_t ExtentsHash(uint64_t hash, std::span<const int64_t> numbers) {
  for (const int64_t number : numbers) hash = MixHash(hash, static_cast<uint64_t>(number));
  return hash;
}

class GroupFinder {
 public:
  explicit GroupFinder(const CounterTable& table);

  /// kNoGroup if no counted kernel has the name and extents.
  uint32_t GroupOf(const Trace& trace, const Kernel& kernel);
  std::vector<CountedGroup>& groups() { return groups_; }
  /// The group of each counted kernel.
  const std::vector<uint32_t>& rows() const { return rows_; }

 private:
  static uint64_t KeyOf(uint32_t name, ExtentsKnown known) {
    return MixHash(MixHash(1, name), static_cast<uint64_t>(known));
  }
  uint32_t NameOf(const Trace& trace, StringId id);

  std::unordered_map<std::string, uint32_t> names_;  // Keys of counted kernels.
  std::unordered_map<std::string, uint32_t> bare_names_;
  std::unordered_map<uint64_t, uint32_t> by_key_;
  std::array<bool, 4> has_ = {};  // By ExtentsKnown.
  std::vector<CountedGroup> groups_;
  std::vector<uint32_t> rows_;
  std::vector<uint32_t> of_text_;  // By StringId: a name + 2; 1: none; 0: not looked up.
};

GroupFinder::GroupFinder(const CounterTable& table) {
  uint32_t names = 0;
  for (uint32_t i = 0; i < table.kernels.size(); ++i) {
    const CountedKernel& kernel = table.kernels[i];
    const bool bare = IsBareName(kernel.name);
    const auto [name, is_new] =
        (bare ? bare_names_ : names_).emplace(bare ? kernel.name : KernelKey(kernel.name), names);
    if (is_new) ++names;
    ExtentsKnown known = ExtentsKnown::kNone;
    uint64_t key = 0;
    if (kernel.grid.known() && kernel.block.known()) {
      known = ExtentsKnown::kAll;
      const int64_t extents[] = {kernel.grid.x,  kernel.grid.y,  kernel.grid.z,
                                 kernel.block.x, kernel.block.y, kernel.block.z};
      key = ExtentsHash(KeyOf(name->second, known), extents);
    } else if (kernel.blocks && kernel.threads) {
      known = ExtentsKnown::kProducts;
      const int64_t products[] = {*kernel.blocks, *kernel.threads};
      key = ExtentsHash(KeyOf(name->second, known), products);
    } else {
      key = KeyOf(name->second, known);
    }
    has_[static_cast<size_t>(known)] = true;
    const auto [group, first] = by_key_.emplace(key, static_cast<uint32_t>(groups_.size()));
    if (first) groups_.emplace_back();
    CountedGroup& members = groups_[group->second];
    if (!members.rows.empty()) {
      members.alike =
          members.alike && AreAlike(table.kernels[members.rows.front()].counters, kernel.counters);
    }
    members.rows.push_back(i);
    rows_.push_back(group->second);
  }
}

uint32_t GroupFinder::NameOf(const Trace& trace, StringId id) {
  if (of_text_.empty()) of_text_.resize(trace.strings.size(), 0);
  uint32_t& known = of_text_[id];
  if (known != 0) return known;
  known = 1;
  const std::string key = KernelKey(trace.strings.View(id));
  const auto whole = names_.find(key);
  if (whole != names_.end()) return known = whole->second + 2;
  const auto bare = bare_names_.find(std::string(BareNameOf(key)));
  if (bare != bare_names_.end()) known = bare->second + 2;
  return known;
}

uint32_t GroupFinder::GroupOf(const Trace& trace, const Kernel& kernel) {
  if (kernel.name == 0) return kNoGroup;
  const uint32_t named = NameOf(trace, kernel.name);
  if (named < 2) return kNoGroup;
  const uint32_t name = named - 2;
  const auto find = [&](ExtentsKnown known, std::span<const int64_t> numbers) {
    if (!has_[static_cast<size_t>(known)]) return kNoGroup;
    const auto found = by_key_.find(ExtentsHash(KeyOf(name, known), numbers));
    return found == by_key_.end() ? kNoGroup : found->second;
  };
  const auto& [grid, block, registers, fixed, dynamic] = trace.ShapeOf(kernel);
  if (grid[0] >= 0 && block[0] >= 0) {
    const int64_t all[] = {grid[0], grid[1], grid[2], block[0], block[1], block[2]};
    if (const uint32_t group = find(ExtentsKnown::kAll, all); group != kNoGroup) return group;
    const auto product = [&](size_t first) {
      uint64_t all_of = 1;
      for (size_t i = 0; i < 3; ++i) all_of *= static_cast<uint64_t>(all[first + i]);
      return static_cast<int64_t>(all_of);
    };
    const int64_t products[] = {product(0), product(3)};
    const uint32_t group = find(ExtentsKnown::kProducts, products);
    if (group != kNoGroup) return group;
  }
  return find(ExtentsKnown::kNone, {});
}

/// Members before and after one, which tell launches of one kind apart: the first of these that a
/// counted kernel shares counts.
struct CountedAround {
  size_t before;
  size_t after;
};
constexpr CountedAround kCountedArounds[] = {{8, 8}, {8, 0}, {0, 8}, {4, 4},
                                             {4, 0}, {0, 4}, {2, 2}};

/// Hashes of the groups around the places of a sequence of joined launches.
class LaunchOrder {
 public:
  explicit LaunchOrder(const std::vector<uint32_t>& groups) {
    prefixes_.reserve(groups.size() + 1);
    prefixes_.push_back(0);
    for (const uint32_t group : groups) {
      prefixes_.push_back(prefixes_.back() * kBase + SpreadBits(group + 1));
    }
    uint64_t power = 1;
    for (uint64_t& of_length : powers_) {
      of_length = power;
      power *= kBase;
    }
  }

  /// nullopt where the sequence ends within.
  std::optional<uint64_t> Around(size_t place, size_t level) const {
    const CountedAround& around = kCountedArounds[level];
    if (place < around.before || place + around.after + 1 >= prefixes_.size()) return std::nullopt;
    const size_t length = around.before + around.after + 1;
    const uint64_t inside =
        prefixes_[place + around.after + 1] - prefixes_[place - around.before] * powers_[length];
    return MixHash(MixHash(level, inside), around.before);
  }

 private:
  static constexpr uint64_t kBase = 0x9e3779b97f4a7c15;
  static constexpr size_t kMostLength = 17;

  std::vector<uint64_t> prefixes_;
  std::array<uint64_t, kMostLength + 1> powers_ = {};
};

/// The counted kernels of unlike groups, by what is around them.
class CountedPlaces {
 public:
  CountedPlaces(const CounterTable& table, const std::vector<uint32_t>& rows,
                const std::vector<CountedGroup>& groups)
      : table_(table) {
    const LaunchOrder order(rows);
    for (uint32_t row = 0; row < rows.size(); ++row) {
      if (groups[rows[row]].alike) continue;
      for (size_t level = 0; level < std::size(kCountedArounds); ++level) {
        const auto hash = order.Around(row, level);
        if (hash) Add(*hash, row);
      }
    }
  }

  /// kNoRow if none fits, or several that differ.
  uint32_t RowOf(const LaunchOrder& order, size_t place) const {
    for (size_t level = 0; level < std::size(kCountedArounds); ++level) {
      const auto hash = order.Around(place, level);
      const auto found = hash ? rows_.find(*hash) : rows_.end();
      if (found != rows_.end() && found->second != kNoRow) return found->second;
    }
    return kNoRow;
  }

 private:
  void Add(uint64_t hash, uint32_t row) {
    const auto [at, is_new] = rows_.emplace(hash, row);
    if (is_new || at->second == kNoRow) return;
    const auto& kernels = table_.kernels;
    if (!AreAlike(kernels[at->second].counters, kernels[row].counters)) at->second = kNoRow;
  }

  const CounterTable& table_;
  std::unordered_map<uint64_t, uint32_t> rows_;  // kNoRow: several that differ.
};

}  // namespace

CounterJoin::CounterJoin(const CounterTable& table, const Trace& trace)
    : table_(&table), rows_(trace.kernels.size(), kNone) {
  GroupFinder finder(table);
  // The kernels whose name and extents were counted, and their groups.
  std::vector<uint32_t> kernels;
  std::vector<uint32_t> groups;
  kernels.reserve(trace.kernels.size());
  groups.reserve(trace.kernels.size());
  for (uint32_t i = 0; i < trace.kernels.size(); ++i) {
    ++tally_.kernels;
    const uint32_t group = finder.GroupOf(trace, trace.kernels[i]);
    if (group == kNoGroup) continue;
    ++finder.groups()[group].kernels;
    kernels.push_back(i);
    groups.push_back(group);
  }
  const CountedPlaces around(table, finder.rows(), finder.groups());
  const LaunchOrder order(groups);
  std::vector<size_t> next(finder.groups().size(), 0);
  for (size_t i = 0; i < kernels.size(); ++i) {
    const CountedGroup& group = finder.groups()[groups[i]];
    const bool by_order = group.alike || group.kernels == static_cast<int64_t>(group.rows.size());
    const uint32_t row =
        by_order ? group.rows[next[groups[i]]++ % group.rows.size()] : around.RowOf(order, i);
    rows_[kernels[i]] = row;
    ++(row == kNoRow ? tally_.ambiguous : tally_.joined);
  }
}

}  // namespace oplens::parse

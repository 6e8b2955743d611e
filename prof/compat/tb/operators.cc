#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <map>
#include <string>
#include <unordered_map>
#include <utility>

#include "base/error.h"
#include "prof/compat/tb/tree.h"
#include "prof/compat/tb/views.h"
#include "prof/run/device_work.h"
#include "prof/run/run.h"
#include "prof/views/views.h"

namespace oplens::prof {
namespace {

constexpr Field kShape = {
    "shape",          "Shape",        "",
    FieldType::kText, Field::kShared, "extents of the arguments, as the plugin prints them",
    Fold::kKey};

class TbOperators : public Partial {
 public:
  explicit TbOperators(const ViewOptions& options) {
    for (const std::string& word : options.by) {
      if (word != "shape") {
        throw UsageError(
            fmt::format("--by {}: with --compat tb the view operators is split by shape", word));
      }
      by_shape_ = true;
    }
  }

  void End(const Run* run) override;
  void Merge(const Partial& other) override;
  std::vector<Field> Fields() const override;
  void Emit(Sink* sink) const override;
  std::vector<std::string> Notes() const override;

 private:
  /// Sums in ns; a time on the host is negative where the calls in an operator outlast it.
  struct Sums {
    int64_t calls = 0;
    int64_t device_self_ns = 0;
    int64_t device_total_ns = 0;
    int64_t host_self_ns = 0;
    int64_t host_total_ns = 0;
    int64_t tensor_core_self_ns = 0;
    int64_t tensor_core_total_ns = 0;
    bool eligible = false;  // Of the first call of a rank.

    void Add(const TbTree::Node& node);
    void Add(const Sums& other);
  };
  using Key = std::pair<std::string, std::string>;  // Name and shape.

  void EmitRow(const Key& key, const Sums& sums, Sink* sink) const;

  bool by_shape_ = false;
  bool has_device_work_ = false;
  bool has_events_ = false;
  int64_t ranks_ = 0;
  std::map<Key, Sums> groups_;
};

void TbOperators::Sums::Add(const TbTree::Node& node) {
  if (calls++ == 0) eligible = node.eligible;
  device_self_ns += node.device_self_ns;
  device_total_ns += node.device_total_ns;
  host_self_ns += node.host_self_ns;
  host_total_ns += node.length_ns;
  tensor_core_self_ns += node.tensor_core_self_ns;
  tensor_core_total_ns += node.tensor_core_total_ns;
}

void TbOperators::Sums::Add(const Sums& other) {
  calls += other.calls;
  device_self_ns += other.device_self_ns;
  device_total_ns += other.device_total_ns;
  host_self_ns += other.host_self_ns;
  host_total_ns += other.host_total_ns;
  tensor_core_self_ns += other.tensor_core_self_ns;
  tensor_core_total_ns += other.tensor_core_total_ns;
  eligible |= other.eligible;
}

void TbOperators::End(const Run* run) {
  ++ranks_;
  if (run == nullptr) return;
  const Trace& trace = run->trace();
  has_events_ |= !trace.torch_events.empty();
  const TbTree tree(trace);
  has_device_work_ |= tree.has_device_work();
  std::unordered_map<uint64_t, Sums> found;  // By name and shape.
  for (const uint32_t index : tree.listed()) {
    const TbTree::Node& node = tree.nodes()[index];
    const TorchEvent& event = trace.torch_events[node.event];
    found[uint64_t{event.name} << 32 | (by_shape_ ? event.dims : 0)].Add(node);
  }
  for (const auto& [ids, sums] : found) {
    const auto name = static_cast<StringId>(ids >> 32);
    const auto dims = static_cast<StringId>(ids & UINT32_MAX);
    groups_[Key(trace.strings.View(name), trace.strings.View(dims))].Add(sums);
  }
}

void TbOperators::Merge(const Partial& other) {
  const auto& more = dynamic_cast<const TbOperators&>(other);
  has_device_work_ |= more.has_device_work_;
  has_events_ |= more.has_events_;
  ranks_ += more.ranks_;
  for (const auto& [key, sums] : more.groups_) groups_[key].Add(sums);
}

std::vector<Field> TbOperators::Fields() const {
  const std::span<const Field> ours = kOperatorsView.fields();
  std::vector<Field> fields = {ours[0]};
  if (by_shape_) fields.push_back(kShape);
  fields.insert(fields.end(), ours.begin() + 1, ours.end());
  return fields;
}

void TbOperators::Emit(Sink* sink) const {
  std::vector<const std::pair<const Key, Sums>*> rows;
  for (const auto& group : groups_) rows.push_back(&group);
  std::stable_sort(rows.begin(), rows.end(), [](const auto* a, const auto* b) {
    return std::pair(a->second.device_self_ns, a->second.host_self_ns) >
           std::pair(b->second.device_self_ns, b->second.host_self_ns);
  });
  for (const auto* row : rows) EmitRow(row->first, row->second, sink);
}

void TbOperators::EmitRow(const Key& key, const Sums& sums, Sink* sink) const {
  const auto of_device = [&](const Cell& cell) { return has_device_work_ ? cell : Cell{}; };
  const auto percent = [](int64_t part, int64_t whole) {
    return whole > 0 ? 100.0 * static_cast<double>(part) / static_cast<double>(whole) : 0.0;
  };
  const auto value_of = [&](std::string_view field) -> Cell {
    if (field == "op") return Text(key.first);
    if (field == "shape") return Text(key.second);
    if (field == "calls") return Integer(sums.calls);
    if (field == "device_self_ns") return of_device(Integer(sums.device_self_ns));
    if (field == "device_total_ns") return of_device(Integer(sums.device_total_ns));
    if (field == "host_self_ns") return Integer(sums.host_self_ns);
    if (field == "host_total_ns") return Integer(sums.host_total_ns);
    if (field == "tc_elig") return Text(sums.eligible ? "yes" : "no");
    if (field == "tc_self_pct") return Cell{percent(sums.tensor_core_self_ns, sums.device_self_ns)};
    if (field == "tc_total_pct") {
      return Cell{percent(sums.tensor_core_total_ns, sums.device_total_ns)};
    }
    return {};
  };
  std::vector<Cell> cells;
  for (const Field& field : Fields()) cells.push_back(value_of(field.key));
  sink->Row(cells);
}

std::vector<std::string> TbOperators::Notes() const {
  if (ranks_ == 0 || has_events_) return {};
  return {
      "operators: --compat tb goes by numbers that only the JSON trace of PyTorch's profiler "
      "holds; "
      "without it the view has rows"};
}

}  // namespace

std::unique_ptr<Partial> MakeTbOperators(const ViewOptions& options) {
  return std::make_unique<TbOperators>(options);
}

}  // namespace oplens::prof

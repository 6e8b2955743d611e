#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <unordered_map>
#include <utility>

#include "base/error.h"
#include "base/sums.h"
#include "prof/compat/tb/tree.h"
#include "prof/compat/tb/views.h"
#include "prof/run/device_work.h"
#include "prof/run/run.h"
#include "prof/views/common/grouped_partial.h"
#include "prof/views/views.h"

namespace oplens::prof {
namespace {

constexpr Field kShape = {
    "shape",          "Shape",        "",
    FieldType::kText, Field::kShared, "extents of the arguments, as the plugin prints them",
    Fold::kKey};

struct TbOperatorKey {
  std::string name;
  std::string shape;

  friend auto operator<=>(const TbOperatorKey&, const TbOperatorKey&) = default;
};

/// Sums in ns; host times are negative if the calls in an operator outlast it.
struct TbOperatorSums {
  Sum calls;
  Balance device_self_ns;
  Balance device_total_ns;
  Balance host_self_ns;
  Balance host_total_ns;
  Balance tensor_core_self_ns;
  Balance tensor_core_total_ns;
  Any eligible;  // Of the first call of a rank.

  void Add(const TbTree::Node& node);
};

void TbOperatorSums::Add(const TbTree::Node& node) {
  if (calls == 0) eligible.value = node.eligible;
  ++calls;
  device_self_ns += node.device_self_ns;
  device_total_ns += node.device_total_ns;
  host_self_ns += node.host_self_ns;
  host_total_ns += node.length_ns;
  tensor_core_self_ns += node.tensor_core_self_ns;
  tensor_core_total_ns += node.tensor_core_total_ns;
}

const ViewOptions& OnlyByShape(const ViewOptions& options) {
  for (const std::string& word : options.by) {
    if (word == "shape") continue;
    throw UsageError(
        fmt::format("--by {}: with --compat tb the view operators is split by shape", word));
  }
  return options;
}

constexpr std::string_view kTbOperatorKeys[] = {"shape"};

class TbOperators : public GroupedPartial<TbOperatorKey, TbOperatorSums,
                                          GroupRow<TbOperatorKey, TbOperatorSums>, TbEventNotes> {
 public:
  explicit TbOperators(const ViewOptions& options)
      : GroupedPartial("operators", OnlyByShape(options), kTbOperatorKeys, {}) {}

  void End(const Run* run) override;
  void Merge(const Partial& other) override {
    GroupedPartial::Merge(other);
    has_device_work_ |= dynamic_cast<const TbOperators&>(other).has_device_work_;
  }
  std::vector<Field> Fields() const override;
  void Emit(Sink* sink) const override;

 private:
  void EmitRow(const TbOperatorKey& key, const TbOperatorSums& sums, Sink* sink) const;

  bool has_device_work_ = false;
};

void TbOperators::End(const Run* run) {
  if (run == nullptr) return;
  const Trace& trace = run->trace();
  const TbTree tree(trace);
  has_device_work_ |= tree.has_device_work();
  std::unordered_map<uint64_t, TbOperatorSums> found;  // By name and shape.
  for (const uint32_t index : tree.listed()) {
    const TbTree::Node& node = tree.nodes()[index];
    const TorchEvent& event = trace.torch_events[node.event];
    found[uint64_t{event.name} << 32 | (By("shape") ? event.dims : 0)].Add(node);
  }
  const auto text_of = [&](uint64_t id) {
    return std::string(trace.strings.View(static_cast<StringId>(id)));
  };
  for (const auto& [ids, sums] : found) {
    Take({text_of(ids >> 32), text_of(ids & UINT32_MAX)}, sums);
  }
}

std::vector<Field> TbOperators::Fields() const {
  const std::span<const Field> ours = kOperatorsView.fields();
  std::vector<Field> fields = {ours[0]};
  if (By("shape")) fields.push_back(kShape);
  fields.insert(fields.end(), ours.begin() + 1, ours.end());
  return fields;
}

void TbOperators::Emit(Sink* sink) const {
  std::vector<const std::pair<const TbOperatorKey, TbOperatorSums>*> rows;
  for (const auto& group : rows_) rows.push_back(&group);
  std::stable_sort(rows.begin(), rows.end(), [](const auto* a, const auto* b) {
    return std::pair(a->second.device_self_ns, a->second.host_self_ns) >
           std::pair(b->second.device_self_ns, b->second.host_self_ns);
  });
  for (const auto* row : rows) EmitRow(row->first, row->second, sink);
}

void TbOperators::EmitRow(const TbOperatorKey& key, const TbOperatorSums& sums, Sink* sink) const {
  const auto of_device = [&](const Cell& cell) { return has_device_work_ ? cell : Cell{}; };
  const auto percent = [](int64_t part, int64_t whole) {
    return whole > 0 ? 100.0 * static_cast<double>(part) / static_cast<double>(whole) : 0.0;
  };
  const auto value_of = [&](std::string_view field) -> Cell {
    if (field == "op") return Text(key.name);
    if (field == "shape") return Text(key.shape);
    if (field == "calls") return CellOf(sums.calls);
    if (field == "device_self_ns") return of_device(CellOf(sums.device_self_ns));
    if (field == "device_total_ns") return of_device(CellOf(sums.device_total_ns));
    if (field == "host_self_ns") return CellOf(sums.host_self_ns);
    if (field == "host_total_ns") return CellOf(sums.host_total_ns);
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

}  // namespace

std::unique_ptr<Partial> MakeTbOperators(const ViewOptions& options) {
  return std::make_unique<TbOperators>(options);
}

}  // namespace oplens::prof

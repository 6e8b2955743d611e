#include "test/diff/made_sides.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <unordered_map>
#include <utility>
#include <variant>

namespace oplens::test {
namespace {

using prof::Cell;
using Values = std::vector<std::pair<const char*, std::variant<int64_t, std::string>>>;

/// Gives rows to the table of a plan, cells by the key of their field.
class Table {
 public:
  Table(const prof::ViewPlan& plan, prof::KeptTables* tables) : sink_(tables->NewTable()) {
    const std::vector<prof::Field> fields = FieldsOf(*plan.view, plan.options);
    for (size_t i = 0; i < fields.size(); ++i) places_[std::string(fields[i].key)] = i;
    sink_->Begin(plan.view->name, fields);
    cells_.resize(fields.size());
  }
  void Row(const Values& values) {
    std::fill(cells_.begin(), cells_.end(), Cell());
    for (const auto& [key, value] : values) {
      Cell& cell = cells_[places_.at(key)];
      const auto* text = std::get_if<std::string>(&value);
      cell = text != nullptr ? prof::Text(*text) : prof::Integer(std::get<int64_t>(value));
    }
    sink_->Row(cells_);
  }

 private:
  std::unordered_map<std::string, size_t> places_;
  std::vector<Cell> cells_;
  std::unique_ptr<prof::Sink> sink_;
};

}  // namespace

std::unique_ptr<prof::KeptTables> MadeSide::Tables() const {
  const prof::DiffPlan plan = prof::PlanDiff("operators", "");
  auto tables = std::make_unique<prof::KeptTables>();
  Table overview(plan.plans[prof::DiffPlan::kOverview], tables.get());
  Table rows(plan.plans[prof::DiffPlan::kPlaces], tables.get());
  Table setup(plan.plans[prof::DiffPlan::kSetup], tables.get());
  std::vector<int64_t> order = picked;
  if (order.empty()) {
    order.resize(static_cast<size_t>(steps));
    std::iota(order.begin(), order.end(), int64_t{0});
  }
  int64_t number = 0;
  for (const int64_t step : order) {
    std::minstd_rand random(seed + static_cast<uint32_t>(7919 * (step + 1)));
    random.discard(10);
    // Longer now and then, as times of GPUs are, never shorter.
    const auto noisy = [&](int64_t time_ns) {
      const double uniform = (static_cast<double>(random()) + 0.5) / 2147483648.0;
      return std::llround(static_cast<double>(time_ns) * (1 - noise * std::log(uniform)));
    };
    int64_t start_ns = 0;
    for (const MadePlace& place : places) {
      const int64_t time_ns = noisy(place.count * place.time_ns);
      rows.Row({{"layer", place.layer},
                {"op", place.op},
                {"dir", place.dir},
                {"shape", place.shape},
                {"work", place.work},
                {"kernel", place.kernel},
                {"step", number},
                {"count", place.count},
                {"time_ns", time_ns},
                {"tc_ns", place.tensor_cores ? time_ns : 0},
                {"tc_known_ns", time_ns},
                {"start_ns", start_ns}});
      start_ns += time_ns;
    }
    int64_t wait_ns = noisy(idle_ns);
    if (late_every > 0 && step % late_every == 0) wait_ns += late_ns;
    Values parts = {{"step", std::to_string(number)}, {"state", std::string("whole")}};
    for (const char* part :
         {"memcpy_ns", "memset_ns", "comm_ns", "runtime_ns", "dataloader_ns", "other_ns"}) {
      parts.emplace_back(part, int64_t{0});
    }
    parts.emplace_back("kernel_ns", start_ns);
    parts.emplace_back("cpu_ns", wait_ns);
    parts.emplace_back("total_ns", start_ns + wait_ns);
    overview.Row(parts);
    ++number;
  }
  for (const auto& [fact, value] : facts) {
    setup.Row({{"fact", fact}, {"value", value}, {"inputs", int64_t{1}}});
  }
  return tables;
}

prof::Diff CompareMade(const MadeSide& base, const MadeSide& now,
                       std::vector<std::unique_ptr<prof::KeptTables>>* keep) {
  const prof::DiffPlan plan = prof::PlanDiff("operators", "");
  const prof::KeptTables* tables[2];
  size_t side = 0;
  for (const MadeSide* one : {&base, &now}) {
    keep->push_back(one->Tables());
    tables[side++] = keep->back().get();
  }
  return Compare(plan, {"base", tables[0]}, {"new", tables[1]});
}

MadeSide MadeNetwork(int layers) {
  MadeSide side;
  for (int i = 0; i < layers; ++i) {
    const std::string layer = fmt::format("net:block{}", i);
    side.places.push_back(
        {layer, "linear", fmt::format("(32,{})", 64 + i), "gemm_fp16", 1, 20'000 + 100 * i, true});
    side.places.push_back({layer, "layer_norm", "(32,64)", "norm", 2, 3'000});
    side.places.push_back({layer, "gelu", "(32,64)", "gelu", 1, 2'000});
  }
  side.places.push_back({"", "", "", "orphan_kernel", 1, 4'000, false, ""});
  side.places.push_back({"", "Memcpy HtoD", "", "", 1, 1'000, false, "", "copy"});
  return side;
}

std::vector<std::string> ChangedRows(const prof::DiffTable& table) {
  std::vector<std::string> rows;
  for (const prof::DiffRow& row : table.rows) {
    if (row.figures[0].change == prof::Change::kSame) continue;
    rows.push_back(fmt::format("{} {}/{}", WordOf(row.figures[0].change), row.keys[0],
                               row.keys[1].empty() ? row.keys[5] : row.keys[1]));
  }
  return rows;
}

}  // namespace oplens::test

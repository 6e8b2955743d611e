#include "prof/views/hta_streams.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/error.h"
#include "prof/run/run.h"
#include "prof/views/hta_stream_tables.h"
#include "prof/views/rank_order.h"
#include "prof/views/time_keys.h"
#include "prof/views/view_notes.h"

namespace oplens::prof {
namespace {

int64_t HtaStreamsWholeOf(double value) {
  constexpr double kMost = 9e18;
  return std::llround(std::clamp(value, -kMost, kMost));
}

bool IsStream(const Field& field) { return field.type == FieldType::kInteger; }

class HtaStreams : public Partial {
 public:
  HtaStreams(const HtaTable& table, const ViewOptions& options)
      : table_(table), notes_(table.view) {
    if (!options.by.empty()) {
      throw UsageError(
          fmt::format("--by {}: with --compat hta the view {} takes no other key than its own",
                      options.by.front(), table.view));
    }
  }

  void Begin(const Run* run) override { notes_.Begin(run); }
  void End(const Run* run) override {
    if (run == nullptr) return;
    Take(std::string(run->rank()), table_.find(run->trace()));
  }
  void Merge(const Partial& other) override {
    const auto& more = dynamic_cast<const HtaStreams&>(other);
    for (const auto& [rank, rows] : more.ranks_) Take(rank, rows);
    notes_.Merge(more.notes_);
  }
  std::vector<Field> Fields() const override {
    std::vector<Field> fields = {kRankField};
    fields.insert(fields.end(), table_.keys.begin(), table_.keys.end());
    fields.insert(fields.end(), table_.figures.begin(), table_.figures.end());
    return fields;
  }
  void Emit(Sink* sink) const override {
    for (const auto& [rank, rows] : ranks_) {
      for (const HtaRow& row : rows) EmitRow(rank, row, sink);
    }
  }
  std::vector<std::string> Notes() const override { return notes_.Sentences(); }

 private:
  void Take(const std::string& rank, std::vector<HtaRow> more) {
    if (more.empty()) return;
    std::vector<HtaRow>& rows = ranks_[rank];
    std::move(more.begin(), more.end(), std::back_inserter(rows));
    std::sort(rows.begin(), rows.end());
  }

  void EmitRow(const std::string& rank, const HtaRow& row, Sink* sink) const {
    std::vector<Cell> cells = {Text(rank)};
    for (const Field& key : table_.keys) {
      cells.push_back(IsStream(key) ? Integer(row.stream) : Text(row.word));
    }
    for (size_t i = 0; i < row.figures.size(); ++i) {
      const std::optional<double>& value = row.figures[i];
      const bool whole = table_.figures[i].type == FieldType::kInteger;
      cells.push_back(value && whole ? Integer(HtaStreamsWholeOf(*value)) : Decimal(value));
    }
    sink->Row(cells);
  }

  const HtaTable& table_;
  std::map<std::string, std::vector<HtaRow>, RankBefore> ranks_;
  ViewNotes notes_;
};

}  // namespace

std::unique_ptr<Partial> MakeHtaIdle(const ViewOptions& options) {
  return std::make_unique<HtaStreams>(HtaIdleTable(), options);
}
std::unique_ptr<Partial> MakeHtaLaunches(const ViewOptions& options) {
  return std::make_unique<HtaStreams>(HtaLaunchesTable(), options);
}
std::unique_ptr<Partial> MakeHtaQueue(const ViewOptions& options) {
  return std::make_unique<HtaStreams>(HtaQueueTable(), options);
}
std::unique_ptr<Partial> MakeHtaBandwidth(const ViewOptions& options) {
  return std::make_unique<HtaStreams>(HtaBandwidthTable(), options);
}

}  // namespace oplens::prof

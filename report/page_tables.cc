#include "report/page_tables.h"

#include <algorithm>
#include <optional>
#include <span>
#include <string_view>
#include <utility>
#include <variant>

#include "base/error.h"
#include "parse/model/reason.h"

namespace oplens::report {
namespace {

using prof::Cell;

bool IsTimeKey(std::string_view word) { return word == "step" || word == "rank"; }

/// A key with one row per part of a path, which the timeline draws.
bool IsKeyOfTimeline(const prof::View& view, std::string_view word) {
  return view.name == "critical-path" && word == "edge";
}

// A `whole` table has at most one row per this many bytes of the page,
constexpr size_t kLeastRowBytes = 64;
// and what Column::bytes() counts at least for each value: "0," or a place.
constexpr size_t kLeastNumberBytes = 2;
constexpr size_t kLeastPlaceBytes = 4;
constexpr size_t kLeastLimitBytes = size_t{8} << 20;
/// After so many rows more, a table looks at its size.
constexpr size_t kRowsOfLook = 64;

/// Memory limit of a table. Packing shrinks it about ten times, so this is enough to fill a page.
size_t MostBytesOf(size_t limit_bytes) { return std::max(limit_bytes, kLeastLimitBytes); }

/// With more rows a `whole` table is not on the page.
size_t MostRowsOf(const prof::ViewPlan& plan, size_t limit_bytes) {
  const std::vector<prof::Field> fields = FieldsOf(*plan.view, plan.options);
  size_t bytes = 0;
  for (const size_t place : plan.places) {
    bytes += IsNumber(fields[place]) ? kLeastNumberBytes : kLeastPlaceBytes;
  }
  const size_t most_bytes = MostBytesOf(limit_bytes);
  // The sink looks at its size now and then, and the first values have no comma.
  return std::min(most_bytes / kLeastRowBytes,
                  most_bytes / std::max(bytes, size_t{1}) + kRowsOfLook + 1);
}

/// Fields of the per-kernel table that the timeline shows and that would double the table's size.
bool IsOfTimeline(const prof::View& view, const prof::Field& field) {
  constexpr std::string_view kKeys[] = {"start", "end", "corr", "launch_delay", "name_full"};
  return view.name == "kernels" && std::ranges::find(kKeys, field.key) != std::end(kKeys);
}

/// The inferred share of a row; on the page only if something is inferred.
bool IsOfInference(const prof::Field& field) { return field.key.starts_with("inferred_"); }

prof::ViewPlan PlanOf(const prof::View& view, std::vector<std::string> by) {
  prof::ViewPlan plan;
  plan.view = &view;
  plan.options.by = std::move(by);
  const std::vector<prof::Field> fields = FieldsOf(view, plan.options);
  for (size_t i = 0; i < fields.size(); ++i) {
    const bool wanted = !fields[i].on_request || IsOfInference(fields[i]);
    if (wanted && !IsOfTimeline(view, fields[i])) plan.places.push_back(i);
  }
  return plan;
}

std::vector<std::string_view> KeysOf(const prof::ViewPlan& plan) {
  std::vector<std::string_view> keys;
  for (const prof::Field& field : FieldsOf(*plan.view, plan.options)) keys.push_back(field.key);
  return keys;
}

/// `times`, after the view's own keys that --by would replace: `groups` has one row per kernel, but
/// with --by step one per step.
std::vector<std::string> WithOwnKeys(const prof::View& view, std::vector<std::string> times) {
  const std::span<const std::string_view> words = view.by;
  const std::vector<std::string_view> timed = KeysOf(PlanOf(view, times));
  std::vector<std::string> all;
  for (const prof::Field& field : FieldsOf(view, {})) {
    const bool own =
        field.fold == prof::Fold::kKey && std::ranges::find(words, field.key) != words.end();
    if (own && std::ranges::find(timed, field.key) == timed.end()) all.emplace_back(field.key);
  }
  all.insert(all.end(), std::move_iterator(times.begin()), std::move_iterator(times.end()));
  return all;
}

std::string ListOf(std::span<const int64_t> values) {
  std::string json = "[";
  for (const int64_t value : values) {
    if (json.size() > 1) json.push_back(',');
    AppendJsonInteger(value, &json);
  }
  return json + "]";
}

/// Adds a cell to its column; one overload per type of value.
struct CellTo {
  Column* column;

  void operator()(std::monostate) const { column->AddUnknown(); }
  void operator()(int64_t value) const { column->AddInteger(value); }
  void operator()(double value) const { column->AddDecimal(value); }
  void operator()(std::string_view text) const { column->AddText(text); }
  void operator()(std::span<const int64_t> values) const { column->AddJson(ListOf(values)); }
  void operator()(const Cell::Texts& list) const { column->AddTexts(list.texts); }
  void operator()(const Dim3& extent) const {
    const int64_t values[] = {extent.x, extent.y, extent.z};
    column->AddJson(ListOf(values));
  }
  void operator()(ReasonSet reasons) const {
    std::vector<std::string_view> words;
    reasons.ForEach([&](Reason reason) { words.push_back(ReasonWord(reason)); });
    column->AddTexts(words);
  }
};

}  // namespace

TablePlans PlanTables(size_t limit_bytes, std::shared_ptr<const prof::ModelPlan> model,
                      bool several) {
  TablePlans all;
  for (size_t i = 0; i < prof::Views().size(); ++i) {
    const prof::View& view = prof::Views()[i];
    if (!view.on_pages || (view.of_ranks && !several)) continue;
    all.plans.push_back(PlanOf(view, {}));
    all.tables.push_back({i, TableKind::kPlain, view.stream != nullptr});
    if (view.by.empty()) continue;
    const std::vector<std::string_view> plain = KeysOf(all.plans.back());
    std::vector<std::string> times;
    for (const std::string_view word : view.by) {
      if (IsTimeKey(word)) times.emplace_back(word);
    }
    const auto add = [&, i](std::vector<std::string> by, TableKind kind) {
      prof::ViewPlan plan;
      try {
        plan = PlanOf(view, std::move(by));
      } catch (const UsageError&) {
        return;  // This view does not support the combination of keys.
      }
      if (KeysOf(plan) == plain) return;  // The only key is the one of the plain table.
      plan.options.most_rows = MostRowsOf(plan, limit_bytes);
      all.plans.push_back(std::move(plan));
      all.tables.push_back({i, kind, true});
    };
    if (!times.empty()) add(WithOwnKeys(view, std::move(times)), TableKind::kByStep);
    for (const std::string_view word : view.by) {
      if (IsTimeKey(word) || IsKeyOfTimeline(view, word)) continue;
      // A variant without its kernel says little.
      std::vector<std::string> by = {std::string(word)};
      if (word == "variant") by.insert(by.begin(), "kernel");
      add(std::move(by), TableKind::kGrouping);
    }
  }
  for (prof::ViewPlan& plan : all.plans) plan.options.model = model;
  return all;
}

class PageTables::TableSink : public prof::Sink {
 public:
  TableSink(const TablePlans::Of& of, const prof::ViewOptions& options, size_t limit_bytes,
            const PathCutter& cutter, PageTable* table)
      : whole_(of.whole),
        pack_(of.kind != TableKind::kPlain),
        key_(of.kind == TableKind::kGrouping ? std::string_view(options.by.back())
                                             : std::string_view()),
        most_rows_(options.most_rows),
        limit_bytes_(limit_bytes),
        cutter_(cutter),
        table_(*table) {}

  void Begin(std::string_view, std::vector<prof::Field> fields) override {
    for (const prof::Field& field : fields) {
      if (IsOfInference(field)) inference_.push_back(table_.columns.size());
      if (field.key == key_) key_place_ = table_.columns.size();
      table_.columns.emplace_back(IsNumber(field), &cutter_);
    }
    table_.fields = std::move(fields);
  }

  void Row(std::span<const Cell> cells) override {
    if (full_) {
      ++table_.left_out;
      return;
    }
    for (size_t i = 0; i < cells.size(); ++i)
      std::visit(CellTo{&table_.columns[i]}, cells[i].value);
    if (key_place_ && !IsUnknown(cells[*key_place_])) ++known_keys_;
    for (const size_t i : inference_) inferred_ = inferred_ || IsAbove0(cells[i]);
    ++table_.rows;
    if (table_.rows > most_rows_ || (table_.rows % kRowsOfLook == 0 && Bytes() > limit_bytes_))
      Fill();
  }

  void End() override {
    if (!inferred_) LeaveInferenceOut();
    if (TellsNothing()) Clear();
    if (!pack_ || table_.rows == 0) return;
    table_.packed = PackColumns(std::move(table_.columns));
    table_.columns.clear();
  }

 private:
  static bool IsUnknown(const Cell& cell) {
    const auto* const text = std::get_if<std::string_view>(&cell.value);
    return std::holds_alternative<std::monostate>(cell.value) || (text != nullptr && text->empty());
  }

  /// Whether a grouping tells no rows apart that the plain table does not: it has one, or its key
  /// is unknown in all of them.
  bool TellsNothing() const {
    if (key_.empty() || table_.left_out > 0) return false;
    return table_.rows <= 1 || (key_place_ && known_keys_ == 0);
  }

  void Clear() {
    table_.rows = 0;
    for (Column& column : table_.columns) column = Column(true, &cutter_);
  }

  static bool IsAbove0(const Cell& cell) {
    const auto* const integer = std::get_if<int64_t>(&cell.value);
    const auto* const decimal = std::get_if<double>(&cell.value);
    return (integer != nullptr && *integer > 0) || (decimal != nullptr && *decimal > 0);
  }

  void LeaveInferenceOut() {
    for (size_t i = inference_.size(); i-- > 0;) {
      const auto place = static_cast<std::ptrdiff_t>(inference_[i]);
      table_.fields.erase(table_.fields.begin() + place);
      table_.columns.erase(table_.columns.begin() + place);
    }
  }

  size_t Bytes() const {
    size_t bytes = 0;
    for (const Column& column : table_.columns) bytes += column.bytes();
    return bytes;
  }

  void Fill() {
    full_ = true;
    if (!whole_) return;
    table_.left_out = table_.rows;
    Clear();
  }

  bool whole_;
  bool pack_;
  std::string_view key_;  // Of a grouping.
  std::optional<size_t> key_place_;
  size_t known_keys_ = 0;
  size_t most_rows_;
  size_t limit_bytes_;
  const PathCutter& cutter_;
  PageTable& table_;
  bool full_ = false;
  std::vector<size_t> inference_;  // Indices of fields: IsOfInference.
  bool inferred_ = false;          // One of them is above 0.
};

std::unique_ptr<prof::Sink> PageTables::NewTable() {
  const size_t place = tables_.size();
  const TablePlans::Of& of = plans_.tables[place];
  // Streamed rows arrive while a profile is in memory.
  const bool stream = of.whole && of.kind == TableKind::kPlain;
  const size_t limit = stream ? limit_bytes_ / 2 : MostBytesOf(limit_bytes_);
  return std::make_unique<TableSink>(of, plans_.plans[place].options, limit, cutter_,
                                     &tables_.emplace_back());
}

}  // namespace oplens::report

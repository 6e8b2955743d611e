#include "prof/views/kernels/summary.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <limits>
#include <tuple>
#include <utility>

namespace oplens::prof {
namespace {

// A value of a key: 4 bytes of length, then a text or the 8 bytes of an integer.
constexpr uint32_t kUnknownValue = std::numeric_limits<uint32_t>::max();
constexpr std::string_view kReplays = "(graph replay)";
constexpr size_t kMaxSteps = size_t{1} << 20;

void AppendLength(uint32_t length, std::string* key) {
  char bytes[sizeof length];
  std::memcpy(bytes, &length, sizeof length);
  key->append(bytes, sizeof bytes);
}

void AppendBytes(std::string_view bytes, std::string* key) {
  bytes = bytes.substr(0, kUnknownValue - 1);
  AppendLength(static_cast<uint32_t>(bytes.size()), key);
  key->append(bytes);
}

void AppendCell(const Field& field, const Cell& cell, std::string* scratch, std::string* key) {
  if (const auto* integer = std::get_if<int64_t>(&cell.value)) {
    char bytes[sizeof *integer];
    std::memcpy(bytes, integer, sizeof *integer);
    return AppendBytes(std::string_view(bytes, sizeof bytes), key);
  }
  const auto* whole = std::get_if<std::string_view>(&cell.value);
  const std::string_view text = whole != nullptr ? *whole : CellText(field, cell, scratch);
  if (text.empty()) return AppendLength(kUnknownValue, key);
  AppendBytes(text, key);
}

/// Takes the first value off a key.
Cell TakeCell(const Field& field, std::string_view* key) {
  uint32_t length = 0;
  std::memcpy(&length, key->data(), sizeof length);
  key->remove_prefix(sizeof length);
  if (length == kUnknownValue) return {};
  const std::string_view bytes = key->substr(0, length);
  key->remove_prefix(length);
  if (field.type != FieldType::kInteger) return {bytes};
  int64_t integer = 0;
  std::memcpy(&integer, bytes.data(), sizeof integer);
  return {integer};
}

}  // namespace

/// Takes the values off a group's key, in the order of the plan.
class Summary::KeyReader {
 public:
  KeyReader(const Summary& summary, std::string_view key) : summary_(summary) {
    std::tie(values_, step_) = summary.SplitKey(key);
  }

  Cell Next() {
    const size_t key = next_++;
    if (key == summary_.step_key_) return Integer(step_);
    return TakeCell(summary_.plan_.fields[key], &values_);
  }

 private:
  const Summary& summary_;
  std::string_view values_;
  std::optional<int64_t> step_;
  size_t next_ = 0;
};

Summary::Summary(const SummaryPlan* plan, Limits limits)
    : plan_(*plan), groups_(limits), stems_(limits) {
  for (size_t i = 0; i < plan_.keys.size(); ++i) {
    if (plan_.keys[i]->key == "step") step_key_ = i;
  }
}

template <typename Item>
void Summary::EncodeValues(const Columns<Item>& columns, const Item& item) {
  values_.clear();
  for (size_t i = 0; i < columns.size(); ++i) {
    if (i == step_key_) continue;
    const Column<Item>& column = *columns[i];
    Cell cell = column.get(item);
    if (!plan_.forms[i].whole()) cell = plan_.forms[i].Of(column, cell, &formed_);
    AppendCell(column, cell, &scratch_, &values_);
  }
}

void Summary::AddWork(const PricedKernel& work) {
  if (!cut_) EncodeValues(plan_.keys, work);
  AddToGroup(NumberOf(work.record->step), work);
}

void Summary::AddCopy(const CopyRow& copy) {
  EncodeValues(plan_.copy_keys, copy);
  KernelRecord record;
  record.duration_ns = copy.duration_ns.value_or(0);
  if (!copy.duration_ns) record.reasons.Add(Reason::kBadTimes);
  PricedKernel work;
  work.record = &record;
  // If the rate is impossible, the size may be as wrong as the time.
  if (copy.size_bytes >= 0 && copy.has_possible_rate()) work.share.bytes = copy.size_bytes;
  AddToGroup(NumberOf(std::nullopt), work);
}

uint32_t Summary::GroupOf(const PricedKernel& row) {
  EncodeValues(plan_.keys, row);
  return added_to_ = NumberOf(row.record->step);
}

uint32_t Summary::StemOf(const PricedKernel& row) {
  if (cut_) return kOther;
  EncodeValues(plan_.keys, row);
  return stems_.NumberOf(values_);
}

void Summary::AddWorkOf(uint32_t stem, const PricedKernel& work) {
  AddToGroup(NumberOf(stem, work.record->step), work);
}

uint32_t Summary::NumberOf(std::optional<int64_t> step) {
  if (cut_) return kOther;
  return ByStep() ? NumberOf(stems_.NumberOf(values_), step) : NumberOfKey(values_, values_.size());
}

uint32_t Summary::NumberOf(uint32_t stem, std::optional<int64_t> step) {
  if (cut_ || stem == kOther) return kOther;
  char key[sizeof stem + sizeof *step];
  size_t size = sizeof stem;
  std::memcpy(key, &stem, sizeof stem);
  if (step) {
    std::memcpy(key + size, &*step, sizeof *step);
    size += sizeof *step;
  }
  return NumberOfKey({key, size}, size + stems_.all()[stem].key->size());
}

uint32_t Summary::NumberOfKey(std::string_view key, size_t key_bytes) {
  const uint32_t group = groups_.NumberOf(key, key_bytes);
  if (groups_.size() <= most_groups_) return group;
  Cut();
  return kOther;
}

void Summary::Cut() {
  cut_ = true;
  groups_ = {};
  stems_ = {};
}

std::pair<std::string_view, std::optional<int64_t>> Summary::SplitKey(std::string_view key) const {
  if (!ByStep()) return {key, std::nullopt};
  uint32_t stem = 0;
  std::memcpy(&stem, key.data(), sizeof stem);
  key.remove_prefix(sizeof stem);
  std::optional<int64_t> step;
  if (!key.empty()) std::memcpy(&step.emplace(), key.data(), sizeof *step);
  return {*stems_.all()[stem].key, step};
}

void Summary::AddSums(uint32_t group, const GroupSums& sums) {
  MergeInto(&groups_[group], sums);
  MergeInto(&all_, sums);
}

void Summary::AddToGroup(uint32_t group, const PricedKernel& work) {
  added_to_ = group;
  groups_[group].Add(work);
  all_.Add(work);
}

void Summary::Add(const PricedKernel& row) {
  AddWork(row);
  Follow(row);
}

uint32_t Summary::Follow(const PricedKernel& row) {
  if (row.record->step) {
    CountStep(*row.record->step);
  } else if (!last_step_) {
    return repetition_->Add(*row.record, added_to_, repetition_place_);
  }
  return RepetitionFinder::kNone;
}

void Summary::FollowAlike(const PricedKernel& row, uint32_t kind, bool last) {
  if (row.record->step) {
    CountStep(*row.record->step);
  } else if (last && !last_step_) {
    repetition_->AddAlike(*row.record, kind);
  }
}

bool Summary::AddReplay(const PricedKernel& row) {
  replays_.Add(row);
  all_.Add(row);
  if (row.record->step) CountStep(*row.record->step);
  return true;
}

void Summary::CountStep(int64_t step) {
  if (last_step_ == step) return;
  last_step_ = step;
  if (steps_.size() >= kMaxSteps) {
    too_many_steps_ |= steps_.Find(step) == IdMap::kNone;
    return;
  }
  if (steps_.Find(step) == IdMap::kNone) step_numbers_.push_back(step);
  steps_.FindOrInsert(step, 0);
}

void Summary::FindRepeatedSteps() {
  repeated_ = repetition_->Find();
  if (!repeated_) return;
  step_count_ = repeated_->count;
  const auto add = [&](uint32_t group, int64_t duration_ns) {
    groups_[group].step_ns += duration_ns;
  };
  if (!cut_) repetition_->ForEachRepeated(*repeated_, repetition_place_, add);
}

bool Summary::KeyBefore(std::string_view a, std::string_view b) const {
  KeyReader values_a(*this, a);
  KeyReader values_b(*this, b);
  for (size_t i = 0; i < plan_.key_count(); ++i) {
    const Cell cell_a = values_a.Next();
    const Cell cell_b = values_b.Next();
    if (IsUnknown(cell_a) != IsUnknown(cell_b)) return IsUnknown(cell_b);
    if (CellBefore(cell_a, cell_b)) return true;
    if (CellBefore(cell_b, cell_a)) return false;
  }
  return false;
}

std::vector<uint32_t> Summary::Sorted(const RowOrder& order) {
  std::vector<Cell> cells;  // By group.
  std::vector<uint32_t> indices;
  matched_ = {};
  for (uint32_t group = 0; group < shown_groups(); ++group) {
    FillCells(RowOf(group), {&group, IsReplay(group) ? 0U : 1U});
    cells.push_back(cells_[order.field]);
    if (matched_.Count(condition_ == nullptr || condition_->Keeps(GivenCells(cells_)))) {
      indices.push_back(group);
    }
  }
  std::sort(indices.begin(), indices.end(), [&](uint32_t a, uint32_t b) {
    const bool unknown_a = IsUnknown(cells[a]);
    const bool unknown_b = IsUnknown(cells[b]);
    if (unknown_a != unknown_b) return unknown_b;
    if (CellBefore(cells[a], cells[b])) return order.ascending;
    if (CellBefore(cells[b], cells[a])) return !order.ascending;
    const int64_t time_a = SumsOf(a).total_ns;
    const int64_t time_b = SumsOf(b).total_ns;
    if (time_a != time_b) return time_a > time_b;
    // Not by number, which depends on the order of arrival.
    if (IsReplay(a) || IsReplay(b)) return IsReplay(b) && !IsReplay(a);
    return KeyBefore(*groups_.all()[a].key, *groups_.all()[b].key);
  });
  return indices;
}

SummaryRow Summary::RowOf(uint32_t group) const {
  if (IsReplay(group)) return ReplayRow();
  SummaryRow row;
  row.sums = &groups_[group];
  KeyReader values(*this, *groups_.all()[group].key);
  for (size_t i = 0; i < plan_.key_count(); ++i) row.keys[i] = values.Next();
  row.all_ns = all_.total_ns;
  row.steps = step_count_;
  if (ByStep()) row.steps = IsUnknown(row.keys[*step_key_]) ? 0 : 1;
  return row;
}

int64_t Summary::StepsOf(std::span<const uint32_t> groups) const {
  if (!ByStep()) return step_count_;
  IdMap steps;
  for (const uint32_t group : groups) {
    const Cell step = RowOf(group).keys[*step_key_];
    if (!IsUnknown(step)) steps.FindOrInsert(std::get<int64_t>(step.value), 0);
  }
  return static_cast<int64_t>(steps.size());
}

SummaryRow Summary::FoldedRow(const GroupSums& sums, std::string_view label, int64_t steps,
                              RowKind kind) const {
  SummaryRow row;
  row.kind = kind;
  row.sums = &sums;
  row.keys[0] = Cell{label};
  row.all_ns = all_.total_ns;
  row.steps = steps;
  return row;
}

SummaryRow Summary::ReplayRow() const {
  // A repetition's steps have kernels only; a group of all steps is not by step.
  return FoldedRow(replays_, kReplays, last_step_ && !ByStep() ? step_count_ : 0, RowKind::kReplay);
}

void Summary::FindSteps() {
  if (last_step_) {
    step_count_ = too_many_steps_ ? 0 : static_cast<int64_t>(steps_.size());
  } else if (!steps_found_) {
    FindRepeatedSteps();
  }
  steps_found_ = true;
}

namespace {

/// Orders repetitions, so that the order of ranks has no effect.
std::pair<int64_t, int64_t> SummaryLengthOf(const Repetition& repeated) {
  return {repeated.count * repeated.period, repeated.count};
}

}  // namespace

std::vector<uint32_t> Summary::Merge(const Summary& other) {
  steps_found_ = true;
  std::vector<uint32_t> numbers;
  if (other.cut_ && !cut_) Cut();
  for (const auto& group : other.groups_.all()) {
    const auto [values, step] = other.SplitKey(*group.key);
    values_ = values;
    numbers.push_back(NumberOf(step));
    MergeInto(&groups_[numbers.back()], group.sums);
  }
  MergeInto(&groups_.other, other.groups_.other);
  MergeInto(&replays_, other.replays_);
  MergeInto(&all_, other.all_);
  for (const int64_t step : other.step_numbers_) CountStep(step);
  too_many_steps_ |= other.too_many_steps_;
  // Ranks run their repetitions at the same time.
  if (!last_step_) step_count_ = std::max(step_count_, other.step_count_);
  if (other.repeated_ &&
      (!repeated_ || SummaryLengthOf(*repeated_) < SummaryLengthOf(*other.repeated_))) {
    repeated_ = other.repeated_;
  }
  return numbers;
}

namespace {

enum class SavedValue : uint8_t { kUnknown, kInteger, kText };
constexpr size_t kSavedValues = 3;

template <typename Bytes, typename Repeated>
void TransferRepetition(Bytes* bytes, Repeated* repeated) {
  bool any = repeated->has_value();
  bytes->Values(&any);
  if (!any) return;
  if constexpr (Bytes::kReads) repeated->emplace();
  bytes->Counts(&(*repeated)->period, &(*repeated)->count);
  if constexpr (Bytes::kReads) {
    // Their product is shown.
    bytes->Check((*repeated)->period <= INT32_MAX && (*repeated)->count <= INT32_MAX,
                 "a step repeats too often");
  }
}

}  // namespace

void Summary::SaveKey(std::string_view key, ByteWriter* bytes) const {
  KeyReader values(*this, key);
  for (size_t i = 0; i < plan_.key_count(); ++i) {
    const Cell cell = values.Next();
    auto kind = SavedValue::kUnknown;
    const auto* integer = std::get_if<int64_t>(&cell.value);
    const auto* text = std::get_if<std::string_view>(&cell.value);
    if (integer != nullptr) kind = SavedValue::kInteger;
    if (text != nullptr) kind = SavedValue::kText;
    bytes->Word(&kind, kSavedValues);
    if (integer != nullptr) bytes->Signed(*integer);
    if (text != nullptr) bytes->Text(*text);
  }
}

std::optional<int64_t> Summary::LoadKey(ByteReader* bytes) {
  values_.clear();
  std::optional<int64_t> step;
  for (size_t i = 0; i < plan_.key_count(); ++i) {
    const Field& field = plan_.fields[i];
    auto kind = SavedValue::kUnknown;
    bytes->Word(&kind, kSavedValues);
    Cell cell;
    if (kind == SavedValue::kInteger) cell = Cell{bytes->Signed()};
    if (kind == SavedValue::kText) cell = Cell{bytes->Text()};
    const bool fits = kind == SavedValue::kUnknown ||
                      (kind == SavedValue::kInteger) == (field.type == FieldType::kInteger);
    bytes->Check(fits, "a key has another type than its column");
    if (i == step_key_) {
      if (kind != SavedValue::kUnknown) step = std::get<int64_t>(cell.value);
    } else if (kind == SavedValue::kUnknown) {
      AppendLength(kUnknownValue, &values_);
    } else {
      AppendCell(field, cell, &scratch_, &values_);
    }
  }
  return step;
}

void Summary::Save(ByteWriter* bytes) const {
  bytes->Values(&groups_.other, &replays_, &all_, &step_numbers_, &too_many_steps_);
  bytes->Counts(&step_count_);
  TransferRepetition(bytes, &repeated_);
  bytes->Number(groups_.size());
  for (const auto& group : groups_.all()) {
    SaveKey(*group.key, bytes);
    bytes->Values(&group.sums);
  }
}

std::vector<uint32_t> Summary::Load(ByteReader* bytes) {
  steps_found_ = true;
  std::vector<int64_t> steps;
  bytes->Values(&groups_.other, &replays_, &all_, &steps, &too_many_steps_);
  bytes->Counts(&step_count_);
  TransferRepetition(bytes, &repeated_);
  for (const int64_t step : steps) CountStep(step);
  std::vector<uint32_t> numbers;
  for (size_t left = bytes->Size(); left > 0; --left) {
    const std::optional<int64_t> step = LoadKey(bytes);
    GroupSums sums;
    bytes->Values(&sums);
    numbers.push_back(NumberOf(step));
    MergeInto(&groups_[numbers.back()], sums);
  }
  return numbers;
}

void Summary::FillCells(const SummaryRow& row, std::span<const uint32_t> groups) {
  cells_.assign(row.keys.begin(),
                row.keys.begin() + static_cast<std::ptrdiff_t>(plan_.key_count()));
  for (const Column<SummaryRow>* figure : plan_.figures) cells_.push_back(figure->get(row));
  if (details_ != nullptr) details_->Append(groups, &cells_);
}

void Summary::Write(const RowOrder& order, size_t top, Sink* sink, const Details* details) {
  details_ = details;
  FindSteps();
  const auto write = [&](const SummaryRow& row, std::span<const uint32_t> groups) {
    FillCells(row, groups);
    sink->Row(cells_);
  };
  const std::vector<uint32_t> order_of_groups = Sorted(order);
  const size_t shown = top == 0 ? order_of_groups.size() : std::min(top, order_of_groups.size());
  for (size_t i = 0; i < shown; ++i) {
    const uint32_t group = order_of_groups[i];
    write(RowOf(group), {&group, IsReplay(group) ? 0U : 1U});
  }
  std::vector<uint32_t> folded(order_of_groups.begin() + static_cast<std::ptrdiff_t>(shown),
                               order_of_groups.end());
  const bool replays_left =
      std::erase_if(folded, [this](uint32_t group) { return IsReplay(group); }) > 0;
  GroupSums more;
  for (const uint32_t group : folded) MergeInto(&more, groups_[group]);
  if (!folded.empty()) {
    write(FoldedRow(more, fmt::format("({} more)", folded.size()), StepsOf(folded), RowKind::kRest),
          folded);
  }
  if (replays_left) write(ReplayRow(), {});
  // The steps of kernels beyond the limits are not kept.
  const uint32_t other = kOther;
  if (groups_.other.kernels > 0) {
    write(FoldedRow(groups_.other, "(other)", ByStep() ? 0 : step_count_, RowKind::kOther),
          {&other, 1});
  }
  details_ = nullptr;
}

std::vector<std::string> Summary::Notes() const {
  std::vector<std::string> notes;
  if (condition_ != nullptr) notes.push_back(matched_.Sentence("groups"));
  if (groups_.other.kernels > 0 && !cut_) {
    notes.push_back(fmt::format(
        "there are more than {} groups: {} {} of the others count together as (other); name "
        "fewer keys in --by",
        groups_.size(), int64_t{groups_.other.kernels}, plan_.rows));
  }
  if (plan_.keys.empty()) return notes;
  if (too_many_steps_) {
    notes.push_back(fmt::format("there are more than {} steps: no mean per step", kMaxSteps));
  }
  if (repeated_) {
    notes.push_back(
        fmt::format("no step is named; the last {} kernels are {} times the same sequence of {}, "
                    "taken as steps",
                    repeated_->count * repeated_->period, repeated_->count, repeated_->period));
  } else if (!last_step_ && all_.kernels > 0) {
    notes.push_back(
        "no mean per step: no step is named (ProfilerStep#N ranges, or --step PATTERN), and the "
        "kernels do not end in a sequence that repeats");
  }
  return notes;
}

}  // namespace oplens::prof

#include "prof/views/recording/column_check.h"

#include <algorithm>
#include <iterator>

#include "base/append_format.h"

namespace oplens::prof {
namespace {

constexpr size_t kShownReasons = 3;

/// Whether a cell says anything: JSON prints the others as null or [].
struct SaysAnything {
  bool operator()(std::monostate) const { return false; }
  bool operator()(int64_t) const { return true; }
  bool operator()(double) const { return true; }
  bool operator()(std::string_view) const { return true; }
  bool operator()(std::span<const int64_t> values) const { return !values.empty(); }
  bool operator()(const Cell::Texts& list) const { return !list.texts.empty(); }
  bool operator()(const Dim3&) const { return true; }
  bool operator()(ReasonSet) const { return true; }  // An empty set is an answer too.
};

/// Whether a kernel's reasons explain why the column is empty. Other columns depend on what the
/// profile holds (parse --check says what to record), the GPU, or a time.
bool HasReasons(Need need) {
  switch (need) {
    case Need::kOp:
    case Need::kModule:
    case Need::kMarker:
    case Need::kCost:
    case Need::kCostShare:
    case Need::kCostKinds:
      return true;
    default:
      return false;
  }
}

struct Counted {
  Reason reason;
  int64_t rows;
};

/// The most frequent reasons first, ties in the order of the enumeration.
std::vector<Counted> Largest(const std::array<int64_t, kReasonCount>& reasons) {
  std::vector<Counted> counted;
  for (int i = 0; i < kReasonCount; ++i) {
    const int64_t rows = reasons[static_cast<size_t>(i)];
    if (rows > 0) counted.push_back({static_cast<Reason>(i), rows});
  }
  std::stable_sort(counted.begin(), counted.end(),
                   [](const Counted& a, const Counted& b) { return a.rows > b.rows; });
  return counted;
}

}  // namespace

void ColumnCheck::Add(const PricedKernel& row) {
  ++rows_;
  for (size_t i = 0; i < columns_.size(); ++i) {
    Count& count = counts_[i];
    if (std::visit(SaysAnything{}, columns_[i]->get(row).value)) {
      ++count.known;
    } else if (HasReasons(columns_[i]->need)) {
      row.reasons.ForEach([&](Reason reason) { ++count.reasons[static_cast<size_t>(reason)]; });
    }
  }
}

std::string ColumnCheck::WhyNot(size_t column) const {
  std::string why;
  const std::vector<Counted> reasons = Largest(counts_[column].reasons);
  for (size_t r = 0; r < std::min(reasons.size(), kShownReasons); ++r) {
    AppendFormat(&why, "{}{} {}", r == 0 ? "" : ", ", reasons[r].rows,
                 ReasonWord(reasons[r].reason));
  }
  if (reasons.size() > kShownReasons) why += ", ...";
  return why;
}

std::string ColumnCheck::Render() const {
  std::string out = "columns, and the kernels that have them\n";
  for (size_t i = 0; i < columns_.size(); ++i) {
    AppendFormat(&out, "  {:<12} {:>10} of {:<10} {}", columns_[i]->key, counts_[i].known, rows_,
                 WhyNot(i));
    out.erase(out.find_last_not_of(' ') + 1);
    out.push_back('\n');
  }
  return out;
}

void ColumnCheck::Emit(Sink* sink) const {
  constexpr Field kFields[] = {
      {"column", "Column", "", FieldType::kText, 12, "key of the column", Fold::kKey},
      {"kernels", "Kernels", "", FieldType::kInteger, 10, "kernels that have a value"},
      {"of", "Of", "", FieldType::kInteger, 10, "all kernels"},
      {"why_not", "WhyNot", "", FieldType::kText, Field::kShared, "why the others have none"}};
  sink->Begin("check", {std::begin(kFields), std::end(kFields)});
  for (size_t i = 0; i < columns_.size(); ++i) {
    const std::string why = WhyNot(i);
    const Cell cells[] = {Text(columns_[i]->key), Integer(counts_[i].known), Integer(rows_),
                          Text(why)};
    sink->Row(cells);
  }
  sink->End();
}

}  // namespace oplens::prof

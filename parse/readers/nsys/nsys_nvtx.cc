#include "parse/readers/nsys/nsys_nvtx.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <string_view>

#include "parse/readers/common/scan_beside.h"
#include "parse/readers/nsys/nsys_schema.h"

namespace oplens::parse {
namespace {

enum Column : size_t {
  kNvtxStart,
  kNvtxType,
  kNvtxThread,
  kNvtxEnd,
  kNvtxText,
  kNvtxTextId,
  kNvtxDomain,
  kNvtxCategory,
  kNvtxPayload,  // First of the payload columns.
  kNvtxJsonText = kNvtxPayload + 6,
  kNvtxJsonTextId,
  kNvtxColumnCount,
};
constexpr std::string_view kNvtxColumns[kNvtxColumnCount] = {
    "start",       "eventType",  "globalTid",   "end",        "text",        "textId",
    "domainId",    "category",   "uint64Value", "int64Value", "uint32Value", "int32Value",
    "doubleValue", "floatValue", "jsonText",    "jsonTextId"};

/// Domain of the project's recorder: texts are annotations, as in the default domain.
constexpr std::string_view kOwnDomain = "oplens";

bool IsNull(const Cell& cell) { return cell.type() == Cell::Type::kNull; }
bool IsIntOrNull(const Cell& cell) { return cell.is_int() || IsNull(cell); }
int64_t IntOrZero(const Cell& cell) { return cell.is_int() ? cell.integer() : 0; }

bool IsRange(int64_t type) {
  return type == nsys::kNvtxPushPop || type == nsys::kNvtxStartEnd ||
         type == nsys::kImportedPushPop || type == nsys::kImportedStartEnd;
}

}  // namespace

NsysNvtx::NsysNvtx(NsysContext* context) : context_(*context), trace_(context->trace) {
  SqliteDatabase& database = context_.database;
  const std::string_view sessions = context_.Find(nsys::kSessionTable);
  const bool beside = (sessions.empty() || database.ReadsPagesOf(sessions)) &&
                      ScanBeside::Pays(&database, context_.Find(nsys::kNvtxTable));
  if (beside) own_texts_.emplace();
  ranges_.reserve(context_.RowsToReserve(nsys::kNvtxTable));
}

void NsysNvtx::Scan() {
  ReadSessions();
  context_.ForEachWholeRow(nsys::kNvtxTable, kNvtxColumns, 4, &diagnostics_,
                           [&](int64_t row_id, const Cell* row) { TakeEvent(row_id, row); });
}

void NsysNvtx::Place() {
  context_.diagnostics.Merge(diagnostics_);
  context_.diagnostics.CountMany(Reason::kReversedRange, reversed_);
  PlaceIds();
  trace_.ranges = std::move(ranges_);
  trace_.range_items = std::move(range_items_);
  trace_.instants = std::move(instants_);
  trace_.labels = std::move(labels_);
  NameLabels();
  ClassifyRanges();
}

void NsysNvtx::ReadSessions() {
  constexpr std::string_view kSessionColumns[] = {"globalVid", "duration"};
  context_.ForEachWholeRow(
      nsys::kSessionTable, kSessionColumns, 2, &diagnostics_, [&](int64_t row_id, const Cell* row) {
        if (!AllInts(row, 2) || row[1].integer() <= 0) {
          CountRow(&diagnostics_, Reason::kBadOtherRow, nsys::kSessionTable, row_id);
          return;
        }
        int64_t& end = session_ends_[nsys::MachineKey(row[0].integer())];
        end = std::max(end, row[1].integer());
      });
}

int64_t NsysNvtx::SessionEnd(int64_t global_tid) {
  const int64_t machine = nsys::MachineKey(global_tid);
  if (machine == last_machine_) return last_end_;
  last_machine_ = machine;
  last_end_ = std::numeric_limits<int64_t>::max();
  const auto found = session_ends_.find(machine);
  if (found != session_ends_.end()) {
    last_end_ = found->second;
  } else if (session_ends_.size() == 1) {
    last_end_ = session_ends_.begin()->second;
  }
  return last_end_;
}

void NsysNvtx::TakeEvent(int64_t row_id, const Cell* row) {
  if (context_.IsForeign(row[kNvtxThread])) return;
  const bool good = row[kNvtxType].is_int() && row[kNvtxThread].is_int() &&
                    IsIntOrNull(row[kNvtxDomain]) && IsIntOrNull(row[kNvtxCategory]) &&
                    IsIntOrNull(row[kNvtxTextId]);
  if (!good) {
    CountBadRow(row_id);
    return;
  }
  const int64_t type = row[kNvtxType].integer();
  if (IsRange(type)) {
    TakeRange(row_id, row, type == nsys::kNvtxStartEnd || type == nsys::kImportedStartEnd);
  } else if (type == nsys::kNvtxMark || type == nsys::kImportedMark) {
    TakeMark(row_id, row);
  } else if (type == nsys::kNvtxThread) {
    TakeThreadName(row);
  } else if (type == nsys::kNvtxDomainCreate || type == nsys::kNvtxCategory) {
    const bool category = type == nsys::kNvtxCategory;
    const StringId name = TextOf(row_id, row);
    const Scope scope = {nsys::ProcessKey(row[kNvtxThread].integer()), IntOrZero(row[kNvtxDomain]),
                         category ? IntOrZero(row[kNvtxCategory]) : 0};
    processes_.Of(scope.process);
    (category ? categories_ : domains_).try_emplace(scope, name);
  }
}

void NsysNvtx::TakeRange(int64_t row_id, const Cell* row, bool start_end) {
  if (!row[kNvtxStart].is_int() || !IsIntOrNull(row[kNvtxEnd])) {
    CountBadRow(row_id);
    return;
  }
  const int64_t global_tid = row[kNvtxThread].integer();
  const int64_t start_ns = row[kNvtxStart].integer();
  // A range that was never closed is exported with the end of the recording.
  const bool closed = row[kNvtxEnd].is_int() && row[kNvtxEnd].integer() < SessionEnd(global_tid);
  const int64_t end_ns = closed ? row[kNvtxEnd].integer() : kNeverClosed;
  if (end_ns < start_ns) {
    ++reversed_;
    return;
  }
  // Made in place. A copy reads the word of bit-fields before it writes it: of new memory the
  // system would map each page twice, and tell all cores so.
  Range& range = ranges_.emplace_back();
  range.start_ns = start_ns;
  range.end_ns = end_ns;
  range.text = TextOf(row_id, row);
  range.SetThread(ThreadOf(global_tid));
  range.kind = start_end ? RangeKind::kAnnotation : RangeKind::kMarker;
  const ItemIndex label = LabelOf(row, start_end);
  if (label != kNoItem) SetItem(label, &range_items_, &range);
}

void NsysNvtx::TakeMark(int64_t row_id, const Cell* row) {
  if (!row[kNvtxStart].is_int()) {
    CountBadRow(row_id);
    return;
  }
  const StringId text = TextOf(row_id, row);
  const ThreadIndex thread = ThreadOf(row[kNvtxThread].integer());
  if (!context_.needs.Has(TracePart::kInstants)) return;
  instants_.push_back({row[kNvtxStart].integer(), text, thread});
}

void NsysNvtx::TakeThreadName(const Cell* row) {
  const StringId name = TextOf(IsNull(row[kNvtxText]) ? row[kNvtxTextId] : row[kNvtxText]);
  if (name != 0) thread_names_[ThreadOf(row[kNvtxThread].integer())] = name;
}

StringId NsysNvtx::TextOf(int64_t row_id, const Cell* row) {
  const bool direct = row[kNvtxText].type() == Cell::Type::kText;
  const StringId text = TextOf(direct ? row[kNvtxText] : row[kNvtxTextId]);
  if (text != 0) return text;
  // A missing or empty text is valid; an unknown id or a non-text is damage.
  const bool absent = direct || (IsNull(row[kNvtxText]) && IsNull(row[kNvtxTextId]));
  if (!absent) CountBadRow(row_id);
  return Intern("<unknown>");
}

StringId NsysNvtx::TextOf(const Cell& cell) {
  if (cell.type() == Cell::Type::kText) return Intern(cell.bytes());
  return context_.TextOfId(cell, &last_string_);
}

StringId NsysNvtx::Intern(std::string_view text) {
  if (!own_texts_) return trace_.strings.Intern(text);
  const StringId own = own_texts_->Intern(text);
  return own == 0 ? 0 : own | kOwn;
}

ThreadIndex NsysNvtx::ThreadOf(int64_t global_tid) {
  const size_t known = threads_.size();
  const ThreadIndex thread = threads_.Of(global_tid);
  if (thread == known) processes_.Of(nsys::ProcessKey(global_tid));
  return thread;
}

void NsysNvtx::CountBadRow(int64_t row_id) {
  CountRow(&diagnostics_, Reason::kBadMarkerRow, nsys::kNvtxTable, row_id);
}

ItemIndex NsysNvtx::LabelOf(const Cell* row, bool start_end) {
  Scope scope = {0, IntOrZero(row[kNvtxDomain]), IntOrZero(row[kNvtxCategory])};
  const StringId payload = PayloadOf(row);
  if (scope.domain == 0 && scope.category == 0 && payload == 0 && !start_end) return kNoItem;
  scope.process = nsys::ProcessKey(row[kNvtxThread].integer());
  const auto next = static_cast<ItemIndex>(labels_.size());
  if (payload == 0) {
    const auto [known, is_new] = plain_labels_.try_emplace({scope, start_end}, next);
    if (!is_new) return known->second;
  }
  labels_.push_back({0, 0, payload, start_end});
  label_scopes_.push_back(scope);
  return next;
}

StringId NsysNvtx::PayloadOf(const Cell* row) {
  for (size_t i = kNvtxPayload; i < kNvtxJsonText; ++i) {
    const Cell& cell = row[i];
    if (cell.type() == Cell::Type::kReal) {
      return Intern(fmt::format("{}", cell.real()));
    }
    if (!cell.is_int()) continue;
    // Unsigned 64-bit numbers are stored as signed ones.
    const bool is_unsigned = i == kNvtxPayload;
    return Intern(is_unsigned ? fmt::format("{}", static_cast<uint64_t>(cell.integer()))
                              : fmt::format("{}", cell.integer()));
  }
  return TextOf(IsNull(row[kNvtxJsonText]) ? row[kNvtxJsonTextId] : row[kNvtxJsonText]);
}

void NsysNvtx::PlaceIds() {
  for (const int64_t key : processes_.ids()) context_.ProcessOfKey(key);
  std::vector<ThreadIndex> threads;
  for (const int64_t global_tid : threads_.ids()) threads.push_back(context_.ThreadOf(global_tid));
  std::vector<StringId> own;
  for (StringId id = 0; own_texts_ && id < own_texts_->size(); ++id) {
    own.push_back(trace_.strings.Intern(own_texts_->View(id)));
  }
  own_texts_.reset();
  const auto place_text = [&](StringId* text) {
    if ((*text & kOwn) != 0) *text = own[*text & ~kOwn];
  };
  for (Range& range : ranges_) {
    if (!range.has_item) range.SetThread(threads[range.place]);
    place_text(&range.text);
  }
  for (RangeItem& item : range_items_) item.thread = threads[item.thread];
  for (Instant& instant : instants_) {
    instant.thread = threads[instant.thread];
    place_text(&instant.text);
  }
  for (Label& label : labels_) place_text(&label.payload);
  for (auto& [scope, name] : domains_) place_text(&name);
  for (auto& [scope, name] : categories_) place_text(&name);
  for (auto& [thread, name] : thread_names_) {
    place_text(&name);
    trace_.threads[threads[thread]].name = name;
  }
}

void NsysNvtx::NameLabels() {
  for (size_t i = 0; i < label_scopes_.size(); ++i) {
    const Scope& scope = label_scopes_[i];
    Label& label = trace_.labels[i];
    if (scope.domain != 0) {
      const auto domain = domains_.find({scope.process, scope.domain, 0});
      label.domain = domain != domains_.end()
                         ? domain->second
                         : trace_.strings.Intern(fmt::format("domain {}", scope.domain));
    }
    if (scope.category != 0) {
      const auto category = categories_.find(scope);
      label.category = category != categories_.end()
                           ? category->second
                           : trace_.strings.Intern(fmt::format("{}", scope.category));
    }
  }
}

/// Ranges of other domains belong to their libraries: they are labels, never ops.
void NsysNvtx::ClassifyRanges() {
  for (Range& range : trace_.ranges) {
    const Label* const label = trace_.LabelOf(range);
    if (label == nullptr) continue;
    const std::string_view domain = trace_.strings.View(label->domain);
    if (!domain.empty() && domain != kOwnDomain) range.kind = RangeKind::kAnnotation;
  }
}

}  // namespace oplens::parse

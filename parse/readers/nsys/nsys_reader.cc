#include "parse/readers/nsys/nsys_reader.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <limits>
#include <map>
#include <optional>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "parse/readers/nsys/nsys_context.h"
#include "parse/readers/nsys/nsys_device.h"
#include "parse/readers/nsys/nsys_schema.h"
#include "parse/readers/nsys/nsys_target.h"

namespace oplens::parse {
namespace {

/// Reads the NVTX events: ranges, marks, and the names of threads, domains and categories.
class NsysNvtx {
 public:
  explicit NsysNvtx(NsysContext* context) : context_(*context), trace_(context->trace) {}

  void Read();

 private:
  /// A domain or category of a process; domain 0 is the default one.
  struct Scope {
    uint32_t process = 0;
    int64_t domain = 0;
    int64_t category = 0;
    friend bool operator<(const Scope& a, const Scope& b) {
      return std::tie(a.process, a.domain, a.category) < std::tie(b.process, b.domain, b.category);
    }
  };

  void ReadSessions();
  /// Returns when the recording of this thread ended; the largest number if unknown.
  int64_t SessionEnd(int64_t global_tid);
  void TakeEvent(int64_t row_id, const Cell* row);
  void TakeRange(int64_t row_id, const Cell* row, bool start_end);
  void TakeMark(int64_t row_id, const Cell* row);
  void TakeThreadName(const Cell* row);
  /// Returns the text of an event; counts the row if it has no readable one.
  StringId TextOf(int64_t row_id, const Cell* row);
  ItemIndex LabelOf(const Cell* row, bool start_end);
  StringId PayloadOf(const Cell* row);
  /// Done last: names of domains and categories may follow the ranges that use them.
  void NameLabels();
  void ClassifyRanges();

  NsysContext& context_;
  Trace& trace_;
  std::map<int64_t, int64_t> session_ends_;  // By nsys::MachineKey.
  int64_t last_machine_ = INT64_MIN;
  int64_t last_end_ = 0;
  std::map<Scope, StringId> domains_;  // category 0
  std::map<Scope, StringId> categories_;
  std::map<std::pair<Scope, bool>, ItemIndex> plain_labels_;  // Those without payload.
  std::vector<Scope> label_scopes_;                           // Per label in Trace::labels.
  std::map<ThreadIndex, StringId> thread_names_;
  int64_t reversed_ = 0;
};

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

void NsysNvtx::Read() {
  ReadSessions();
  context_.ForEachWholeRow(nsys::kNvtxTable, kNvtxColumns, 4,
                           [&](int64_t row_id, const Cell* row) { TakeEvent(row_id, row); });
  context_.diagnostics.CountMany(Reason::kReversedRange, reversed_);
  for (const auto& [thread, name] : thread_names_) trace_.threads[thread].name = name;
  NameLabels();
  ClassifyRanges();
}

void NsysNvtx::ReadSessions() {
  constexpr std::string_view kSessionColumns[] = {"globalVid", "duration"};
  context_.ForEachWholeRow(
      nsys::kSessionTable, kSessionColumns, 2, [&](int64_t row_id, const Cell* row) {
        if (!AllInts(row, 2) || row[1].integer() <= 0) {
          context_.CountBadRow(Reason::kBadOtherRow, nsys::kSessionTable, row_id);
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
    context_.CountBadRow(Reason::kBadMarkerRow, nsys::kNvtxTable, row_id);
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
    const Scope scope = {context_.ProcessOf(row[kNvtxThread].integer()),
                         IntOrZero(row[kNvtxDomain]), category ? IntOrZero(row[kNvtxCategory]) : 0};
    (category ? categories_ : domains_).try_emplace(scope, name);
  }
}

void NsysNvtx::TakeRange(int64_t row_id, const Cell* row, bool start_end) {
  if (!row[kNvtxStart].is_int() || !IsIntOrNull(row[kNvtxEnd])) {
    context_.CountBadRow(Reason::kBadMarkerRow, nsys::kNvtxTable, row_id);
    return;
  }
  const int64_t global_tid = row[kNvtxThread].integer();
  Range range;
  range.set_order(row_id);
  range.start_ns = row[kNvtxStart].integer();
  // A range that was never closed is exported with the end of the recording.
  const bool closed = row[kNvtxEnd].is_int() && row[kNvtxEnd].integer() < SessionEnd(global_tid);
  if (closed) range.end_ns = row[kNvtxEnd].integer();
  if (range.end_ns < range.start_ns) {
    ++reversed_;
    return;
  }
  range.text = TextOf(row_id, row);
  range.thread = context_.ThreadOf(global_tid);
  range.kind = start_end ? RangeKind::kAnnotation : RangeKind::kMarker;
  range.item = LabelOf(row, start_end);
  trace_.ranges.push_back(range);
}

void NsysNvtx::TakeMark(int64_t row_id, const Cell* row) {
  if (!row[kNvtxStart].is_int()) {
    context_.CountBadRow(Reason::kBadMarkerRow, nsys::kNvtxTable, row_id);
    return;
  }
  const StringId text = TextOf(row_id, row);
  const ThreadIndex thread = context_.ThreadOf(row[kNvtxThread].integer());
  if (!context_.needs.Has(TracePart::kInstants)) return;
  trace_.instants.push_back({row[kNvtxStart].integer(), text, thread});
}

void NsysNvtx::TakeThreadName(const Cell* row) {
  const StringId name = context_.TextOf(IsNull(row[kNvtxText]) ? row[kNvtxTextId] : row[kNvtxText]);
  if (name != 0) thread_names_[context_.ThreadOf(row[kNvtxThread].integer())] = name;
}

StringId NsysNvtx::TextOf(int64_t row_id, const Cell* row) {
  const bool direct = row[kNvtxText].type() == Cell::Type::kText;
  const StringId text = context_.TextOf(direct ? row[kNvtxText] : row[kNvtxTextId]);
  if (text != 0) return text;
  // A missing or empty text is valid; an unknown id or a non-text is damage.
  const bool absent = direct || (IsNull(row[kNvtxText]) && IsNull(row[kNvtxTextId]));
  if (!absent) context_.CountBadRow(Reason::kBadMarkerRow, nsys::kNvtxTable, row_id);
  return trace_.strings.Intern("<unknown>");
}

ItemIndex NsysNvtx::LabelOf(const Cell* row, bool start_end) {
  Scope scope = {0, IntOrZero(row[kNvtxDomain]), IntOrZero(row[kNvtxCategory])};
  const StringId payload = PayloadOf(row);
  if (scope.domain == 0 && scope.category == 0 && payload == 0 && !start_end) return kNoItem;
  scope.process = context_.ProcessOf(row[kNvtxThread].integer());
  const auto next = static_cast<ItemIndex>(trace_.labels.size());
  if (payload == 0) {
    const auto [known, is_new] = plain_labels_.try_emplace({scope, start_end}, next);
    if (!is_new) return known->second;
  }
  trace_.labels.push_back({0, 0, payload, start_end});
  label_scopes_.push_back(scope);
  return next;
}

StringId NsysNvtx::PayloadOf(const Cell* row) {
  for (size_t i = kNvtxPayload; i < kNvtxJsonText; ++i) {
    const Cell& cell = row[i];
    if (cell.type() == Cell::Type::kReal) {
      return trace_.strings.Intern(fmt::format("{}", cell.real()));
    }
    if (!cell.is_int()) continue;
    // Unsigned 64-bit numbers are stored as signed ones.
    const bool is_unsigned = i == kNvtxPayload;
    return trace_.strings.Intern(is_unsigned
                                     ? fmt::format("{}", static_cast<uint64_t>(cell.integer()))
                                     : fmt::format("{}", cell.integer()));
  }
  return context_.TextOf(IsNull(row[kNvtxJsonText]) ? row[kNvtxJsonTextId] : row[kNvtxJsonText]);
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
    if (range.item == kNoItem) continue;
    const std::string_view domain = trace_.strings.View(trace_.labels[range.item].domain);
    if (!domain.empty() && domain != kOwnDomain) range.kind = RangeKind::kAnnotation;
  }
}

/// CUPTI's kinds by Nsight Systems' names; other rows are its own overhead.
struct OverheadName {
  std::string_view part;
  OverheadKind kind;
};
constexpr OverheadName kOverheadNames[] = {
    {"Driver compiler", OverheadKind::kDriverCompiler},
    {"Buffer flush", OverheadKind::kBufferFlush},
    {"Instrumentation", OverheadKind::kInstrumentation},
    {"Resource Management", OverheadKind::kResource},
};

OverheadKind KindOf(std::string_view name) {
  if (!name.starts_with("CUPTI")) return OverheadKind::kUnknown;
  for (const OverheadName& known : kOverheadNames) {
    if (name.ends_with(known.part)) return known.kind;
  }
  return OverheadKind::kUnknown;
}

void ReadOverheads(NsysContext* context) {
  constexpr std::string_view kColumns[] = {"start", "end", "nameId", "globalTid"};
  const bool keep = context->needs.Has(TracePart::kOverheads);
  context->ForEachWholeRow(nsys::kOverheadTable, kColumns, 2, [&](int64_t row_id, const Cell* row) {
    if (!AllInts(row, 2)) {
      context->CountBadRow(Reason::kBadOtherRow, nsys::kOverheadTable, row_id);
      return;
    }
    if (!keep || context->IsForeign(row[3])) return;
    Overhead& overhead = context->trace.overheads.emplace_back();
    overhead.start_ns = row[0].integer();
    overhead.end_ns = row[1].integer();
    overhead.kind = KindOf(context->trace.strings.View(context->TextOf(row[2])));
    // The file has overheads of all processes of the machine.
    if (row[3].is_int() && context->KnowsProcess(row[3].integer())) {
      overhead.thread = context->ThreadOf(row[3].integer());
    }
  });
}

void NoteEmptiness(NsysContext* context) {
  const Trace& trace = context->trace;
  if (!trace.kernels.empty()) return;
  const bool ranges = !trace.ranges.empty();
  context->diagnostics.Note(
      fmt::format("{}: no kernels{} were recorded: no rows in {}{}{}; record with: nsys profile "
                  "--trace=cuda,nvtx",
                  context->database.path(), ranges ? "" : ", no ranges", nsys::kKernelTable,
                  ranges ? "" : " and ", ranges ? "" : nsys::kNvtxTable));
}

bool RecognisesNsys(ProfileFile* file) {
  const SqliteDatabase* database = file->database();
  return database != nullptr && database->HasTable(nsys::kStringTable);
}

Trace ReadNsys(ProfileFile* file, TraceNeeds needs, Diagnostics* diagnostics) {
  const std::optional<FilePart>& part = file->part();
  const std::optional<int64_t> only =
      part ? std::optional<int64_t>(part->process_key) : std::nullopt;
  NsysContext context(file->database(), only, needs, diagnostics);
  context.trace.family = Family::kNsys;
  context.ReadStrings();
  NsysDevice device(&context);
  device.Read();
  NsysNvtx(&context).Read();
  // Threads of the requested parts do not identify the rank.
  const size_t threads = context.trace.threads.size();
  ReadOverheads(&context);
  device.PlaceOtherCalls();
  NsysTarget(&context).Read(threads);
  // The search over all processes (split_ranks.h) has determined the rank of this one.
  if (part) context.trace.rank = part->rank;
  NoteEmptiness(&context);
  return std::move(context.trace);
}

}  // namespace

constexpr TraceReader kNsysReader = {Family::kNsys, RecognisesNsys, ReadNsys};

}  // namespace oplens::parse

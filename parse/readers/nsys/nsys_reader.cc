#include "parse/readers/nsys/nsys_reader.h"

#include <fmt/format.h>

#include <cstdint>
#include <optional>
#include <string_view>
#include <utility>

#include "parse/readers/common/scan_beside.h"
#include "parse/readers/nsys/nsys_context.h"
#include "parse/readers/nsys/nsys_device.h"
#include "parse/readers/nsys/nsys_nvtx.h"
#include "parse/readers/nsys/nsys_schema.h"
#include "parse/readers/nsys/nsys_target.h"

namespace oplens::parse {
namespace {

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
  // Most rows are of ranges and API calls: a thread reads the former while the latter are read.
  NsysNvtx nvtx(&context);
  ScanBeside ranges;
  ranges.Begin(nvtx.scans_beside(), [&nvtx] { nvtx.Scan(); });
  NsysDevice device(&context);
  device.Read();
  ranges.Finish();
  nvtx.Place();
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

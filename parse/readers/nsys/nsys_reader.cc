#include "parse/readers/nsys/nsys_reader.h"

#include <fmt/format.h>

#include <string_view>
#include <utility>

#include "parse/readers/nsys/nsys_context.h"
#include "parse/readers/nsys/nsys_device.h"
#include "parse/readers/nsys/nsys_nvtx.h"
#include "parse/readers/nsys/nsys_schema.h"
#include "parse/readers/nsys/nsys_target.h"

namespace oplens::parse {
namespace {

/// The kinds of CUPTI by the names that Nsight Systems gives them; other rows are its own overhead.
struct OverheadName {
  std::string_view part;
  int32_t kind;
};
constexpr OverheadName kOverheadNames[] = {
    {"Driver compiler", 1},
    {"Buffer flush", 65536},
    {"Instrumentation", 131072},
    {"Resource Management", 196608},
};

int32_t OverheadKind(std::string_view name) {
  if (!name.starts_with("CUPTI")) return 0;
  for (const OverheadName& known : kOverheadNames) {
    if (name.ends_with(known.part)) return known.kind;
  }
  return 0;
}

void ReadOverheads(NsysContext* context) {
  constexpr std::string_view kColumns[] = {"start", "end", "nameId"};
  context->ForEachWholeRow(nsys::kOverheadTable, kColumns, 2, [&](int64_t row_id, const Cell* row) {
    if (!AllInts(row, 2)) {
      context->CountBadRow(Reason::kBadOtherRow, nsys::kOverheadTable, row_id);
      return;
    }
    const std::string_view name = context->trace.strings.View(context->TextOf(row[2]));
    context->trace.overheads.push_back({row[0].integer(), row[1].integer(), OverheadKind(name)});
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

Trace ReadNsys(ProfileFile* file, Diagnostics* diagnostics) {
  NsysContext context(file->database(), diagnostics);
  context.trace.family = Family::kNsys;
  context.ReadStrings();
  NsysDevice(&context).Read();
  NsysNvtx(&context).Read();
  ReadOverheads(&context);
  NsysTarget(&context).Read();
  NoteEmptiness(&context);
  return std::move(context.trace);
}

}  // namespace

constexpr TraceReader kNsysReader = {Family::kNsys, RecognisesNsys, ReadNsys};

}  // namespace oplens::parse

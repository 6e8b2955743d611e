#include "parse/readers/nsys/nsys_graph_nodes.h"

#include "parse/readers/nsys/nsys_calls.h"
#include "parse/readers/nsys/nsys_schema.h"

namespace oplens::parse {

void NsysGraphNodes::Want(size_t kernel, int64_t node, const Cell& global_pid) {
  nodes_.Want(kernel, node, global_pid.is_int() ? context_.ProcessOf(global_pid.integer()) : 0);
}

void NsysGraphNodes::Place() {
  if (nodes_.empty()) return;
  ReadEvents();
  Trace& trace = context_.trace;
  nodes_.Place(&trace, [&](const GraphNodes::Event& event) {
    LaunchCall call;
    call.start_ns = event.start_ns;
    call.end_ns = event.end_ns;
    call.correlation_id = kUnknownId;
    call.thread = context_.ThreadOf(event.thread);
    call.api = trace.strings.Intern(StripAbiSuffix(trace.strings.View(event.api)));
    return call;
  });
}

std::string_view NsysGraphNodes::Table() {
  return context_.Find(nsys::kGraphNodeTable).empty() ? nsys::kGraphTable : nsys::kGraphNodeTable;
}

void NsysGraphNodes::ReadEvents() {
  constexpr std::string_view kColumns[] = {"start", "globalTid", "graphNodeId",
                                           "end",   "nameId",    "originalGraphNodeId"};
  const std::string_view table = Table();
  // The table of whole graphs of later schemas bears the name that this one had before.
  if (!context_.HasColumn(table, kColumns[2])) return;
  context_.ForEachWholeRow(table, kColumns, 3,
                           [&](int64_t row_id, const Cell* row) { TakeEvent(row_id, row); });
}

void NsysGraphNodes::TakeEvent(int64_t row_id, const Cell* row) {
  if (context_.IsForeign(row[1])) return;
  if (!AllInts(row, 3)) {
    context_.CountBadRow(Reason::kBadOtherRow, Table(), row_id);
    return;
  }
  GraphNodes::Event event;
  event.start_ns = row[0].integer();
  event.thread = row[1].integer();
  const int64_t node = row[2].integer();
  event.end_ns =
      row[3].is_int() && row[3].integer() >= event.start_ns ? row[3].integer() : event.start_ns;
  event.api = context_.TextOf(row[4]);
  if (row[5].is_int() && row[5].integer() != node) event.original = row[5].integer();
  nodes_.Add(context_.ProcessOf(event.thread), node, event);
}

}  // namespace oplens::parse

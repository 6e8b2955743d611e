#include "parse/readers/nsys_graph_nodes.h"

#include <utility>

#include "parse/nsys_schema.h"
#include "parse/readers/nsys_calls.h"

namespace oplens::parse {

void NsysGraphNodes::Want(size_t kernel, int64_t node, const Cell& global_pid) {
  const uint32_t process = global_pid.is_int() ? context_.ProcessOf(global_pid.integer()) : 0;
  replays_.push_back({kernel, node, process});
}

void NsysGraphNodes::Place() {
  if (replays_.empty()) return;
  ReadEvents();
  for (const Replay& replay : replays_) {
    const bool unknown = replay.process == 0;
    if (unknown && several_processes_) continue;
    const ItemIndex event = CreationOf(unknown ? process_ : replay.process, replay.node);
    context_.trace.kernels[replay.kernel].capture = LaunchOf(event);
  }
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
  if (!AllInts(row, 3)) {
    context_.CountBadRow(Reason::kBadOtherRow, Table(), row_id);
    return;
  }
  Event event;
  event.start_ns = row[0].integer();
  event.global_tid = row[1].integer();
  const int64_t node = row[2].integer();
  event.end_ns =
      row[3].is_int() && row[3].integer() >= event.start_ns ? row[3].integer() : event.start_ns;
  event.api = context_.TextOf(row[4]);
  if (row[5].is_int() && row[5].integer() != node) event.original = row[5].integer();
  const uint32_t process = context_.ProcessOf(event.global_tid);
  several_processes_ |= process_ != 0 && process_ != process;
  process_ = process;
  if (events_of_process_.size() <= process) events_of_process_.resize(size_t{process} + 1);
  const auto next = static_cast<ItemIndex>(events_.size());
  const ItemIndex known = events_of_process_[process].FindOrInsert(node, next);
  if (known == next) {
    events_.push_back(event);
  } else if (std::pair(event.original != 0, event.start_ns) <
             std::pair(events_[known].original != 0, events_[known].start_ns)) {
    events_[known] = event;  // Whatever the order of rows: a creation, else the first.
  }
}

ItemIndex NsysGraphNodes::CreationOf(uint32_t process, int64_t node) const {
  if (process >= events_of_process_.size()) return kNoItem;
  // A graph is cloned when it is captured into another one and when it is instantiated; a longer
  // chain than this is a ring.
  constexpr int kMostClones = 64;
  for (int i = 0; i < kMostClones; ++i) {
    const uint32_t event = events_of_process_[process].Find(node);
    if (event == IdMap::kNone) return kNoItem;
    if (events_[event].original == 0) return event;
    node = events_[event].original;
  }
  return kNoItem;
}

LaunchIndex NsysGraphNodes::LaunchOf(ItemIndex index) {
  if (index == kNoItem) return kNoLaunch;
  Event& event = events_[index];
  if (event.launch != kNoLaunch) return event.launch;
  Trace& trace = context_.trace;
  LaunchCall call;
  call.start_ns = event.start_ns;
  call.end_ns = event.end_ns;
  call.correlation_id = kUnknownId;
  call.thread = context_.ThreadOf(event.global_tid);
  call.api = trace.strings.Intern(StripAbiSuffix(trace.strings.View(event.api)));
  event.launch = static_cast<LaunchIndex>(trace.launches.size());
  trace.launches.push_back(call);
  return event.launch;
}

}  // namespace oplens::parse

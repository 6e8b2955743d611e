#include "parse/readers/common/graph_nodes.h"

#include <utility>

namespace oplens::parse {

void GraphNodes::Add(uint32_t process, int64_t node, const Event& event) {
  several_processes_ |= process_ != 0 && process_ != process;
  process_ = process;
  if (events_of_process_.size() <= process) events_of_process_.resize(size_t{process} + 1);
  if (event.original == node) return;
  const auto next = static_cast<ItemIndex>(events_.size());
  const ItemIndex known = events_of_process_[process].FindOrInsert(node, next);
  if (known == next) {
    events_.push_back(event);
  } else if (std::pair(event.original == 0, event.start_ns) <
             std::pair(events_[known].original == 0, events_[known].start_ns)) {
    // Independent of the order of rows: the first clone counts, else the first creation. CUPTI
    // reports nodes of an instantiated graph twice, as created and as clones.
    events_[known] = event;
  }
}

ItemIndex GraphNodes::CreationOf(uint32_t process, int64_t node) const {
  if (process >= events_of_process_.size()) return kNoItem;
  // A graph is cloned when captured into another and when instantiated; longer chains are cycles.
  constexpr int kMostClones = 64;
  for (int i = 0; i < kMostClones; ++i) {
    const uint32_t event = events_of_process_[process].Find(node);
    if (event == IdMap::kNone) return kNoItem;
    if (events_[event].original == 0) return event;
    node = events_[event].original;
  }
  return kNoItem;
}

void GraphNodes::Place(Trace* trace, const std::function<LaunchCall(const Event&)>& call_of) {
  for (const Replay& replay : replays_) {
    const bool unknown = replay.process == 0;
    if (unknown && several_processes_) continue;
    const ItemIndex index = CreationOf(unknown ? process_ : replay.process, replay.node);
    if (index == kNoItem) continue;
    Event& event = events_[index];
    if (event.launch == kNoLaunch) {
      event.launch = static_cast<LaunchIndex>(trace->launches.size());
      trace->launches.push_back(call_of(event));
    }
    trace->kernels[replay.kernel].capture = event.launch;
  }
}

}  // namespace oplens::parse

#ifndef OPLENS_PROF_RUN_TB_MEMORY_H_
#define OPLENS_PROF_RUN_TB_MEMORY_H_

#include <cstdint>
#include <span>
#include <vector>

#include "parse/model/trace.h"
#include "prof/run/tb_tree.h"

namespace oplens::prof {

/// The events of a framework's allocator as the TensorBoard plugin (torch_tb_profiler 0.4.3) makes
/// use of them, for `--compat tb`.
class TbMemory {
 public:
  static constexpr uint32_t kNone = UINT32_MAX;

  struct Record {
    uint32_t event = kNone;   ///< Into Trace::memory_events.
    uint32_t owner = kNone;   ///< Into TbTree::nodes: the innermost node, if rows count it.
    uint32_t parent = kNone;  ///< Of an owner: the node around it.
  };
  /// Places in records(); one of them may be kNone.
  struct Pair {
    uint32_t taken = kNone;
    uint32_t freed = kNone;
  };

  /// Both must outlive this object.
  TbMemory(const Trace& trace, const TbTree& tree);

  /// By time.
  std::span<const Record> records() const { return records_; }
  const MemoryEvent& EventOf(uint32_t record) const {
    return trace_.memory_events[records_[record].event];
  }
  /// Whether the plugin came to a node on its way to an event: only those and their children do
  /// count.
  bool IsVisited(uint32_t node) const { return visited_[node]; }
  /// What is paired by address alone, whatever the device: the last allocation of an address wins,
  /// and those before it are lost; so are all but the last of the releases of an address that
  /// nothing was paired with. Events without an address are left out.
  std::vector<Pair> Pairs() const;

 private:
  void Place();
  void PlaceThread(std::span<const uint32_t> records, uint32_t root);

  const Trace& trace_;
  const TbTree& tree_;
  std::vector<Record> records_;
  std::vector<bool> visited_;  // By node.
};

}  // namespace oplens::prof

#endif  // OPLENS_PROF_RUN_TB_MEMORY_H_

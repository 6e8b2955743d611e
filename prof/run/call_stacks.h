#ifndef OPLENS_PROF_RUN_CALL_STACKS_H_
#define OPLENS_PROF_RUN_CALL_STACKS_H_

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "base/id_map.h"
#include "parse/join/call_tree.h"
#include "prof/run/module_names.h"
#include "prof/run/path_tree.h"

namespace oplens::parse {
class Joined;
}  // namespace oplens::parse

namespace oplens::prof {

/// The call stack recorded with a range, as a text for parse::RangeTexts; 0: none.
StringId RecordedStackOf(const parse::Joined& joined, uint32_t range);

/// How each call of a run was reached, as paths: the user's Python frames and the operators around
/// it, as nested:
///
///     |- train.py:10 ----------------------|
///        |- aten::linear ---------------|        train.py:10, aten::linear
///           |- hook.py:3 ------------|
///              |- aten::addmm ----|              train.py:10, aten::linear, hook.py:3, aten::addmm
///
/// Without recorded frames, but with a call stack per operator: each call is preceded by what its
/// stack adds to the enclosing call's; by nothing if the two start differently.
///
/// O(R log R) for R ranges; 4 bytes per call, 8 during construction.
class CallStacks {
 public:
  struct Options {
    /// Per call its name's number in the tree; empty: paths have frames only, all of them.
    std::span<const uint32_t> names = {};
    uint32_t front = PathTree::kRoot;       ///< Prefix of all paths.
    std::span<const uint32_t> fronts = {};  ///< Per call: prefix if nothing encloses it.
    ModuleNames* modules = nullptr;         ///< Calls of modules count as frames.
  };

  /// All must outlive this object.
  CallStacks(const parse::Joined& joined, const parse::CallTree& calls, const Options& options,
             PathTree* tree);

  /// `call`: index into CallTree::all(). Options::front if nothing encloses the call.
  uint32_t PathOf(size_t call) const { return paths_[call]; }

 private:
  /// Something that encloses what follows.
  struct Item {
    int64_t end_ns;
    uint32_t range;
    uint32_t path;
    uint32_t frame;  // Index of the innermost frame so far; kNone.
    bool python;     // There is a Python frame among those so far.
  };
  struct Recorded {
    int64_t end_ns;
    StringId stack;
  };
  /// A path extended by frames.
  struct Extended {
    uint32_t path;
    bool extends;  // The stack starts like the enclosing call's.
  };
  static constexpr uint32_t kNone = UINT32_MAX;

  void RunThread(size_t thread);
  void Leave(int64_t start_ns);
  void PushFrame(uint32_t range, std::string_view text, bool python);
  void AddCall(size_t call, size_t first);
  uint32_t BaseOf(size_t call, uint32_t parent) const;
  uint32_t WithRecorded(uint32_t base, size_t call, uint32_t parent);
  Extended Extend(uint32_t base, StringId stack, StringId around);

  const parse::Joined& joined_;
  const Trace& trace_;
  const parse::CallTree& calls_;
  Options options_;
  PathTree& tree_;
  std::vector<uint32_t> paths_;   // By call.
  std::vector<StringId> stacks_;  // By call: recorded stack, as far as in its path.
  std::vector<Item> items_;
  std::vector<Recorded> recorded_;
  IdMap extended_of_;  // By path and recorded stack.
  std::vector<Extended> extended_;
  std::vector<uint32_t> text_of_;  // By a frame's StringId: its number + 1.
};

}  // namespace oplens::prof

#endif  // OPLENS_PROF_RUN_CALL_STACKS_H_

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

/// The call stack that was recorded with a range, as a text for parse::RangeTexts; 0: none.
StringId RecordedStackOf(const parse::Joined& joined, uint32_t range);

/// By what each call of a run was reached, as paths: Python's frames of the user and the operators
/// around it, as they nest:
///
///     |- train.py:10 ----------------------|
///        |- aten::linear ---------------|        train.py:10, aten::linear
///           |- hook.py:3 ------------|
///              |- aten::addmm ----|              train.py:10, aten::linear, hook.py:3, aten::addmm
///
/// Where no frames are recorded, but a call stack with an operator: in front of each call what its
/// stack has beyond that of the call around it; nothing where the two do not begin alike.
///
/// O(R log R) for R ranges; 4 bytes a call and, while it is made, 4 more.
class CallStacks {
 public:
  /// What paths are made of.
  struct Options {
    /// By call, the number of its name for the tree; empty: paths are of frames only, all of them.
    std::span<const uint32_t> names = {};
    uint32_t front = PathTree::kRoot;       ///< What all paths begin with.
    std::span<const uint32_t> fronts = {};  ///< By call: instead, where nothing is around it.
    ModuleNames* modules = nullptr;         ///< Calls of modules are frames, too.
  };

  /// All must outlive this object.
  CallStacks(const parse::Joined& joined, const parse::CallTree& calls, const Options& options,
             PathTree* tree);

  /// Of a call, by its place in CallTree::all(); Options::front where there is nothing.
  uint32_t PathOf(size_t call) const { return paths_[call]; }

 private:
  /// Something that is around what follows.
  struct Item {
    int64_t end_ns;
    uint32_t range;
    uint32_t path;
    uint32_t frame;  // The place of the innermost frame so far; kNone.
    bool python;     // A frame of Python is among those so far.
  };
  struct Recorded {
    int64_t end_ns;
    StringId stack;
  };
  /// A path with frames behind it.
  struct Extended {
    uint32_t path;
    bool extends;  // The stack begins as that of the call around.
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
  std::vector<StringId> stacks_;  // By call: recorded, as far as its path has them.
  std::vector<Item> items_;
  std::vector<Recorded> recorded_;
  IdMap extended_of_;  // By path and recorded stack.
  std::vector<Extended> extended_;
  std::vector<uint32_t> text_of_;  // By StringId of a frame: one more than its number.
};

}  // namespace oplens::prof

#endif  // OPLENS_PROF_RUN_CALL_STACKS_H_

#ifndef OPLENS_PARSE_READERS_NSYS_NSYS_CALLS_H_
#define OPLENS_PARSE_READERS_NSYS_NSYS_CALLS_H_

#include <cstdint>
#include <string_view>
#include <vector>

#include "base/id_map.h"
#include "parse/readers/common/other_calls.h"
#include "parse/readers/nsys/nsys_context.h"

namespace oplens::parse {

/// Names a call as its documentation does: without the ABI suffix of the CUDA version that
/// introduced it ("cudaLaunchKernel_v7000"). "_v2" and the like stay, they are other functions.
std::string_view StripAbiSuffix(std::string_view api);

/// Finds the API calls that GPU work came from. Correlation ids start again in every process, so
/// the process is part of the key; work that does not say its process fits where there is only one.
class NsysCalls {
 public:
  /// One call that work refers to, or kNone.
  using Key = int64_t;
  static constexpr Key kNone = -1;

  explicit NsysCalls(NsysContext* context) : context_(*context) {}

  /// Notes that work refers to the call `correlation` of the process `global_pid`, as cells of its
  /// row. kNone when the correlation id is no id.
  Key Want(const Cell& correlation, const Cell& global_pid);
  /// Keeps the wanted calls in Trace::launches; counts broken and repeated rows.
  void Read();
  /// The call, kNoLaunch when it is not in the file. After Read.
  LaunchIndex Find(Key key) const;
  /// Puts the calls that nothing refers to behind all others, where they are asked for.
  void PlaceOthers();

 private:
  static Key KeyOf(uint32_t process, int64_t correlation_id);
  void ReadCall(int64_t row_id, const Cell* row);
  void Keep(Key key, LaunchCall call, int64_t global_tid);
  void CountRepeats();
  StringId ApiOf(const Cell& name);

  NsysContext& context_;
  IdMap wanted_;  // Key -> index into launches_
  std::vector<LaunchIndex> launches_;
  bool any_process_wanted_ = false;
  uint32_t process_ = 0;  // Of the calls; 0 before the first.
  bool several_processes_ = false;
  std::vector<Key> calls_;    // Of all rows that are calls.
  std::vector<Key> repeats_;  // Of rows of another class.
  bool ascending_ = true;
  IdMap apis_;  // nameId -> StringId
  OtherCalls others_{context_.needs, context_.trace.strings};
};

}  // namespace oplens::parse

#endif  // OPLENS_PARSE_READERS_NSYS_NSYS_CALLS_H_

#ifndef OPLENS_PARSE_READERS_NSYS_NSYS_CALLS_H_
#define OPLENS_PARSE_READERS_NSYS_NSYS_CALLS_H_

#include <cstdint>
#include <string_view>
#include <vector>

#include "base/id_map.h"
#include "base/id_pages.h"
#include "parse/readers/common/other_calls.h"
#include "parse/readers/nsys/nsys_context.h"

namespace oplens::parse {

/// Returns the documented name of a call: without the ABI suffix of the CUDA version that
/// introduced it ("cudaLaunchKernel_v7000"). Keeps "_v2" and the like, which are other functions.
std::string_view StripAbiSuffix(std::string_view api);

/// Finds the API calls that launched GPU work. The key includes the process, because correlation
/// ids are per process; work of unknown process matches if there is only one.
class NsysCalls {
 public:
  using Key = int64_t;  ///< One call that work refers to, or kNone.
  static constexpr Key kNone = -1;

  explicit NsysCalls(NsysContext* context) : context_(*context) {}

  /// Requests the call `correlation` of the process `global_pid`, as cells of the work's row.
  /// Returns kNone if the correlation id is invalid.
  Key Want(const Cell& correlation, const Cell& global_pid);
  /// Keeps the requested calls in Trace::launches; counts broken and repeated rows.
  void Read();
  /// Returns the call, kNoLaunch if it is not in the file. Call after Read.
  LaunchIndex Find(Key key) const;
  /// Appends the calls that nothing refers to, if needed.
  void PlaceOthers();

 private:
  static Key KeyOf(uint32_t process, int64_t correlation_id);
  void ReadCall(int64_t row_id, const Cell* row);
  void Keep(Key key, LaunchCall call, int64_t global_tid);
  void CountRepeats();
  StringId ApiOf(const Cell& name);

  NsysContext& context_;
  IdPages wanted_;  // Key -> index into launches_
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

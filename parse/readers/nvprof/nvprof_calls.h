#ifndef OPLENS_PARSE_READERS_NVPROF_NVPROF_CALLS_H_
#define OPLENS_PARSE_READERS_NVPROF_NVPROF_CALLS_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/id_map.h"
#include "base/id_pages.h"
#include "parse/readers/common/other_calls.h"
#include "parse/readers/nvprof/nvprof_context.h"

namespace oplens::parse {

/// Finds the API calls that are referred to, by correlation id.
class NvprofCalls {
 public:
  explicit NvprofCalls(NvprofContext* context) : context_(*context) {}

  void Want(int64_t correlation_id) {
    if (wanted_.FindOrInsert(correlation_id, static_cast<uint32_t>(launch_of_requested_.size())) ==
        launch_of_requested_.size()) {
      launch_of_requested_.push_back(kNoLaunch);
    }
  }
  /// Keeps the requested calls in Trace::launches; counts broken and repeated rows.
  void Read();
  /// Returns the call, kNoLaunch if it is not in the file. Call after Read.
  LaunchIndex Find(int64_t correlation_id) const {
    IdPages::Last last;
    return Find(correlation_id, &last);
  }
  /// For many, by several threads at once, each with a `last` of its own.
  LaunchIndex Find(int64_t correlation_id, IdPages::Last* last) const {
    const uint32_t wanted =
        correlation_id == kUnknownId ? IdPages::kNone : wanted_.Find(correlation_id, last);
    return wanted == IdPages::kNone ? kNoLaunch : launch_of_requested_[wanted];
  }
  /// Forgets which calls were requested: call after the last Find(). Up to 100 bytes per call.
  void ForgetRequests();
  /// Appends the calls that nothing refers to, if needed.
  void PlaceOthers();

 private:
  using NameOf = std::string (*)(int64_t callback_id);

  void ReadTable(std::string_view table, NameOf name_of);
  void Keep(LaunchIndex first_of_table, LaunchCall call, int64_t thread, LaunchIndex* launch);
  StringId ApiName(int64_t callback_id, NameOf name_of, IdMap* known);

  NvprofContext& context_;
  IdPages wanted_;  // correlation id -> index into launch_of_requested_
  std::vector<LaunchIndex> launch_of_requested_;
  OtherCalls others_{context_.needs, context_.trace.strings};
};

}  // namespace oplens::parse

#endif  // OPLENS_PARSE_READERS_NVPROF_NVPROF_CALLS_H_

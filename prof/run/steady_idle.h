#ifndef OPLENS_PROF_RUN_STEADY_IDLE_H_
#define OPLENS_PROF_RUN_STEADY_IDLE_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "prof/run/call_sites.h"
#include "prof/run/device_times.h"
#include "prof/run/idle_gaps.h"
#include "prof/run/interval_set.h"
#include "prof/verdicts/root_cause.h"

namespace oplens {
struct Kernel;
}  // namespace oplens

namespace oplens::prof {

/// The part of a run that verdicts and advice are about: its steady steps; all of its steps if none
/// is steady; what is selected of it if it has no steps.
struct SteadyTime {
  bool of_run = true;             ///< It has no steps.
  std::vector<Interval> windows;  ///< Ascending and disjoint.
  std::vector<bool> counts;       ///< By step of Steps::all(): whether it is one of these.

  explicit SteadyTime(const Run& run);
  bool Holds(const Run& run, const Kernel& kernel, uint32_t index) const;
};

/// Idle time of one group of causes, by what it is about: keeps the longest parts.
class IdleSubjects {
 public:
  void Add(const Trace& trace, const IdlePart& part);
  /// What most of the time is about, and where the host was during most of that.
  RootSubject Find(const Run& run) const;
  /// The longest part; 0: there is none.
  int64_t longest_ns() const { return longest_ns_; }

 private:
  static constexpr uint64_t kNoCall = UINT64_MAX;
  static constexpr size_t kMostParts = 1024;
  using Part = std::pair<int64_t, IdlePart>;
  struct Sums {
    int64_t time_ns = 0;
    int64_t count = 0;
    LaunchIndex last_call = kNoLaunch;
    std::vector<Part> longest;  // A heap: the shortest is in front.
  };

  static bool IsLonger(const Part& a, const Part& b);
  static uint64_t SubjectOf(const Trace& trace, const IdlePart& part);
  static int64_t CountIn(std::string_view op, const CallSites& sites,
                         const std::vector<CallSite>& found, const std::vector<LaunchIndex>& calls,
                         const Sums& sums);
  static std::string MostOf(const CallSites& sites, const std::vector<CallSite>& found,
                            const std::vector<int64_t>& lengths_ns, int64_t all_ns,
                            uint32_t CallSite::*text, int64_t* most_ns);

  std::map<uint64_t, Sums> calls_;
  int64_t longest_ns_ = 0;
};

/// A gap before work that the host launched late, or that was held back.
struct LateWork {
  int64_t start_ns = 0;   ///< Of the gap;
  int64_t end_ns = 0;     ///< the end, too.
  int64_t launch_ns = 0;  ///< By cause; with host-op and python, SteadyIdle::HostNs.
  int64_t sync_ns = 0;
  int64_t queued_ns = 0;
  uint32_t event = 0;            ///< The work that ends it: of the run's device_work().
  uint32_t first_part : 31 = 0;  ///< In SteadyIdle::host_parts.
  uint32_t begins : 1 = 0;       ///< It begins a window: no work of the step came before.
};
// A run may have one for each kernel.
static_assert(sizeof(LateWork) == 48);

/// Why no GPU of a rank worked in its steady time, from one walk over the gaps. O(log n) for an
/// item of work; 48 bytes for each late one, and 16 for each part of its time.
struct SteadyIdle {
  explicit SteadyIdle(const Run& run);

  SteadyTime time;
  int64_t total_ns = 0;                       ///< Length of the windows, without the next two.
  int64_t cold_ns = 0;                        ///< Of a run without steps: cause kColdStart;
  int64_t end_ns = 0;                         ///< and kTail. Neither is in `ns`.
  std::array<int64_t, kIdleCauseCount> ns{};  ///< By cause.
  ClassTimes busy;                            ///< What ran at once.
  std::array<IdleSubjects, kIdleGroupCount> groups;
  std::vector<LateWork> late;        ///< By time.
  std::vector<Interval> host_parts;  ///< By time, disjoint: see HostPartsOf.
  std::vector<IdlePart> call_parts;  ///< By time: causes kApiCall, kPageableCopy, kModuleLoad.

  /// The time of causes launch, host-op and python of one of `late`,
  std::span<const Interval> HostPartsOf(size_t i) const {
    const size_t end = i + 1 < late.size() ? late[i + 1].first_part : host_parts.size();
    return std::span(host_parts).subspan(late[i].first_part, end - late[i].first_part);
  }
  int64_t HostNs(size_t i) const;  ///< and how much it is.
};

}  // namespace oplens::prof

#endif  // OPLENS_PROF_RUN_STEADY_IDLE_H_

#ifndef OPLENS_PROF_PATH_STEP_GRAPH_H_
#define OPLENS_PROF_PATH_STEP_GRAPH_H_

#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "prof/path/moment_graph.h"
#include "prof/run/host_moments.h"
#include "prof/run/stream_order.h"

namespace oplens::prof {

class Run;
struct Step;

/// The dependencies between moments of a rank, one step after the other.
///
/// Of a moment's dependencies, the one satisfied last binds it: its edge has all the time until the
/// moment, the others only the time that they take by themselves (work its length; waits and queues
/// none). So each node's distance from the start of the step is as measured. No edge goes back in
/// time: recorded dependencies that would are left out and counted.
///
/// Nodes: 0 is the start of the step; then moments of threads, thread by thread; then work; the
/// last is the end of the step. O(log n) per moment and item of work.
class StepGraph {
 public:
  static constexpr uint32_t kNone = UINT32_MAX;

  /// `run` must outlive this object.
  explicit StepGraph(const Run& run);

  /// Builds the graph of the next step; call in the order of steps.
  void Build(const Step& step, size_t place);

  const MomentGraph& graph() const { return graph_; }
  const HostMoments& moments() const { return moments_; }
  /// Dependencies of this step left out, since they would go back in time.
  int64_t backward() const { return backward_; }
  uint32_t end_node() const { return static_cast<uint32_t>(graph_.size() - 1); }

  /// Time of a node, within the step.
  int64_t TimeOf(uint32_t node) const;
  /// The moment of a node; null: it has none.
  const HostMoment* MomentOf(uint32_t node) const;
  ThreadIndex ThreadOf(uint32_t node) const;
  /// Index in Run::device_work().events() of a node's work; kNone: it has none.
  uint32_t EventOf(uint32_t node) const {
    const size_t place = size_t{node} - first_work_;
    return node < first_work_ || place >= events_.size() ? kNone : events_[place];
  }
  /// Start of a node's work, at least the start of the step.
  int64_t StartOf(uint32_t node) const;
  /// The thread that runs until the end of the step, and its end, if known.
  ThreadIndex main_thread() const { return main_thread_; }
  int64_t main_end_ns() const { return main_end_ns_; }

 private:
  struct Part {
    size_t step = 0;
    ThreadIndex thread = 0;
    uint32_t first = 0;  ///< Index in HostMoments::all().
    uint32_t count = 0;
    uint32_t node = 0;  ///< Of the first, during its step.
  };
  /// A possible dependency of a moment.
  struct Source {
    uint32_t node = 0;
    int64_t time_ns = 0;
    PathLink link = PathLink::kStart;
  };
  /// The last work of a stream so far.
  struct Last {
    uint32_t event = kNone;
    uint32_t node = kNone;  ///< In step `step`.
    size_t step = SIZE_MAX;
  };

  void FindParts();
  void FindStreamWaits();
  ThreadIndex ThreadWithMostRanges() const;

  void TakeEvents();
  void TakeParts();
  void AddMoments(const Part& part);
  void AddMoment(const HostMoment& moment, uint32_t previous);
  void AddWait(const HostWait& wait, int64_t end_ns, uint32_t previous);
  void AddAwaited(std::span<const uint32_t> awaited, LaunchIndex call, int64_t end_ns,
                  uint32_t previous);
  void ListAwaited(const HostWait& wait, int64_t end_ns);
  void AddWork(uint32_t event);
  void AddSources(uint32_t event, const DeviceEvent& work, int64_t start_ns);
  void AddInferred(uint32_t event, const DeviceEvent& work, int64_t start_ns);
  void AddEnd();

  uint32_t NodeOfMoment(uint32_t moment) const;
  uint32_t NodeOfEvent(uint32_t event) const;
  int64_t Clipped(int64_t time_ns) const;

  const Run& run_;
  const Trace& trace_;
  const DeviceWork& work_;
  const StreamOrder& streams_;
  const HostMoments& moments_;
  std::vector<Part> parts_;                                  // By step, then thread.
  std::vector<std::pair<uint32_t, uint32_t>> stream_waits_;  // Work and its dependency.
  bool waits_recorded_ = false;  // The file records streams' waits for events.
  ThreadIndex most_ranges_ = kNoThread;

  // Of the current step.
  MomentGraph graph_;
  size_t place_ = 0;
  Interval span_;
  Interval host_;
  size_t next_event_ = 0;
  size_t next_part_ = 0;
  std::span<Part> step_parts_;
  std::vector<uint32_t> events_;
  uint32_t first_work_ = 0;
  int64_t backward_ = 0;
  ThreadIndex main_thread_ = kNoThread;
  int64_t main_end_ns_ = 0;
  std::vector<uint32_t> running_;  // Work that runs beyond the step.
  std::vector<Last> last_;         // By stream.
  std::vector<uint32_t> touched_;  // Streams with work in the step.
  std::vector<Source> sources_;
  std::vector<uint32_t> awaited_;
};

}  // namespace oplens::prof

#endif  // OPLENS_PROF_PATH_STEP_GRAPH_H_

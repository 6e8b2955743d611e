#ifndef OPLENS_PARSE_CHROME_CHROME_COUNTERS_H_
#define OPLENS_PARSE_CHROME_CHROME_COUNTERS_H_

#include <cstdint>
#include <map>
#include <string_view>
#include <utility>
#include <vector>

#include "parse/chrome/chrome_event.h"
#include "parse/chrome/chrome_tracks.h"
#include "parse/model/trace.h"

namespace oplens::parse {

/// The numbers over time of one profile: per GPU the running kernels and the launched but
/// unfinished kernels; memory, if the profile has its events.
class ChromeCounters {
 public:
  ChromeCounters(const Trace& trace, ChromeEvents* events, ChromeTracks* tracks)
      : trace_(trace), events_(events), tracks_(*tracks) {}

  /// `process_id` is the host process. Ignores a kernel that ends before it starts.
  void CountKernel(int64_t process_id, const Kernel& kernel);
  void Write();

 private:
  struct Counter {
    struct Change {
      int64_t time_ns;
      int64_t by;
    };
    std::vector<Change> changes;

    void Span(int64_t start_ns, int64_t end_ns) {
      changes.push_back({start_ns, 1});
      changes.push_back({end_ns, -1});
    }
  };
  struct DeviceCounters {
    Counter running;
    Counter queued;
  };

  void WriteCounter(std::string_view name, ChromeTrack track, Counter* counter);
  void WriteMemory();
  void WriteMemoryEvent(const MemoryEvent& event);
  ChromeTrack MemoryTrack(const MemoryEvent& event);

  const Trace& trace_;
  ChromeEvents* events_;
  ChromeTracks& tracks_;
  std::map<std::pair<int64_t, int32_t>, DeviceCounters> devices_;  // By process and device.
};

}  // namespace oplens::parse

#endif  // OPLENS_PARSE_CHROME_CHROME_COUNTERS_H_

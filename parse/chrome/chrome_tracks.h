#ifndef OPLENS_PARSE_CHROME_CHROME_TRACKS_H_
#define OPLENS_PARSE_CHROME_CHROME_TRACKS_H_

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "parse/chrome/chrome_event.h"
#include "parse/model/trace.h"

namespace oplens::parse {

/// Assigns numbers to the processes, threads, GPUs and streams of a document of several profiles,
/// and names each at its first use.
///
/// A host process keeps its id, unless an earlier profile of the document has it; such processes
/// and GPUs (one per host process that uses them) get ids from kFirstFreePid on. Threads and
/// streams keep their ids if they fit into 32 unsigned bits, the limit of viewers.
class ChromeTracks {
 public:
  static constexpr int64_t kFirstFreePid = 1'000'000'000;  ///< Above every id of a real system.

  explicit ChromeTracks(ChromeEvents* events) : events_(*events) {}

  /// Begins a profile and ends the one before. `trace` must outlive the calls below.
  void BeginProfile(const Trace& trace);

  ChromeTrack OfThread(ThreadIndex thread);
  /// `process_id` is the host process that uses the GPU; kUnknownId if unknown.
  ChromeTrack OfStream(int64_t process_id, int64_t device_id, int64_t stream_id);
  /// For waits whose thread is unknown.
  ChromeTrack OfWaits();
  /// For what belongs to a whole GPU, such as counters.
  ChromeTrack OfDevice(int64_t process_id, int64_t device_id);

 private:
  int64_t HostPid(int64_t process_id);
  int64_t DevicePid(int64_t process_id, int64_t device_id);
  int64_t FreePid();
  int64_t Tid(int64_t pid, int64_t wanted);
  void NameProcess(int64_t pid, std::string_view name);
  void NameThread(ChromeTrack track, std::string_view name);
  std::string ProcessName(int64_t process_id) const;
  std::string DeviceName(int64_t device_id) const;

  ChromeEvents& events_;
  const Trace* trace_ = nullptr;
  int64_t only_process_id_ = kUnknownId;  // Of the profile, if it has only one.
  int64_t next_pid_ = kFirstFreePid;
  int64_t next_sort_index_ = 0;
  std::set<int64_t> pids_;  // Host processes of the document.
  // Of this profile:
  ChromeTrack waits_ = {-1, 0};
  std::map<int64_t, int64_t> host_pids_;
  std::map<std::pair<int64_t, int64_t>, int64_t> device_pids_;
  std::map<std::pair<int64_t, int64_t>, ChromeTrack> streams_;  // By pid and stream.
  std::set<std::pair<int64_t, int64_t>> tids_;
  std::vector<ChromeTrack> threads_;  // By ThreadIndex; pid -1: not used yet.
};

}  // namespace oplens::parse

#endif  // OPLENS_PARSE_CHROME_CHROME_TRACKS_H_

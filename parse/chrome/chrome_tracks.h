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

/// Gives processes and threads, GPUs and streams their numbers in a document of several profiles,
/// and names each where it first occurs.
///
/// A host process keeps its id, unless an earlier profile of the document has one of that id; GPUs
/// (one a host process that uses them) and such processes get ids from kFirstFreePid on. Threads
/// and streams keep theirs where it fits into 32 bits without a sign, which is what viewers take.
class ChromeTracks {
 public:
  static constexpr int64_t kFirstFreePid = 1'000'000'000;  ///< Above every id of a real system.

  explicit ChromeTracks(ChromeEvents* events) : events_(*events) {}

  /// Begins a profile: tracks of those before are not asked for any more. `trace` must live as long
  /// as tracks are asked for.
  void BeginProfile(const Trace& trace);

  ChromeTrack OfThread(ThreadIndex thread);
  /// `process_id` is the host process that uses the GPU; kUnknownId when nothing says it.
  ChromeTrack OfStream(int64_t process_id, int64_t device_id, int64_t stream_id);
  /// For waits whose thread is not known.
  ChromeTrack OfWaits();
  /// For what belongs to a GPU as a whole, such as counters.
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
  int64_t only_process_id_ = kUnknownId;  // Of the profile, when it has one.
  int64_t next_pid_ = kFirstFreePid;
  int64_t next_sort_index_ = 0;
  std::set<int64_t> pids_;  // Host processes of the document.
  // Of this profile:
  ChromeTrack waits_ = {-1, 0};
  std::map<int64_t, int64_t> host_pids_;
  std::map<std::pair<int64_t, int64_t>, int64_t> device_pids_;
  std::map<std::pair<int64_t, int64_t>, ChromeTrack> streams_;  // By pid and stream.
  std::set<std::pair<int64_t, int64_t>> tids_;
  std::vector<ChromeTrack> threads_;  // By ThreadIndex; pid -1 when not asked for yet.
};

}  // namespace oplens::parse

#endif  // OPLENS_PARSE_CHROME_CHROME_TRACKS_H_

#include "parse/chrome/chrome_tracks.h"

#include <fmt/format.h>

#include <algorithm>

#include "parse/model/trace_devices.h"

namespace oplens::parse {

void ChromeTracks::BeginProfile(const Trace& trace) {
  trace_ = &trace;
  host_pids_.clear();
  device_pids_.clear();
  streams_.clear();
  tids_.clear();
  waits_ = {-1, 0};
  threads_.assign(trace.threads.size(), {-1, 0});
  only_process_id_ = kUnknownId;
  for (const Thread& thread : trace.threads) {
    if (only_process_id_ != kUnknownId && only_process_id_ != thread.process_id) {
      only_process_id_ = kUnknownId;
      return;
    }
    only_process_id_ = thread.process_id;
  }
}

ChromeTrack ChromeTracks::OfThread(ThreadIndex index) {
  if (index >= threads_.size()) return {HostPid(only_process_id_), 0};
  ChromeTrack& track = threads_[index];
  if (track.pid >= 0) return track;
  const Thread& thread = trace_->threads[index];
  track.pid = HostPid(thread.process_id);
  track.tid = Tid(track.pid, thread.thread_id);
  const std::string_view name = trace_->strings.View(thread.name);
  NameThread(track, name.empty() ? fmt::format("thread {}", thread.thread_id)
                                 : fmt::format("{} (thread {})", name, thread.thread_id));
  return track;
}

ChromeTrack ChromeTracks::OfStream(int64_t process_id, int64_t device_id, int64_t stream_id) {
  const int64_t pid = DevicePid(process_id, device_id);
  const auto [place, is_new] = streams_.try_emplace({pid, stream_id});
  if (is_new) {
    place->second = {pid, Tid(pid, stream_id)};
    NameThread(place->second, fmt::format("stream {}", stream_id));
  }
  return place->second;
}

ChromeTrack ChromeTracks::OfWaits() {
  if (waits_.pid >= 0) return waits_;
  waits_.pid = HostPid(only_process_id_);
  waits_.tid = Tid(waits_.pid, 0);
  NameThread(waits_, "waits");
  return waits_;
}

ChromeTrack ChromeTracks::OfDevice(int64_t process_id, int64_t device_id) {
  return {DevicePid(process_id, device_id), 0};
}

int64_t ChromeTracks::HostPid(int64_t process_id) {
  const auto [place, is_new] = host_pids_.try_emplace(process_id);
  if (!is_new) return place->second;
  const bool keeps =
      process_id >= 0 && process_id < kFirstFreePid && pids_.insert(process_id).second;
  place->second = keeps ? process_id : FreePid();
  NameProcess(place->second, ProcessName(process_id));
  return place->second;
}

int64_t ChromeTracks::DevicePid(int64_t process_id, int64_t device_id) {
  if (process_id == kUnknownId) process_id = only_process_id_;
  const auto [place, is_new] = device_pids_.try_emplace({process_id, device_id});
  if (!is_new) return place->second;
  place->second = FreePid();
  std::string name = DeviceName(device_id);
  if (only_process_id_ == kUnknownId && process_id != kUnknownId) {
    name += fmt::format(" of process {}", process_id);
  }
  NameProcess(place->second, name);
  return place->second;
}

int64_t ChromeTracks::FreePid() { return next_pid_++; }

int64_t ChromeTracks::Tid(int64_t pid, int64_t wanted) {
  if (wanted >= 0 && wanted <= UINT32_MAX && tids_.emplace(pid, wanted).second) return wanted;
  int64_t tid = UINT32_MAX;
  while (!tids_.emplace(pid, tid).second) --tid;
  return tid;
}

void ChromeTracks::NameProcess(int64_t pid, std::string_view name) {
  std::string whole(name);
  if (trace_->rank_name != 0) {
    whole += fmt::format(" (rank {})", trace_->strings.View(trace_->rank_name));
  }
  ChromeEvent('M', "", "process_name", {pid, 0}, &events_).Arg("name", whole).End();
  ChromeEvent('M', "", "process_sort_index", {pid, 0}, &events_)
      .Arg("sort_index", next_sort_index_++)
      .End();
}

void ChromeTracks::NameThread(ChromeTrack track, std::string_view name) {
  ChromeEvent('M', "", "thread_name", track, &events_).Arg("name", name).End();
  ChromeEvent('M', "", "thread_sort_index", track, &events_)
      .Arg("sort_index", std::min<int64_t>(track.tid, INT32_MAX))
      .End();
}

std::string ChromeTracks::ProcessName(int64_t process_id) const {
  for (const Process& process : trace_->processes) {
    if (process.id == process_id && process.name != 0) {
      return std::string(trace_->strings.View(process.name));
    }
  }
  return process_id == kUnknownId ? "process" : fmt::format("process {}", process_id);
}

std::string ChromeTracks::DeviceName(int64_t device_id) const {
  const DeviceMatch match = FindDevice(*trace_, device_id);
  if (match.device == nullptr || match.device->name == 0) return fmt::format("GPU {}", device_id);
  return fmt::format("GPU {} {}{}", device_id, match.taken ? "taken for " : "",
                     trace_->strings.View(match.device->name));
}

}  // namespace oplens::parse

#include "parse/readers/kineto/kineto_device.h"

#include <algorithm>
#include <cstdint>
#include <span>
#include <string_view>
#include <tuple>

#include "parse/model/cuda_kinds.h"
#include "parse/model/trace.h"
#include "parse/readers/common/event_records.h"
#include "parse/readers/kineto/kineto_communication.h"
#include "parse/readers/kineto/kineto_work.h"

namespace oplens::parse {
namespace {

using simdjson::dom::element;
using simdjson::dom::key_value_pair;

bool IsGraphLaunch(std::string_view api) {
  return api.find("GraphLaunch") != std::string_view::npos;
}

/// cudaLaunchKernel, hipExtModuleLaunchKernel, cuLaunchKernelEx, cudaLaunchCooperativeKernel, ...
bool IsKernelLaunch(std::string_view api) {
  const size_t launch = api.find("Launch");
  return launch != std::string_view::npos && api.find("Kernel", launch) != std::string_view::npos;
}

/// Whether the grid of this call counts work-items, as in OpenCL: hipExtModuleLaunchKernel takes
/// globalWorkSize where hipModuleLaunchKernel takes blocks.
bool TakesWorkItems(std::string_view api) {
  return api == "hipExtModuleLaunchKernel" || api == "hipHccModuleLaunchKernel";
}

/// Whether a call puts work on a stream: kernels, a graph, a copy or a memset.
bool SubmitsWork(std::string_view api) {
  for (const std::string_view verb : {"Launch", "Memcpy", "Memset"}) {
    if (api.find(verb) != std::string_view::npos) return true;
  }
  return false;
}

/// 0 means none: the profilers number calls from 1.
void TakeCorrelation(element value, int64_t* correlation_id) {
  if (TakeInt(value, correlation_id) && *correlation_id == 0) *correlation_id = kUnknownId;
}

bool IsExternalId(std::string_view key) { return Is(key, "External id") || Is(key, "external id"); }

constexpr auto kUnknown32 = static_cast<int32_t>(kUnknownId);

/// Of items with external ids, those whose id no other has.
template <typename Item>
class UniqueIds {
 public:
  explicit UniqueIds(const std::vector<Item>& items) : repeated_(items.size(), false) {
    for (size_t i = 0; i < items.size(); ++i) {
      const uint32_t first = places_.FindOrInsert(items[i].external_id, static_cast<uint32_t>(i));
      if (first != i) repeated_[first] = true;
    }
  }

  /// Returns the place of the only item with that id, IdMap::kNone without one.
  uint32_t Find(int64_t external_id) const {
    const uint32_t place = places_.Find(external_id);
    return place == IdMap::kNone || repeated_[place] ? IdMap::kNone : place;
  }

 private:
  IdMap places_;
  std::vector<bool> repeated_;
};

}  // namespace

void KinetoDevice::CallDetails::FillSizes(KernelShape* to) const {
  if (to->grid[0] < 0) std::copy_n(grid, 3, to->grid);
  if (to->block[0] < 0) std::copy_n(block, 3, to->block);
  // Kineto copies the call's grid into the kernel.
  if (!work_items || !std::equal(grid, grid + 3, to->grid)) return;
  for (size_t i = 0; i < 3; ++i) {
    const int32_t threads = to->block[i];
    if (to->grid[i] <= 0 || threads <= 0) continue;
    to->grid[i] = (to->grid[i] - 1) / threads + 1;
  }
}

void KinetoDevice::ReadCall(const KinetoEvent& event, bool driver) {
  CallDetails details;
  int64_t external_id = kUnknownId;
  const bool captures = wants_captures();
  if (event.has_args) {
    for (const key_value_pair arg : event.args) {
      if (Is(arg.key, "correlation")) {
        TakeCorrelation(arg.value, &details.correlation_id);
      } else if (IsExternalId(arg.key)) {
        TakeInt(arg.value, &external_id);
      } else if (Is(arg.key, "grid") || Is(arg.key, "grid dim")) {
        TakeTriple(arg.value, &details.grid);
      } else if (Is(arg.key, "block") || Is(arg.key, "block dim")) {
        TakeTriple(arg.value, &details.block);
      } else if (Is(arg.key, "shared memory")) {
        TakeInt(arg.value, &details.shared_memory_bytes);
      } else if (Is(arg.key, "size") || Is(arg.key, "bytes")) {
        TakeInt(arg.value, &details.size_bytes);
      } else if (captures && Is(arg.key, "kernel")) {
        details.kernel = trace_.strings.Intern(TextOf(arg.value));
      }
    }
  }
  details.work_items = TakesWorkItems(event.name);
  const bool numbered = details.correlation_id != kUnknownId;
  numbered_ |= numbered;
  if (!numbered && IsKernelLaunch(event.name)) ++unnumbered_count_;
  // Nothing can refer to a call without an id.
  if (!numbered && external_id == kUnknownId && !others_.wanted()) return;
  KinetoTimes times;
  if (!context_.TimesOf(event, Reason::kBadLaunchRow, Reason::kBadLaunchTimes, &times)) return;
  trace_.launches.push_back({times.start_ns, times.end_ns, details.correlation_id,
                             context_.ThreadOf(event), trace_.strings.Intern(event.name)});
  driver_.push_back(driver);
  if (captures && event.name.find("StreamBeginCapture") != std::string_view::npos) {
    capture_edges_.push_back({times.end_ns, true});
  } else if (captures && event.name.find("StreamEndCapture") != std::string_view::npos) {
    capture_edges_.push_back({times.start_ns, false});
  }
  if (!numbered) {
    if (external_id != kUnknownId) {
      const auto call = static_cast<LaunchIndex>(trace_.launches.size() - 1);
      unnumbered_calls_.push_back({call, external_id, details});
    }
  } else if (details.any() || details.kernel != 0) {
    details_.push_back(details);
  }
}

void KinetoDevice::NoteNumbers(WorkKind kind, size_t index, int64_t correlation_id,
                               int64_t external_id) {
  if (correlation_id != kUnknownId) {
    numbered_ = true;
  } else if (external_id != kUnknownId) {
    unnumbered_work_.push_back({kind, index, external_id});
  }
}

void KinetoDevice::PlaceOf(const KinetoEvent& event, int32_t* device_id, int32_t* stream_id) {
  constexpr std::string_view kStream = "stream ";
  if (*device_id == kUnknown32 && event.has_process) TakeInt(event.process, device_id);
  if (*stream_id != kUnknown32 || !event.has_thread) return;
  std::string_view text = TextOf(event.thread);
  if (!text.starts_with(kStream)) {
    TakeInt(event.thread, stream_id);
    return;
  }
  text.remove_prefix(kStream.size());
  int32_t number = 0;
  for (const char c : text) {
    if (c < '0' || c > '9' || number > 99'999'999) return;
    number = number * 10 + (c - '0');
  }
  if (!text.empty()) *stream_id = number;
}

void KinetoDevice::ReadKernelArguments(const KinetoEvent& event, Kernel* kernel) {
  Communication communication;
  KernelShape shape = KernelShape::Unknown();
  KernelDetails details;
  int64_t external_id = kUnknownId;
  bool good = true;
  for (const key_value_pair arg : event.args) {
    if (TakeKernelNumber(arg, kernel, &shape, &details, &good)) continue;
    if (Is(arg.key, "correlation")) {
      TakeCorrelation(arg.value, &kernel->correlation_id);
    } else if (IsExternalId(arg.key)) {
      TakeInt(arg.value, &external_id);
    } else if (Is(arg.key, "stream")) {
      TakeInt(arg.value, &kernel->stream_id);
    } else if (Is(arg.key, "grid")) {
      good &= TakeTriple(arg.value, &shape.grid);
    } else if (Is(arg.key, "block")) {
      good &= TakeTriple(arg.value, &shape.block);
    } else {
      TakeCommunication(arg.key, arg.value, &trace_.strings, &communication);
    }
  }
  if (!good) {
    kernel->bad_row = true;
    context_.CountBad(Reason::kBadKernelRow, event);
  }
  if (communication.name != 0) {
    communication.start_ns = kernel->start_ns;
    communication.end_ns = kernel->end_ns;
    details.communication = static_cast<ItemIndex>(trace_.communications.size());
    trace_.communications.push_back(communication);
  }
  kernel->shape = trace_.shapes.Add(shape);
  trace_.SetDetails(details, kernel);
  NoteNumbers(WorkKind::kKernel, trace_.kernels.size(), kernel->correlation_id, external_id);
}

void KinetoDevice::ReadKernel(const KinetoEvent& event) {
  Kernel kernel = UnknownKernel();
  kernel.row_id = event.number;
  KinetoTimes times;
  const bool timed = context_.RawTimesOf(event, &times);
  if (timed) {
    kernel.start_ns = times.start_ns;
    kernel.end_ns = times.end_ns;
  }
  if (event.has_args) {
    ReadKernelArguments(event, &kernel);
  } else {
    kernel.shape = trace_.shapes.Add(KernelShape::Unknown());
  }
  PlaceOf(event, &kernel.device_id, &kernel.stream_id);
  if (!timed && !kernel.bad_row) {
    kernel.bad_row = true;
    context_.CountBad(Reason::kBadKernelRow, event);
  }
  kernel.name = trace_.strings.Intern(event.name);
  if (kernel.name == 0) context_.CountBad(Reason::kUnknownKernelName, event);
  trace_.kernels.push_back(kernel);
}

KinetoDevice::Work KinetoDevice::ReadWork(const KinetoEvent& event) {
  Work work;
  if (event.has_args) {
    for (const key_value_pair arg : event.args) {
      if (Is(arg.key, "correlation")) {
        TakeCorrelation(arg.value, &work.correlation_id);
      } else if (IsExternalId(arg.key)) {
        TakeInt(arg.value, &work.external_id);
      } else if (Is(arg.key, "bytes")) {
        TakeInt(arg.value, &work.size_bytes);
      } else if (Is(arg.key, "device")) {
        TakeInt(arg.value, &work.device_id);
      } else if (Is(arg.key, "context")) {
        TakeInt(arg.value, &work.context_id);
      } else if (Is(arg.key, "stream")) {
        TakeInt(arg.value, &work.stream_id);
        int64_t stream = 0;
        work.of_all_streams = TakeInt(arg.value, &stream) && stream == int64_t{UINT32_MAX};
      }
    }
  }
  PlaceOf(event, &work.device_id, &work.stream_id);
  return work;
}

void KinetoDevice::ReadCopy(const KinetoEvent& event) {
  KinetoTimes times;
  if (!context_.TimesOf(event, Reason::kBadOtherRow, Reason::kBadOtherRow, &times)) return;
  const Work work = ReadWork(event);
  MemoryCopy& copy = trace_.copies.emplace_back();
  copy.start_ns = times.start_ns;
  copy.end_ns = times.end_ns;
  copy.size_bytes = work.size_bytes;
  TakeCopyKinds(event, &copy);
  copy.device_id = work.device_id;
  copy.context_id = work.context_id;
  copy.stream_id = work.stream_id;
  NoteNumbers(WorkKind::kCopy, copy_correlations_.size(), work.correlation_id, work.external_id);
  copy_correlations_.push_back(work.correlation_id);
}

void KinetoDevice::ReadSet(const KinetoEvent& event) {
  KinetoTimes times;
  if (!context_.TimesOf(event, Reason::kBadOtherRow, Reason::kBadOtherRow, &times)) return;
  const Work work = ReadWork(event);
  MemorySet& set = trace_.sets.emplace_back();
  set.start_ns = times.start_ns;
  set.end_ns = times.end_ns;
  set.size_bytes = std::max(work.size_bytes, int64_t{0});
  set.device_id = work.device_id;
  set.context_id = work.context_id;
  set.stream_id = work.stream_id;
  NoteNumbers(WorkKind::kSet, set_correlations_.size(), work.correlation_id, work.external_id);
  set_correlations_.push_back(work.correlation_id);
}

void KinetoDevice::ReadSynchronization(const KinetoEvent& event) {
  KinetoTimes times;
  if (!context_.TimesOf(event, Reason::kBadOtherRow, Reason::kBadOtherRow, &times)) return;
  const Work work = ReadWork(event);
  Synchronization& wait = trace_.synchronizations.emplace_back();
  wait.start_ns = times.start_ns;
  wait.end_ns = times.end_ns;
  wait.kind = WaitKindOf(event.name);
  wait.context_id = work.context_id;
  wait.stream_id = work.stream_id;
  wait.of_all_streams = work.of_all_streams;
  wait_correlations_.push_back(work.correlation_id);
  if (context_.needs.Has(TracePart::kWaitEvents)) {
    TakeWaitedEvent(ReadWaitedEvent(event), work, &wait);
  }
}

KinetoDevice::WaitedEvent KinetoDevice::ReadWaitedEvent(const KinetoEvent& event) {
  WaitedEvent waited;
  if (!event.has_args) return waited;
  for (const key_value_pair arg : event.args) {
    if (Is(arg.key, "wait_on_cuda_event_id")) {
      TakeInt(arg.value, &waited.event_id);
    } else if (Is(arg.key, "wait_on_cuda_event_record_corr_id")) {
      TakeCorrelation(arg.value, &waited.record_correlation_id);
    } else if (Is(arg.key, "wait_on_stream")) {
      TakeInt(arg.value, &waited.stream_id);
    }
  }
  return waited;
}

/// Event records are in the file only as calls; their details are at the waits.
void KinetoDevice::TakeWaitedEvent(const WaitedEvent& event, const Work& work,
                                   Synchronization* wait) {
  const bool known = event.event_id >= 0 && event.event_id < int64_t{kNoEvent};
  if (known) wait->event_id = static_cast<uint32_t>(event.event_id);
  if (event.record_correlation_id < 0) return;
  const auto next = static_cast<ItemIndex>(trace_.event_records.size());
  wait->event_record = records_.FindOrInsert(event.record_correlation_id, next);
  if (wait->event_record != next) return;
  EventRecord& record = trace_.event_records.emplace_back();
  record.event_id = wait->event_id;
  record.device_id = work.device_id;
  record.context_id = work.context_id;
  record.stream_id = event.stream_id;
  record_correlations_.push_back(event.record_correlation_id);
}

void KinetoDevice::ReadOverhead(const KinetoEvent& event) {
  KinetoTimes times;
  if (!context_.TimesOf(event, Reason::kBadOtherRow, Reason::kBadOtherRow, &times)) return;
  if (!context_.needs.Has(TracePart::kOverheads)) return;
  Overhead& overhead = trace_.overheads.emplace_back();
  overhead.start_ns = times.start_ns;
  overhead.end_ns = times.end_ns;
  overhead.kind = OverheadKindOf(event.name);
  // Process -1 means none.
  if (event.has_process && context_.NumberOf(event.process) >= 0) {
    overhead.thread = context_.ThreadOf(event);
  }
}

void KinetoDevice::ReadAnnotation(const KinetoEvent& event) {
  KinetoTimes times;
  if (!context_.TimesOf(event, Reason::kBadOtherRow, Reason::kReversedRange, &times)) return;
  DeviceAnnotation annotation;
  annotation.start_ns = times.start_ns;
  annotation.end_ns = times.end_ns;
  annotation.text = trace_.strings.Intern(event.name);
  annotation.device_id = annotation.stream_id = kUnknown32;
  PlaceOf(event, &annotation.device_id, &annotation.stream_id);
  trace_.device_annotations.push_back(annotation);
}

void KinetoDevice::AddCaptured() {
  std::sort(capture_edges_.begin(), capture_edges_.end(),
            [](const CaptureEdge& a, const CaptureEdge& b) { return a.time_ns < b.time_ns; });
  IdMap ran;
  for (const Kernel& kernel : trace_.kernels) ran.FindOrInsert(kernel.correlation_id, 0);
  IdMap details;
  for (size_t i = 0; i < details_.size(); ++i) {
    details.FindOrInsert(details_[i].correlation_id, static_cast<uint32_t>(i));
  }
  for (const LaunchCall& call : trace_.launches) {
    if (call.correlation_id == kUnknownId || !IsKernelLaunch(trace_.strings.View(call.api)) ||
        ran.Find(call.correlation_id) != IdMap::kNone) {
      continue;
    }
    const auto after = std::upper_bound(
        capture_edges_.begin(), capture_edges_.end(), call.start_ns,
        [](int64_t time_ns, const CaptureEdge& edge) { return time_ns < edge.time_ns; });
    // Outside captures the kernel was lost.
    const bool inside = after == capture_edges_.begin()
                            ? after != capture_edges_.end() && !after->begins
                            : (after - 1)->begins;
    if (!inside) continue;
    ran.FindOrInsert(call.correlation_id, 0);
    Kernel kernel = UnknownKernel();
    kernel.correlation_id = call.correlation_id;
    // In the order of calls.
    kernel.row_id = call.start_ns;
    kernel.stream_id = static_cast<int32_t>(std::count_if(
        capture_edges_.begin(), after, [](const CaptureEdge& edge) { return edge.begins; }));
    kernel.graph = true;
    KernelShape shape = KernelShape::Unknown();
    if (const uint32_t place = details.Find(call.correlation_id); place != IdMap::kNone) {
      kernel.name = details_[place].kernel;
      details_[place].FillSizes(&shape);
    }
    kernel.shape = trace_.shapes.Add(shape);
    trace_.captured.push_back(kernel);
  }
}

/// roctracer's first traces number calls and their work by "External id" alone, apart from the
/// numbers of operators. Where correlation ids exist, "External id" is the operator's.
void KinetoDevice::LinkByExternalIds() {
  trace_.unnumbered_calls = unnumbered_count_ > 0;
  if (numbered_ || unnumbered_calls_.empty()) return;
  const UniqueIds calls(unnumbered_calls_);
  const UniqueIds works(unnumbered_work_);
  for (size_t i = 0; i < unnumbered_work_.size(); ++i) {
    const UnnumberedWork& work = unnumbered_work_[i];
    const uint32_t place = calls.Find(work.external_id);
    if (place == IdMap::kNone || works.Find(work.external_id) != i) continue;
    UnnumberedCall& found = unnumbered_calls_[place];
    LaunchCall& call = trace_.launches[found.call];
    const std::string_view api = trace_.strings.View(call.api);
    if (!SubmitsWork(api)) continue;
    call.correlation_id = found.details.correlation_id = work.external_id;
    if (found.details.any()) details_.push_back(found.details);
    switch (work.kind) {
      case WorkKind::kKernel:
        trace_.kernels[work.index].correlation_id = work.external_id;
        break;
      case WorkKind::kCopy:
        copy_correlations_[work.index] = work.external_id;
        break;
      case WorkKind::kSet:
        set_correlations_[work.index] = work.external_id;
        break;
    }
    if (IsKernelLaunch(api)) --unnumbered_count_;
  }
  trace_.unnumbered_calls = unnumbered_count_ > 0;
}

void KinetoDevice::Finish() {
  LinkByExternalIds();
  if (!capture_edges_.empty()) AddCaptured();
  IdMap wanted;
  std::vector<LaunchIndex> launch_of_requested;
  const size_t expected = std::min(trace_.kernels.size(), trace_.launches.size());
  wanted.Reserve(expected);
  launch_of_requested.reserve(expected);
  const auto want = [&](int64_t correlation_id) {
    if (correlation_id == kUnknownId) return IdMap::kNone;
    const auto next = static_cast<uint32_t>(launch_of_requested.size());
    const uint32_t found = wanted.FindOrInsert(correlation_id, next);
    if (found == next) launch_of_requested.push_back(kNoLaunch);
    return found;
  };
  // At first the place among those requested, below that of the launch.
  for (Kernel& kernel : trace_.kernels) kernel.launch = want(kernel.correlation_id);
  for (const auto* correlations :
       {&copy_correlations_, &set_correlations_, &wait_correlations_, &record_correlations_}) {
    std::for_each(correlations->begin(), correlations->end(), want);
  }
  const size_t of_work = launch_of_requested.size();
  for (const Kernel& kernel : trace_.captured) want(kernel.correlation_id);
  KeepRequestedCalls(wanted, of_work, &launch_of_requested);
  const auto launch_of = [&](int64_t correlation_id) {
    const uint32_t found =
        correlation_id == kUnknownId ? IdMap::kNone : wanted.Find(correlation_id);
    return found == IdMap::kNone ? kNoLaunch : launch_of_requested[found];
  };
  StringId api = 0;
  bool graph = false;
  for (Kernel& kernel : trace_.kernels) {
    if (kernel.launch != IdMap::kNone) kernel.launch = launch_of_requested[kernel.launch];
    if (kernel.launch == kNoLaunch) continue;
    const StringId own = trace_.launches[kernel.launch].api;
    if (own != api) {
      api = own;
      graph = IsGraphLaunch(trace_.strings.View(api));
    }
    kernel.graph = graph;
  }
  for (Kernel& kernel : trace_.captured) {
    kernel.launch = kernel.capture = launch_of(kernel.correlation_id);
  }
  const auto resolve = [&](auto* rows, const std::vector<int64_t>& correlations) {
    for (size_t i = 0; i < rows->size(); ++i) (*rows)[i].launch = launch_of(correlations[i]);
  };
  resolve(&trace_.copies, copy_correlations_);
  resolve(&trace_.sets, set_correlations_);
  resolve(&trace_.synchronizations, wait_correlations_);
  resolve(&trace_.event_records, record_correlations_);
  if (context_.needs.Has(TracePart::kWaitEvents)) LinkEventRecords(&trace_);
  FillFromCalls();
  others_.Place(&trace_, [](int64_t thread) { return static_cast<ThreadIndex>(thread); });
}

/// Of calls with one id, a runtime call has precedence over a driver call, then the earlier one.
void KinetoDevice::KeepRequestedCalls(const IdMap& wanted, size_t of_work,
                                      std::vector<LaunchIndex>* launch_of_requested) {
  const bool all = others_.wanted();
  std::vector<LaunchCall>& calls = trace_.launches;
  size_t kept = 0;  // The first ones of `calls`, with those of `driver_`.
  int64_t repeats = 0;
  for (size_t i = 0; i < calls.size(); ++i) {
    LaunchCall& call = calls[i];
    const uint32_t found = wanted.Find(call.correlation_id);
    if (found == IdMap::kNone) {
      if (all) others_.Add(call, call.thread);
      continue;
    }
    LaunchIndex& launch = (*launch_of_requested)[found];
    if (launch == kNoLaunch) {
      launch = static_cast<LaunchIndex>(kept);
      calls[kept] = call;
      driver_[kept] = driver_[i];
      ++kept;
      continue;
    }
    if (found < of_work) ++repeats;
    LaunchCall& known = calls[launch];
    if (std::tuple(bool{driver_[i]}, call.start_ns, call.end_ns, trace_.strings.View(call.api)) <
        std::tuple(bool{driver_[launch]}, known.start_ns, known.end_ns,
                   trace_.strings.View(known.api))) {
      std::swap(known, call);
      driver_[launch] = driver_[i];
    }
    if (all && (found >= of_work || IsCallOfItsOwn(call, known))) others_.Add(call, call.thread);
  }
  if (repeats > 0) context_.diagnostics.CountMany(Reason::kDuplicateLaunch, repeats);
  calls.resize(kept);
  calls.shrink_to_fit();
}

/// ROCm's traces have the sizes of some kernels and copies only at the call.
void KinetoDevice::FillFromCalls() {
  IdMap places;
  for (size_t i = 0; i < details_.size(); ++i) {
    places.FindOrInsert(details_[i].correlation_id, static_cast<uint32_t>(i));
  }
  const std::span<Kernel> kernels = trace_.kernels;
  for (Kernel& kernel : kernels.first(details_.empty() ? 0 : kernels.size())) {
    // The work of a graph has its own sizes.
    const uint32_t place = kernel.graph ? IdMap::kNone : places.Find(kernel.correlation_id);
    if (place == IdMap::kNone) continue;
    const CallDetails& call = details_[place];
    KernelShape shape = trace_.ShapeOf(kernel);
    call.FillSizes(&shape);
    kernel.shape = trace_.shapes.Add(shape);
    KernelDetails details = trace_.DetailsOf(kernel);
    if (details.shared_memory_bytes < 0) {
      details.shared_memory_bytes = call.shared_memory_bytes;
      trace_.SetDetails(details, &kernel);
    }
  }
  for (size_t i = 0; i < trace_.copies.size(); ++i) {
    int64_t& size_bytes = trace_.copies[i].size_bytes;
    const uint32_t place = places.Find(copy_correlations_[i]);
    if (size_bytes < 0 && place != IdMap::kNone) size_bytes = details_[place].size_bytes;
    size_bytes = std::max(size_bytes, int64_t{0});
  }
}

}  // namespace oplens::parse

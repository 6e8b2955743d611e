#include "parse/readers/kineto/kineto_reader.h"

#include <fmt/format.h>
#include <simdjson.h>

#include <optional>
#include <string_view>
#include <utility>

#include "base/error.h"
#include "base/team.h"
#include "base/threads.h"
#include "base/utf8.h"
#include "parse/model/trace.h"
#include "parse/readers/kineto/kineto_event.h"

namespace oplens::parse {
namespace {

using simdjson::dom::element;
using simdjson::dom::key_value_pair;

/// Takes the number of the first existing key, if any.
template <typename T>
void TakeFirst(simdjson::dom::object object, std::initializer_list<std::string_view> keys, T* to) {
  for (const std::string_view key : keys) {
    element value;
    if (object[key].get(value) == simdjson::SUCCESS && TakeInt(value, to)) return;
  }
}

/// PyTorch's own writer (torch/profiler/_chrome_trace_export.py) calls the number of
/// multiprocessors by the name of their threads, of which a multiprocessor has 768 or more.
void TakeMultiprocessors(simdjson::dom::object properties, Device* device) {
  constexpr int32_t kMost = 512;
  TakeFirst(properties, {"numSms", "multiProcessorCount"}, &device->multiprocessors);
  int32_t named_otherwise = 0;
  TakeFirst(properties, {"maxThreadsPerMultiprocessor"}, &named_otherwise);
  if (device->multiprocessors <= 0 && named_otherwise > 0 && named_otherwise <= kMost) {
    device->multiprocessors = named_otherwise;
  }
}

void TakeDevices(element value, Trace* trace) {
  simdjson::dom::array items;
  if (value.get(items) != simdjson::SUCCESS) return;
  for (const element item : items) {
    simdjson::dom::object properties;
    if (item.get(properties) != simdjson::SUCCESS) continue;
    Device& device = trace->devices.emplace_back();
    element name;
    if (properties["name"].get(name) == simdjson::SUCCESS) {
      device.name = trace->strings.Intern(TextOf(name));
    }
    TakeFirst(properties, {"id"}, &device.id);
    // The second spelling is from the first versions.
    TakeFirst(properties, {"computeMajor", "major"}, &device.compute_capability_major);
    TakeFirst(properties, {"computeMinor", "minor"}, &device.compute_capability_minor);
    TakeMultiprocessors(properties, &device);
    TakeFirst(properties, {"totalGlobalMem"}, &device.memory_bytes);
    TakeFirst(properties, {"warpSize"}, &device.warp_threads);
  }
}

/// Takes a text or a whole number; ignores other types.
void TakeVersion(std::string_view name, element value, Trace* trace) {
  std::string text;
  int64_t number = 0;
  std::string_view words;
  if (value.get(words) == simdjson::SUCCESS) {
    text = words;
  } else if (TakeInt(value, &number)) {
    text = std::to_string(number);
  }
  if (text.empty()) return;
  trace->versions.emplace_back(trace->strings.Intern(name), trace->strings.Intern(text));
}

/// Returns the number of ranks of the process groups with several ranks, kUnknownId if it differs;
/// nullopt if the file lists no groups.
std::optional<int64_t> GroupSize(simdjson::dom::object info) {
  simdjson::dom::array groups;
  if (info["pg_config"].get(groups) != simdjson::SUCCESS) return std::nullopt;
  std::optional<int64_t> size;
  for (const element item : groups) {
    simdjson::dom::object group;
    int64_t ranks = 0;
    if (item.get(group) != simdjson::SUCCESS) continue;
    TakeFirst(group, {"pg_size"}, &ranks);
    if (ranks < 2 || size == kUnknownId) continue;
    size = size.value_or(ranks) == ranks ? ranks : kUnknownId;
  }
  return size;
}

void TakeRanks(simdjson::dom::object group, std::vector<int64_t>* ranks) {
  simdjson::dom::array items;
  if (group["ranks"].get(items) != simdjson::SUCCESS) return;
  for (const element item : items) {
    int64_t rank = 0;
    if (!TakeInt(item, &rank) || rank < 0) {  // A list with an unknown member counts as empty.
      ranks->clear();
      return;
    }
    ranks->push_back(rank);
  }
}

void TakeGroups(simdjson::dom::object info, Trace* trace) {
  simdjson::dom::array groups;
  if (info["pg_config"].get(groups) != simdjson::SUCCESS) return;
  for (const element item : groups) {
    simdjson::dom::object group;
    element name;
    if (item.get(group) != simdjson::SUCCESS || group["pg_name"].get(name) != simdjson::SUCCESS) {
      continue;
    }
    ProcessGroup& own = trace->process_groups.emplace_back();
    own.name = trace->strings.Intern(PrintKineto(name));
    element description;
    if (group["pg_desc"].get(description) == simdjson::SUCCESS) {
      own.description = trace->strings.Intern(TextOf(description));
    }
    TakeFirst(group, {"pg_size"}, &own.size);
    TakeRanks(group, &own.ranks);
  }
}

void TakeDistributed(element value, Trace* trace) {
  simdjson::dom::object info;
  if (value.get(info) != simdjson::SUCCESS) return;
  TakeFirst(info, {"rank"}, &trace->rank);
  TakeFirst(info, {"world_size"}, &trace->world_size);
  element version;
  if (info["nccl_version"].get(version) == simdjson::SUCCESS) {
    TakeVersion("nccl_version", version, trace);
  }
  TakeGroups(info, trace);
  trace->group_size = GroupSize(info).value_or(trace->world_size);
}

/// Takes a member of the document beside the events: the schema version, devices, the place in a
/// distributed run, and baseTimeNanoseconds, which was subtracted from all times. Ignores others.
/// Returns whether only PyTorch's profiler writes such a member.
bool TakeKinetoMember(std::string_view key, element value, Trace* trace) {
  if (key == "schemaVersion") {
    TakeInt(value, &trace->schema_version);
  } else if (key == "deviceProperties" || key == "computeProperties") {
    TakeDevices(value, trace);
  } else if (key == "distributedInfo") {
    TakeDistributed(value, trace);
  } else if (key == "host_name") {
    trace->host = TextOf(value);
  } else if (key.ends_with("_version")) {
    TakeVersion(key, value, trace);
    return false;
  } else if (key == "baseTimeNanoseconds") {
    int64_t base_ns = 0;
    if (TakeInt(value, &base_ns)) trace->clock_offset_ns = base_ns;
  } else {
    return false;
  }
  return true;
}

/// At most this many unknown categories are listed by name; further ones count together.
constexpr size_t kMostCategories = 64;
constexpr std::string_view kOtherCategories = "others";
constexpr size_t kKinetoReaderLongestCategory = 40;

}  // namespace

KinetoReader::KinetoReader(std::string path, TraceNeeds needs, Diagnostics* diagnostics)
    : path_(std::move(path)), context_(needs, diagnostics) {
  context_.trace.family = Family::kKineto;
}

void KinetoReader::OnMember(std::string_view key, simdjson::dom::element value) {
  if (key == "nodes") has_nodes_ = true;
  if (context_.needs.Has(TracePart::kTorchFunctions)) functions_.ReadMember(key, value);
  if (TakeKinetoMember(key, value, &context_.trace)) is_pytorch_ = true;
}

void KinetoReader::OnEvent(simdjson::dom::object object) {
  KinetoEvent event = SplitKinetoEvent(object);
  event.number = ++events_;
  event.text = event_text;
  KinetoClass kind = KinetoClass::kNone;
  if (!event.category.empty()) {
    const auto known = classes_.find(event.category);
    if (known != classes_.end()) {
      kind = known->second;
    } else {
      kind = ClassifyKinetoCategory(event.category);
      if (classes_.size() < kMostCategories) classes_.emplace(event.category, kind);
    }
  }
  if (kind != KinetoClass::kNone && kind != KinetoClass::kOther) is_pytorch_ = true;
  switch (event.phase) {
    case 'X':
      return ReadTimed(event, kind);
    case 'i':
    case 'I':
      if (context_.needs.Has(TracePart::kTorchFunctions)) functions_.ReadInstant(event);
      return host_.ReadInstant(event);
    case 's':
    case 't':
    case 'f':
      if (kind == KinetoClass::kForwardBackward) return host_.ReadForwardBackward(event);
      if (kind == KinetoClass::kLaunchFlow) return;
      break;
    case 'C':
      if (kind == KinetoClass::kCounterSample) return samples_.Read(event);
      break;
    case 'M':
      return host_.ReadNames(event);
    case 0:
      return context_.CountBad(Reason::kBadEvent, event);
    default:
      break;
  }
  Ignore(event);
}

void KinetoReader::ReadTimed(const KinetoEvent& event, KinetoClass kind) {
  if (context_.needs.Has(TracePart::kTorchEvents)) torch_.Read(event, kind);
  torch_.ReadOther(event, kind);
  if (context_.needs.Has(TracePart::kTorchFunctions)) functions_.Read(event, kind);
  switch (kind) {
    case KinetoClass::kOperator:
      return host_.ReadOperator(event);
    case KinetoClass::kAnnotation:
      return host_.ReadAnnotation(event);
    case KinetoClass::kPythonFunction:
      return host_.ReadPythonFunction(event);
    case KinetoClass::kMarker:
      return host_.ReadMarker(event);
    case KinetoClass::kRuntimeCall:
      return device_.ReadCall(event, false);
    case KinetoClass::kDriverCall:
      return device_.ReadCall(event, true);
    case KinetoClass::kKernel:
      return device_.ReadKernel(event);
    case KinetoClass::kCopy:
      return device_.ReadCopy(event);
    case KinetoClass::kSet:
      return device_.ReadSet(event);
    case KinetoClass::kSynchronization:
      return device_.ReadSynchronization(event);
    case KinetoClass::kOverhead:
      return device_.ReadOverhead(event);
    case KinetoClass::kDeviceAnnotation:
      return device_.ReadAnnotation(event);
    case KinetoClass::kCounterRange:
      ++counter_ranges_;
      return;
    case KinetoClass::kSpan:
      return;
    case KinetoClass::kInstant:  // PyTorch's own writer of 2.13 gives moments a duration of 0.
      return host_.ReadInstant(event);
    case KinetoClass::kCounterSample:
    case KinetoClass::kForwardBackward:
    case KinetoClass::kLaunchFlow:
    case KinetoClass::kNone:
    case KinetoClass::kOther:
      break;
  }
  Ignore(event);
}

void KinetoReader::Ignore(const KinetoEvent& event) {
  // In parse's own timelines; derived from the rest, like their counters.
  if (event.category == "critical_path") {
    own_timeline_ = true;
    return;
  }
  char phase[] = "phase X";
  phase[sizeof phase - 2] = event.phase;
  const std::string_view name = event.category.empty()
                                    ? std::string_view(phase)
                                    : event.category.substr(0, kKinetoReaderLongestCategory);
  const auto found = ignored_.find(name);
  if (found != ignored_.end()) {
    ++found->second;
  } else {
    ++ignored_[std::string(ignored_.size() < kMostCategories ? name : kOtherCategories)];
  }
}

std::string KinetoReader::IgnoredList() const {
  std::string list;
  for (const auto& [name, count] : ignored_) {
    list += fmt::format("{}{} ({})", list.empty() ? "" : ", ", LineText(name), count);
  }
  return list;
}

void KinetoReader::NoteIgnored() {
  if (counter_ranges_ > 0) {
    context_.diagnostics.Note(
        fmt::format("{}: {} hardware counter ranges (cuda_profiler_range) are not read", path_,
                    counter_ranges_));
  }
  if (own_timeline_) ignored_.erase("phase C");
  if (ignored_.empty()) return;
  context_.diagnostics.Note(
      fmt::format("{}: events of these categories are not read: {}", path_, IgnoredList()));
}

Trace KinetoReader::Finish(bool cut) {
  constexpr size_t kRangesOfThread = size_t{32} << 10;
  const bool beside = ThreadLimit() > 1 && context_.trace.ranges.size() >= kRangesOfThread;
  Team one(beside ? 1 : 0);
  one.Begin(1, [this](size_t) { host_.OrderRanges(); });
  device_.Finish();
  one.Join();
  host_.Finish();
  functions_.Finish();
  Trace& trace = context_.trace;
  trace.clock_resolution_ns = context_.ClockResolutionNs();
  trace.lost.file_cut = cut;
  NoteIgnored();
  if (trace.kernels.empty()) {
    context_.diagnostics.Note(fmt::format(
        "{}: no kernels were recorded: {}", path_,
        cut ? "the part of the file that is there holds none"
            : "it has no event of the category kernel; profile a part of the program that runs on "
              "the GPU, with ProfilerActivity.CUDA among the activities"));
  }
  return std::move(trace);
}

namespace {

/// Accepts every JSON document: text before the events can have any length.
bool RecognisesKineto(ProfileFile* file) { return file->content() == ProfileFile::Content::kJson; }

bool IsBareArray(std::string_view head) {
  const size_t first = head.find_first_not_of(" \t\r\n");
  return first != std::string_view::npos && head[first] == '[';
}

[[noreturn]] void Refuse(const ProfileFile& file, const KinetoReader& reader,
                         const JsonEventCounts& counts) {
  constexpr std::string_view kAdvice =
      "give the file that torch.profiler's export_chrome_trace wrote";
  if (reader.is_execution_trace()) {
    const ForeignKind words = ForeignWords(FileKind::kExecutionTrace);
    throw Error(file.path(), words.problem, words.advice);
  }
  if (IsBareArray(file.head()) && counts.events == 0) {
    throw Error(file.path(),
                "is a JSON list without a trace event (such as torch's memory timeline)", kAdvice);
  }
  if (!counts.has_events) {
    throw Error(file.path(), "is JSON, but no trace: it has no traceEvents", kAdvice);
  }
  const std::string others = reader.IgnoredList();
  throw Error(file.path(),
              fmt::format("is no trace of PyTorch's profiler: it has none of its events{}",
                          others.empty() ? "" : ", only of other categories: " + others),
              kAdvice);
}

Trace ReadKineto(ProfileFile* file, TraceNeeds needs, Diagnostics* diagnostics) {
  KinetoReader reader(file->path(), needs, diagnostics);
  Diagnostics events;
  const std::shared_ptr<ByteSource> source = file->Open();
  const JsonEventCounts counts = ReadJsonEvents(source.get(), file->path(), &reader, &events);
  if (!counts.has_events || !reader.is_pytorch()) Refuse(*file, reader, counts);
  diagnostics->Merge(events);
  return reader.Finish(counts.truncated);
}

}  // namespace

constexpr TraceReader kKinetoReader = {Family::kKineto, RecognisesKineto, ReadKineto};

}  // namespace oplens::parse

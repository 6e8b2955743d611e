#include "parse/readers/kineto/kineto_host.h"

#include <algorithm>

#include "nvtx_annotate/vocabulary/marker_format.h"
#include "parse/model/python_text.h"
#include "parse/model/torch_call.h"
#include "parse/readers/kineto/kineto_communication.h"

namespace oplens::parse {
namespace {

using simdjson::dom::element;
using simdjson::dom::key_value_pair;

constexpr std::string_view kModulePrefix = "nn.Module: ";
constexpr std::string_view kMemoryName = "[memory]";

struct OperatorDetails {
  KinetoArguments arguments;
  Communication communication;
  std::string_view stack;
  std::string_view call;  // The canonical call, as written by `parse --format chrome`.
  KinetoEventIds ids;
  int64_t sequence = -1;
  int32_t forward_thread = 0;
  bool stream = false;
};

/// Whether only the dY of this node has the extents of its forward op's result.
bool HasResultExtents(std::string_view name, const KinetoArguments& arguments) {
  return arguments.any() && name.starts_with("torch::autograd::CppNode<SplitLookupFunction_");
}

void TakeKinetoHostList(element value, bool* there, simdjson::dom::array* list) {
  if (value.get(*list) == simdjson::SUCCESS) *there = true;
}

constexpr std::string_view kCompiledPrefix = "kernel_";

void TakeOperatorDetail(const key_value_pair& arg, StringPool* strings, OperatorDetails* details) {
  // Dispatches by length first: this runs for every argument of every operator.
  const std::string_view key = arg.key;
  KinetoArguments& arguments = details->arguments;
  switch (key.size()) {
    case 10:
      if (Is(key, "Input Dims") || Is(key, "Input dims")) {
        TakeKinetoHostList(arg.value, &arguments.has_dims, &arguments.dims);
      } else if (Is(key, "Input type")) {
        TakeKinetoHostList(arg.value, &arguments.has_types, &arguments.types);
      } else if (Is(key, "Call stack") || Is(key, "Call Stack")) {
        details->stack = TextOf(arg.value);
      } else {
        TakeCommunication(key, arg.value, strings, &details->communication);
      }
      return;
    case 13:
      if (Is(key, "Fwd thread id")) {
        TakeInt(arg.value, &details->forward_thread);
        return;
      }
      if (Is(key, "Input Strides")) {
        TakeKinetoHostList(arg.value, &arguments.has_strides, &arguments.strides);
        return;
      }
      if (key.starts_with(kCompiledPrefix))
        return TakeCompiledFact(key, arg.value, &arguments.compiled);
      break;
    case 15:
      if (Is(key, "Sequence number")) {
        TakeInt(arg.value, &details->sequence);
        return;
      }
      if (Is(key, "Concrete Inputs")) {
        TakeKinetoHostList(arg.value, &arguments.has_values, &arguments.values);
        return;
      }
      break;
    case 4:
      if (Is(key, "call")) {
        details->call = TextOf(arg.value);
        return;
      }
      if (Is(key, "grid")) return TakeCompiledFact(key, arg.value, &arguments.compiled);
      break;
    case 6:
      details->stream |= Is(key, "stream");
      return TakeKinetoId(key, arg.value, &details->ids);
    case 11:
      TakeKinetoId(key, arg.value, &details->ids);
      if (key.starts_with(kCompiledPrefix)) TakeCompiledFact(key, arg.value, &arguments.compiled);
      return;
    case 14:
      if (Is(key, "kernel_backend")) return TakeCompiledFact(key, arg.value, &arguments.compiled);
      break;
    case 16:  // Module Hierarchy
      return;
    default:
      break;
  }
  TakeCommunication(key, arg.value, strings, &details->communication);
}

}  // namespace

Range* KinetoHost::AddRange(const KinetoEvent& event, const KinetoEventIds& ids, RangeKind kind,
                            StringId text) {
  KinetoTimes times;
  if (!context_.TimesOf(event, Reason::kBadEvent, Reason::kReversedRange, &times)) return nullptr;
  Range& range = trace_.ranges.emplace_back();
  range.start_ns = times.start_ns;
  range.end_ns = times.end_ns;
  range.text = text;
  range.SetThread(context_.ThreadOf(event));
  range.kind = kind;
  range_ids_.push_back(ids);
  return &range;
}

void KinetoHost::ReadOperator(const KinetoEvent& event) {
  OperatorDetails details;
  if (event.has_args) {
    for (const key_value_pair arg : event.args) {
      TakeOperatorDetail(arg, &trace_.strings, &details);
    }
  }
  const StringId name = trace_.strings.Intern(event.name);
  // This category has no labels of the user, except in files of the first versions.
  constexpr std::string_view kRegistered = "cpu_op";
  const size_t place = size_t{name} * 3 + (details.arguments.any()         ? 2
                                           : event.category == kRegistered ? 1
                                                                           : 0);
  if (place >= name_kinds_.size()) name_kinds_.resize(std::max(place + 1, place * 2), 0);
  uint8_t& known = name_kinds_[place];
  if (known == 0) {
    known =
        static_cast<uint8_t>(static_cast<int>(ClassifyTorchName(event.name, details.arguments.any(),
                                                                event.category == kRegistered)) +
                             1);
  }
  const auto kind = static_cast<TorchName>(known - 1);
  if (kind == TorchName::kStep || kind == TorchName::kLabel) {
    AddRange(event, details.ids,
             kind == TorchName::kStep ? RangeKind::kStep : RangeKind::kAnnotation, name);
  } else if (Range* const range = AddRange(event, details.ids, RangeKind::kOperator, name)) {
    Operator& op = MakeOperator(name, range, &trace_);
    op.backward = kind == TorchName::kBackwardNode;
    if (!op.backward || !details.call.empty() || HasResultExtents(event.name, details.arguments)) {
      op.call = details.call.empty() ? calls_.Intern(event.name, details.arguments, &trace_.strings)
                                     : trace_.strings.Intern(details.call);
    }
    op.stack = StackOf(details.stack);
    op.forward_thread = details.forward_thread;
    op.stream = details.stream;
    op.sequence = std::max(details.sequence, int64_t{-1});
  }
  const bool told =
      details.communication.name != 0 ||
      (event.has_args && IsCollectiveLabel(event.name) &&
       TakeLabelInputs(event.name, event.args, &trace_.strings, &details.communication));
  if (told) AddCommunication(event, &details.communication);
}

void KinetoHost::AddCommunication(const KinetoEvent& event, Communication* communication) {
  KinetoTimes times;
  // Errors in them are counted for the range.
  if (ReadKinetoTimes(event, &times) && times.end_ns >= times.start_ns) {
    communication->start_ns = times.start_ns;
    communication->end_ns = times.end_ns;
    communication->thread = context_.ThreadOf(event);
  }
  trace_.communications.push_back(*communication);
}

StringId KinetoHost::StackOf(std::string_view frames) {
  if (frames.empty()) return 0;
  const auto found = stacks_.find(frames);
  if (found != stacks_.end()) return found->second;
  std::string text = "{'traceMarker': [";
  // The file has the innermost frame first, a trace marker last.
  std::string_view rest = frames;
  for (bool first = true; !rest.empty();) {
    const size_t separator = rest.rfind(';');
    const size_t begin = separator == std::string_view::npos ? 0 : separator + 1;
    const std::string_view frame = rest.substr(begin);
    rest = rest.substr(0, begin == 0 ? 0 : separator);
    if (frame.empty()) continue;
    text_.clear();
    AppendKinetoFrame(frame, &text_);
    if (!first) text += ", ";
    AppendPythonString(text_, &text);
    first = false;
  }
  text += "]}";
  const StringId stack = trace_.strings.Intern(text);
  stacks_.emplace(frames, stack);
  return stack;
}

void KinetoHost::ReadAnnotation(const KinetoEvent& event) {
  AddRange(event, ReadKinetoIds(event),
           event.name.starts_with(markers::kStepPrefix) ? RangeKind::kStep : RangeKind::kAnnotation,
           trace_.strings.Intern(event.name));
  if (!event.has_args || !IsCollectiveLabel(event.name)) return;
  Communication communication;
  if (TakeLabelInputs(event.name, event.args, &trace_.strings, &communication)) {
    AddCommunication(event, &communication);
  }
}

void KinetoHost::ReadPythonFunction(const KinetoEvent& event) {
  if (event.name.starts_with(kModulePrefix)) {
    AddRange(event, ReadKinetoIds(event), RangeKind::kModule,
             trace_.strings.Intern(event.name.substr(kModulePrefix.size())));
    return;
  }
  text_.clear();
  AppendKinetoFrame(event.name, &text_);
  AddRange(event, ReadKinetoIds(event), RangeKind::kFrame, trace_.strings.Intern(text_));
}

void KinetoHost::ReadMarker(const KinetoEvent& event) {
  Range* const range =
      AddRange(event, ReadKinetoIds(event), RangeKind::kMarker, trace_.strings.Intern(event.name));
  if (range == nullptr || !event.has_args) return;
  bool open = false;
  if (event.args["open"].get(open) == simdjson::SUCCESS && open) range->end_ns = kNeverClosed;
}

void KinetoHost::ReadInstant(const KinetoEvent& event) {
  int64_t time_ns = 0;
  if (event.name == kMemoryName) {
    if (context_.MomentOf(event, &time_ns)) ReadMemoryEvent(event, time_ns);
    return;
  }
  // Marks of the profiler itself, such as "Record Window End"; their time may be meaningless.
  if (event.scope == "g" || !context_.MomentOf(event, &time_ns)) return;
  const StringId text = trace_.strings.Intern(event.name);
  const ThreadIndex thread = context_.ThreadOf(event);
  if (context_.needs.Has(TracePart::kInstants)) trace_.instants.push_back({time_ns, text, thread});
}

void KinetoHost::ReadMemoryEvent(const KinetoEvent& event, int64_t time_ns) {
  MemoryEvent memory;
  memory.time_ns = time_ns;
  int64_t device_type = 0;
  int32_t device_id = -1;
  bool has_size = false;
  KinetoEventIds ids;
  if (event.has_args) {
    for (const key_value_pair arg : event.args) {
      const std::string_view key = arg.key;
      if (Is(key, "Bytes")) {
        has_size = TakeInt(arg.value, &memory.size_bytes);
      } else if (Is(key, "Addr")) {
        uint64_t high = 0;
        if (!TakeInt(arg.value, &memory.address) && arg.value.get(high) == simdjson::SUCCESS) {
          memory.address = static_cast<int64_t>(high);
        }
      } else if (Is(key, "Device Type")) {
        TakeInt(arg.value, &device_type);
      } else if (Is(key, "Device Id")) {
        TakeInt(arg.value, &device_id);
      } else if (Is(key, "Total Allocated")) {
        TakeInt(arg.value, &memory.total_allocated_bytes);
      } else if (Is(key, "Total Reserved")) {
        TakeInt(arg.value, &memory.total_reserved_bytes);
      } else {
        TakeKinetoId(key, arg.value, &ids);
      }
    }
  }
  if (!has_size) {
    context_.CountBad(Reason::kBadEvent, event);
    return;
  }
  memory.device_id = device_type == 0 ? -1 : device_id;
  memory.thread = context_.ThreadOf(event);
  if (!context_.needs.Has(TracePart::kMemoryEvents)) return;
  trace_.memory_events.push_back(memory);
  memory_ids_.push_back(ids);
}

void KinetoHost::ReadForwardBackward(const KinetoEvent& event) {
  const bool forward = event.phase == 's';
  if (!forward && event.phase != 'f') return;
  ArrowEnd end;
  if (!context_.MomentOf(event, &end.time_ns)) return;
  if (!event.has_id) return context_.CountBad(Reason::kBadEvent, event);
  end.thread = context_.ThreadOf(event);
  end.id = context_.NumberOf(event.id);
  (forward ? arrow_starts_ : arrow_finishes_).push_back(end);
}

/// Either end may come first, and ids are reused: the n-th start of an id leads to its n-th finish.
void KinetoHost::LinkArrows() {
  for (std::vector<ArrowEnd>* const ends : {&arrow_starts_, &arrow_finishes_}) {
    if (!std::is_sorted(ends->begin(), ends->end())) std::sort(ends->begin(), ends->end());
  }
  auto start = arrow_starts_.begin();
  for (const ArrowEnd& finish : arrow_finishes_) {
    while (start != arrow_starts_.end() && start->id < finish.id) ++start;
    if (start == arrow_starts_.end()) break;
    if (start->id != finish.id) continue;
    trace_.forward_backward_links.push_back(
        {start->time_ns, finish.time_ns, start->thread, finish.thread});
    ++start;
  }
}

void KinetoHost::ReadNames(const KinetoEvent& event) {
  const bool process = event.name == "process_name";
  if ((!process && event.name != "thread_name") || !event.has_args || !event.has_process) return;
  element value;
  if (event.args["name"].get(value) != simdjson::SUCCESS || TextOf(value).empty()) return;
  const StringId name = trace_.strings.Intern(TextOf(value));
  const int64_t process_id = context_.NumberOf(event.process);
  if (process) {
    KeepName(name, &process_names_[process_id]);
  } else if (event.has_thread) {
    KeepName(name, &thread_names_[std::pair(process_id, context_.NumberOf(event.thread))]);
  }
}

void KinetoHost::KeepName(StringId name, StringId* kept) const {
  const std::string_view known = trace_.strings.View(*kept);
  const std::string_view other = trace_.strings.View(name);
  const bool better = other.size() != known.size() ? other.size() > known.size() : other < known;
  if (better) *kept = name;
}

void KinetoHost::OrderRanges() {
  LinkArrows();
  SettleRanges(range_ids_, &trace_);
}

void KinetoHost::Finish() {
  SettleMemoryEvents(memory_ids_, &trace_);
  SettleCommunications(&trace_);
  std::map<int64_t, StringId> processes;
  for (Thread& thread : trace_.threads) {
    const auto name = thread_names_.find({thread.process_id, thread.thread_id});
    if (name != thread_names_.end()) thread.name = name->second;
    const auto process = process_names_.find(thread.process_id);
    processes[thread.process_id] = process == process_names_.end() ? 0 : process->second;
  }
  for (const auto& [id, name] : processes) trace_.processes.push_back({id, name});
}

}  // namespace oplens::parse

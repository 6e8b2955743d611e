#include "prof/compat/torch/functions.h"

#include <cxxabi.h>

#include <algorithm>
#include <cstdlib>
#include <iterator>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <tuple>
#include <unordered_map>

namespace oplens::prof {
namespace {

using Kind = TorchFunction::Kind;
using Event = TorchFunctions::Event;

constexpr std::string_view kNodeCaller = "autograd::engine::evaluate_function: ";

constexpr std::string_view kUnlisted[] = {
    "[memory]",
    "[OutOfMemory]",
    "profiler::_record_function_enter",
    "profiler::_record_function_enter_new",
    "profiler::_record_function_exit",
    "aten::is_leaf",
    "aten::output_nr",
    "aten::_version",
};

/// Frames that PyTorch leaves out hold both texts.
constexpr std::pair<std::string_view, std::string_view> kUnlistedFrames[] = {
    {"autograd/__init__", "_make_grads"},
    {"autograd/__init__", "backward"},
    {"torch/tensor", "backward"},
    {"_internal/common_utils", "prof_callable"},
    {"_internal/common_utils", "prof_func_call"},
    {"_internal/common_utils", "prof_meth_call"},
};

bool IsListedFrame(std::string_view frame) {
  return std::none_of(std::begin(kUnlistedFrames), std::end(kUnlistedFrames),
                      [&](const auto& unlisted) {
                        return frame.find(unlisted.first) != std::string_view::npos &&
                               frame.find(unlisted.second) != std::string_view::npos;
                      });
}

bool IsMoment(const TorchFunction& function) { return function.kind >= Kind::kMemory; }

/// As torch._C._demangle does it, which takes names of types too: "Pi" is int*.
std::string DemangledAsTorch(std::string_view name) {
  std::string text(name);
  if (text.size() < 2) return text;
  int status = 0;
  const std::unique_ptr<char, void (*)(void*)> demangled(
      abi::__cxa_demangle(text.c_str(), nullptr, nullptr, &status), std::free);
  return status == 0 && demangled != nullptr ? demangled.get() : text;
}

/// Whether `caller` runs the node `name`.
bool IsNodeOf(std::string_view caller, std::string_view name) {
  return caller.starts_with(kNodeCaller) && caller.substr(kNodeCaller.size()) == name;
}

/// The memory taken until a moment.
struct MemoryAt {
  int64_t time_ns = 0;
  // Of what came before; they wrap, since only differences are used.
  uint64_t host = 0;
  uint64_t device = 0;
  int64_t takes = 0;  // Calls that begin before it minus those that end before it.
};

uint64_t BytesOf(const TorchFunction& function, TorchFunction::Memory memory) {
  return function.memory == memory ? static_cast<uint64_t>(function.bytes) : 0;
}

}  // namespace

bool IsUnlistedTorchName(std::string_view name) {
  return std::find(std::begin(kUnlisted), std::end(kUnlisted), name) != std::end(kUnlisted);
}

TorchFunctions::TorchFunctions(const Trace& trace)
    : trace_(trace), names_(trace.strings.size(), kNone), threads_(trace.threads.size(), 0) {
  Take();
  NumberThreads();
  Name();
  Link();
  TakeMemory();
  MakeTree();
  MergeRepeated();
  FindStacks();
  Sum();
}

uint32_t TorchFunctions::NameOf(StringId name) {
  if (names_[name] != kNone) return names_[name];
  const std::string shown = DemangledAsTorch(trace_.strings.View(name));
  return names_[name] =
             texts_.NumberOf(shown.starts_with("ProfilerStep#") ? "ProfilerStep*" : shown);
}

void TorchFunctions::Take() {
  events_.reserve(trace_.torch_functions.size());
  for (const TorchFunction& function : trace_.torch_functions) {
    events_.emplace_back().of = &function;
    has_memory_ |= IsMoment(function);
  }
  has_memory_ = trace_.torch_recording.profile_memory.value_or(has_memory_);
  std::sort(events_.begin(), events_.end(), [](const Event& a, const Event& b) {
    const auto key = [](const TorchFunction& of) {
      return std::tie(of.start_ns, of.order, of.number);
    };
    return key(*a.of) < key(*b.of);
  });
}

/// Threads of what has one. A call of an API is on that of the call that made it, else on the
/// thread that stopped the profiler, which is taken to be the main one.
void TorchFunctions::NumberThreads() {
  uint32_t count = 0;
  uint32_t main = 0;
  std::unordered_map<int64_t, uint32_t> owners;  // Threads by number of a call.
  for (Event& event : events_) {
    if (event.of->thread >= threads_.size()) continue;
    uint32_t& number = threads_[event.of->thread];
    if (number == 0) number = ++count;
    event.thread = number;
    const Thread& thread = trace_.threads[event.of->thread];
    if (main == 0 && thread.process_id == thread.thread_id) main = number;
    if (event.of->id > 0) owners.emplace(event.of->id, number);
  }
  if (main == 0) main = 1;
  for (Event& event : events_) {
    if (event.of->kind != Kind::kCall) continue;
    const auto owner = owners.find(event.of->linked_id);
    event.thread = owner == owners.end() ? main : owner->second;
  }
}

/// Leaves out what PyTorch does, names the others, and takes their times from the recording's
/// start.
void TorchFunctions::Name() {
  const int64_t start_ns =
      trace_.torch_recording.start_ns.value_or(events_.empty() ? 0 : events_.front().of->start_ns);
  const auto is_unlisted = [&](const Event& event) {
    const std::string_view name = trace_.strings.View(event.of->name);
    return !IsMoment(*event.of) && IsUnlistedTorchName(name);
  };
  events_.erase(std::remove_if(events_.begin(), events_.end(), is_unlisted), events_.end());
  const auto us = [start_ns](int64_t ns) {
    return static_cast<double>(
               static_cast<int64_t>(static_cast<uint64_t>(ns) - static_cast<uint64_t>(start_ns))) /
           1000.0;
  };
  for (Event& event : events_) {
    event.name = NameOf(event.of->name);
    const TorchFunction& of = *event.of;
    event.host_total = {
        static_cast<int64_t>(static_cast<uint64_t>(of.end_ns) - static_cast<uint64_t>(of.start_ns)),
        us(of.end_ns) - us(of.start_ns)};
  }
}

/// Gives calls what they launched, and calls of APIs the threads of their callers.
void TorchFunctions::Link() {
  struct Linked {
    TorchTime kernels;
    std::vector<uint32_t> calls;
    uint32_t thread = 0;
  };
  std::unordered_map<int64_t, Linked> linked;
  for (uint32_t i = 0; i < events_.size(); ++i) {
    const Event& event = events_[i];
    if (event.of->linked_id == 0) continue;
    Linked& of = linked[event.of->linked_id];
    if (event.of->kind == Kind::kDevice) of.kernels += event.host_total;
    if (event.of->kind == Kind::kCall) of.calls.push_back(i);
  }
  if (linked.empty()) return;
  for (Event& event : events_) {
    if (event.of->linked_id != 0 || event.on_device() || IsMoment(*event.of)) continue;
    const auto of = linked.find(event.of->id);
    if (of == linked.end()) continue;
    event.kernels = of->second.kernels;
    of->second.thread = event.thread;
  }
  for (const auto& [id, of] : linked) {
    for (const uint32_t call : of.calls) {
      if (of.thread != 0) events_[call].thread = of.thread;
    }
  }
}

/// Memory counts for every call that runs at its moment; what no call took is an event of its own.
void TorchFunctions::TakeMemory() {
  std::vector<Event> rest;  // Moments.
  const auto moments = std::stable_partition(
      events_.begin(), events_.end(), [](const Event& event) { return !IsMoment(*event.of); });
  std::vector<MemoryAt> at;
  std::vector<const Event*> records;
  uint64_t host = 0;
  uint64_t device = 0;
  for (auto event = moments; event != events_.end(); ++event) {
    if (event->of->kind != Kind::kMemory) continue;
    at.push_back({event->of->start_ns, host, device});
    records.push_back(&*event);
    host += BytesOf(*event->of, TorchFunction::Memory::kHost);
    device += BytesOf(*event->of, TorchFunction::Memory::kDevice);
  }
  at.push_back({INT64_MAX, host, device});
  const auto begin = at.begin();
  const auto last = at.end() - 1;
  for (auto event = events_.begin(); event != moments && begin != last; ++event) {
    if (event->on_device()) continue;
    const auto before = [](const MemoryAt& moment, int64_t ns) { return moment.time_ns < ns; };
    const auto after = [](int64_t ns, const MemoryAt& moment) { return ns < moment.time_ns; };
    const auto from = std::lower_bound(begin, last, event->of->start_ns, before);
    const auto to = std::upper_bound(from, last, event->of->end_ns, after);
    ++from->takes;
    --to->takes;
    event->host_bytes = static_cast<int64_t>(to->host - from->host);
    event->device_bytes = static_cast<int64_t>(to->device - from->device);
  }
  int64_t takes = 0;
  const auto keep = [&](const Event& event) {
    Event& kept = rest.emplace_back(event);
    kept.host_bytes = static_cast<int64_t>(BytesOf(*event.of, TorchFunction::Memory::kHost));
    kept.device_bytes = static_cast<int64_t>(BytesOf(*event.of, TorchFunction::Memory::kDevice));
  };
  for (size_t i = 0; i < records.size(); ++i) {
    takes += at[i].takes;
    if (takes == 0) keep(*records[i]);
  }
  for (auto event = moments; event != events_.end(); ++event) {
    if (event->of->kind == Kind::kOutOfMemory) keep(*event);
  }
  events_.erase(moments, events_.end());
  events_.insert(events_.end(), rest.begin(), rest.end());
  std::stable_sort(events_.begin(), events_.end(), [](const Event& a, const Event& b) {
    return a.of->start_ns != b.of->start_ns ? a.of->start_ns < b.of->start_ns
                                            : a.of->end_ns > b.of->end_ns;
  });
}

/// A call is inside the innermost call of its thread that holds all of it and has not ended.
void TorchFunctions::MakeTree() {
  std::vector<std::vector<uint32_t>> open;  // By thread.
  for (uint32_t i = 0; i < events_.size(); ++i) {
    Event& event = events_[i];
    if (event.on_device()) continue;
    if (event.thread >= open.size()) open.resize(event.thread + 1);
    std::vector<uint32_t>& around = open[event.thread];
    while (!around.empty()) {
      const Event& top = events_[around.back()];
      if (event.of->start_ns < top.of->end_ns && event.of->end_ns <= top.of->end_ns) break;
      around.pop_back();
    }
    if (!around.empty()) {
      event.parent = around.back();
      Event& parent = events_[event.parent];
      (parent.children == 0 ? parent.first_child : events_[parent.last_child].next_child) = i;
      parent.last_child = i;
      ++parent.children;
      event.node = IsNodeOf(texts_.TextOf(parent.name), texts_.TextOf(event.name));
    }
    // Others with a forward thread are what runs a node.
    event.node |=
        event.of->forward_thread != 0 && !texts_.TextOf(event.name).starts_with(kNodeCaller);
    around.push_back(i);
  }
}

/// A call with exactly one call inside, of its own name, becomes one with it and has what the inner
/// one launched.
void TorchFunctions::MergeRepeated() {
  for (Event& event : events_) {
    if (event.parent == kNone) continue;
    Event& parent = events_[event.parent];
    if (parent.children != 1 || parent.name != event.name) continue;
    parent.children = event.children;
    parent.first_child = event.first_child;
    parent.last_child = event.last_child;
    parent.kernels = event.kernels;
    for (uint32_t i = event.first_child; i != kNone; i = events_[i].next_child) {
      events_[i].parent = event.parent;
    }
    event.merged = true;
  }
}

/// By the framework's numbers of threads that nodes name: the thread that most of their forward ops
/// ran on.
std::vector<std::pair<int64_t, uint32_t>> TorchFunctions::ForwardThreads() const {
  std::map<uint32_t, std::set<int64_t>> sequences;
  std::map<int64_t, std::set<int64_t>> wanted;
  for (const Event& event : events_) {
    if (event.of->kind != Kind::kOperator) continue;
    if (event.of->forward_thread != 0) {
      wanted[event.of->forward_thread].insert(event.of->sequence);
    } else if (event.of->sequence >= 0) {
      sequences[event.thread].insert(event.of->sequence);
    }
  }
  std::vector<std::pair<int64_t, uint32_t>> found;
  for (const auto& [number, nodes] : wanted) {
    size_t most = 0;
    uint32_t best = 0;
    for (const auto& [thread, own] : sequences) {
      const auto has = [&own = own](int64_t sequence) { return own.count(sequence) > 0; };
      const auto common = static_cast<size_t>(std::count_if(nodes.begin(), nodes.end(), has));
      if (common > most) {
        most = common;
        best = thread;
      }
    }
    found.emplace_back(number, best);
  }
  return found;
}

/// In the backward pass, an event has the stack of the node's forward op.
void TorchFunctions::FindStacks() {
  const bool any = std::any_of(events_.begin(), events_.end(),
                               [](const Event& event) { return event.of->stack != 0; });
  if (!any) return;
  const std::vector<std::pair<int64_t, uint32_t>> threads = ForwardThreads();
  std::vector<uint32_t> nodes(events_.size(), kNone);  // The innermost node around each.
  std::map<std::pair<int64_t, uint32_t>, uint32_t> forward;
  for (uint32_t i = 0; i < events_.size(); ++i) {
    const Event& event = events_[i];
    if (event.node) {
      nodes[i] = i;
    } else if (event.parent != kNone) {
      nodes[i] = nodes[event.parent];
    }
    if (nodes[i] == kNone && !event.merged && !event.on_device()) {
      forward.emplace(std::pair(event.of->sequence, event.thread), i);
    }
  }
  for (uint32_t i = 0; i < events_.size(); ++i) {
    events_[i].stack_of = i;
    if (nodes[i] == kNone) continue;
    const TorchFunction& node = *events_[nodes[i]].of;
    const auto thread = std::find_if(threads.begin(), threads.end(), [&](const auto& known) {
      return known.first == node.forward_thread;
    });
    events_[i].stack_of = kNone;
    if (thread == threads.end()) continue;
    const auto op = forward.find(std::pair(node.sequence, thread->second));
    if (op != forward.end()) events_[i].stack_of = op->second;
  }
}

/// Children come behind their parents.
void TorchFunctions::Sum() {
  const bool device = trace_.torch_recording.device != TorchRecording::Device::kNone;
  for (size_t i = events_.size(); i-- > 0;) {
    Event& event = events_[i];
    if (event.on_device()) {
      event.device_total = event.device_self = event.host_total;
      event.host_total = {};
      continue;
    }
    TorchTime host;
    TorchTime on_device;
    uint64_t host_bytes = 0;
    uint64_t device_bytes = 0;
    for (uint32_t k = event.first_child; k != kNone; k = events_[k].next_child) {
      host += events_[k].host_total;
      on_device += events_[k].device_total;
      host_bytes += static_cast<uint64_t>(events_[k].host_bytes);
      device_bytes += static_cast<uint64_t>(events_[k].device_bytes);
    }
    event.host_self = event.host_total - host;
    if (device) {
      event.device_total = event.kernels;
      event.device_total += on_device;
      event.device_self = event.device_total - on_device;
    }
    event.host_self_bytes =
        static_cast<int64_t>(static_cast<uint64_t>(event.host_bytes) - host_bytes);
    event.device_self_bytes =
        static_cast<int64_t>(static_cast<uint64_t>(event.device_bytes) - device_bytes);
  }
}

uint32_t TorchFunctions::FramesOf(const Event& event, size_t most) {
  if (event.stack_of == kNone) return 0;
  if (most != most_) frames_.assign(trace_.strings.size(), kNone);
  most_ = most;
  const StringId stack = events_[event.stack_of].of->stack;
  if (frames_[stack] != kNone) return frames_[stack];
  std::vector<std::string_view> frames;
  std::string_view rest = trace_.strings.View(stack);
  while (!rest.empty() && frames.size() < most) {
    const std::string_view frame = rest.substr(0, rest.find(';'));
    rest.remove_prefix(std::min(frame.size() + 1, rest.size()));
    if (!frame.empty() && IsListedFrame(frame)) frames.push_back(frame);
  }
  std::string text;
  for (auto frame = frames.rbegin(); frame != frames.rend(); ++frame) {
    if (!text.empty()) text.push_back(';');
    text += *frame;
  }
  return frames_[stack] = texts_.NumberOf(text);
}

}  // namespace oplens::prof

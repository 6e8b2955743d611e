#ifndef OPLENS_PROF_COMPAT_TORCH_FUNCTIONS_H_
#define OPLENS_PROF_COMPAT_TORCH_FUNCTIONS_H_

#include <cstdint>
#include <string_view>
#include <utility>
#include <vector>

#include "parse/model/trace.h"
#include "prof/run/text_numbers.h"

namespace oplens::prof {

/// A time in ns, and in us as PyTorch's floats have it: these depend on the order of additions.
/// Sums of ns wrap, which only broken files reach.
struct TorchTime {
  int64_t ns = 0;
  double us = 0;

  TorchTime& operator+=(const TorchTime& more) {
    ns = static_cast<int64_t>(static_cast<uint64_t>(ns) + static_cast<uint64_t>(more.ns));
    us += more.us;
    return *this;
  }
  friend TorchTime operator-(TorchTime a, const TorchTime& b) {
    a.ns = static_cast<int64_t>(static_cast<uint64_t>(a.ns) - static_cast<uint64_t>(b.ns));
    a.us -= b.us;
    return a;
  }
};

/// Whether PyTorch's tables leave calls of this name out: the profiler itself, and look-ups.
bool IsUnlistedTorchName(std::string_view name);

/// What torch.profiler of PyTorch 2.13 makes of the events of a file: the FunctionEvents of
/// EventList (torch/autograd/profiler_util.py, profiler.py), with the tree of calls, memory and
/// work of devices. docs/views_torch.md says what a file does not tell.
///
/// O(n log n) for n events.
class TorchFunctions {
 public:
  static constexpr uint32_t kNone = UINT32_MAX;

  struct Event {
    const TorchFunction* of = nullptr;
    uint32_t name = 0;          ///< Number of a text: as tables show it.
    uint32_t thread = 0;        ///< Numbered from 1 in order of first events; 0: none.
    uint32_t parent = kNone;    ///< Indices of events().
    uint32_t stack_of = kNone;  ///< Whose stack it has; kNone: no frames.
    TorchTime host_total;
    TorchTime host_self;
    TorchTime device_total;
    TorchTime device_self;
    int64_t host_bytes = 0;
    int64_t host_self_bytes = 0;
    int64_t device_bytes = 0;
    int64_t device_self_bytes = 0;
    // While the tree is made.
    uint32_t children = 0;
    uint32_t first_child = kNone;
    uint32_t last_child = kNone;
    uint32_t next_child = kNone;
    TorchTime kernels;
    bool node = false;  ///< A node of the backward pass.
    bool merged = false;

    bool on_device() const {
      return of->kind >= TorchFunction::Kind::kDevice &&
             of->kind <= TorchFunction::Kind::kAccelerator;
    }
    bool is_annotation() const {
      return of->kind == TorchFunction::Kind::kAnnotation ||
             of->kind == TorchFunction::Kind::kDeviceAnnotation;
    }
  };

  /// `trace` must outlive this object.
  explicit TorchFunctions(const Trace& trace);

  /// In PyTorch's order: by start, the longest first.
  const std::vector<Event>& events() const { return events_; }
  std::string_view TextOf(uint32_t number) const { return texts_.TextOf(number); }
  /// The innermost frames of an event's stack, at most `most`, outermost first and joined by ';'.
  uint32_t FramesOf(const Event& event, size_t most);
  /// Whether memory was recorded.
  bool has_memory() const { return has_memory_; }

 private:
  void Take();
  void NumberThreads();
  std::vector<std::pair<int64_t, uint32_t>> ForwardThreads() const;
  void Name();
  void Link();
  void TakeMemory();
  void MakeTree();
  void MergeRepeated();
  void FindStacks();
  void Sum();
  uint32_t NameOf(StringId name);

  const Trace& trace_;
  bool has_memory_ = false;
  std::vector<Event> events_;
  TextNumbers texts_;
  std::vector<uint32_t> names_;    // By StringId; kNone: not made yet.
  std::vector<uint32_t> threads_;  // By ThreadIndex; 0: not numbered yet.
  std::vector<uint32_t> frames_;   // By StringId of a stack, for `most_`.
  size_t most_ = 0;
};

}  // namespace oplens::prof

#endif  // OPLENS_PROF_COMPAT_TORCH_FUNCTIONS_H_

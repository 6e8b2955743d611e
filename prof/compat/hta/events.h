#ifndef OPLENS_PROF_COMPAT_HTA_EVENTS_H_
#define OPLENS_PROF_COMPAT_HTA_EVENTS_H_

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "parse/model/trace.h"

namespace oplens::prof {

// The device's work by the rules of HolisticTraceAnalysis 0.6.0, for --compat hta: what is wrong in
// them included.

/// What it takes an event for, by its name.
enum class HtaClass : uint8_t { kComputation, kCommunication, kMemory, kOther };
inline constexpr size_t kHtaClassCount = 4;

/// "COMPUTATION", ...
std::string_view HtaClassWord(HtaClass kind);
HtaClass HtaClassOf(std::string_view name);

/// The name that the reference prints for a long one: without arguments, template arguments and
/// what stands before the last blank.
std::string HtaShortName(std::string_view name);

/// The value at a part of sorted values, of which there are some; between two interpolated.
double HtaQuantile(std::span<const double> values, double part);

/// An event in whole microseconds: a start is rounded up, an end down, so that what is shorter than
/// one may end before it starts.
struct HtaEvent {
  int64_t start_us = 0;
  int64_t end_us = 0;
  uint32_t name = 0;  ///< Index into HtaEvents::names.
  HtaClass kind = HtaClass::kOther;

  int64_t duration_us() const { return end_us - start_us; }
};

/// The reference has times as doubles of microseconds.
double HtaMicroseconds(int64_t ns);
/// One without a fraction as an integer.
int64_t HtaWholeUs(double us);
/// When an event starts, rounded up, and ends, rounded down; clamped so far that differences fit as
/// ns.
int64_t HtaStartUs(double us);
int64_t HtaEndUs(double us);
/// When the last step starts, where there are several: what was launched from then on is left out.
std::optional<int64_t> HtaLastStepUs(const Trace& trace);

/// Everything with a stream: kernels, copies, fills, waits of a stream, and calls of Triton kernels
/// on the host, which bear one (with recorded arguments; without, they are labels to us). Where a
/// run has several steps, only what was launched before the start of the last one; what has no
/// launch is left out. Where a copy or fill was named otherwise than PyTorch's profiler names it,
/// that name is used.
class HtaEvents {
 public:
  explicit HtaEvents(const Trace& trace);

  std::span<const HtaEvent> all() const { return events_; }
  std::string_view NameOf(const HtaEvent& event) const { return names_[event.name]; }

 private:
  void Add(int64_t start_ns, int64_t end_ns, uint32_t name);
  void AddKernels();
  void AddTransfers();
  void AddWaits();
  void AddOperators();
  bool IsCut(LaunchIndex launch) const;
  uint32_t Name(std::string text);

  const Trace& trace_;
  std::optional<int64_t> last_step_us_;  // When the last of several starts.
  std::vector<HtaEvent> events_;
  std::vector<std::string> names_;
  std::vector<HtaClass> kinds_;  // By name.
};

/// Times as the views show them. Clamped so far that a few can be added up.
constexpr int64_t HtaNs(int64_t us) {
  constexpr int64_t kMost = (int64_t{1} << 60) / 1000;
  return std::clamp(us, -kMost, kMost) * 1000;
}

/// [start, end) in us; it may end before it starts.
struct HtaInterval {
  int64_t start_us = 0;
  int64_t end_us = 0;
};

/// Events of some classes (bits 1 << HtaClass) joined where they overlap or touch, by start.
std::vector<HtaInterval> MergeHtaEvents(std::span<const HtaEvent> events, unsigned classes);
/// Sum of the lengths; negative ones count as such.
int64_t HtaLengthUs(std::span<const HtaInterval> intervals);

/// Steps through the beginnings and ends of merged classes in the order of time, as the reference
/// does: each is a moment at which `running` changes.
struct HtaMoment {
  int64_t time_us = 0;
  int64_t change = 0;
};
/// Adds the moments of a class, which counts `weight` while it runs, to those before, and sorts.
void AddHtaMoments(std::span<const HtaInterval> intervals, int64_t weight,
                   std::vector<HtaMoment>* moments);

}  // namespace oplens::prof

#endif  // OPLENS_PROF_COMPAT_HTA_EVENTS_H_

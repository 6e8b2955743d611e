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

// GPU work by the rules of HolisticTraceAnalysis 0.6.0, for --compat hta, including its bugs.

enum class HtaClass : uint8_t { kComputation, kCommunication, kMemory, kOther };
inline constexpr size_t kHtaClassCount = 4;

/// "COMPUTATION", ...
std::string_view HtaClassWord(HtaClass kind);
HtaClass HtaClassOf(std::string_view name);

/// The reference's display form of a long name: without arguments, template arguments and
/// everything before the last space.
std::string HtaShortName(std::string_view name);

/// The quantile `part` of sorted values, interpolated. Precondition: not empty.
double HtaQuantile(std::span<const double> values, double part);

/// An event in whole microseconds: starts are rounded up, ends down, so that an event shorter than
/// 1 us may end before it starts.
struct HtaEvent {
  int64_t start_us = 0;
  int64_t end_us = 0;
  uint32_t name = 0;  ///< Index in HtaEvents::names_.
  HtaClass kind = HtaClass::kOther;

  int64_t duration_us() const { return end_us - start_us; }
};

/// Times in us as doubles, as in the reference.
double HtaMicroseconds(int64_t ns);
/// The integer value of a double without a fraction.
int64_t HtaWholeUs(double us);
/// Start rounded up and end rounded down; clamped so that differences in ns fit.
int64_t HtaStartUs(double us);
int64_t HtaEndUs(double us);
/// Start of the last step if there are several: work launched from then on is left out.
std::optional<int64_t> HtaLastStepUs(const Trace& trace);

/// Everything with a stream: kernels, copies, memsets, stream waits, work of other accelerators,
/// and host calls of Triton kernels, which have one (only with recorded arguments; otherwise we see
/// them as labels). Waits for the whole GPU count in files that have 2^32 - 1 for their stream. If
/// a run has several steps, only what was launched before the last one; work without a launch is
/// left out. Copies and memsets get the names that PyTorch's profiler gives them.
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
  void AddAccelerators();
  void AddMoment(double start_us, double end_us, uint32_t name);
  bool IsCut(LaunchIndex launch) const;
  uint32_t Name(std::string text);

  const Trace& trace_;
  std::optional<int64_t> last_step_us_;  // Start of the last of several steps.
  std::vector<HtaEvent> events_;
  std::vector<std::string> names_;
  std::vector<HtaClass> kinds_;  // By name.
};

/// Times as views show them; clamped so that a few can be added up.
constexpr int64_t HtaNs(int64_t us) {
  constexpr int64_t kMost = (int64_t{1} << 60) / 1000;
  return std::clamp(us, -kMost, kMost) * 1000;
}

/// [start, end) in us; may end before it starts.
struct HtaInterval {
  int64_t start_us = 0;
  int64_t end_us = 0;
};

/// Events of some classes (bits 1 << HtaClass), merged if they overlap or touch, by start.
std::vector<HtaInterval> MergeHtaEvents(std::span<const HtaEvent> events, unsigned classes);
/// Sum of the lengths; negative lengths count as negative.
int64_t HtaLengthUs(std::span<const HtaInterval> intervals);

/// A moment at which `running` changes: a start or end of a merged class, as in the reference.
struct HtaMoment {
  int64_t time_us = 0;
  int64_t change = 0;
};
/// Adds the moments of a class, which adds `weight` while it runs.
void AddHtaMoments(std::span<const HtaInterval> intervals, int64_t weight,
                   std::vector<HtaMoment>* moments);
/// By time; moments of equal times in the order that HtaOrder leaves them.
void SortHtaMoments(std::vector<HtaMoment>* moments);

}  // namespace oplens::prof

#endif  // OPLENS_PROF_COMPAT_HTA_EVENTS_H_

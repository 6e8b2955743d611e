#ifndef OPLENS_PROF_VERDICTS_ROOT_CAUSE_H_
#define OPLENS_PROF_VERDICTS_ROOT_CAUSE_H_

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

#include "prof/verdicts/idle_cause.h"

namespace oplens::prof {

/// Where the time of a rank went, as sums over its steady steps, or over the run from the end of
/// its cold start to its last work.
struct RankTimes {
  int64_t steps = 0;     ///< 0: the run.
  bool repeats = false;  ///< These are repetitions of kernels; no steps are marked.
  int64_t total_ns = 0;
  int64_t cold_ns = 0;                             ///< Of a run, not in total_ns: its cold start,
  int64_t end_ns = 0;                              ///< and what follows its last work.
  int64_t communication_ns = 0;                    ///< Nothing but communication runs.
  int64_t copies_ns = 0;                           ///< Nothing but copies and memsets run.
  std::array<int64_t, kIdleCauseCount> idle_ns{};  ///< All GPUs are idle.
  int64_t kernel_ns = 0;                           ///< Sum of kernels.
  std::string op;                                  ///< The op with most kernel time; "": unknown.
  int64_t op_ns = 0;

  int64_t idle() const;
};

/// A set of causes of which one sentence speaks.
enum class IdleGroup : uint8_t {
  kHost,           ///< launch, host-op, python: the host is late.
  kModuleLoad,     ///< module-load
  kApiCall,        ///< api-call
  kSync,           ///< sync
  kPageableCopy,   ///< pageable-copy
  kDataLoader,     ///< dataloader
  kCommunication,  ///< communication
  kQueued,         ///< queued
  kTail,           ///< tail
  kUnknown,        ///< unknown
  kNone,           ///< Not counted: cold-start, other-stream.
};
inline constexpr size_t kIdleGroupCount = 10;
IdleGroup GroupOf(IdleCause cause);

enum class RootKind : uint8_t {
  kIdle,           ///< The GPU waits for something: `group`.
  kCommunication,  ///< It does nothing but communicate.
  kCopies,         ///< It does nothing but copy.
  kBusy,           ///< It works.
};

/// What takes most of the time that could be saved.
struct RootCause {
  RootKind kind = RootKind::kBusy;
  IdleGroup group = IdleGroup::kNone;
  int64_t time_ns = 0;
};

/// Idle time, or communication or copies alone, is the root cause from this share of the time on.
inline constexpr double kRootShare = 0.1;

/// The largest of the groups of idle causes, of communication alone and of copies alone, if it has
/// at least kRootShare of the time.
RootCause RootCauseOf(const RankTimes& times);

/// What the largest part of a root cause is about; "": unknown.
struct RootSubject {
  std::string call;        ///< API call, or what holds work back.
  std::string op;          ///< Operator around at least half of that time.
  bool all_of_op = false;  ///< Around at least nine tenths of it.
  std::string frame;       ///< Line of Python around at least half of it.
  int64_t time_ns = 0;     ///< Idle time of `call`; of a cause without calls, all of it.
  int64_t count = 0;       ///< Number of such calls in `op`, if that is known,
  int64_t longest_ns = 0;  ///< and the longest wait for one.
};

/// One sentence without a period: "the GPU waits in hipFree called by aten::empty_cache, 12 times a
/// step: 53 % of a step".
std::string RootCauseSentence(const RankTimes& times, const RootCause& cause,
                              const RootSubject& subject);
/// The command of oplens, without the file, that shows it.
std::string_view RootCauseCommand(const RootCause& cause);

}  // namespace oplens::prof

#endif  // OPLENS_PROF_VERDICTS_ROOT_CAUSE_H_

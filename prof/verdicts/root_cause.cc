#include "prof/verdicts/root_cause.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/ratio.h"
#include "base/saturating.h"

namespace oplens::prof {
namespace {

std::string ShareText(int64_t time_ns, int64_t total_ns) {
  const double pct = Percent(time_ns, total_ns).value_or(0);
  if (time_ns > 0 && pct < 0.05) return "<0.1";
  if (time_ns < total_ns && pct > 99.95) return ">99.9";
  return fmt::format("{:.1f}", pct);
}

/// ", 12 times a step"; "" without a count.
std::string CountText(const RankTimes& times, int64_t count) {
  if (count == 0) return "";
  const std::string_view once = count == 1 ? "once" : "";
  if (times.steps == 0) {
    return once.empty() ? fmt::format(", {} times", count) : fmt::format(", {}", once);
  }
  const double a_step = static_cast<double>(count) / static_cast<double>(times.steps);
  const std::string_view one = times.repeats ? "repetition" : "step";
  if (a_step < 0.95) return fmt::format(", {} times in {} {}s", count, times.steps, one);
  if (a_step < 1.05) return fmt::format(", once a {}", one);
  return a_step < 9.95 ? fmt::format(", {:.1f} times a {}", a_step, one)
                       : fmt::format(", {:.0f} times a {}", a_step, one);
}

/// " in aten::item at train.py(33): step", as far as it is known.
std::string PlaceText(const RootSubject& subject, std::string_view before_op) {
  std::string text;
  if (!subject.op.empty()) {
    text += fmt::format(" {}{} {}", subject.all_of_op ? "" : "mostly ", before_op, subject.op);
  }
  if (!subject.frame.empty()) text += fmt::format(" at {}", subject.frame);
  return text;
}

std::string HeldText(std::string_view held) {
  if (held == HeldByWord(HeldBy::kStream)) return "behind earlier work of its stream";
  if (held == HeldByWord(HeldBy::kEvent)) return "until an event that its stream waits for";
  if (held == HeldByWord(HeldBy::kCopy)) return "before a copy starts";
  return "by the device";
}

/// What the GPU waits for in a cause that consists of API calls: `one` call if that has nearly all
/// of the time, otherwise `all` of them, and which has most.
std::string CallText(const RankTimes& times, const RootCause& cause, const RootSubject& subject,
                     std::string_view one, std::string_view all, std::string_view before_op) {
  const std::string call = fmt::format("{}{}{}", subject.call, PlaceText(subject, before_op),
                                       CountText(times, subject.count));
  if (subject.call.empty()) return std::string(all);
  if (subject.time_ns >= cause.time_ns - cause.time_ns / 10) return fmt::format("{} {}", one, call);
  return fmt::format("{}, most of it {} % in {}", all, ShareText(subject.time_ns, times.total_ns),
                     call);
}

std::string WaitText(const RankTimes& times, const RootCause& cause, const RootSubject& subject) {
  switch (cause.group) {
    case IdleGroup::kHost: {
      std::string parts;
      for (const IdleCause part : {IdleCause::kLaunch, IdleCause::kHostOp, IdleCause::kPython}) {
        const int64_t ns = times.idle_ns[static_cast<size_t>(part)];
        if (ns == 0) continue;
        // What is not recorded may be Python or not.
        const std::string_view word =
            part == IdleCause::kPython ? "python or other code" : IdleCauseWord(part);
        parts += fmt::format("{}{} {} %", parts.empty() ? "" : ", ", word,
                             ShareText(ns, times.total_ns));
      }
      const std::string place = PlaceText(subject, "in");
      return fmt::format("the GPU waits for the host to launch its next work ({}){}{}", parts,
                         place.empty() ? "" : ",", place);
    }
    case IdleGroup::kModuleLoad:
      return fmt::format(
          "the GPU waits for launches that load code at their first use ({}{}, the longest {:.4g} "
          "ms)",
          subject.call, CountText(times, subject.count),
          static_cast<double>(subject.longest_ns) / 1e6);
    case IdleGroup::kApiCall:
      return CallText(times, cause, subject, "the GPU waits in", "the GPU waits in API calls",
                      "called by");
    case IdleGroup::kSync:
      return CallText(times, cause, subject, "the GPU has no work while the host returns from",
                      "the GPU has no work while the host returns from calls that waited for it",
                      "in");
    case IdleGroup::kPageableCopy:
      return CallText(times, cause, subject, "the GPU waits for copies of pageable memory by",
                      "the GPU waits for copies of pageable memory", "in");
    case IdleGroup::kDataLoader:
      return "the GPU waits for the data loader";
    case IdleGroup::kCommunication:
      return fmt::format("the GPU waits while the host starts a collective{}",
                         PlaceText(subject, "in"));
    case IdleGroup::kQueued:
      return fmt::format("work that is launched is held back{} {}",
                         subject.time_ns >= cause.time_ns - cause.time_ns / 10 ? "" : ", mostly",
                         HeldText(subject.call));
    case IdleGroup::kTail:
      return times.steps > 0 ? "the host goes on after the last work, and the GPU is idle"
                             : "the GPU has no more work at the end";
    default:
      return "the GPU is idle before work of which the recording does not hold the launch";
  }
}

}  // namespace

int64_t RankTimes::idle() const {
  int64_t sum_ns = 0;
  for (const int64_t ns : idle_ns) SaturatingAdd(&sum_ns, ns);
  return sum_ns;
}

IdleGroup GroupOf(IdleCause cause) {
  switch (cause) {
    case IdleCause::kLaunch:
    case IdleCause::kHostOp:
    case IdleCause::kPython:
      return IdleGroup::kHost;
    case IdleCause::kModuleLoad:
      return IdleGroup::kModuleLoad;
    case IdleCause::kApiCall:
      return IdleGroup::kApiCall;
    case IdleCause::kSync:
      return IdleGroup::kSync;
    case IdleCause::kPageableCopy:
      return IdleGroup::kPageableCopy;
    case IdleCause::kDataLoader:
      return IdleGroup::kDataLoader;
    case IdleCause::kCommunication:
      return IdleGroup::kCommunication;
    case IdleCause::kQueued:
      return IdleGroup::kQueued;
    case IdleCause::kTail:
      return IdleGroup::kTail;
    case IdleCause::kUnknown:
      return IdleGroup::kUnknown;
    default:
      return IdleGroup::kNone;
  }
}

RootCause RootCauseOf(const RankTimes& times) {
  std::array<int64_t, kIdleGroupCount> groups_ns{};
  for (size_t i = 0; i < kIdleCauseCount; ++i) {
    const IdleGroup group = GroupOf(static_cast<IdleCause>(i));
    if (group == IdleGroup::kNone) continue;
    SaturatingAdd(&groups_ns[static_cast<size_t>(group)], times.idle_ns[i]);
  }
  const auto most = std::max_element(groups_ns.begin(), groups_ns.end());
  RootCause root{RootKind::kIdle, static_cast<IdleGroup>(most - groups_ns.begin()), *most};
  if (times.communication_ns > root.time_ns) {
    root = {RootKind::kCommunication, IdleGroup::kNone, times.communication_ns};
  }
  if (times.copies_ns > root.time_ns) {
    root = {RootKind::kCopies, IdleGroup::kNone, times.copies_ns};
  }
  const double least_ns = kRootShare * static_cast<double>(times.total_ns);
  if (static_cast<double>(root.time_ns) < least_ns || root.time_ns == 0) {
    return {RootKind::kBusy, IdleGroup::kNone,
            std::max<int64_t>(SaturatingDifference(times.total_ns, times.idle()), 0)};
  }
  return root;
}

std::string RootCauseSentence(const RankTimes& times, const RootCause& cause,
                              const RootSubject& subject) {
  // Of the run, less than 1 % left out is not worth a word.
  const auto is_little = [&](int64_t ns) { return ns < times.total_ns / 100; };
  const std::string share =
      fmt::format("{} % of {}", ShareText(cause.time_ns, times.total_ns),
                  times.repeats              ? "a repetition"
                  : times.steps > 0          ? "a step"
                  : !is_little(times.end_ns) ? "the run up to its last work"
                  : is_little(times.cold_ns) ? "the run"
                                             : "the run after its cold start");
  switch (cause.kind) {
    case RootKind::kIdle:
      return fmt::format("{}: {}", WaitText(times, cause, subject), share);
    case RootKind::kCommunication:
      return fmt::format("the GPU does nothing but communicate: {}", share);
    case RootKind::kCopies:
      return fmt::format("the GPU does nothing but copy: {}", share);
    case RootKind::kBusy:
      break;
  }
  const std::string op_share = ShareText(times.op_ns, times.kernel_ns);
  if (times.op.empty() || times.op_ns < times.kernel_ns / 10) {
    return fmt::format("the GPU works: {}", share);
  }
  return fmt::format("the GPU works: {}; {} of its kernel time is {}, {} %", share,
                     2 * times.op_ns >= times.kernel_ns ? "most" : "the largest known part",
                     times.op, op_share);
}

std::string_view RootCauseCommand(const RootCause& cause) {
  switch (cause.kind) {
    case RootKind::kIdle:
      return cause.group == IdleGroup::kDataLoader ? "view idle --by step"
                                                   : "view idle --by call,op";
    case RootKind::kCommunication:
      return "view collectives";
    case RootKind::kCopies:
      return "view bandwidth";
    case RootKind::kBusy:
      return "groups op,dir";
  }
  return "";
}

}  // namespace oplens::prof

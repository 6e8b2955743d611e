#include "prof/path/critical_path.h"

#include <fmt/format.h>

#include <algorithm>
#include <bitset>
#include <cmath>
#include <initializer_list>
#include <limits>
#include <map>
#include <vector>

#include "base/error.h"
#include "base/parse_number.h"
#include "base/saturating.h"
#include "base/words.h"
#include "parse/join/call_tree.h"
#include "parse/model/cuda_kinds.h"
#include "parse/model/kernel_names.h"
#include "prof/path/edge_splitter.h"
#include "prof/path/moment_graph.h"
#include "prof/path/step_graph.h"
#include "prof/run/call_name.h"
#include "prof/run/call_work.h"
#include "prof/run/class_times.h"
#include "prof/run/device_work.h"
#include "prof/run/run.h"
#include "prof/run/step.h"
#include "prof/run/steps.h"

namespace oplens::prof {
namespace {

std::string CauseWords() {
  std::string words;
  for (size_t i = 0; i < kPathCauseCount; ++i) {
    if (i > 0) words += ", ";
    words += PathCauseWord(static_cast<PathCause>(i));
  }
  return words;
}

/// The causes that a word of --what-if names: one of PathCauseWord, or a word that was one before.
std::bitset<kPathCauseCount> CausesOf(std::string_view word) {
  struct Former {
    std::string_view word;
    std::initializer_list<PathCause> causes;
  };
  static const Former kFormer[] = {
      {"queue", {PathCause::kQueued}},
      {"launch_delay", {PathCause::kQueued}},
      {"sync_wait", {PathCause::kSync}},
      {"cpu_op", {PathCause::kHostOp}},
      {"other_host", {PathCause::kPython}},
      {"idle", {PathCause::kUnknown}},
      {"api_call", {PathCause::kLaunch, PathCause::kPageableCopy, PathCause::kApiCall}}};
  std::bitset<kPathCauseCount> causes;
  for (size_t i = 0; i < kPathCauseCount; ++i) {
    if (PathCauseWord(static_cast<PathCause>(i)) == word) causes.set(i);
  }
  for (const Former& former : kFormer) {
    if (former.word != word) continue;
    for (const PathCause cause : former.causes) causes.set(static_cast<size_t>(cause));
  }
  return causes;
}

[[noreturn]] void WhatIfFail(std::string_view text, const std::string& why) {
  throw UsageError(fmt::format("--what-if '{}': {}", text, why));
}

std::string PathNamesWorkName(const Run& run, const DeviceEvent& event) {
  const Trace& trace = run.trace();
  switch (event.work) {
    case WorkClass::kCopy: {
      const std::string_view kind = CopyKindWord(trace.copies[event.index].copy_kind);
      return kind.empty() ? "Memcpy" : fmt::format("Memcpy {}", kind);
    }
    case WorkClass::kFill:
      return "Memset";
    case WorkClass::kReplay:
      return fmt::format("graph {}", trace.graph_replays[event.index].graph_id);
    default:
      return run.names().Of(trace.kernels[event.index]).full;
  }
}

class Factors {
 public:
  Factors(const Run& run, WhatIf* what_if) : run_(run), what_if_(*what_if) {}

  double Of(PathCause cause, const PathSubject& subject) {
    const int64_t key = PathNameKeyOf(run_, subject) * static_cast<int64_t>(kPathCauseCount) +
                        static_cast<int64_t>(cause);
    const uint32_t op = PathOpOf(run_, subject);
    const StringId text = op == kNoItem ? 0 : run_.trace().ranges[op].text;
    const auto [place, is_new] = known_.try_emplace({key, text}, 1.0);
    if (is_new) {
      place->second =
          what_if_.FactorOf(cause, PathNameOf(run_, subject),
                            op == kNoItem ? std::string_view() : CallNameOf(run_.joined(), op));
    }
    return place->second;
  }

 private:
  const Run& run_;
  WhatIf& what_if_;
  std::map<std::pair<int64_t, StringId>, double> known_;  // By subject and its operator.
};

int64_t CriticalPathScaled(int64_t time_ns, double factor) {
  if (factor == 1) return time_ns;
  constexpr auto kMost = static_cast<double>(std::numeric_limits<int64_t>::max() / 2);
  return std::llround(std::min(static_cast<double>(time_ns) * factor, kMost));
}

class CriticalPathPathFinder {
 public:
  CriticalPathPathFinder(const Run& run, WhatIf* what_if, PathTaker* taker)
      : what_if_(*what_if),
        steps_(run),
        splitter_(run, steps_),
        scaling_(run, steps_),
        factors_(run, what_if),
        taker_(*taker) {}

  void Find(const Step& step, size_t place, StepPath* path) {
    steps_.Build(step, place);
    longest_.Find(steps_.graph());
    path->number = step.number;
    path->span = step.span;
    path->cut = longest_.cut() + steps_.backward();
    ListEdges(path);
    path->what_if_ns = path->length_ns;
    if (what_if_.empty()) return;
    const int64_t measured_ns = longest_.LengthTo(steps_.end_node());
    ScaleEdges();
    longest_.FindAgain(steps_.graph(), scaled_ns_);
    const int64_t changed_ns = longest_.LengthTo(steps_.end_node());
    path->what_if_ns =
        SaturatingSum(path->length_ns - std::min(measured_ns, path->length_ns), changed_ns);
  }

 private:
  void ListEdges(StepPath* path) {
    way_.clear();
    uint32_t node = steps_.end_node();
    for (uint32_t edge = longest_.EdgeInto(node); edge != LongestPaths::kNone;
         edge = longest_.EdgeInto(node)) {
      way_.push_back({edge, node});
      node = steps_.graph().edges()[edge].from;
    }
    path->length_ns = 0;
    int64_t now_ns = path->span.start_ns;
    const auto add = [&](const PathEdge& part) {
      // Where a cycle was cut, the path may begin late or have a gap.
      AddUnknown(now_ns, part.start_ns, path);
      Add(part, path);
      now_ns = SaturatingSum(part.start_ns, part.time_ns);
    };
    for (auto step = way_.rbegin(); step != way_.rend(); ++step) {
      splitter_.Split(steps_.graph().edges()[step->edge], step->to, add);
    }
    AddUnknown(now_ns, path->span.end_ns, path);
  }

  void AddUnknown(int64_t start_ns, int64_t end_ns, StepPath* path) {
    if (start_ns >= end_ns) return;
    PathEdge edge = {start_ns, LengthOf({start_ns, end_ns}), {}};
    edge.link = PathLink::kStart;
    Add(edge, path);
  }

  void Add(const PathEdge& edge, StepPath* path) {
    SaturatingAdd(&path->length_ns, edge.time_ns);
    taker_.TakeEdge(edge);
  }

  void ScaleEdges() {
    const MomentGraph& graph = steps_.graph();
    scaled_ns_.resize(graph.edges().size());
    for (uint32_t node = 0; node < graph.size(); ++node) {
      for (uint32_t i = graph.FirstInto(node); i < graph.EndInto(node); ++i) {
        int64_t sum_ns = 0;
        scaling_.Split(graph.edges()[i], node, [&](const PathEdge& part) {
          const double factor = factors_.Of(part.cause, part.subject);
          SaturatingAdd(&sum_ns, CriticalPathScaled(part.time_ns, factor));
        });
        scaled_ns_[i] = sum_ns;
      }
    }
  }

  struct Way {
    uint32_t edge;
    uint32_t to;
  };

  const WhatIf& what_if_;
  StepGraph steps_;
  EdgeSplitter splitter_;
  EdgeSplitter scaling_;
  Factors factors_;
  PathTaker& taker_;
  LongestPaths longest_;
  std::vector<Way> way_;
  std::vector<int64_t> scaled_ns_;  // By edge.
};

}  // namespace

WhatIf::WhatIf(std::span<const std::string> texts) {
  for (const std::string& text : texts) changes_.push_back(Parse(text));
}

WhatIf::Change WhatIf::Parse(std::string_view text) {
  constexpr std::string_view kHead = "scale(";
  const std::string_view trimmed = Trim(text);
  if (!trimmed.starts_with(kHead) || !trimmed.ends_with(')')) {
    WhatIfFail(text, "write scale(WHAT,FACTOR), such as scale(compute,0.5) or scale(aten::mm,0)");
  }
  const std::string_view inside = trimmed.substr(kHead.size(), trimmed.size() - kHead.size() - 1);
  // Names may contain commas, numbers cannot.
  const size_t comma = inside.rfind(',');
  if (comma == std::string_view::npos)
    WhatIfFail(text, "the factor is missing: scale(WHAT,FACTOR)");
  const std::string_view what = Trim(inside.substr(0, comma));
  const std::string_view number = Trim(inside.substr(comma + 1));
  if (what.empty()) {
    WhatIfFail(text, fmt::format("name an operator or kernel, or one of {}", CauseWords()));
  }
  Change change;
  if (!ParseNumber(number, &change.factor) || !std::isfinite(change.factor)) {
    WhatIfFail(text, fmt::format("'{}' is no number", number));
  }
  if (change.factor < 0) WhatIfFail(text, "the factor must not be negative; 0 removes the time");
  change.causes = CausesOf(what);
  if (change.causes.none()) change.pattern = what;
  change.text = trimmed;
  return change;
}

double WhatIf::FactorOf(PathCause cause, std::string_view name, std::string_view op) {
  // Waiting time does not belong to the name.
  const bool named =
      cause != PathCause::kQueued && cause != PathCause::kSync && cause != PathCause::kUnknown;
  double factor = 1;
  for (Change& change : changes_) {
    const bool fits = change.causes.any()
                          ? change.causes.test(static_cast<size_t>(cause))
                          : named && (MatchesPattern(name, change.pattern) ||
                                      (!op.empty() && MatchesPattern(op, change.pattern)));
    if (!fits) continue;
    change.fitted = true;
    factor *= change.factor;
  }
  return factor;
}

std::vector<std::string> WhatIf::Unfitted() const {
  std::vector<std::string> texts;
  for (const Change& change : changes_) {
    if (!change.fitted) texts.push_back(change.text);
  }
  return texts;
}

void WhatIf::MergeFitted(const WhatIf& other) {
  for (size_t i = 0; i < changes_.size() && i < other.changes_.size(); ++i) {
    changes_[i].fitted |= other.changes_[i].fitted;
  }
}

bool MatchesPattern(std::string_view text, std::string_view pattern) {
  size_t at = 0;
  size_t place = 0;
  size_t star = std::string_view::npos;  // The last '*'; it matches the text before
  size_t star_end = 0;                   // this place.
  while (at < text.size()) {
    if (place < pattern.size() && pattern[place] == '*') {
      star = place++;
      star_end = at;
    } else if (place < pattern.size() && (pattern[place] == '?' || pattern[place] == text[at])) {
      ++at;
      ++place;
    } else if (star != std::string_view::npos) {
      place = star + 1;
      at = ++star_end;
    } else {
      return false;
    }
  }
  while (place < pattern.size() && pattern[place] == '*') ++place;
  return place == pattern.size();
}

void FindCriticalPaths(const Run& run, WhatIf* what_if, PathTaker* taker) {
  CriticalPathPathFinder finder(run, what_if, taker);
  StepPath path;
  const std::span<const Step> steps = run.steps().all();
  for (size_t i = 0; i < steps.size(); ++i) {
    finder.Find(steps[i], i, &path);
    taker->TakeStep(path);
  }
}

std::string PathNameOf(const Run& run, const PathSubject& subject) {
  const Trace& trace = run.trace();
  switch (subject.kind) {
    case PathSubject::Kind::kRange:
      return std::string(parse::IsHostCall(run.joined(), subject.index)
                             ? CallNameOf(run.joined(), subject.index)
                             : trace.strings.View(trace.ranges[subject.index].text));
    case PathSubject::Kind::kCall:
      return std::string(trace.strings.View(trace.launches[subject.index].api));
    case PathSubject::Kind::kWork:
      return PathNamesWorkName(run, run.device_work().events()[subject.index]);
    case PathSubject::Kind::kNothing:
      break;
  }
  return {};
}

uint32_t PathOpOf(const Run& run, const PathSubject& subject) {
  if (subject.kind != PathSubject::Kind::kWork) return kNoItem;
  const uint32_t call = run.call_work().CallOf(run.device_work().events()[subject.index]);
  return call == CallWork::kNone ? kNoItem : run.calls().all()[call].range;
}

int64_t PathNameKeyOf(const Run& run, const PathSubject& subject) {
  constexpr int64_t kKinds = 8;
  const Trace& trace = run.trace();
  const auto kind = static_cast<int64_t>(subject.kind);
  switch (subject.kind) {
    case PathSubject::Kind::kRange: {
      // A marker and an operator may have the same text.
      const Range& range = trace.ranges[subject.index];
      const bool marker = range.kind == RangeKind::kMarker;
      return int64_t{range.text} * kKinds + (marker ? kKinds - 1 : kind);
    }
    case PathSubject::Kind::kCall:
      return int64_t{trace.launches[subject.index].api} * kKinds + kind;
    case PathSubject::Kind::kWork: {
      const DeviceEvent& event = run.device_work().events()[subject.index];
      if (event.IsKernel()) return int64_t{trace.kernels[event.index].name} * kKinds + kind;
      return int64_t{subject.index} * kKinds + kind + 1;
    }
    case PathSubject::Kind::kNothing:
      break;
  }
  return kind;
}

}  // namespace oplens::prof

#include "report/timeline/path_pairs.h"

#include <optional>

#include "prof/run/run.h"

namespace oplens::report {
namespace {

using prof::PathEdge;
using prof::PathSubject;

class PairTaker : public prof::PathTaker {
 public:
  explicit PairTaker(PathPairs* pairs) : pairs_(*pairs) {}

  void TakeEdge(const PathEdge& edge) override {
    if (edge.subject.kind == PathSubject::Kind::kNothing) return;
    if (last_ && IsPair(*last_, edge)) pairs_.emplace_back(last_->subject, edge.subject);
    last_ = edge;
  }
  void TakeStep(const prof::StepPath&) override { last_.reset(); }

 private:
  static bool IsWork(const PathEdge& edge) { return edge.subject.kind == PathSubject::Kind::kWork; }
  static bool IsPair(const PathEdge& from, const PathEdge& to) {
    if (from.subject == to.subject) return false;
    return IsWork(from) || IsWork(to) || from.thread != to.thread;
  }

  PathPairs& pairs_;
  std::optional<PathEdge> last_;
};

}  // namespace

PathPairs CriticalPairsOf(const prof::Run& run) {
  PathPairs pairs;
  PairTaker taker(&pairs);
  prof::WhatIf as_measured;
  prof::FindCriticalPaths(run, &as_measured, &taker);
  return pairs;
}

}  // namespace oplens::report

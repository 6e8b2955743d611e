#ifndef OPLENS_PROF_VIEWS_PATH_ADVICE_STEPS_H_
#define OPLENS_PROF_VIEWS_PATH_ADVICE_STEPS_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "prof/advice/advise.h"
#include "prof/advice/facts.h"

namespace oplens::prof {

class AdviceClaims;
class Run;

/// How the gains of topics are made up of the steps of a rank.
class AdviceSteps {
 public:
  struct Step {
    int64_t number = 0;
    int64_t total_ns = 0;
    bool counts = false;  ///< Steady; the others have no gains.
    std::array<int64_t, advice::kTopicCount> gain_ns{};
    std::array<int64_t, advice::kTopicCount> saved_ns{};  ///< By a replay.

    template <typename Bytes, typename Self>
    static void Transfer(Bytes* bytes, Self* self) {
      bytes->Values(&self->number, &self->total_ns, &self->counts, &self->gain_ns, &self->saved_ns);
    }
  };

  AdviceSteps() = default;
  /// `claims` after their replay, of the same run as `facts`.
  AdviceSteps(const Run& run, const advice::RankFacts& facts, const AdviceClaims& claims);

  /// The steps, if the gain of `item`, which is of the rank with these facts, is the sum of those
  /// of its topic in them; otherwise none: of the rule's gain only the whole is known.
  const std::vector<Step>& Of(const advice::Item& item, const advice::RankFacts& facts) const;

  /// Of two recordings of a rank nothing is known by step.
  void Merge(const AdviceSteps& more);

  template <typename Bytes, typename Self>
  static void Transfer(Bytes* bytes, Self* self) {
    bytes->Values(&self->any_, &self->steps_);
  }

 private:
  bool any_ = false;
  std::vector<Step> steps_;  // Complete ones, in order of time.
};

}  // namespace oplens::prof

#endif  // OPLENS_PROF_VIEWS_PATH_ADVICE_STEPS_H_

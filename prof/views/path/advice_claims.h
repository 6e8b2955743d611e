#ifndef OPLENS_PROF_VIEWS_PATH_ADVICE_CLAIMS_H_
#define OPLENS_PROF_VIEWS_PATH_ADVICE_CLAIMS_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <set>
#include <span>
#include <utility>
#include <vector>

#include "parse/model/trace.h"
#include "prof/advice/facts.h"
#include "prof/run/interval_set.h"

namespace oplens::prof {

class Run;
struct LateWork;

/// The topic of a wait of `host_ns` for the host that no other topic has: the start of a marked
/// step, or any.
advice::Topic TopicOfHostWait(const advice::RankFacts& facts, const LateWork& late,
                              int64_t host_ns);

/// Which topic the times of a run belong to: every kernel and every wait for the host to one.
class AdviceClaims {
 public:
  /// `run`: null if there are only records, of which there are no claims.
  void Begin(const Run* run);

  /// The kernel could take `gain_ns` less.
  void TakeKernel(uint32_t kernel, advice::Topic topic, int64_t gain_ns);
  /// A copy could be gone, by which `gain_ns` are saved.
  void TakeCopy(uint32_t copy, advice::Topic topic, int64_t gain_ns);
  /// A call that copies pageable memory: it would return without having copied.
  void TakePageableCall(LaunchIndex call) { pageable_.insert(call); }
  /// The GPU waits in this time for what the host does on any thread.
  void TakeTime(advice::Topic topic, const Interval& time);
  /// A call of kBlocking: the host would not wait in it, and `gain_ns` of the gap after it be
  /// saved.
  void TakeCall(LaunchIndex call, const Interval& gap, int64_t gain_ns);

  /// The wait for the host before a kernel, in SteadyIdle::late; kNoWait: there is none.
  static constexpr uint32_t kNoWait = UINT32_MAX;
  uint32_t WaitBefore(uint32_t kernel) const { return waits_.empty() ? kNoWait : waits_[kernel]; }
  void SetWaitBefore(uint32_t kernel, uint32_t late) { waits_[kernel] = late; }
  /// To which topic a wait belongs; kNone until a topic takes it.
  advice::Topic& OfWait(uint32_t late) { return of_wait_[late]; }
  size_t wait_count() const { return of_wait_.size(); }

  /// Sets TopicFacts::saved_ns: the critical paths of the steady time without the gains.
  void Replay(advice::RankFacts* facts);
  /// What Replay found, by step of Steps::all() and topic; empty: nothing was replayed.
  std::span<const std::array<int64_t, advice::kTopicCount>> saved_ns() const { return saved_ns_; }

  /// The gains of kernels, and those of other work and of waits with their times.
  void ForEachGain(
      const std::function<void(uint32_t kernel, advice::Topic topic, int64_t gain_ns)>& of_kernel,
      const std::function<void(const Interval& time, advice::Topic topic, int64_t gain_ns)>&
          of_time) const;

 private:
  friend class TopicChanges;
  /// Which topic each work has, and the gain: apart, in 9 bytes, since a run has many kernels.
  struct Claims {
    std::vector<int64_t> gains_ns;
    std::vector<advice::Topic> topics;

    explicit Claims(size_t size = 0) : gains_ns(size), topics(size, advice::Topic::kNone) {}
    size_t size() const { return topics.size(); }
    void Take(size_t work, advice::Topic topic, int64_t gain_ns) {
      topics[work] = topic;
      gains_ns[work] = gain_ns;
    }
  };

  const Run* run_ = nullptr;
  Claims kernels_;
  Claims copies_;
  std::vector<uint32_t> waits_;         // By kernel.
  std::vector<advice::Topic> of_wait_;  // By index in SteadyIdle::late.
  std::array<std::vector<Interval>, advice::kTopicCount> times_;
  std::set<LaunchIndex> blocking_;
  std::vector<std::pair<Interval, int64_t>> blocked_;  // Gaps, and their gains.
  std::vector<std::array<int64_t, advice::kTopicCount>> saved_ns_;
  std::set<LaunchIndex> pageable_;
};

}  // namespace oplens::prof

#endif  // OPLENS_PROF_VIEWS_PATH_ADVICE_CLAIMS_H_

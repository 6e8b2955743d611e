#ifndef OPLENS_PROF_PRICE_GIVEN_WORK_H_
#define OPLENS_PROF_PRICE_GIVEN_WORK_H_

#include "base/recent_map.h"
#include "ops/kernels/share_work.h"
#include "prof/price/call_key.h"

namespace oplens::prof {

/// Remembers which work kernels were charged already, so that none is counted twice: calls that are
/// closed, and what calls inside others did of their work.
///
/// Memory: the last 32,768 to 65,536 calls, some 5 MB.
class GivenWork {
 public:
  /// All of a call's work is given away.
  void Spend(const CallKey& key) { calls_[key].spent = true; }
  bool IsSpent(const CallKey& key) const;

  /// What of the calls around a row's call that one does. Needs the row's resolution.outer.
  void Cover(const WaitingRow& row, const CallKey& key);
  /// What calls inside this one do of it.
  ops::CoveredWork CoveredOf(const CallKey& key) const;

 private:
  struct Given {
    bool spent = false;
    ops::CoveredWork covered;
  };
  static constexpr size_t kMaxCalls = 32768;

  RecentMap<CallKey, Given, CallKeyHash> calls_{kMaxCalls};
};

}  // namespace oplens::prof

#endif  // OPLENS_PROF_PRICE_GIVEN_WORK_H_

#include "prof/price/given_work.h"

namespace oplens::prof {

bool GivenWork::IsSpent(const CallKey& key) const {
  const Given* given = calls_.Find(key);
  return given != nullptr && given->spent;
}

void GivenWork::Cover(const WaitingRow& row, const CallKey& key) {
  const ops::PricedOp& inner = *row.resolution.priced->price;
  for (const OuterCall& outer : row.resolution.outer) {
    const ops::CoveredWork part = ops::CoveredBy(*outer.annotation->price, inner);
    if (!part.main && !part.epilogue) continue;
    const CallKey around = AroundKey(key, outer);
    // A text that nests in itself and begins together cannot be told apart from one range.
    if (around == key) continue;
    ops::CoveredWork& covered = calls_[around].covered;
    covered.main |= part.main;
    covered.epilogue |= part.epilogue;
  }
}

ops::CoveredWork GivenWork::CoveredOf(const CallKey& key) const {
  const Given* given = calls_.Find(key);
  return given != nullptr ? given->covered : ops::CoveredWork();
}

}  // namespace oplens::prof

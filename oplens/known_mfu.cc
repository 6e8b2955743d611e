#include "oplens/known_mfu.h"

#include <cmath>

namespace oplens::screen {

double RoundedDown(double pct) { return std::floor(pct * 10 + 1e-6) / 10; }

std::optional<KnownMfu> KnownMfuOf(const Screen& screen) {
  if (!screen.time || !screen.time->mfu_pct) return std::nullopt;
  constexpr double kAllFlopsPct = 99.5;
  constexpr double kLittlePct = 0.1;
  const bool bound = screen.flops_known_pct.value_or(100) < kAllFlopsPct || screen.replays > 0;
  const double pct = *screen.time->mfu_pct;
  if (bound && pct < kLittlePct) return std::nullopt;
  return KnownMfu{bound ? RoundedDown(pct) : pct, bound};
}

}  // namespace oplens::screen

#ifndef OPLENS_OPLENS_KNOWN_MFU_H_
#define OPLENS_OPLENS_KNOWN_MFU_H_

#include <optional>

#include "oplens/screen.h"

namespace oplens::screen {

/// A lower bound with one decimal, so that it stays one.
double RoundedDown(double pct);

/// The MFU as it may be said.
struct KnownMfu {
  double pct = 0;
  bool is_bound = false;  ///< At least.
};
/// nullopt: unknown, or a lower bound that rounds to 0.
std::optional<KnownMfu> KnownMfuOf(const Screen& screen);

}  // namespace oplens::screen

#endif  // OPLENS_OPLENS_KNOWN_MFU_H_

#ifndef OPLENS_OPLENS_RENDER_H_
#define OPLENS_OPLENS_RENDER_H_

#include <cstddef>
#include <string>

#include "oplens/screen.h"

namespace oplens::screen {

inline constexpr size_t kMostLines = 40;
inline constexpr size_t kMostColumns = 100;
inline constexpr size_t kLeastColumns = 40;

/// How a screen is written.
struct Look {
  size_t columns = kMostColumns;  ///< At most kMostColumns; less than kLeastColumns is that.
  bool colours = false;
};

/// The screen as lines: at most kMostLines, none wider than told, but for the escapes of colours.
std::string Render(const Screen& screen, const Look& look);

}  // namespace oplens::screen

#endif  // OPLENS_OPLENS_RENDER_H_

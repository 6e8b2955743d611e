#ifndef OPLENS_OPLENS_RENDER_H_
#define OPLENS_OPLENS_RENDER_H_

#include <cstddef>
#include <string>

#include "oplens/screen.h"

namespace oplens::screen {

inline constexpr size_t kMostLines = 40;
inline constexpr size_t kMostColumns = 100;
inline constexpr size_t kLeastColumns = 40;

/// The style of a screen.
struct Look {
  size_t columns = kMostColumns;  ///< Clamped to kLeastColumns..kMostColumns.
  bool colours = false;
  bool markdown = false;  ///< GitHub's Markdown, for people who read it rendered.
};

/// The screen as text, or as Markdown (MarkdownOf): at most kMostLines lines of at most
/// Look::columns characters, not counting colour escapes.
std::string Render(const Screen& screen, const Look& look);

}  // namespace oplens::screen

#endif  // OPLENS_OPLENS_RENDER_H_

#ifndef OPLENS_PROF_TABLE_DISPLAY_WIDTH_H_
#define OPLENS_PROF_TABLE_DISPLAY_WIDTH_H_

#include <cstddef>
#include <string>
#include <string_view>

namespace oplens::prof {

/// Columns that a terminal uses for valid UTF-8 text without control characters: 2 for a wide
/// character (CJK, emoji), 0 for one that combines with its predecessor.
size_t DisplayWidth(std::string_view text);

/// Where "..." replaces a part of a text that is too wide.
enum class Cut : uint8_t {
  kRight,   ///< "volta_sgemm_..."
  kMiddle,  ///< "volta_...x32_nn"
  kLeft,    ///< "...layers/attention.py:14"
};

/// Appends as much of `text` as fits into `width` columns and returns the columns used: the whole
/// text, or what `cut` keeps of it with "..." (without, below 8 columns, of kLeft
/// below 5). Never splits what is
/// drawn as one: a letter and its accents, an emoji of several code points.
size_t AppendCut(std::string_view text, size_t width, Cut cut, std::string* out);

}  // namespace oplens::prof

#endif  // OPLENS_PROF_TABLE_DISPLAY_WIDTH_H_

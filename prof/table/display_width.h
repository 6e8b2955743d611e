#ifndef OPLENS_PROF_TABLE_DISPLAY_WIDTH_H_
#define OPLENS_PROF_TABLE_DISPLAY_WIDTH_H_

#include <cstddef>
#include <string>
#include <string_view>

namespace oplens::prof {

/// Columns that a terminal gives a valid UTF-8 text without control characters: two for a wide
/// character (CJK, emoji), none for one that combines with that before it.
size_t DisplayWidth(std::string_view text);

/// Which part of a text makes room for "..." where the text is too wide.
enum class Cut : uint8_t {
  kRight,   ///< "volta_sgemm_..."
  kMiddle,  ///< "volta_...x32_nn"
  kLeft,    ///< "...layers/attention.py:14"
};

/// Appends as much of `text` as fits into `width` columns, and answers how many it takes: the whole
/// text, or with "..." (in less than 8 columns without) what `cut` keeps of it. Never parts what is
/// drawn as one: a letter and its accents, an emoji made of several.
size_t AppendCut(std::string_view text, size_t width, Cut cut, std::string* out);

}  // namespace oplens::prof

#endif  // OPLENS_PROF_TABLE_DISPLAY_WIDTH_H_

#ifndef OPLENS_OPS_KERNELS_WORD_MATCH_H_
#define OPLENS_OPS_KERNELS_WORD_MATCH_H_

#include <string_view>

namespace oplens::ops {

/// Whether words (AsWords) match a pattern of a table: '|' separates alternatives, '&' parts that
/// must all occur. "_sort_" is a whole word, "sort" matches anywhere, a leading "^" only at the
/// beginning.
bool HoldsAny(std::string_view words, std::string_view alternatives);

}  // namespace oplens::ops

#endif  // OPLENS_OPS_KERNELS_WORD_MATCH_H_

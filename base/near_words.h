#ifndef OPLENS_BASE_NEAR_WORDS_H_
#define OPLENS_BASE_NEAR_WORDS_H_

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace oplens {

/// `word` stands for `name` in tables that have `name` but not `word`.
struct Alias {
  std::string_view word;
  std::string_view name;
};

/// All aliases. If a word has several names, the first one that the table has counts.
std::span<const Alias> Aliases();

/// Index in `names` of `word` or of the name that it is an alias of; `names.size()` if there is
/// none.
size_t FindName(std::string_view word, std::span<const std::string_view> names);

/// The names that `word` may have meant, likeliest first, at most three: the same ignoring case,
/// then synonyms (`module`: layer, mod), then names and aliases that differ by a few letters or
/// that `word` begins. Ignores case.
std::vector<std::string_view> NearNames(std::string_view word,
                                        std::span<const std::string_view> names);

/// The message for a word not in `names`: "there is no KIND 'WORD'", then ": time?" with the near
/// names or, if none is near, "; LIST" and all names. `list`: "the columns are".
std::string NoSuchName(std::string_view kind, std::string_view word,
                       std::span<const std::string_view> names, std::string_view list);

}  // namespace oplens

#endif  // OPLENS_BASE_NEAR_WORDS_H_

#ifndef OPLENS_BASE_NEAR_WORDS_H_
#define OPLENS_BASE_NEAR_WORDS_H_

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace oplens {

/// Another word for a name that a table has: taken as that name wherever the table has it and not
/// the word itself.
struct Alias {
  std::string_view word;
  std::string_view name;
};

/// All of them. A word with several names stands for the first that there is.
std::span<const Alias> Aliases();

/// Place in `names` of what `word` is or is an alias of; `names.size()` where it is neither.
size_t FindName(std::string_view word, std::span<const std::string_view> names);

/// Of `names` those that `word` may have been meant for, the likeliest first, at most three: what
/// means the same (`module`: layer, mod), then what it differs from by a few letters or is the
/// beginning of. Aliases of names count too. Upper and lower case do not matter.
std::vector<std::string_view> NearNames(std::string_view word,
                                        std::span<const std::string_view> names);

/// How every word that is none of `names` is refused: "there is no KIND 'WORD'", and then what it
/// may be meant for, ": time?", or where nothing is near, "; LIST" and the names themselves.
/// `list` such as "the columns are".
std::string NoSuchName(std::string_view kind, std::string_view word,
                       std::span<const std::string_view> names, std::string_view list);

}  // namespace oplens

#endif  // OPLENS_BASE_NEAR_WORDS_H_

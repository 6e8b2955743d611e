#ifndef OPLENS_PARSE_JOIN_VOCABULARY_RANGES_H_
#define OPLENS_PARSE_JOIN_VOCABULARY_RANGES_H_

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "parse/join/range_texts.h"
#include "parse/model/trace.h"

namespace oplens::parse {

/// The ranges of a trace that are an op or a layer in all but form
/// (parse/model/range_vocabulary.h): free texts of the default domain, and labels. Each distinct
/// text of a domain is read once. Memory: nothing without such ranges, else 4 bytes a text.
class VocabularyRanges {
 public:
  struct Words {
    StringId call = 0;    ///< The op as a call without arguments; 0: none.
    StringId layer = 0;   ///< 0: none.
    bool module = false;  ///< The layer is a call of a module.
  };

  /// Nothing, unless `enabled`. Adds texts to the trace's strings, and calls to `texts`, which must
  /// know all texts of the trace; both must outlive this object.
  VocabularyRanges(Trace* trace, RangeTexts* texts, bool enabled);

  bool empty() const { return words_.size() <= 1; }
  /// What a range says; null: nothing.
  const Words* Of(const Range& range) const {
    if (empty()) return nullptr;
    const uint32_t index = IndexOf(range);
    return index == 0 ? nullptr : &words_[index];
  }

 private:
  /// The texts of a domain that is some product's.
  struct Domain {
    StringId name = 0;            ///< 0: the default domain.
    std::vector<uint32_t> words;  ///< By StringId: index into words_; 0: none.
  };
  static constexpr size_t kNoDomain = SIZE_MAX;

  uint32_t IndexOf(const Range& range) const;
  size_t DomainOf(const Range& range) const;
  uint32_t Read(std::string_view domain, StringId text);

  Trace& trace_;
  RangeTexts& texts_;
  std::vector<Domain> domains_;
  std::vector<Words> words_;  // [0] is nothing.
};

}  // namespace oplens::parse

#endif  // OPLENS_PARSE_JOIN_VOCABULARY_RANGES_H_

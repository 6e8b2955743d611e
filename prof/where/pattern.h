#ifndef OPLENS_PROF_WHERE_PATTERN_H_
#define OPLENS_PROF_WHERE_PATTERN_H_

#include <memory>
#include <optional>
#include <string>
#include <string_view>

namespace re2 {
class RE2;
}  // namespace re2

namespace oplens::prof {

/// A pattern in RE2 syntax that somebody typed: it takes time in proportion to the text, whatever
/// it says.
class Pattern {
 public:
  /// Longer ones are refused, in bytes.
  static constexpr size_t kMaxLength = 4096;

  /// `option`: whose pattern it is, for the message. Throws UsageError for one that is none.
  Pattern(std::string_view pattern, std::string_view option);
  ~Pattern();

  /// Whether the text holds a match.
  bool Matches(std::string_view text) const;
  /// What the first group of the first match took, or the whole match where there is no group or
  /// it took no part. nullopt: no match. A view into the text.
  std::optional<std::string_view> Find(std::string_view text) const;

  const re2::RE2& compiled() const { return *compiled_; }

 private:
  std::unique_ptr<re2::RE2> compiled_;
};

}  // namespace oplens::prof

#endif  // OPLENS_PROF_WHERE_PATTERN_H_

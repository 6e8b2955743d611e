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

/// A user's pattern in RE2 syntax; matching takes linear time, whatever the pattern.
class Pattern {
 public:
  /// In bytes; longer ones are rejected.
  static constexpr size_t kMaxLength = 4096;

  /// `option`: for the message. Throws UsageError for a malformed pattern.
  Pattern(std::string_view pattern, std::string_view option);
  ~Pattern();

  /// Whether the text contains a match.
  bool Matches(std::string_view text) const;
  /// The first group of the first match, or the whole match if the group is missing or unmatched,
  /// as a view into the text. nullopt: no match.
  std::optional<std::string_view> Find(std::string_view text) const;

  const re2::RE2& compiled() const { return *compiled_; }

 private:
  std::unique_ptr<re2::RE2> compiled_;
};

}  // namespace oplens::prof

#endif  // OPLENS_PROF_WHERE_PATTERN_H_

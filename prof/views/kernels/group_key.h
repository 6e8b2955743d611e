#ifndef OPLENS_PROF_VIEWS_KERNELS_GROUP_KEY_H_
#define OPLENS_PROF_VIEWS_KERNELS_GROUP_KEY_H_

#include <memory>
#include <string>
#include <string_view>

#include "prof/table/field.h"
#include "prof/where/pattern.h"

namespace oplens::prof {

/// How a key's value is changed before rows are grouped by it: not at all, to some of its parts, to
/// its label, or to a pattern's match.
class KeyForm {
 public:
  KeyForm() = default;

  bool whole() const { return parts_ == 0 && !label_ && pattern_ == nullptr; }
  /// The text to group by. It points into `cell`, into `scratch` or to a constant.
  Cell Of(const Field& field, const Cell& cell, std::string* scratch) const;

 private:
  friend struct GroupWord;

  int parts_ = 0;  // Leading parts, trailing ones if negative; 0: all.
  bool label_ = false;
  std::shared_ptr<const Pattern> pattern_;
};

/// A word of --by: KEY, KEY:N, KEY:label, KEY:N:label or KEY~PATTERN.
struct GroupWord {
  std::string_view key;  ///< Points into the word that was read.
  KeyForm form;
  std::string_view name = {};  ///< Of its column, if it is not the key: "label".

  /// `label` alone is the label of the ranges. Throws UsageError.
  static GroupWord Read(std::string_view word);
  /// Throws UsageError if values of the field have no parts, label or pattern.
  void RefuseIfNot(const Field& field) const;
};

std::string_view KeyOfWord(std::string_view word);

/// Appends a text with every run of digits replaced by one '*': "ProfilerStep#*".
void AppendLabel(std::string_view text, std::string* label);

/// Column name of the n-th key of one name, n >= 2: "layer_2". It lives as long as the program.
std::string_view NumberedKey(std::string_view key, size_t n);

}  // namespace oplens::prof

#endif  // OPLENS_PROF_VIEWS_KERNELS_GROUP_KEY_H_

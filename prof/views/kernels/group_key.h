#ifndef OPLENS_PROF_VIEWS_KERNELS_GROUP_KEY_H_
#define OPLENS_PROF_VIEWS_KERNELS_GROUP_KEY_H_

#include <memory>
#include <string>
#include <string_view>

#include "prof/table/field.h"
#include "prof/where/pattern.h"

namespace oplens::prof {

/// What becomes of the value of a key before rows are grouped by it: the value itself, some of its
/// parts, its label, or what a pattern finds in it.
class KeyForm {
 public:
  KeyForm() = default;

  /// Whether the value stays as it is.
  bool whole() const { return parts_ == 0 && !label_ && pattern_ == nullptr; }
  /// The text that is grouped by. It points into the cell, into `scratch` or to a constant.
  Cell Of(const Field& field, const Cell& cell, std::string* scratch) const;

 private:
  friend struct GroupWord;

  int parts_ = 0;  // The first of them, the last ones if less than 0; 0: all.
  bool label_ = false;
  std::shared_ptr<const Pattern> pattern_;
};

/// A word of --by: KEY, KEY:N, KEY:label, KEY:N:label or KEY~PATTERN.
struct GroupWord {
  std::string_view key;  ///< Of the word that was read.
  KeyForm form;
  std::string_view name = {};  ///< Of its column, where that is not the key: "label".

  /// `label` alone is the label of the ranges. Throws UsageError.
  static GroupWord Read(std::string_view word);
  /// Throws UsageError where the value of the field has no parts, no label and no pattern.
  void RefuseIfNot(const Field& field) const;
};

/// The key of a word of --by, whatever its form.
std::string_view KeyOfWord(std::string_view word);

/// What a text says without its numbers: every run of digits is one '*'. Equal for texts that
/// differ in numbers alone, "ProfilerStep#*". Appends.
void AppendLabel(std::string_view text, std::string* label);

/// "layer_2": the name of a column for the n-th key of one name, n from 2; it lives as long as the
/// program.
std::string_view NumberedKey(std::string_view key, size_t n);

}  // namespace oplens::prof

#endif  // OPLENS_PROF_VIEWS_KERNELS_GROUP_KEY_H_

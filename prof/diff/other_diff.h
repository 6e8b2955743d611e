#ifndef OPLENS_PROF_DIFF_OTHER_DIFF_H_
#define OPLENS_PROF_DIFF_OTHER_DIFF_H_

#include <string>
#include <string_view>
#include <vector>

#include "prof/diff/compare.h"
#include "prof/table/field.h"
#include "prof/table/sink.h"

namespace oplens::prof {

/// Two runs compared by the rules of another program.
class OtherDiff {
 public:
  virtual ~OtherDiff() = default;
  /// Begins and ends the sink. `table`: a word of --view.
  virtual void Write(std::string_view table, Sink* sink) const = 0;
  /// What a reader is told above the first table.
  virtual std::string Words() const = 0;
  /// Sentences for standard error.
  virtual std::vector<std::string> Notes() const { return {}; }
};

/// The name of the first rank of a side; adds to `notes` where there are several.
std::string_view FirstRank(const DiffInput& side, std::vector<std::string>* notes);

/// Says in front of each row by whose rules it is, as views do.
inline constexpr Field kDiffRulesField = {
    "rules", "Rules", "", FieldType::kText, 6, "whose rules the row is by: tb or hta", Fold::kKey};

}  // namespace oplens::prof

#endif  // OPLENS_PROF_DIFF_OTHER_DIFF_H_

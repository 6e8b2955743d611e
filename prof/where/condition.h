#ifndef OPLENS_PROF_WHERE_CONDITION_H_
#define OPLENS_PROF_WHERE_CONDITION_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "prof/where/comparison.h"

namespace oplens::prof {

/// The cells of one row, computed on demand.
class RowCells {
 public:
  virtual ~RowCells() = default;
  /// `field`: index into the fields that the condition was read with.
  virtual Cell At(size_t field) const = 0;
};

/// A condition on rows: comparisons under "and", "or" and "not".
class Condition {
 public:
  enum class Kind : uint8_t { kAnd, kOr, kNot, kCompare };
  struct Node {
    Kind kind = Kind::kAnd;
    std::vector<Node> parts;                            ///< Unless kCompare, which has
    std::shared_ptr<const Comparison> comparison = {};  ///< this comparison,
    size_t field = 0;                                   ///< the index of its field,
    size_t scope = 0;                                   ///< and its scope.
    size_t begin = 0;                                   ///< Offset in the text.
  };

  explicit Condition(Node root) : root_(std::move(root)) {}

  /// Whether the condition is true for the row; false if unknown.
  bool Keeps(const RowCells& row) const { return Evaluate(root_, row) == Truth::kYes; }

  /// Indices of the fields it names, each once, ascending.
  std::vector<size_t> Fields() const;

 private:
  static Truth Evaluate(const Node& node, const RowCells& row);

  Node root_;
};

}  // namespace oplens::prof

#endif  // OPLENS_PROF_WHERE_CONDITION_H_

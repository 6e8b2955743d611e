#ifndef OPLENS_PROF_WHERE_CONDITION_H_
#define OPLENS_PROF_WHERE_CONDITION_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "prof/where/comparison.h"

namespace oplens::prof {

/// The cells of one row, each computed when it is asked for.
class RowCells {
 public:
  virtual ~RowCells() = default;
  /// Of the field at this place of the fields that the condition was read with.
  virtual Cell At(size_t field) const = 0;
};

/// What rows must fulfil: comparisons under "and", "or" and "not".
class Condition {
 public:
  enum class Kind : uint8_t { kAnd, kOr, kNot, kCompare };
  struct Node {
    Kind kind = Kind::kAnd;
    std::vector<Node> parts;                            ///< But of kCompare, which has
    std::shared_ptr<const Comparison> comparison = {};  ///< this,
    size_t field = 0;                                   ///< the place of its field
    size_t scope = 0;                                   ///< and whose field it is.
    size_t begin = 0;                                   ///< Place in the text.
  };

  explicit Condition(Node root) : root_(std::move(root)) {}

  /// Whether the condition holds; where that is unknown it does not.
  bool Keeps(const RowCells& row) const { return Evaluate(root_, row) == Truth::kYes; }

  /// The places of the fields that it names, each once, in order.
  std::vector<size_t> Fields() const;

 private:
  static Truth Evaluate(const Node& node, const RowCells& row);

  Node root_;
};

}  // namespace oplens::prof

#endif  // OPLENS_PROF_WHERE_CONDITION_H_

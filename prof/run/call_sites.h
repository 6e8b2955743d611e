#ifndef OPLENS_PROF_RUN_CALL_SITES_H_
#define OPLENS_PROF_RUN_CALL_SITES_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <unordered_map>
#include <vector>

#include "parse/model/trace.h"

namespace oplens::parse {
class Joined;
}  // namespace oplens::parse

namespace oplens::prof {

/// Where host threads were at given moments, for people: "aten::item at train.py(33): step".
class CallSites {
 public:
  /// `joined` must outlive this object.
  explicit CallSites(const parse::Joined& joined) : joined_(joined) {}

  /// Adds a moment; returns its number, from 0.
  size_t Ask(ThreadIndex thread, int64_t time_ns);
  /// For each moment by number, an index into texts(): the innermost operator call and the
  /// innermost user frame in Python (otherwise of the call stack recorded with an operator) around
  /// it; "" if both are unknown. O(R log R) for the ranges of the threads involved.
  std::vector<uint32_t> Find();
  /// Each distinct one once.
  const std::vector<std::string>& texts() const { return texts_; }

 private:
  struct Moment {
    ThreadIndex thread = 0;
    int64_t time_ns = 0;
    size_t number = 0;
  };

  void FindOn(ThreadIndex thread, const Moment* begin, const Moment* end,
              std::vector<uint32_t>* found);
  std::string TextOf(const std::vector<uint32_t>& around, int64_t time_ns) const;

  const parse::Joined& joined_;
  std::vector<Moment> moments_;
  std::vector<std::string> texts_;
  std::unordered_map<std::string, uint32_t> places_;  // Index in texts_.
};

}  // namespace oplens::prof

#endif  // OPLENS_PROF_RUN_CALL_SITES_H_

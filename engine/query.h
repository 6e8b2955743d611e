#ifndef OPLENS_ENGINE_QUERY_H_
#define OPLENS_ENGINE_QUERY_H_

// Public header: installed, docs/library.md.

#include <cstddef>
#include <string>
#include <utility>
#include <vector>

namespace oplens::engine {

/// Options of `prof` by their names without dashes, such as {"compat", "hta"}. The value of a flag,
/// such as "copies", is not read.
using Words = std::vector<std::pair<std::string, std::string>>;

/// A question about a run, in the words of `prof`.
struct Query {
  std::string view = {};   ///< --view: names separated by commas; "": kernels, or with `by` groups.
  std::string by = {};     ///< --by; "": not given, as for all below.
  std::string where = {};  ///< --where
  std::string columns = {};  ///< -c
  size_t top = 0;            ///< --top; 0: all rows.
  /// Of sort, copies, compat, what-if, step-range, time-range, device, all-steps, range, model and
  /// its own; and of gpu, rules, step and op, which replace those the run was opened with.
  Words more = {};
};

}  // namespace oplens::engine

#endif  // OPLENS_ENGINE_QUERY_H_

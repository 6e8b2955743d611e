#ifndef OPLENS_PROF_GATE_SCOPE_H_
#define OPLENS_PROF_GATE_SCOPE_H_

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace oplens::prof {

/// What an expression may name of one view.
struct GateScope {
  struct Figure {
    std::string key;
    std::string unit;  ///< "ns", "B", "%", ...: decides which units a threshold may have.
  };
  std::string view;
  std::vector<std::string> keys;  ///< Those that rows of the diff have.
  std::vector<Figure> figures;
  std::string usual = {};  ///< The figure that is meant where none is named; "": one must be.
};

/// All views that can be compared, in the order in which a name without a view is looked for:
/// operators (by layer, op and shape), modules, groups, then the others as they are listed.
std::span<const GateScope> GateScopes();

/// A figure's key without its unit: "peak" of "peak_bytes".
std::string_view WithoutUnit(std::string_view key);

}  // namespace oplens::prof

#endif  // OPLENS_PROF_GATE_SCOPE_H_

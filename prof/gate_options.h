#ifndef OPLENS_PROF_GATE_OPTIONS_H_
#define OPLENS_PROF_GATE_OPTIONS_H_

#include <string>

#include "prof/gate/gate.h"

namespace cxxopts {
class OptionAdder;
class ParseResult;
}  // namespace cxxopts

namespace oplens::prof {

/// What --fail-if, --require-comparable and --junit ask.
struct GateOptions {
  Gate gate;
  std::string junit;  ///< The file of the report; "": none.
};

/// Declares them.
void AddGateOptions(cxxopts::OptionAdder add);
/// Throws UsageError with one line, or one that shows where an expression is wrong. `has_base`: two
/// runs are compared.
GateOptions ReadGateOptions(const cxxopts::ParseResult& given, bool has_base);

}  // namespace oplens::prof

#endif  // OPLENS_PROF_GATE_OPTIONS_H_

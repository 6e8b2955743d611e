#ifndef OPLENS_PROF_GATE_OPTIONS_H_
#define OPLENS_PROF_GATE_OPTIONS_H_

#include <string>

#include "prof/gate/gate.h"

namespace cxxopts {
class OptionAdder;
class ParseResult;
}  // namespace cxxopts

namespace oplens::prof {

/// Values of --fail-if, --require-comparable and --junit.
struct GateOptions {
  Gate gate;
  std::string junit;  ///< File of the report; "": none.
};

void AddGateOptions(cxxopts::OptionAdder add);
/// Throws UsageError, for a wrong expression with its position. `has_base`: two runs are compared.
GateOptions ReadGateOptions(const cxxopts::ParseResult& given, bool has_base);

}  // namespace oplens::prof

#endif  // OPLENS_PROF_GATE_OPTIONS_H_

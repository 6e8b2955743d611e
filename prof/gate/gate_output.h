#ifndef OPLENS_PROF_GATE_GATE_OUTPUT_H_
#define OPLENS_PROF_GATE_GATE_OUTPUT_H_

#include <span>
#include <string>

#include "prof/gate/gate.h"
#include "prof/table/sink.h"

namespace oplens::prof {

/// What a gate says on standard error: a line for each expression that does not hold, below it the
/// rows that count most; "" where all hold. Lines begin with "TOOL: ".
std::string GateText(const GateResult& result, std::string_view tool);

/// The fields of the table `gate`.
std::span<const Field> GateFields();
/// Gives a row for each expression, and behind it one for each row that broke it.
void EmitGate(const GateResult& result, Sink* sink);

}  // namespace oplens::prof

#endif  // OPLENS_PROF_GATE_GATE_OUTPUT_H_

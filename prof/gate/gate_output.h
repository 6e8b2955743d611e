#ifndef OPLENS_PROF_GATE_GATE_OUTPUT_H_
#define OPLENS_PROF_GATE_GATE_OUTPUT_H_

#include <span>
#include <string>
#include <string_view>

#include "prof/gate/gate.h"
#include "prof/table/sink.h"

namespace oplens::prof {

/// A figure for a reader: 1234567 "ns" is "1.235 ms", 3145728 "B" is "3.000 MiB", 12.5 "%" is "12.5
/// %". Other units are unchanged. At most three decimals.
std::string AmountText(double value, std::string_view unit);
/// A change, with its sign.
std::string ChangeText(double value, std::string_view unit);

/// Text for standard error: a line for each expression that does not hold, followed by its most
/// significant rows; "" if all hold. Lines begin with "TOOL: ".
std::string GateText(const GateResult& result, std::string_view tool);

std::span<const Field> GateFields();
/// Emits a row per expression, each followed by the rows that broke it.
void EmitGate(const GateResult& result, Sink* sink);

/// A JUnit report of a gate, as CI services show: a test suite with one test case per expression,
/// with a failure if it is broken and an error if data is missing. Without time and host, so that
/// equal results give equal bytes. UTF-8; characters that XML does not allow become '_'.
std::string JunitText(const GateResult& result);

/// Writes the report to a file, whole or not at all; "-": standard output. Throws Error.
void WriteJunit(const GateResult& result, const std::string& path);

}  // namespace oplens::prof

#endif  // OPLENS_PROF_GATE_GATE_OUTPUT_H_

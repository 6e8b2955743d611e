#ifndef OPLENS_PROF_GATE_GATE_OUTPUT_H_
#define OPLENS_PROF_GATE_GATE_OUTPUT_H_

#include <span>
#include <string>
#include <string_view>

#include "prof/gate/gate.h"
#include "prof/table/sink.h"

namespace oplens::prof {

/// A figure for a reader: 1234567 "ns" is "1.235 ms", 3145728 "B" is "3.000 MiB", 12.5 "%" is
/// "12.5 %". Numbers of other units as they are, with at most three decimals.
std::string AmountText(double value, std::string_view unit);
/// The same of a change, with its sign.
std::string ChangeText(double value, std::string_view unit);

/// What a gate says on standard error: a line for each expression that does not hold, below it the
/// rows that count most; "" where all hold. Lines begin with "TOOL: ".
std::string GateText(const GateResult& result, std::string_view tool);

/// The fields of the table `gate`.
std::span<const Field> GateFields();
/// Gives a row for each expression, and behind it one for each row that broke it.
void EmitGate(const GateResult& result, Sink* sink);

/// A gate as a JUnit report, which CI services show: a test suite, a test case an expression, with
/// a failure where it is broken and an error where data is missing. Without time and host: the same
/// result gives the same bytes. UTF-8; what XML cannot hold becomes '_'.
std::string JunitText(const GateResult& result);

/// Writes it to a file, whole or not at all; "-": standard output. Throws Error.
void WriteJunit(const GateResult& result, const std::string& path);

}  // namespace oplens::prof

#endif  // OPLENS_PROF_GATE_GATE_OUTPUT_H_

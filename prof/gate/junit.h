#ifndef OPLENS_PROF_GATE_JUNIT_H_
#define OPLENS_PROF_GATE_JUNIT_H_

#include <string>

#include "prof/gate/gate.h"

namespace oplens::prof {

/// A gate as a JUnit report, which CI services show: a test suite, a test case an expression, with
/// a failure where it is broken and an error where data is missing. Without time and host: the same
/// result gives the same bytes. UTF-8; what XML cannot hold becomes '_'.
std::string JunitText(const GateResult& result);

/// Writes it to a file, whole or not at all; "-": standard output. Throws Error.
void WriteJunit(const GateResult& result, const std::string& path);

}  // namespace oplens::prof

#endif  // OPLENS_PROF_GATE_JUNIT_H_

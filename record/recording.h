#ifndef OPLENS_RECORD_RECORDING_H_
#define OPLENS_RECORD_RECORDING_H_

#include "record/launcher.h"
#include "record/options.h"

namespace oplens::record {

/// Runs the program of `options` and writes its databases. Returns the exit code for `record`: that
/// of the program, 128 + N when signal N killed it, 124 when it was ended after --timeout, 126 or
/// 127 when it could not be started; 1 in the place of 0 when a database could not be written.
/// Throws UsageError and Error before the program starts only.
int RecordProgram(const Options& options, const Inherited& inherited);

}  // namespace oplens::record

#endif  // OPLENS_RECORD_RECORDING_H_

#ifndef OPLENS_RECORD_RECORDING_H_
#define OPLENS_RECORD_RECORDING_H_

#include "record/launcher.h"
#include "record/options.h"

namespace oplens::record {

/// Makes the databases of the interrupted recording `options.recover` (RecoveryTarget). Returns the
/// exit code of `record`. Throws Error when there is nothing to recover.
int RecoverRecording(const Options& options);

/// Runs the program of `options` and writes its databases. Returns the exit code for `record`: that
/// of the program, 128 + N when signal N killed it, 124 when it was ended after --timeout, 126 or
/// 127 when it could not be started; 1 in the place of 0 when a database could not be written.
/// Throws UsageError and Error before the program starts only.
int RecordProgram(const Options& options, const Inherited& inherited);

}  // namespace oplens::record

#endif  // OPLENS_RECORD_RECORDING_H_

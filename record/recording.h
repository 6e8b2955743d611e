#ifndef OPLENS_RECORD_RECORDING_H_
#define OPLENS_RECORD_RECORDING_H_

#include "record/launcher.h"
#include "record/options.h"

namespace oplens::record {

/// Writes the databases of the interrupted recording `options.recover` (RecoveryTarget). Returns
/// the exit code of `record`. Throws Error if there is nothing to recover.
int RecoverRecording(const Options& options);

/// Runs the program of `options` and writes its databases. Returns the exit code of `record`: the
/// program's, 128 + N if signal N killed it, 124 after --timeout, 126 or 127 if it could not be
/// started; 1 instead of 0 if a database could not be written. Throws UsageError and Error only
/// before the program starts.
int RecordProgram(const Options& options, const Inherited& inherited);

}  // namespace oplens::record

#endif  // OPLENS_RECORD_RECORDING_H_

#ifndef OPLENS_RECORD_RECOVERY_H_
#define OPLENS_RECORD_RECOVERY_H_

#include "record/options.h"

namespace oplens::record {

/// Makes the databases of the interrupted recording `options.recover` (RecoveryTarget). Returns the
/// exit code of `record`. Throws Error when there is nothing to recover.
int RecoverRecording(const Options& options);

}  // namespace oplens::record

#endif  // OPLENS_RECORD_RECOVERY_H_

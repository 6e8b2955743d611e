#ifndef OPLENS_RECORD_CUPTI_ADVICE_H_
#define OPLENS_RECORD_CUPTI_ADVICE_H_

#include <string>

#include "record/conversion.h"

namespace oplens::record {

/// Why CUPTI recorded nothing in a process whose state is CudaState::kFailed, and what to do: one
/// line without a line feed.
std::string CuptiAdvice(const ProcessSummary& process);

}  // namespace oplens::record

#endif  // OPLENS_RECORD_CUPTI_ADVICE_H_

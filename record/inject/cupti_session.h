#ifndef OPLENS_RECORD_INJECT_CUPTI_SESSION_H_
#define OPLENS_RECORD_INJECT_CUPTI_SESSION_H_

namespace oplens::record::inject {

/// Loads CUPTI and starts recording activity, once; called during driver initialisation. Errors go
/// into the process's page, and the program continues.
void StartCupti() noexcept;

/// Starts or stops recording activity according to WindowOpen(). No effect before StartCupti().
void UpdateCuptiWindow() noexcept;

}  // namespace oplens::record::inject

#endif  // OPLENS_RECORD_INJECT_CUPTI_SESSION_H_

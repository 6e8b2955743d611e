#ifndef OPLENS_RECORD_INJECT_CUPTI_SESSION_H_
#define OPLENS_RECORD_INJECT_CUPTI_SESSION_H_

namespace oplens::record::inject {

/// Loads CUPTI and starts to record activity, once; called while the driver is initialised. What
/// fails stands in the process's page, and the program goes on.
void StartCupti() noexcept;

/// Starts or stops the recording of activity as WindowOpen() says. Before StartCupti() it does
/// nothing.
void UpdateCuptiWindow() noexcept;

}  // namespace oplens::record::inject

#endif  // OPLENS_RECORD_INJECT_CUPTI_SESSION_H_

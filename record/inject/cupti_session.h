#ifndef OPLENS_RECORD_INJECT_CUPTI_SESSION_H_
#define OPLENS_RECORD_INJECT_CUPTI_SESSION_H_

namespace oplens::record::inject {

/// Loads CUPTI and starts to record activity, once; called while the driver is initialised. What
/// fails stands in the process's page, and the program goes on.
void StartCupti() noexcept;

/// Starts and stops the recording of activity when the window opens and closes. Before StartCupti()
/// it does nothing.
void SetCuptiWindow(bool open) noexcept;

/// Brings what CUPTI still holds into the spool.
void FlushCupti() noexcept;

}  // namespace oplens::record::inject

#endif  // OPLENS_RECORD_INJECT_CUPTI_SESSION_H_

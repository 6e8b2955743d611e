#ifndef OPLENS_RECORD_INJECT_EVENT_STREAM_H_
#define OPLENS_RECORD_INJECT_EVENT_STREAM_H_

#include <cstdint>

#include "record/inject/nvtx_functions.h"
#include "record/spool/spool_format.h"

// NVTX events of the calling thread -> its stream. Locks are taken only when a thread appears or
// ends.

namespace oplens::record::inject {

/// Stores the begin of a pushed range; answers how many were open in the domain before.
int StorePush(uint16_t domain, const NvtxEvent& event) noexcept;
/// Stores the end of the range that was pushed last, if its begin was stored; answers how many are
/// open now, or -1 when none was.
int StorePop(uint16_t domain) noexcept;
/// Stores the begin of a range that any thread may end; answers its number, 0 if it is not stored.
uint64_t StoreStart(uint16_t domain, const NvtxEvent& event) noexcept;
void StoreEnd(uint16_t domain, uint64_t range) noexcept;
void StoreMark(uint16_t domain, const NvtxEvent& event) noexcept;

// A push or pop that was refused (Entry): the next one of the thread and domain counts it in, so
// that ends belong to their begins as they did in the program.
void MissPush(uint16_t domain) noexcept;
void MissPop(uint16_t domain) noexcept;

// For a fork: no thread may appear or end between these two.
void LockThreads() noexcept;
void UnlockThreads() noexcept;
/// In the child: no thread has a stream any more. The lock is held.
void ForgetThreads() noexcept;

}  // namespace oplens::record::inject

#endif  // OPLENS_RECORD_INJECT_EVENT_STREAM_H_

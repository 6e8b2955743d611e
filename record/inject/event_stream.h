#ifndef OPLENS_RECORD_INJECT_EVENT_STREAM_H_
#define OPLENS_RECORD_INJECT_EVENT_STREAM_H_

#include <cstddef>
#include <cstdint>

#include "nvtx_annotate/vocabulary/direct_calls.h"
#include "record/inject/nvtx_functions.h"
#include "record/spool/spool_format.h"

// Writes NVTX events of the calling thread to its stream. Takes locks only when a thread appears or
// ends.

namespace oplens::record::inject {

/// Stores the begin of a pushed range; returns how many were open in the domain before.
int StorePush(uint16_t domain, const NvtxEvent& event) noexcept;
/// The same for an event of a registered string and at most one payload, which may be null.
int StorePushString(uint16_t domain, uint32_t string, const nvtxPayloadData_t* payload) noexcept;
/// Stores the end of the innermost range if its begin was stored; returns how many are open now, or
/// -1 if none was.
int StorePop(uint16_t domain) noexcept;
/// Stores the begin of a range that any thread may end; returns its id, 0 if not stored.
uint64_t StoreStart(uint16_t domain, const NvtxEvent& event) noexcept;
void StoreEnd(uint16_t domain, uint64_t range) noexcept;
void StoreMark(uint16_t domain, const NvtxEvent& event) noexcept;

/// What emitters call and read instead of NVTX's functions.
markers::DirectCalls DirectCallsOfEvents() noexcept;

inline uint16_t DomainNumber(uint32_t domain) noexcept {
  return domain < spool::kLastDomain ? static_cast<uint16_t>(domain) : spool::kLastDomain;
}

/// Counts an event that Entry refused.
void CountRefusedEvent() noexcept;
// For a push or pop refused by Entry: the next one of the same thread and domain takes it into
// account, so that begins and ends still match.
void MissPush(uint16_t domain) noexcept;
void MissPop(uint16_t domain) noexcept;

// For forks: no thread may appear or end between these two.
void LockThreads() noexcept;
void UnlockThreads() noexcept;
/// In the child, with the lock held: no thread has a stream any more.
void ForgetThreads() noexcept;

}  // namespace oplens::record::inject

#endif  // OPLENS_RECORD_INJECT_EVENT_STREAM_H_

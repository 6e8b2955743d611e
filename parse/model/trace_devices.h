#ifndef OPLENS_PARSE_MODEL_TRACE_DEVICES_H_
#define OPLENS_PARSE_MODEL_TRACE_DEVICES_H_

#include <cstdint>

#include "parse/model/trace.h"

namespace oplens {

/// The GPU of a row.
struct DeviceMatch {
  const Device* device = nullptr;  ///< In the trace; null: unknown.
  bool taken = false;  ///< The file does not list it: taken for a listed GPU, which are all equal.
};

/// Finds the GPU by the number in the rows.
DeviceMatch FindDevice(const Trace& trace, int64_t device_id);

/// Returns what an unlisted GPU is taken for; null if the listed ones differ, or none is listed.
const Device* UnlistedDevice(const Trace& trace);

}  // namespace oplens

#endif  // OPLENS_PARSE_MODEL_TRACE_DEVICES_H_

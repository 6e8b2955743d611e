#ifndef OPLENS_PARSE_MODEL_TRACE_DEVICES_H_
#define OPLENS_PARSE_MODEL_TRACE_DEVICES_H_

#include <cstdint>

#include "parse/model/trace.h"

namespace oplens {

/// What a GPU of rows is.
struct DeviceMatch {
  const Device* device = nullptr;  ///< Null: not known. Of the trace.
  bool taken = false;  ///< The file lists no GPU of that number: it is taken for one of those that
                       ///< it lists, which are all alike.
};

/// The GPU with the number that rows give it.
DeviceMatch FindDevice(const Trace& trace, int64_t device_id);

/// What a GPU that is not listed is taken for; null where those that are listed differ, or none is.
const Device* UnlistedDevice(const Trace& trace);

}  // namespace oplens

#endif  // OPLENS_PARSE_MODEL_TRACE_DEVICES_H_

#ifndef OPLENS_PARSE_READERS_KINETO_KINETO_WORK_H_
#define OPLENS_PARSE_READERS_KINETO_KINETO_WORK_H_

#include <simdjson.h>

#include <cstdint>

#include "parse/model/trace.h"
#include "parse/readers/kineto/kineto_event.h"

namespace oplens::parse {

// The arguments of events of GPU work.

/// A kernel of which nothing is known; its shape is yet to be set.
Kernel UnknownKernel();

/// Takes [16, 1, 1]; for anything else returns false and leaves `to` unchanged.
bool TakeTriple(simdjson::dom::element value, int32_t (*to)[3]);

/// Returns whether the key names a number of the kernel; clears `good` if it cannot be read.
bool TakeKernelNumber(const simdjson::dom::key_value_pair& arg, Kernel* kernel, KernelShape* shape,
                      KernelDetails* details, bool* good);

/// Takes direction and memories of a copy from its name, else from its arguments.
void TakeCopyKinds(const KinetoEvent& event, MemoryCopy* copy);

}  // namespace oplens::parse

#endif  // OPLENS_PARSE_READERS_KINETO_KINETO_WORK_H_

// Compiled as C++17: the headers that user programs include.

#include "nvtx_annotate/annotate.h"
#include "nvtx_annotate/oplens_annotate.h"
#include "nvtx_annotate/schedule.h"
#include "nvtx_annotate/vocabulary/cycle_marks.h"
#include "nvtx_annotate/vocabulary/marker_format.h"
#include "nvtx_annotate/vocabulary/memory_format.h"

static_assert(__cplusplus == 201703L);

namespace oplens::test {

void EmitFromCxx17();

void EmitFromCxx17() {
  const annotate::ScopedLayer layer("old");
  const annotate::ScopedOp op({"torch", "op", nullptr, 0}, 1);
}

}  // namespace oplens::test

#include "nvtx_annotate/annotate.h"

// Ranges around a step, as a training loop has them. Without a profiler they do nothing.
void RunAnnotatedStep() {
  using namespace oplens::annotate;
  ScopedLayer layer("block.0");
  ScopedOp op({"torch", "relu"}, Tensor({8, 16}, DType::kFloat32));
}

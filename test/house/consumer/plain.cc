#include <cstdio>

#include "nvtx_annotate/annotate.h"

// A program that is built with one line.
int main() {
  using namespace oplens::annotate;
  ScopedPhase phase(Phase::kForward);
  ScopedOp op({"torch", "sum"}, Tensor({8, 16}, DType::kFloat32), Arg(1).Named("dim"));
  std::puts("ok");
}

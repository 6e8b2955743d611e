// Programs that annotate themselves, for tests that need a process of their own.
//
//   annotated_program COMMAND     exit code 0, or 1 and a line on stdout that says what is wrong

#include <cstdio>
#include <string_view>
#include <thread>

#include "nvtx_annotate/annotate.h"

namespace {

using oplens::annotate::DType;
using oplens::annotate::ForwardLink;
using oplens::annotate::Phase;
using oplens::annotate::ScopedBackward;
using oplens::annotate::ScopedForward;
using oplens::annotate::ScopedIteration;
using oplens::annotate::ScopedLayer;
using oplens::annotate::ScopedOp;
using oplens::annotate::ScopedPhase;
using oplens::annotate::Tensor;

/// A step of training: a linear layer and an activation, their backward nodes on another thread as
/// PyTorch has it, and an update of the weights.
void TrainStep(int64_t number) {
  const ScopedIteration step(number);
  ForwardLink linear;
  ForwardLink activation;
  {
    const ScopedPhase phase(Phase::kForward);
    const ScopedLayer net("net");
    {
      const ScopedLayer layer("fc1");
      const ScopedForward op({"torch", "addmm", "net.py", 20}, Tensor({64}, DType::kFloat16),
                             Tensor({32, 128}, DType::kFloat16),
                             Tensor({128, 64}, DType::kFloat16));
      linear = op.link();
    }
    const ScopedLayer layer("act");
    const ScopedForward op({"torch", "relu", "net.py", 21}, Tensor({32, 64}, DType::kFloat16));
    activation = op.link();
  }
  std::thread([&] {
    const ScopedPhase phase(Phase::kBackward);
    { const ScopedBackward node("ReluBackward0", activation); }
    { const ScopedBackward node("AddmmBackward0", linear); }
  }).join();
  const ScopedPhase phase(Phase::kOptimizer);
  const ScopedOp update({"Tensor", "__iadd__", "train.py", 9}, Tensor({64, 128}, DType::kFloat32),
                        Tensor({64, 128}, DType::kFloat32));
}

int Train() {
  for (int64_t number = 0; number < 2; ++number) TrainStep(number);
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  const std::string_view command = argc == 2 ? argv[1] : "";
  if (command == "train") return Train();
  std::printf("unknown command\n");
  return 1;
}

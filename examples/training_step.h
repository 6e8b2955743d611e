#ifndef OPLENS_EXAMPLES_TRAINING_STEP_H_
#define OPLENS_EXAMPLES_TRAINING_STEP_H_

#include <cstdint>
#include <string>
#include <vector>

#include "test/support/trace_script.h"

namespace oplens::examples {

/// Plays one training step of a one-block language model: 64 x 16 tokens, width 256, 4 heads, 8192
/// words; matrix products in fp16 but for the decoder, everything else in fp32 or as noted.
class TrainingStep {
 public:
  /// `first_seq` is autograd's sequence number of the first op. The threads share one ScriptState.
  TrainingStep(test::HostThread* main, test::HostThread* autograd, int64_t first_seq);

  void Forward();
  void Backward();
  void Optimizer();

  /// The sequence number that the next step begins with.
  int64_t next_seq() const { return seq_; }

 private:
  /// A kernel of a backward node, inside a range of the ATen op that launches it ("" for none).
  struct BackwardKernel {
    std::string aten_op;
    test::KernelSpec kernel;
  };
  /// One node of the autograd graph, replayed in reverse.
  struct BackwardNode {
    std::string name;
    int64_t seq;
    std::vector<BackwardKernel> kernels;
    bool accumulates = false;  ///< Ends in a parameter whose gradient is added up.
  };
  /// One annotated call of the model's code.
  struct Call {
    std::vector<std::string> frames;  ///< Python call stack, outermost first.
    std::string mod;
    std::string op;
    std::vector<std::string> args;
  };

  void Embedding();
  void LayerNorm();
  void Cast();
  void Linear(const std::string& line, int64_t in, int64_t out, const test::KernelSpec& gemm,
              const std::vector<test::KernelSpec>& after);
  void BatchedProducts();
  void Residual(const std::string& line);
  void Relu();
  void Decoder();
  void Loss();
  void Update(const std::vector<int64_t>& shape);

  /// Plays a call with PyProf's two ranges, autograd's range and the kernels inside; `aten_op` ""
  /// for a call that launches nothing itself. Returns its sequence number.
  int64_t Play(const Call& call, const std::string& aten_op,
               const std::vector<test::KernelSpec>& kernels);
  /// The two ranges of a call that has further calls inside. Close with End().
  void Begin(const Call& call);
  void End();
  void Remember(const std::string& name, int64_t seq, std::vector<BackwardKernel> kernels,
                bool accumulates = false);

  test::HostThread* main_;
  test::HostThread* autograd_;
  int64_t seq_;
  std::vector<BackwardNode> graph_;
};

}  // namespace oplens::examples

#endif  // OPLENS_EXAMPLES_TRAINING_STEP_H_

#include "examples/training_step.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <utility>

#include "examples/demo_kernels.h"

namespace oplens::examples {
namespace {

using test::KernelSpec;
using test::ScriptRange;

constexpr int64_t kSequence = 64;
constexpr int64_t kBatch = 16;
constexpr int64_t kTokens = kSequence * kBatch;
constexpr int64_t kWidth = 256;
constexpr int64_t kHeads = 4;
constexpr int64_t kHeadWidth = kWidth / kHeads;
constexpr int64_t kInner = 4 * kWidth;
constexpr int64_t kWords = 8192;

// ----- Argument texts as PyProf writes them.

std::string Tuple(const std::vector<int64_t>& values) {
  if (values.size() == 1) return fmt::format("({},)", values[0]);
  return fmt::format("({})", fmt::join(values, ", "));
}

std::string Tensor(const std::vector<int64_t>& shape, const std::string& dtype) {
  return fmt::format("{{'name': '', 'type': 'tensor', 'shape': {}, 'dtype': '{}'}}", Tuple(shape),
                     dtype);
}

std::string Scalar(const std::string& type, const std::string& value,
                   const std::string& name = "") {
  return fmt::format("{{'name': '{}', 'type': '{}', 'value': {}}}", name, type, value);
}

// ----- Kernels. Times are invented, of the size that a V100 needs.

KernelSpec Pointwise(const char* name, int64_t elements, int64_t duration_ns) {
  constexpr int64_t kElementsPerBlock = 256;
  return {.name = name,
          .duration_ns = duration_ns,
          .grid = {(elements + kElementsPerBlock - 1) / kElementsPerBlock, 1, 1},
          .block = {64, 1, 1},
          .registers = 20};
}

KernelSpec TrainingStepGemm(const char* name, int64_t grid_x, int64_t grid_y, int64_t grid_z,
                            int64_t duration_ns) {
  return {.name = name,
          .duration_ns = duration_ns,
          .grid = {grid_x, grid_y, grid_z},
          .block = {128, 1, 1},
          .registers = 128,
          .dynamic_shared_bytes = 32768};
}

KernelSpec Rows(const char* name, int64_t rows, int64_t threads, int64_t duration_ns) {
  return {.name = name,
          .duration_ns = duration_ns,
          .grid = {rows, 1, 1},
          .block = {threads, 1, 1},
          .registers = 32,
          .static_shared_bytes = 1024};
}

// ----- The program whose call stacks the profile shows.

std::vector<std::string> Frames(const std::string& line) {
  return {"train.py:52", "/opt/conda/lib/python3.8/site-packages/torch/nn/modules/module.py:889",
          "model.py:" + line};
}

}  // namespace

TrainingStep::TrainingStep(test::HostThread* main, test::HostThread* autograd, int64_t first_seq)
    : main_(main), autograd_(autograd), seq_(first_seq) {}

void TrainingStep::Begin(const Call& call) {
  main_->Push(fmt::format("{{'traceMarker': ['{}']}}", fmt::join(call.frames, "', '")));
  main_->Push(fmt::format("{{'mod': '{}', 'op': '{}', 'args': [{}]}}", call.mod, call.op,
                          fmt::join(call.args, ", ")));
}

void TrainingStep::End() {
  main_->Pop();
  main_->Pop();
}

int64_t TrainingStep::Play(const Call& call, const std::string& aten_op,
                           const std::vector<KernelSpec>& kernels) {
  const int64_t seq = seq_++;
  Begin(call);
  {
    const ScriptRange range(main_, fmt::format("{}, seq = {}", aten_op, seq));
    for (const KernelSpec& kernel : kernels) main_->Launch(kernel);
  }
  End();
  return seq;
}

void TrainingStep::Remember(const std::string& name, int64_t seq,
                            std::vector<BackwardKernel> kernels, bool accumulates) {
  graph_.push_back({name, seq, std::move(kernels), accumulates});
}

void TrainingStep::Embedding() {
  const ScriptRange layer(main_, "layer:embed");
  const Call functional{
      Frames("31"),
      "torch.nn.functional",
      "embedding",
      {Tensor({kSequence, kBatch}, "int64"), Tensor({kWords, kWidth}, "float32")}};
  Begin(functional);
  const Call inner{{"train.py:52", "model.py:31",
                    "/opt/conda/lib/python3.8/site-packages/torch/nn/functional.py:1852"},
                   "torch",
                   "embedding",
                   {Tensor({kWords, kWidth}, "float32"), Tensor({kSequence, kBatch}, "int64"),
                    Scalar("int", "-1"), Scalar("bool", "False"), Scalar("bool", "False")}};
  const int64_t seq = Play(inner, "embedding", {Rows(kEmbedding, 1024, 128, 6816)});
  End();
  Remember("EmbeddingBackward", seq,
           {{"embedding_dense_backward", Pointwise(kFillFloat, kWords * kWidth, 11264)},
            {"embedding_dense_backward", Rows(kEmbeddingBackward, 8, 512, 24320)}},
           true);
}

void TrainingStep::LayerNorm() {
  const ScriptRange layer(main_, "layer:block.norm");
  const Call call{
      Frames("33"),
      "torch.nn.functional",
      "layer_norm",
      {Tensor({kSequence, kBatch, kWidth}, "float32"), Scalar("tuple", Tuple({kWidth})),
       Tensor({kWidth}, "float32"), Tensor({kWidth}, "float32"), Scalar("float", "1e-05")}};
  const int64_t seq =
      Play(call, "layer_norm",
           {Rows(kLayerNormMoments, kTokens, 512, 6240), Rows(kLayerNorm, kTokens, 256, 5152)});
  Remember("NativeLayerNormBackward", seq,
           {{"", Rows(kLayerNormInternalGradients, kTokens, 512, 7424)},
            {"", Rows(kLayerNormBackward, kTokens, 256, 6112)},
            {"", Rows(kLayerNormGammaBeta, 8, 512, 15808)}});
}

void TrainingStep::Cast() {
  const Call call{Frames("34"), "Tensor", "half", {Tensor({kSequence, kBatch, kWidth}, "float32")}};
  const int64_t seq = Play(call, "to", {Pointwise(kCopyFloatToHalf, kTokens * kWidth, 3296)});
  Remember("CopyBackwards", seq, {});
}

void TrainingStep::Linear(const std::string& line, int64_t in, int64_t out, const KernelSpec& gemm,
                          const std::vector<KernelSpec>& after) {
  const Call functional{
      Frames(line),
      "torch.nn.functional",
      "linear",
      {Tensor({kTokens, in}, "float16"), Tensor({out, in}, "float16"), Tensor({out}, "float16")}};
  Begin(functional);
  const Call addmm{
      {"train.py:52", "model.py:" + line,
       "/opt/conda/lib/python3.8/site-packages/torch/nn/functional.py:1753"},
      "torch",
      "addmm",
      {Tensor({out}, "float16"), Tensor({kTokens, in}, "float16"), Tensor({in, out}, "float16")}};
  // The bias is copied into the result, which the product then adds to.
  std::vector<KernelSpec> kernels{Pointwise(kCopyHalf, kTokens * out, 2400 + out * 4), gemm};
  kernels.insert(kernels.end(), after.begin(), after.end());
  const int64_t seq = Play(addmm, "addmm", kernels);
  End();
  Remember(
      "AddmmBackward", seq,
      {{"mm", TrainingStepGemm(kTensorCoreGemmNn, out / 128, 8, 1, gemm.duration_ns + 640)},
       {"mm", TrainingStepGemm(kTensorCoreGemmNt, in / 64, out / 64, 1, gemm.duration_ns + 1472)},
       {"sum", Rows(kSumHalf, out / 64, 512, 5088)}},
      true);
}

void TrainingStep::BatchedProducts() {
  constexpr int64_t kCount = kBatch * kHeads;
  const std::vector<int64_t> heads{kCount, kSequence, kHeadWidth};
  const std::vector<int64_t> scores{kCount, kSequence, kSequence};
  const int64_t score_count = kCount * kSequence * kSequence;

  const Call query_key{
      Frames("41"),
      "torch",
      "bmm",
      {Tensor(heads, "float16"), Tensor({kCount, kHeadWidth, kSequence}, "float16")}};
  Remember("BmmBackward0",
           Play(query_key, "bmm", {TrainingStepGemm(kTensorCoreGemmNn, 1, 1, kCount, 6528)}),
           {{"bmm", TrainingStepGemm(kTensorCoreGemmNt, 1, 1, kCount, 6592)},
            {"bmm", TrainingStepGemm(kTensorCoreGemmNn, 1, 1, kCount, 6656)}});

  const Call scale{
      Frames("41"), "Tensor", "__mul__", {Tensor(scores, "float16"), Scalar("float", "0.125")}};
  Remember("MulBackward0", Play(scale, "mul", {Pointwise(kMulScalarHalf, score_count, 2912)}),
           {{"mul", Pointwise(kMulScalarHalf, score_count, 2880)}});

  const Call softmax{Frames("42"),
                     "torch.nn.functional",
                     "softmax",
                     {Tensor(scores, "float16"), Scalar("int", "-1", "dim")}};
  Remember("SoftmaxBackward", Play(softmax, "softmax", {Rows(kSoftmax, 512, 128, 4640)}),
           {{"", Rows(kSoftmaxBackward, 512, 128, 5216)}});

  const Call dropout{Frames("43"),
                     "torch.nn.functional",
                     "dropout",
                     {Tensor(scores, "float16"), Scalar("float", "0.1"), Scalar("bool", "True")}};
  Remember("FusedDropoutBackward",
           Play(dropout, "dropout", {Pointwise(kDropout, score_count / 4, 5376)}),
           {{"_masked_scale", Pointwise(kDropoutBackward, score_count, 3104)}});

  const Call weighted{
      Frames("44"), "torch", "bmm", {Tensor(scores, "float16"), Tensor(heads, "float16")}};
  Remember("BmmBackward0",
           Play(weighted, "bmm", {TrainingStepGemm(kTensorCoreGemmNn, 1, 1, kCount, 6464)}),
           {{"bmm", TrainingStepGemm(kTensorCoreGemmNt, 1, 1, kCount, 6560)},
            {"bmm", TrainingStepGemm(kTensorCoreGemmNn, 1, 1, kCount, 6624)}});
}

void TrainingStep::Residual(const std::string& line) {
  const Call call{Frames(line),
                  "Tensor",
                  "__add__",
                  {Tensor({kTokens, kWidth}, "float16"), Tensor({kTokens, kWidth}, "float16")}};
  Remember("AddBackward0", Play(call, "add", {Pointwise(kAddHalf, kTokens * kWidth, 3040)}), {});
}

void TrainingStep::Relu() {
  const Call call{
      Frames("50"), "torch.nn.functional", "relu", {Tensor({kTokens, kInner}, "float16")}};
  Remember("ReluBackward0", Play(call, "relu", {Pointwise(kReluHalf, kTokens * kInner, 5696)}),
           {{"threshold_backward", Pointwise(kReluHalf, kTokens * kInner, 7328)}});
}

void TrainingStep::Decoder() {
  const ScriptRange layer(main_, "layer:decoder");
  const Call cast{Frames("55"), "Tensor", "float", {Tensor({kTokens, kWidth}, "float16")}};
  Remember("CopyBackwards", Play(cast, "to", {Pointwise(kCopyHalf, kTokens * kWidth, 3424)}), {});
  const Call call{Frames("56"),
                  "torch",
                  "mm",
                  {Tensor({kTokens, kWidth}, "float32"), Tensor({kWidth, kWords}, "float32")}};
  Remember("MmBackward", Play(call, "mm", {TrainingStepGemm(kFloatGemmTn, 128, 8, 1, 361504)}),
           {{"mm", TrainingStepGemm(kFloatGemmNn, 2, 8, 1, 402176)},
            {"mm", TrainingStepGemm(kFloatGemmNt, 64, 2, 1, 377888)}},
           true);
}

void TrainingStep::Loss() {
  const ScriptRange layer(main_, "layer:loss");
  const std::string logits = Tensor({kTokens, kWords}, "float32");
  const std::string targets = Tensor({kTokens}, "int64");
  Begin({{"train.py:53"}, "torch.nn.functional", "cross_entropy", {logits, targets}});
  const Call softmax{{"train.py:53"}, "torch", "log_softmax", {logits, Scalar("int", "1")}};
  Remember("LogSoftmaxBackward",
           Play(softmax, "log_softmax", {Rows(kLogSoftmax, kTokens, 1024, 94208)}),
           {{"", Rows(kLogSoftmaxBackward, kTokens, 1024, 130048)}});
  const Call nll{{"train.py:53"}, "torch.nn.functional", "nll_loss", {logits, targets}};
  Remember("NllLossBackward", Play(nll, "nll_loss", {Rows(kNllLoss, 1, 32, 15360)}),
           {{"", Pointwise(kFillFloat, kTokens * kWords, 44032)},
            {"", Rows(kNllLossBackward, 1, 32, 9216)}});
  End();
}

void TrainingStep::Forward() {
  const ScriptRange phase(main_, "forward");
  Embedding();
  const Call scale{Frames("32"),
                   "Tensor",
                   "__mul__",
                   {Tensor({kSequence, kBatch, kWidth}, "float32"), Scalar("float", "16.0")}};
  Remember("MulBackward0", Play(scale, "mul", {Pointwise(kMulScalarFloat, kTokens * kWidth, 3872)}),
           {{"mul", Pointwise(kMulScalarFloat, kTokens * kWidth, 3840)}});
  LayerNorm();
  Cast();
  {
    const ScriptRange layer(main_, "layer:block.attention");
    Linear("40", kWidth, 3 * kWidth, TrainingStepGemm(kTensorCoreGemmTn, 6, 8, 1, 11712), {});
    BatchedProducts();
    // So few blocks that the product is split along k and summed by a second kernel.
    Linear("45", kWidth, kWidth, TrainingStepGemm(kTensorCoreSlicedGemmTn, 4, 16, 3, 9760),
           {Rows(kSplitKReduce, 64, 512, 4128)});
    Residual("46");
  }
  {
    const ScriptRange layer(main_, "layer:block.feed_forward");
    Linear("49", kWidth, kInner, TrainingStepGemm(kTensorCoreGemmTn, 8, 8, 1, 13440), {});
    Relu();
    Linear("51", kInner, kWidth, TrainingStepGemm(kTensorCoreGemmTn, 2, 8, 1, 24128), {});
    Residual("52");
  }
  Decoder();
  Loss();
}

void TrainingStep::Backward() {
  const ScriptRange phase(main_, "backward");
  Begin({{"train.py:54"}, "Tensor", "backward", {Tensor({}, "float32")}});
  {
    const ScriptRange ones(main_, "ones_like, seq = 0");
    main_->Launch(Pointwise(kFillFloat, 1, 1568));
  }
  autograd_->WaitUntil(main_->now_ns() + 40000);
  for (auto node = graph_.rbegin(); node != graph_.rend(); ++node) {
    {
      const ScriptRange range(autograd_, fmt::format("{}, seq = {}", node->name, node->seq));
      for (const BackwardKernel& part : node->kernels) {
        if (part.aten_op.empty()) {
          autograd_->Launch(part.kernel);
          continue;
        }
        const ScriptRange inner(autograd_, part.aten_op + ", seq = 0");
        autograd_->Launch(part.kernel);
      }
    }
    if (node->accumulates) autograd_->Mark("torch::autograd::AccumulateGrad");
  }
  main_->WaitUntil(autograd_->now_ns() + 15000);
  End();
}

void TrainingStep::Update(const std::vector<int64_t>& shape) {
  int64_t elements = 1;
  for (const int64_t extent : shape) elements *= extent;
  // Six bytes a nanosecond or so: reads two tensors and writes one.
  const int64_t duration_ns = 1800 + elements * 12 / 700;
  const Call momentum{{"train.py:56", "optimizer.py:18"},
                      "Tensor",
                      "mul_",
                      {Tensor(shape, "float32"), Scalar("float", "0.9")}};
  Play(momentum, "mul_", {Pointwise(kMulScalarFloat, elements, duration_ns)});
  const Call step{
      {"train.py:56", "optimizer.py:20"},
      "Tensor",
      "add_",
      {Tensor(shape, "float32"), Tensor(shape, "float32"), Scalar("float", "-0.01", "alpha")}};
  Play(step, "add_", {Pointwise(kAddFloat, elements, duration_ns)});
}

void TrainingStep::Optimizer() {
  const ScriptRange phase(main_, "optimizer");
  const Call norm{
      {"train.py:55", "optimizer.py:9"}, "torch", "sum", {Tensor({kWidth, kWords}, "float32")}};
  Play(norm, "sum", {Rows(kSumFloat, 80, 512, 13120)});
  Update({kWords, kWidth});
  Update({kWidth, kWords});
  Update({kInner, kWidth});
}

}  // namespace oplens::examples

#include "ops/families/compiled_flops.h"

#include <algorithm>
#include <iterator>
#include <span>
#include <string_view>
#include <utility>

#include "ops/families/pointwise_table.h"
#include "ops/op_model.h"
#include "ops/pricing.h"

namespace oplens::ops {
namespace {

// A sample call whose price gives the weight of an op that is not elementwise.
enum class Sample : uint8_t {
  kTensor,    // op(x)
  kLast,      // op(x, -1)
  kRows,      // op(x, [columns], weight, bias)
  kRowsOne,   // op(x, [columns], weight)
  kChannels,  // batch_norm(x, None, None, weight, bias, True)
  kGroups,    // group_norm(x, groups, weight, bias)
};

struct Sampled {
  std::string_view op;
  Sample sample;
};

constexpr Sampled kSampled[] = {
    {"all", Sample::kTensor},           {"amax", Sample::kTensor},
    {"amin", Sample::kTensor},          {"aminmax", Sample::kTensor},
    {"any", Sample::kTensor},           {"argmax", Sample::kTensor},
    {"argmin", Sample::kTensor},        {"batch_norm", Sample::kChannels},
    {"count_nonzero", Sample::kTensor}, {"cumprod", Sample::kLast},
    {"cumsum", Sample::kLast},          {"dropout", Sample::kTensor},
    {"group_norm", Sample::kGroups},    {"layer_norm", Sample::kRows},
    {"log_softmax", Sample::kLast},     {"logsumexp", Sample::kLast},
    {"max", Sample::kTensor},           {"mean", Sample::kTensor},
    {"min", Sample::kTensor},           {"nansum", Sample::kTensor},
    {"norm", Sample::kTensor},          {"prod", Sample::kTensor},
    {"rms_norm", Sample::kRowsOne},     {"softmax", Sample::kLast},
    {"std", Sample::kTensor},           {"std_mean", Sample::kTensor},
    {"sum", Sample::kTensor},           {"var", Sample::kTensor},
    {"var_mean", Sample::kTensor},      {"vector_norm", Sample::kTensor},
};

// Products with and without a bias or addend.
constexpr std::string_view kWithAddend[] = {
    "addmm", "baddbmm", "addbmm", "addmv", "linear", "conv2d", "convolution", "_addmm_activation"};
constexpr std::string_view kCompiledFlopsProducts[] = {"mm", "bmm", "mv", "dot", "matmul", "outer"};

// What a reducing kernel computes from row sums, and the sums it uses.
constexpr std::string_view kRoots[] = {"sqrt", "rsqrt"};
constexpr std::string_view kRowSums[] = {"mean", "sum", "var", "var_mean"};

// x * x as in the model of "pow", and its gradient.
constexpr int64_t kSquare = 1;
constexpr int64_t kSquareBackward = 2;
// With these, a power is theta ** i, the frequencies of a rotary embedding.
constexpr std::string_view kAngles[] = {"arange", "cos", "iota", "sin"};

// Ops that read a window per result (parts of their names), and ops of whose parts a kernel may
// read one element each at a point.
constexpr std::string_view kWindows[] = {"pool",        "upsample", "interpolate",
                                         "grid_sample", "im2col",   "col2im"};
constexpr std::string_view kInParts[] = {"chunk",        "glu",    "split", "split_with_sizes",
                                         "tensor_split", "unbind", "unfold"};
// Sampled ops that are elementwise nevertheless.
constexpr std::string_view kOneEach[] = {"batch_norm", "cumprod", "cumsum", "dropout"};

// Large enough that costs per result do not round up a weight.
constexpr int64_t kRows = 64;
constexpr int64_t kColumns = 1024;
constexpr int64_t kGroups = 8;

template <size_t N>
bool HoldsCompiledFlops(const std::string_view (&list)[N], std::string_view word) {
  return std::find(std::begin(list), std::end(list), word) != std::end(list);
}

bool Reduces(CompiledKind kind) {
  return kind == CompiledKind::kReduction || kind == CompiledKind::kPersistent;
}

bool HoldsForward(const CompiledName& name, std::string_view op) {
  return std::any_of(name.ops.begin(), name.ops.end(), [&](const CompiledName::Fused& fused) {
    return !fused.backward && fused.op == op;
  });
}

bool HoldsForward(const CompiledName& name, std::span<const std::string_view> ops) {
  return std::any_of(ops.begin(), ops.end(),
                     [&](std::string_view op) { return HoldsForward(name, op); });
}

bool IsReduced(std::string_view op) {
  return !HoldsCompiledFlops(kOneEach, op) &&
         std::any_of(std::begin(kSampled), std::end(kSampled),
                     [&](const Sampled& sampled) { return sampled.op == op; });
}

OpArg TensorArg(std::vector<int64_t> shape) {
  OpArg arg;
  arg.kind = OpArg::Kind::kTensor;
  arg.type = "tensor";
  arg.shape = std::move(shape);
  arg.dtype = "float32";
  return arg;
}

OpArg IntArg(int64_t value, OpArg::Kind kind = OpArg::Kind::kInt) {
  OpArg arg;
  arg.kind = kind;
  arg.int_value = value;
  return arg;
}

OpArg NoArg() {
  OpArg arg;
  arg.kind = OpArg::Kind::kNone;
  return arg;
}

OpCall SampleCall(std::string_view op, Sample sample) {
  OpCall call;
  call.op = op;
  call.args.push_back(TensorArg({kRows, kColumns}));
  switch (sample) {
    case Sample::kTensor:
      break;
    case Sample::kLast:
      call.args.push_back(IntArg(-1));
      break;
    case Sample::kRows:
    case Sample::kRowsOne:
      call.args.emplace_back().kind = OpArg::Kind::kIntList;
      call.args.back().int_list = {kColumns};
      call.args.push_back(TensorArg({kColumns}));
      if (sample == Sample::kRows) call.args.push_back(TensorArg({kColumns}));
      break;
    case Sample::kChannels:
      call.args.insert(call.args.end(), {NoArg(), NoArg(), TensorArg({kColumns}),
                                         TensorArg({kColumns}), IntArg(1, OpArg::Kind::kBool)});
      break;
    case Sample::kGroups:
      call.args.insert(call.args.end(),
                       {IntArg(kGroups), TensorArg({kColumns}), TensorArg({kColumns})});
      break;
  }
  return call;
}

int64_t FlopsOfSample(const Sampled& sampled, bool backward) {
  const PriceResult result = PriceCall(SampleCall(sampled.op, sampled.sample));
  if (!result.price) return 0;
  const Work work = SumOf(backward ? result.price->backward : result.price->forward);
  return (work.vec / (kRows * kColumns)).Value().value_or(0);
}

}  // namespace

int64_t FlopsPerPoint(const CompiledName::Fused& fused, CompiledKind kind) {
  if (const PointwiseOp* op = FindPointwiseOp(fused.op)) {
    return fused.backward ? op->backward : op->forward;
  }
  if (HoldsCompiledFlops(kWithAddend, fused.op)) return 1;
  if (HoldsCompiledFlops(kCompiledFlopsProducts, fused.op)) {
    return Reduces(kind) ? 2 : 0;
  }
  if (const Sampled* sampled =
          std::find_if(std::begin(kSampled), std::end(kSampled),
                       [&](const Sampled& candidate) { return candidate.op == fused.op; });
      sampled != std::end(kSampled)) {
    return FlopsOfSample(*sampled, fused.backward);
  }
  return 0;
}

CompiledWeights WeightsOf(const CompiledName& name) {
  const bool of_rows = Reduces(name.kind) && HoldsForward(name, kRowSums);
  const bool written_norm = of_rows && !name.every_node && HoldsForward(name, "pow") &&
                            HoldsForward(name, "mean") && HoldsForward(name, "rsqrt") &&
                            HoldsForward(name, "mul");
  const bool angles = HoldsForward(name, kAngles);
  CompiledWeights weights;
  int64_t roots = 0;
  int64_t sums = 0;
  for (const CompiledName::Fused& fused : name.ops) {
    const int64_t flops = FlopsPerPoint(fused, name.kind);
    const bool root = !fused.backward && HoldsCompiledFlops(kRoots, fused.op);
    if (of_rows && root) {
      weights.row += flops;
      ++roots;
    } else if (fused.op == "pow" && !angles) {
      weights.point += fused.backward ? kSquareBackward : kSquare;
    } else {
      weights.point += flops * (written_norm && fused.op == "mul" ? 2 : 1);
      sums += !fused.backward && fused.op == "add" ? 1 : 0;
    }
  }
  if (name.every_node) {
    const int64_t epsilons = std::min(roots, sums);
    weights.point -= epsilons;
    weights.row += epsilons;
  }
  return weights;
}

bool ReadsSeveral(const CompiledName& name) {
  return std::any_of(name.ops.begin(), name.ops.end(), [&](const CompiledName::Fused& fused) {
    const std::string_view op = fused.op;
    const bool window =
        std::any_of(std::begin(kWindows), std::end(kWindows),
                    [&](std::string_view word) { return op.find(word) != std::string_view::npos; });
    const bool reduced =
        !Reduces(name.kind) && (HoldsCompiledFlops(kCompiledFlopsProducts, op) || IsReduced(op));
    return window || reduced || HoldsCompiledFlops(kInParts, op);
  });
}

}  // namespace oplens::ops

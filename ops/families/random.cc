// Random numbers: written, at 10 FLOPs each.

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "ops/call_args.h"
#include "ops/families/families.h"
#include "ops/families/list_args.h"
#include "ops/pricing.h"
#include "ops/tensor.h"

namespace oplens::ops {
namespace {

constexpr int kNumber = 10;
// Of a permutation: keys, then a sort of them.
constexpr int kPermutation = 3;

PriceResult PricedRandom(Shape shape, DType type, Checked read_bytes) {
  const Checked n = Elements(shape);
  return Priced(TensorText(shape, type), {0, n * kNumber, BytesOf(n, type) + read_bytes},
                std::vector<PartWork>());
}

PriceResult PricedSizes(const OpCall& call, size_t first, DType absent) {
  size_t next = 0;
  const auto sizes = ReadSizes(call, first, &next);
  if (!sizes) return Unpriced(Reason::kUnsupportedArgs);
  DType type;
  if (!ReadDType(call, absent, &type)) return Unpriced(Reason::kUnknownDType);
  return PricedRandom(*sizes, type, 0);
}

// rand(sizes), randn(sizes)
PriceResult PriceRandomSized(std::string_view, const OpCall& call) {
  return PricedSizes(call, 0, DType::kFloat32);
}

// randint(high, sizes), randint(low, high, sizes): the sizes are the list.
PriceResult PriceIntegers(std::string_view, const OpCall& call) {
  for (size_t i = 0; i < call.args.size(); ++i) {
    if (call.args[i].kind == OpArg::Kind::kIntList) return PricedSizes(call, i, DType::kInt64);
  }
  return Unpriced(Reason::kUnsupportedArgs);
}

// rand_like(x), uniform_(x), normal_(x): x's size; x is not read.
PriceResult PriceRandomLike(std::string_view, const OpCall& call) {
  Reason reason = Reason::kUnsupportedArgs;
  const auto x = call.args.empty() ? std::nullopt : TensorOf(call.args.front(), &reason);
  if (!x) return Unpriced(reason);
  DType type;
  if (!ReadDType(call, x->dtype, &type)) return Unpriced(Reason::kUnknownDType);
  return PricedRandom(x->shape, type, 0);
}

// normal(mean, std) reads tensor arguments; normal(mean, std, sizes) as randn; normal_ overwrites
// x.
PriceResult PriceNormal(std::string_view op, const OpCall& call) {
  const bool in_place = call.op.ends_with('_');
  CallArgs args(call, {"mean|self", "std|mean", "size|std", "generator"});
  const OpArg* size = args.Find(2);
  if (!in_place && size != nullptr && size->kind == OpArg::Kind::kIntList) {
    return PricedSizes(call, 2, DType::kFloat32);
  }
  if (in_place) return PriceRandomLike(op, call);
  std::vector<Tensor> tensors;
  Checked read;
  for (const size_t parameter : {0u, 1u}) {
    const auto tensor = args.FindTensor(parameter);
    if (!tensor || tensor->number) continue;
    tensors.push_back(*tensor);
    read += tensor->bytes();
  }
  if (args.failed() || tensors.empty()) return Unpriced(Reason::kUnsupportedArgs);
  const auto shape = Broadcast(tensors);
  if (!shape) return Unpriced(Reason::kShapeMismatch);
  return PricedRandom(*shape, tensors.front().dtype, read);
}

// bernoulli(x) reads a probability per element; bernoulli_(x, p) only a tensor p.
PriceResult PriceBernoulli(std::string_view, const OpCall& call) {
  CallArgs args(call, {"input|self", "p", "generator"});
  const Tensor x = args.RequireTensor(0);
  const std::optional<Tensor> p = args.FindTensor(1);
  if (args.failed()) return Unpriced(args.reason());
  if (p && !p->number) {
    if (!Broadcast({x.shape, p->shape})) return Unpriced(Reason::kShapeMismatch);
    return PricedRandom(x.shape, x.dtype, p->bytes());
  }
  const bool reads = !p && !call.op.ends_with('_');
  return PricedRandom(x.shape, x.dtype, reads ? x.bytes() : Checked(0));
}

// multinomial(x[rows,classes], samples): int64 classes.
PriceResult PriceMultinomial(std::string_view, const OpCall& call) {
  CallArgs args(call, {"input|self", "num_samples", "replacement", "generator"});
  const Tensor x = args.RequireTensor(0);
  const int64_t samples = args.IntOr(1, -1);
  if (samples < 0) args.Fail(Reason::kUnsupportedArgs);
  if (args.failed()) return Unpriced(args.reason());
  if (x.shape.size() != 1 && x.shape.size() != 2) return Unpriced(Reason::kShapeMismatch);
  std::vector<int64_t> shape(x.shape.begin(), x.shape.end() - 1);
  shape.push_back(samples);
  return PricedRandom(shape, DType::kInt64, x.bytes());
}

// randperm(n)
PriceResult PricePermutation(std::string_view, const OpCall& call) {
  CallArgs args(call, {"n"});
  const int64_t n = args.IntOr(0, -1);
  if (args.failed() || n < 0) return Unpriced(Reason::kUnsupportedArgs);
  DType type;
  if (!ReadDType(call, DType::kInt64, &type)) return Unpriced(Reason::kUnknownDType);
  int64_t passes = 0;
  for (int64_t rest = n - 1; rest > 0; rest /= 2) ++passes;
  return Priced(TensorText({&n, 1}, type),
                {0, Checked(n) * (passes + kPermutation), BytesOf(n, type)},
                std::vector<PartWork>());
}

constexpr std::string_view kRandomSizedNames[] = {"rand", "randn"};
constexpr std::string_view kIntegerNames[] = {"randint"};
constexpr std::string_view kRandomLikeNames[] = {"rand_like",  "randn_like",  "randint_like",
                                                 "uniform",    "exponential", "cauchy",
                                                 "log_normal", "geometric",   "random"};
constexpr std::string_view kNormalNames[] = {"normal"};
constexpr std::string_view kBernoulliNames[] = {"bernoulli"};
constexpr std::string_view kMultinomialNames[] = {"multinomial"};
constexpr std::string_view kPermutationNames[] = {"randperm"};
constexpr OpModel kRandomModels[] = {
    {kRandomSizedNames, PriceRandomSized}, {kIntegerNames, PriceIntegers},
    {kRandomLikeNames, PriceRandomLike},   {kNormalNames, PriceNormal},
    {kBernoulliNames, PriceBernoulli},     {kMultinomialNames, PriceMultinomial},
    {kPermutationNames, PricePermutation},
};

}  // namespace

std::span<const OpModel> RandomOps() { return kRandomModels; }

}  // namespace oplens::ops

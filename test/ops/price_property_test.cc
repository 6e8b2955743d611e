// Properties of prices over random calls, hostile ones included.
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <string>
#include <vector>

#include "ops/op_model.h"
#include "ops/pricing.h"
#include "test/ops/cases.h"

namespace oplens::ops::test::price_property_test {
namespace {

OpArg TensorArg(std::vector<int64_t> shape, std::string dtype) {
  OpArg arg;
  arg.kind = OpArg::Kind::kTensor;
  arg.type = "tensor";
  arg.shape = std::move(shape);
  arg.dtype = std::move(dtype);
  return arg;
}

OpCall Tensors(std::string op, std::vector<std::vector<int64_t>> shapes,
               const std::string& dtype = "float32") {
  OpCall call;
  call.mod = "torch";
  call.op = std::move(op);
  for (auto& shape : shapes) call.args.push_back(TensorArg(std::move(shape), dtype));
  return call;
}

int64_t AnyInt() {
  return *rc::gen::oneOf(rc::gen::inRange<int64_t>(-3, 8), rc::gen::arbitrary<int64_t>(),
                         rc::gen::element<int64_t>(INT64_MAX, INT64_MIN, INT64_MIN + 1, 1LL << 32));
}

std::vector<int64_t> AnyInts() {
  const int count = *rc::gen::inRange(0, 5);
  std::vector<int64_t> values;
  for (int i = 0; i < count; ++i) values.push_back(AnyInt());
  return values;
}

OpArg AnyArg() {
  using Kind = OpArg::Kind;
  OpArg arg;
  arg.kind = *rc::gen::element(Kind::kTensor, Kind::kTensor, Kind::kTensor, Kind::kInt,
                               Kind::kFloat, Kind::kBool, Kind::kNone, Kind::kString,
                               Kind::kIntList, Kind::kFloatList, Kind::kOther);
  arg.name = *rc::gen::element<std::string>("", "", "", "input", "dim", "other", "weight", "bias",
                                            "alpha", "beta", "dtype", "out", "p", "index", "\xff");
  arg.dtype = *rc::gen::element<std::string>("float32", "float16", "int64", "bool", "complex64",
                                             "int4", "nonsense", "");
  arg.text = *rc::gen::element<std::string>("float16", "cuda:0", "fro", "tanh", "", "\xff\xfe");
  arg.shape = AnyInts();
  arg.int_list = AnyInts();
  for (const int64_t item : AnyInts()) arg.float_list.push_back(0.5 * static_cast<double>(item));
  arg.int_value = AnyInt();
  arg.float_value = *rc::gen::oneOf(rc::gen::arbitrary<double>(),
                                    rc::gen::element(0.0, 1.0, 2.0, -1e308, 1e308, NAN, INFINITY));
  return arg;
}

void CheckSane(const Work& work) {
  RC_ASSERT(work.mma.Value().value_or(-1) >= 0);
  RC_ASSERT(work.vec.Value().value_or(-1) >= 0);
  RC_ASSERT(work.bytes.Value().value_or(-1) >= 0);
  RC_ASSERT((work.mma + work.vec).Value().has_value());
}

RC_GTEST_PROP(PriceProperty, AnyArgumentsHaveAPriceOrAReason, ()) {
  OpCall call;
  call.op = std::string(*rc::gen::elementOf(OpNames())) + *rc::gen::element("", "_", ".out");
  call.mod = *rc::gen::element<std::string>("torch", "Tensor", "torch.nn.functional", "");
  const int count = *rc::gen::inRange(0, 6);
  for (int i = 0; i < count; ++i) call.args.push_back(AnyArg());
  const PriceResult result = PriceCall(call);
  if (!result.price) return;
  RC_ASSERT(result.price->forward.size() == 1u);
  RC_ASSERT(result.price->params.find(' ') == std::string::npos);
  RC_ASSERT(!result.price->params.empty());
  CheckSane(result.price->forward[0].work);
  for (const PartWork& part : result.price->backward) CheckSane(part.work);
}

RC_GTEST_PROP(PriceProperty, AnyNameIsSafe, (std::string op, std::string mod)) {
  OpCall call;
  call.op = std::move(op);
  call.mod = std::move(mod);
  const PriceResult result = PriceCall(call);
  RC_ASSERT(!result.price.has_value());
}

RC_GTEST_PROP(PriceProperty, TwiceTheBatchIsTwiceTheFlops, ()) {
  const auto m = *rc::gen::inRange<int64_t>(1, 100);
  const auto n = *rc::gen::inRange<int64_t>(1, 100);
  const auto k = *rc::gen::inRange<int64_t>(1, 100);
  const auto flops = [](const OpCall& call) {
    const Work work = PriceCall(call).price->forward[0].work;
    return *(work.mma + work.vec).Value();
  };
  RC_ASSERT(flops(Tensors("linear", {{2 * m, k}, {n, k}, {n}})) ==
            2 * flops(Tensors("linear", {{m, k}, {n, k}, {n}})));
  RC_ASSERT(flops(Tensors("bmm", {{2 * m, n, k}, {2 * m, k, n}})) ==
            2 * flops(Tensors("bmm", {{m, n, k}, {m, k, n}})));
  RC_ASSERT(flops(Tensors("matmul", {{2 * m, n, k}, {k, n}})) ==
            2 * flops(Tensors("matmul", {{m, n, k}, {k, n}})));
  RC_ASSERT(flops(Tensors("add", {{2 * m, n}, {2 * m, n}})) ==
            2 * flops(Tensors("add", {{m, n}, {m, n}})));
  RC_ASSERT(flops(Tensors("sum", {{2 * m, n}})) == 2 * flops(Tensors("sum", {{m, n}})));
}

RC_GTEST_PROP(PriceProperty, GradientsOfAProductCostAsMuchAsIt, ()) {
  const auto m = *rc::gen::inRange<int64_t>(1, 100);
  const auto n = *rc::gen::inRange<int64_t>(1, 100);
  const auto k = *rc::gen::inRange<int64_t>(1, 100);
  const PricedOp price = *PriceCall(Tensors("linear", {{m, k}, {n, k}, {n}})).price;
  RC_ASSERT(price.backward.size() == 3u);
  RC_ASSERT(price.backward[0].work.mma == price.forward[0].work.mma);
  RC_ASSERT(price.backward[1].work.mma == price.forward[0].work.mma);
  RC_ASSERT(price.backward[2].work.vec == price.forward[0].work.vec);
}

RC_GTEST_PROP(PriceProperty, TypesOfOneSizeMoveTheSameBytes, ()) {
  const auto m = *rc::gen::inRange<int64_t>(1, 100);
  const auto n = *rc::gen::inRange<int64_t>(1, 100);
  const auto same = [](const char* op, const std::vector<std::vector<int64_t>>& shapes) {
    const PricedOp half = *PriceCall(Tensors(op, shapes, "float16")).price;
    const PricedOp brain = *PriceCall(Tensors(op, shapes, "bfloat16")).price;
    RC_ASSERT(half.forward[0].work.bytes == brain.forward[0].work.bytes);
    RC_ASSERT(half.forward[0].work.vec == brain.forward[0].work.vec);
  };
  same("linear", {{m, n}, {m, n}});
  same("mul", {{m, n}, {n}});
  same("gelu", {{m, n}});
  same("cat", {{m, n}, {n, n}});
  same("sum", {{m, n}});
}

RC_GTEST_PROP(PriceProperty, MatmulOfMatricesIsMm, ()) {
  const auto m = *rc::gen::inRange<int64_t>(0, 100);
  const auto n = *rc::gen::inRange<int64_t>(0, 100);
  const auto k = *rc::gen::inRange<int64_t>(0, 100);
  const PricedOp mm = *PriceCall(Tensors("mm", {{m, k}, {k, n}})).price;
  const PricedOp matmul = *PriceCall(Tensors("matmul", {{m, k}, {k, n}})).price;
  RC_ASSERT(FiguresOf(mm.forward[0].work) == FiguresOf(matmul.forward[0].work));
  RC_ASSERT(FiguresOf(mm.backward[0].work) == FiguresOf(matmul.backward[0].work));
}

}  // namespace
}  // namespace oplens::ops::test::price_property_test

#include "parse/model/torch_call.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace oplens::torch_call_test {
namespace {

using Kind = OpArg::Kind;

OpArg Tensor(std::vector<int64_t> shape, std::string dtype = "float32") {
  OpArg arg;
  arg.kind = Kind::kTensor;
  arg.type = "tensor";
  arg.shape = std::move(shape);
  arg.dtype = std::move(dtype);
  return arg;
}

/// None, as a member of a list of tensors.
OpArg NoMember(int32_t list) {
  OpArg arg;
  arg.kind = Kind::kNone;
  arg.type = "NoneType";
  arg.list = list;
  return arg;
}

/// A member of a list of tensors.
OpArg Member(int32_t list, std::vector<int64_t> shape) {
  OpArg arg = Tensor(std::move(shape), "");
  arg.list = list;
  return arg;
}

OpArg Int(int64_t value) {
  OpArg arg;
  arg.kind = Kind::kInt;
  arg.type = "int";
  arg.int_value = value;
  return arg;
}

OpArg Bool(bool value) {
  OpArg arg;
  arg.kind = Kind::kBool;
  arg.type = "bool";
  arg.int_value = value ? 1 : 0;
  return arg;
}

OpArg Ints(std::vector<int64_t> values) {
  OpArg arg;
  arg.kind = Kind::kIntList;
  arg.type = "list";
  arg.int_list = std::move(values);
  return arg;
}

/// An argument without a value: of a type that was recorded, or absent.
OpArg NoValue(std::string type = "object") {
  OpArg arg;
  arg.type = std::move(type);
  return arg;
}

/// One word an argument: "alpha=1", "(2,3)", "dtype='float32'", "None", "?".
std::string Text(const OpCall& call) {
  std::string text = call.mod + '|' + call.op;
  const auto add_ints = [&](const std::vector<int64_t>& ints) {
    for (const int64_t value : ints) text += std::to_string(value) + ',';
  };
  for (const OpArg& arg : call.args) {
    text += ' ';
    if (!arg.name.empty()) text += arg.name + '=';
    if (arg.list > 0) text += std::to_string(arg.list) + ':';
    switch (arg.kind) {
      case Kind::kTensor:
        text += '(';
        add_ints(arg.shape);
        text += ')';
        break;
      case Kind::kInt:
        text += std::to_string(arg.int_value);
        break;
      case Kind::kBool:
        text += arg.int_value != 0 ? "True" : "False";
        break;
      case Kind::kIntList:
        text += '[';
        add_ints(arg.int_list);
        text += ']';
        break;
      case Kind::kString:
        text += '\'' + arg.text + '\'';
        break;
      case Kind::kNone:
        text += "None";
        break;
      case Kind::kFloat:
      case Kind::kFloatList:
      case Kind::kOther:
        text += '?';
        break;
    }
  }
  return text;
}

std::string Made(std::string_view name, std::vector<OpArg> args) {
  return Text(MakeTorchCall(name, std::move(args)));
}

TEST(TorchDType, NamesTheTypesOfPyTorch) {
  EXPECT_EQ(TorchDType("float"), "float32");
  EXPECT_EQ(TorchDType("double"), "float64");
  EXPECT_EQ(TorchDType("c10::Half"), "float16");
  EXPECT_EQ(TorchDType("c10::BFloat16"), "bfloat16");
  EXPECT_EQ(TorchDType("long int"), "int64");
  EXPECT_EQ(TorchDType("long"), "int64");
  EXPECT_EQ(TorchDType("int"), "int32");
  EXPECT_EQ(TorchDType("short"), "int16");
  EXPECT_EQ(TorchDType("signed char"), "int8");
  EXPECT_EQ(TorchDType("unsigned char"), "uint8");
  EXPECT_EQ(TorchDType("bool"), "bool");
  EXPECT_EQ(TorchDType("c10::complex<float>"), "complex64");
  EXPECT_EQ(TorchDType("c10::complex<double>"), "complex128");
  EXPECT_EQ(TorchDType("c10::Float8_e4m3fn"), "float8_e4m3fn");
  EXPECT_EQ(TorchDType("c10::Float8_e5m2"), "float8_e5m2");
}

TEST(TorchDType, KeepsATextThatItDoesNotKnow) {
  EXPECT_EQ(TorchDType("some::NewType"), "some::NewType");
  EXPECT_EQ(TorchDType(""), "");
}

TEST(ClassifyTorchName, OperatorsAreCalls) {
  for (const std::string_view name :
       {"aten::mm", "aten::add_.Tensor", "prims::convert_element_type", "quantized::linear",
        "torchvision::nms", "_C::rms_norm", "_C_cache_ops::reshape_and_cache_flash",
        "vllm::all_reduce", "c10d::allreduce_", "symm_mem::multimem_all_reduce_", "fbgemm::x",
        "aten::convolution_backward"}) {
    EXPECT_EQ(ClassifyTorchName(name, false), TorchName::kCall) << name;
    EXPECT_EQ(ClassifyTorchName(name, true), TorchName::kCall) << name;
  }
}

TEST(ClassifyTorchName, NodesOfTheGraphAreBackward) {
  for (const std::string_view name :
       {"AddmmBackward", "AddmmBackward0", "MeanBackward12", "CompiledFunctionBackward",
        "autograd::engine::evaluate_function: MulBackward0", "torch::autograd::AccumulateGrad",
        "autograd::engine::evaluate_function: torch::autograd::AccumulateGrad",
        "torch::autograd::CppNode<SomeFunction>"}) {
    EXPECT_EQ(ClassifyTorchName(name, true), TorchName::kBackwardNode) << name;
  }
}

TEST(ClassifyTorchName, LabelsAreNoCallsWhateverTheyHave) {
  for (const std::string_view name :
       {"Optimizer.step#SGD.step", "enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__",
        "nccl:all_reduce", "record_param_comms", "Torch-Compiled Region: 0/1",
        "## Call CompiledFxGraph abc ##", "TorchDynamo Cache Lookup", "Pregraph bytecode",
        "DistributedDataParallel.forward", "AOTDispatcher Runtime Wrapper Prologue",
        "torch.distributed.ddp.reducer::copy_bucket_to_grad"}) {
    EXPECT_EQ(ClassifyTorchName(name, true), TorchName::kLabel) << name;
  }
}

TEST(ClassifyTorchName, ArgumentsMakeAnyOtherNameACall) {
  for (const std::string_view name : {"triton_poi_fused_add_0", "CompiledFunction", "detach_"}) {
    EXPECT_EQ(ClassifyTorchName(name, true), TorchName::kCall) << name;
    EXPECT_EQ(ClassifyTorchName(name, false), TorchName::kLabel) << name;
  }
  EXPECT_EQ(ClassifyTorchName("", false), TorchName::kLabel);
  EXPECT_EQ(ClassifyTorchName("::", false), TorchName::kLabel);
  EXPECT_EQ(ClassifyTorchName("aten::", false), TorchName::kLabel);
}

TEST(ClassifyTorchName, WhatIsRegisteredIsACallByAnyPlainName) {
  for (const std::string_view name :
       {"triton_poi_fused_add_0", "triton__0d1d2de", "CompiledFunction", "detach", "Redistribute",
        "aoti_torch_cuda_mm_out", "extern_kernels.mm"}) {
    EXPECT_EQ(ClassifyTorchName(name, false, true), TorchName::kCall) << name;
  }
  for (const std::string_view name :
       {"record_param_comms", "Torch-Compiled Region: 0/1", "forward pass", "step#1", "", "::"}) {
    EXPECT_EQ(ClassifyTorchName(name, false, true), TorchName::kLabel) << name;
  }
  EXPECT_EQ(ClassifyTorchName("CompiledFunctionBackward", false, true), TorchName::kBackwardNode);
}

TEST(ClassifyTorchName, StepsAreSteps) {
  EXPECT_EQ(ClassifyTorchName("ProfilerStep#6", false), TorchName::kStep);
}

TEST(MakeTorchCall, TakesNamespaceAndOverloadAway) {
  EXPECT_EQ(Made("aten::mm", {Tensor({2, 3}), Tensor({3, 4})}), "torch|mm (2,3,) (3,4,)");
  EXPECT_EQ(Made("aten::mul.Tensor", {Tensor({2}), Tensor({2})}), "torch|mul (2,) (2,)");
  EXPECT_EQ(Made("aten::mul_.Tensor", {Tensor({2}), Tensor({2})}), "Tensor|mul_ (2,) (2,)");
  EXPECT_EQ(Made("aten::linear", {Tensor({4, 2}), Tensor({3, 2}), NoValue()}),
            "torch.nn.functional|linear (4,2,) (3,2,)");
}

TEST(MakeTorchCall, InPlaceOperatorsAreMethods) {
  EXPECT_EQ(Made("aten::copy_", {Tensor({2}), Tensor({2}), Bool(false)}), "Tensor|copy_ (2,) (2,)");
  EXPECT_EQ(Made("aten::no_such_op_", {Tensor({2})}), "Tensor|no_such_op_ (2,)");
  EXPECT_EQ(Made("aten::_foreach_add_", {Tensor({2})}), "torch|_foreach_add_ (2,)");
  EXPECT_EQ(Made("c10d::allreduce_", {Tensor({2})}), "c10d|allreduce_ (2,)");
}

TEST(MakeTorchCall, KeepsWhatItDoesNotKnow) {
  EXPECT_EQ(Made("aten::no_such_op", {Tensor({2}), Int(3)}), "aten|no_such_op (2,) 3");
  EXPECT_EQ(Made("_C::rms_norm", {Tensor({2}), Tensor({2})}), "_C|rms_norm (2,) (2,)");
  EXPECT_EQ(Made("vllm::mm", {Tensor({2}), NoValue(), Int(1)}), "vllm|mm (2,) None 1");
  EXPECT_EQ(Made("triton_poi_fused_0", {Tensor({2})}), "|triton_poi_fused_0 (2,)");
  EXPECT_EQ(Made("aten::mm", {}), "torch|mm");
}

TEST(MakeTorchCall, FactorsBecomeKeywords) {
  EXPECT_EQ(Made("aten::add", {Tensor({2}), Tensor({2}), Int(3)}), "torch|add (2,) (2,) alpha=3");
  EXPECT_EQ(Made("aten::add", {Tensor({2}), Tensor({2}), NoValue("Scalar")}),
            "torch|add (2,) (2,)");
  EXPECT_EQ(Made("aten::addmm", {Tensor({4}), Tensor({2, 3}), Tensor({3, 4}), Int(2), Int(5)}),
            "torch|addmm (4,) (2,3,) (3,4,) beta=2 alpha=5");
}

TEST(MakeTorchCall, EmbeddingHasItsTableFirst) {
  EXPECT_EQ(Made("aten::embedding", {Tensor({9, 8}), Tensor({5}, "int64"), Int(-1)}),
            "torch.nn.functional|embedding weight=(9,8,) input=(5,) padding_idx=-1");
}

TEST(MakeTorchCall, SoftmaxIsThatOfPython) {
  EXPECT_EQ(Made("aten::_softmax", {Tensor({2, 3}), Int(-1), Bool(false)}),
            "torch.nn.functional|softmax (2,3,) -1");
  EXPECT_EQ(Made("aten::_log_softmax", {Tensor({2, 3}), Int(1), Bool(true)}),
            "torch.nn.functional|log_softmax (2,3,) 1 dtype='float32'");
}

TEST(MakeTorchCall, TypesAreRecordedByNumber) {
  EXPECT_EQ(Made("aten::sum", {Tensor({2, 3}), Ints({1}), Bool(true), Int(7)}),
            "torch|sum (2,3,) dim=[1,] keepdim=True dtype='float64'");
  EXPECT_EQ(Made("aten::sum", {Tensor({2, 3}), Int(6)}), "torch|sum (2,3,) dtype='float32'");
  EXPECT_EQ(Made("aten::zeros", {Ints({4}), Int(15)}), "torch|zeros [4,] dtype='bfloat16'");
  EXPECT_EQ(Made("aten::zeros", {Ints({4}), Int(-1)}), "torch|zeros [4,] dtype=''");
  EXPECT_EQ(Made("aten::zeros", {Ints({4}), Int(INT64_MAX)}), "torch|zeros [4,] dtype=''");
}

TEST(MakeTorchCall, ACopyWithoutATypeKeepsIt) {
  EXPECT_EQ(Made("aten::_to_copy", {Tensor({2}, "int32"), NoValue(), Int(0), NoValue()}),
            "Tensor|to (2,) dtype='int32'");
  EXPECT_EQ(Made("aten::_to_copy", {Tensor({2}, "int32"), Int(5), Int(0), NoValue()}),
            "Tensor|to (2,) dtype='float16'");
  // Here nothing tells the type.
  EXPECT_EQ(Made("aten::_to_copy", {Tensor({2}, "int32"), NoValue("Scalar"), NoValue("Scalar")}),
            "Tensor|to (2,)");
}

TEST(MakeTorchCall, AMissingDimensionIsNotTakenForAll) {
  EXPECT_EQ(Made("aten::sum", {Tensor({2, 3}), NoValue(), Bool(false), NoValue()}),
            "torch|sum (2,3,) keepdim=False");
  EXPECT_EQ(Made("aten::sum", {Tensor({2, 3}), NoValue(), NoValue("Scalar"), NoValue()}),
            "torch|sum (2,3,) dim=?");
}

TEST(MakeTorchCall, TheNormalizedShapeIsTheWeights) {
  EXPECT_EQ(Made("aten::native_layer_norm",
                 {Tensor({9, 5}), NoValue(), Tensor({5}), Tensor({5}), NoValue("Scalar")}),
            "torch.nn.functional|layer_norm (9,5,) [5,] (5,) (5,)");
  EXPECT_EQ(Made("aten::native_layer_norm_backward",
                 {Tensor({9, 5}), Tensor({9, 5}), NoValue(), Tensor({9, 1}), Tensor({9, 1}),
                  Tensor({5}), Tensor({5}), NoValue()}),
            "aten|native_layer_norm_backward (9,5,) (9,5,) [5,] (9,1,) (9,1,) (5,) (5,)");
}

TEST(MakeTorchCall, TheTensorsOfAListStandOneByOne) {
  EXPECT_EQ(Made("aten::cat", {Tensor({2, 1}), Tensor({2, 2}), Tensor({2, 3}), Int(1)}),
            "torch|cat (2,1,) (2,2,) (2,3,) 1");
  EXPECT_EQ(Made("aten::cat", {NoValue("TensorList"), Int(1)}), "torch|cat ? 1");
}

TEST(MakeTorchCall, ListsOfTensorsKeepTheirBounds) {
  EXPECT_EQ(Made("aten::_foreach_add_",
                 {Member(1, {2}), Member(1, {3}), Member(2, {2}), Member(2, {3}), Int(4)}),
            "torch|_foreach_add_ 1:(2,) 1:(3,) 2:(2,) 2:(3,) alpha=4");
  EXPECT_EQ(Made("aten::_foreach_addcdiv_",
                 {Member(1, {2}), Member(2, {2}), Member(3, {2}), NoValue("ScalarList")}),
            "torch|_foreach_addcdiv_ 1:(2,) 2:(2,) 3:(2,)");
  EXPECT_EQ(Made("aten::_foreach_mul_", {Member(1, {2}), Tensor({}, "float32")}),
            "torch|_foreach_mul_ 1:(2,) ()");
  // Optional ones may be missing.
  EXPECT_EQ(Made("aten::_foreach_mul", {NoMember(1), Member(1, {2}), NoMember(2), Member(2, {3})}),
            "torch|_foreach_mul 1:None 1:(2,) 2:None 2:(3,)");
  // A list of numbers without values still has its place.
  EXPECT_EQ(Made("aten::_foreach_mul", {Member(1, {2}), NoValue("ScalarList")}),
            "torch|_foreach_mul 1:(2,) ?");
  EXPECT_EQ(
      Made("aten::_fused_adam_", {Member(1, {2}), Member(2, {2}), Member(3, {2}), Member(4, {2}),
                                  NoValue("TensorList"), Member(5, {}), Int(1), Int(2), Int(3),
                                  Int(4), Int(5), Bool(false), Bool(false), NoValue(), NoValue()}),
      "torch|_fused_adam_ 1:(2,) 2:(2,) 3:(2,) 4:(2,) ? 5:() lr=1 beta1=2 beta2=3 "
      "weight_decay=4 eps=5 amsgrad=False");
}

TEST(MakeTorchCall, NumberOfArgumentsTellsOverloadsApart) {
  EXPECT_EQ(Made("aten::arange", {Int(9), NoValue(), NoValue(), NoValue(), NoValue()}),
            "torch|arange end=9");
  EXPECT_EQ(Made("aten::arange", {Int(1), Int(9), Int(4), NoValue(), NoValue(), NoValue()}),
            "torch|arange 1 9 dtype='int64'");
}

TEST(MakeTorchCall, OfTheStackOfAnInterpreterTheLastArgumentsAreTheCalls) {
  EXPECT_EQ(Made("aten::matmul",
                 {Tensor({8, 5}), Tensor({5, 7}), Tensor({6}), Tensor({2, 3}), Tensor({3, 4})}),
            "torch|matmul (2,3,) (3,4,)");
  EXPECT_EQ(
      Made("aten::linear", {Tensor({9}), NoValue(), Tensor({2, 3}), Tensor({4, 3}), Tensor({4})}),
      "torch.nn.functional|linear (2,3,) (4,3,) (4,)");
  EXPECT_EQ(Made("aten::pow", {Tensor({9}), Tensor({8}), Tensor({2}), Int(2)}), "torch|pow (2,) 2");
  EXPECT_EQ(Made("aten::index_select",
                 {Tensor({9}), Tensor({8}), Tensor({7, 5}), Int(0), Tensor({3}, "int64")}),
            "torch|index_select (7,5,) 0 (3,)");
}

TEST(MakeTorchCall, AnOutArgumentIsNoStack) {
  EXPECT_EQ(Made("aten::mm", {Tensor({2, 3}), Tensor({3, 4}), Tensor({2, 4})}),
            "torch|mm (2,3,) (3,4,) out=(2,4,)");
}

TEST(MakeTorchCall, ArgumentsThatALaterSchemaAddedAreDropped) {
  EXPECT_EQ(Made("aten::softmax", {Tensor({2, 3}), Int(1), NoValue(), Bool(true)}),
            "torch.nn.functional|softmax (2,3,) 1");
  EXPECT_EQ(Made("aten::rrelu", {Tensor({2}), Int(0), Int(1), Bool(true), NoValue()}),
            "torch.nn.functional|rrelu (2,) 0 1 training=True");
}

TEST(MakeTorchCall, AnyCountOfAnyArgumentsIsTaken) {
  for (const std::string_view name :
       {"aten::sum", "aten::cat", "aten::to", "aten::native_layer_norm", "aten::_softmax",
        "aten::arange", "aten::_", "aten::__", "aten::.", "aten::zeros"}) {
    for (size_t count = 0; count < 12; ++count) {
      EXPECT_LE(MakeTorchCall(name, std::vector<OpArg>(count)).args.size(), count) << name;
      EXPECT_LE(MakeTorchCall(name, std::vector<OpArg>(count, Int(INT64_MIN))).args.size(), count);
      EXPECT_LE(MakeTorchCall(name, std::vector<OpArg>(count, Tensor({1}))).args.size(), count);
    }
  }
}

}  // namespace
}  // namespace oplens::torch_call_test

#include "parse/join/collectives.h"

#include <algorithm>
#include <iterator>
#include <string>
#include <string_view>
#include <utility>

namespace oplens::parse {
namespace {

struct Pair {
  std::string_view recorded;
  std::string_view name;
};

// As PyTorch's back end for NCCL records them.
constexpr Pair kNames[] = {
    {"_allgather_base", "all_gather"},
    {"_reduce_scatter_base", "reduce_scatter"},
    {"all_gather", "all_gather"},
    {"all_reduce", "all_reduce"},
    {"all_to_all", "all_to_all"},
    {"all_to_allv", "all_to_all"},
    {"allgather", "all_gather"},
    {"allgather_coalesced", "all_gather"},
    {"allgather_into_tensor_coalesced", "all_gather"},
    {"allreduce", "all_reduce"},
    {"allreduce_coalesced", "all_reduce"},
    {"allreduce_sparse", "all_reduce"},
    {"alltoall", "all_to_all"},
    {"alltoall_base", "all_to_all"},
    {"reduce_scatter_tensor_coalesced", "reduce_scatter"},
};

// c10::ScalarType as it names itself.
constexpr Pair kTypes[] = {
    {"BFloat16", "bfloat16"},
    {"Bool", "bool"},
    {"Byte", "uint8"},
    {"Char", "int8"},
    {"ComplexDouble", "complex128"},
    {"ComplexFloat", "complex64"},
    {"Double", "float64"},
    {"Float", "float32"},
    {"Float8_e4m3fn", "float8_e4m3fn"},
    {"Float8_e4m3fnuz", "float8_e4m3fnuz"},
    {"Float8_e5m2", "float8_e5m2"},
    {"Float8_e5m2fnuz", "float8_e5m2fnuz"},
    {"Half", "float16"},
    {"Int", "int32"},
    {"Long", "int64"},
    {"Short", "int16"},
};

// What is not in the table stays as it is.
template <size_t N>
std::string_view Translate(const Pair (&table)[N], std::string_view recorded) {
  const auto* row = std::find_if(std::begin(table), std::end(table),
                                 [&](const Pair& pair) { return pair.recorded == recorded; });
  return row == std::end(table) ? recorded : row->name;
}

OpArg Tensor(int64_t elements, std::string_view dtype) {
  OpArg arg;
  arg.kind = OpArg::Kind::kTensor;
  arg.type = "tensor";
  arg.shape = {elements};
  arg.dtype = dtype;
  return arg;
}

OpArg Int(std::string_view name, int64_t value) {
  OpArg arg;
  arg.name = name;
  arg.kind = OpArg::Kind::kInt;
  arg.type = "int";
  arg.int_value = value;
  return arg;
}

int64_t WholeOf(std::string_view op, const Communication& communication) {
  // A tensor that a rank only sends or only receives is recorded as empty on the other side.
  const bool one_side = op == "all_to_all" && communication.input_elements >= 0;
  return one_side ? communication.input_elements
                  : std::max(communication.input_elements, communication.output_elements);
}

}  // namespace

OpCall CommunicationCall(const Communication& communication, const StringPool& strings) {
  OpCall call;
  call.mod = "c10d";
  call.op = Translate(kNames, strings.View(communication.name));
  const int64_t elements = WholeOf(call.op, communication);
  if (elements >= 0) {
    call.args.push_back(Tensor(elements, Translate(kTypes, strings.View(communication.dtype))));
  }
  if (communication.group_size > 0) {
    call.args.push_back(Int("world_size", communication.group_size));
  }
  return call;
}

Collectives::Collectives(Trace* trace) : calls_(trace->communications.size()) {
  std::string text;
  for (const Kernel& kernel : trace->kernels) {
    const ItemIndex communication = trace->DetailsOf(kernel).communication;
    if (communication >= calls_.size()) continue;
    Call& made = calls_[communication];
    if (made.text != 0) continue;
    const OpCall call = CommunicationCall(trace->communications[communication], trace->strings);
    text.clear();
    AppendOpCall(call, &text);
    made = {trace->strings.Intern(text), trace->strings.Intern(call.op),
            trace->strings.Intern(call.mod)};
  }
}

}  // namespace oplens::parse

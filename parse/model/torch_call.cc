#include "parse/model/torch_call.h"

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <utility>

#include "base/ascii.h"
#include "nvtx_annotate/vocabulary/marker_format.h"
#include "nvtx_annotate/vocabulary/torch_schema.h"

namespace oplens {
namespace {

// ---- names ----

bool IsTorchNameCharacter(char c) { return IsNameCharacter(c) || c == '.'; }

bool IsName(std::string_view text) {
  return !text.empty() && std::all_of(text.begin(), text.end(), IsTorchNameCharacter);
}

constexpr std::string_view kTorchCallScope = "::";

/// "aten::add_": a namespace and a name.
bool IsOperatorName(std::string_view name) {
  const size_t scope = name.find(kTorchCallScope);
  return scope != std::string_view::npos && IsName(name.substr(0, scope)) &&
         IsName(name.substr(scope + kTorchCallScope.size()));
}

constexpr std::string_view kNodePrefixes[] = {
    "autograd::engine::evaluate_function: ",
    "torch::autograd::",
    "struct torch::autograd::",
};

/// "AddmmBackward0", "CompiledFunctionBackward"; Python classes may have a namespace in front.
bool IsNodeName(std::string_view name) {
  if (std::any_of(std::begin(kNodePrefixes), std::end(kNodePrefixes),
                  [&](std::string_view prefix) { return name.starts_with(prefix); })) {
    return true;
  }
  while (!name.empty() && IsDigit(name.back())) name.remove_suffix(1);
  return name.ends_with("Backward");
}

/// Labels of PyTorch and its libraries in their own code, with or without arguments.
constexpr std::string_view kLabelPrefixes[] = {
    "## ",
    "AOTDispatcher",
    "DataParallel.",
    "DistributedDataParallel.",
    "FullyShardedDataParallel.",
    "Memcpy",
    "Memset",
    "Optimizer.",
    "Pregraph bytecode",
    "PyTorch Profiler",
    "Torch-Compiled Region",
    "TorchDynamo Cache Lookup",
    "[memory]",
    "cuda:",
    "dataparallel_",
    "enumerate(DataLoader)",
    "gloo:",
    "mpi:",
    "nccl:",
    "record_param_comms",
    "torch.distributed.",
    "torch::distributed::",
    "ucc:",
};

bool IsLabel(std::string_view name) {
  return std::any_of(std::begin(kLabelPrefixes), std::end(kLabelPrefixes),
                     [&](std::string_view prefix) { return name.starts_with(prefix); });
}

// ---- data types ----

struct TypeName {
  std::string_view profiler;
  std::string_view torch;
};

constexpr TypeName kTypes[] = {
    {"float", "float32"},
    {"double", "float64"},
    {"c10::Half", "float16"},
    {"c10::BFloat16", "bfloat16"},
    {"long int", "int64"},
    {"long", "int64"},
    {"long long", "int64"},
    {"int", "int32"},
    {"short", "int16"},
    {"short int", "int16"},
    {"signed char", "int8"},
    {"unsigned char", "uint8"},
    {"unsigned short", "uint16"},
    {"unsigned int", "uint32"},
    {"unsigned long", "uint64"},
    {"c10::complex<c10::Half>", "complex32"},
    {"c10::complex<float>", "complex64"},
    {"c10::complex<double>", "complex128"},
    {"c10::Float8_e5m2", "float8_e5m2"},
    {"c10::Float8_e4m3fn", "float8_e4m3fn"},
    {"c10::Float8_e5m2fnuz", "float8_e5m2fnuz"},
    {"c10::Float8_e4m3fnuz", "float8_e4m3fnuz"},
    {"c10::Float8_e8m0fnu", "float8_e8m0fnu"},
    {"c10::Float4_e2m1fn_x2", "float4_e2m1fn_x2"},
    {"c10::qint8", "qint8"},
    {"c10::quint8", "quint8"},
    {"c10::qint32", "qint32"},
};

/// Indexed by the number of c10::ScalarType; "" if no model uses the type.
constexpr std::string_view kScalarTypes[] = {
    "uint8",
    "int8",
    "int16",
    "int32",
    "int64",
    "float16",
    "float32",
    "float64",
    "complex32",
    "complex64",
    "complex128",
    "bool",
    "qint8",
    "quint8",
    "qint32",
    "bfloat16",
    "",
    "",
    "",
    "",
    "",
    "",
    "",
    "float8_e5m2",
    "float8_e4m3fn",
    "float8_e5m2fnuz",
    "float8_e4m3fnuz",
    "uint16",
    "uint32",
    "uint64",
};

// ---- arguments ----

OpArg NoArg(std::string_view name) {
  OpArg arg;
  arg.name = name;
  arg.kind = OpArg::Kind::kNone;
  arg.type = "NoneType";
  return arg;
}

OpArg TextArg(std::string_view name, std::string_view text) {
  OpArg arg;
  arg.name = name;
  arg.kind = OpArg::Kind::kString;
  arg.type = "str";
  arg.text = text;
  return arg;
}

OpArg ListArg(std::vector<int64_t> list) {
  OpArg arg;
  arg.kind = OpArg::Kind::kIntList;
  arg.type = "list";
  arg.int_list = std::move(list);
  return arg;
}

/// The type of an argument that is absent or that no profiler describes.
constexpr std::string_view kNoType = "object";

constexpr std::string_view kShapeOf = "shape~";

/// Whether the profiler names the type but not the value: then the file has no values at all.
bool HasNoValue(const OpArg& arg) {
  return arg.kind == OpArg::Kind::kOther && arg.type != kNoType && arg.type != "list";
}

/// For an operator called by TorchScript's interpreter some profilers record the interpreter's
/// whole stack, with the operator's own arguments last. Such a call has more arguments than its
/// schema.
void DropStack(std::string_view words, std::vector<OpArg>* args) {
  constexpr std::string_view kOut = " out";
  // These rows do not give a number of arguments.
  if (words.empty() || words.ends_with('-') || words.find('@') != std::string_view::npos) return;
  const auto count = static_cast<size_t>(std::count(words.begin(), words.end(), ' ')) + 1;
  if (args->size() <= count) return;
  size_t own = count;
  for (; words.ends_with(kOut); words.remove_suffix(kOut.size())) --own;
  // Otherwise a later version of the operator has more arguments.
  const auto first = args->end() - static_cast<std::ptrdiff_t>(own);
  if (first->kind == OpArg::Kind::kTensor) args->erase(args->begin(), first);
}

/// Converts the arguments of one call to the form of the Python function.
class Binder {
 public:
  Binder(const TorchSchema* schema, std::vector<OpArg> args)
      : words_(schema == nullptr ? std::string_view() : schema->parameters),
        args_(std::move(args)),
        no_values_(std::any_of(args_.begin(), args_.end(), HasNoValue)) {}

  std::vector<OpArg> Bind();

 private:
  std::string_view NextWord();
  void BindTensors();
  void BindOne(std::string_view word, OpArg arg);
  void BindDType(OpArg arg, bool inherited);
  void BindShape(size_t weight, OpArg arg);

  std::string_view words_;
  std::vector<OpArg> args_;
  bool no_values_;
  size_t next_ = 0;
  std::vector<OpArg> bound_;
};

std::string_view Binder::NextWord() {
  if (words_.empty()) return "_";
  const size_t blank = words_.find(' ');
  const std::string_view word = words_.substr(0, blank);
  // Arguments beyond the last word are dropped.
  if (blank == std::string_view::npos) {
    words_ = "-";
  } else {
    words_.remove_prefix(blank + 1);
  }
  return word;
}

std::vector<OpArg> Binder::Bind() {
  while (next_ < args_.size()) {
    const std::string_view word = NextWord();
    if (word == "@") {
      BindTensors();
    } else {
      BindOne(word, std::move(args_[next_++]));
    }
  }
  while (!bound_.empty() && bound_.back().kind == OpArg::Kind::kNone) bound_.pop_back();
  return std::move(bound_);
}

/// Binds the members of a tensor list, which stand one by one; those of another list are another
/// argument. A list of optional tensors may hold None.
void Binder::BindTensors() {
  const size_t first = next_;
  while (next_ < args_.size() && args_[next_].list == args_[first].list &&
         (args_[next_].kind == OpArg::Kind::kTensor || args_[next_].list > 0)) {
    bound_.push_back(std::move(args_[next_++]));
  }
  // A list without recorded tensors still has its place.
  if (next_ == first) bound_.push_back(std::move(args_[next_++]));
}

void Binder::BindOne(std::string_view word, OpArg arg) {
  if (word == "-") return;
  const bool always = word.ends_with("!!");
  const bool needed = word.back() == '!';
  if (needed) word.remove_suffix(always ? 2 : 1);
  const bool unknown = arg.kind == OpArg::Kind::kOther;
  if (word == "dtype" || word == "dtype~") return BindDType(std::move(arg), word.back() == '~');
  if (word.starts_with(kShapeOf)) {
    return BindShape(static_cast<size_t>(word[kShapeOf.size()] - '0'), std::move(arg));
  }
  if (word == "half_to_float") {
    if (arg.kind == OpArg::Kind::kBool && arg.int_value != 0) {
      bound_.push_back(TextArg("dtype", "float32"));
    }
    return;
  }
  if (word != "_") arg.name = word;
  if (unknown && !(needed && (no_values_ || always))) arg = NoArg(arg.name);
  if (arg.kind == OpArg::Kind::kNone && !arg.name.empty()) return;
  bound_.push_back(std::move(arg));
}

/// Data types are recorded by number. `inherited`: a missing one is that of the first tensor.
void Binder::BindDType(OpArg arg, bool inherited) {
  if (arg.kind == OpArg::Kind::kInt) {
    const bool known =
        arg.int_value >= 0 && arg.int_value < static_cast<int64_t>(std::size(kScalarTypes));
    const std::string_view text = known ? kScalarTypes[arg.int_value] : std::string_view();
    bound_.push_back(TextArg("dtype", text));
  } else if (arg.kind == OpArg::Kind::kTensor || arg.kind == OpArg::Kind::kString) {
    bound_.push_back(std::move(arg));
  } else if (inherited && !no_values_ && !bound_.empty() &&
             bound_.front().kind == OpArg::Kind::kTensor) {
    bound_.push_back(TextArg("dtype", bound_.front().dtype));
  }
}

/// A shape that was not recorded is the shape of the weight, args_[weight], which comes later.
void Binder::BindShape(size_t weight, OpArg arg) {
  if (arg.kind == OpArg::Kind::kOther && weight < args_.size() &&
      args_[weight].kind == OpArg::Kind::kTensor) {
    arg = ListArg(args_[weight].shape);
  }
  bound_.push_back(std::move(arg));
}

}  // namespace

TorchName ClassifyTorchName(std::string_view name, bool has_arguments, bool registered) {
  if (name.starts_with(markers::kStepPrefix)) return TorchName::kStep;
  if (IsNodeName(name)) return TorchName::kBackwardNode;
  if (IsLabel(name)) return TorchName::kLabel;
  const bool called = IsOperatorName(name) || has_arguments || (registered && IsName(name));
  return called ? TorchName::kCall : TorchName::kLabel;
}

OpCall MakeTorchCall(std::string_view name, std::vector<OpArg> args) {
  OpCall call;
  const size_t scope = IsOperatorName(name) ? name.find(kTorchCallScope) : std::string_view::npos;
  std::string_view op = name;
  if (scope != std::string_view::npos) {
    call.mod = name.substr(0, scope);
    op = name.substr(scope + kTorchCallScope.size());
    const size_t overload = op.find('.');
    if (overload != 0) op = op.substr(0, overload);
  }
  const bool is_aten = call.mod == "aten";
  const TorchSchema* schema = is_aten ? FindTorchSchema(op, args.size()) : nullptr;
  call.op = op;
  if (schema != nullptr) {
    if (!schema->op.empty()) call.op = schema->op;
    call.mod = schema->mod;
  }
  // In-place operators are methods; operators that begin with '_' are not public.
  const bool is_private = op.starts_with('_') && (schema == nullptr || !op.starts_with("__"));
  if (is_aten && op.ends_with('_') && !is_private) call.mod = "Tensor";
  if (schema != nullptr) DropStack(schema->parameters, &args);
  call.args = Binder(schema, std::move(args)).Bind();
  return call;
}

OpArg TorchTensor(std::vector<int64_t> shape, std::string_view profiler_type) {
  OpArg arg;
  arg.kind = OpArg::Kind::kTensor;
  arg.type = "tensor";
  arg.shape = std::move(shape);
  arg.dtype = TorchDType(profiler_type);
  return arg;
}

std::string_view TorchDType(std::string_view profiler_type) {
  const auto* row = std::find_if(std::begin(kTypes), std::end(kTypes), [&](const TypeName& type) {
    return type.profiler == profiler_type;
  });
  return row == std::end(kTypes) ? profiler_type : row->torch;
}

}  // namespace oplens

#include "parse/model/op_call.h"

#include <fmt/format.h>

#include <cmath>
#include <iterator>
#include <limits>
#include <string>
#include <utility>

#include "base/literal.h"
#include "parse/model/python_text.h"

namespace oplens {
namespace {

bool IsTensorType(std::string_view type) { return type == "tensor" || type == "ndarray"; }

/// PyProf quotes floats that are not finite; only the type distinguishes them from strings.
bool UnquoteFloat(std::string_view text, double* value) {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  if (text == "inf") {
    *value = kInfinity;
  } else if (text == "-inf") {
    *value = -kInfinity;
  } else if (text == "nan") {
    *value = std::numeric_limits<double>::quiet_NaN();
  } else {
    return false;
  }
  return true;
}

/// Converts a value to its type, which may have been written after it.
void ApplyType(OpArg* arg) {
  if (!arg->type.starts_with("float")) return;
  if (arg->kind == OpArg::Kind::kInt) {
    arg->kind = OpArg::Kind::kFloat;
    arg->float_value = static_cast<double>(arg->int_value);
    arg->int_value = 0;
  } else if (arg->kind == OpArg::Kind::kString && UnquoteFloat(arg->text, &arg->float_value)) {
    arg->kind = OpArg::Kind::kFloat;
    arg->text.clear();
  }
}

/// Reads one op literal. Functions return false on errors, which ErrorText() explains.
class OpCallParser {
 public:
  explicit OpCallParser(std::string_view text) : in_(text) {}

  bool Parse(OpCall* call);
  std::string ErrorText() const { return in_.failed() ? in_.ErrorText() : complaint_; }

 private:
  /// A key and its reader. Its index in its table is its bit in the set of keys seen.
  template <typename Target>
  struct Key {
    std::string_view word;
    bool (OpCallParser::*read)(Target*);
  };
  static const Key<OpCall> kCallKeys[4];
  static const Key<OpArg> kArgKeys[7];

  template <typename Target, size_t N>
  bool ReadDict(const Key<Target> (&keys)[N], uint32_t* seen, Target* target);
  bool ReadText(std::string* text);
  bool ReadMod(OpCall* call) { return ReadText(&call->mod); }
  bool ReadOp(OpCall* call) { return ReadText(&call->op); }
  bool ReadArgs(OpCall* call);
  bool ReadOwn(OpCall* call);
  bool ReadArg(OpArg* arg);
  bool ReadTimes(OpArg* arg);
  bool ReadName(OpArg* arg) { return ReadText(&arg->name); }
  bool ReadType(OpArg* arg) { return ReadText(&arg->type); }
  bool ReadShape(OpArg* arg);
  bool ReadDType(OpArg* arg) { return ReadText(&arg->dtype); }
  bool ReadValue(OpArg* arg);
  bool ReadList(OpArg* arg);
  bool ReadNumber(OpArg* arg);
  bool ReadSequence(OpArg* arg);
  bool Complain(std::string complaint) {
    complaint_ = std::move(complaint);
    return false;
  }

  LiteralScanner in_;
  std::string storage_;    // Decoded texts; copied out at once.
  int64_t times_ = 1;      // How many equal arguments the current one stands for.
  std::string complaint_;  // What is wrong with a well-formed literal.
};

// The first three keys of a call are required.
constexpr size_t kRequiredKeys = 3;
constexpr OpCallParser::Key<OpCall> OpCallParser::kCallKeys[] = {
    {"mod", &OpCallParser::ReadMod},
    {"op", &OpCallParser::ReadOp},
    {"args", &OpCallParser::ReadArgs},
    {"oplens", &OpCallParser::ReadOwn},
};

constexpr size_t kUsualArgs = 8;
constexpr size_t kMostArgs = 65536;

// Indexes in kArgKeys of the keys that are checked below.
constexpr int kTypeKey = 1;
constexpr int kShapeKey = 2;
constexpr int kValueKey = 4;
constexpr OpCallParser::Key<OpArg> OpCallParser::kArgKeys[] = {
    {"name", &OpCallParser::ReadName},   {"type", &OpCallParser::ReadType},
    {"shape", &OpCallParser::ReadShape}, {"dtype", &OpCallParser::ReadDType},
    {"value", &OpCallParser::ReadValue}, {"list", &OpCallParser::ReadList},
    {"times", &OpCallParser::ReadTimes},
};

template <typename Target, size_t N>
bool OpCallParser::ReadDict(const Key<Target> (&keys)[N], uint32_t* seen, Target* target) {
  std::string_view word;
  in_.EnterDict();
  while (in_.NextKey(&storage_, &word)) {
    size_t i = 0;
    while (i < N && keys[i].word != word) ++i;
    if (i == N) {
      in_.Skip();
      continue;
    }
    // Two values of one key would be ambiguous.
    if ((*seen >> i & 1) != 0) return in_.Refuse("a key stands twice");
    *seen |= uint32_t{1} << i;
    const auto read = keys[i].read;
    if (!(this->*read)(target)) return false;
  }
  return !in_.failed();
}

bool OpCallParser::Parse(OpCall* call) {
  uint32_t seen = 0;
  if (!ReadDict(kCallKeys, &seen, call) || !in_.Finish()) return false;
  for (size_t i = 0; i < kRequiredKeys; ++i) {
    if ((seen >> i & 1) == 0)
      return Complain(fmt::format("the key '{}' is missing", kCallKeys[i].word));
  }
  return true;
}

bool OpCallParser::ReadText(std::string* text) {
  storage_.clear();
  std::string_view view;
  if (!in_.ReadString(&storage_, &view)) return false;
  text->assign(view);
  return true;
}

bool OpCallParser::ReadArgs(OpCall* call) {
  call->args.reserve(kUsualArgs);
  in_.EnterSequence();
  while (in_.NextItem()) {
    times_ = 1;
    if (ReadArg(&call->args.emplace_back())) {
      if (call->args.size() + static_cast<size_t>(times_) - 1 > kMostArgs) {
        return Complain("has more arguments than can be");
      }
      if (times_ > 1) {
        const OpArg alike = call->args.back();
        call->args.insert(call->args.end(), static_cast<size_t>(times_) - 1, alike);
      }
      continue;
    }
    if (!complaint_.empty()) {
      complaint_ = fmt::format("argument {} {}", call->args.size(), complaint_);
    }
    return false;
  }
  return !in_.failed();
}

bool OpCallParser::ReadArg(OpArg* arg) {
  uint32_t seen = 0;
  if (!ReadDict(kArgKeys, &seen, arg)) return false;
  const auto has = [seen](int key) { return (seen >> key & 1) != 0; };
  if (!has(kTypeKey)) return Complain("has no type");
  if (IsTensorType(arg->type)) {
    if (!has(kShapeKey)) return Complain("is a tensor without a shape");
    arg->kind = OpArg::Kind::kTensor;
    return true;
  }
  if (!has(kValueKey)) return Complain("has no value");
  ApplyType(arg);
  return true;
}

bool OpCallParser::ReadShape(OpArg* arg) {
  in_.EnterSequence();
  while (in_.NextItem()) {
    int64_t extent = 0;
    if (!in_.ReadInteger(&extent)) return false;
    if (extent < 0) return Complain("has a negative extent");
    arg->shape.push_back(extent);
  }
  return !in_.failed();
}

bool OpCallParser::ReadValue(OpArg* arg) {
  switch (in_.Peek()) {
    case LiteralKind::kInteger:
    case LiteralKind::kFloat:
      return ReadNumber(arg);
    case LiteralKind::kBool: {
      bool value = false;
      arg->kind = OpArg::Kind::kBool;
      if (!in_.ReadBool(&value)) return false;
      arg->int_value = value ? 1 : 0;
      return true;
    }
    case LiteralKind::kNone:
      arg->kind = OpArg::Kind::kNone;
      return in_.TakeNone();
    case LiteralKind::kString:
      arg->kind = OpArg::Kind::kString;
      return ReadText(&arg->text);
    case LiteralKind::kList:
    case LiteralKind::kTuple:
      return ReadSequence(arg);
    case LiteralKind::kDict:
    case LiteralKind::kNothing:
      break;
  }
  arg->kind = OpArg::Kind::kOther;
  return in_.Skip();
}

/// Other programs may use this key for anything: ignores what is no number of a list.
bool OpCallParser::ReadList(OpArg* arg) {
  if (in_.Peek() != LiteralKind::kInteger) return in_.Skip();
  LiteralNumber number;
  if (!in_.ReadNumber(&number)) return false;
  const bool usable = number.is_integer && number.fits && number.int_value > 0 &&
                      number.int_value <= std::numeric_limits<int32_t>::max();
  if (usable) arg->list = static_cast<int32_t>(number.int_value);
  return true;
}

/// Has a meaning only beside a list; other programs may use this key for anything.
bool OpCallParser::ReadTimes(OpArg* /*arg*/) {
  if (in_.Peek() != LiteralKind::kInteger) return in_.Skip();
  LiteralNumber number;
  if (!in_.ReadNumber(&number)) return false;
  const bool usable = number.is_integer && number.fits && number.int_value > 0 &&
                      number.int_value <= static_cast<int64_t>(kMostArgs);
  if (!usable) return Complain("stands for a number of arguments that cannot be");
  times_ = number.int_value;
  return true;
}

/// Reads what nvtx_annotate adds.
bool OpCallParser::ReadOwn(OpCall* call) {
  if (in_.Peek() != LiteralKind::kDict) return in_.Skip();
  std::string_view word;
  in_.EnterDict();
  while (in_.NextKey(&storage_, &word)) {
    if (word != "cut" || in_.Peek() != LiteralKind::kInteger) {
      in_.Skip();
      continue;
    }
    LiteralNumber number;
    if (!in_.ReadNumber(&number)) return false;
    // Anything invalid still means that something was cut.
    call->cut = number.fits && number.int_value >= 0 ? number.int_value : 1;
  }
  return !in_.failed();
}

bool OpCallParser::ReadNumber(OpArg* arg) {
  LiteralNumber number;
  if (!in_.ReadNumber(&number)) return false;
  if (!number.is_integer) {
    arg->kind = OpArg::Kind::kFloat;
    arg->float_value = number.float_value;
  } else if (number.fits) {
    arg->kind = OpArg::Kind::kInt;
    arg->int_value = number.int_value;
  }
  return true;
}

// Flags count as 0 and 1, as other recorders write them (output_mask).
bool OpCallParser::ReadSequence(OpArg* arg) {
  bool all_integers = true;
  bool all_numbers = true;
  in_.EnterSequence();
  while (in_.NextItem()) {
    const LiteralKind kind = in_.Peek();
    if (all_numbers && kind == LiteralKind::kBool) {
      bool flag = false;
      if (!in_.ReadBool(&flag)) return false;
      arg->int_list.push_back(flag ? 1 : 0);
      arg->float_list.push_back(flag ? 1 : 0);
      continue;
    }
    const bool number_next = kind == LiteralKind::kInteger || kind == LiteralKind::kFloat;
    if (!all_numbers || !number_next) {
      all_numbers = false;
      in_.Skip();
      continue;
    }
    LiteralNumber number;
    in_.ReadNumber(&number);
    all_integers = all_integers && number.fits;
    all_numbers = !number.is_integer || number.fits;
    arg->int_list.push_back(number.int_value);
    arg->float_list.push_back(number.is_integer ? static_cast<double>(number.int_value)
                                                : number.float_value);
  }
  all_integers = all_integers && all_numbers;
  if (all_integers) {
    arg->kind = OpArg::Kind::kIntList;
  } else if (all_numbers) {
    arg->kind = OpArg::Kind::kFloatList;
  }
  if (arg->kind != OpArg::Kind::kIntList) arg->int_list.clear();
  if (arg->kind != OpArg::Kind::kFloatList) arg->float_list.clear();
  return !in_.failed();
}

/// Items in brackets, as Python writes them: a tuple of one has a comma.
template <typename Item>
void AppendItems(const std::vector<Item>& items, bool tuple, void (*append)(Item, std::string*),
                 std::string* out) {
  out->push_back(tuple ? '(' : '[');
  for (size_t i = 0; i < items.size(); ++i) {
    if (i > 0) out->append(", ");
    append(items[i], out);
  }
  if (tuple && items.size() == 1) out->push_back(',');
  out->push_back(tuple ? ')' : ']');
}

void AppendInts(const std::vector<int64_t>& items, bool tuple, std::string* out) {
  AppendItems(items, tuple, AppendPythonInt, out);
}

void AppendFloat(double value, std::string* out) {
  const bool quoted = !std::isfinite(value);
  if (quoted) out->push_back('\'');
  AppendPythonFloat(value, out);
  if (quoted) out->push_back('\'');
}

void AppendOpCallValue(const OpArg& arg, std::string* out) {
  switch (arg.kind) {
    case OpArg::Kind::kInt:
      return AppendPythonInt(arg.int_value, out);
    case OpArg::Kind::kFloat:
      return AppendFloat(arg.float_value, out);
    case OpArg::Kind::kBool:
      out->append(arg.int_value != 0 ? "True" : "False");
      return;
    case OpArg::Kind::kNone:
      out->append("None");
      return;
    case OpArg::Kind::kString:
      return AppendPythonString(arg.text, out);
    case OpArg::Kind::kIntList:
      return AppendInts(arg.int_list, arg.type == "tuple", out);
    case OpArg::Kind::kFloatList:
      return AppendItems(arg.float_list, arg.type == "tuple", AppendPythonFloat, out);
    case OpArg::Kind::kTensor:
    case OpArg::Kind::kOther:
      break;
  }
  out->append("{}");  // Reads back as kOther.
}

/// The type to write: the given one, unless the reader would derive another kind from it.
std::string_view TypeOf(const OpArg& arg) {
  const bool tensor = arg.kind == OpArg::Kind::kTensor;
  if (tensor != IsTensorType(arg.type)) return tensor ? "tensor" : "object";
  if (arg.kind == OpArg::Kind::kFloat && !std::isfinite(arg.float_value) &&
      !arg.type.starts_with("float")) {
    return "float";
  }
  return arg.type;
}

void AppendArg(const OpArg& arg, std::string* out) {
  out->append("{'name': ");
  AppendPythonString(arg.name, out);
  out->append(", 'type': ");
  AppendPythonString(TypeOf(arg), out);
  if (arg.kind == OpArg::Kind::kTensor) {
    out->append(", 'shape': ");
    AppendInts(arg.shape, true, out);
    out->append(", 'dtype': ");
    AppendPythonString(arg.dtype, out);
  } else {
    out->append(", 'value': ");
    AppendOpCallValue(arg, out);
  }
  if (arg.list > 0) {
    out->append(", 'list': ");
    AppendPythonInt(arg.list, out);
  }
  out->push_back('}');
}

}  // namespace

void AppendOpCall(const OpCall& call, std::string* out) {
  out->append("{'mod': ");
  AppendPythonString(call.mod, out);
  out->append(", 'op': ");
  AppendPythonString(call.op, out);
  out->append(", 'args': [");
  for (size_t i = 0; i < call.args.size(); ++i) {
    if (i > 0) out->append(", ");
    AppendArg(call.args[i], out);
  }
  out->push_back(']');
  if (call.cut > 0) fmt::format_to(std::back_inserter(*out), ", 'oplens': {{'cut': {}}}", call.cut);
  out->push_back('}');
}

std::optional<OpCall> ParseOpCall(std::string_view text, std::string* error) {
  OpCallParser parser(text);
  std::optional<OpCall> call(std::in_place);
  if (!parser.Parse(&*call)) {
    *error = parser.ErrorText();
    call.reset();
  }
  return call;
}

}  // namespace oplens

#include "parse/execution/execution_node.h"

#include <algorithm>
#include <cstddef>
#include <limits>
#include <string>
#include <utility>

#include "parse/model/torch_call.h"
#include "parse/source/json_value.h"

namespace oplens::parse {
namespace {

using simdjson::dom::array;
using simdjson::dom::element;

// ---- members of a node ----

// Which members a node has.
constexpr unsigned kName = 1;
constexpr unsigned kCallNumber = 2;
constexpr unsigned kSequence = 4;
constexpr unsigned kScope = 8;
constexpr unsigned kForwardThread = 16;
constexpr unsigned kValues = 32;
constexpr unsigned kShapes = 64;
constexpr unsigned kTypes = 128;
constexpr unsigned kAllMembers = 255;

/// Takes the numbers of a node: members in old versions, attributes in others.
unsigned TakeNumber(std::string_view key, element value, ExecutionNode* node) {
  if (key == "rf_id") return TakeInt(value, &node->call_number) ? kCallNumber : 0;
  if (key == "seq_id") return TakeInt(value, &node->sequence) ? kSequence : 0;
  if (key == "scope") return TakeInt(value, &node->scope) ? kScope : 0;
  if (key == "fw_tid") return TakeInt(value, &node->forward_thread) ? kForwardThread : 0;
  return 0;
}

unsigned TakeAttributes(element list, ExecutionNode* node) {
  array attributes;
  unsigned taken = 0;
  if (list.get(attributes) != simdjson::SUCCESS) return taken;
  for (const element attribute : attributes) {
    std::string_view name;
    element value;
    if (attribute["name"].get(name) != simdjson::SUCCESS) continue;
    if (attribute["value"].get(value) == simdjson::SUCCESS) taken |= TakeNumber(name, value, node);
  }
  return taken;
}

unsigned TakeExecutionNodeList(element value, unsigned member, array* list) {
  return value.get(*list) == simdjson::SUCCESS ? member : 0;
}

unsigned TakeInputs(element value, ExecutionNode* node) {
  if (value.is_array()) return TakeExecutionNodeList(value, kValues, &node->values);
  simdjson::dom::object lists;
  unsigned taken = 0;
  if (value.get(lists) != simdjson::SUCCESS) return taken;
  for (const auto& [key, list] : lists) {
    if (key == "values") taken |= TakeExecutionNodeList(list, kValues, &node->values);
    if (key == "shapes") taken |= TakeExecutionNodeList(list, kShapes, &node->shapes);
    if (key == "types") taken |= TakeExecutionNodeList(list, kTypes, &node->types);
  }
  return taken;
}

// ---- arguments ----

constexpr std::string_view kTensor = "Tensor(";
constexpr std::string_view kList = "GenericList[";
/// A missing tensor: "nullptr (uninitialized)".
constexpr std::string_view kNoTensor = "nullptr";
/// PyTorch records no more members of a list.
constexpr size_t kMostMembers = 4097;
/// Index of the number of elements in a tensor's value.
constexpr size_t kElementCount = 3;

/// Types whose values are not in the file.
constexpr std::string_view kUntold[] = {"ComplexDouble", "SymInt", "SymFloat", "SymBool"};

/// Splits the types of a list's members: "Tensor(float),GenericList[Int,Int]" has two.
std::vector<std::string_view> SplitTypes(std::string_view types) {
  std::vector<std::string_view> members;
  int depth = 0;
  size_t begin = 0;
  for (size_t i = 0; i < types.size(); ++i) {
    const char c = types[i];
    if (c == '[' || c == '(') ++depth;
    if (c == ']' || c == ')') --depth;
    if (c != ',' || depth > 0) continue;
    members.push_back(types.substr(begin, i - begin));
    begin = i + 1;
  }
  if (!types.empty()) members.push_back(types.substr(begin));
  return members;
}

OpArg Argument(OpArg::Kind kind, std::string_view type) {
  OpArg arg;
  arg.kind = kind;
  arg.type = type;
  return arg;
}

/// Reads a node's arguments. Functions return false if types, shapes and values do not fit.
class ArgumentReader {
 public:
  explicit ArgumentReader(ExecutionArguments* out) : out_(*out) {}

  bool Read(std::string_view type, element shape, element value);

 private:
  struct Members {
    std::vector<std::string_view> types;
    array shapes;
    array values;
  };

  bool ReadTensor(std::string_view type, element shape, element value);
  bool ReadTensors(const Members& members);
  bool ReadList(std::string_view type, element shape, element value);
  bool ReadNumbers(const Members& members);
  bool ReadFloat(element value);
  OpArg& Add(OpArg::Kind kind, std::string_view type) {
    OpArg& arg = out_.args.emplace_back(Argument(kind, type));
    arg.list = list_;
    return arg;
  }

  ExecutionArguments& out_;
  int32_t list_ = 0;   // The current list of tensors; 0: none.
  int32_t lists_ = 0;  // Lists of tensors so far.
};

bool ArgumentReader::Read(std::string_view type, element shape, element value) {
  if (type.starts_with(kTensor)) return ReadTensor(type, shape, value);
  if (type.starts_with(kList)) return ReadList(type, shape, value);
  if (type == "Int") {
    return value.get(Add(OpArg::Kind::kInt, "int").int_value) == simdjson::SUCCESS;
  }
  if (type == "Double") return ReadFloat(value);
  if (type == "Bool") {
    bool truth = false;
    if (value.get(truth) != simdjson::SUCCESS) return false;
    Add(OpArg::Kind::kBool, "bool").int_value = truth ? 1 : 0;
  } else if (type == "String") {
    std::string_view text;
    if (value.get(text) != simdjson::SUCCESS) return false;
    Add(OpArg::Kind::kString, "str").text = text;
  } else if (type == "None") {
    Add(OpArg::Kind::kNone, "NoneType");
  } else {
    const bool untold =
        std::find(std::begin(kUntold), std::end(kUntold), type) != std::end(kUntold);
    Add(OpArg::Kind::kOther, untold ? type : "object");
  }
  return true;
}

bool ArgumentReader::ReadFloat(element value) {
  double number = 0;
  if (value.get(number) != simdjson::SUCCESS) {
    const std::string_view text = TextOf(value);
    constexpr double kInfinity = std::numeric_limits<double>::infinity();
    if (text == "inf" || text == "-inf") {
      number = text == "inf" ? kInfinity : -kInfinity;
    } else if (text == "nan" || text == "-nan") {
      number = std::numeric_limits<double>::quiet_NaN();
    } else {
      return false;
    }
  }
  Add(OpArg::Kind::kFloat, "float").float_value = number;
  return true;
}

bool ArgumentReader::ReadTensor(std::string_view type, element shape, element value) {
  if (!type.ends_with(')')) return false;
  const std::string_view dtype = type.substr(kTensor.size(), type.size() - kTensor.size() - 1);
  if (dtype.starts_with(kNoTensor)) {
    Add(OpArg::Kind::kNone, "NoneType");
    return true;
  }
  array extents;
  if (shape.get(extents) != simdjson::SUCCESS) return false;
  std::vector<int64_t> sizes;
  for (const element extent : extents) {
    int64_t& size = sizes.emplace_back();
    if (extent.get(size) != simdjson::SUCCESS || size < 0) return false;
  }
  // A tensor without dimensions has one element; if it has none, its extents are not in the file.
  array facts;
  int64_t elements = 1;
  if (value.get(facts) == simdjson::SUCCESS) {
    if (facts.at(kElementCount).get(elements) != simdjson::SUCCESS) elements = 1;
  }
  if (sizes.empty() && elements == 0) {
    ++out_.cut;
    Add(OpArg::Kind::kOther, "object");
    return true;
  }
  out_.args.push_back(TorchTensor(std::move(sizes), dtype));
  out_.args.back().list = list_;
  return true;
}

bool ArgumentReader::ReadList(std::string_view type, element shape, element value) {
  if (!type.ends_with(']')) return false;
  Members members;
  members.types = SplitTypes(type.substr(kList.size(), type.size() - kList.size() - 1));
  const size_t count = members.types.size();
  if (shape.get(members.shapes) != simdjson::SUCCESS ||
      value.get(members.values) != simdjson::SUCCESS || members.shapes.size() != count ||
      members.values.size() != count) {
    return false;
  }
  if (count >= kMostMembers) ++out_.cut;
  const auto any = [&](std::string_view prefix) {
    return std::any_of(members.types.begin(), members.types.end(),
                       [&](std::string_view member) { return member.starts_with(prefix); });
  };
  if (any(kTensor)) return ReadTensors(members);
  // Lists of tensor lists, as in collectives.
  const bool nested =
      type.find(kTensor) != std::string_view::npos &&
      std::all_of(members.types.begin(), members.types.end(),
                  [](std::string_view member) { return member.starts_with(kList); });
  if (!nested) return ReadNumbers(members);
  auto next_shape = members.shapes.begin();
  auto next_value = members.values.begin();
  for (const std::string_view member : members.types) {
    if (!ReadList(member, *next_shape, *next_value)) return false;
    ++next_shape;
    ++next_value;
  }
  return true;
}

bool ArgumentReader::ReadTensors(const Members& members) {
  list_ = ++lists_;
  auto shape = members.shapes.begin();
  auto value = members.values.begin();
  bool good = true;
  for (const std::string_view member : members.types) {
    good =
        good && (member == "None" || member.starts_with(kTensor)) && Read(member, *shape, *value);
    ++shape;
    ++value;
  }
  list_ = 0;
  return good;
}

/// Booleans become 1 and 0, as in traces of PyTorch's profiler.
bool ArgumentReader::ReadNumbers(const Members& members) {
  std::vector<int64_t> numbers;
  auto value = members.values.begin();
  for (const std::string_view member : members.types) {
    const element item = *value;
    ++value;
    bool truth = false;
    if (member == "Bool" && item.get(truth) == simdjson::SUCCESS) {
      numbers.push_back(truth ? 1 : 0);
    } else if (member != "Int" || item.get(numbers.emplace_back()) != simdjson::SUCCESS) {
      Add(OpArg::Kind::kOther, "list");
      return member != "Int" && member != "Bool";
    }
  }
  Add(OpArg::Kind::kIntList, "list").int_list = std::move(numbers);
  return true;
}

}  // namespace

std::optional<ExecutionNode> ReadExecutionNode(simdjson::dom::object object) {
  ExecutionNode node;
  unsigned taken = 0;
  for (const auto& [key, value] : object) {
    if (key == "name") {
      taken |= value.get(node.name) == simdjson::SUCCESS ? kName : 0;
    } else if (key == "inputs") {
      taken |= TakeInputs(value, &node);
    } else if (key == "input_shapes") {
      taken |= TakeExecutionNodeList(value, kShapes, &node.shapes);
    } else if (key == "input_types") {
      taken |= TakeExecutionNodeList(value, kTypes, &node.types);
    } else if (key == "attrs") {
      taken |= TakeAttributes(value, &node);
    } else {
      taken |= TakeNumber(key, value, &node);
    }
  }
  if (taken != kAllMembers || node.call_number < 0) return std::nullopt;
  return node;
}

std::optional<ExecutionArguments> ReadExecutionArguments(const ExecutionNode& node) {
  const size_t count = node.types.size();
  if (node.values.size() != count || node.shapes.size() != count) return std::nullopt;
  ExecutionArguments arguments;
  ArgumentReader reader(&arguments);
  auto shape = node.shapes.begin();
  auto value = node.values.begin();
  for (const element type : node.types) {
    if (!type.is_string() || !reader.Read(TextOf(type), *shape, *value)) return std::nullopt;
    ++shape;
    ++value;
  }
  return arguments;
}

}  // namespace oplens::parse

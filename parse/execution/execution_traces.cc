#include "parse/execution/execution_traces.h"

#include <fmt/format.h>
#include <simdjson.h>

#include <algorithm>
#include <charconv>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "base/error.h"
#include "parse/model/marker_text.h"
#include "parse/model/op_call.h"
#include "parse/model/sized_call.h"
#include "parse/model/torch_call.h"
#include "parse/source/byte_source.h"
#include "parse/source/file_kind.h"
#include "parse/source/json_events.h"
#include "parse/source/json_value.h"

namespace oplens::parse {
namespace {

/// A node of an execution trace: a call recorded by PyTorch. Views live as long as the document.
struct ExecutionNode {
  /// Numbers of at::RecordScope.
  enum Scope : int64_t { kFunction = 0, kBackwardFunction = 1, kUser = 7 };

  std::string_view name;        ///< "aten::mm", without its overload.
  int64_t call_number = 0;      ///< rf_id, which is emit_nvtx's op_id; 0: a thread or the process.
  int64_t sequence = -1;        ///< seq_id: links a forward op with its node; -1: none.
  int64_t scope = kFunction;    ///< A Scope, or another number.
  int32_t forward_thread = 0;   ///< fw_tid: for a node, PyTorch's number of the forward thread.
  simdjson::dom::array values;  ///< Of the inputs; three parallel lists.
  simdjson::dom::array shapes;
  simdjson::dom::array types;
};

struct ExecutionArguments {
  /// Positional, in the order of the operator's schema; members of tensor lists one by one.
  std::vector<OpArg> args;
  /// Values not in the file: members beyond PyTorch's limit, tensors whose extents are not numbers.
  int64_t cut = 0;
};

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
constexpr std::string_view kTypesWithoutValue[] = {"ComplexDouble", "SymInt", "SymFloat",
                                                   "SymBool"};

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
    const bool untold = std::find(std::begin(kTypesWithoutValue), std::end(kTypesWithoutValue),
                                  type) != std::end(kTypesWithoutValue);
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
  if (!members.types.empty() &&
      std::all_of(members.types.begin(), members.types.end(),
                  [](std::string_view member) { return member == "Double"; })) {
    std::vector<double> factors;
    for (const element item : members.values) {
      if (item.get(factors.emplace_back()) != simdjson::SUCCESS) return false;
    }
    Add(OpArg::Kind::kFloatList, "list").float_list = std::move(factors);
    return true;
  }
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

/// Reads a node as written by 1.13 and 2.0 (members "rf_id", "input_shapes", ...) or by later
/// versions ("attrs", "inputs" with "values", "shapes" and "types"). Returns nullopt if a member
/// above is missing or of another type.
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

/// Returns nullopt if the lists of a node do not fit each other.
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

constexpr std::string_view kNodeKeys[] = {"\"id\"", "\"name\""};
// The attributes of a node begin with "name" too, but right behind their brackets.
constexpr JsonList kNodes = {.key = "nodes",
                             .first_keys = kNodeKeys,
                             .blank_before_key = true,
                             .bad = Reason::kBadNode,
                             .holds_kernels = false};

constexpr std::string_view kAdvice =
    "give the file that PyTorch's ExecutionTraceObserver wrote (OPLENS_EXECUTION_TRACE)";

/// Returns the first bytes of a file, unpacked. Throws Error if it is empty.
std::string HeadOf(const std::string& path) {
  constexpr size_t kHeadBytes = 4096;
  std::string head(kHeadBytes, '\0');
  head.resize(OpenBytes(path)->Read(head.data(), head.size()));
  if (head.empty()) throw Error(path, "is empty", kAdvice);
  return head;
}

/// Returns the number behind "pid", which stands before the nodes; kUnknownId if there is none.
int64_t ProcessOf(std::string_view head) {
  constexpr std::string_view kKey = "\"pid\"";
  const size_t key = head.substr(0, head.find("\"nodes\"")).find(kKey);
  if (key == std::string_view::npos) return kUnknownId;
  const size_t number = head.find_first_not_of(" \t\r\n:", key + kKey.size());
  if (number == std::string_view::npos) return kUnknownId;
  int64_t process_id = kUnknownId;
  std::from_chars(head.data() + number, head.data() + head.size(), process_id);
  return process_id;
}

struct Numbered {
  int64_t process_id;
  int64_t call_number;
  uint32_t range;
  bool found = false;  ///< A file has the number,
  bool taken = false;  ///< and its call fits the range.

  auto key() const { return std::tie(process_id, call_number); }
};

std::vector<Numbered> NumberedRanges(const Trace& trace) {
  std::vector<Numbered> numbered;
  for (size_t i = 0; i < trace.ranges.size(); ++i) {
    const Range& range = trace.ranges[i];
    if (range.kind != RangeKind::kMarker) continue;
    const std::string_view text = trace.strings.View(range.text);
    if (text.find(", op_id = ") == std::string_view::npos) continue;
    const int64_t number = ClassifyMarker(text).op_id;
    if (number == 0) continue;
    numbered.push_back(
        {trace.threads[trace.ThreadOf(range)].process_id, number, static_cast<uint32_t>(i)});
  }
  std::sort(numbered.begin(), numbered.end(),
            [](const Numbered& a, const Numbered& b) { return a.key() < b.key(); });
  return numbered;
}

/// Whether the sizes in a range's text fit the arguments. In old versions sizes omit tensors in
/// lists that may hold None; "[]" is anything without extents.
bool SizesAgree(std::string_view sizes, const ExecutionArguments& arguments) {
  if (sizes.empty() || arguments.cut > 0) return true;
  const std::optional<std::vector<OpArg>> told = ArgsOfSizes(sizes);
  if (!told) return true;
  auto place = arguments.args.begin();
  for (const OpArg& arg : *told) {
    if (arg.shape.empty()) continue;
    place = std::find_if(place, arguments.args.end(),
                         [&](const OpArg& other) { return other.shape == arg.shape; });
    if (place == arguments.args.end()) return false;
    ++place;
  }
  return true;
}

/// Applies the nodes of one file to the ranges of one process.
class NodeReader : public JsonEventHandler {
 public:
  NodeReader(const std::string& path, int64_t process_id, std::vector<Numbered>* numbered,
             Trace* trace, Diagnostics* diagnostics)
      : path_(path),
        process_id_(process_id),
        numbered_(*numbered),
        trace_(*trace),
        diagnostics_(*diagnostics) {}

  void OnEvent(simdjson::dom::object event) override;
  void OnMember(std::string_view, simdjson::dom::element) override {}

  int64_t nodes() const { return nodes_; }
  int64_t completed() const { return completed_; }

 private:
  /// What a range becomes.
  enum class Use : uint8_t { kLabel, kCall, kNode };

  /// Returns false if the node does not fit the range.
  bool Take(const ExecutionNode& node, Range* range);
  static Use UseOf(const ExecutionNode& node, const MarkerText& marker);
  StringId CallOf(const ExecutionNode& node, ExecutionArguments arguments);
  void CountBad(std::string_view problem) {
    diagnostics_.Count(Reason::kBadNode, diagnostics_.KeepsExample(Reason::kBadNode)
                                             ? fmt::format("{}: {}", path_, problem)
                                             : std::string());
  }

  const std::string& path_;
  int64_t process_id_;
  std::vector<Numbered>& numbered_;
  Trace& trace_;
  Diagnostics& diagnostics_;
  int64_t nodes_ = 0;
  int64_t completed_ = 0;
  std::string text_;
};

void NodeReader::OnEvent(simdjson::dom::object event) {
  const std::optional<ExecutionNode> node = ReadExecutionNode(event);
  if (!node) return CountBad(event_text.substr(0, 60));
  if (node->call_number == 0) return;
  ++nodes_;
  const auto before = [](const Numbered& one, const auto& key) { return one.key() < key; };
  const auto key = std::tie(process_id_, node->call_number);
  auto place = std::lower_bound(numbered_.begin(), numbered_.end(), key, before);
  if (place == numbered_.end() || place->key() != key) return;
  if (place->taken) return CountBad(fmt::format("number {} comes again", node->call_number));
  for (; place != numbered_.end() && place->key() == key; ++place) {
    place->found = true;
    place->taken = Take(*node, &trace_.ranges[place->range]);
  }
}

bool NodeReader::Take(const ExecutionNode& node, Range* range) {
  std::optional<ExecutionArguments> arguments = ReadExecutionArguments(node);
  if (!arguments) {
    CountBad(event_text.substr(0, 60));
    return false;
  }
  const std::string_view text = trace_.strings.View(range->text);
  const MarkerText marker = ClassifyMarker(text);
  if (marker.name != node.name || marker.seq != std::max<int64_t>(node.sequence, -1) ||
      !SizesAgree(marker.sizes, *arguments)) {
    const bool wanted = diagnostics_.KeepsExample(Reason::kOtherNode);
    diagnostics_.Count(
        Reason::kOtherNode,
        wanted ? fmt::format("\"{}\" for \"{}\"", node.name, text.substr(0, 60)) : std::string());
    return false;
  }
  ++completed_;
  const Use use = UseOf(node, marker);
  if (use == Use::kLabel) return true;
  Operator& op = MakeOperator(trace_.strings.Intern(node.name), range, &trace_);
  op.sequence = marker.seq;
  op.backward = use == Use::kNode || marker.backward;
  op.forward_thread = node.forward_thread;
  if (use == Use::kCall) op.call = CallOf(node, *std::move(arguments));
  return true;
}

NodeReader::Use NodeReader::UseOf(const ExecutionNode& node, const MarkerText& marker) {
  // For labels and for the engine's work around nodes, the text says everything.
  const Use node_use = marker.kind == MarkerKind::kSeq ? Use::kNode : Use::kLabel;
  if (node.scope == ExecutionNode::kBackwardFunction) return node_use;
  if (node.scope == ExecutionNode::kUser) return Use::kLabel;
  switch (ClassifyTorchName(node.name, node.types.size() > 0)) {
    case TorchName::kCall:
      return Use::kCall;
    case TorchName::kBackwardNode:
      return node_use;
    case TorchName::kStep:
    case TorchName::kLabel:
      break;
  }
  return Use::kLabel;
}

StringId NodeReader::CallOf(const ExecutionNode& node, ExecutionArguments arguments) {
  OpCall call = MakeTorchCall(node.name, std::move(arguments.args));
  call.cut = arguments.cut;
  text_.clear();
  AppendOpCall(call, &text_);
  return trace_.strings.Intern(text_);
}

}  // namespace

ExecutionTraces::ExecutionTraces(const std::vector<std::string>& paths, size_t profile_count)
    : profile_count_(profile_count) {
  for (const std::string& path : paths) {
    const std::string head = HeadOf(path);
    if (!IsJson(head)) throw Error(path, "is no JSON, so no execution trace", kAdvice);
    if (head.find("\"nodes\"") == std::string::npos) {
      throw Error(path, "is JSON, but no execution trace: it does not begin with nodes", kAdvice);
    }
    files_.push_back({path, ProcessOf(head)});
  }
}

void ExecutionTraces::Complete(Trace* trace, Diagnostics* diagnostics) {
  if (files_.empty()) return;
  std::vector<Numbered> numbered = NumberedRanges(*trace);
  std::set<int64_t> processes;
  for (const Numbered& one : numbered) processes.insert(one.process_id);
  any_ranges_ = any_ranges_ || !processes.empty();
  // Inside a container a process has another number than outside.
  const bool one_of_each = files_.size() == 1 && profile_count_ == 1 && processes.size() == 1;
  std::set<int64_t> read;
  for (File& file : files_) {
    const bool known = processes.count(file.process_id) > 0;
    if (!known && !one_of_each) continue;
    const int64_t process_id = known ? file.process_id : *processes.begin();
    NodeReader reader(file.path, process_id, &numbered, trace, diagnostics);
    const std::unique_ptr<ByteSource> source = OpenBytes(file.path);
    ReadJsonEvents(source.get(), file.path, &reader, diagnostics, kNodes);
    read.insert(process_id);
    file.nodes = reader.nodes();
    file.of_process = true;
    file.used = file.used || reader.completed() > 0;
  }
  for (const Numbered& one : numbered) {
    if (one.found || read.count(one.process_id) == 0) continue;
    const bool wanted = diagnostics->KeepsExample(Reason::kNoNode);
    const StringId text = trace->ranges[one.range].text;
    diagnostics->Count(
        Reason::kNoNode,
        wanted ? fmt::format("\"{}\"", trace->strings.View(text).substr(0, 60)) : std::string());
  }
}

std::vector<std::string> ExecutionTraces::Unused() const {
  std::vector<std::string> sentences;
  for (const File& file : files_) {
    if (file.used) continue;
    std::string why = fmt::format("none of its {} calls is a range of the profile", file.nodes);
    if (!any_ranges_) {
      why = "the profile has no ranges of emit_nvtx with the number of their call (op_id)";
    } else if (!file.of_process) {
      why = file.process_id == kUnknownId
                ? "it does not say of which process it is"
                : fmt::format("it is of process {}, which has no range of emit_nvtx in the profile",
                              file.process_id);
    }
    sentences.push_back(
        fmt::format("{}: nothing of the execution trace was used: {}; give the one of the same run",
                    file.path, why));
  }
  return sentences;
}

}  // namespace oplens::parse

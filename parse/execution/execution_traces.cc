#include "parse/execution/execution_traces.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <memory>
#include <optional>
#include <set>
#include <string_view>
#include <tuple>
#include <utility>

#include "base/error.h"
#include "parse/execution/execution_node.h"
#include "parse/model/marker_text.h"
#include "parse/model/sized_call.h"
#include "parse/model/torch_call.h"
#include "parse/source/byte_source.h"
#include "parse/source/file_kind.h"
#include "parse/source/json_events.h"

namespace oplens::parse {
namespace {

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
    numbered.push_back({trace.threads[range.thread].process_id, number, static_cast<uint32_t>(i)});
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
    diagnostics_.Count(Reason::kBadNode, diagnostics_.WantsExample(Reason::kBadNode)
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
    const bool wanted = diagnostics_.WantsExample(Reason::kOtherNode);
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
    const bool wanted = diagnostics->WantsExample(Reason::kNoNode);
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

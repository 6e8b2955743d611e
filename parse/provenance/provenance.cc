#include "parse/provenance/provenance.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <simdjson.h>

#include <algorithm>
#include <filesystem>
#include <memory>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "base/ascii.h"
#include "base/error.h"
#include "parse/model/compiled_call.h"
#include "parse/model/op_call.h"
#include "parse/model/python_text.h"
#include "parse/provenance/compile_log.h"
#include "parse/source/byte_source.h"
#include "parse/source/file_kind.h"
#include "parse/source/json_value.h"

namespace oplens::parse {
namespace {

using simdjson::dom::element;
using simdjson::dom::object;
using Names = KernelOrigin::Names;

bool ParseObject(simdjson::dom::parser* parser, std::string_view json, object* document) {
  return parser->parse(json.data(), json.size()).get(*document) == simdjson::SUCCESS;
}

/// A list of texts; skips other members.
Names TextsOf(element value) {
  simdjson::dom::array list;
  if (value.get(list) != simdjson::SUCCESS) return std::nullopt;
  std::vector<std::string> texts;
  for (const element item : list) {
    if (item.is_string()) texts.emplace_back(TextOf(item));
  }
  return texts;
}

Names MemberOf(object from, std::string_view key) {
  element value;
  return from[key].get(value) == simdjson::SUCCESS ? TextsOf(value) : std::nullopt;
}

/// "triton_poi_fused_mul_0" for "triton_poi_fused_mul_0:3".
std::string_view KernelOf(std::string_view key) { return key.substr(0, key.rfind(':')); }

void AppendOnce(std::string text, std::vector<std::string>* list) {
  if (std::find(list->begin(), list->end(), text) == list->end()) list->push_back(std::move(text));
}

/// The distinct frames of all stacks, common ones first. 'File "model.py", line 12, in forward'.
std::vector<std::string> FramesOf(const std::vector<std::string>& stacks) {
  constexpr std::string_view kFile = "File \"";
  constexpr std::string_view kLine = "\", line ";
  std::vector<std::string> frames;
  for (const std::string& stack : stacks) {
    std::string_view rest = stack;
    for (size_t at = rest.find(kFile); at != rest.npos; at = rest.find(kFile)) {
      rest.remove_prefix(at + kFile.size());
      const std::string_view row = rest.substr(0, rest.find('\n'));
      const size_t end = row.rfind(kLine);
      if (end == row.npos) continue;
      const std::string_view number = row.substr(end + kLine.size());
      const size_t digits = std::min(number.find_first_not_of("0123456789"), number.size());
      if (digits == 0) continue;
      AppendOnce(std::string(row.substr(0, end)) + ":" + std::string(number.substr(0, digits)),
                 &frames);
    }
  }
  return frames;
}

/// What one file says about kernels, by their call sites.
class Collector {
 public:
  bool empty() const { return found_.empty(); }

  void Add(std::string_view key, KernelOrigin origin) {
    const auto [place, is_new] = found_.try_emplace(std::string(KernelOf(key)), origin);
    if (is_new) return;
    Agree(origin.nodes, &place->second.nodes);
    Agree(origin.sources, &place->second.sources);
    Agree(origin.frames, &place->second.frames);
  }

  /// Fills what other files left open.
  void MergeInto(std::map<std::string, KernelOrigin, std::less<>>* origins) {
    for (auto& [kernel, found] : found_) {
      KernelOrigin& origin = (*origins)[kernel];
      if (!origin.nodes) origin.nodes = std::move(found.nodes);
      if (!origin.sources) origin.sources = std::move(found.sources);
      if (!origin.frames) origin.frames = std::move(found.frames);
    }
  }

 private:
  /// Keeps `names` if both hold the same in any order; else resets it.
  static void Agree(Names other, Names* names) {
    if (!*names || !other) return names->reset();
    std::vector<std::string> sorted = **names;
    std::sort(sorted.begin(), sorted.end());
    std::sort(other->begin(), other->end());
    if (sorted != *other) names->reset();
  }

  std::map<std::string, KernelOrigin, std::less<>> found_;
};

/// kernel -> lists; or, with several regions, region -> kernel -> lists.
bool CollectInformation(object document, int depth, Collector* collector) {
  constexpr std::string_view kStacks = "stack_traces";
  constexpr std::string_view kNodesKey = "post_grad_nodes";
  bool any = document.size() == 0;
  for (const simdjson::dom::key_value_pair member : document) {
    object inner;
    if (member.value.get(inner) != simdjson::SUCCESS) continue;
    const Names stacks = MemberOf(inner, kStacks);
    Names nodes = MemberOf(inner, kNodesKey);
    if (!stacks && !nodes) {
      if (depth == 0 && CollectInformation(inner, depth + 1, collector)) any = true;
      continue;
    }
    any = true;
    KernelOrigin origin{std::move(nodes), MemberOf(inner, "pre_grad_nodes"), {}, {}};
    if (stacks) origin.frames = FramesOf(*stacks);
    collector->Add(member.key, std::move(origin));
  }
  return any;
}

/// The nodes of the user's graph that `nodes` come from.
Names SourcesOf(object post_to_pre, const std::vector<std::string>& nodes) {
  std::vector<std::string> sources;
  for (const std::string& node : nodes) {
    const Names before = MemberOf(post_to_pre, node);
    if (!before) continue;
    for (const std::string& source : *before) AppendOnce(source, &sources);
  }
  return sources;
}

bool CollectMappings(std::string_view json, Collector* collector) {
  simdjson::dom::parser parser;
  object document;
  object kernels;
  if (!ParseObject(&parser, json, &document) ||
      document["cppCodeToPost"].get(kernels) != simdjson::SUCCESS) {
    return false;
  }
  object post_to_pre;
  const bool traced = document["postToPre"].get(post_to_pre) == simdjson::SUCCESS;
  for (const simdjson::dom::key_value_pair kernel : kernels) {
    Names nodes = TextsOf(kernel.value);
    if (!nodes) continue;
    Names sources = traced ? SourcesOf(post_to_pre, *nodes) : std::nullopt;
    collector->Add(kernel.key, {std::move(nodes), std::move(sources), {}, {}});
  }
  return true;
}

bool CollectStackTraces(std::string_view json, Collector* collector) {
  simdjson::dom::parser parser;
  object document;
  if (!ParseObject(&parser, json, &document)) return false;
  for (const simdjson::dom::key_value_pair kernel : document) {
    const Names stacks = TextsOf(kernel.value);
    if (stacks) collector->Add(kernel.key, {{}, {}, FramesOf(*stacks), {}});
  }
  return true;
}

/// The parameters that a call passes, i.e. without the compiler's constants, which have a type.
std::string PassedParameters(std::string_view parameters) {
  std::string passed;
  while (!parameters.empty()) {
    const size_t comma = std::min(parameters.find(','), parameters.size());
    std::string_view one = parameters.substr(0, comma);
    parameters.remove_prefix(std::min(comma + 1, parameters.size()));
    while (!one.empty() && IsBlank(one.front())) one.remove_prefix(1);
    while (!one.empty() && IsBlank(one.back())) one.remove_suffix(1);
    if (one.empty() || one.find(':') != one.npos) continue;
    passed += (passed.empty() ? "" : ",") + std::string(one);
  }
  return passed;
}

/// "blocks.0.attn" for "blocks_modules_0_modules_attn_parameters_weight_".
std::string ModulePath(std::string_view name) {
  constexpr std::string_view kBetween = "_modules_";
  for (const std::string_view end : {"_parameters_", "_buffers_"}) {
    name = name.substr(0, name.find(end));
  }
  std::string path;
  for (size_t at = name.find(kBetween); at != name.npos; at = name.find(kBetween)) {
    path += std::string(name.substr(0, at)) + ".";
    name.remove_prefix(at + kBetween.size());
  }
  return path + std::string(name);
}

namespace fs = std::filesystem;

constexpr size_t kMostBytes = size_t{256} << 20;

/// Returns nullopt for a missing file; throws Error for an unreadable one.
std::optional<std::string> TextOfFile(const fs::path& path) {
  std::error_code ignored;
  if (!fs::is_regular_file(path, ignored)) return std::nullopt;
  const std::unique_ptr<ByteSource> source = OpenBytes(path.string());
  std::string text;
  constexpr size_t kBlock = size_t{1} << 16;
  while (text.size() < kMostBytes) {
    const size_t before = text.size();
    text.resize(before + kBlock);
    const size_t read = source->Read(text.data() + before, kBlock);
    text.resize(before + read);
    if (read < kBlock) break;
  }
  return text;
}

bool AddFile(ProvenanceFile file, std::string_view text, KernelOrigins* origins) {
  switch (file) {
    case ProvenanceFile::kInformation:
      return origins->AddInformation(text);
    case ProvenanceFile::kMappings:
      return origins->AddMappings(text);
    case ProvenanceFile::kStackTraces:
      return origins->AddStackTraces(text);
    case ProvenanceFile::kCode:
      break;
  }
  origins->AddCode(text);
  return true;
}

KernelOrigins ReadOrigins(const fs::path& folder, Diagnostics* diagnostics) {
  KernelOrigins origins;
  for (const ProvenanceName& name : kProvenanceNames) {
    const fs::path path = folder / name.name;
    try {
      const std::optional<std::string> text = TextOfFile(path);
      if (!text || AddFile(name.file, *text, &origins)) continue;
      diagnostics->Note(fmt::format(
          "{}: is not what TorchInductor writes under this name; not used", path.string()));
    } catch (const Error& error) {
      diagnostics->Note(error.what());
    }
  }
  return origins;
}

/// The structured logs in a folder; of the rank alone where some bear its number.
std::vector<fs::path> CompileLogsOf(const fs::path& folder, int64_t rank) {
  std::vector<fs::path> all;
  std::vector<fs::path> own;
  const std::string mark = fmt::format("_rank_{}_", rank);
  std::error_code ignored;
  for (const fs::directory_entry& entry : fs::directory_iterator(folder, ignored)) {
    const std::string name = entry.path().filename().string();
    if (!IsCompileLogName(name) || !entry.is_regular_file(ignored)) continue;
    all.push_back(entry.path());
    if (rank >= 0 && name.find(mark) != name.npos) own.push_back(entry.path());
  }
  std::vector<fs::path>& told = own.empty() ? all : own;
  std::sort(told.begin(), told.end());
  return told;
}

void ReadCompileLogs(const std::vector<fs::path>& paths, KernelOrigins* origins,
                     Diagnostics* diagnostics) {
  std::vector<std::string> logs;
  for (const fs::path& path : paths) {
    try {
      if (auto text = TextOfFile(path)) logs.push_back(std::move(*text));
    } catch (const Error& error) {
      diagnostics->Note(error.what());
    }
  }
  if (logs.empty() || origins->AddLogs(logs)) return;
  diagnostics->Note(fmt::format("{}: says nothing of kernels; compile with INDUCTOR_PROVENANCE=1",
                                paths.front().string()));
}

/// "cpp_fused_add_0" for a recorded call "graph_0_cpp_fused_add_0"; else the name.
std::string_view CpuKernelOf(std::string_view name) {
  constexpr std::string_view kGraph = "graph_";
  constexpr std::string_view kKernel = "_cpp_";
  if (!name.starts_with(kGraph)) return name;
  const std::string_view rest = name.substr(kGraph.size());
  const size_t digits = std::min(rest.find_first_not_of("0123456789"), rest.size());
  if (digits == 0 || !rest.substr(digits).starts_with(kKernel)) return name;
  return rest.substr(digits + 1);
}

/// Adds what is known about kernels to their calls, to each distinct call once.
class Completer {
 public:
  Completer(const KernelOrigins& origins, Trace* trace) : origins_(origins), trace_(*trace) {}

  void Complete();

 private:
  /// Returns the layer that encloses the range; 0: none is known.
  StringId CompleteCall(const Range& range);
  struct Known {
    const KernelOrigin* origin = nullptr;
    StringId stack = 0;
    StringId layer = 0;
  };

  const Known& KnownOf(StringId name);
  StringId CallOf(StringId call, const KernelOrigin& origin);

  const KernelOrigins& origins_;
  Trace& trace_;
  std::unordered_map<StringId, Known> known_;
  std::unordered_map<StringId, StringId> calls_;  // As recorded -> completed; keyed by its name.
};

std::string StackText(const std::vector<std::string>& frames) {
  std::string text = "{'traceMarker': [";
  for (const std::string& frame : frames) {
    if (&frame != &frames.front()) text += ", ";
    AppendPythonString(frame, &text);
  }
  return text + "]}";
}

const Completer::Known& Completer::KnownOf(StringId name) {
  const auto [place, is_new] = known_.try_emplace(name);
  Known& known = place->second;
  if (!is_new) return known;
  known.origin = origins_.Find(trace_.strings.View(name));
  if (known.origin == nullptr) return known;
  const KernelOrigin& origin = *known.origin;
  if (origin.frames && !origin.frames->empty()) {
    known.stack = trace_.strings.Intern(StackText(*origin.frames));
  }
  const std::string layer = origin.sources ? LayerOfNodes(*origin.sources) : std::string();
  if (!layer.empty()) known.layer = trace_.strings.Intern(layer);
  return known;
}

StringId Completer::CallOf(StringId call, const KernelOrigin& origin) {
  const auto [place, is_new] = calls_.try_emplace(call, call);
  if (!is_new) return place->second;
  std::string error;
  std::optional<OpCall> parsed = ParseOpCall(trace_.strings.View(call), &error);
  if (!parsed || parsed->mod != kCompiledMod || parsed->args.empty()) return call;
  AddOrigin(origin.nodes ? fmt::format("{}", fmt::join(*origin.nodes, ",")) : std::string(),
            origin.signature.value_or(std::string()), &*parsed);
  std::string text;
  AppendOpCall(*parsed, &text);
  place->second = trace_.strings.Intern(text);
  return place->second;
}

void Completer::Complete() {
  std::vector<Range> ranges;
  ranges.reserve(trace_.ranges.size());
  for (const Range& range : trace_.ranges) {
    if (const StringId layer = CompleteCall(range); layer != 0) {
      // Encloses the call: of ranges with equal times, the one that precedes is outside.
      Range& outside = ranges.emplace_back(range);
      outside.kind = RangeKind::kModule;
      outside.text = layer;
      outside.has_item = false;
      outside.SetThread(trace_.ThreadOf(range));
    }
    ranges.push_back(range);
  }
  trace_.ranges = std::move(ranges);
}

StringId Completer::CompleteCall(const Range& range) {
  if (trace_.OperatorOf(range) == nullptr) return 0;
  const Known& known = KnownOf(range.text);
  if (known.origin == nullptr) return 0;
  Operator& op = trace_.operators[trace_.ItemOf(range)];
  if (known.stack != 0) op.stack = known.stack;
  if (op.call != 0) op.call = CallOf(op.call, *known.origin);
  return known.layer;
}

}  // namespace

bool KernelOrigins::AddInformation(std::string_view json) {
  simdjson::dom::parser parser;
  object document;
  Collector collector;
  if (!ParseObject(&parser, json, &document) || !CollectInformation(document, 0, &collector)) {
    return false;
  }
  collector.MergeInto(&origins_);
  return true;
}

bool KernelOrigins::AddMappings(std::string_view json) {
  Collector collector;
  if (!CollectMappings(json, &collector)) return false;
  collector.MergeInto(&origins_);
  return true;
}

bool KernelOrigins::AddStackTraces(std::string_view json) {
  Collector collector;
  if (!CollectStackTraces(json, &collector)) return false;
  collector.MergeInto(&origins_);
  return true;
}

bool KernelOrigins::AddLogs(const std::vector<std::string>& logs) {
  constexpr std::string_view kMappings = "inductor_provenance_tracking_node_mappings";
  constexpr std::string_view kStacks = "inductor_provenance_tracking_kernel_stack_traces";
  constexpr std::string_view kCode = "inductor_output_code";
  // Apart: a kernel that only one of them lists is not one that they differ about.
  Collector mappings;
  Collector stacks;
  bool any_code = false;
  for (const std::string& log : logs) {
    for (const LoggedText& logged : ReadCompileLog(log, {kMappings, kStacks, kCode})) {
      if (logged.name == kMappings) CollectMappings(logged.text, &mappings);
      if (logged.name == kStacks) CollectStackTraces(logged.text, &stacks);
      if (logged.name != kCode) continue;
      AddCode(logged.text);
      any_code = true;
    }
  }
  const bool any = any_code || !mappings.empty() || !stacks.empty();
  mappings.MergeInto(&origins_);
  stacks.MergeInto(&origins_);
  return any;
}

void KernelOrigins::AddCode(std::string_view python) {
  constexpr std::string_view kDefinition = "def triton_";
  constexpr size_t kBeforeName = 4;  // "def ".
  for (size_t at = python.find(kDefinition); at != python.npos; at = python.find(kDefinition)) {
    python.remove_prefix(at + kBeforeName);
    const size_t open = python.find('(');
    const size_t close = python.find(')');
    if (open == python.npos || close == python.npos || close < open) return;
    const std::string passed = PassedParameters(python.substr(open + 1, close - open - 1));
    std::optional<std::string>& known = origins_[std::string(python.substr(0, open))].signature;
    // Graphs reuse kernel names: another signature means another kernel.
    known = known && *known != passed ? std::string() : passed;
  }
}

const KernelOrigin* KernelOrigins::Find(std::string_view kernel) const {
  const auto found = origins_.find(CpuKernelOf(kernel));
  return found == origins_.end() ? nullptr : &found->second;
}

std::string LayerOfNodes(const std::vector<std::string>& sources) {
  constexpr std::string_view kModules[] = {"l_self_modules_", "l__self___", "L__self___"};
  constexpr size_t kMost = 8;
  std::vector<std::string> paths;
  std::vector<std::string> names;
  for (const std::string& source : sources) {
    for (const std::string_view prefix : kModules) {
      if (source.starts_with(prefix)) {
        AppendOnce(ModulePath(std::string_view(source).substr(prefix.size())), &paths);
      }
    }
    AppendOnce(source, &names);
  }
  const std::vector<std::string>& told = paths.empty() ? names : paths;
  std::string layer;
  for (size_t i = 0; i < std::min(told.size(), kMost); ++i) {
    layer += (layer.empty() ? "" : "+") + told[i];
  }
  return told.size() > kMost ? layer + "+..." : layer;
}

void AddProvenance(const std::string& trace_path, Trace* trace, Diagnostics* diagnostics) {
  if (trace->family != Family::kKineto || trace_path == "-") return;
  fs::path folder = fs::path(trace_path).parent_path();
  if (folder.empty()) folder = ".";
  const bool files = std::any_of(std::begin(kProvenanceNames), std::end(kProvenanceNames),
                                 [&](const ProvenanceName& name) {
                                   std::error_code ignored;
                                   return fs::is_regular_file(folder / name.name, ignored);
                                 });
  const auto is_compiled = [](std::string_view name) {
    return IsCompiledKernelName(name) || CpuKernelOf(name) != name;
  };
  const auto calls_compiled = [&](const Range& range) {
    return range.kind == RangeKind::kOperator && is_compiled(trace->strings.View(range.text));
  };
  const bool any = trace->strings.Any(is_compiled) &&
                   std::any_of(trace->ranges.begin(), trace->ranges.end(), calls_compiled);
  // The folder is listed last: that of a run has a file for each rank.
  if (!any) return;
  const std::vector<fs::path> logs = CompileLogsOf(folder, trace->rank);
  if (!files && logs.empty()) return;
  KernelOrigins origins = ReadOrigins(folder, diagnostics);
  ReadCompileLogs(logs, &origins, diagnostics);
  if (!origins.empty()) Completer(origins, trace).Complete();
}

}  // namespace oplens::parse

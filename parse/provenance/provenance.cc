#include "parse/provenance/provenance.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <filesystem>
#include <memory>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "base/error.h"
#include "parse/model/compiled_call.h"
#include "parse/model/op_call.h"
#include "parse/model/python_text.h"
#include "parse/provenance/kernel_origins.h"
#include "parse/source/byte_source.h"
#include "parse/source/file_kind.h"

namespace oplens::parse {
namespace {

namespace fs = std::filesystem;

constexpr size_t kMostBytes = size_t{256} << 20;

/// nullopt for a file that is not there; throws Error for one that cannot be read.
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

/// Adds what is known of kernels to their calls, each distinct call once.
class Completer {
 public:
  Completer(const KernelOrigins& origins, Trace* trace) : origins_(origins), trace_(*trace) {}

  void Complete();

 private:
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
  std::unordered_map<StringId, StringId> calls_;  // As recorded -> completed; told by its name.
};

/// The text of a trace marker.
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
  std::vector<Range> layers;
  for (const Range& range : trace_.ranges) {
    if (range.kind != RangeKind::kOperator || range.item >= trace_.operators.size()) continue;
    const Known& known = KnownOf(range.text);
    if (known.origin == nullptr) continue;
    Operator& op = trace_.operators[range.item];
    if (known.stack != 0) op.stack = known.stack;
    if (op.call != 0) op.call = CallOf(op.call, *known.origin);
    if (known.layer == 0) continue;
    // Around the call: of ranges with equal times the one with the lower number is outside.
    Range& layer = layers.emplace_back(range);
    layer.kind = RangeKind::kModule;
    layer.text = known.layer;
    layer.item = kNoItem;
    layer.set_order(std::max<int64_t>(int64_t{range.order()} - 1, 0));
  }
  trace_.ranges.insert(trace_.ranges.end(), layers.begin(), layers.end());
}

}  // namespace

void AddProvenance(const std::string& trace_path, Trace* trace, Diagnostics* diagnostics) {
  if (trace->family != Family::kKineto || trace_path == "-") return;
  const fs::path folder = fs::path(trace_path).parent_path();
  const bool files = std::any_of(std::begin(kProvenanceNames), std::end(kProvenanceNames),
                                 [&](const ProvenanceName& name) {
                                   std::error_code ignored;
                                   return fs::is_regular_file(folder / name.name, ignored);
                                 });
  if (!files) return;
  const bool any = std::any_of(trace->ranges.begin(), trace->ranges.end(), [&](const Range& range) {
    return range.kind == RangeKind::kOperator &&
           IsCompiledKernelName(trace->strings.View(range.text));
  });
  if (!any) return;
  const KernelOrigins origins = ReadOrigins(folder, diagnostics);
  if (!origins.empty()) Completer(origins, trace).Complete();
}

}  // namespace oplens::parse

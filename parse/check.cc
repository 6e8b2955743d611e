#include "parse/check.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <iterator>
#include <map>
#include <string_view>
#include <vector>

#include "base/checked.h"
#include "parse/survey.h"

namespace oplens::parse {
namespace {

/// What to record to get something, by family of profilers. "" where a family cannot.
struct Advice {
  std::string_view nvprof;
  std::string_view nsys;
  std::string_view kineto;

  std::string_view For(std::string_view family) const {
    if (family == "nvprof") return nvprof;
    return family == "nsys" ? nsys : kineto;
  }
};

/// Columns of `prof` that a kernel has for the same reason.
struct ColumnCheck {
  std::string_view keys;
  bool (*has)(const KernelFacts& kernel);
  std::string_view missing;  ///< What the file lacks where a kernel does not have it.
  Advice advice;
};

// Shapes in the text of emit_nvtx's ranges come without data types, so they do not make a price.
constexpr std::string_view kNvtxWithShapes = "annotations: python3 -m oplens_annotate";
constexpr std::string_view kNsysWithShapes =
    "nsys profile --trace=cuda,nvtx python3 -m oplens_annotate";
constexpr std::string_view kNvtxOps = "torch.autograd.profiler.emit_nvtx()";
constexpr std::string_view kNsysOps =
    "nsys profile --trace=cuda,nvtx with torch.autograd.profiler.emit_nvtx()";

constexpr std::string_view kNoArguments = "no op with its arguments";
constexpr Advice kWithShapes = {kNvtxWithShapes, kNsysWithShapes, "profile(record_shapes=True)"};

bool HasArguments(const KernelFacts& kernel) { return kernel.arguments; }

bool HasGpu(const KernelFacts& kernel) {
  return kernel.record.gpu.has_value() || kernel.record.device_name.has_value();
}

constexpr ColumnCheck kColumnChecks[] = {
    {"idx reason", [](const KernelFacts&) { return true; }, "", {}},
    {"kernel tc tc_elig tc_why",
     [](const KernelFacts& kernel) {
       return !kernel.record.reasons.Has(Reason::kUnknownKernelName) &&
              kernel.record.long_name != "<unknown>";
     },
     "no name of the kernel",
     {"nvprof -f -o FILE, let it end by itself", "nsys export again from the .nsys-rep",
      "export_chrome_trace again: the file is damaged"}},
    {"sil",
     [](const KernelFacts& kernel) {
       const ReasonSet& reasons = kernel.record.reasons;
       return !reasons.Has(Reason::kUntimed) && !reasons.Has(Reason::kBadTimes);
     },
     "no time of the kernel",
     {"torch.cuda.synchronize() before the program or the profiled part ends",
      "torch.cuda.synchronize() before the program or the capture range ends",
      "torch.cuda.synchronize() before the profiler stops"}},
    {"device stream grid block",
     [](const KernelFacts& kernel) { return kernel.record.grid.x > 0; },
     "no launch configuration",
     {"nvprof -f -o FILE without --events and --metrics", "nsys profile --trace=cuda,nvtx",
      "activities=[ProfilerActivity.CPU, ProfilerActivity.CUDA]"}},
    {"tid pid",
     [](const KernelFacts& kernel) { return kernel.record.launch_api.has_value(); },
     "no call that launched it",
     {"record (its --trace with cuda); nvprof without --profile-api-trace none; "
      "--profile-from-start off only where the launches "
      "are inside the profiled part",
      "nsys profile --trace=cuda,nvtx, with launches inside the capture range",
      "activities=[ProfilerActivity.CPU, ProfilerActivity.CUDA]"}},
    {"rank",
     [](const KernelFacts& kernel) { return kernel.record.rank.has_value(); },
     "the file does not say its rank",
     {"give the files of all processes together, or their folder",
      "give the files of all processes together, or their folder",
      "torch.distributed.init_process_group() before the profiler starts; or give the files of all "
      "processes together"}},
    {"op mod",
     [](const KernelFacts& kernel) { return !kernel.record.op.empty(); },
     "no op around the launch",
     {kNvtxOps, kNsysOps, "activities=[ProfilerActivity.CPU, ProfilerActivity.CUDA]"}},
    {"path",
     [](const KernelFacts& kernel) { return !kernel.record.markers.empty(); },
     "no annotated call around the launch",
     {kNvtxWithShapes, kNsysWithShapes,
      "activities=[ProfilerActivity.CPU, ProfilerActivity.CUDA]"}},
    {"params flops bytes", HasArguments, kNoArguments, kWithShapes},
    {"inst role share flops_kind", HasArguments, kNoArguments, kWithShapes},
    {"flops_mma flops_vec aux_bytes", HasArguments, kNoArguments, kWithShapes},
    {"ai tflops gbps", HasArguments, kNoArguments, kWithShapes},
    {"pct_math pct_dram bound",
     [](const KernelFacts& kernel) { return kernel.arguments && HasGpu(kernel); },
     "no op with its arguments, or no GPU",
     {"PyProf's annotations: pyprof.init(); prof --gpu NAME", kNsysWithShapes,
      "profile(record_shapes=True); prof --gpu NAME"}},
    {"occupancy waves",
     [](const KernelFacts& kernel) {
       const KernelRecord& record = kernel.record;
       const bool shared = record.shared_memory_bytes || (record.static_shared_memory_bytes &&
                                                          record.dynamic_shared_memory_bytes);
       return HasGpu(kernel) && record.registers_per_thread && shared;
     },
     "no GPU, registers or shared memory",
     {"prof --gpu NAME", "prof --gpu NAME", "prof --gpu NAME"}},
    {"dir",
     [](const KernelFacts& kernel) {
       const KernelRecord& record = kernel.record;
       return record.direction == Direction::kBackward || !record.markers.empty() ||
              !record.seq_markers.empty();
     },
     "nothing says forward or backward",
     {kNvtxOps, kNsysOps, "activities=[ProfilerActivity.CPU, ProfilerActivity.CUDA]"}},
    {"seq altseq sub",
     [](const KernelFacts& kernel) {
       return !kernel.record.seq_ids.empty() || !kernel.record.alt_seq_ids.empty();
     },
     "no sequence number around the launch",
     {kNvtxOps, kNsysOps, "ProfilerActivity.CPU, and ops that need a gradient"}},
    {"phase grad grad_conf",
     [](const KernelFacts& kernel) { return kernel.record.phase != Phase::kUnknown; },
     "nothing says what the step was doing",
     {kNvtxOps, kNsysOps, "activities=[ProfilerActivity.CPU, ProfilerActivity.CUDA]"}},
    {"layer",
     [](const KernelFacts& kernel) { return !kernel.record.layer.empty(); },
     "no layer around the launch",
     {"torch.cuda.nvtx.range_push(\"layer:NAME\")", "torch.cuda.nvtx.range_push(\"layer:NAME\")",
      "profile(with_stack=True, with_modules=True)"}},
    {"trace",
     [](const KernelFacts& kernel) { return !kernel.record.trace.empty(); },
     "no call stack",
     {"PyProf's annotations (pyprof.init())", "PyProf's annotations (pyprof.init())",
      "profile(with_stack=True)"}},
    {"range",
     [](const KernelFacts& kernel) { return !kernel.record.range.empty(); },
     "no range of your own around the launch",
     {"torch.cuda.nvtx.range_push(\"NAME\") ... range_pop()",
      "nsys profile --trace=cuda,nvtx with torch.cuda.nvtx.range_push(\"NAME\") ... range_pop()",
      "with torch.profiler.record_function(\"NAME\"):"}},
};

/// Something that a profile may hold besides what columns show of kernels.
struct Part {
  std::string_view name;
  int64_t (*count)(const Trace& trace, const TraceSurvey& survey);
  Advice advice;  ///< What adds it where there is none.
};

template <auto Member>
int64_t SizeOf(const Trace& trace, const TraceSurvey&) {
  return static_cast<int64_t>((trace.*Member).size());
}

template <auto Member>
int64_t Counted(const Trace&, const TraceSurvey& survey) {
  return survey.*Member;
}

constexpr std::string_view kCpuToo = "activities=[ProfilerActivity.CPU, ProfilerActivity.CUDA]";
constexpr std::string_view kNvtx = "nsys profile --trace=cuda,nvtx";

constexpr Part kParts[] = {
    {"launch and other API calls",
     SizeOf<&Trace::launches>,
     {"record (its --trace with cuda); nvprof without --profile-api-trace none",
      "nsys profile --trace=cuda,nvtx", kCpuToo}},
    {"NVTX ranges",
     Counted<&TraceSurvey::markers>,
     {"torch.autograd.profiler.emit_nvtx()", kNvtx, ""}},
    {"user annotations",
     Counted<&TraceSurvey::annotations>,
     {"", "", "with torch.profiler.record_function(\"NAME\"):"}},
    {"ops", Counted<&TraceSurvey::ops>, {kNvtxWithShapes, kNsysWithShapes, kCpuToo}},
    {"ops with arguments",
     Counted<&TraceSurvey::ops_with_arguments>,
     {kNvtxWithShapes, kNsysWithShapes, "profile(record_shapes=True)"}},
    {"sequence numbers", Counted<&TraceSurvey::numbered>, {kNvtxOps, kNsysOps, kCpuToo}},
    {"layers and modules",
     Counted<&TraceSurvey::layers>,
     {"torch.cuda.nvtx.range_push(\"layer:NAME\")", "torch.cuda.nvtx.range_push(\"layer:NAME\")",
      "profile(with_stack=True, with_modules=True)"}},
    {"call stacks",
     Counted<&TraceSurvey::stacks>,
     {"PyProf's annotations (pyprof.init())", "PyProf's annotations (pyprof.init())",
      "profile(with_stack=True)"}},
    {"Python calls", Counted<&TraceSurvey::frames>, {"", "", "profile(with_stack=True)"}},
    {"steps",
     Counted<&TraceSurvey::steps>,
     {"", "", "profile(schedule=torch.profiler.schedule(...)), and prof.step() in the loop"}},
    {"copies", SizeOf<&Trace::copies>, {}},
    {"fills", SizeOf<&Trace::sets>, {}},
    {"waits", SizeOf<&Trace::synchronizations>, {}},
    {"memory events",
     SizeOf<&Trace::memory_events>,
     {"", "nsys profile --cuda-memory-usage=true", "profile(profile_memory=True)"}},
    {"communications", SizeOf<&Trace::communications>, {}},
    {"forward-backward links", SizeOf<&Trace::forward_backward_links>, {}},
    {"graph kernels", Counted<&TraceSurvey::graph_kernels>, {}},
    {"graph replays without kernels", SizeOf<&Trace::graph_replays>, {}},
};

constexpr size_t kMaxListed = 8;

class Description {
 public:
  Description(const Trace& trace, const Correlation& kernels, const Diagnostics& diagnostics)
      : trace_(trace), kernels_(kernels), diagnostics_(diagnostics), survey_(SurveyTrace(trace)) {}

  std::string Render(const std::string& path) {
    AddHead(path);
    AddKernels();
    AddParts();
    AddRangeTrouble();
    AddGraphAdvice();
    AddColumns();
    return std::move(out_);
  }

 private:
  template <typename... Args>
  void Line(fmt::format_string<Args...> format, Args&&... args) {
    fmt::format_to(std::back_inserter(out_), format, std::forward<Args>(args)...);
    out_.push_back('\n');
  }

  std::string_view View(StringId id) const { return trace_.strings.View(id); }

  void AddHead(const std::string& path) {
    const bool said = trace_.producer.find("schema") != std::string::npos;
    std::string version;
    if (trace_.schema_version > 0 && !said) {
      version = fmt::format(", schema {}", trace_.schema_version);
    }
    if (!trace_.producer.empty()) {
      version += fmt::format(", written by {}", Printable(trace_.producer));
    }
    Line("{}: {}{}", path, trace_.family, version);
    AddDevices();
    AddProcesses();
    Line("  rank {}", RankText());
  }

  std::string RankText() const {
    std::string text = trace_.rank == kUnknownId ? "not recorded" : fmt::format("{}", trace_.rank);
    if (trace_.world_size != kUnknownId) text += fmt::format(" of {}", trace_.world_size);
    const std::string_view name = View(trace_.rank_name);
    if (!name.empty() && name != text) text += fmt::format(", shown as {}", Printable(name));
    return text;
  }

  /// Names from a file may hold anything; one line stays one line.
  static std::string Printable(std::string_view text) {
    constexpr size_t kMost = 120;
    std::string shown;
    for (const char c : text.substr(0, kMost)) shown.push_back(c >= 0x20 && c < 0x7F ? c : '?');
    return text.size() > kMost ? shown + "..." : shown;
  }

  void AddDevices() {
    if (trace_.devices.empty()) Line("  GPU not recorded");
    for (size_t i = 0; i < std::min(trace_.devices.size(), kMaxListed); ++i) {
      const Device& device = trace_.devices[i];
      const std::string_view name = View(device.name);
      Line("  GPU {}: {}, compute capability {}.{}, {} multiprocessors", device.id,
           name.empty() ? "unnamed" : Printable(name), device.compute_capability_major,
           device.compute_capability_minor, device.multiprocessors);
    }
    AddMore(trace_.devices.size());
  }

  void AddProcesses() {
    std::map<int64_t, int64_t> threads;
    for (const Thread& thread : trace_.threads) ++threads[thread.process_id];
    size_t listed = 0;
    for (const auto& [process, count] : threads) {
      if (listed++ == kMaxListed) break;
      Line("  process {}: {} thread{}", process, count, count == 1 ? "" : "s");
    }
    AddMore(threads.size());
  }

  void AddMore(size_t count) {
    if (count > kMaxListed) Line("  ... and {} more", count - kMaxListed);
  }

  void AddKernels() {
    const auto span = Checked(survey_.last_kernel_ns) - Checked(survey_.first_kernel_ns);
    Line("holds");
    Line("  {:<30} {:>9}  {} ns of GPU time within {} ns", "kernels", kernels_.kernel_count(),
         survey_.kernel_ns, span.Value().value_or(INT64_MAX));
  }

  void AddParts() {
    for (const Part& part : kParts) {
      const int64_t count = part.count(trace_, survey_);
      const std::string_view advice = part.advice.For(trace_.family);
      if (count > 0 || advice.empty()) {
        Line("  {:<30} {:>9}", part.name, count);
      } else {
        Line("  {:<30} {:>9}  to add: {}", part.name, count, advice);
      }
    }
  }

  void AddRangeTrouble() {
    const int64_t leaked = diagnostics_.CountOf(Reason::kLeakedRange);
    if (survey_.open_ranges == 0 && leaked == 0) return;
    Line("  {:<30} {:>9}  never closed, {} of them left out as leaked", "open ranges",
         survey_.open_ranges, leaked);
  }

  void AddGraphAdvice() {
    constexpr Advice kNodes = {
        "", "nsys profile --cuda-graph-trace=node: lists the kernels of CUDA graphs, and their ops",
        ""};
    const bool unplaced = survey_.graph_kernels > survey_.placed_graph_kernels;
    const std::string_view advice = kNodes.For(trace_.family);
    if ((!trace_.graph_replays.empty() || unplaced) && !advice.empty()) {
      Line("  to add: {}", advice);
    }
  }

  void AddColumns() {
    std::array<size_t, std::size(kColumnChecks)> counts{};
    ArgumentFinder finder(kernels_);
    KernelRecord record;
    const size_t total = kernels_.kernel_count();
    for (size_t i = 0; i < total; ++i) {
      kernels_.RecordOf(i, &record);
      if (trace_.rank_name != 0) record.rank = View(trace_.rank_name);
      const KernelFacts facts{record, finder.HasArguments(record)};
      for (size_t c = 0; c < counts.size(); ++c) {
        if (kColumnChecks[c].has(facts)) ++counts[c];
      }
    }
    Line("columns of prof, and the kernels that have them");
    if (total == 0) AddNoKernels();
    for (size_t c = 0; c < counts.size(); ++c) AddColumn(kColumnChecks[c], counts[c], total);
  }

  void AddNoKernels() {
    constexpr Advice kKernels = {
        "record -f -o FILE -- PROGRAM (nvprof on older GPUs); --profile-from-start off needs "
        "cudaProfilerStart()",
        "nsys profile --trace=cuda,nvtx; --capture-range needs its start",
        "activities=[ProfilerActivity.CPU, ProfilerActivity.CUDA]"};
    Line("  the profile holds no kernel; to add: {}", kKernels.For(trace_.family));
  }

  void AddColumn(const ColumnCheck& check, size_t count, size_t total) {
    const std::string share = fmt::format("{} of {}", count, total);
    if (count == total) return Line("  {:<30} {:>16}", check.keys, share);
    const std::string_view advice = check.advice.For(trace_.family);
    Line("  {:<30} {:>16}  {}{}{}", check.keys, share, check.missing,
         advice.empty() ? "" : "; to add: ", advice);
  }

  const Trace& trace_;
  const Correlation& kernels_;
  const Diagnostics& diagnostics_;
  TraceSurvey survey_;
  std::string out_;
};

}  // namespace

std::string DescribeProfile(const std::string& path, const Trace& trace, const Correlation& kernels,
                            const Diagnostics& diagnostics) {
  return Description(trace, kernels, diagnostics).Render(path);
}

}  // namespace oplens::parse

#include "parse/model/recording_advice.h"

#include <algorithm>
#include <iterator>

namespace oplens {
namespace {

/// What to record, by family.
struct Advice {
  std::string_view nvprof;
  std::string_view nsys;
  std::string_view kineto;
  std::string_view unknown = {};

  constexpr std::string_view For(Family family) const {
    switch (family) {
      case Family::kNvprof:
        return nvprof;
      case Family::kNsys:
        return nsys;
      case Family::kKineto:
        return kineto;
      case Family::kUnknown:
        break;
    }
    return unknown;
  }
};

struct MissingFactAdvice {
  MissingFact lack;
  Advice flag;
  Advice remedy = {};
};

// emit_nvtx records shapes without data types, from which no cost can be computed.
constexpr std::string_view kNvtxWithShapes = "annotations: python3 -m oplens_annotate";
constexpr std::string_view kNsysWithShapes =
    "nsys profile --trace=cuda,nvtx python3 -m oplens_annotate";
constexpr std::string_view kNvtxOps = "torch.autograd.profiler.emit_nvtx()";
constexpr std::string_view kNsysOps =
    "nsys profile --trace=cuda,nvtx with torch.autograd.profiler.emit_nvtx()";
constexpr std::string_view kNsysCalls = "nsys profile --trace=cuda,nvtx";
constexpr std::string_view kCpuToo = "activities=[ProfilerActivity.CPU, ProfilerActivity.CUDA]";
constexpr std::string_view kLayerRange = "torch.cuda.nvtx.range_push(\"layer:NAME\")";
constexpr std::string_view kPyProfStacks = "PyProf's annotations (pyprof.init())";
constexpr std::string_view kAllFiles = "give the files of all processes together, or their folder";
constexpr std::string_view kNameGpu = "prof --gpu NAME";

constexpr std::string_view kAnnotateRanges =
    "annotate the code with NVTX ranges, for PyTorch with torch.autograd.profiler.emit_nvtx()";
constexpr std::string_view kShapesInNvtx =
    "annotate with oplens (python3 -m oplens_annotate), or run under "
    "torch.autograd.profiler.emit_nvtx(record_shapes=True)";
constexpr std::string_view kTypesInNvtx =
    "annotate with oplens (python3 -m oplens_annotate), which names data types as emit_nvtx() does "
    "not";
constexpr std::string_view kEager =
    "run without torch.compile: a compiled kernel does not tell its ops";
constexpr std::string_view kRangeEnds =
    "with torch.cuda.nvtx.range(\"NAME\"): it ends the range however the block is left";

constexpr MissingFactAdvice kAdvice[] = {
    {MissingFact::kKernels,
     {"record -f -o FILE -- PROGRAM (nvprof on older GPUs); --profile-from-start off needs "
      "cudaProfilerStart()",
      "nsys profile --trace=cuda,nvtx; --capture-range needs its start", kCpuToo}},
    {MissingFact::kKernelNames,
     {"nvprof -f -o FILE, let it end by itself", "nsys export again from the .nsys-rep",
      "export_chrome_trace again: the file is damaged"}},
    {MissingFact::kKernelTimes,
     {"torch.cuda.synchronize() before the program or the profiled part ends",
      "torch.cuda.synchronize() before the program or the capture range ends",
      "torch.cuda.synchronize() before the profiler stops"}},
    {MissingFact::kLaunchConfigurations,
     {"nvprof -f -o FILE without --events and --metrics", kNsysCalls, kCpuToo}},
    {MissingFact::kLaunches,
     {"record (its --trace with cuda); nvprof without --profile-api-trace none; "
      "--profile-from-start off only where the launches are inside the profiled part",
      "nsys profile --trace=cuda,nvtx, with launches inside the capture range", kCpuToo},
     {"record the CUDA API calls too (nvprof without --profile-api-trace none), and begin "
      "recording before the first launch",
      "record the CUDA API calls too (nsys profile --trace=cuda,nvtx), and begin recording before "
      "the first launch",
      "profile with activities=[ProfilerActivity.CPU, ProfilerActivity.CUDA]",
      "record the CUDA API calls too, and begin recording before the first launch"}},
    {MissingFact::kApiCalls,
     {"record (its --trace with cuda); nvprof without --profile-api-trace none", kNsysCalls,
      kCpuToo}},
    {MissingFact::kRank,
     {kAllFiles, kAllFiles,
      "torch.distributed.init_process_group() before the profiler starts; or give the files of all "
      "processes together"}},
    {MissingFact::kOps,
     {kNvtxOps, kNsysOps, kCpuToo},
     {kShapesInNvtx, kShapesInNvtx, "",
      "name the ops: run under torch.autograd.profiler.emit_nvtx(record_shapes=True)"}},
    {MissingFact::kTypedOps, {kNvtxWithShapes, kNsysWithShapes, kCpuToo}},
    {MissingFact::kArguments,
     {kNvtxWithShapes, kNsysWithShapes, "profile(record_shapes=True)"},
     {kShapesInNvtx, kShapesInNvtx, "profile with record_shapes=True",
      "record the shapes (record_shapes=True of PyTorch's profilers)"}},
    {MissingFact::kDTypes,
     {},
     {kTypesInNvtx, kTypesInNvtx,
      "record the data types: torch.profiler of PyTorch 1.8.1 and later does (this file tells "
      "shapes without them)",
      "record the data types: annotations of oplens and torch.profiler name them"}},
    {MissingFact::kRoof,
     {"PyProf's annotations: pyprof.init(); prof --gpu NAME", kNsysWithShapes,
      "profile(record_shapes=True); prof --gpu NAME"}},
    {MissingFact::kGpu, {kNameGpu, kNameGpu, kNameGpu, kNameGpu}},
    {MissingFact::kGradients,
     {kNvtxOps, kNsysOps, "ProfilerActivity.CPU, and ops that need a gradient"}},
    {MissingFact::kLayers,
     {kLayerRange, kLayerRange, "profile(with_stack=True, with_modules=True)"}},
    {MissingFact::kStacks, {kPyProfStacks, kPyProfStacks, "profile(with_stack=True)"}},
    {MissingFact::kRanges,
     {"torch.cuda.nvtx.range_push(\"NAME\") ... range_pop()",
      "nsys profile --trace=cuda,nvtx with torch.cuda.nvtx.range_push(\"NAME\") ... range_pop()",
      "with torch.profiler.record_function(\"NAME\"):"},
     {kAnnotateRanges,
      "put the launches inside NVTX ranges (for PyTorch torch.autograd.profiler.emit_nvtx()) and "
      "record them (nsys profile --trace=cuda,nvtx)",
      "profile with activities=[ProfilerActivity.CPU, ProfilerActivity.CUDA]", kAnnotateRanges}},
    {MissingFact::kNvtxRanges, {kNvtxOps, kNsysCalls, ""}},
    {MissingFact::kAnnotations, {"", "", "with torch.profiler.record_function(\"NAME\"):"}},
    {MissingFact::kFrames, {"", "", "profile(with_stack=True)"}},
    {MissingFact::kSteps,
     {"", "", "profile(schedule=torch.profiler.schedule(...)), and prof.step() in the loop"}},
    {MissingFact::kMemoryEvents,
     {"record --trace cuda,nvtx,memory, with OPLENS_ANNOTATE=memory for PyTorch's allocators",
      "nsys profile --cuda-memory-usage=true", "profile(profile_memory=True)"}},
    {MissingFact::kGraphKernels,
     {"", "nsys profile --cuda-graph-trace=node: lists the kernels of CUDA graphs, and their ops",
      ""},
     {"run without CUDA graphs: nvprof does not tell their kernels apart",
      "record with --cuda-graph-trace=node, and the capture of the graphs too",
      "run without CUDA graphs: PyTorch's profiler does not tell what was captured into them",
      "record the capture of the CUDA graphs too"}},
    {MissingFact::kCompiledOps, {}, {"", kEager, kEager, kEager}},
    {MissingFact::kEarlyLaunches,
     {"torch.cuda.synchronize() before cudaProfilerStart()",
      "torch.cuda.synchronize() before the capture range starts",
      "torch.cuda.synchronize() before the profiler starts"},
     {"these were launched before the recording: torch.cuda.synchronize() before "
      "cudaProfilerStart()",
      "these were launched before the recording: torch.cuda.synchronize() before the capture range "
      "starts",
      "these were launched before the recording: torch.cuda.synchronize() before the profiler "
      "starts",
      "these were launched before the recording: torch.cuda.synchronize() before it starts"}},
    {MissingFact::kLostRecords,
     {"record with less in --trace, or a shorter part of the run",
      "nsys profile --capture-range=cudaProfilerApi: a shorter part of the run",
      "profile(schedule=torch.profiler.schedule(...)): fewer steps at a time"},
     {"their calls were lost: record less (--trace), or a shorter part of the run",
      "their calls were lost: record a shorter part of the run "
      "(nsys profile --capture-range=cudaProfilerApi)",
      "their calls were lost: record fewer steps at a time "
      "(profile(schedule=torch.profiler.schedule(...)))",
      "their calls were lost: record a shorter part of the run"}},
    {MissingFact::kLateKernels,
     {"torch.cuda.synchronize() before the program or the profiled part ends",
      "torch.cuda.synchronize() before the program or the capture range ends",
      "torch.cuda.synchronize() before the profiler stops"}},
    {MissingFact::kRangeEnds,
     {kRangeEnds, kRangeEnds, "leave every record_function() block before the profiler stops"}},
    {MissingFact::kWholeSteps,
     {"cudaProfilerStart() and cudaProfilerStop() between two steps",
      "start and stop the capture range between two steps",
      "prof.step() at the end of each step, and stop the profiler right behind it"}},
};

const MissingFactAdvice* Find(MissingFact lack) {
  const auto* found =
      std::find_if(std::begin(kAdvice), std::end(kAdvice),
                   [&](const MissingFactAdvice& entry) { return entry.lack == lack; });
  return found == std::end(kAdvice) ? nullptr : found;
}

}  // namespace

std::string_view RecordingFlag(MissingFact lack, Family family) {
  const MissingFactAdvice* advice = Find(lack);
  return advice == nullptr ? std::string_view() : advice->flag.For(family);
}

std::string_view RecordingRemedy(MissingFact lack, Family family) {
  const MissingFactAdvice* advice = Find(lack);
  return advice == nullptr ? std::string_view() : advice->remedy.For(family);
}

}  // namespace oplens

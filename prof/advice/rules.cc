#include "prof/advice/checks.h"
#include "prof/advice/rule.h"

namespace oplens::prof::advice {
namespace {

bool HasRun(const RankFacts& rank) { return rank.has_run && rank.gpus > 0; }
bool HasLaunches(const RankFacts& rank) { return HasRun(rank) && rank.has_launches; }
bool HasPrices(const RankFacts& rank) { return rank.has_prices; }
bool HasPhases(const RankFacts& rank) { return rank.has_phases; }
bool HasMemory(const RankFacts& rank) { return rank.has_memory; }
bool HasSteps(const RankFacts& rank) { return rank.has_steps; }
bool HasKernels(const RankFacts& rank) { return rank.kernels.count > 0; }

constexpr std::string_view kExposed = "exposed time";
constexpr std::string_view kRoofline = "roofline";
constexpr std::string_view kRoofRatio = "ratio of roofs";
constexpr std::string_view kKernelTime = "kernel time";
constexpr std::string_view kStepTime = "step time";

constexpr Rule kAdviceRules[] = {
    {.id = "dataloader",
     .check = CheckDataLoader,
     .change = "load batches in other processes: DataLoader(num_workers=4 or more, "
               "pin_memory=True, persistent_workers=True), or do less work for a batch",
     .bound = kExposed,
     .assumption = "batches are ready whenever the program asks for one",
     .command = "--view overview -c step,total_ns,dataloader_ns",
     .view = "overview",
     .can_look = HasRun,
     .lack = MissingFact::kOps,
     .topic = Topic::kDataLoader},
    {.id = "step-start",
     .check = CheckStepStart,
     .change =
         "prepare the input of the next step while the GPU works on this one: in a DataLoader's "
         "workers, in a thread, or on the GPU",
     .bound = kExposed,
     .assumption = "the first work of each step is launched when the step begins",
     .command = "--view gaps",
     .view = "gaps",
     .can_look = HasSteps,
     .lack = MissingFact::kSteps,
     .topic = Topic::kStepStart},
    {.id = "blocking-calls",
     .check = CheckBlockingCalls,
     .change = "do not ask for values of the GPU in the loop (.item(), print, if tensor, .cpu(), "
               "torch.cuda.synchronize): keep them on the GPU, ask every n-th step, copy with "
               "non_blocking=True",
     .bound = kExposed,
     .assumption = "without the call the host has the next work launched by then",
     .command = "--view idle --by call,op",
     .view = "idle",
     .can_look = HasLaunches,
     .lack = MissingFact::kLaunches,
     .topic = Topic::kBlocking},
    {.id = "host-bound",
     .check = CheckHostBound,
     .change = "give the GPU more work a launch: a larger batch, torch.compile, CUDA graphs "
               "(torch.cuda.make_graphed_callables, mode='reduce-overhead'); less Python between "
               "ops",
     .bound = kExposed,
     .assumption = "the host always has the next work launched in time",
     .command = "--view idle --by call,op",
     .view = "idle",
     .can_look = HasLaunches,
     .lack = MissingFact::kLaunches,
     .topic = Topic::kHost},
    {.id = "short-kernels",
     .check = CheckShortKernels,
     .change = "fuse the ops listed (torch.compile, or one kernel that does all), or capture them "
               "in a CUDA graph",
     .bound = kExposed,
     .assumption = "one fused kernel, or a graph, starts without waiting for the host",
     .command = "--by op --where 'sil<5us' -c op,count,total,mean",
     .view = "groups",
     .can_look = HasLaunches,
     .lack = MissingFact::kLaunches,
     .topic = Topic::kShort},
    {.id = "pageable-copies",
     .check = CheckPageableCopies,
     .change = "copy from pinned memory: DataLoader(pin_memory=True), tensor.pin_memory(), and "
               ".to(device, non_blocking=True)",
     .bound = kExposed,
     .assumption = "computation hides the copies wholly",
     .command = "--copies --where 'src=pageable or dst=pageable'",
     .view = "copies",
     .can_look = HasRun,
     .lack = MissingFact::kKernels,
     .topic = Topic::kPageable},
    {.id = "pinned-copies",
     .check = CheckPinnedCopies,
     .change = "start these copies earlier, on a stream of their own, so that they run beside "
               "computation (prefetch of the next batch, non_blocking=True), or keep the data on "
               "the GPU",
     .bound = kExposed,
     .assumption = "computation hides the copies wholly",
     .command = "--copies --where 'src=pinned or dst=pinned'",
     .view = "copies",
     .can_look = HasRun,
     .lack = MissingFact::kKernels,
     .topic = Topic::kPinned},
    {.id = "graph-launch",
     .check = CheckGraphLaunch,
     .change = "launch a graph before the one before it ends; make fewer and larger graphs; upload "
               "a graph before its first launch (cudaGraphUpload)",
     .bound = kExposed,
     .assumption = "each graph is launched, and on the GPU, before the work before it ends",
     .command = "--view gaps",
     .view = "gaps",
     .can_look = HasLaunches,
     .lack = MissingFact::kLaunches,
     .topic = Topic::kGraphLaunch},
    {.id = "allocator-retries",
     .check = CheckAllocatorRetries,
     .change = "keep sizes alike from step to step; "
               "PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True; no torch.cuda.empty_cache() in "
               "the loop; use less memory where the allocator frees and tries again",
     .bound = "time of the calls",
     .assumption = "the program waits for each of them",
     .command = "--view memory",
     .view = "memory",
     .can_look = HasSteps,
     .lack = MissingFact::kSteps,
     .topic = Topic::kAllocation},
    {.id = "api-calls",
     .check = CheckApiCalls,
     .change = "keep these calls out of the loop, or launch work enough before them: no "
               "torch.cuda.empty_cache(), events and streams made once, memory from a pool",
     .bound = kExposed,
     .assumption = "the GPU has work while the host is in these calls",
     .command = "--view idle --by call,op",
     .view = "idle",
     .can_look = HasLaunches,
     .lack = MissingFact::kLaunches,
     .topic = Topic::kApiCall},
    {.id = "pad-dims",
     .check = CheckPadDims,
     .change = "pad the sizes named to the multiple shown (vocabulary, hidden size, batch); zeros "
               "do not change the result",
     .bound = kRoofline,
     .assumption = "padded products run at the roof of the GPU",
     .command = "--where 'tc_why~\"pad to\"' -c op,params,kernel,sil,tc_why --sort sil",
     .view = "kernels",
     .can_look = HasPrices,
     .lack = MissingFact::kArguments,
     .topic = Topic::kPad},
    {.id = "fp32-in-16bit-net",
     .check = CheckFp32In16BitNet,
     .change = "let autocast have these ops too, or cast their inputs; what must stay fp32 can use "
               "TF32 (torch.set_float32_matmul_precision('high'))",
     .bound = kRoofRatio,
     .assumption = "they run at the roof of Tensor Cores",
     .command = "--by op,shape --where 'tc=0 and dtype=fp32 and tc_elig!=-'",
     .view = "roofline",
     .can_look = HasPrices,
     .lack = MissingFact::kArguments,
     .topic = Topic::kFp32},
    {.id = "tf32-off",
     .check = CheckTf32Off,
     .change = "torch.set_float32_matmul_precision('high') (and "
               "torch.backends.cudnn.allow_tf32=True); faster still: bf16 by torch.autocast",
     .bound = kRoofRatio,
     .assumption = "they run at the roof of TF32, and its 10 bits of mantissa are enough",
     .command = "--by op,shape --where 'tc=0 and dtype=fp32 and tc_elig!=-'",
     .view = "roofline",
     .can_look = HasPrices,
     .lack = MissingFact::kArguments,
     .topic = Topic::kFp32},
    {.id = "mixed-precision",
     .check = CheckMixedPrecision,
     .change = "train with torch.autocast(dtype=torch.float16) and a GradScaler",
     .bound = kRoofRatio,
     .assumption = "they run at the roof of fp16 on Tensor Cores",
     .command = "--by op,shape --where 'tc=0 and dtype=fp32 and tc_elig!=-'",
     .view = "roofline",
     .can_look = HasPrices,
     .lack = MissingFact::kArguments,
     .topic = Topic::kFp32},
    {.id = "layout-transforms",
     .check = CheckLayoutTransforms,
     .change = "keep tensors in the layout of the kernels: model and input "
               ".to(memory_format=torch.channels_last)",
     .bound = kKernelTime,
     .assumption = "no tensor needs another layout any more",
     .command = "--by op,kernel --where 'role=layout and op~conv'",
     .view = "groups",
     .can_look = HasPrices,
     .lack = MissingFact::kArguments,
     .topic = Topic::kLayout},
    {.id = "small-grids",
     .check = CheckSmallGrids,
     .change = "give these ops more to do at once (batch them), or run independent ones on streams "
               "of their own",
     .bound = "idle multiprocessors",
     .assumption = "their work spreads over all multiprocessors, nothing else runs beside them",
     .command = "--where 'waves<1 and sil>=10us' -c op,kernel,grid,waves,sil --sort sil",
     .view = "kernels",
     .can_look = HasRun,
     .lack = MissingFact::kLaunchConfigurations,
     .topic = Topic::kSmallGrid},
    {.id = "low-occupancy",
     .check = CheckLowOccupancy,
     .change = "smaller blocks, fewer registers or less shared memory in these kernels",
     .bound = kRoofline,
     .assumption = "with enough warps they run at the nearer roof",
     .command = "--where 'occupancy<25 and pct_dram<50 and sil>=10us' -c "
                "op,kernel,occupancy,pct_dram,sil --sort sil",
     .view = "kernels",
     .can_look = HasPrices,
     .lack = MissingFact::kArguments,
     .topic = Topic::kLowOccupancy},
    {.id = "per-tensor-optimizer",
     .check = CheckPerTensorOptimizer,
     .change =
         "use an optimizer that updates many tensors at once: foreach=True or fused=True, and "
         "zero_grad(set_to_none=True)",
     .bound = kRoofline,
     .assumption = "one launch updates all tensors at the bandwidth of the GPU's memory",
     .command = "--by op,kernel --where 'phase=optimizer'",
     .view = "groups",
     .can_look = HasPhases,
     .lack = MissingFact::kOps,
     .topic = Topic::kOptimizer},
    {.id = "recomputation",
     .check = CheckRecomputation,
     .change = "checkpoint fewer layers, as far as memory reaches (selective checkpointing keeps "
               "what is costly to compute)",
     .bound = "kernel time and waits for the host",
     .assumption = "memory holds all activations, and the host has nothing else to do then",
     .command = "--by op --where 'phase=recompute'",
     .view = "groups",
     .can_look = HasPhases,
     .lack = MissingFact::kOps,
     .topic = Topic::kRecompute},
    {.id = "exposed-communication",
     .check = CheckExposedCommunication,
     .change = "start it earlier, so that it runs beside computation, or communicate less: larger "
               "batches, compression, fewer ranks in a group",
     .bound = kExposed,
     .assumption = "computation that now runs alone hides it",
     .command = "--view collectives",
     .view = "collectives",
     .can_look = HasRun,
     .lack = MissingFact::kKernels,
     .topic = Topic::kCollective},
    {.id = "waits-for-ranks",
     .check = CheckWaitsForRanks,
     .change = "look why that rank comes late: more work (unbalanced-ranks), a late host, a slower "
               "GPU",
     .bound = kExposed,
     .assumption = "all ranks come at the same time; it is what unbalanced-ranks saves, seen from "
                   "the other side",
     .command = "--view stragglers",
     .view = "stragglers",
     .can_look = HasRun,
     .lack = MissingFact::kKernels,
     .topic = Topic::kCollective},
    {.id = "slow-collectives",
     .check = CheckSlowCollectives,
     .change = "look at the path between these ranks (NCCL_DEBUG=INFO names it): a slower network "
               "between nodes, NVLink that is not used, too few channels, several collectives at "
               "once",
     .bound = kExposed,
     .assumption = "the ranks of a group are joined by the GPUs' own links, and transfer reaches "
                   "their peak; it is part of exposed-communication",
     .command = "--view collectives --sort latency_ns",
     .view = "collectives",
     .can_look = HasRun,
     .lack = MissingFact::kKernels,
     .topic = Topic::kCollective},
    {.id = "small-messages",
     .check = CheckSmallMessages,
     .change =
         "send fewer and larger messages: a larger bucket_cap_mb, tensors in one flat buffer, "
         "or coalesced collectives",
     .bound = kExposed,
     .assumption = "one large message hides what the small ones cost; it is part of "
                   "exposed-communication",
     .command = "--view collectives --where 'size_bytes<1MiB'",
     .view = "collectives",
     .can_look = HasRun,
     .lack = MissingFact::kKernels,
     .topic = Topic::kSmallCollective},
    {.id = "unbalanced-ranks",
     .check = CheckUnbalancedRanks,
     .change =
         "give all ranks as much work: sort or pad batches by length, split layers or experts "
         "evenly; look for a slower GPU",
     .bound = kKernelTime,
     .assumption = "all ranks take as long as the median",
     .command = "--view distributed",
     .view = "distributed",
     .can_look = HasRun,
     .lack = MissingFact::kKernels},
    {.id = "data-parallel",
     .check = CheckDataParallel,
     .change = "use DistributedDataParallel with a process for each GPU",
     .bound = "",
     .assumption = "",
     .command = "--view gpu",
     .view = "gpu",
     .can_look = HasRun,
     .lack = MissingFact::kOps},
    {.id = "nccl-backend",
     .check = CheckNcclBackend,
     .change = "init_process_group(backend='nccl')",
     .bound = "",
     .assumption = "",
     .command = "--view collectives",
     .view = "collectives",
     .can_look = HasRun,
     .lack = MissingFact::kOps},
    {.id = "memory-near-full",
     .check = CheckMemoryNearFull,
     .change = "checkpoint activations, use 16 bits or a smaller batch: the next larger input may "
               "not fit",
     .bound = "",
     .assumption = "",
     .command = "--view memory-ops",
     .view = "memory-ops",
     .can_look = HasMemory,
     .lack = MissingFact::kMemoryEvents},
    {.id = "fragmentation",
     .check = CheckFragmentation,
     .change = "PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True; alike sizes from step to step",
     .bound = "",
     .assumption = "",
     .command = "--view memory",
     .view = "memory",
     .can_look = HasMemory,
     .lack = MissingFact::kMemoryEvents},
    {.id = "step-jitter",
     .check = CheckStepJitter,
     .change = "compare a slow step with its neighbour: batches of another size, validation or "
               "logging in the loop, a loader that ran dry, garbage collection",
     .bound = kStepTime,
     .assumption = "all steps take as long as the median",
     .command = "--view overview",
     .view = "overview",
     .can_look = HasSteps,
     .lack = MissingFact::kSteps},
    {.id = "cold-start",
     .check = CheckColdStart,
     .change =
         "record after some steps of warm-up (torch.profiler.schedule, cudaProfilerStart), or "
         "look at --steps or --time that leave it out",
     .bound = "",
     .assumption = "",
     .command = "--view launches --by kernel",
     .view = "launches",
     .can_look = HasLaunches,
     .lack = MissingFact::kLaunches},
    {.id = "warm-up-step",
     .check = CheckWarmUpStep,
     .change =
         "record steps after those that warm up: torch.profiler.schedule(wait, warmup, active); "
         "--all-steps counts them all the same",
     .bound = "",
     .assumption = "",
     .command = "--view overview",
     .view = "overview",
     .can_look = HasSteps,
     .lack = MissingFact::kSteps},
    {.id = "attention-backend",
     .check = CheckAttentionBackend,
     .change = "F.scaled_dot_product_attention with 16-bit inputs and no dense mask (is_causal, or "
               "flex_attention for other masks), so that FlashAttention or cuDNN computes it; "
               "attn_implementation='sdpa' of Transformers",
     .bound = kRoofline,
     .assumption = "one kernel does it at the roof, and the scores stay on the chip",
     .command = "--by layer:label,op,kernel --where 'family~\"softmax|attention\" or op~bmm'",
     .view = "groups",
     .can_look = HasPrices,
     .lack = MissingFact::kArguments,
     .topic = Topic::kAttention},
    {.id = "rope-and-attention-copies",
     .check = CheckAttentionCopies,
     .change = "keep query, key and value in the layout of the attention kernel (views instead of "
               "reshape and contiguous after a transpose, one projection for all three), and use a "
               "fused rotary embedding",
     .bound = kKernelTime,
     .assumption = "the kernels beside them read and write in the right place",
     .command = "--by layer:label,op,kernel --where 'family~\"layout|elementwise\"'",
     .view = "groups",
     .can_look = HasPrices,
     .lack = MissingFact::kArguments,
     .topic = Topic::kAttentionCopies},
    {.id = "casts-before-products",
     .check = CheckCastsBeforeProducts,
     .change = "keep weights and activations in the type and layout of the product: 16-bit "
               "weights instead of autocast of fp32 ones, no .float() between products, views "
               "instead of contiguous()",
     .bound = kKernelTime,
     .assumption = "whatever makes the tensor writes it as the product reads it",
     .command = "--by layer:label,op,shape --where 'family=layout'",
     .view = "groups",
     .can_look = HasPrices,
     .lack = MissingFact::kArguments,
     .topic = Topic::kCast},
    {.id = "quantize-around-products",
     .check = CheckQuantisation,
     .change = "quantise in the kernel that makes the tensor (norm, activation) or in the prologue "
               "of the product; quantise weights once, ahead of time",
     .bound = kKernelTime,
     .assumption = "the kernels beside them quantise for nothing",
     .command = "--by layer:label,op,kernel --where 'family=quantise'",
     .view = "groups",
     .can_look = HasKernels,
     .lack = MissingFact::kKernels,
     .topic = Topic::kQuantise},
    {.id = "fusion",
     .check = CheckFusion,
     .change = "torch.compile the layers named, or call one op for the chain (F.rms_norm, "
               "F.layer_norm, F.gelu, F.cross_entropy, or a kernel of your own)",
     .bound = kRoofline,
     .assumption = "one kernel reads what the chain begins with once, writes what it ends with, "
                   "and runs at the roof",
     .command = "-c stream,layer,op,kernel,params,sil,pct_dram --where "
                "'family~\"elementwise|norm|reduction|softmax|layout|fill\"'",
     .view = "kernels",
     .can_look = HasPrices,
     .lack = MissingFact::kArguments,
     .topic = Topic::kChain},
    {.id = "far-from-roof",
     .check = CheckFarFromRoof,
     .change = "look at the kernels named: other sizes or layouts for a better kernel (contiguous, "
               "aligned, a larger batch), another library or backend, "
               "torch.compile(mode='max-autotune')",
     .bound = kRoofline,
     .assumption = "they run at their nearer roof",
     .command = "--where 'sil>=10us and pct_math<50 and pct_dram<50' -c "
                "op,params,kernel,sil,pct_math,pct_dram --sort sil",
     .view = "kernels",
     .can_look = HasPrices,
     .lack = MissingFact::kArguments,
     .topic = Topic::kFarFromRoof},
    {.id = "memory-bound-kernels",
     .check = CheckMemoryBound,
     .change = "torch.compile, which joins such kernels with each other and some with products; "
               "what that saves is unknown",
     .bound = "",
     .assumption = "",
     .command = "--by op,shape --where 'family~\"elementwise|norm|reduction|softmax|layout|fill\"'",
     .view = "groups",
     .can_look = HasKernels,
     .lack = MissingFact::kKernels},
    {.id = "foreach-optimizer",
     .check = CheckForeachOptimizer,
     .change =
         "use an optimizer that does all in one pass: fused=True of torch.optim (Adam, AdamW, "
         "SGD, Adagrad)",
     .bound = kRoofline,
     .assumption = "one pass reads and writes one list of the tensors at the bandwidth of the "
                   "GPU's memory, and all others stay on the chip",
     .command = "--by op,kernel --where 'phase=optimizer'",
     .view = "groups",
     .can_look = HasPhases,
     .lack = MissingFact::kOps,
     .topic = Topic::kForeach},
    {.id = "thin-recording",
     .check = CheckThinRecording,
     .change = "record it again with what the evidence names",
     .bound = "",
     .assumption = "",
     .command = "-c kernel,op,shape,reason",
     .view = "kernels",
     .can_look = HasRun,
     .lack = MissingFact::kKernels},
};

}  // namespace

std::string_view SeverityWord(Severity severity) {
  switch (severity) {
    case Severity::kHigh:
      return "high";
    case Severity::kMedium:
      return "medium";
    case Severity::kLow:
      return "low";
    case Severity::kInfo:
      break;
  }
  return "info";
}

bool Rule::is_to_roof() const { return bound == kRoofline; }
bool Rule::by_roofs() const { return is_to_roof() || bound == kRoofRatio; }

std::span<const Rule> Rules() { return kAdviceRules; }

}  // namespace oplens::prof::advice

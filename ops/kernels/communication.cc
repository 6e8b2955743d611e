#include "ops/kernels/communication.h"

#include <array>
#include <iterator>
#include <string>
#include <vector>

#include "base/ascii.h"
#include "ops/kernels/function_name.h"
#include "ops/kernels/lazy_pattern.h"
#include "ops/kernels/word_match.h"

namespace oplens::ops {
namespace {

enum class Answer : uint8_t {
  kNone,    ///< Not communication.
  kByVerb,  ///< Communication; the first verb in the name decides, otherwise kOther.
  kSendRecv,
  kAllToAll,
  kAllReduce,
  kAllGather,
  kReduceScatter,
  kBarrier,
};

struct CommunicationRule {
  std::string_view words;  ///< A WordPattern: the pattern matches no lower-case name without them.
  const char* pattern;     ///< Matched against the function with namespaces, without arguments.
  Answer answer;
};

// A word starts where no lower-case letter precedes: "small_reduce" is not "all_reduce".
#define OPLENS_WORD "(?:^|[^a-z])"

// The first match decides: libraries, then names that only look like communication, then words in
// the kernel names of many engines.
constexpr CommunicationRule kCommunicationRules[] = {
    // Only compute where tokens go and their order on one GPU: DeepEP's layout, the maps of the
    // hybrid kernels, the indices of TensorRT-LLM's exchanges.
    {"layout", "(?:^|::)(?:deep_ep|dpsk::ep|ep)::(?:\\w+::)*layout::|(?:^|::)deep_ep::.*layout",
     Answer::kNone},
    {"hybrid_ep|hybridep",
     "(?:^|::)(?:hybrid_ep|hybridep)::.*(?:scan|permute|preprocess|routing_map|_to_sparse|"
     "sparse_to_)",
     Answer::kNone},
    {"sendrecv", "(?:compute|inplace)SendRecv\\w*Kernel", Answer::kNone},
    // NCCL and RCCL: ncclDevKernel_AllReduce_Sum_f32_RING_LL, ncclSymkDevKernel_AllGather_LL,
    // ncclAllReduceRingLLKernel_sum_f32 (before 2.8), ncclDevKernel_Generic_1 (RCCL). Kernels on
    // the device API have names of their own.
    {"nccl", "(?:^|::)nccl\\w*[Kk]ernel", Answer::kByVerb},
    {"rccl", "(?:^|::)rccl", Answer::kByVerb},
    {"msccl", "(?:^|::)msccl", Answer::kByVerb},
    {"ubx_kernel", "(?:^|::)ubx_kernel_(?:a2a|alltoall|combine|dispatch)", Answer::kAllToAll},
    {"ubx_kernel", "(?:^|::)ubx_kernel_\\w*(?:all|reduce|barrier)", Answer::kByVerb},
    {"kerneluserwindow", "(?:^|::)(?:reshard|directReshard)KernelUserWindow", Answer::kByVerb},
    {"shmem", "(?:^|::)_?(?:nv|roc)shmem", Answer::kByVerb},
    {"shmem", "(?:^|::)(?:mori_shmem_|_shmem_)", Answer::kByVerb},
    {"_on_stream_kernel",
     "^(?:barrier|sync|rdxn|reduce|reducescatter|alltoall|fcollect|broadcast)\\w*_on_stream_kernel",
     Answer::kByVerb},  // NVSHMEM
    {"ccl", "(?i)oneccl|(?:^|::)ccl(?:::|_)", Answer::kByVerb},
    {"hccl|hcom_", "(?i)(?:^|::)(?:hccl|hcom_)", Answer::kByVerb},
    // DeepEP, under any build name, and its derivatives
    {"deep_ep|dpsk::ep|hybrid_ep|internode|intranode",
     "(?:^|::)(?:deep_ep|dpsk::ep|hybrid_ep|(?:inter|intra)node(?:_ll)?)::.*(?:dispatch|combine|"
     "notify)",
     Answer::kAllToAll},
    {"deep_ep|dpsk::ep|hybrid_ep|internode|intranode",
     "(?:^|::)(?:deep_ep|dpsk::ep|hybrid_ep|(?:inter|intra)node(?:_ll)?)::", Answer::kByVerb},
    {"epdispatch|epcombine", "(?:^|::)(?:mori::.*)?Ep(?:Dispatch|Combine)[A-Z]",
     Answer::kAllToAll},  // ROCm
    {"mori::collective", "(?:^|::)mori::collective::", Answer::kByVerb},
    {"oneshotbroadcastsdma|fusedring", "^OneShotBroadcastSdma|^FusedRing(?:Local|Remote)Gather",
     Answer::kByVerb},
    // Perplexity
    {"dispatchkernel|combinekernel|a2a_",
     "^(?:_::)?(?:dispatch|combine)Kernel$|^(?:_::)?a2a_(?:dispatch|combine)_(?:send|recv)_kernel$",
     Answer::kAllToAll},
    // vLLM, SGLang, AITER
    {"cross_device_reduce_", "(?:^|::)cross_device_reduce_[12]stage", Answer::kAllReduce},
    {"quickreduce|allreduce_prototype", "(?:^|::)quickreduce::|(?:^|::)allreduce_prototype",
     Answer::kAllReduce},
    {"aiter::ar_", "(?:^|::)aiter::ar_(?:ll_)?gfx", Answer::kAllReduce},
    {"aiter::ag_", "(?:^|::)aiter::ag_gfx", Answer::kAllGather},
    {"aiter::rs_", "(?:^|::)aiter::rs_gfx", Answer::kReduceScatter},
    // TensorRT-LLM, FlashInfer, Transformer Engine
    {"a2a", "(?:^|::)moe_?[aA]2[aA]_?(?:[dD]ispatch|[cC]ombine|[pP]repare)", Answer::kAllToAll},
    {"ulysses_a2a", "(?:^|::)ulysses_a2a", Answer::kAllToAll},
    {"pcie_ipc", "(?:^|::)pcie_ipc::", Answer::kAllReduce},
    {"userbuffers", "(?:^|::)userbuffers_fp16_sum\\w*_rs(?:_|$)", Answer::kReduceScatter},
    {"userbuffers", "(?:^|::)userbuffers_fp16_sum\\w*_ag(?:_|$)", Answer::kAllGather},
    {"userbuffers", "(?:^|::)userbuffers_fp16_sum", Answer::kAllReduce},
    {"userbuffers", "(?:^|::)kuserbuffers_(?:push|pull)", Answer::kSendRecv},
    {"userbuffers", "(?:^|::)k?userbuffers_", Answer::kByVerb},
    // PyTorch's symmetric memory, NVIDIA's apex
    {"symmetric_memory", "(?:^|::)symmetric_memory::.*(?:put|wait)_signal", Answer::kSendRecv},
    {"symmetric_memory", "(?:^|::)symmetric_memory::.*barrier", Answer::kBarrier},
    {"multimem_", "(?:^|::)multimem_", Answer::kByVerb},
    {"exchangesplitandoffset", "(?:^|::)exchangeSplitAndOffset", Answer::kAllToAll},
    {"push_pull_halos", "(?:^|::)push_pull_halos", Answer::kSendRecv},
    // Matrix products fused with a collective, names that a compiler derives from the surrounding
    // ops ("triton_poi_fused_all_gather_into_tensor_wait_tensor_3"), sums within a GPU
    {"^triton_", "^triton_(?:poi|red|per|tem|for|mm)_", Answer::kNone},
    {"gemm|matmul", "(?i)gemm|matmul", Answer::kNone},
    {"allreduce|all_reduce|allgather|all_gather",
     "(?i)(?:thread|warp|wave|block|cta)_?all_?(?:reduce|gather)", Answer::kNone},
    {"reduce_dim|reducedim", OPLENS_WORD "all_?reduce_dims?(?:_|$)", Answer::kNone},
    // Fused and custom collectives: oneShotAllReduceKernel,
    // allreduce_fusion_kernel_oneshot_lamport, multimem_all_reduce_kernel, moeAllToAllKernel,
    // reduce_scatter_cross_device_store
    {"allreduce|all_reduce", OPLENS_WORD "all_?[Rr]educe|All_?[Rr]educe", Answer::kAllReduce},
    {"reducescatter|reduce_scatter", OPLENS_WORD "reduce_?[Ss]catter|Reduce_?[Ss]catter",
     Answer::kReduceScatter},
    {"allgather|all_gather", OPLENS_WORD "all_?[Gg]ather|All_?[Gg]ather", Answer::kAllGather},
    {"allto|all_to|all2|all_2", OPLENS_WORD "all_?(?:[Tt]o|2)_?[Aa]ll|All_?(?:[Tt]o|2)_?[Aa]ll",
     Answer::kAllToAll},
    {"sendrecv|send_recv", OPLENS_WORD "send_?[Rr]ecv|Send_?[Rr]ecv", Answer::kSendRecv},
};

#undef OPLENS_WORD

struct Verb {
  const char* pattern;
  CommunicationKind kind;
};

constexpr Verb kVerbs[] = {
    {"(?i)all_?reduce|rdxn", CommunicationKind::kAllReduce},
    {"(?i)reduce_?scatter", CommunicationKind::kReduceScatter},
    {"(?i)all_?gather|fcollect", CommunicationKind::kAllGather},
    {"(?i)all_?(?:to|2)_?all", CommunicationKind::kAllToAll},
    {"(?i)send|recv|receive|put|get", CommunicationKind::kSendRecv},
    {"(?i)broad_?cast", CommunicationKind::kBroadcast},
    {"(?i)ring\\w*gather", CommunicationKind::kAllGather},
    {"(?i)barrier|sync", CommunicationKind::kBarrier},
    {"(?i)reduce", CommunicationKind::kReduce},
};

CommunicationKind KindByVerb(std::string_view function) {
  static std::array<LazyPattern, std::size(kVerbs)> compiled;
  for (size_t i = 0; i < std::size(kVerbs); ++i) {
    if (compiled[i].Matches(kVerbs[i].pattern, function)) return kVerbs[i].kind;
  }
  return CommunicationKind::kOther;
}

std::vector<WordPattern> RuleWords() {
  std::vector<WordPattern> words;
  for (const CommunicationRule& rule : kCommunicationRules) words.emplace_back(rule.words);
  return words;
}

std::optional<CommunicationKind> KindOf(Answer answer, std::string_view function) {
  switch (answer) {
    case Answer::kNone:
      return std::nullopt;
    case Answer::kByVerb:
      return KindByVerb(function);
    case Answer::kSendRecv:
      return CommunicationKind::kSendRecv;
    case Answer::kAllToAll:
      return CommunicationKind::kAllToAll;
    case Answer::kAllReduce:
      return CommunicationKind::kAllReduce;
    case Answer::kAllGather:
      return CommunicationKind::kAllGather;
    case Answer::kReduceScatter:
      return CommunicationKind::kReduceScatter;
    case Answer::kBarrier:
      return CommunicationKind::kBarrier;
  }
  return std::nullopt;
}

}  // namespace

std::string_view CommunicationWord(CommunicationKind kind) {
  constexpr std::string_view kWords[] = {"all_reduce", "all_gather", "reduce_scatter",
                                         "all_to_all", "send_recv",  "broadcast",
                                         "reduce",     "barrier",    "other"};
  return kWords[static_cast<size_t>(kind)];
}

std::optional<CommunicationKind> CommunicationKindOf(std::string_view kernel_name) {
  static const auto* const words_of = new std::vector<WordPattern>(RuleWords());
  static std::array<LazyPattern, std::size(kCommunicationRules)> compiled;
  const std::string function = FunctionOf(kernel_name);
  const WordText words(ToLowerText(function));
  for (size_t i = 0; i < std::size(kCommunicationRules); ++i) {
    const CommunicationRule& rule = kCommunicationRules[i];
    if ((*words_of)[i].Matches(words) && compiled[i].Matches(rule.pattern, function)) {
      return KindOf(rule.answer, function);
    }
  }
  return std::nullopt;
}

bool IsCommunicationRange(std::string_view name) {
  static LazyPattern compiled;
  return compiled.Matches(
      "^(?:_?c10d(?:_functional)?::|record_param_comms\\b|(?:nccl|gloo|ucc|mpi|xccl|hccl):[^:])",
      name);
}

bool IsTensorKernel(std::string_view kernel_name) {
  static LazyPattern compiled;
  return compiled.Matches(
      "(?:^|[ (:<])at::native::|_ZN2at6native|^triton_(?:poi|red|per|tem|for|mm)_", kernel_name);
}

}  // namespace oplens::ops

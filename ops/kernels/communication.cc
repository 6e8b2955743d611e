#include "ops/kernels/communication.h"

#include <re2/re2.h>

#include <iterator>
#include <memory>
#include <string>
#include <vector>

#include "ops/kernels/function_name.h"

namespace oplens::ops {
namespace {

/// What a rule answers.
enum class Answer : uint8_t {
  kNone,    ///< No communication.
  kByVerb,  ///< Communication; the first verb of its name says which, else another kind.
  kSendRecv,
  kAllToAll,
  kAllReduce,
  kAllGather,
  kReduceScatter,
  kBarrier,
};

struct CommunicationRule {
  std::string_view pattern;  ///< Of the function with its namespaces, without arguments.
  Answer answer;
};

// A word begins where no small letter is before it: "small_reduce" is no "all_reduce".
#define OPLENS_WORD "(?:^|[^a-z])"

// The first that matches counts. Libraries, then names that only look like communication, then
// words that stand in the names of many engines' kernels.
constexpr CommunicationRule kCommunicationRules[] = {
    // Where tokens go, and their order on one GPU, is computed: DeepEP's layout, the maps of the
    // hybrid kernels, the indices of TensorRT-LLM's exchanges.
    {"(?:^|::)(?:deep_ep|dpsk::ep|ep)::(?:\\w+::)*layout::|(?:^|::)deep_ep::.*layout",
     Answer::kNone},
    {"(?:^|::)(?:hybrid_ep|hybridep)::.*(?:scan|permute|preprocess|routing_map|_to_sparse|"
     "sparse_to_)",
     Answer::kNone},
    {"(?:compute|inplace)SendRecv\\w*Kernel", Answer::kNone},
    // NCCL and RCCL: ncclDevKernel_AllReduce_Sum_f32_RING_LL, ncclSymkDevKernel_AllGather_LL,
    // ncclAllReduceRingLLKernel_sum_f32 (before 2.8), ncclDevKernel_Generic_1 (RCCL). Their parts
    // on the device API have names of their own.
    {"(?:^|::)nccl\\w*[Kk]ernel", Answer::kByVerb},
    {"(?:^|::)rccl", Answer::kByVerb},
    {"(?:^|::)msccl", Answer::kByVerb},
    {"(?:^|::)ubx_kernel_(?:a2a|alltoall|combine|dispatch)", Answer::kAllToAll},
    {"(?:^|::)ubx_kernel_\\w*(?:all|reduce|barrier)", Answer::kByVerb},
    {"(?:^|::)(?:reshard|directReshard)KernelUserWindow", Answer::kByVerb},
    {"(?:^|::)_?(?:nv|roc)shmem", Answer::kByVerb},
    {"(?:^|::)(?:mori_shmem_|_shmem_)", Answer::kByVerb},
    {"^(?:barrier|sync|rdxn|reduce|reducescatter|alltoall|fcollect|broadcast)\\w*_on_stream_kernel",
     Answer::kByVerb},  // Of NVSHMEM.
    {"(?i)oneccl|(?:^|::)ccl(?:::|_)", Answer::kByVerb},
    {"(?i)(?:^|::)(?:hccl|hcom_)", Answer::kByVerb},
    // DeepEP under whatever name it was built, and what is made after it.
    {"(?:^|::)(?:deep_ep|dpsk::ep|hybrid_ep|(?:inter|intra)node(?:_ll)?)::.*(?:dispatch|combine|"
     "notify)",
     Answer::kAllToAll},
    {"(?:^|::)(?:deep_ep|dpsk::ep|hybrid_ep|(?:inter|intra)node(?:_ll)?)::", Answer::kByVerb},
    {"(?:^|::)(?:mori::.*)?Ep(?:Dispatch|Combine)[A-Z]", Answer::kAllToAll},  // Of ROCm.
    {"(?:^|::)mori::collective::", Answer::kByVerb},
    {"^OneShotBroadcastSdma|^FusedRing(?:Local|Remote)Gather", Answer::kByVerb},
    // Perplexity's.
    {"^(?:_::)?(?:dispatch|combine)Kernel$|^(?:_::)?a2a_(?:dispatch|combine)_(?:send|recv)_kernel$",
     Answer::kAllToAll},
    // vLLM, SGLang, AITER.
    {"(?:^|::)cross_device_reduce_[12]stage", Answer::kAllReduce},
    {"(?:^|::)quickreduce::|(?:^|::)allreduce_prototype", Answer::kAllReduce},
    {"(?:^|::)aiter::ar_(?:ll_)?gfx", Answer::kAllReduce},
    {"(?:^|::)aiter::ag_gfx", Answer::kAllGather},
    {"(?:^|::)aiter::rs_gfx", Answer::kReduceScatter},
    // TensorRT-LLM, FlashInfer and Transformer Engine.
    {"(?:^|::)moe_?[aA]2[aA]_?(?:[dD]ispatch|[cC]ombine|[pP]repare)", Answer::kAllToAll},
    {"(?:^|::)ulysses_a2a", Answer::kAllToAll},
    {"(?:^|::)pcie_ipc::", Answer::kAllReduce},
    {"(?:^|::)userbuffers_fp16_sum\\w*_rs(?:_|$)", Answer::kReduceScatter},
    {"(?:^|::)userbuffers_fp16_sum\\w*_ag(?:_|$)", Answer::kAllGather},
    {"(?:^|::)userbuffers_fp16_sum", Answer::kAllReduce},
    {"(?:^|::)kuserbuffers_(?:push|pull)", Answer::kSendRecv},
    {"(?:^|::)k?userbuffers_", Answer::kByVerb},
    // PyTorch's symmetric memory, NVIDIA's apex.
    {"(?:^|::)symmetric_memory::.*(?:put|wait)_signal", Answer::kSendRecv},
    {"(?:^|::)symmetric_memory::.*barrier", Answer::kBarrier},
    {"(?:^|::)multimem_", Answer::kByVerb},
    {"(?:^|::)exchangeSplitAndOffset", Answer::kAllToAll},
    {"(?:^|::)push_pull_halos", Answer::kSendRecv},
    // Products of matrices that are fused with a collective, names that a compiler makes of the ops
    // around ("triton_poi_fused_all_gather_into_tensor_wait_tensor_3"), sums within a GPU.
    {"^triton_(?:poi|red|per|tem|for|mm)_", Answer::kNone},
    {"(?i)gemm|matmul", Answer::kNone},
    {"(?i)(?:thread|warp|wave|block|cta)_?all_?(?:reduce|gather)", Answer::kNone},
    {OPLENS_WORD "all_?reduce_dims?(?:_|$)", Answer::kNone},
    // Fused and custom collectives: oneShotAllReduceKernel,
    // allreduce_fusion_kernel_oneshot_lamport,
    // multimem_all_reduce_kernel, moeAllToAllKernel, reduce_scatter_cross_device_store.
    {OPLENS_WORD "all_?[Rr]educe|All_?[Rr]educe", Answer::kAllReduce},
    {OPLENS_WORD "reduce_?[Ss]catter|Reduce_?[Ss]catter", Answer::kReduceScatter},
    {OPLENS_WORD "all_?[Gg]ather|All_?[Gg]ather", Answer::kAllGather},
    {OPLENS_WORD "all_?(?:[Tt]o|2)_?[Aa]ll|All_?(?:[Tt]o|2)_?[Aa]ll", Answer::kAllToAll},
    {OPLENS_WORD "send_?[Rr]ecv|Send_?[Rr]ecv", Answer::kSendRecv},
};

#undef OPLENS_WORD

struct Verb {
  std::string_view pattern;
  CommunicationKind kind;
};

constexpr Verb kVerbs[] = {
    {"all_?reduce|rdxn", CommunicationKind::kAllReduce},
    {"reduce_?scatter", CommunicationKind::kReduceScatter},
    {"all_?gather|fcollect", CommunicationKind::kAllGather},
    {"all_?(?:to|2)_?all", CommunicationKind::kAllToAll},
    {"send|recv|receive|put|get", CommunicationKind::kSendRecv},
    {"broad_?cast", CommunicationKind::kBroadcast},
    {"ring\\w*gather", CommunicationKind::kAllGather},
    {"barrier|sync", CommunicationKind::kBarrier},
    {"reduce", CommunicationKind::kReduce},
};

bool Matches(std::string_view text, const re2::RE2& pattern) {
  return re2::RE2::PartialMatch(re2::StringPiece(text.data(), text.size()), pattern);
}

using Patterns = std::vector<std::unique_ptr<re2::RE2>>;

template <typename Entries>
Patterns Compile(const Entries& entries, std::string_view prefix) {
  Patterns patterns;
  for (const auto& entry : entries) {
    patterns.push_back(
        std::make_unique<re2::RE2>(std::string(prefix) + std::string(entry.pattern)));
  }
  return patterns;
}

/// Matches what any rule that answers communication does: most names are settled by one search.
std::string AnyRule() {
  std::string all;
  for (const CommunicationRule& rule : kCommunicationRules) {
    if (rule.answer == Answer::kNone) continue;
    if (!all.empty()) all += '|';
    all.append("(?:").append(rule.pattern).append(")");
  }
  return all;
}

CommunicationKind KindByVerb(std::string_view function) {
  static const auto* const verbs = new Patterns(Compile(kVerbs, "(?i)"));
  for (size_t i = 0; i < std::size(kVerbs); ++i) {
    if (Matches(function, *(*verbs)[i])) return kVerbs[i].kind;
  }
  return CommunicationKind::kOther;
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
  static const auto* const any = new re2::RE2(AnyRule());
  static const auto* const rules = new Patterns(Compile(kCommunicationRules, ""));
  const std::string function = FunctionOf(kernel_name);
  if (!Matches(function, *any)) return std::nullopt;
  for (size_t i = 0; i < std::size(kCommunicationRules); ++i) {
    if (Matches(function, *(*rules)[i])) return KindOf(kCommunicationRules[i].answer, function);
  }
  return std::nullopt;
}

bool IsCommunicationRange(std::string_view name) {
  static const auto* const rule = new re2::RE2(
      "^(?:_?c10d(?:_functional)?::|record_param_comms\\b|(?:nccl|gloo|ucc|mpi|xccl|hccl):[^:])");
  return Matches(name, *rule);
}

bool IsTensorKernel(std::string_view kernel_name) {
  static const auto* const rule =
      new re2::RE2("(?:^|[ (:<])at::native::|_ZN2at6native|^triton_(?:poi|red|per|tem|for|mm)_");
  return Matches(kernel_name, *rule);
}

}  // namespace oplens::ops

#include "ops/kernels/communication.h"

#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <string_view>

namespace oplens::ops::communication_test {
namespace {

using Kind = CommunicationKind;

struct Case {
  std::string_view name;
  std::optional<Kind> kind;  ///< nullopt: no communication.
};

std::string WordOf(std::optional<Kind> kind) {
  return kind ? std::string(CommunicationWord(*kind)) : "none";
}

// Names as profilers write them; the long ones are cut behind what decides.
constexpr Case kCases[] = {
    // NCCL of several ages, and RCCL.
    {"ncclDevKernel_AllReduce_Sum_f32_RING_LL(ncclDevKernelArgsStorage<4096ul>)", Kind::kAllReduce},
    {"ncclDevKernel_AllGather_RING_LL(ncclDevComm*, unsigned long, ncclWork*)", Kind::kAllGather},
    {"ncclDevKernel_ReduceScatter_Sum_bf16_RING_LL(ncclDevKernelArgsStorage<4096ul>)",
     Kind::kReduceScatter},
    {"ncclDevKernel_SendRecv(ncclDevKernelArgsStorage<4096ul>)", Kind::kSendRecv},
    {"ncclDevKernel_Broadcast_RING_LL(ncclDevKernelArgsStorage<4096ul>)", Kind::kBroadcast},
    {"ncclDevKernel_Reduce_Sum_f32_RING_LL(ncclDevKernelArgsStorage<4096ul>)", Kind::kReduce},
    {"ncclSymkDevKernel_AllReduce_RSxLD_AGxST_sum_bf16(ncclSymkDevWorkArgs4K)", Kind::kAllReduce},
    {"ncclDevKernel_Generic_1(ncclDevKernelArgsStorage<4096ul>)", Kind::kOther},
    {"ncclKernel_AllReduce", Kind::kAllReduce},
    {"ncclKernel_AllReduce_RING_LL_Sum_float(ncclWorkElem)", Kind::kAllReduce},
    {"ncclKernel_SendRecv_RING_SIMPLE_Sum_int8_t(ncclDevComm*, unsigned long, ncclWork*)",
     Kind::kSendRecv},
    {"ncclAllReduceRingLLKernel_sum_f32(ncclColl)", Kind::kAllReduce},
    {"ncclReduceScatterRingLLKernel_sum_f32(ncclColl)", Kind::kReduceScatter},
    {"ncclSendRecvKernel_copy_i8(ncclColl)", Kind::kSendRecv},
    {"_Z38ncclDevKernel_AllReduce_Sum_f32_RING_LL24ncclDevKernelArgsStorageILm4096EE",
     Kind::kAllReduce},
    {"rccl_main_kernel", Kind::kOther},
    // Other libraries.
    {"mscclKernel_Sum_half_Simple_LL_0(ncclDevComm*, mscclAlgo*)", Kind::kOther},
    {"void mscclpp::allreduce7<__half>(__half*, __half*)", Kind::kAllReduce},
    {"void nvshmemi_alltoall_on_stream_kernel<int>(int)", Kind::kAllToAll},
    {"void barrier_on_stream_kernel_warp<0>(int)", Kind::kBarrier},
    {"void rdxn_on_stream_kernel<float, (rdxn_ops)4>(int, float*)", Kind::kAllReduce},
    {"oneccl_allreduce_small", Kind::kAllReduce},
    {"hcom_allReduce__604_0", Kind::kAllReduce},
    {"void deep_ep::intranode::dispatch<4, 768>(int4*, float*)", Kind::kAllToAll},
    {"void deep_ep::internode_ll::combine<true, 8, 7168>(void*, void*)", Kind::kAllToAll},
    {"void deep_ep::intranode::notify_dispatch<4>(int const*)", Kind::kAllToAll},
    {"void deep_ep::intranode::barrier<8>(int**, int)", Kind::kBarrier},
    {"void deep_ep::layout::get_dispatch_layout<256, 4, 2>(long const*)", std::nullopt},
    {"void mori::moe::EpDispatchIntraNodeKernel<__hip_bfloat16>(mori::moe::EpArgs<int>)",
     Kind::kAllToAll},
    // Their names in a public trace of DeepSeek-V3, where the namespace is another.
    {"void dpsk::ep::internode::dispatch<false, 4, false, 8192>(int4*, float*)", Kind::kAllToAll},
    {"void dpsk::ep::internode::combine<__nv_bfloat16, 8>(int4*, float*)", Kind::kAllToAll},
    {"void dpsk::ep::internode::notify_dispatch<false, 8>(int const*)", Kind::kAllToAll},
    {"void dpsk::ep::internode::cached_notify<false, 8>(int, int)", Kind::kAllToAll},
    {"void dpsk::ep::layout::get_dispatch_layout<256>(long const*)", std::nullopt},
    {"void deep_ep::elastic::dispatch_impl<8>(int)", Kind::kAllToAll},
    {"void deep_ep::elastic::combine_reduce_epilogue_impl<8>(int)", Kind::kAllToAll},
    {"void deep_ep::elastic::pp_send_impl<8>(int)", Kind::kSendRecv},
    {"void deep_ep::elastic::barrier_impl<8>(int)", Kind::kBarrier},
    {"void deep_ep::internode_ll::clean_low_latency_buffer<256>(long*)", Kind::kOther},
    {"void uccl::internode_ll::dispatch<true>(void*)", Kind::kAllToAll},
    {"void nccl_ep::internode_ll::combine<8>(void*)", Kind::kAllToAll},
    {"hybrid_ep::dispatch_kernel(int)", Kind::kAllToAll},
    {"hybrid_ep::device_sync_kernel(unsigned int*)", Kind::kBarrier},
    {"hybrid_ep::scan<128>(int)", std::nullopt},
    {"nccl_ep::hybridep::convert_topk_to_routing_map_kernel(int)", std::nullopt},
    {"void (anonymous namespace)::dispatchKernel<8, true>(int*)", Kind::kAllToAll},
    {"void (anonymous namespace)::combineKernel<16, float>(int*)", Kind::kAllToAll},
    {"void a2a_dispatch_send_kernel<true, 8>(int)", Kind::kAllToAll},
    {"a2a_combine_recv_kernel(int)", Kind::kAllToAll},
    {"EpDispatchInterNodeV1Kernel_bf16(mori::moe::EpArgs)", Kind::kAllToAll},
    {"mori::moe::ConvertDispatchOutputKernel<float>(int)", std::nullopt},
    {"void mori::collective::ReduceScatterP2pKernel<float>(int)", Kind::kReduceScatter},
    {"FusedRingRemoteGatherKernel_u32(int)", Kind::kAllGather},
    {"OneShotBroadcastSdmaSubGroupKernel_u32(int)", Kind::kBroadcast},
    {"mori_shmem_barrier_all_block(int)", Kind::kBarrier},
    {"rocshmem_put_kernel(int)", Kind::kSendRecv},
    {"ubx_kernel_a2av_token_bf16_mxfp8(int)", Kind::kAllToAll},
    {"ubx_kernel_combine_push3_phase1_write(int)", Kind::kAllToAll},
    {"ubx_kernel_allreduce_2shot_mc_lamport(int)", Kind::kAllReduce},
    {"ubx_kernel_barrier(int)", Kind::kBarrier},
    {"ubx_kernel_peer_ptr_dump(int)", std::nullopt},
    {"void lsa_simple_alltoall_kernel<float>(int)", Kind::kAllToAll},
    {"void oneshot_mc_allreduce_kernel<float>(int)", Kind::kAllReduce},
    {"reshardKernelUserWindow(int)", Kind::kOther},
    {"void mscclpp::collective::allreduceNvlsPacket<float>(int)", Kind::kAllReduce},
    {"void mscclpp::collective::allgatherFullmesh2<true>(int)", Kind::kAllGather},
    {"void mscclpp::executionKernel<float>(int)", Kind::kOther},
    {"void aiter::ar_ll_gfx1250<__hip_bfloat16>(int)", Kind::kAllReduce},
    {"void aiter::ag_gfx1250_naive_vec<float>(int)", Kind::kAllGather},
    {"void aiter::rs_gfx1250_split_lastdim<float>(int)", Kind::kReduceScatter},
    {"void aiter::qknorm_allreduce_fusion_kernel_2stage<float>(int)", Kind::kAllReduce},
    {"void aiter::local_device_load_rmsnorm<float>(int)", std::nullopt},
    {"void sglang::allreduce_LL_1node<__half>(int)", Kind::kAllReduce},
    {"void tensorrt_llm::kernels::lowPrecisionTwoShotAllReduceKernel<8>(int)", Kind::kAllReduce},
    {"void flashinfer::trtllm_alltoall::computeSendRecvIndicesKernel(int)", std::nullopt},
    {"void flashinfer::comm::ulysses::ulysses_a2a_kernel<float>(int)", Kind::kAllToAll},
    {"void flashinfer::comm::pcie_ipc::push_oneshot_param_kernel<float>(int)", Kind::kAllReduce},
    {"void flashinfer::mixed_comm::reducescatter_kernel<float>(int)", Kind::kReduceScatter},
    {"void (anonymous namespace)::multimem_one_shot_reduce_kernel<c10::BFloat16, 16>(int)",
     Kind::kReduce},
    {"void exchangeSplitAndOffset_2d<true>(long*)", Kind::kAllToAll},
    {"void allToAllV_2d(void*, void*, long*)", Kind::kAllToAll},
    // Of inference engines.
    {"void vllm::cross_device_reduce_1stage<__half, 2>(vllm::RankData*, vllm::RankSignals)",
     Kind::kAllReduce},
    {"void sglang::cross_device_reduce_2stage<__nv_bfloat16, 8>(sglang::RankData*)",
     Kind::kAllReduce},
    {"void aiter::cross_device_reduce_1stage_naive<float, 4>(aiter::RankData*)", Kind::kAllReduce},
    {"void aiter::reduce_scatter_cross_device_store<__hip_bfloat16, 8>(aiter::RankData*)",
     Kind::kReduceScatter},
    {"void quickreduce::allreduce_prototype_twoshot<quickreduce::AllReduceTwoshot<__half>>(int)",
     Kind::kAllReduce},
    {"void tensorrt_llm::kernels::oneShotAllReduceKernel<__half, 8, false, true>(int)",
     Kind::kAllReduce},
    {"void tensorrt_llm::kernels::twoShotAllReduceKernel<__nv_bfloat16, 4>(int)", Kind::kAllReduce},
    {"void tensorrt_llm::kernels::ar_fusion::allreduce_fusion_kernel_oneshot_lamport<1>(int)",
     Kind::kAllReduce},
    {"void tensorrt_llm::kernels::ar_fusion::moe::moereduce_allreduce_fusion_kernel<2>(int)",
     Kind::kAllReduce},
    {"void tensorrt_llm::kernels::moeAllToAllKernel<true>(int)", Kind::kAllToAll},
    {"void tensorrt_llm::kernels::moe_alltoall::moeA2ADispatchKernel<8>(int)", Kind::kAllToAll},
    {"void flashinfer::trtllm_allreduce_fusion::allreduce_fusion_kernel_oneshot_lamport<(int)4>()",
     Kind::kAllReduce},
    {"void flashinfer::trtllm_mnnvl_allreduce::twoshotAllreduceKernel<8>(int)", Kind::kAllReduce},
    {"userbuffers_fp16_sum_inplace_gpu_rr_rs_oop(int)", Kind::kReduceScatter},
    {"userbuffers_fp16_sum_inplace_gpu_rr_ag(int)", Kind::kAllGather},
    {"userbuffers_fp16_sum_inplace_gpu_mc(int)", Kind::kAllReduce},
    {"kuserbuffers_pushsend(int*)", Kind::kSendRecv},
    // PyTorch's symmetric memory; of the corpus the first.
    {"void (anonymous namespace)::multimem_all_reduce_kernel<c10::BFloat16, 16>(c10::BFloat16*, "
     "unsigned long, unsigned int**, unsigned long, unsigned long)",
     Kind::kAllReduce},
    {"void (anonymous namespace)::one_shot_all_reduce_kernel<c10::BFloat16, 16, 8>(int)",
     Kind::kAllReduce},
    {"void (anonymous namespace)::two_shot_all_reduce_kernel<float, 16, 8>(int)", Kind::kAllReduce},
    {"void <unnamed>::multimem_all_gather_kernel<16>(int)", Kind::kAllGather},
    {"void c10d::intra_node_comm::oneShotAllReduceKernel<8u, true>(int)", Kind::kAllReduce},
    {"c10d::symmetric_memory::barrier_kernel(unsigned int**, unsigned long)", Kind::kBarrier},
    {"c10d::symmetric_memory::put_signal_kernel(unsigned int**, int)", Kind::kSendRecv},

    {"void allToAllV<true>(void*, void*, long*)", Kind::kAllToAll},
    {"reduceScatterKernel(float*)", Kind::kReduceScatter},

    // Sums within a GPU.
    {"void at::native::reduce_kernel<512, 1, at::native::ReduceOp<float, at::native::func_wrapper_t"
     "<float, at::native::sum_functor<float, float, float>>>>(at::native::ReduceOp<float>)",
     std::nullopt},
    {"void cub::DeviceReduceByKeyKernel<cub::DispatchReduceByKey<long*, long*>>(long*)",
     std::nullopt},
    {"small_reduce_kernel", std::nullopt},
    {"void smallReduceKernel<4>(float*)", std::nullopt},
    {"parallel_reduce", std::nullopt},
    {"all_reduce_dim", std::nullopt},
    {"void warp_all_reduce<float>(float*)", std::nullopt},
    {"blockAllReduceSum(float*)", std::nullopt},
    {"void at::native::(anonymous namespace)::cunn_SoftMaxForward<4, float>(float*)", std::nullopt},
    // The word is of an argument of the template, or of the function.
    {"void at::native::elementwise_kernel<128, 2, at::native::gpu_kernel_impl<AllReduceFunctor>>()",
     std::nullopt},
    {"void copy_kernel<float>(AllReduceParams)", std::nullopt},
    // Indexing and copies.
    {"void at::native::_scatter_gather_elementwise_kernel<128, 8>(int)", std::nullopt},
    {"void at::native::vectorized_gather_kernel<16, long>(char*)", std::nullopt},
    {"at::native::scatter_reduce_two", std::nullopt},
    {"void splitKreduce_kernel<32, 16, int, float>(cublasSplitKParams<float>)", std::nullopt},
    {"void c10d::checkForNaN<float>(float*, unsigned long)", std::nullopt},
    // Products fused with a collective are products; compilers name all ops around.
    {"cutlass_gemm_all_reduce_sm90", std::nullopt},
    {"nvjet_allgather_matmul_tn", std::nullopt},
    {"triton_poi_fused_all_gather_into_tensor_wait_tensor_3", std::nullopt},
    {"triton_red_fused_add_all_reduce_mul_wait_tensor_12", std::nullopt},
    {"_combined_routing_compute", std::nullopt},
    {"void (anonymous namespace)::groupnorm_kernel_dispatch_down<__hip_bfloat16, 1024u>(int)",
     std::nullopt},
    {"void moe_sum_reduce_kernel<float>(float*)", std::nullopt},
    {"sgemm_32x32x32_NN", std::nullopt},
    {"Memcpy PtoP (Device -> Device)", std::nullopt},
    {"", std::nullopt},
    {"<<<((", std::nullopt},
};

TEST(CommunicationTest, KernelsByName) {
  for (const Case& example : kCases) {
    EXPECT_EQ(WordOf(CommunicationKindOf(example.name)), WordOf(example.kind)) << example.name;
    EXPECT_EQ(IsCommunicationKernel(example.name), example.kind.has_value()) << example.name;
  }
}

TEST(CommunicationTest, RangesOfCollectives) {
  for (const std::string_view name :
       {"c10d::allreduce_", "c10d::_allgather_base_", "record_param_comms", "nccl:all_reduce",
        "gloo:broadcast", "_c10d_functional::all_reduce", "c10d::send, seq = 12",
        "record_param_comms, op_id = 7"}) {
    EXPECT_TRUE(IsCommunicationRange(name)) << name;
  }
  for (const std::string_view name :
       {"aten::copy_", "DistributedDataParallel.forward", "record_param_comms_of_mine", "nccl",
        "my nccl:all_reduce", "symm_mem::fused_all_gather_matmul", "mpi::init", ""}) {
    EXPECT_FALSE(IsCommunicationRange(name)) << name;
  }
}

TEST(CommunicationTest, KernelsOfTensorsWhateverLaunchedThem) {
  EXPECT_TRUE(IsTensorKernel("void at::native::vectorized_elementwise_kernel<4, F>(int)"));
  EXPECT_TRUE(IsTensorKernel("_ZN2at6native29vectorized_elementwise_kernelILi4EEEvi"));
  EXPECT_TRUE(IsTensorKernel("triton_poi_fused_add_0"));
  EXPECT_FALSE(IsTensorKernel("vendor_exchange_kernel"));
}

}  // namespace
}  // namespace oplens::ops::communication_test

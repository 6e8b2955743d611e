#ifndef OPLENS_EXAMPLES_DEMO_KERNELS_H_
#define OPLENS_EXAMPLES_DEMO_KERNELS_H_

// Kernel names, mangled as a profiler stores them, of PyTorch 1.8 and cuBLAS on a V100.

namespace oplens::examples {

// Matrix products. s884 is Volta's Tensor Core instruction; sgemm does without.
inline constexpr char kTensorCoreGemmTn[] = "volta_fp16_s884gemm_fp16_128x128_ldg8_f2f_tn";
inline constexpr char kTensorCoreGemmNn[] = "volta_fp16_s884gemm_fp16_128x64_ldg8_f2f_nn";
inline constexpr char kTensorCoreGemmNt[] = "volta_fp16_s884gemm_fp16_64x64_ldg8_f2f_nt";
inline constexpr char kTensorCoreSlicedGemmTn[] =
    "volta_fp16_s884gemm_fp16_64x64_sliced1x2_ldg8_f2f_tn";
inline constexpr char kFloatGemmTn[] = "volta_sgemm_128x64_tn";
inline constexpr char kFloatGemmNn[] = "volta_sgemm_128x128_nn";
inline constexpr char kFloatGemmNt[] = "volta_sgemm_128x128_nt";
inline constexpr char kSplitKReduce[] =
    "_Z19splitKreduce_kernelI6__halfS0_fEv18cublasSplitKParamsIT1_EPKT_PKT0_PS7_PKS2_SC_S9_";

// Pointwise.
inline constexpr char kAddFloat[] =
    "_ZN2at6native29vectorized_elementwise_kernelILi4ENS0_10AddFunctorIfEENS_6detail5ArrayIPcLi3EEE"
    "EEviT0_T1_";
inline constexpr char kAddHalf[] =
    "_ZN2at6native29vectorized_elementwise_kernelILi4ENS0_10AddFunctorIN3c104HalfEEENS_6detail5Arra"
    "yIPcLi3EEEEEviT0_T1_";
inline constexpr char kMulScalarFloat[] =
    "_ZN2at6native29vectorized_elementwise_kernelILi4ENS0_16MulScalarFunctorIffEENS_6detail5ArrayIP"
    "cLi2EEEEEviT0_T1_";
inline constexpr char kMulScalarHalf[] =
    "_ZN2at6native29vectorized_elementwise_kernelILi4ENS0_16MulScalarFunctorIN3c104HalfEfEENS_6deta"
    "il5ArrayIPcLi2EEEEEviT0_T1_";
inline constexpr char kFillFloat[] =
    "_ZN2at6native29vectorized_elementwise_kernelILi4ENS0_11FillFunctorIfEENS_6detail5ArrayIPcLi1EE"
    "EEEviT0_T1_";
inline constexpr char kReluHalf[] =
    "_ZN2at6native29vectorized_elementwise_kernelILi4EZNS0_21threshold_kernel_implIN3c104HalfEEEvRN"
    "S_14TensorIteratorET_S7_EUlS4_S4_E_NS_6detail5ArrayIPcLi3EEEEEviT0_T1_";
inline constexpr char kCopyFloatToHalf[] =
    "_ZN2at6native29vectorized_elementwise_kernelILi4EZZNS0_21copy_device_to_deviceERNS_14TensorIte"
    "ratorEbENKUlvE_clEvEUlfE_NS_6detail5ArrayIPcLi2EEEEEviT0_T1_";
inline constexpr char kCopyHalf[] =
    "_ZN2at6native29vectorized_elementwise_kernelILi4EZZNS0_21copy_device_to_deviceERNS_14TensorIte"
    "ratorEbENKUlvE0_clEvEUlN3c104HalfEE_NS_6detail5ArrayIPcLi2EEEEEviT0_T1_";

// Dropout.
inline constexpr char kDropout[] =
    "_ZN2at6native12_GLOBAL__N_124fused_dropout_kernel_vecIN3c104HalfEfjLi1ELi4EEEvNS_4cuda6detail1"
    "0TensorInfoIT_T1_EESA_NS7_IhS9_EES9_T0_NS_15PhiloxCudaStateE";
inline constexpr char kDropoutBackward[] =
    "_ZN2at6native29vectorized_elementwise_kernelILi4EZNS0_12_GLOBAL__N_119masked_scale_kernelIN3c1"
    "04HalfEfEEvRNS_6TensorES6_S6_T0_EUlS5_hE_NS_6detail5ArrayIPcLi3EEEEEviS8_T1_";

// Softmax and loss.
inline constexpr char kSoftmax[] =
    "_ZN12_GLOBAL__N_120softmax_warp_forwardIN3c104HalfES2_fLi6ELb0EEEvPT0_PKT_iii";
inline constexpr char kSoftmaxBackward[] =
    "_ZN12_GLOBAL__N_121softmax_warp_backwardIN3c104HalfES2_fLi6ELb0EEEvPT0_PKT_S7_iii";
inline constexpr char kLogSoftmax[] =
    "_ZN2at6native12_GLOBAL__N_119cunn_SoftMaxForwardILi4EfffNS1_25LogSoftMaxForwardEpilogueEEEvPT2"
    "_PKT0_i";
inline constexpr char kLogSoftmaxBackward[] =
    "_ZN2at6native12_GLOBAL__N_120cunn_SoftMaxBackwardILi4EfffNS1_26LogSoftMaxBackwardEpilogueEEEvP"
    "T0_PKT2_S8_i";
inline constexpr char kNllLoss[] =
    "_Z42cunn_ClassNLLCriterion_updateOutput_kernelIffEvPT_S1_S1_PlS1_iiiil";
inline constexpr char kNllLossBackward[] =
    "_Z45cunn_ClassNLLCriterion_updateGradInput_kernelIfEvPT_S1_PlS1_S1_iiiil";

// Layer norm.
inline constexpr char kLayerNormMoments[] =
    "_ZN2at6native12_GLOBAL__N_124RowwiseMomentsCUDAKernelIfEEvlT_PKS3_PS3_S6_";
inline constexpr char kLayerNorm[] =
    "_ZN2at6native12_GLOBAL__N_126LayerNormForwardCUDAKernelIfEEvlPKT_S5_S5_S5_S5_PS3_";
inline constexpr char kLayerNormInternalGradients[] =
    "_ZN2at6native12_GLOBAL__N_134ComputeInternalGradientsCUDAKernelIfEEvlPKT_S5_S5_PS3_S6_";
inline constexpr char kLayerNormBackward[] =
    "_ZN2at6native12_GLOBAL__N_127LayerNormBackwardCUDAKernelIfEEvlPKT_S5_S5_S5_S5_S5_PS3_";
inline constexpr char kLayerNormGammaBeta[] =
    "_ZN2at6native12_GLOBAL__N_127GammaBetaBackwardCUDAKernelIfEEvllPKT_S5_S5_S5_PS3_S6_";

// Embedding, sums, communication.
inline constexpr char kEmbedding[] =
    "_ZN2at6native12_GLOBAL__N_121indexSelectLargeIndexIfljLi2ELi2ELin2ELb1EEEvNS_4cuda6detail10Ten"
    "sorInfoIT_T1_EES8_NS5_IT0_S7_EEiiS7_S7_l";
inline constexpr char kEmbeddingBackward[] =
    "_ZN2at6native12_GLOBAL__N_133embedding_backward_feature_kernelIffEEvPlPKT_PS4_ili";
inline constexpr char kSumHalf[] =
    "_ZN2at6native13reduce_kernelILi128ELi4ENS0_8ReduceOpIN3c104HalfENS0_14func_wrapper_tIS4_ZNS0_1"
    "5sum_kernel_cudaERNS_14TensorIteratorEEUlffE_EEjS4_Li4EEEEEvT1_";
inline constexpr char kSumFloat[] =
    "_ZN2at6native13reduce_kernelILi512ELi1ENS0_8ReduceOpIfNS0_14func_wrapper_tIfZNS0_15sum_kernel_"
    "cudaERNS_14TensorIteratorEEUlffE_EEjfLi4EEEEEvT1_";
inline constexpr char kAllReduce[] = "_Z33ncclAllReduceRingLLKernel_sum_f328ncclColl";

}  // namespace oplens::examples

#endif  // OPLENS_EXAMPLES_DEMO_KERNELS_H_

#include "parse/model/range_vocabulary.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <string_view>

#include "parse/model/vocabulary_ops.h"

namespace oplens {
namespace {

/// "op @ layer", "" if nothing is said.
std::string Said(std::string_view domain, std::string_view text) {
  const std::optional<FoundWords> found = WordsOfRange(domain, text);
  if (!found) return {};
  return found->words.op + " @ " + found->words.layer;
}

constexpr std::string_view kTensorRt = "TensorRT";
constexpr std::string_view kXla = "TSL";
constexpr std::string_view kTensorFlow = "tensorflow-core";
constexpr std::string_view kDefault;

TEST(RangeVocabularyTest, EachExampleIsRead) {
  for (const RangeVocabulary& vocabulary : RangeVocabularies()) {
    const std::optional<FoundWords> found = WordsOfRange(vocabulary.domain, vocabulary.example);
    ASSERT_TRUE(found) << vocabulary.product;
    EXPECT_EQ(found->vocabulary->product, vocabulary.product);
    EXPECT_FALSE(found->words.op.empty() && found->words.layer.empty()) << vocabulary.product;
    EXPECT_TRUE(HasVocabulary(vocabulary.domain));
    // The same text of another domain is somebody's own.
    if (!vocabulary.domain.empty()) {
      EXPECT_EQ(Said(kDefault, vocabulary.example), "");
      EXPECT_EQ(Said("mine", vocabulary.example), "");
    }
  }
  EXPECT_FALSE(HasVocabulary("NCCL"));
}

TEST(RangeVocabularyTest, TypesAreSortedAndDistinct) {
  const auto ops = VocabularyOps();
  for (size_t i = 1; i < ops.size(); ++i) EXPECT_LT(ops[i - 1].type, ops[i].type);
  for (const VocabularyOp& op : ops) EXPECT_EQ(FindVocabularyOp(op.type), &op);
  EXPECT_EQ(FindVocabularyOp("Conv_"), nullptr);
  EXPECT_EQ(FindVocabularyOp(""), nullptr);
}

TEST(RangeVocabularyTest, LayersOfTensorRt) {
  EXPECT_EQ(Said(kTensorRt, "/layer1/layer1.1/conv1/Conv + /layer1/layer1.1/relu/Relu"),
            "convolution+relu @ layer1.1.conv1");
  EXPECT_EQ(Said(kTensorRt,
                 "/blocks.0/blocks.0.0/Pad + /blocks.0/blocks.0.1/Conv + "
                 "/blocks.0/blocks.0.3/Relu"),
            "convolution+pad+relu @ blocks.0.1");
  EXPECT_EQ(Said(kTensorRt, "/blocks.0/blocks.0.19/fc/fc.0_1/Conv"),
            "convolution @ blocks.0.19.fc.0_1");
  EXPECT_EQ(Said(kTensorRt,
                 "PWN(PWN(/blocks.0/blocks.0.19/sigmoid/Sigmoid), "
                 "/blocks.0/blocks.0.19/Mul)"),
            "sigmoid+mul @ blocks.0.19.sigmoid");
  EXPECT_EQ(Said(kTensorRt, "/hm/hm.1/Conv + /hm/hm.2/Relu || /hm/hm.3/Conv + /hm/hm.4/Relu"),
            "convolution+relu @ hm.1");
  EXPECT_EQ(Said(kTensorRt, "Conv_0 + Relu_1"), "convolution+relu @ ");
  EXPECT_EQ(Said(kTensorRt,
                 "Conv_41 + PWN(Clip_589 + (Unnamed Layer* 16) [Shuffle], "
                 "PWN(PWN(PWN(Add_586, PWN(Clip_46)), Mul_47), Div_49))"),
            "convolution+clamp+add+mul+div @ ");
  EXPECT_EQ(Said(kTensorRt, "/Reshape_5"), "reshape @ ");
  EXPECT_EQ(Said(kTensorRt, "(Unnamed Layer* 0) [Convolution] + (Unnamed Layer* 1) [Activation]"),
            "convolution @ ");
  EXPECT_EQ(Said(kTensorRt, "(Unnamed Layer* 7) [Fully Connected]"), "mm @ ");
}

TEST(RangeVocabularyTest, LayersThatTensorRtAdds) {
  EXPECT_EQ(Said(kTensorRt,
                 "Reformatting CopyNode for Input Tensor 0 to "
                 "/blocks.1/blocks.1.20/conv1/Conv"),
            "copy @ blocks.1.20.conv1");
  EXPECT_EQ(Said(kTensorRt, "Reformatting CopyNode for Output Tensor 0 to out_orders"), "copy @ ");
  EXPECT_EQ(Said(kTensorRt, "Reformatting CopyNode for Input Tensor 0 to {ForeignNode[a...b]}"),
            "copy @ ");
  EXPECT_EQ(Said(kTensorRt, "/blocks.0/blocks.0.20/ReduceMean_output_0 copy"),
            "copy @ blocks.0.20");
  EXPECT_EQ(Said(kTensorRt, "Conv_41 input reformatter 0"), "copy @ ");
  EXPECT_EQ(Said(kTensorRt, "Conv_757 || Conv_635 output reformatter 0"), "copy @ ");
  EXPECT_EQ(Said(kTensorRt, "copied_squeeze_after_/head/MatMul"), "reshape @ head");
  EXPECT_EQ(Said(kTensorRt, "reshape_before_/head/MatMul"), "reshape @ head");
}

TEST(RangeVocabularyTest, NamesOfOtherFrontEndsOfTensorRt) {
  EXPECT_EQ(Said(kTensorRt,
                 "[CONVOLUTION]-[aten_ops.convolution.default]-[/features/0/convolution]"
                 " + [RELU]-[aten_ops.relu.default]-[/features/1/relu]"),
            "convolution+relu @ features.0");
  EXPECT_EQ(Said(kTensorRt,
                 "[SCALE]-[aten_ops._native_batch_norm_legit_no_training.default]-"
                 "[/bn/_native_batch_norm_legit_no_training]"),
            "batch_norm @ bn");
  EXPECT_EQ(Said(kTensorRt, "LLaMAForCausalLM/transformer/layers/0/attention/qkv/PLUGIN_V2_Gemm_0"),
            "mm @ LLaMAForCausalLM.transformer.layers.0.attention.qkv");
  EXPECT_EQ(
      Said(kTensorRt, "LLaMAForCausalLM/transformer/layers/0/attention/PLUGIN_V2_GPTAttention_0"),
      "scaled_dot_product_attention @ LLaMAForCausalLM.transformer.layers.0.attention");
  EXPECT_EQ(Said(kTensorRt, "model/conv1/Conv2D"), "convolution @ model.conv1");
}

TEST(RangeVocabularyTest, WhatTensorRtSaysOfNoLayer) {
  for (const std::string_view text : {"ExecutionContext::execute",
                                      "ExecutionContext::enqueue",
                                      "out_orders",
                                      "TensorRT",
                                      "{ForeignNode[out_masks.../ScatterND_21]}",
                                      "__myl_ResMulSum_myl0_12",
                                      "Conv",
                                      "Conv_",
                                      "",
                                      "PWN(",
                                      "PWN(PWN(PWN(",
                                      ")))",
                                      " + ",
                                      "_0",
                                      "(Unnamed Layer* ",
                                      "(Unnamed Layer* 3) [",
                                      "(Unnamed Layer* 3) [Nothing]",
                                      "[]-[]-[]",
                                      "[A]-[aten_ops.]-[]",
                                      "Reformatting CopyNode",
                                      "Reformatting CopyNode for nothing to Conv"}) {
    if (text == "Conv") {
      EXPECT_EQ(Said(kTensorRt, text), "convolution @ ");
    } else {
      EXPECT_EQ(Said(kTensorRt, text), "") << text;
    }
  }
}

TEST(RangeVocabularyTest, ThunksOfXla) {
  EXPECT_EQ(Said(kXla, "Thunk:#hlo_op=dot.12,hlo_module=jit_f#"), "mm @ ");
  EXPECT_EQ(Said(kXla, "Thunk:#hlo_op=dot.12,hlo_module=jit_f,program_id=3#"), "mm @ ");
  EXPECT_EQ(Said(kXla, "Thunk:#hlo_op=all-reduce-start.2,unique_hlo_op_id=7#"), "all_reduce @ ");
  EXPECT_EQ(Said(kXla, "Thunk:#hlo_op=loop_add_multiply_fusion.1#"), "add+mul @ ");
  EXPECT_EQ(Said(kXla, "Thunk:#hlo_op=wrapped_transpose#"), "permute @ ");
  EXPECT_EQ(Said(kXla, "Thunk:#hlo_op=gemm_fusion_dot.27#"), "mm @ ");
  EXPECT_EQ(Said(kXla,
                 "Thunk:#name=jit(f)/jit(main)/transpose(jvp(Model))/Dense_0/dot_general,"
                 "hlo_op=custom-call.4,unique_hlo_op_id=8#"),
            "mm @ Model.Dense_0");
  EXPECT_EQ(Said(kXla,
                 "Thunk:#name=jit(f)/checkpoint/Block/Attention/bqhd,bkhd->bhqk/dot_general,"
                 "hlo_op=gemm_fusion_dot.27#"),
            "mm @ Block.Attention");
  // The path of a fusion is what its operations share, which may end with any of them.
  EXPECT_EQ(Said(kXla, "Thunk:#name=while/body/Block_1/add,hlo_op=fusion.3#"), " @ Block_1");
}

TEST(RangeVocabularyTest, WhatXlaSaysOfNoOp) {
  for (const std::string_view text :
       {"Thunk:#hlo_op=fusion.3,hlo_module=jit_f#", "Thunk:#hlo_op=command_buffer_1.2#",
        "Thunk:#hlo_op=while.2#", "Thunk:#hlo_op=loop_add_unheard_fusion#", "Thunk:#hlo_op=#",
        "Thunk:#hlo_op=dot.1", "Thunk:#", "Thunk:##", "Thunk:#name=a,b#", "Thunk:#name=#",
        "XlaModule:#hlo_module=jit_f,program_id=7#", "TSL:Thunk:#hlo_op=dot.1#",
        "Thunk:#hlo_op=dot 1#", "loop_add_fusion"}) {
    EXPECT_EQ(Said(kXla, text), "") << text;
  }
}

TEST(RangeVocabularyTest, NodesOfTensorFlowAndOnnxRuntime) {
  EXPECT_EQ(Said(kTensorFlow, "Conv2D: model/conv1/Conv2D"), "convolution @ model.conv1");
  EXPECT_EQ(Said(kTensorFlow, "Unheard: model/x"), "");
  EXPECT_EQ(Said(kTensorFlow, "Conv2D model/x"), "");
  EXPECT_EQ(Said(kDefault, "Conv.12(/layer1/layer1.0/conv1/Conv)"), "convolution @ layer1.0.conv1");
  EXPECT_EQ(Said(kDefault, "MatMul.3()"), "mm @ ");
  for (const std::string_view text :
       {"Conv.12", "Conv.(x)", "Conv.1x(y)", "conv.12(x)", "Unheard.12(x)", "add.1(x)", "Conv.12(",
        "Batch-1 Forward", "Conv2D: model/conv1/Conv2D"}) {
    EXPECT_EQ(Said(kDefault, text), "") << text;
  }
}

TEST(RangeVocabularyTest, HooksOfModules) {
  EXPECT_EQ(Said(kDefault, "{'Module': 'model.layers.0.self_attn', 'Inputs': [[512, 4096]]}"),
            " @ model.layers.0.self_attn");
  EXPECT_EQ(Said(kDefault, "{'Module': 'top', 'TrainableParams': {'weight': [8, 8]}}"), " @ top");
  EXPECT_EQ(Said(kDefault, "{'Module': \"'top.fc'\"}"), " @ top.fc");
  EXPECT_EQ(Said(kDefault, "[pl][module]torch.nn.modules.linear.Linear: net.fc"), " @ net.fc");
  for (const std::string_view text :
       {"{'Module': 'a b'}", "{'Module': ''}", "{'Module': 'a'", "{'Module': 3}",
        "{'Module': 'a'}x", "{'Module': 'a..b'}", "{'Module': '.a'}", "{'Module': 'unknown'}",
        "{'Model': 'a'}", "[pl][module]", "[pl][module]Linear: my layer", "[pl]module: a"}) {
    EXPECT_EQ(Said(kDefault, text), "") << text;
  }
}

TEST(RangeVocabularyTest, PartsOfBlocks) {
  EXPECT_EQ(Said(kDefault, "transformer_engine._Linear.forward.gemm"), "mm @ ");
  EXPECT_EQ(Said(kDefault, "transformer_engine._LayerNormLinear.forward.qkv.gemm"), "mm @ ");
  EXPECT_EQ(Said(kDefault, "transformer_engine._Linear.backward.fc1.wgrad_gemm"), "mm @ ");
  EXPECT_EQ(Said(kDefault, "megatron.core.transformer.attention.forward.core_attention"),
            " @ core_attention");
  for (const std::string_view text :
       {"transformer_engine._LayerNormLinear.forward.norm", "transformer_engine._Linear.forward",
        "transformer_engine._Linear.sideward.gemm", "transformer_engine._Linear.forward.dgrad_gemm",
        "transformer_engine._.forward.gemm", "transformer_engine.gemm", "transformer_engine._",
        "megatron.core.mlp.", "megatron.core..mlp", "megatron.training.step.mlp", "mlp",
        "megatron.core.x.forward.else", "megatron.core.x forward.mlp"}) {
    EXPECT_EQ(Said(kDefault, text), "") << text;
  }
}

TEST(RangeVocabularyTest, FreeTextsSayNothing) {
  for (const std::string_view text : {"my conv layer",
                                      "Conv_",
                                      "Conv_0",
                                      "Conv_0 + Relu_1",
                                      "/layer1/conv1/Conv",
                                      "Attention",
                                      "FeedForward",
                                      "TransformerLayer_3",
                                      "layer_3_attention",
                                      "layer 3",
                                      "forward",
                                      "backward",
                                      "self_attention",
                                      "## forward ##",
                                      "execute_context_3(512)_generation_5(5)",
                                      "dot.3",
                                      "MatMul",
                                      "linear",
                                      "PWN(Relu)",
                                      "Thunk:#hlo_op=dot.1#",
                                      "gemm",
                                      "Conv: a/b",
                                      "nccl:all_reduce",
                                      "ProfilerStep#3",
                                      "Optimizer.step#SGD.step"}) {
    EXPECT_EQ(Said(kDefault, text), "") << text;
    EXPECT_EQ(Said("mine", text), "") << text;
  }
}

TEST(RangeVocabularyTest, HostileTexts) {
  using std::string_literals::operator""s;
  EXPECT_EQ(Said(kTensorRt, "/a/Conv\0/b/Relu"s), "");
  EXPECT_EQ(Said(kTensorRt, "/a/Co\nnv"), "");
  const size_t kMany = 60000;
  for (const std::string& text :
       {std::string(kMany, '('), std::string(kMany, ')'), std::string(kMany, '/'),
        std::string(kMany, '['), std::string(kMany, ' '), std::string(kMany, '\''),
        std::string(kMany, '#'), std::string(kMany, '_'), std::string(kMany, '0')}) {
    for (const std::string_view domain : {kTensorRt, kXla, kTensorFlow, kDefault}) {
      for (const std::string_view before : {"", "PWN(", "/a/", "Thunk:#name=", "{'Module': '"}) {
        const std::string whole = std::string(before) + text;
        const std::string said = Said(domain, whole);
        EXPECT_LE(said.size(), whole.size() + 16);
      }
    }
  }
  // Longer than any name.
  EXPECT_EQ(Said(kTensorRt, "/" + std::string(70000, 'a') + "/Conv"), "");
  // Many fused ops: the main one stays, the list stays short.
  std::string fused;
  for (int i = 0; i < 1000; ++i) {
    fused += "[UNKNOWN]-[aten_ops.op" + std::to_string(i) + ".default]-[/x/op] + ";
  }
  const std::string said = Said(kTensorRt, fused + "/a/Conv");
  EXPECT_LT(said.size(), 100U);
  EXPECT_EQ(std::count(said.begin(), said.end(), '+'), 7);
}

}  // namespace
}  // namespace oplens

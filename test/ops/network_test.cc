#include "ops/network/network.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include "base/error.h"
#include "ops/network/conventions.h"
#include "ops/network/network_config.h"
#include "test/support/test_files.h"

namespace oplens::test::network_test {
namespace {

using namespace ops;
using testing::HasSubstr;

struct ModelCase {
  const char* name;
  const char* config;
  double parameters;  ///< As published, to the last one.
  double active = 0;  ///< 0: all.
};

constexpr ModelCase kModels[] = {
    {"Llama 3 8B",
     R"({"model_type":"llama","hidden_size":4096,"num_hidden_layers":32,"num_attention_heads":32,
         "num_key_value_heads":8,"intermediate_size":14336,"vocab_size":128256})",
     8030261248},
    {"Qwen2 0.5B",
     R"({"model_type":"qwen2","hidden_size":896,"num_hidden_layers":24,"num_attention_heads":14,
         "num_key_value_heads":2,"intermediate_size":4864,"vocab_size":151936,
         "tie_word_embeddings":true})",
     494032768},
    {"Qwen3 8B",
     R"({"model_type":"qwen3","hidden_size":4096,"num_hidden_layers":36,"num_attention_heads":32,
         "num_key_value_heads":8,"intermediate_size":12288,"vocab_size":151936,
         "sliding_window":null})",
     8190735360},
    {"Qwen3 30B A3B",
     R"({"model_type":"qwen3_moe","hidden_size":2048,"num_hidden_layers":48,"head_dim":128,
         "num_attention_heads":32,"num_key_value_heads":4,"intermediate_size":6144,
         "moe_intermediate_size":768,"num_experts":128,"num_experts_per_tok":8,
         "vocab_size":151936})",
     30532122624, 3353032704},
    {"Mixtral 8x7B",
     R"({"model_type":"mixtral","hidden_size":4096,"num_hidden_layers":32,
         "num_attention_heads":32,"num_key_value_heads":8,"intermediate_size":14336,
         "num_local_experts":8,"num_experts_per_tok":2,"vocab_size":32000})",
     46702792704, 12879925248},
    {"DeepSeek V3",
     R"({"model_type":"deepseek_v3","hidden_size":7168,"num_hidden_layers":61,
         "num_attention_heads":128,"q_lora_rank":1536,"kv_lora_rank":512,"qk_nope_head_dim":128,
         "qk_rope_head_dim":64,"v_head_dim":128,"n_routed_experts":256,"n_shared_experts":1,
         "num_experts_per_tok":8,"moe_intermediate_size":2048,"first_k_dense_replace":3,
         "intermediate_size":18432,"vocab_size":129280,"topk_method":"noaux_tc"})",
     671026419200, 37552297472},
    {"GPT-2",
     R"({"model_type":"gpt2","n_embd":768,"n_layer":12,"n_head":12,"n_positions":1024,
         "vocab_size":50257})",
     124439808},
    {"GPT-NeoX 20B",
     R"({"model_type":"gpt_neox","hidden_size":6144,"num_hidden_layers":44,
         "num_attention_heads":64,"intermediate_size":24576,"vocab_size":50432})",
     20554567680},
    {"Gemma 2B",
     R"({"model_type":"gemma","hidden_size":2048,"num_hidden_layers":18,"num_attention_heads":8,
         "num_key_value_heads":1,"intermediate_size":16384,"vocab_size":256000})",
     2506172416},
    {"Gemma 2 2B",
     R"({"model_type":"gemma2","hidden_size":2304,"num_hidden_layers":26,"num_attention_heads":8,
         "num_key_value_heads":4,"intermediate_size":9216,"vocab_size":256000,
         "sliding_window":4096})",
     2614341888},
    {"BERT base",
     R"({"model_type":"bert","architectures":["BertModel"],"hidden_size":768,
         "num_hidden_layers":12,"num_attention_heads":12,"intermediate_size":3072,
         "vocab_size":30522,"max_position_embeddings":1024})",
     109482240},
    {"ViT base",
     R"({"model_type":"vit","architectures":["ViTForImageClassification"],"hidden_size":768,
         "num_hidden_layers":12,"num_attention_heads":12,"intermediate_size":3072,
         "num_labels":1000})",
     86567656},
};

TEST(NetworkTest, ParametersAreThoseOfTheModels) {
  for (const ModelCase& model : kModels) {
    SCOPED_TRACE(model.name);
    const Network network = ParseConfig(model.config, "config.json");
    // Positions count as many as the sequence is long.
    const int64_t sequence = network.family == "bert" ? 512 : 1024;
    const auto count = ParametersOf(network, sequence);
    ASSERT_TRUE(count);
    EXPECT_EQ(count->all, model.parameters);
    EXPECT_EQ(count->active, model.active > 0 ? model.active : model.parameters);
  }
}

TEST(NetworkTest, TheEmbeddingIsLookedUpUnlessItIsTheHead) {
  const auto embedding_of = [](std::string_view config) {
    return ParametersOf(ParseConfig(config, "config.json"), 10)->embedding;
  };
  EXPECT_EQ(embedding_of(kModels[0].config), 128256.0 * 4096);
  EXPECT_EQ(embedding_of(kModels[1].config), 0);
  // Learned positions are looked up too: ten of them.
  EXPECT_EQ(embedding_of(kModels[6].config), 10.0 * 768);
}

/// Pairs, one by one.
double CountedPairs(int64_t length, int64_t window, bool causal) {
  double pairs = 0;
  for (int64_t query = 0; query < length; ++query) {
    for (int64_t key = 0; key < length; ++key) {
      pairs += !causal || (key <= query && (window == 0 || query - key < window)) ? 1 : 0;
    }
  }
  return pairs;
}

TEST(NetworkTest, VisiblePairsAreThoseThatOneCounts) {
  const Network network;
  for (const int64_t length : {1, 2, 7, 16}) {
    for (const int64_t window : {0, 1, 3, 16, 40}) {
      for (const bool causal : {false, true}) {
        NetworkAttention attention;
        attention.causal = causal;
        attention.window = window;
        const double tokens = 3.0 * static_cast<double>(length);
        EXPECT_EQ(VisiblePairsOf(attention, network, {tokens, 3}),
                  3 * CountedPairs(length, window, causal))
            << length << ' ' << window << ' ' << causal;
      }
    }
  }
}

TEST(NetworkTest, WindowsAreOfTheLayersThatHaveThem) {
  const auto blocks_with_window = [](const std::string& rest) {
    const Network network = ParseConfig(
        R"({"hidden_size":64,"num_hidden_layers":6,"num_attention_heads":4,"intermediate_size":8,
            "vocab_size":10,"sliding_window":4)" +
            rest + "}",
        "config.json");
    std::vector<int64_t> blocks;
    for (const NetworkAttention& attention : network.attention) {
      if (attention.window > 0) blocks = attention.blocks;
    }
    return blocks;
  };
  using testing::ElementsAre;
  using testing::IsEmpty;
  EXPECT_THAT(blocks_with_window(R"(,"model_type":"mistral")"), ElementsAre(0, 1, 2, 3, 4, 5));
  EXPECT_THAT(blocks_with_window(R"(,"model_type":"llama")"), IsEmpty());
  EXPECT_THAT(blocks_with_window(R"(,"model_type":"qwen2")"), IsEmpty());
  EXPECT_THAT(blocks_with_window(
                  R"(,"model_type":"qwen2","use_sliding_window":true,"max_window_layers":4)"),
              ElementsAre(4, 5));
  EXPECT_THAT(blocks_with_window(R"(,"model_type":"gemma2")"), ElementsAre(0, 2, 4));
  EXPECT_THAT(blocks_with_window(R"(,"model_type":"gemma3_text","sliding_window_pattern":3)"),
              ElementsAre(0, 1, 3, 4));
  EXPECT_THAT(blocks_with_window(
                  R"(,"model_type":"qwen3","layer_types":["full_attention","sliding_attention"])"),
              ElementsAre(1));
}

TEST(NetworkTest, DenseAndSparseLayersArePartedAsTheConfigurationSays) {
  const Network network = ParseConfig(
      R"({"model_type":"qwen2_moe","hidden_size":8,"num_hidden_layers":6,"num_attention_heads":2,
          "intermediate_size":16,"moe_intermediate_size":4,"num_experts":5,
          "num_experts_per_tok":2,"shared_expert_intermediate_size":3,"vocab_size":10,
          "decoder_sparse_step":2,"mlp_only_layers":[3]})",
      "config.json");
  for (const NetworkWeight& weight : network.weights) {
    if (weight.part == NetworkPart::kUp) {
      EXPECT_EQ(weight.blocks, (std::vector<int64_t>{0, 2, 3, 4}));
    }
    if (weight.part == NetworkPart::kExpertUp) {
      EXPECT_EQ(weight.blocks, (std::vector<int64_t>{1, 5}));
      EXPECT_EQ(weight.copies, 5);
      EXPECT_EQ(RowsOf(weight, network, {7, 1}), 14);
    }
    if (weight.part == NetworkPart::kSharedRouter) {
      EXPECT_EQ(weight.out, 1);
    }
  }
}

struct BadConfig {
  const char* text;
  const char* said;
};

constexpr BadConfig kBadConfigs[] = {
    {"", "is empty"},
    {R"({"model_type":"llama","hidden_size":)", "is no JSON, or is cut"},
    {"[1,2]", "is no JSON object"},
    {"{}", "key 'model_type' is missing"},
    {R"({"model_type":7})", "key 'model_type' is 7"},
    {R"({"model_type":"t5"})", "key 'model_type' is 't5', which is not known; give one of bert"},
    {R"({"model_type":"llama"})", "key 'num_hidden_layers' is missing"},
    {R"({"model_type":"llama","num_hidden_layers":"x"})", "key 'num_hidden_layers' is \"x\""},
    {R"({"model_type":"llama","num_hidden_layers":0})", "key 'num_hidden_layers' is 0"},
    {R"({"model_type":"llama","num_hidden_layers":1.5})", "key 'num_hidden_layers' is 1.5"},
    {R"({"model_type":"llama","num_hidden_layers":1e300})", "key 'num_hidden_layers' is 1e+300"},
    {R"({"model_type":"llama","num_hidden_layers":9000000})", "give at most 10000"},
    {R"({"model_type":"llama","num_hidden_layers":1,"hidden_size":10,"num_attention_heads":3})",
     "key 'num_attention_heads' is 3; it must divide hidden_size, 10, or head_dim be given"},
    {R"({"model_type":"llama","num_hidden_layers":1,"hidden_size":8,"num_attention_heads":2,
         "vocab_size":5,"tie_word_embeddings":"yes"})",
     "key 'tie_word_embeddings' is \"yes\"; give true or false"},
    {R"({"model_type":"mixtral","num_hidden_layers":1,"hidden_size":8,"num_attention_heads":2,
         "vocab_size":5,"intermediate_size":4,"num_local_experts":2,"num_experts_per_tok":3})",
     "key 'num_experts_per_tok' is 3; there are 2 experts"},
    {R"({"model_type":"mpt","n_layers":1,"d_model":8,"n_heads":2,"attn_config":[]})",
     "key 'attn_config' is []; give an object"},
    {R"({"model_type":"mpt","n_layers":1,"d_model":8,"n_heads":2,"vocab_size":3,
         "attn_config":{"alibi":1}})",
     "key 'attn_config.alibi' is 1; give true or false"},
    {R"({"model_type":"vit","num_hidden_layers":1,"hidden_size":8,"num_attention_heads":2,
         "image_size":[224,0]})",
     "key 'image_size' is no size of an image"},
    {R"({"model_type":"timesformer","num_hidden_layers":1,"hidden_size":8,
         "num_attention_heads":2,"attention_type":"else"})",
     "key 'attention_type' is 'else'"},
    {R"({"model_type":"gemma3","text_config":{"model_type":"gemma3_text","hidden_size":-1,
         "num_hidden_layers":2}})",
     "key 'text_config.hidden_size' is -1"},
};

TEST(NetworkConfigTest, WhatIsWrongIsNamedByItsKey) {
  for (const BadConfig& bad : kBadConfigs) {
    SCOPED_TRACE(bad.text);
    try {
      ParseConfig(bad.text, "config.json");
      ADD_FAILURE() << "it was read";
    } catch (const Error& error) {
      EXPECT_THAT(error.what(), HasSubstr(bad.said));
      EXPECT_THAT(error.what(), HasSubstr("config.json"));
      EXPECT_EQ(std::string(error.what()).find('\n'), std::string::npos);
    }
  }
}

TEST(NetworkConfigTest, EveryCutOfAConfigurationIsRefused) {
  const std::string whole = kModels[5].config;
  for (size_t length = 0; length < whole.size(); ++length) {
    EXPECT_THROW(ParseConfig(whole.substr(0, length), "config.json"), Error) << length;
  }
}

TEST(NetworkConfigTest, DeepNestingIsRefused) {
  std::string text = R"({"model_type":"llama","x":)";
  text.append(100000, '[').append(100000, ']').push_back('}');
  EXPECT_THROW(ParseConfig(text, "config.json"), Error);
}

TEST(NetworkConfigTest, TheTextModelOfSeveralIsRead) {
  const Network network = ParseConfig(
      R"({"model_type":"gemma3","text_config":{"model_type":"gemma3_text","hidden_size":64,
          "num_hidden_layers":2,"num_attention_heads":2,"intermediate_size":8,"vocab_size":9}})",
      "config.json");
  EXPECT_EQ(network.family, "gemma3_text");
  EXPECT_EQ(network.layers, 2);
}

TEST(NetworkConfigTest, AFolderHasItsConfiguration) {
  const std::filesystem::path folder = TestDir();
  WriteFile(folder / "config.json", kModels[0].config);
  EXPECT_EQ(ReadNetwork(folder.string()).layers, 32);
  EXPECT_EQ(ReadNetwork((folder / "config.json").string()).layers, 32);
  EXPECT_EQ(ConfigPathOf(folder.string()), (folder / "config.json").string());
  EXPECT_EQ(ConfigPathOf("L=3"), "");
  EXPECT_THROW(ReadNetwork((folder / "none.json").string()), Error);
}

TEST(NetworkConfigTest, ValuesByHand) {
  const Network network =
      ParseValues("L=32,h=4096,heads=32,head_dim=128,V=128256,P=8.03e9,P_active=1e9");
  EXPECT_EQ(network.layers, 32);
  EXPECT_EQ(ParametersOf(network, 1)->all, 8.03e9);
  EXPECT_EQ(ParametersOf(network, 1)->active, 1e9);
  EXPECT_EQ(ParseValues("L=2,h=64,heads=4").head_dim, 16);
  for (const char* bad :
       {"L=0", "L=x", "L=1.5", "h=4096", "L=1,L=2", "L=1,layers=3", "L=1,P=-1", "L=1,P_active=3",
        "L=1,P=2,P_active=3", "L=1,P=nan", "L=1,P=inf", "L=", "L=1,,", "=3", "L=99999999999"}) {
    EXPECT_THROW(ParseValues(bad), UsageError) << bad;
  }
}

// Published figures (docs/mfu.md has their sources).
struct GoldenRow {
  const char* name;
  std::string model;
  const char* convention;
  int64_t sequence;
  double tokens_per_s;  ///< Of one GPU.
  double peak;          ///< 1: `published` is in TFLOP/s x 100.
  double published;     ///< Percent.
  Recompute recompute = Recompute::kNone;
  bool hardware = false;
};

std::string Mpt(int layers, int hidden, int heads, int64_t positions) {
  return R"({"model_type":"mpt","no_bias":true,"vocab_size":50368,"n_layers":)" +
         std::to_string(layers) + R"(,"d_model":)" + std::to_string(hidden) + R"(,"n_heads":)" +
         std::to_string(heads) + R"(,"max_seq_len":)" + std::to_string(positions) + "}";
}

std::string Llama(int layers, int hidden, int heads, int key_heads, int width, int words) {
  return R"({"model_type":"llama","num_hidden_layers":)" + std::to_string(layers) +
         R"(,"hidden_size":)" + std::to_string(hidden) + R"(,"num_attention_heads":)" +
         std::to_string(heads) + R"(,"num_key_value_heads":)" + std::to_string(key_heads) +
         R"(,"intermediate_size":)" + std::to_string(width) + R"(,"vocab_size":)" +
         std::to_string(words) + "}";
}

double TokensOf(double batch, double sequence, double gpus, double seconds) {
  return batch * sequence / gpus / seconds;
}

std::vector<GoldenRow> GoldenRows() {
  const std::string llama3_8b = Llama(32, 4096, 32, 8, 14336, 128256);
  const std::string llama3_70b = Llama(80, 8192, 64, 8, 28672, 128256);
  const std::string llama3_405b = Llama(126, 16384, 128, 8, 53248, 128256);
  const std::string llama2_13b = Llama(40, 5120, 40, 40, 13824, 32000);
  const std::string llama2_70b = Llama(80, 8192, 64, 8, 28672, 32000);
  const std::string qwen3_30b = kModels[3].config;
  constexpr double kH100 = 989.4;
  constexpr double kA100 = 312;
  constexpr double kRate = 1;
  std::vector<GoldenRow> rows = {
      {"llm-foundry 7B", Mpt(32, 4096, 32, 2048), "A", 2048, 10643, kH100, 46.44},
      {"llm-foundry 13B", Mpt(40, 5120, 40, 32768), "A", 32768, 1976, kH100, 31.68},
      {"llm-foundry 30B", Mpt(48, 7168, 56, 8192), "A", 8192, 1384, kH100, 29.92},
      {"llm-foundry 70B", Mpt(80, 8192, 64, 2048), "A", 2048, 1007, kH100, 41.25},
      {"llm-foundry 70B HFU", Mpt(80, 8192, 64, 2048), "A", 2048, 1007, kH100, 55.0,
       Recompute::kFull, true},
      {"llm-foundry 1B", Mpt(24, 2048, 16, 65536), "A", 65536, 5506, kH100, 26.34},
      {"torchtitan 8B", llama3_8b, "A", 8192, 2904, kA100, 56.8},
      {"torchtitan 70B", llama3_70b, "A", 8192, 331, kA100, 51.7},
      {"torchtitan Llama 2 13B", llama2_13b, "A", 4096, 2162, kA100, 61.1},
      {"torchtitan Llama 2 70B", llama2_70b, "A", 4096, 353, kA100, 50.5},
      {"torchtitan H100", llama3_8b, "B", 8192, 5762, 989, 33.7},
      {"torchtitan H100 compiled", llama3_8b, "B", 8192, 6667, 989, 39},
      {"Megatron-Bridge 8B", llama3_8b, "C", 8192, 37556, kRate, 193300},
      {"Megatron-Bridge 70B", llama3_70b, "C", 8192, 1602, kRate, 71900},
      {"Megatron-Bridge 405B", llama3_405b, "C", 8192, 999, kRate, 252200},
      {"Megatron-Bridge 405B", llama3_405b, "C", 8192, 292, kRate, 73700},
      {"Megatron-Bridge Qwen3", qwen3_30b, "C", 4096, 28934, kRate, 66600},
      {"PaLM", "L=118,heads=48,head_dim=256,P=540e9", "A", 2048, 238.3e3 / 6144, 275, 46.2},
  };
  struct Megatron {
    const char* name;
    const char* model;
    double batch;
    double gpus;
    double seconds;
    double mfu;
    double hfu;
  };
  for (const Megatron& row : {Megatron{"22B", "L=48,h=6144,V=51200", 4, 8, 1.10, 41.5, 43.7},
                              {"175B", "L=96,h=12288,V=51200", 64, 64, 13.75, 51.4, 52.8},
                              {"530B", "L=105,h=20480,V=51200", 280, 280, 37.83, 56.0, 57.0},
                              {"1T", "L=128,h=25600,V=51200", 512, 512, 71.49, 56.3, 57.0}}) {
    const double rate = TokensOf(row.batch, 2048, row.gpus, row.seconds);
    rows.push_back({row.name, row.model, "D", 2048, rate, kA100, row.mfu});
    rows.push_back(
        {row.name, row.model, "D''", 2048, rate, kA100, row.hfu, Recompute::kNone, true});
    rows.push_back(
        {row.name, row.model, "D", 2048, rate, kA100, row.hfu, Recompute::kSelective, true});
  }
  for (const auto& [gpus, seconds, tflops] :
       {std::tuple(2240.0, 60.1, 126.0), {2800.0, 50.2, 121.0}, {3360.0, 44.4, 113.0}}) {
    rows.push_back({"MT-NLG", "L=105,h=20480,V=51200", "D'", 2048,
                    TokensOf(1920, 2048, gpus, seconds), kRate, 100 * tflops, Recompute::kNone,
                    true});
  }
  return rows;
}

TEST(ConventionTest, PublishedFiguresAreMetWithin0point6Percent) {
  for (const GoldenRow& row : GoldenRows()) {
    SCOPED_TRACE(row.name);
    const Network network =
        row.model.front() == '{' ? ParseConfig(row.model, "config.json") : ParseValues(row.model);
    const Convention* const convention = FindConvention(row.convention);
    ASSERT_NE(convention, nullptr);
    const TokenFlops flops = FlopsPerToken(*convention, network, row.sequence, row.recompute);
    const std::optional<double> counted = row.hardware ? flops.hardware : flops.model;
    ASSERT_TRUE(counted) << row.convention;
    const double found = 100 * *counted * row.tokens_per_s / (row.peak * 1e12);
    EXPECT_LT(std::abs(found / row.published - 1), 0.006) << found << " for " << row.published;
  }
}

TEST(ConventionTest, WhatIsMissingIsNamed) {
  const Network network = ParseValues("L=2,h=8");
  EXPECT_EQ(WhatIsMissing(*FindConvention("a"), network), "needs P, heads, head_dim");
  EXPECT_EQ(WhatIsMissing(*FindConvention("D"), network), "needs V");
  EXPECT_EQ(FlopsPerToken(*FindConvention("A"), network, 8, Recompute::kNone).model, std::nullopt);
  // The embedding's size is not known.
  const Network palm = ParseValues("L=118,heads=48,head_dim=256,P=540e9");
  EXPECT_EQ(WhatIsMissing(*FindConvention("A"), palm), "");
  EXPECT_EQ(WhatIsMissing(*FindConvention("C"), palm), "needs h, V");
  EXPECT_EQ(FindConvention("E"), nullptr);
}

TEST(ConventionTest, RecomputationAddsTheForwardPassOrAttention) {
  const Network network = ParseConfig(kModels[0].config, "config.json");
  const Convention& a = *FindConvention("A");
  const double step = *FlopsPerToken(a, network, 8192, Recompute::kNone).model;
  EXPECT_EQ(*FlopsPerToken(a, network, 8192, Recompute::kNone).hardware, step);
  EXPECT_DOUBLE_EQ(*FlopsPerToken(a, network, 8192, Recompute::kFull).hardware, step * 4 / 3);
  EXPECT_EQ(*FlopsPerToken(a, network, 8192, Recompute::kSelective).hardware - step,
            4.0 * 32 * 4096 * 8192);
}

TEST(ConventionTest, RemarksSayWhatElseIsCounted) {
  const Network experts = ParseConfig(kModels[3].config, "config.json");
  EXPECT_EQ(RemarkOn(*FindConvention("A"), experts),
            "counts 128 experts a layer, of which a token passes 8");
  EXPECT_EQ(RemarkOn(*FindConvention("C"), experts), "");
  const Network bert = ParseConfig(kModels[10].config, "config.json");
  EXPECT_EQ(RemarkOn(*FindConvention("C"), bert),
            "halves attention, which is not causal in this model");
  EXPECT_EQ(RemarkOn(*FindConvention("D"), bert), "");
  const Network llama = ParseConfig(kModels[0].config, "config.json");
  EXPECT_THAT(RemarkOn(*FindConvention("D"), llama), HasSubstr("1.08 times as many"));
}

}  // namespace
}  // namespace oplens::test::network_test

// `oplens flops`, and --model on real profiles: what the kernels computed is what the configuration
// says.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>
#include <vector>

#include "test/support/program.h"
#include "test/support/test_files.h"

namespace oplens::test::flops_test {
namespace {

using testing::HasSubstr;

constexpr char kLlama[] =
    R"({"model_type":"llama","hidden_size":4096,"num_hidden_layers":32,"num_attention_heads":32,
        "num_key_value_heads":8,"intermediate_size":14336,"vocab_size":128256})";

RunResult RunFlops(std::vector<std::string> arguments) {
  arguments.insert(arguments.begin(), {Program("oplens"), "flops"});
  return RunProgram(arguments);
}

std::string ConfigFile(const std::string& text) {
  const std::string path = (TestDir() / "config.json").string();
  WriteFile(path, text);
  return path;
}

std::vector<nlohmann::json> RowsOf(const std::string& lines) {
  std::vector<nlohmann::json> rows;
  std::istringstream in(lines);
  for (std::string line; std::getline(in, line);) rows.push_back(nlohmann::json::parse(line));
  return rows;
}

nlohmann::json RowOf(const std::vector<nlohmann::json>& rows, const std::string& key,
                     const std::string& value) {
  for (const nlohmann::json& row : rows) {
    if (row.at(key) == value) return row;
  }
  ADD_FAILURE() << "no row " << value;
  return {};
}

TEST(FlopsCommandTest, UtilisationOfARateOfTokens) {
  const RunResult result = RunFlops({"--model", ConfigFile(kLlama), "--seq", "8192",
                                     "--tokens-per-s", "5762", "--peak", "989", "--json"});
  EXPECT_EQ(result.exit_code, 0) << result.err;
  const auto rows = RowsOf(result.out);
  ASSERT_EQ(rows.size(), 6u);
  EXPECT_NEAR(RowOf(rows, "convention", "B").at("mfu_pct"), 33.74, 0.01);
  EXPECT_TRUE(RowOf(rows, "convention", "D''").at("mfu_pct").is_null());
}

TEST(FlopsCommandTest, UtilisationOfAStep) {
  const RunResult result =
      RunFlops({"--model", "L=96,h=12288,V=51200", "--seq", "2048", "--batch", "64", "--gpus", "64",
                "--step-s", "13.75", "--gpu", "A100 SXM4 80GB", "--convention", "d", "--recompute",
                "selective", "--json"});
  EXPECT_EQ(result.exit_code, 0) << result.err;
  const auto rows = RowsOf(result.out);
  ASSERT_EQ(rows.size(), 1u);
  EXPECT_NEAR(rows[0].at("mfu_pct"), 51.4, 0.1);
  EXPECT_NEAR(rows[0].at("hfu_pct"), 52.8, 0.1);
  EXPECT_EQ(rows[0].at("peak_tflops"), 312);
}

TEST(FlopsCommandTest, LinesNameTheModel) {
  const RunResult result = RunFlops({"--model", ConfigFile(kLlama), "--seq", "10"});
  EXPECT_EQ(result.exit_code, 0);
  EXPECT_THAT(result.out,
              HasSubstr("llama: 8030261248 parameters; 32 layers, sequences of 10 tokens\n"));
}

TEST(FlopsCommandTest, WrongCommandLinesSayWhatToType) {
  const std::string config = ConfigFile(kLlama);
  const struct {
    std::vector<std::string> arguments;
    const char* said;
  } kCases[] = {
      {{}, "name the model"},
      {{"--model", config}, "--seq N"},
      {{"--model", config, "--seq", "0"}, "--seq: 0 is no number"},
      {{"--model", config, "--seq", "8", "--step-s", "1"}, "--step-s needs --batch"},
      {{"--model", config, "--seq", "8", "--step-s", "1", "--batch", "1", "--tokens-per-s", "2"},
       "exclude each other"},
      {{"--model", config, "--seq", "8", "--peak", "-1"}, "--peak: -1 is no positive number"},
      {{"--model", config, "--seq", "8", "--peak", "1", "--gpu", "H100"}, "exclude each other"},
      {{"--model", config, "--seq", "8", "--dtype", "bf16"}, "--dtype needs --gpu"},
      {{"--model", config, "--seq", "8", "--gpu", "H200", "--dtype", "x"}, "'x' is no data type"},
      {{"--model", config, "--seq", "8", "--gpu", "nothing"}, "--gpu: no GPU is named"},
      {{"--model", config, "--seq", "8", "--convention", "E"}, "--convention: 'E' is none of A, B"},
      {{"--model", config, "--seq", "8", "--recompute", "all"}, "none of none, selective, full"},
      {{"--model", config, "--seq", "8", "--csv", "--json"}, "exclude each other"},
      {{"--seq", "8"}, "name the model"},
      {{"--model", "L=1,x=2", "--seq", "8"}, "'x=2' is none of L, h"},
  };
  for (const auto& bad : kCases) {
    const RunResult result = RunFlops(bad.arguments);
    EXPECT_EQ(result.exit_code, 2) << bad.said;
    EXPECT_THAT(result.err, HasSubstr(bad.said));
    EXPECT_EQ(result.out, "");
  }
}

TEST(FlopsCommandTest, AForeignConfigurationIsOneLineThatNamesTheKey) {
  for (const auto& [text, key] : {std::pair("{\"model_type\":\"t5\"}", "'model_type'"),
                                  {"{\"model_type\":\"llama\"}", "'num_hidden_layers'"},
                                  {"{\"model", "is no JSON"}}) {
    const RunResult result = RunFlops({"--model", ConfigFile(text), "--seq", "8"});
    EXPECT_EQ(result.exit_code, 1);
    EXPECT_THAT(result.err, HasSubstr(key));
    EXPECT_EQ(std::ranges::count(result.err, '\n'), 1) << result.err;
  }
}

TEST(ModelOptionTest, OfProfIsOfTheViewsAndNeverOverwritten) {
  const std::string config = ConfigFile(kLlama);
  const std::string demo = SourceDir() + "/examples/data/demo.sql";
  RunResult result = RunProgram({Program("prof"), "--model", config, demo});
  EXPECT_EQ(result.exit_code, 2);
  EXPECT_THAT(result.err, HasSubstr("--model needs --view mfu"));
  result = RunProgram({Program("prof"), "--view", "mfu", "--seq", "3", demo});
  EXPECT_THAT(result.err, HasSubstr("--seq needs --model"));
  result = RunProgram({Program("prof"), "--view", "mfu", "--model", config, "-o", config, demo});
  EXPECT_EQ(result.exit_code, 2);
  EXPECT_EQ(ReadFile(config), kLlama);
  result = RunProgram({Program("report"), "--model", TestDir().string(), "-o", config, demo});
  EXPECT_EQ(result.exit_code, 2);
  EXPECT_EQ(ReadFile(config), kLlama);
}

struct RealModel {
  const char* profile;
  const char* config;
  const char* total;
  double difference_pct;
  const char* why;
};

constexpr RealModel kRealModels[] = {
    {"kineto/sglang_qwen3_8b/prefill_decode.json",
     R"({"model_type":"qwen3","hidden_size":4096,"num_hidden_layers":36,"num_attention_heads":32,
         "num_key_value_heads":8,"intermediate_size":12288,"vocab_size":151936})",
     "15360 tokens in the run in sequences of 1024, forward only", -8.054,
     "head -8.1 % (15 of 15360 tokens pass it)"},
    {"kineto/h100/bert_small.json",
     R"({"model_type":"bert","hidden_size":512,"num_hidden_layers":4,"num_attention_heads":8,
         "intermediate_size":2048,"vocab_size":30522,"max_position_embeddings":512})",
     "141 tokens a step in sequences of 141, forward only", 0, ""},
    {"kineto/h100/vit_nsfw.json",
     R"({"model_type":"vit","hidden_size":768,"num_hidden_layers":12,"num_attention_heads":12,
         "intermediate_size":3072})",
     "788 tokens a step in sequences of 197, forward only", 0, ""},
    {"kineto/h100/timesformer.json",
     R"({"model_type":"timesformer","hidden_size":768,"num_hidden_layers":12,
         "num_attention_heads":12,"intermediate_size":3072,"num_labels":400})",
     "25089 tokens a step in sequences of 3137, forward only", 0, ""},
    // The sizes of its kernels are those of one of two GPUs.
    {"kineto/llama_tp2_dim1024/rank0.json",
     R"({"model_type":"llama","hidden_size":1024,"num_hidden_layers":4,"num_attention_heads":16,
         "intermediate_size":2816,"vocab_size":100})",
     "32768 tokens in the run in sequences of 16, forward only, on 2 GPUs", 0, ""},
    // It trains, and computes the masked half of attention.
    {"nvprof/lm.sql",
     R"({"model_type":"gpt2","n_embd":200,"n_layer":1,"n_head":1,"n_inner":200,"n_positions":35,
         "vocab_size":33278})",
     "700 tokens in the run in sequences of 35, forward and backward", 0.099, ""},
};

class ModelCorpusTest : public testing::TestWithParam<RealModel> {};

TEST_P(ModelCorpusTest, KernelsComputeWhatTheConfigurationSays) {
  OPLENS_NEED_CORPUS();
  const RealModel& real = GetParam();
  const RunResult result =
      RunProgram({Program("prof"), "--view", "mfu", "--json", "--quiet", "--model",
                  ConfigFile(real.config), CorpusFile(real.profile).string()});
  ASSERT_EQ(result.exit_code, 0) << result.err;
  const auto rows = RowsOf(result.out);
  const nlohmann::json total = RowOf(rows, "counts", "total");
  EXPECT_EQ(total.at("name"), real.total);
  EXPECT_NEAR(total.at("difference_pct"), real.difference_pct, 0.001);
  EXPECT_EQ(total.at("note").is_null() ? "" : total.at("note").get<std::string>(), real.why);
  for (const nlohmann::json& row : rows) {
    if (row.at("counts") != "part") continue;
    EXPECT_TRUE(std::abs(row.at("difference_pct").get<double>()) < 0.001 ||
                !row.at("note").is_null())
        << row;
  }
}

INSTANTIATE_TEST_SUITE_P(Models, ModelCorpusTest, testing::ValuesIn(kRealModels),
                         [](const auto& param) { return "Model" + std::to_string(param.index); });

TEST(ModelWithoutShapesTest, ThereIsTheArithmeticAlone) {
  OPLENS_NEED_CORPUS();
  const RunResult result = RunProgram({Program("prof"), "--view", "mfu", "--json", "--model",
                                       ConfigFile(kRealModels[4].config), "--seq", "16", "--batch",
                                       "2048", CorpusFile("kineto/llama_tp2/rank0.json").string()});
  ASSERT_EQ(result.exit_code, 0) << result.err;
  const auto rows = RowsOf(result.out);
  EXPECT_THAT(RowOf(rows, "counts", "total").at("note").get<std::string>(),
              HasSubstr("the arithmetic alone"));
  EXPECT_TRUE(RowOf(rows, "counts", "A").at("mfu_pct").is_null());
  EXPECT_THAT(result.err, HasSubstr("no matrix product has known FLOPs; recorded by"));
}

}  // namespace
}  // namespace oplens::test::flops_test

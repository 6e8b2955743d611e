#include "prof/verdicts/served_step.h"

#include <gtest/gtest.h>

#include <string>

#include "test/support/random_cases.h"

namespace oplens::prof::served_step_test {
namespace {

/// "prefill 2 requests 14721 tokens"; "?": unknown; "none".
std::string Said(std::string_view text) {
  const auto step = ServedStepOf(text);
  if (!step) return "none";
  const auto number = [](std::optional<int64_t> value) {
    return value ? std::to_string(*value) : std::string("?");
  };
  return std::string(ServedPhaseWord(step->phase)) + " " + number(step->requests) + " " +
         number(step->tokens);
}

TEST(ServedStepTest, LabelsOfVllm) {
  EXPECT_EQ(Said("execute_context_2(14721)_generation_0(0)"), "prefill 2 14721");
  EXPECT_EQ(Said("execute_context_0(0)_generation_64(64)"), "decode 64 64");
  EXPECT_EQ(Said("execute_context_0(0)_generation_32(128)"), "decode 32 128");
  EXPECT_EQ(Said("execute_context_2(6144)_generation_3(3)"), "mixed 5 6147");
  EXPECT_EQ(Said("execute_context_1(888_788544)_generation_0(0)"), "prefill 1 888");
  EXPECT_EQ(Said("execute_8192_context_9(sq8155sk8430sqsq7475785sqsk7671310)_generation_37("
                 "sq37sk34489sqsq37sqsk34489)"),
            "mixed 46 8192");
  EXPECT_EQ(Said("execute_new_2_cached_0"), "prefill 2 ?");
  EXPECT_EQ(Said("execute_new_0_cached_30"), "decode 30 ?");
  EXPECT_EQ(Said("execute_new_2_cached_30"), "mixed 32 ?");
  EXPECT_EQ(Said("execute_new_0_cached_0"), " 0 0");
}

/// Tokens of keys and values; "?": unknown.
std::string KvOf(std::string_view text) {
  const auto step = ServedStepOf(text);
  return step && step->kv_tokens ? std::to_string(*step->kv_tokens) : std::string("?");
}

TEST(ServedStepTest, KeysAndValues) {
  EXPECT_EQ(KvOf("execute_8192_context_9(sq8155sk8430sqsq7475785sqsk7671310)_generation_37("
                 "sq37sk34489sqsq37sqsk34489)"),
            "42919");
  EXPECT_EQ(
      KvOf("execute_32_context_0(sq0sk0sqsq0sqsk0)_generation_32(sq32sk32785sqsq32sqsk32785)"),
      "32785");
  EXPECT_EQ(KvOf("step[DECODE bs=64 g_sq=128 g_sqsq=256 g_sqsk=262144 g_sk=131072]"), "131072");
  EXPECT_EQ(KvOf("step[MIXED bs=5 c=2 g=3 c_sq=6144 c_sk=7144 g_sq=3 g_sk=6144]"), "13288");
  EXPECT_EQ(KvOf("step[EXTEND bs=1 c_sq=5 c_sk=9]"), "9");
  // Not told, or of one part only.
  EXPECT_EQ(KvOf("execute_context_2(14721)_generation_3(3)"), "?");
  EXPECT_EQ(KvOf("execute_context_1(888_788544)_generation_0(0)"), "?");
  EXPECT_EQ(KvOf("execute_9_context_1(sq8sqsq64)_generation_1(sq1sk5sqsq1sqsk5)"), "?");
  EXPECT_EQ(KvOf("step[MIXED bs=5 c=2 g=3 c_sq=6144 c_sk=7144 g_sq=3]"), "?");
  EXPECT_EQ(KvOf("step[DECODE bs=32]"), "?");
  EXPECT_EQ(KvOf("execute_1_context_0(sq0sk0)_generation_1(sq1sk99999999999999999999)"), "?");
  EXPECT_EQ(KvOf("decode"), "?");
}

TEST(ServedStepTest, LabelsOfSglang) {
  EXPECT_EQ(Said("step[EXTEND bs=15 toks=15360]"), "prefill 15 15360");
  EXPECT_EQ(Said("step[DECODE bs=32]"), "decode 32 32");
  EXPECT_EQ(Said("step[DECODE bs=64 g_sq=128 g_sqsq=256 g_sqsk=262144 g_sk=131072]"),
            "decode 64 128");
  EXPECT_EQ(Said("step[TARGET_VERIFY bs=8]"), "decode 8 ?");
  EXPECT_EQ(Said("step[MIXED bs=2]"), "mixed 2 ?");
  EXPECT_EQ(Said("step[MIXED bs=5 c=2 g=3 c_sq=6144 c_sk=7144 g_sq=3 g_sk=6144]"), "mixed 5 6147");
  EXPECT_EQ(Said("step[MIXED bs=1 c=1 g=0 c_sq=3 g_sq=0]"), "prefill 1 3");
  EXPECT_EQ(Said("step[IDLE bs=0]"), " 0 ?");
}

TEST(ServedStepTest, LabelsOfOthers) {
  EXPECT_EQ(Said("[Executor] _forward_step 7: 1 ctx reqs, 900 ctx tokens, 8 gen reqs"),
            "mixed 9 ?");
  EXPECT_EQ(Said("[Executor] _forward_step 7: 1 ctx reqs, 900 ctx tokens, 0 gen reqs"),
            "prefill 1 900");
  EXPECT_EQ(Said("[Executor] _forward_step 12: 0 ctx reqs, 8 gen reqs"), "decode 8 ?");
  EXPECT_EQ(Said("executeStep: 2 ctx reqs, 0 gen reqs"), "prefill 2 ?");
  EXPECT_EQ(Said("prefill[bs=2 tok=14721 ctx=[7803, 6918]]"), "prefill 2 14721");
  EXPECT_EQ(Said("decode[bs=117/128 tok=117 d=117]"), "decode 117 117");
  EXPECT_EQ(Said("decode[bs=128 tok=384 p=2 d=126 tbo=1]"), "mixed 128 384");
  EXPECT_EQ(Said("prefill"), "prefill ? ?");
  EXPECT_EQ(Said("decode_7"), "decode ? ?");
}

TEST(ServedStepTest, OtherTextsSayNothing) {
  for (const char* text :
       {"", "execute_model", "execute_context_2(10)", "execute_context_2(10)_generation_x(0)",
        "execute_new_2", "step[EXTEND]", "step[DECODE bs=]", "step 3", "decode_jpeg",
        "prefill_cache", "_forward_step", "_forward_step: 1 ctx", "capture_32_DECODE",
        "execute_context_99999999999999999999(1)_generation_0(0)"}) {
    EXPECT_EQ(Said(text), "none") << text;
  }
}

TEST(ServedStepTest, LabelsOfOneServer) {
  const auto pattern = [](std::string_view text) {
    const auto labels = ServedLabelsOf(text);
    return labels ? labels->pattern : "none";
  };
  EXPECT_EQ(pattern("execute_context_2(14721)_generation_0(0)"), pattern("execute_new_2_cached_0"));
  EXPECT_EQ(pattern("step[DECODE bs=32]"), "^step\\[");
  EXPECT_EQ(pattern("decode[bs=64 tok=64 d=64]"), pattern("prefill[bs=2 tok=14721]"));
  EXPECT_EQ(pattern("decode_7"), "none");
  EXPECT_EQ(pattern("step[x]"), "none");
}

TEST(ServedStepTest, StepsOfOneStep) {
  const ServedStep prefill = {ServedPhase::kPrefill, 2, 100};
  const ServedStep decode = {ServedPhase::kDecode, 3, 3};
  EXPECT_EQ(Together(prefill, decode), (ServedStep{ServedPhase::kMixed, std::nullopt, 103}));
  EXPECT_EQ(Together(decode, decode), (ServedStep{ServedPhase::kDecode, std::nullopt, 6}));
  EXPECT_EQ(Together(decode, {ServedPhase::kDecode, 1, std::nullopt}).tokens, std::nullopt);
}

TEST(ServedStepTest, AnyBytes) {
  test::CheckRandomCases([] {
    std::string text =
        test::AnyBool() ? "step[DECODE bs=32 g_sq=5]" : "execute_1_context_2(sq3)_generation_4(5)";
    const auto changes = test::AnyIn<size_t>(0, 4);
    for (size_t i = 0; i < changes; ++i) {
      text[test::AnyIndex(text.size())] = static_cast<char>(test::AnyInt64(0, 255));
    }
    const auto step = ServedStepOf(text.substr(0, test::AnyIndex(text.size() + 1)));
    if (step && step->requests) test::Require(*step->requests >= 0);
  });
}

}  // namespace
}  // namespace oplens::prof::served_step_test

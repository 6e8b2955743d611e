// What TorchInductor writes about its kernels, made up by the form that PyTorch's documentation and
// torch/_inductor/debug.py have it in.
#include "parse/provenance/provenance.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "parse/provenance/compile_log.h"
#include "parse/readers/open_trace.h"
#include "parse/source/file_kind.h"
#include "test/support/kineto_builder.h"
#include "test/support/test_files.h"

namespace oplens::parse::provenance_test {
namespace {

using test::KinetoBuilder;
using test::TestDir;
using test::WriteFile;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

constexpr std::string_view kInformation = R"json({
  "triton_poi_fused_addmm_relu_0:2": {
    "stack_traces": [
      "  File \"train.py\", line 40, in main\n    y = model(x)\n  File \"model.py\", line 7, in forward\n    x = self.fc1(x)\n",
      "  File \"train.py\", line 40, in main\n    y = model(x)\n  File \"model.py\", line 8, in forward\n    x = self.relu(x)\n"],
    "post_grad_nodes": ["relu", "add_tensor_1"],
    "pre_grad_nodes": ["relu", "linear"]},
  "extern_kernels.mm:1": {
    "stack_traces": ["  File \"model.py\", line 7, in forward\n"],
    "post_grad_nodes": ["mm_default_1"],
    "pre_grad_nodes": ["linear"]}
})json";

TEST(KernelOriginsTest, ReadsKernelInformation) {
  KernelOrigins origins;
  ASSERT_TRUE(origins.AddInformation(kInformation));
  const KernelOrigin* origin = origins.Find("triton_poi_fused_addmm_relu_0");
  ASSERT_NE(origin, nullptr);
  EXPECT_THAT(*origin->nodes, ElementsAre("relu", "add_tensor_1"));
  EXPECT_THAT(*origin->sources, ElementsAre("relu", "linear"));
  EXPECT_THAT(*origin->frames, ElementsAre("train.py:40", "model.py:7", "model.py:8"));
  EXPECT_NE(origins.Find("extern_kernels.mm"), nullptr);
  EXPECT_EQ(origins.Find("triton_poi_fused_addmm_relu_0:2"), nullptr);
  EXPECT_EQ(origins.Find("other"), nullptr);
}

// As the profiler's own post-processing has it: by compiled region.
TEST(KernelOriginsTest, ReadsKernelInformationByRegion) {
  KernelOrigins origins;
  ASSERT_TRUE(origins.AddInformation(
      R"json({"('Torch-Compiled Region: 0/0', False)": {"triton_a:1": {"stack_traces": [], "post_grad_nodes": ["add"]}}})json"));
  ASSERT_NE(origins.Find("triton_a"), nullptr);
  EXPECT_THAT(*origins.Find("triton_a")->nodes, ElementsAre("add"));
  EXPECT_FALSE(origins.Find("triton_a")->sources.has_value());
}

TEST(KernelOriginsTest, ReadsNodeMappings) {
  KernelOrigins origins;
  ASSERT_TRUE(origins.AddMappings(R"json({
    "preToPost": {"linear": ["mm_default_1", "add_tensor_1"], "relu": ["relu"]},
    "postToPre": {"mm_default_1": ["linear"], "add_tensor_1": ["linear"], "relu": ["relu"]},
    "cppCodeToPost": {"triton_poi_fused_addmm_relu_0": ["relu", "add_tensor_1"]},
    "postToCppCode": {}, "version": 2.0})json"));
  const KernelOrigin* origin = origins.Find("triton_poi_fused_addmm_relu_0");
  ASSERT_NE(origin, nullptr);
  EXPECT_THAT(*origin->nodes, ElementsAre("relu", "add_tensor_1"));
  EXPECT_THAT(*origin->sources, ElementsAre("relu", "linear"));
  EXPECT_FALSE(origin->frames.has_value());
  // What one file leaves open the next fills.
  ASSERT_TRUE(origins.AddStackTraces(
      R"json({"triton_poi_fused_addmm_relu_0:7": ["File \"a \"b\".py\", line 3, in f"]})json"));
  EXPECT_THAT(*origins.Find("triton_poi_fused_addmm_relu_0")->frames, ElementsAre("a \"b\".py:3"));
}

TEST(KernelOriginsTest, PlacesThatDisagreeTellNothing) {
  KernelOrigins origins;
  ASSERT_TRUE(origins.AddInformation(R"json({
    "triton_a:1": {"stack_traces": ["File \"m.py\", line 1"], "post_grad_nodes": ["mul", "add"], "pre_grad_nodes": ["x"]},
    "triton_a:2": {"stack_traces": ["File \"m.py\", line 2"], "post_grad_nodes": ["add", "mul"], "pre_grad_nodes": ["y"]}})json"));
  const KernelOrigin* origin = origins.Find("triton_a");
  ASSERT_NE(origin, nullptr);
  EXPECT_THAT(*origin->nodes, ElementsAre("mul", "add"));
  EXPECT_FALSE(origin->sources.has_value());
  EXPECT_FALSE(origin->frames.has_value());
}

TEST(KernelOriginsTest, ReadsSignaturesOfCode) {
  KernelOrigins origins;
  origins.AddCode(
      "@triton.jit\ndef triton_a(in_ptr0, in_out_ptr1, xnumel, XBLOCK : tl.constexpr):\n  pass\n"
      "def triton_b(in_ptr0,\n    out_ptr0, xnumel, r0_numel, XBLOCK : tl.constexpr, R: tl.x):\n"
      "def triton_a(in_ptr0, in_out_ptr1, xnumel, XBLOCK : tl.constexpr):\n"
      "def triton_c(in_ptr0):\ndef triton_c(out_ptr0):\ndef triton_d(in_ptr0");
  EXPECT_EQ(origins.Find("triton_a")->signature, "in_ptr0,in_out_ptr1,xnumel");
  EXPECT_EQ(origins.Find("triton_b")->signature, "in_ptr0,out_ptr0,xnumel,r0_numel");
  EXPECT_EQ(origins.Find("triton_c")->signature, "");
  EXPECT_EQ(origins.Find("triton_d"), nullptr);
}

TEST(KernelOriginsTest, RefusesWhatIsNoSuchFile) {
  for (const char* text : {"", "[]", "{", "{\"a\": 1}", "nonsense", "{\"traceEvents\": []}"}) {
    KernelOrigins origins;
    EXPECT_FALSE(origins.AddInformation(text)) << text;
    EXPECT_FALSE(origins.AddMappings(text)) << text;
    EXPECT_TRUE(origins.empty()) << text;
  }
  // Odd values inside are left out.
  KernelOrigins origins;
  EXPECT_TRUE(origins.AddMappings(
      R"json({"cppCodeToPost": {"a": 1, "b": [1, "mul"], "c": {}}, "postToPre": {"mul": "x"}})json"));
  EXPECT_EQ(origins.Find("a"), nullptr);
  EXPECT_THAT(*origins.Find("b")->nodes, ElementsAre("mul"));
  EXPECT_THAT(*origins.Find("b")->sources, IsEmpty());
}

// Cut or changed anywhere, each is read or refused, and nothing else happens.
TEST(KernelOriginsTest, SurvivesDamage) {
  const std::string code = "def triton_a(in_ptr0,\n  x, XBLOCK : tl.constexpr):\ndef triton_b():";
  for (const std::string& text : {std::string(kInformation), code}) {
    for (size_t i = 0; i < text.size(); ++i) {
      for (const char put : {'"', '{', ']', ':', '\0', '\xFF'}) {
        std::string changed = text;
        changed[i] = put;
        for (const std::string& damaged : {changed, text.substr(0, i)}) {
          KernelOrigins origins;
          origins.AddInformation(damaged);
          origins.AddMappings(damaged);
          origins.AddStackTraces(damaged);
          origins.AddCode(damaged);
        }
      }
    }
  }
}

TEST(LayerOfNodesTest, PathsOfModulesElseNames) {
  EXPECT_EQ(LayerOfNodes({"linear", "relu", "linear"}), "linear+relu");
  EXPECT_EQ(LayerOfNodes({"l_self_modules_blocks_modules_0_modules_attn_parameters_weight_",
                          "l_self_modules_blocks_modules_0_modules_attn_parameters_bias_", "x"}),
            "blocks.0.attn");
  EXPECT_EQ(LayerOfNodes({"l__self___fc1", "l__self___fc2"}), "fc1+fc2");
  EXPECT_EQ(LayerOfNodes({}), "");
  EXPECT_EQ(LayerOfNodes({"a", "b", "c", "d", "e", "f", "g", "h", "i"}), "a+b+c+d+e+f+g+h+...");
}

class ProvenanceTest : public testing::Test {
 protected:
  Trace Open() {
    KinetoBuilder builder;
    builder.AddOperator({.name = "triton_poi_fused_addmm_relu_0",
                         .start_ns = 1000,
                         .dims = "[[4, 8], [8], []]",
                         .types = R"(["float", "float", "Scalar"])",
                         .values = R"(["", "", "32"])",
                         .more = {{"kernel_kwargs", R"("XBLOCK=32")"}}});
    builder.AddOperator({.name = "triton_poi_fused_other_1", .start_ns = 3000});
    builder.Write(dir_ / "trace.json");
    diagnostics_ = Diagnostics();
    ProfileInput input{(dir_ / "trace.json").string(), {}, false};
    ProfileFile file(input.path);
    return OpenInput(input, &file, 1, {}, &diagnostics_, nullptr);
  }
  void Put(const std::string& name, std::string_view text) {
    WriteFile(dir_ / name, std::string(text));
  }

  std::filesystem::path dir_ = TestDir();
  Diagnostics diagnostics_;
};

TEST_F(ProvenanceTest, CompletesCallsOfItsKernels) {
  Put("kernel_information.json", kInformation);
  Put("output_code.py",
      "def triton_poi_fused_addmm_relu_0(in_out_ptr0, in_ptr0, xnumel, XBLOCK : tl.constexpr):");
  const Trace trace = Open();
  ASSERT_EQ(trace.operators.size(), 2u);
  EXPECT_EQ(trace.strings.View(trace.operators[0].stack),
            "{'traceMarker': ['train.py:40', 'model.py:7', 'model.py:8']}");
  EXPECT_THAT(std::string(trace.strings.View(trace.operators[0].call)),
              HasSubstr("{'name': 'fused', 'type': 'str', 'value': 'relu,add_tensor_1'}, {'name': "
                        "'signature', 'type': 'str', 'value': 'in_out_ptr0,in_ptr0,xnumel'}]}"));
  EXPECT_EQ(trace.operators[1].stack, 0u);
  ASSERT_EQ(trace.ranges.size(), 3u);
  const Range& layer = trace.ranges[0];
  EXPECT_EQ(layer.kind, RangeKind::kModule);
  EXPECT_EQ(trace.strings.View(layer.text), "relu+linear");
  EXPECT_EQ(layer.start_ns, trace.ranges[1].start_ns);
  EXPECT_EQ(layer.end_ns, trace.ranges[1].end_ns);
}

TEST_F(ProvenanceTest, ASignatureOfAnotherKernelIsLeftOut) {
  Put("output_code.py", "def triton_poi_fused_addmm_relu_0(in_ptr0, XBLOCK : tl.constexpr):");
  const Trace trace = Open();
  EXPECT_THAT(std::string(trace.strings.View(trace.operators[0].call)),
              Not(HasSubstr("signature")));
}

/// A structured log with a text for each name; its payloads stand on lines with a tab.
std::string CompileLog(const std::vector<std::pair<std::string, std::string>>& texts) {
  std::string log = "V1127 10:05:00.740000 7 torch/_dynamo/utils.py:1] {\"chromium_event\": {}}\n";
  for (const auto& [name, text] : texts) {
    const std::string head = name == "inductor_output_code"
                                 ? "{\"inductor_output_code\": {\"filename\": \"a.py\"}"
                                 : "{\"artifact\": {\"name\": \"" + name + "\"}";
    log += "V1127 10:05:00.740000 7 torch/_inductor/compile_fx.py:1624] " + head +
           ", \"frame_id\": 0, \"has_payload\": \"91\"}\n";
    std::istringstream lines(text);
    for (std::string line; std::getline(lines, line);) log += "\t" + line + "\n";
  }
  return log;
}

constexpr const char* kMappingsName = "inductor_provenance_tracking_node_mappings";
constexpr const char* kStacksName = "inductor_provenance_tracking_kernel_stack_traces";
constexpr const char* kLogName = "dedicated_log_torch_trace_x1y2.log";

TEST_F(ProvenanceTest, AStructuredLogHoldsTheTextsOfAllFiles) {
  Put(kLogName,
      CompileLog(
          {{kMappingsName, R"({"cppCodeToPost": {"triton_poi_fused_addmm_relu_0:1": ["relu"]},
                                      "postToPre": {"relu": ["relu_1"]}})"},
           {kStacksName, R"({"triton_poi_fused_addmm_relu_0:1":
                      ["  File \"model.py\", line 7, in forward\n    return x\n"]})"},
           {"inductor_output_code",
            "import x\n\ndef triton_poi_fused_addmm_relu_0(in_out_ptr0, in_ptr0, xnumel, X : "
            "tl.constexpr):\n"},
           {"fx_graph_runnable", "{"}}));
  const Trace trace = Open();
  EXPECT_EQ(trace.strings.View(trace.operators[0].stack), "{'traceMarker': ['model.py:7']}");
  EXPECT_THAT(std::string(trace.strings.View(trace.operators[0].call)),
              HasSubstr("'in_out_ptr0,in_ptr0,xnumel'"));
  ASSERT_EQ(trace.ranges.size(), 3u);
  EXPECT_EQ(trace.strings.View(trace.ranges[0].text), "relu_1");
}

TEST_F(ProvenanceTest, WhatGraphsOfALogSayDifferentlyIsNotUsed) {
  const auto stack = [](int line) {
    return R"({"triton_poi_fused_addmm_relu_0:1": ["  File \"model.py\", line )" +
           std::to_string(line) + R"(, in forward"]})";
  };
  Put(kLogName, CompileLog({{kStacksName, stack(7)}, {kStacksName, stack(8)}}));
  EXPECT_EQ(Open().operators[0].stack, 0u);
}

TEST_F(ProvenanceTest, ALogWithoutKernelsIsSaid) {
  Put(kLogName, CompileLog({}));
  EXPECT_EQ(Open().ranges.size(), 2u);
  EXPECT_THAT(diagnostics_.Render("test"), HasSubstr("INDUCTOR_PROVENANCE=1"));
}

TEST(CompileLogTest, DamagedLinesAreSkipped) {
  for (const std::string log :
       {"", "\t{}", "V1 a] {\"artifact\": {\"name\": \"x\"\n\tx\n", "] {\"artifact\": 5}\n\tx",
        "] {\"artifact\": {\"x\": \"x\"}}\n\ty", "x] {}\n\ty"}) {
    EXPECT_THAT(ReadCompileLog(log, {"x"}), IsEmpty()) << log;
  }
  const auto texts =
      ReadCompileLog("V] {\"x\": {}}\n\ta\n\t\tb\nV] {\"y\": 1}\n\tc\nV] {\"x\": 1}", {"x"});
  ASSERT_EQ(texts.size(), 2u);
  EXPECT_EQ(texts[0].text, "a\n\tb\n");
  EXPECT_EQ(texts[1].text, "");
}

TEST(KernelOriginsTest, CallsOfCpuKernelsHaveTheNumberOfTheirGraph) {
  KernelOrigins origins;
  ASSERT_TRUE(origins.AddStackTraces(R"({"cpp_fused_add_0:2": []})"));
  EXPECT_NE(origins.Find("graph_12_cpp_fused_add_0"), nullptr);
  EXPECT_NE(origins.Find("cpp_fused_add_0"), nullptr);
  EXPECT_EQ(origins.Find("graph_cpp_fused_add_0"), nullptr);
  EXPECT_EQ(origins.Find("graph_1_cpp_fused_add_1"), nullptr);
}

TEST_F(ProvenanceTest, WithoutFilesNothingChanges) {
  const Trace trace = Open();
  EXPECT_EQ(trace.ranges.size(), 2u);
  EXPECT_EQ(trace.operators[0].stack, 0u);
  EXPECT_THAT(diagnostics_.Render("test"), Not(HasSubstr("TorchInductor")));
}

TEST_F(ProvenanceTest, NotesAFileThatIsNone) {
  Put("kernel_information.json", "{\"a\": ");
  Put("inductor_provenance_tracking_node_mappings.json", "");
  const Trace trace = Open();
  EXPECT_EQ(trace.ranges.size(), 2u);
  EXPECT_THAT(diagnostics_.Render("test"),
              HasSubstr("kernel_information.json: is not what TorchInductor writes"));
  EXPECT_THAT(diagnostics_.Render("test"), HasSubstr("node_mappings.json: is not what"));
}

TEST(ProvenanceNames, AreNoProfilesOfAFolder) {
  for (const ProvenanceName& name : kProvenanceNames) {
    EXPECT_FALSE(HasProfileName(name.name)) << name.name;
  }
}

}  // namespace
}  // namespace oplens::parse::provenance_test

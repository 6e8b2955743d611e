// Exports of Nsight Compute, and what is told of kernels by them.
#include "parse/counters/counter_table.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "base/error.h"
#include "parse/counters/counter_join.h"
#include "parse/counters/counter_numbers.h"
#include "parse/counters/counter_trace.h"
#include "parse/counters/kernel_key.h"
#include "test/support/test_files.h"

namespace oplens::test::counter_table_test {
namespace {

using parse::CounterTable;
using parse::ParseCounters;

constexpr const char* kLongHeader =
    "\"ID\",\"Process ID\",\"Kernel Name\",\"Block Size\",\"Grid Size\",\"Metric Name\",\"Metric "
    "Unit\",\"Metric Value\"\n";

std::string LongRow(const std::string& id, const std::string& metric, const std::string& unit,
                    const std::string& value) {
  return "\"" + id + "\",\"7\",\"k\",\"(32, 1, 1)\",\"(2, 3, 1)\",\"" + metric + "\",\"" + unit +
         "\",\"" + value + "\"\n";
}

std::string MessageOf(const std::string& text) {
  try {
    ParseCounters(text, "f.csv");
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

std::vector<double> SixOps(double fadd, double ffma) { return {fadd, 0, ffma, 0, 0, 0}; }

std::string Ops(const std::string& id, const std::vector<double>& counts) {
  std::string rows;
  const char* const kinds[] = {"fadd", "fmul", "ffma", "dadd", "dmul", "dfma"};
  for (size_t i = 0; i < counts.size(); ++i) {
    rows +=
        LongRow(id, std::string("smsp__sass_thread_inst_executed_op_") + kinds[i] + "_pred_on.sum",
                "inst", std::to_string(static_cast<int64_t>(counts[i])));
  }
  return rows;
}

TEST(CounterNumbersTest, ReadsLocales) {
  using parse::NumberStyle;
  EXPECT_EQ(parse::ParseLocalNumber("1,234,567.50", NumberStyle::kPoint), 1234567.5);
  EXPECT_EQ(parse::ParseLocalNumber("1234", NumberStyle::kPoint), 1234);
  EXPECT_EQ(parse::ParseLocalNumber("1.234.567,5", NumberStyle::kComma), 1234567.5);
  EXPECT_EQ(parse::ParseLocalNumber("1'234.5", NumberStyle::kPoint), 1234.5);
  EXPECT_EQ(parse::ParseLocalNumber("1\xc2\xa0"
                                    "234,5",
                                    NumberStyle::kComma),
            1234.5);
  EXPECT_EQ(parse::ParseLocalNumber("4e+06", NumberStyle::kPoint), 4e6);
  for (const char* bad :
       {"", "-", "1,23", "12,3456", "1.2.3", "x", "1,234,", "0x10", "1 2", "nan", "inf", "1e999"}) {
    EXPECT_EQ(parse::ParseLocalNumber(bad, NumberStyle::kPoint), std::nullopt) << bad;
  }
}

TEST(CounterNumbersTest, FindsTheStyleOfAFile) {
  const auto style = [](std::initializer_list<const char*> cells) {
    parse::NumberStyleFinder finder;
    for (const char* cell : cells) finder.Look(cell);
    return finder.style();
  };
  EXPECT_EQ(style({"1.234", "NVIDIA A100", "n/a"}), parse::NumberStyle::kPoint);
  EXPECT_EQ(style({"2.508.800"}), parse::NumberStyle::kComma);
  EXPECT_EQ(style({"53,48"}), parse::NumberStyle::kComma);
  EXPECT_EQ(style({"1.234,5"}), parse::NumberStyle::kComma);
  EXPECT_EQ(style({"0,125"}), parse::NumberStyle::kComma);
  EXPECT_EQ(style({"1,234", "8.13"}), parse::NumberStyle::kPoint);
}

TEST(CounterNumbersTest, Units) {
  EXPECT_EQ(parse::UnitFactor("Mbyte"), 1e6);
  EXPECT_EQ(parse::UnitFactor("Kibyte"), 1024);
  EXPECT_EQ(parse::UnitFactor("us"), 1e3);
  EXPECT_EQ(parse::UnitFactor("msecond"), 1e6);
  EXPECT_EQ(parse::UnitFactor("Ginst"), 1e9);
  EXPECT_EQ(parse::UnitFactor(""), 1);
  EXPECT_EQ(parse::UnitFactor("byte/second"), std::nullopt);
}

TEST(CounterTableTest, SumsInstructions) {
  const CounterTable table =
      ParseCounters(std::string("hello\n==PROF== Connected\n") + kLongHeader +
                        Ops("0", {1, 2, 3, 4, 5, 6}) + "12 lines of the program\n" +
                        LongRow("0", "sm__inst_executed_pipe_tensor.sum", "inst", "0") +
                        LongRow("0", "dram__bytes_read.sum", "Kbyte", "1.50") +
                        LongRow("0", "dram__bytes_write.sum", "byte", "20") +
                        LongRow("0", "lts__t_sectors.sum", "sector", "10") +
                        LongRow("0", "gpu__time_duration.sum", "us", "2.5") +
                        LongRow("0", "flop_count_hp.sum", "", "n/a") + "==PROF== Disconnected\n",
                    "f.csv");
  ASSERT_EQ(table.kernels.size(), 1u);
  const parse::CountedKernel& kernel = table.kernels[0];
  EXPECT_EQ(kernel.name, "k");
  EXPECT_EQ(kernel.grid, (Dim3{2, 3, 1}));
  EXPECT_EQ(kernel.block, (Dim3{32, 1, 1}));
  EXPECT_EQ(kernel.counters.core_flops, 1 + 2 + 2 * 3 + 4 + 5 + 2 * 6);
  EXPECT_EQ(kernel.counters.flops(), 30);
  EXPECT_EQ(kernel.counters.dram_bytes, 1520);
  EXPECT_EQ(kernel.counters.l2_bytes, 320);
  EXPECT_EQ(kernel.counters.duration_ns, 2500);
  EXPECT_TRUE(table.rounded);
}

TEST(CounterTableTest, FlopsNeedAllThatCount) {
  const std::string tensor = "sm__inst_executed_pipe_tensor.sum";
  const auto counters = [&](const std::string& rows) {
    return ParseCounters(kLongHeader + rows, "f.csv").kernels.at(0).counters;
  };
  EXPECT_EQ(counters(Ops("0", {1, 2, 3, 4, 5})).core_flops, std::nullopt);
  EXPECT_EQ(counters(Ops("0", SixOps(1, 1))).flops(), std::nullopt);
  // The size of the instructions is not known.
  EXPECT_EQ(counters(Ops("0", SixOps(1, 1)) + LongRow("0", tensor, "inst", "5")).flops(),
            std::nullopt);
  // HFMA2 that moves constants.
  const std::string moves =
      LongRow("0", tensor, "inst", "5") +
      LongRow("0", "smsp__sass_thread_inst_executed_op_hfma_pred_on.sum", "inst", "160");
  EXPECT_EQ(counters(Ops("0", SixOps(1, 1)) + moves).flops(), 3);
  EXPECT_EQ(counters(moves).tensor_instructions, 0);
  const std::string vectors =
      LongRow("0", "sm__inst_executed_pipe_tensor_op_hmma_type_hfma2.sum", "inst", "2");
  EXPECT_EQ(counters(moves + vectors).tensor_instructions, 3);
}

TEST(CounterTableTest, CountsTensorOperationsOnce) {
  const auto path = [](const std::string& types, const std::string& value) {
    return LongRow("0", "sm__ops_path_tensor_" + types + ".sum", "", value);
  };
  const auto flops = [&](const std::string& rows) {
    return ParseCounters(kLongHeader + rows, "f.csv").kernels.at(0).counters.tensor_flops;
  };
  EXPECT_EQ(flops(path("src_fp16_dst_fp32", "100") + path("src_fp16_dst_fp32_sparsity_off", "60") +
                  path("src_fp16_dst_fp32_sparsity_on", "40") + path("src_int8", "5") +
                  path("op_hgmma_src_fp16_dst_fp32", "100")),
            105);
  EXPECT_EQ(flops(path("src_fp8_sparsity_off", "60") + path("src_fp8_sparsity_on", "40")), 100);
  EXPECT_EQ(flops(path("op_hmma_src_bf16_dst_fp32", "7")), 7);
  EXPECT_EQ(flops(path("src_bf16_dst_fp32", "0")), std::nullopt);
}

TEST(CounterTableTest, ReadsWideTables) {
  const CounterTable table = ParseCounters(
      "==PROF== Connected\r\n\"ID\",\"Process ID\",\"Kernel Name\",\"Block Size\",\"Grid "
      "Size\",\"dram__bytes.sum\",\"other\"\r\n\"\",\"\",\"\",\"\",\"\",\"Mbyte\",\"\"\r\n"
      "\"0\",\"1\",\"say \"\"x\"\"\",\"(1, 1, 1)\",\"(2, 1, 1)\",\"1,024.5\",\"a\nb\"\r\n"
      "\"1\",\"1\",\"k\",\"(1, 1, 1)\",\"(2, 1, 1)\",\"n/a\",\"\"\r\n==PROF== Disconnected\r\n",
      "f.csv");
  ASSERT_EQ(table.kernels.size(), 2u);
  EXPECT_EQ(table.kernels[0].name, "say \"x\"");
  EXPECT_EQ(table.kernels[0].counters.dram_bytes, 1024500000);
  EXPECT_EQ(table.kernels[1].counters.dram_bytes, std::nullopt);
}

TEST(CounterTableTest, RefusesDamageWithItsPlace) {
  const std::string header = kLongHeader;
  EXPECT_NE(MessageOf(header + LongRow("0", "dram__bytes.sum", "byte", "1,2,3"))
                .find("line 2, column 63: '1,2,3' of dram__bytes.sum is no number"),
            std::string::npos)
      << MessageOf(header + LongRow("0", "dram__bytes.sum", "byte", "1,2,3"));
  EXPECT_NE(MessageOf(header + LongRow("0", "dram__bytes.sum", "parsec", "1"))
                .find("the unit 'parsec' of dram__bytes.sum is not known"),
            std::string::npos);
  EXPECT_NE(MessageOf(header + LongRow("0", "dram__bytes.sum", "byte", "-1")).find("is negative"),
            std::string::npos);
  EXPECT_NE(MessageOf(header + "\"0\",\"7\",\"k").find("line 2, column 9: a quote that opens here"),
            std::string::npos)
      << MessageOf(header + "\"0\",\"7\",\"k");
  EXPECT_NE(MessageOf(header + "\"0\",\"7\"x\n").find("line 2, column 8: a comma"),
            std::string::npos)
      << MessageOf(header + "\"0\",\"7\"x\n");
  EXPECT_NE(MessageOf(header + "\"0\",\"7\",\"k\"\n").find("ends before its metric"),
            std::string::npos);
  EXPECT_NE(MessageOf("\"ID\",\"Kernel Name\",\"dram__bytes.sum\"\n\"0\",\"k\"\n")
                .find("line 2, column 5: the row has 2 cells, its header 3"),
            std::string::npos);
  EXPECT_NE(MessageOf("\"ID\",\"My Kernel Name\",\"dram__bytes.sum\"\n\"0\",\"k\",\"1\"\n")
                .find("line 1, column 1: no column 'ID' or 'Kernel Name'"),
            std::string::npos);
  EXPECT_EQ(MessageOf("\xef\xbb\xbf" + header + LongRow("0", "dram__bytes.sum", "byte", "1")), "");
  EXPECT_NE(MessageOf("text\n").find("no table of Nsight Compute"), std::string::npos);
  EXPECT_NE(MessageOf(header).find("without kernels"), std::string::npos);
  EXPECT_NE(MessageOf("{\"traceEvents\": []}").find("holds no counters"), std::string::npos);
}

TEST(CounterTableTest, ReadsCountersOfPyTorch) {
  const CounterTable table = ParseCounters(
      R"j({"traceEvents": [
        {"cat": "cuda_profiler_range", "name": "b", "ts": 5, "args": {"dram__bytes.sum": 7}},
        {"cat": "kernel", "name": "x", "ts": 1, "args": {}},
        {"cat": "cuda_profiler_range", "name": "__missing__", "ts": 2, "args": {}}]})j",
      "t.json");
  ASSERT_EQ(table.kernels.size(), 2u);
  EXPECT_EQ(table.kernels[0].name, "");
  EXPECT_EQ(table.kernels[1].name, "b");
  EXPECT_EQ(table.kernels[1].counters.dram_bytes, 7);
}

TEST(KernelKeyTest, SpellingsOfDemanglersAreEqual) {
  using parse::KernelKey;
  EXPECT_EQ(KernelKey("void k<float, (int)4, (bool)1>(T1 *)"), "k<float,4,1>");
  EXPECT_EQ(KernelKey("void k<float, 4, true>(float*)"), "k<float,4,1>");
  EXPECT_EQ(KernelKey("_Z1kIfEvT_"), "k<float>");
  EXPECT_EQ(
      KernelKey("void at::native::vectorized_elementwise_kernel<4, at::native::FillFunctor<float>, "
                "std::array<char*, 1ul> >(int, at::native::FillFunctor<float>)"),
      KernelKey("void at::vectorized_elementwise_kernel<4, at::FillFunctor<float>, std::array<char "
                "*, 1>>(int, T2, T3)"));
  EXPECT_EQ(
      KernelKey("void at::<unnamed>::f<at::<unnamed>::M<1>, at::<unnamed>::Z<c10::Half, 1>, "
                ">(T1, T2, T3...)"),
      KernelKey("void at::native::(anonymous namespace)::f<at::native::(anonymous "
                "namespace)::M<1>, at::native::(anonymous namespace)::Z<c10::Half, 1>>(int)"));
  EXPECT_EQ(KernelKey("void e<a::f(at::T &, double)::[lambda() (instance 1)]::operator ()() "
                      "const::[lambda(float) (instance 2)]>(int)"),
            KernelKey("void e<a::f(at::T&, double)::{lambda()#1}::operator()() "
                      "const::{lambda(float)#2}>(int)"));
  EXPECT_NE(KernelKey("void e<{lambda()#1}>()"), KernelKey("void e<{lambda()#2}>()"));
  EXPECT_NE(KernelKey("void e<at::AddFunctor<float>>()"),
            KernelKey("void e<at::MulFunctor<float>>()"));
  EXPECT_EQ(KernelKey("ampere_sgemm_32x32_sliced1x4_tn"), "ampere_sgemm_32x32_sliced1x4_tn");
  EXPECT_TRUE(parse::IsBareName("ampere_sgemm_128x64_tn"));
  EXPECT_FALSE(parse::IsBareName("void k<int>()"));
  EXPECT_EQ(parse::BareNameOf("a::b::k<c::d>"), "k");
}

// ---- joining ----

parse::CountedKernel Counted(const std::string& name, int64_t grid, int64_t dram_bytes) {
  parse::CountedKernel kernel;
  kernel.name = name;
  kernel.grid = {grid, 1, 1};
  kernel.block = {32, 1, 1};
  kernel.counters.dram_bytes = dram_bytes;
  return kernel;
}

Trace TraceOf(const std::vector<std::pair<std::string, int32_t>>& kernels) {
  Trace trace;
  for (const auto& [name, grid] : kernels) {
    Kernel kernel;
    kernel.start_ns = static_cast<int64_t>(trace.kernels.size()) * 10 + 1;
    kernel.end_ns = kernel.start_ns + 5;
    kernel.name = trace.strings.Intern(name);
    kernel.shape = trace.shapes.Add({.grid = {grid, 1, 1}, .block = {32, 1, 1}});
    trace.kernels.push_back(kernel);
  }
  return trace;
}

std::vector<int64_t> BytesOf(const parse::CounterJoin& join, size_t kernels) {
  std::vector<int64_t> bytes;
  for (size_t i = 0; i < kernels; ++i) {
    const KernelCounters* counters = join.Of(i);
    bytes.push_back(counters == nullptr ? -1 : counters->dram_bytes.value_or(-2));
  }
  return bytes;
}

TEST(CounterJoinTest, ByNameAndGridInOrder) {
  CounterTable table;
  table.kernels = {Counted("a", 1, 10), Counted("b", 1, 20), Counted("a", 2, 30),
                   Counted("a", 1, 90)};
  const Trace trace = TraceOf({{"a", 1}, {"b", 1}, {"c", 1}, {"a", 2}, {"a", 1}, {"b", 5}});
  const parse::CounterJoin join(table, trace);
  EXPECT_EQ(BytesOf(join, 6), (std::vector<int64_t>{10, 20, -1, 30, 90, -1}));
  EXPECT_EQ(join.tally().joined, 4);
  EXPECT_EQ(join.tally().ambiguous, 0);
}

TEST(CounterJoinTest, OneStepTellsOfAll) {
  CounterTable table;
  std::vector<std::pair<std::string, int32_t>> step;
  // The kernel x differs by what is around it.
  for (int i = 0; i < 6; ++i) {
    table.kernels.push_back(Counted("k" + std::to_string(i), 1, i));
    step.emplace_back("k" + std::to_string(i), 1);
    table.kernels.push_back(Counted("x", 1, 100 * (i + 1)));
    step.emplace_back("x", 1);
  }
  std::vector<std::pair<std::string, int32_t>> run;
  for (int i = 0; i < 3; ++i) run.insert(run.end(), step.begin(), step.end());
  const Trace trace = TraceOf(run);
  const parse::CounterJoin join(table, trace);
  const std::vector<int64_t> bytes = BytesOf(join, run.size());
  for (size_t i = 12; i < 24; i += 2) {
    EXPECT_EQ(bytes[i], static_cast<int64_t>(i - 12) / 2);
  }
  EXPECT_EQ(bytes[15], 200);
  EXPECT_EQ(bytes[17], 300);
  EXPECT_EQ(join.tally().joined + join.tally().ambiguous, 36);
}

TEST(CounterJoinTest, SaysWhatIsAmbiguous) {
  CounterTable table;
  table.kernels = {Counted("x", 1, 100), Counted("x", 1, 200)};
  const Trace trace = TraceOf({{"x", 1}, {"x", 1}, {"x", 1}});
  const parse::CounterJoin join(table, trace);
  EXPECT_EQ(BytesOf(join, 3), (std::vector<int64_t>{-1, -1, -1}));
  EXPECT_EQ(join.tally().ambiguous, 3);
  // Those that differ little tell the same.
  table.kernels[1].counters.dram_bytes = 101;
  EXPECT_EQ(BytesOf(parse::CounterJoin(table, trace), 3), (std::vector<int64_t>{100, 101, 100}));
}

TEST(CounterJoinTest, WithoutGridOrWithBareNames) {
  CounterTable table;
  table.kernels = {Counted("k", 1, 10), Counted("y", 1, 20)};
  table.kernels[0].grid = table.kernels[0].block = parse::kUnknownExtent;
  table.kernels[0].blocks = 6;
  table.kernels[0].threads = 32;
  table.kernels[1].grid = parse::kUnknownExtent;
  const Trace trace = TraceOf({{"void ns::k<int>(int*)", 6}, {"k", 5}, {"y", 3}});
  EXPECT_EQ(BytesOf(parse::CounterJoin(table, trace), 3), (std::vector<int64_t>{10, -1, 20}));
}

TEST(CounterTraceTest, IsTheTableOnATimeLine) {
  CounterTable table;
  table.kernels = {Counted("a", 4, 1), Counted("", 1, 2)};
  table.kernels[0].counters.duration_ns = 50;
  const Trace trace = parse::TraceOfCounters(table);
  ASSERT_EQ(trace.kernels.size(), 2u);
  EXPECT_EQ(trace.strings.View(trace.kernels[0].name), "a");
  EXPECT_EQ(trace.kernels[0].end_ns - trace.kernels[0].start_ns, 50);
  EXPECT_EQ(trace.ShapeOf(trace.kernels[0]).grid[0], 4);
  EXPECT_FALSE(trace.kernels[1].timed());
  EXPECT_EQ(BytesOf(parse::CounterJoin(table, trace), 2), (std::vector<int64_t>{1, -1}));
}

// ---- the samples ----

// Read by another program, a script of Python.
struct Sample {
  const char* file;
  size_t kernels;
  size_t kernel;  // Of which the figures are.
  std::optional<int64_t> core_flops, tensor_flops, tensor_instructions, dram_bytes, l2_bytes;
  std::optional<int64_t> duration_ns;
  std::optional<double> occupancy_pct;
};

const Sample kSamples[] = {
    {"2_details_na_units.csv", 1, 0, {}, 1275068416, {}, 3350000, {}, 23420, 15.18},
    {"3_details_rules_base_units.csv", 1, 0, {}, {}, {}, {}, {}, 21058944, 96.26},
    {"4_long_smsp_decimals.csv", 3, 0, 1677721600, 0, 0, 5318969728, 693423599808, {}, {}},
    {"4_long_smsp_decimals.csv", 3, 1, 1677721600, 0, 0, 5419659136, 693493241568, {}, {}},
    {"4_long_smsp_decimals.csv", 3, 2, 68719476736000, 0, 0, 4394965922944, 13077104026080, {}, {}},
    {"5_long_2021_rules_no_grid.csv", 9, 0, 1966080, 0, 0, 256, 967200, {}, 49.13},
    {"5_long_2021_rules_no_grid.csv", 9, 1, 7680, 0, 0, 128, 150144, {}, 12.44},
    {"5_long_2021_rules_no_grid.csv", 9, 2, 655360, 0, 0, 0, 429056, {}, 26.32},
    {"5_long_2021_rules_no_grid.csv", 9, 3, 2560, 0, 0, 128, 146816, {}, 12.43},
    {"5_long_2021_rules_no_grid.csv", 9, 4, 8945664, 0, 0, 128, 638880, {}, 40.64},
    {"5_long_2021_rules_no_grid.csv", 9, 5, 688128, 176160768, 43008, 624256, 8497632, {}, 6.26},
    {"5_long_2021_rules_no_grid.csv", 9, 6, 0, 0, 0, 128, 116128, {}, 2.98},
    {"5_long_2021_rules_no_grid.csv", 9, 7, 4915200, {}, 32768, 688768, 2634976, {}, 21.09},
    {"5_long_2021_rules_no_grid.csv", 9, 8, 344064, 58720256, 14336, 361088, 5159104, {}, 6.48},
    {"6_long_program_output_between.csv", 1, 0, {}, {}, {}, {}, {}, {}, {}},
    {"7_long_torch_kernel_time.csv", 2, 0, 145408, 0, 0, 512, 233856, 7488, {}},
    {"7_long_torch_kernel_time.csv", 2, 1, 16, 0, 0, 256, 142208, 4224, {}},
    {"made_up/long_dot_groups.csv", 1, 0, {}, {}, {}, 2508800, {}, {}, {}},
    {"made_up/raw_wide_units_row.csv", 2, 0, {}, 0, 0, 10242048, {}, 23420, {}},
    {"made_up/raw_wide_units_row.csv", 2, 1, {}, {}, {}, {}, {}, 1023420, {}},
};

TEST(CounterTableTest, CorpusSamples) {
  OPLENS_NEED_CORPUS();
  for (const Sample& sample : kSamples) {
    SCOPED_TRACE(std::string(sample.file) + " " + std::to_string(sample.kernel));
    const std::filesystem::path path = CorpusDir().path / "ncu" / sample.file;
    const CounterTable table = parse::ReadCounters(path.string());
    ASSERT_EQ(table.kernels.size(), sample.kernels);
    const KernelCounters& counters = table.kernels[sample.kernel].counters;
    EXPECT_EQ(counters.core_flops, sample.core_flops);
    EXPECT_EQ(counters.tensor_flops, sample.tensor_flops);
    EXPECT_EQ(counters.tensor_instructions, sample.tensor_instructions);
    EXPECT_EQ(counters.dram_bytes, sample.dram_bytes);
    EXPECT_EQ(counters.l2_bytes, sample.l2_bytes);
    EXPECT_EQ(counters.duration_ns, sample.duration_ns);
    EXPECT_EQ(counters.achieved_occupancy_pct, sample.occupancy_pct);
    EXPECT_TRUE(parse::LooksLikeCounters(ReadFile(path)));
  }
}

TEST(CounterTableTest, CorpusCountersOfPyTorch) {
  OPLENS_NEED_CORPUS();
  const CounterTable table =
      parse::ReadCounters(CorpusFile("kineto/cupti_counters/rank0.json").string());
  ASSERT_EQ(table.kernels.size(), 77u);
  EXPECT_EQ(table.kernels[0].counters.core_flops, 2 * 38731776);
  EXPECT_EQ(table.kernels[1].name, "");
  EXPECT_EQ(table.kernels[1].counters.core_flops, 2 * 9119334400 + 24780800);
}

}  // namespace
}  // namespace oplens::test::counter_table_test

#include "ops/gpu/gpu.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <iterator>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "ops/gpu/gpu_table.h"
#include "test/ops/gpu_sources.h"

namespace oplens::ops::gpu_test {
namespace {

TEST(GpuTest, FindsNamesAsPeopleAndDriversWriteThem) {
  struct Row {
    const char* name;
    const char* entry;
  };
  const Row rows[] = {
      {"NVIDIA H100 80GB HBM3", "H100 SXM5 80GB"},
      {"NVIDIA H100 PCIe", "H100 PCIe"},
      {"NVIDIA H100 NVL", "H100 NVL"},
      {"H200", "H200 SXM"},
      {"nvidia h200", "H200 SXM"},
      {"Tesla V100-SXM2-16GB", "V100 SXM2"},
      {"Tesla V100-SXM2-32GB", "V100 SXM2 32GB"},
      {"Tesla V100-DGXS-32GB", "V100 SXM2 32GB"},
      {"V100 SXM2", "V100 SXM2"},
      {"Tesla V100-PCIE-16GB", "V100 PCIe"},
      {"Tesla V100-PCIE-32GB", "V100 PCIe 32GB"},
      {"Tesla V100S-PCIE-32GB", "V100S PCIe"},
      {"NVIDIA GeForce GTX 1650", "GTX 1650"},
      {"NVIDIA RTX A4000", "RTX A4000"},
      {"NVIDIA RTX A5000", "RTX A5000"},
      {"NVIDIA A2", "A2"},
      {"NVIDIA A16", "A16"},
      {"NVIDIA L20", "L20"},
      {"NVIDIA GeForce RTX 3060", "RTX 3060 12GB"},
      {"NVIDIA GeForce RTX 4080", "RTX 4080"},
      {"NVIDIA GeForce RTX 5080", "RTX 5080"},
      {"NVIDIA GB10", "GB10"},
      {"AMD Instinct MI100", "MI100"},
      {"TITAN V", "Titan V"},
      {"NVIDIA TITAN RTX", "Titan RTX"},
      {"Quadro RTX 6000", "Quadro RTX 6000"},
      {"NVIDIA RTX 6000 Ada Generation", "RTX 6000 Ada"},
      {"NVIDIA RTX PRO 6000 Blackwell Workstation Edition", "RTX PRO 6000 Blackwell"},
      {"Tesla T4", "T4"},
      {"NVIDIA A100-SXM4-40GB", "A100 40GB"},
      {"NVIDIA A100-PCIE-40GB", "A100 40GB"},
      {"NVIDIA A100-PG509-200", "A100 40GB"},
      {"NVIDIA A100-SXM4-80GB", "A100 80GB SXM"},
      {"NVIDIA A100 80GB PCIe", "A100 80GB PCIe"},
      {"NVIDIA A40", "A40"},
      {"NVIDIA GeForce RTX 2080 Ti", "RTX 2080 Ti"},
      {"2080ti", "RTX 2080 Ti"},
      {"rtx4090", "RTX 4090"},
      {"NVIDIA GH200 480GB", "GH200 96GB"},
      {"NVIDIA B200", "B200"},
      {"NVIDIA GB200", "GB200"},
      {"L40S", "L40S"},
  };
  for (const Row& row : rows) {
    const GpuMatch match = FindGpu(row.name);
    ASSERT_TRUE(match.gpu) << row.name;
    EXPECT_EQ(match.gpu->name, row.entry) << row.name;
  }
}

TEST(GpuTest, FindsEachEntryByItsOwnName) {
  for (const std::string_view name : GpuNames()) {
    const GpuMatch match = FindGpu(name);
    ASSERT_TRUE(match.gpu) << name;
    EXPECT_EQ(match.gpu->name, name);
  }
}

TEST(GpuTest, AnotherModelIsNotTheNearestOne) {
  for (const char* name : {"", "NVIDIA", "GPU", "NVIDIA GeForce RTX 3080 Laptop GPU", "RTX 3080 Ti",
                           "RTX 4090 D", "Tesla P100-PCIE-16GB", "NVIDIA A100-SXM4-40GB MIG 1g.5gb",
                           "Radeon VII", "H", "GeForce GTX 1060 3GB"}) {
    const GpuMatch match = FindGpu(name);
    EXPECT_FALSE(match.gpu) << name;
    EXPECT_FALSE(match.ambiguous) << name;
    EXPECT_EQ(match.choices.size(), GpuNames().size()) << name;
  }
}

TEST(GpuTest, AmbiguousNamesListWhatTheyMayMean) {
  using Names = std::vector<std::string_view>;
  EXPECT_EQ(FindGpu("V100").choices,
            (Names{"V100 SXM2", "V100 SXM2 32GB", "V100 PCIe", "V100 PCIe 32GB"}));
  EXPECT_EQ(FindGpu("h100").choices, (Names{"H100 SXM5 80GB", "H100 PCIe", "H100 NVL"}));
  EXPECT_EQ(FindGpu("RTX 6000").choices, (Names{"Quadro RTX 6000", "RTX 6000 Ada"}));
  EXPECT_TRUE(FindGpu("A100").ambiguous);
  EXPECT_EQ(FindGpu("A100 80GB").choices, (Names{"A100 80GB SXM", "A100 80GB PCIe"}));
}

// Every cell has a source, or says that there is none.
TEST(GpuTest, EveryCellHasASource) {
  int figures = 0;
  int disputed = 0;
  const auto check = [&](const GpuEntry& entry, const GpuCell& cell) {
    const CellState state = StateOf(cell);
    EXPECT_NE(state, CellState::kBad) << entry.name << ' ' << cell.value;
    figures += state == CellState::kFigure ? 1 : 0;
    disputed += state == CellState::kDisputed ? 1 : 0;
  };
  for (const GpuEntry& entry : GpuEntries()) {
    const GpuFigures& own = entry.figures;
    for (const GpuCell& cell :
         {own.multiprocessors, own.clock_mhz, own.memory_gib, own.dram_gb_per_s, own.l2_kib}) {
      check(entry, cell);
    }
    for (const GpuCell& cell : entry.peaks_tera_per_s) check(entry, cell);
  }
  EXPECT_GT(figures, 500);
  EXPECT_GT(disputed, 0);
  for (const GpuRates& rates : AllGpuRates()) {
    EXPECT_NE(FindGpuSource(rates.vector), nullptr) << rates.compute_capability;
    EXPECT_NE(FindGpuSource(rates.matrix), nullptr) << rates.compute_capability;
  }
}

TEST(GpuTest, CellsWithoutASourceAreRefused) {
  using enum SourceId;
  EXPECT_EQ(StateOf({989, kHopperPaper}), CellState::kFigure);
  EXPECT_EQ(StateOf({0, kHopperPaper}), CellState::kNoSuchUnit);
  EXPECT_EQ(StateOf({0, kNotFound}), CellState::kNotFound);
  EXPECT_EQ(StateOf({0, kHopperPaper, kVerl}), CellState::kDisputed);
  EXPECT_EQ(StateOf({}), CellState::kBad);
  EXPECT_EQ(StateOf({989}), CellState::kBad);
  EXPECT_EQ(StateOf({989, kNotFound}), CellState::kBad);
  EXPECT_EQ(StateOf({-1, kHopperPaper}), CellState::kBad);
  // A figure that is disputed, a dispute with nobody or itself.
  EXPECT_EQ(StateOf({989, kHopperPaper, kVerl}), CellState::kBad);
  EXPECT_EQ(StateOf({0, kHopperPaper, kHopperPaper}), CellState::kBad);
  EXPECT_EQ(StateOf({0, kHopperPaper, kNotFound}), CellState::kBad);
  EXPECT_EQ(StateOf({0, kNotFound, kHopperPaper}), CellState::kBad);
  EXPECT_EQ(StateOf({0, static_cast<SourceId>(250)}), CellState::kBad);
}

TEST(GpuTest, SourcesAreDocumentsAndAllAreUsed) {
  std::set<std::string_view> words;
  std::set<SourceId> used;
  for (const GpuEntry& entry : GpuEntries()) {
    const GpuFigures& own = entry.figures;
    std::vector<GpuCell> cells = {own.multiprocessors, own.clock_mhz, own.memory_gib,
                                  own.dram_gb_per_s, own.l2_kib};
    cells.insert(cells.end(), std::begin(entry.peaks_tera_per_s), std::end(entry.peaks_tera_per_s));
    for (const GpuCell& cell : cells) used.insert({cell.source, cell.against});
  }
  for (const GpuRates& rates : AllGpuRates()) used.insert({rates.vector, rates.matrix});
  for (const GpuSource& source : GpuSources()) {
    EXPECT_TRUE(words.insert(source.word).second) << source.word;
    EXPECT_FALSE(source.document.empty()) << source.word;
    EXPECT_FALSE(source.where.empty()) << source.word;
    EXPECT_TRUE(used.contains(source.id)) << source.word;
    EXPECT_EQ(FindGpuSource(source.id)->word, source.word);
  }
}

// Figures agree with multiprocessors x rate x clock, where nothing else is known of the row: 3 %
// for fp32; matrix units are quoted at a lower clock on Hopper and Blackwell.
TEST(GpuTest, TableAgreesWithRatesAndClocks) {
  int compared = 0;
  for (const GpuEntry& entry : GpuEntries()) {
    const GpuRates* rates = RatesOf(entry.compute_capability);
    const double per_clock =
        entry.figures.multiprocessors.value * 2e-6 * entry.figures.clock_mhz.value;
    if (entry.maker != Maker::kNvidia || rates == nullptr || per_clock == 0 ||
        entry.rates == Rates::kOwn) {
      continue;
    }
    const bool half = entry.name.starts_with("RTX 2") || entry.name.starts_with("RTX 3") ||
                      entry.name.starts_with("RTX 4") || entry.name.starts_with("RTX 5");
    for (size_t i = 0; i < kMathUnitCount; ++i) {
      const auto unit = static_cast<MathUnit>(i);
      const double peak = entry.peaks_tera_per_s[i].value;
      if (peak == 0 || rates->fma_per_clock[i] == 0) continue;
      const bool halved = half && (unit == MathUnit::kTensorTf32 || unit == MathUnit::kTensorFp16 ||
                                   unit == MathUnit::kTensorFp8);
      const double derived = per_clock * rates->fma_per_clock[i] / (halved ? 2 : 1);
      const double tolerance = unit == MathUnit::kVectorFp32 ? .03 : .16;
      EXPECT_NEAR(derived / peak, 1, tolerance) << entry.name << ' ' << i;
      ++compared;
    }
  }
  EXPECT_GT(compared, 200);
}

// FLOPs a clock and compute unit by AMD's architecture whitepapers of CDNA 2, 3 and 4: what
// multiplies to the figures of the data sheets.
TEST(GpuTest, AmdFiguresAgreeWithRatesAndClocks) {
  using enum MathUnit;
  const std::map<int, std::map<MathUnit, double>> rates = {{90,
                                                            {{kVectorFp64, 128},
                                                             {kVectorFp32, 128},
                                                             {kTensorFp64, 256},
                                                             {kTensorFp32, 256},
                                                             {kTensorFp16, 1024},
                                                             {kTensorInt8, 1024}}},
                                                           {94,
                                                            {{kVectorFp64, 128},
                                                             {kVectorFp32, 256},
                                                             {kTensorFp64, 256},
                                                             {kTensorFp32, 256},
                                                             {kTensorTf32, 1024},
                                                             {kTensorFp16, 2048},
                                                             {kTensorFp8, 4096},
                                                             {kTensorInt8, 4096}}},
                                                           {95,
                                                            {{kVectorFp64, 128},
                                                             {kVectorFp32, 256},
                                                             {kTensorFp64, 128},
                                                             {kTensorFp32, 256},
                                                             {kTensorFp16, 4096},
                                                             {kTensorFp8, 8192},
                                                             {kTensorFp6, 16384},
                                                             {kTensorFp4, 16384},
                                                             {kTensorInt8, 8192}}}};
  int rows = 0;
  for (const GpuEntry& entry : GpuEntries()) {
    // Own: the MI100 is of an earlier architecture; of the MI308X no figures were found.
    if (entry.maker != Maker::kAmd || entry.rates == Rates::kOwn) continue;
    ++rows;
    const auto& wanted = rates.at(entry.compute_capability);
    for (size_t i = 0; i < kMathUnitCount; ++i) {
      const auto found = wanted.find(static_cast<MathUnit>(i));
      const double peak = entry.peaks_tera_per_s[i].value;
      ASSERT_EQ(found != wanted.end(), peak > 0) << entry.name << ' ' << i;
      if (peak == 0) continue;
      const double derived = found->second * entry.figures.multiprocessors.value *
                             entry.figures.clock_mhz.value * 1e-6;
      EXPECT_NEAR(derived / peak, 1, .005) << entry.name << ' ' << i;
    }
  }
  EXPECT_EQ(rows, 8);
}

TEST(GpuTest, RecordGivesThePeaks) {
  const Gpu h100 =
      ParseGpu("NVIDIA H100 80GB HBM3", "cc=9.0,sms=132,clock=1980000000,dram=3352320000000");
  EXPECT_EQ(h100.compute_capability, 90);
  EXPECT_EQ(h100.multiprocessors, 132);
  EXPECT_EQ(h100.dram_bytes_per_s, 3352320000000);
  EXPECT_EQ(h100.source, PeakSource::kRecord);
  // 132 x 2048 x 2 x 1.98e9 and 132 x 128 x 2 x 1.98e9
  EXPECT_NEAR(h100.Peak(MathUnit::kTensorFp16), 1070.530e12, 1e9);
  EXPECT_NEAR(h100.Peak(MathUnit::kVectorFp32), 66.908e12, 1e9);
  EXPECT_EQ(h100.Peak(MathUnit::kTensorFp4), 0);

  // Without a name, and by a name that the table lacks.
  const Gpu pascal =
      ParseGpu("GeForce GTX 1060 3GB", "cc=6.1,sms=9,clock=1708500000,dram=192192000000");
  EXPECT_NEAR(pascal.Peak(MathUnit::kVectorFp32), 9 * 128 * 2 * 1.7085e9, 1);
  EXPECT_EQ(pascal.Peak(MathUnit::kTensorFp16), 0);
  EXPECT_NEAR(ParseGpu("", "cc=7.0,sms=80,clock=1530000000").Peak(MathUnit::kTensorFp16),
              125.338e12, 1e9);

  // GeForce cards sum in fp32 at half the rate.
  const Gpu geforce = ParseGpu("NVIDIA GeForce RTX 4060 Ti", "cc=8.9,sms=34,clock=2625000000");
  EXPECT_NEAR(geforce.Peak(MathUnit::kTensorFp16), 34 * 256 * 2 * 2.625e9, 1);
  EXPECT_NEAR(geforce.Peak(MathUnit::kTensorFp16Half), 34 * 512 * 2 * 2.625e9, 1);
}

TEST(GpuTest, TableFillsWhatTheRecordLacks) {
  const Gpu a100 = ParseGpu("NVIDIA A100-PG509-200", "cc=8.0,sms=108");
  EXPECT_EQ(a100.clock_hz, 1410000000);
  EXPECT_EQ(a100.dram_bytes_per_s, 1555000000000);
  EXPECT_NEAR(a100.Peak(MathUnit::kTensorFp16), 312e12, 1);
  EXPECT_EQ(a100.source, PeakSource::kTable);
  EXPECT_EQ(a100.l2_bytes, 40 << 20);
  EXPECT_EQ(FindGpu("V100 SXM2").gpu->l2_bytes, 6 << 20);
  EXPECT_EQ(ParseGpu("GeForce GTX 1060 3GB", "cc=6.1,sms=9").l2_bytes, 0);
  // Half of its multiprocessors: half the peak.
  EXPECT_NEAR(ParseGpu("NVIDIA A100-PG509-200", "cc=8.0,sms=54").Peak(MathUnit::kTensorFp16),
              156e12, 1);
  EXPECT_EQ(ParseGpu("Tesla V100-SXM2-32GB", "").compute_capability, 70);
  // Rates of its own, whatever the clock.
  EXPECT_NEAR(ParseGpu("NVIDIA H20", "cc=9.0,sms=78,clock=1980000000").Peak(MathUnit::kTensorFp16),
              148e12, 1);
  // The name says one GPU, the capability another: the capability was measured.
  const Gpu odd = ParseGpu("NVIDIA A100-SXM4-40GB", "cc=9.0");
  EXPECT_EQ(odd.compute_capability, 90);
  EXPECT_EQ(odd.Peak(MathUnit::kTensorFp16), 0);
}

TEST(GpuTest, OtherMakersHaveNoComputeCapability) {
  for (const Gpu& gpu : {ParseGpu("", "cc=9.4,sms=304,warp=64"),
                         ParseGpu("AMD Radeon RX 7900 XTX", "cc=11.0,sms=48"),
                         ParseGpu("AMD Instinct MI300X", ""), *FindGpu("MI300X").gpu}) {
    EXPECT_FALSE(gpu.IsNvidia());
    EXPECT_EQ(gpu.compute_capability, 0);
  }
  EXPECT_EQ(ParseGpu("AMD Radeon RX 7900 XTX", "cc=11.0,sms=48").Peak(MathUnit::kVectorFp32), 0);
  EXPECT_EQ(ParseGpu("ARTEMIS", "").maker, Maker::kOther);
}

TEST(GpuTest, AmdGpusAreFoundByName) {
  const Gpu mi300x = ParseGpu("AMD Instinct MI300X", "cc=9.4,sms=304,warp=64,mem=206141652992");
  EXPECT_EQ(mi300x.maker, Maker::kAmd);
  EXPECT_NEAR(mi300x.Peak(MathUnit::kTensorFp16), 1307.4e12, 1);
  EXPECT_NEAR(mi300x.Peak(MathUnit::kTensorFp8), 2614.9e12, 1);
  EXPECT_NEAR(mi300x.Peak(MathUnit::kVectorFp32), 163.4e12, 1);
  EXPECT_EQ(mi300x.dram_bytes_per_s, 5'300'000'000'000);
  EXPECT_EQ(mi300x.l2_bytes, 256 << 20);
  EXPECT_EQ(mi300x.source, PeakSource::kTable);
  // As virtual machines see it; a part of it has its share.
  EXPECT_NEAR(
      ParseGpu("AMD Instinct MI300X VF", "cc=9.4,sms=304,warp=64").Peak(MathUnit::kTensorFp16),
      1307.4e12, 1);
  EXPECT_NEAR(ParseGpu("AMD Instinct MI300X", "cc=9.4,sms=38,warp=64").Peak(MathUnit::kTensorFp16),
              1307.4e12 / 8, 1);
  for (const char* name : {"MI210", "mi250", "MI250X", "MI300A", "MI300X", "MI325X", "MI350X",
                           "AMD Instinct MI355X"}) {
    const GpuMatch match = FindGpu(name);
    ASSERT_TRUE(match.gpu) << name;
    EXPECT_EQ(match.gpu->maker, Maker::kAmd) << name;
    EXPECT_GT(match.gpu->Peak(MathUnit::kTensorFp16), 0) << name;
  }
  EXPECT_GT(FindGpu("MI355X").gpu->Peak(MathUnit::kTensorFp6),
            FindGpu("MI355X").gpu->Peak(MathUnit::kTensorFp8));
  EXPECT_EQ(FindGpu("MI308X").gpu->Peak(MathUnit::kTensorFp16), 0);
}

TEST(GpuTest, AmdGpusWithoutANameAreToldByTheirSize) {
  const Gpu mi250 = ParseGpu("AMD Radeon Graphics", "cc=9.0,sms=104,warp=64,mem=68702699520");
  EXPECT_NEAR(mi250.Peak(MathUnit::kTensorFp16), 181e12, 1);
  EXPECT_EQ(mi250.dram_bytes_per_s, 1'638'000'000'000);
  EXPECT_EQ(mi250.name, "AMD Radeon Graphics");
  const Gpu mi300x = ParseGpu("", "cc=9.4,sms=304,warp=64,mem=206141652992");
  EXPECT_EQ(mi300x.dram_bytes_per_s, 5'300'000'000'000);
  const Gpu mi325x = ParseGpu("", "cc=9.4,sms=304,warp=64,mem=274000000000");
  EXPECT_EQ(mi325x.dram_bytes_per_s, 6'000'000'000'000);
  // Without the size of memory they differ in the bandwidth only: that is not known.
  const Gpu either = ParseGpu("", "cc=9.4,sms=304,warp=64");
  EXPECT_NEAR(either.Peak(MathUnit::kTensorFp16), 1307.4e12, 1);
  EXPECT_EQ(either.dram_bytes_per_s, 0);
  // MI350X and MI355X differ by their clocks, which no trace tells.
  const Gpu mi35x = ParseGpu("", "cc=9.5,sms=256,warp=64,mem=309220868096");
  EXPECT_EQ(mi35x.dram_bytes_per_s, 8'000'000'000'000);
  EXPECT_EQ(mi35x.Peak(MathUnit::kTensorFp16), 0);
  EXPECT_EQ(ParseGpu("", "cc=9.4,sms=300,warp=64").Peak(MathUnit::kTensorFp16), 0);
  EXPECT_EQ(ParseGpu("", "cc=9.4,sms=304,warp=64,mem=1000").Peak(MathUnit::kTensorFp16), 0);
  // Another model of the same size is another model; NVIDIA's 9.0 is no gfx90a.
  EXPECT_EQ(ParseGpu("AMD Instinct MI999X", "cc=9.4,sms=304,warp=64").Peak(MathUnit::kTensorFp16),
            0);
  EXPECT_EQ(ParseGpu("", "cc=9.0,sms=104").Peak(MathUnit::kTensorFp64), 0);
}

TEST(GpuTest, NamesOfSeveralGpusAreToldApartByTheRecord) {
  const Gpu small = ParseGpu("NVIDIA GeForce RTX 3080", "cc=8.6,sms=68");
  EXPECT_EQ(small.dram_bytes_per_s, 760'000'000'000);
  const Gpu large = ParseGpu("NVIDIA GeForce RTX 3080", "cc=8.6,sms=70");
  EXPECT_EQ(large.dram_bytes_per_s, 912'000'000'000);
  // What all agree on counts.
  const Gpu a100 = ParseGpu("NVIDIA A100", "cc=8.0,sms=108");
  EXPECT_NEAR(a100.Peak(MathUnit::kTensorFp16), 312e12, 1);
  EXPECT_EQ(a100.dram_bytes_per_s, 0);
  EXPECT_EQ(
      ParseGpu("AMD Instinct MI250X/MI250", "cc=9.0,sms=110,warp=64").Peak(MathUnit::kTensorFp16),
      191.5e12);
}

TEST(GpuTest, SkusDiffer) {
  const auto fp16 = [](const char* name) {
    const GpuMatch match = FindGpu(name);
    EXPECT_TRUE(match.gpu) << name;
    return match.gpu ? match.gpu->Peak(MathUnit::kTensorFp16) * 1e-12 : 0;
  };
  EXPECT_NEAR(fp16("NVIDIA H100 80GB HBM3"), 989, 1e-6);
  EXPECT_NEAR(fp16("NVIDIA H100 PCIe"), 756, 1e-6);
  EXPECT_NEAR(fp16("NVIDIA H100 NVL"), 835, 1e-6);
  EXPECT_NEAR(fp16("NVIDIA H200"), 989, 1e-6);
  EXPECT_NEAR(fp16("NVIDIA H200 NVL"), 836, 1e-6);
  EXPECT_NEAR(fp16("NVIDIA B200"), 2250, 1e-6);
  EXPECT_NEAR(fp16("NVIDIA GB200"), 2500, 1e-6);
  EXPECT_NEAR(fp16("NVIDIA B300 SXM6 AC"), 2250, 1e-6);
  EXPECT_NEAR(fp16("NVIDIA GB300"), 2500, 1e-6);
  EXPECT_NEAR(fp16("NVIDIA L40S"), 362, 1e-6);
  EXPECT_NEAR(fp16("NVIDIA L40"), 181, 1e-6);
  EXPECT_NEAR(fp16("NVIDIA L4"), 121, 1e-6);
  EXPECT_NEAR(fp16("NVIDIA A10"), 125, 1e-6);
  EXPECT_NEAR(fp16("NVIDIA A10G"), 70, 1e-6);
  EXPECT_NEAR(fp16("TITAN V"), 110, 1e-6);
  EXPECT_NEAR(fp16("Tesla V100S-PCIE-32GB"), 130, 1e-6);
  EXPECT_NEAR(fp16("NVIDIA RTX A4000"), 76.7, 1e-6);
  EXPECT_NEAR(fp16("NVIDIA L20"), 119.5, 1e-6);
  EXPECT_NEAR(fp16("NVIDIA GeForce RTX 5080"), 112.6, 1e-6);
  EXPECT_NEAR(FindGpu("B200").gpu->Peak(MathUnit::kTensorTf32), 1125e12, 1);
  // fp16 and bf16 differ: the column is of both.
  EXPECT_EQ(fp16("MI100"), 0);
}

// Boards, virtual GPUs and variants have names that the table lacks: their size tells what they
// are.
TEST(GpuTest, NvidiaGpusOfOtherNamesAreToldByTheirSize) {
  const Gpu board = ParseGpu("NVIDIA PG509-210", "cc=8.0,sms=108,mem=85197979648");
  EXPECT_NEAR(board.Peak(MathUnit::kTensorFp16), 312e12, 1);
  EXPECT_EQ(board.source, PeakSource::kTable);
  EXPECT_EQ(board.name, "NVIDIA PG509-210");
  // SXM and PCIe boards of 80 GB differ in bandwidth alone, those of 40 GB are one row.
  EXPECT_EQ(board.dram_bytes_per_s, 0);
  const Gpu small = ParseGpu("NVIDIA PG509-210", "cc=8.0,sms=108,mem=42481549312");
  EXPECT_EQ(small.dram_bytes_per_s, 1'555'000'000'000);
  EXPECT_NEAR(ParseGpu("NVIDIA A800-SXM4-80GB", "cc=8.0,sms=108,mem=85197979648")
                  .Peak(MathUnit::kTensorFp16),
              312e12, 1);
  for (const char* other : {"cc=8.0,sms=108", "cc=8.0,sms=107,mem=85197979648",
                            "sms=108,mem=85197979648", "cc=8.0,sms=108,mem=17179869184"}) {
    EXPECT_EQ(ParseGpu("NVIDIA PG509-210", other).Peak(MathUnit::kTensorFp16), 0) << other;
  }
  // Models of which there are many alike: 48 multiprocessors and 16 GB are an RTX A4000 too.
  for (const char* name : {"NVIDIA GeForce RTX 3080 Laptop GPU", "NVIDIA RTX 3000 Mobile",
                           "NVIDIA A100-SXM4-80GB MIG 7g.80gb"}) {
    EXPECT_EQ(ParseGpu(name, "cc=8.6,sms=48,mem=17179869184").Peak(MathUnit::kTensorFp16), 0);
    EXPECT_EQ(ParseGpu(name, "cc=8.0,sms=108,mem=85197979648").Peak(MathUnit::kTensorFp16), 0);
  }
}

// Its compute capability is that of others that have them.
TEST(GpuTest, Gtx16HasNoTensorCores) {
  for (const char* name : {"NVIDIA GeForce GTX 1650", "NVIDIA GeForce GTX 1660 Ti"}) {
    const Gpu gpu = ParseGpu(name, "cc=7.5,sms=14,clock=1665000000");
    EXPECT_NEAR(gpu.Peak(MathUnit::kVectorFp32), 2.98e12, 1e10) << name;
    EXPECT_EQ(gpu.Peak(MathUnit::kTensorFp16), 0) << name;
    EXPECT_EQ(gpu.Peak(MathUnit::kTensorInt8), 0) << name;
  }
}

TEST(GpuTest, RatesOfLaterBlackwells) {
  // 148 x 4096 x 2 x 1.92e9, 24576 for fp4; 20 x 16384 x 2 x 1.575e9; 48 x 2048 x 2 x 2.523e9.
  const Gpu b300 = ParseGpu("", "cc=10.3,sms=148,clock=1920000000");
  EXPECT_NEAR(b300.Peak(MathUnit::kTensorFp16), 2327.8e12, 1e11);
  EXPECT_NEAR(b300.Peak(MathUnit::kTensorFp4), 13967e12, 1e11);
  const Gpu thor = ParseGpu("", "cc=11.0,sms=20,clock=1575000000");
  EXPECT_NEAR(thor.Peak(MathUnit::kTensorFp4), 1032.2e12, 1e11);
  EXPECT_EQ(thor.Peak(MathUnit::kTensorFp16), 0);
  const Gpu spark = ParseGpu("", "cc=12.1,sms=48,clock=2523000000");
  EXPECT_NEAR(spark.Peak(MathUnit::kVectorFp32), 31e12, 1e11);
  EXPECT_NEAR(spark.Peak(MathUnit::kTensorFp4), 496e12, 1e12);
}

TEST(GpuTest, BadFactsAreNotRecorded) {
  for (const char* text :
       {"", ",,,", "cc=", "cc=9", "cc=9.", "cc=9.x", "cc=-1.0", "cc=999999999999999999999.0",
        "sms=0", "sms=-5", "sms=1e3", "sms=99999999999999999999", "clock=9223372036854775807", "=",
        "dram=9223372036854775807", "mem=-1", "mem=x", "cc"}) {
    const Gpu gpu = ParseGpu("", text);
    EXPECT_EQ(gpu.compute_capability, 0) << text;
    EXPECT_EQ(gpu.multiprocessors, 0) << text;
    EXPECT_EQ(gpu.clock_hz, 0) << text;
    EXPECT_EQ(gpu.dram_bytes_per_s, 0) << text;
  }
  const std::string huge(1 << 20, 'a');
  EXPECT_FALSE(FindGpu(huge).gpu);
  EXPECT_EQ(ParseGpu(huge, huge).compute_capability, 0);
}

// Values of CUDA's occupancy calculator.
TEST(OccupancyTest, IsThatOfTheCalculator) {
  struct Row {
    int compute_capability;
    int64_t threads;
    int64_t registers;
    int64_t shared_bytes;
    int64_t blocks;
    double percent;
  };
  const Row rows[] = {
      {70, 256, 32, 0, 8, 100},  // 8 x 8 warps of 64
      {70, 256, 64, 0, 4, 50},   // 64 x 32 = 2048 registers a warp: 32 warps
      {70, 256, 63, 0, 4, 50},   // rounded up to 64
      {70, 256, 128, 0, 2, 25},
      {70, 128, 255, 0, 2, 12.5},  // 8 warps of 8192 registers
      {70, 1024, 32, 0, 2, 100},
      {70, 256, 32, 49152, 2, 25},  // 96 KiB
      {70, 256, 32, 98304, 1, 12.5},
      {70, 32, 16, 0, 32, 50},   // 32 blocks
      {70, 1, 16, 0, 32, 50},    // a warp a block
      {75, 256, 32, 0, 4, 100},  // 32 warps
      {75, 32, 32, 0, 16, 50},   // 16 blocks
      {80, 256, 32, 0, 8, 100},
      {80, 128, 128, 0, 4, 25},
      {80, 256, 32, 49152, 3, 37.5},      // 48 + 1 KiB of 164
      {80, 128, 230, 73728, 2, 12.5},     // 72 + 1 KiB of 164
      {86, 256, 32, 0, 6, 100},           // 48 warps
      {86, 256, 40, 0, 6, 100},           // 1280 registers a warp: 51 warps, 48 count
      {86, 1024, 32, 0, 1, 66.66666666},  // 32 of 48
      {86, 32, 16, 0, 16, 33.33333333},
      {89, 32, 16, 0, 24, 50},
      {90, 384, 168, 232448, 1, 18.75},  // all of 227 KiB
      {90, 256, 32, 0, 8, 100},
      {90, 96, 40, 0, 16, 75},      // 48 warps by registers, 16 blocks of 3
      {61, 128, 32, 24576, 4, 25},  // 96 KiB
  };
  for (const Row& row : rows) {
    const Launch launch{{1, 1, 1}, {row.threads, 1, 1}, row.registers, row.shared_bytes};
    EXPECT_EQ(BlocksPerMultiprocessor(row.compute_capability, launch), row.blocks)
        << row.compute_capability << ' ' << row.threads << ' ' << row.registers;
    const auto percent = TheoreticalOccupancy(row.compute_capability, launch);
    ASSERT_TRUE(percent);
    EXPECT_NEAR(*percent, row.percent, 1e-6)
        << row.compute_capability << ' ' << row.threads << ' ' << row.registers;
  }
}

TEST(OccupancyTest, ImpossibleLaunchesHaveNone) {
  const auto blocks = [](int capability, Dim3 block, int64_t registers, int64_t shared) {
    return BlocksPerMultiprocessor(capability, {{1, 1, 1}, block, registers, shared});
  };
  EXPECT_EQ(blocks(0, {32, 1, 1}, 32, 0), std::nullopt);
  EXPECT_EQ(blocks(94, {32, 1, 1}, 32, 0), std::nullopt);
  EXPECT_EQ(blocks(80, {2048, 1, 1}, 32, 0), std::nullopt);
  EXPECT_EQ(blocks(80, {0, 1, 1}, 32, 0), std::nullopt);
  EXPECT_EQ(blocks(80, {INT64_MAX, INT64_MAX, INT64_MAX}, 32, 0), std::nullopt);
  EXPECT_EQ(blocks(80, {INT64_MIN, 1, 1}, 32, 0), std::nullopt);
  EXPECT_EQ(blocks(80, {1024, 1, 1}, 128, 0), std::nullopt);
  EXPECT_EQ(blocks(80, {32, 1, 1}, 0, 0), std::nullopt);
  EXPECT_EQ(blocks(80, {32, 1, 1}, INT64_MAX, 0), std::nullopt);
  EXPECT_EQ(blocks(80, {32, 1, 1}, 32, -1), std::nullopt);
  EXPECT_EQ(blocks(80, {32, 1, 1}, 32, INT64_MAX), std::nullopt);
  EXPECT_EQ(blocks(75, {32, 1, 1}, 32, 64 * 1024 + 1), std::nullopt);
}

TEST(OccupancyTest, WavesFillTheGpu) {
  const Gpu a100 = ParseGpu("NVIDIA A100-SXM4-40GB", "cc=8.0,sms=108");
  // 8 blocks a multiprocessor: 864 a wave.
  const auto waves = [&](Dim3 grid) { return Waves(a100, {grid, {256, 1, 1}, 32, 0}); };
  EXPECT_DOUBLE_EQ(waves({864, 1, 1}).value(), 1);
  EXPECT_DOUBLE_EQ(waves({216, 2, 3}).value(), 1.5);
  EXPECT_DOUBLE_EQ(waves({INT64_MAX, 1, 1}).value(), static_cast<double>(INT64_MAX) / 864);
  EXPECT_FALSE(waves({0, 1, 1}));
  EXPECT_FALSE(Waves(ParseGpu("", "cc=8.0"), {{1, 1, 1}, {256, 1, 1}, 32, 0}));
}

}  // namespace
}  // namespace oplens::ops::gpu_test

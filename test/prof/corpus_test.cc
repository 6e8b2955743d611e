// prof on real record files. Holds counts and sums only.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "prof/input/line_records.h"
#include "prof/price_all.h"
#include "prof/table/text_sinks.h"
#include "prof/views/kernels/kernel_columns.h"
#include "test/support/test_files.h"

namespace oplens::prof::corpus_test {
namespace {

using test::CorpusFile;
using test::ReadFile;
using test::TestDir;

using Table = std::map<std::string, std::vector<std::string>>;

// Columns by header of CSV whose fields are all quoted and hold no newline.
Table ReadCsv(const std::string& text) {
  std::vector<std::vector<std::string>> rows(1, std::vector<std::string>(1));
  bool quoted = false;
  for (char c : text) {
    if (c == '"') {
      quoted = !quoted;
    } else if (c == ',' && !quoted) {
      rows.back().emplace_back();
    } else if (c == '\n' && !quoted) {
      rows.emplace_back(1);
    } else if (c != '\r') {
      rows.back().back() += c;
    }
  }
  rows.pop_back();
  Table table;
  for (size_t i = 0; i < rows.at(0).size(); ++i) {
    for (size_t row = 1; row < rows.size(); ++row) table[rows[0][i]].push_back(rows[row].at(i));
  }
  return table;
}

Table RunProf(const std::string& corpus_name, Diagnostics* diagnostics) {
  LineRecords lines(CorpusFile(corpus_name).string());
  const std::string path = (TestDir() / "out.csv").string();
  Output output(path);
  const std::unique_ptr<Sink> sink = MakeCsvSink(&output);
  sink->Begin("kernels", FieldsOf(KernelColumns()));
  KernelTable table(SelectKernelColumns("all"), sink.get());
  PriceAll(&lines, {}, &table, diagnostics);
  output.Commit();
  return ReadCsv(ReadFile(path));
}

int64_t SumOf(const std::vector<std::string>& integers) {
  int64_t sum = 0;
  for (const std::string& integer : integers) sum += std::stoll(integer);
  return sum;
}

TEST(CorpusTest, LanguageModelAgreesWithItsCsv) {
  OPLENS_NEED_CORPUS();
  Diagnostics diagnostics;
  const Table ours = RunProf("dict/lm.dict", &diagnostics);
  const Table theirs = ReadCsv(ReadFile(CorpusFile("dict/lm.csv")));
  ASSERT_EQ(ours.at("Idx").size(), 160u);
  for (const char* header : {"Kernel", "Direction", "Sil(ns)", "Grid", "Block"}) {
    EXPECT_EQ(ours.at(header), theirs.at(header)) << header;
  }
  EXPECT_EQ(SumOf(ours.at("Sil(ns)")), 7296770);
  EXPECT_EQ(diagnostics.CountOf(Reason::kBadLine), 0);
}

// The matrix products of this model, worked out by hand from its sizes. Each is two backward.
TEST(CorpusTest, LanguageModelMatrixProducts) {
  OPLENS_NEED_CORPUS();
  Diagnostics diagnostics;
  const Table table = RunProf("dict/lm.dict", &diagnostics);
  std::map<std::string, int64_t> flops;  // By direction.
  for (size_t i = 0; i < table.at("Op").size(); ++i) {
    if (table.at("Op")[i] != "matmul") continue;
    ASSERT_NE(table.at("FLOPs")[i], "") << "row " << i + 1;
    flops[table.at("Direction")[i]] += std::stoll(table.at("FLOPs")[i]);
  }
  // 700 positions; 200 x 600 (q, k, v), 200 x 200 three times, 200 x 33278 words.
  const int64_t forward = int64_t{2} * 700 * 200 * (600 + 3 * 200 + 33278);
  EXPECT_EQ(flops["fprop"], forward);
  EXPECT_EQ(flops["bprop"], 2 * forward);
}

struct FileCase {
  const char* name;
  size_t kernels;
  int64_t sum_ns;
};

TEST(CorpusTest, EveryFileIsReadWhole) {
  OPLENS_NEED_CORPUS();
  for (const FileCase& c :
       {FileCase{"dlprof_dummy", 46, 346684}, FileCase{"gpu_ml", 38, 77080567},
        FileCase{"lm", 160, 7296770}, FileCase{"mmagic", 328, 4140952},
        FileCase{"openacc", 1, 97641567}, FileCase{"saxpy_mpi", 10, 177146960}}) {
    SCOPED_TRACE(c.name);
    Diagnostics diagnostics;
    const Table table = RunProf(std::string("dict/") + c.name + ".pyprof.dict", &diagnostics);
    ASSERT_EQ(table.at("Idx").size(), c.kernels);
    EXPECT_EQ(diagnostics.CountOf(Reason::kBadLine), 0);
    EXPECT_EQ(SumOf(table.at("Sil(ns)")), c.sum_ns);
    for (size_t i = 0; i < c.kernels; ++i) {
      const bool priced = !table.at("FLOPs")[i].empty() && !table.at("Bytes")[i].empty();
      const bool says_why = !table.at("Reason")[i].empty();
      // What the launch tells does not end the reason for an unknown price.
      const bool estimated = table.at("SizesEvidence")[i] == "sizes";
      EXPECT_TRUE(priced || says_why) << "a cost or a reason, row " << i + 1;
      EXPECT_TRUE(!priced || !says_why || estimated) << "row " << i + 1;
    }
  }
}

}  // namespace
}  // namespace oplens::prof::corpus_test

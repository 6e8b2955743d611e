#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <sstream>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "parse/model/kernel_record.h"
#include "test/support/test_files.h"

namespace oplens::record_reader_test {
namespace {

using namespace std::string_view_literals;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

/// The keys that every line needs, without brackets.
constexpr std::string_view kRequired =
    "'kShortName': 'gemm', 'kDuration': 5, 'tid': 1, 'device': 0, 'stream': 7, "
    "'grid': (1, 2, 3), 'block': (4, 5, 6)";

std::string LineWith(std::string_view more) { return fmt::format("{{{}, {}}}", kRequired, more); }

/// A reader with the line it reads, which the record points into.
struct Fixture {
  RecordReader reader;
  KernelRecord record;
  std::string line;
  std::string error;

  bool Read(std::string_view text) {
    line.assign(text);
    error.clear();
    return reader.Read(line, &record, &error);
  }
  std::string ErrorOf(std::string_view text) {
    EXPECT_FALSE(Read(text)) << text.substr(0, 200);
    EXPECT_NE(error, "");
    return error;
  }
};

TEST(RecordReader, ReadsALineOfPyProf) {
  const std::string line =
      "{'kShortName': 'indexSelect', 'kDuration': 6624, 'layer': ['a', 'b'], 'trace': "
      "['train.py:319', 'net.py:106'], 'reprMarkers': [\"{'mod': 'LSTM', 'strRepr': '5'}\"], "
      "'marker': [\"{'mod': 'torch', 'op': 'mm', 'args': []}\"], 'seqMarker': ['mm, seq = 65'], "
      "'seqId': [65], 'subSeqId': 2, 'altSeqId': [63, 64], 'dir': 'fprop', 'mod': ['torch', 'na'], "
      "'op': ['mm', 'addmm'], 'tid': 3940300608, 'device': 1, 'stream': 7, 'grid': (640, 1, 2), "
      "'block': (128, 3, 1), 'kLongName': 'void indexSelect<float>(int)'}";
  Fixture f;
  ASSERT_TRUE(f.Read(line)) << f.error;
  const KernelRecord& r = f.record;
  EXPECT_EQ(r.short_name, "indexSelect");
  EXPECT_EQ(r.duration_ns, 6624);
  EXPECT_THAT(r.layer, ElementsAre("a", "b"));
  EXPECT_THAT(r.trace, ElementsAre("train.py:319", "net.py:106"));
  EXPECT_THAT(r.repr_markers, ElementsAre("{'mod': 'LSTM', 'strRepr': '5'}"));
  EXPECT_THAT(r.markers, ElementsAre("{'mod': 'torch', 'op': 'mm', 'args': []}"));
  EXPECT_THAT(r.seq_markers, ElementsAre("mm, seq = 65"));
  EXPECT_THAT(r.seq_ids, ElementsAre(65));
  EXPECT_EQ(r.sub_seq_id, 2);
  EXPECT_THAT(r.alt_seq_ids, ElementsAre(63, 64));
  EXPECT_EQ(r.direction, Direction::kForward);
  EXPECT_THAT(r.mod, ElementsAre("torch", "na"));
  EXPECT_THAT(r.op, ElementsAre("mm", "addmm"));
  EXPECT_EQ(r.thread_id, 3940300608);
  EXPECT_EQ(r.device_id, 1);
  EXPECT_EQ(r.stream_id, 7);
  EXPECT_EQ(r.grid, (Dim3{640, 1, 2}));
  EXPECT_EQ(r.block, (Dim3{128, 3, 1}));
  EXPECT_EQ(r.long_name, "void indexSelect<float>(int)");
  EXPECT_EQ(r.start_ns, std::nullopt);
  EXPECT_EQ(r.launch_api, std::nullopt);
  EXPECT_TRUE(r.reasons.Empty());
}

TEST(RecordReader, ReadsOurKeys) {
  Fixture f;
  ASSERT_TRUE(f.Read(LineWith(
      "'kStart': 1600000000123456789, 'kEnd': 9223372036854775807, 'corrId': 4711, 'pid': 31337, "
      "'context': 1, 'registers': 32, 'staticSharedMemory': 2, 'dynamicSharedMemory': 16384, "
      "'launch': 'cudaLaunchKernel', 'launchStart': -3, 'launchEnd': 8, 'deviceName': 'V100', "
      "'range': ['epoch 1', 'step 2'], 'rangeCut': 4, 'markerStart': [10, 20], "
      "'gpu': 'cc=7.0,sms=80', 'sharedMemory': 99, "
      "'reason': ['no-range', 'of a later version', 'no-cost-model']")))
      << f.error;
  const KernelRecord& r = f.record;
  EXPECT_EQ(r.start_ns, 1600000000123456789);
  EXPECT_EQ(r.end_ns, INT64_MAX);
  EXPECT_EQ(r.correlation_id, 4711);
  EXPECT_EQ(r.process_id, 31337);
  EXPECT_EQ(r.context_id, 1);
  EXPECT_EQ(r.registers_per_thread, 32);
  EXPECT_EQ(r.static_shared_memory_bytes, 2);
  EXPECT_EQ(r.dynamic_shared_memory_bytes, 16384);
  EXPECT_EQ(r.launch_api, "cudaLaunchKernel");
  EXPECT_EQ(r.launch_start_ns, -3);
  EXPECT_EQ(r.launch_end_ns, 8);
  EXPECT_EQ(r.device_name, "V100");
  EXPECT_EQ(r.gpu, "cc=7.0,sms=80");
  EXPECT_EQ(r.shared_memory_bytes, 99);
  EXPECT_THAT(r.range, ElementsAre("epoch 1", "step 2"));
  EXPECT_EQ(r.range_cut, 4);
  EXPECT_THAT(r.marker_starts_ns, ElementsAre(10, 20));
  ReasonSet reasons;
  reasons.Add(Reason::kNoMarker);
  reasons.Add(Reason::kUnknownOp);
  EXPECT_EQ(r.reasons, reasons);
}

TEST(RecordReader, TakesNoneAsUnknown) {
  Fixture f;
  ASSERT_TRUE(f.Read(LineWith("'kStart': None, 'launch': None, 'deviceName': None, 'pid': 0")));
  EXPECT_EQ(f.record.start_ns, std::nullopt);
  EXPECT_EQ(f.record.launch_api, std::nullopt);
  EXPECT_EQ(f.record.device_name, std::nullopt);
  EXPECT_EQ(f.record.process_id, 0);
}

TEST(RecordReader, ReadsKeysInAnyOrderAndSkipsUnknownOnes) {
  Fixture f;
  ASSERT_TRUE(f.Read(
      R"(  {"block":[4,5,6],'later': {'a': [1, (2,)]}, 'grid' : [1, 2, 3] , 'stream': 7, 'device': 0,)"
      R"('tid': 1, 'reason': [], 'op': 'mm', 'mod': 'torch', 'dir': 'bprop', 'kDuration': 5,)"
      "'kShortNam\\x65': 'gemm',}\r"))
      << f.error;
  EXPECT_EQ(f.record.short_name, "gemm");
  EXPECT_EQ(f.record.duration_ns, 5);
  EXPECT_EQ(f.record.grid, (Dim3{1, 2, 3}));
  EXPECT_EQ(f.record.block, (Dim3{4, 5, 6}));
  EXPECT_EQ(f.record.direction, Direction::kBackward);
  EXPECT_THAT(f.record.mod, ElementsAre("torch"));
  EXPECT_THAT(f.record.op, ElementsAre("mm"));
}

TEST(RecordReader, TakesOtherDirectionsAsUnknown) {
  Fixture f;
  for (const std::string_view word : {"", "na", "sideways"}) {
    ASSERT_TRUE(f.Read(LineWith(fmt::format("'dir': '{}'", word))));
    EXPECT_EQ(f.record.direction, Direction::kUnknown);
  }
}

TEST(RecordReader, CountsNoNegativeDuration) {
  Fixture f;
  ASSERT_TRUE(f.Read(
      "{'kShortName': '', 'kDuration': -5, 'tid': 1, 'device': 0, 'stream': 7, 'grid': (1, 2, 3), "
      "'block': (4, 5, 6), 'reason': ['no-range']}"));
  EXPECT_EQ(f.record.duration_ns, 0);
  EXPECT_TRUE(f.record.reasons.Has(Reason::kBadTimes));
  EXPECT_TRUE(f.record.reasons.Has(Reason::kNoMarker));
}

TEST(RecordReader, KeepsNothingOfTheLineBefore) {
  Fixture f;
  ASSERT_TRUE(
      f.Read(LineWith("'layer': ['a'], 'kStart': 3, 'dir': 'fprop', 'reason': ['no-range'], "
                      "'kLongName': 'x', 'seqId': [1]")));
  ASSERT_TRUE(f.Read(LineWith("'rangeCut': 0")));
  EXPECT_THAT(f.record.layer, IsEmpty());
  EXPECT_THAT(f.record.seq_ids, IsEmpty());
  EXPECT_EQ(f.record.start_ns, std::nullopt);
  EXPECT_EQ(f.record.direction, Direction::kUnknown);
  EXPECT_EQ(f.record.long_name, "");
  EXPECT_TRUE(f.record.reasons.Empty());
}

TEST(RecordReader, KeepsAllDecodedTextsOfALine) {
  std::string list;
  for (int i = 0; i < 3000; ++i) list += fmt::format(R"('\u20ac{}', )", i);
  Fixture f;
  ASSERT_TRUE(f.Read(LineWith("'layer': ['\\x41']")));
  ASSERT_TRUE(f.Read(LineWith(fmt::format(R"('kLongName': '\x41\udcff', 'trace': [{}])", list))));
  EXPECT_EQ(f.record.long_name, "A\xff");
  ASSERT_EQ(f.record.trace.size(), 3000u);
  for (size_t i = 0; i < 3000; ++i) {
    ASSERT_EQ(f.record.trace[i], fmt::format("\xe2\x82\xac{}", i));
  }
}

TEST(RecordReader, PointsIntoTheLineWhereNothingIsEscaped) {
  Fixture f;
  ASSERT_TRUE(f.Read(LineWith("'layer': ['plain', 'also \"plain\"']")));
  for (const std::string_view text : f.record.layer) {
    EXPECT_TRUE(text.data() > f.line.data() && text.data() < f.line.data() + f.line.size());
  }
}

TEST(RecordReader, SaysWhatIsMissing) {
  Fixture f;
  EXPECT_EQ(f.ErrorOf("{}"), "the key 'kShortName' is missing");
  EXPECT_EQ(f.ErrorOf("{'kShortName': ''}"), "the key 'kDuration' is missing");
  const std::string_view parts[] = {"'kShortName': ''",  "'kDuration': 1", "'tid': 1",
                                    "'device': 1",       "'stream': 1",    "'grid': (1, 1, 1)",
                                    "'block': (1, 1, 1)"};
  for (const std::string_view left_out : parts) {
    std::vector<std::string_view> rest;
    for (const std::string_view part : parts) {
      if (part != left_out) rest.push_back(part);
    }
    EXPECT_EQ(f.ErrorOf(fmt::format("{{{}}}", fmt::join(rest, ", "))),
              fmt::format("the key {} is missing", left_out.substr(0, left_out.find(':'))));
  }
}

TEST(RecordReader, SaysWhereAValueIsWrong) {
  Fixture f;
  EXPECT_EQ(f.ErrorOf("{'kDuration': 'long'}"),
            "'kDuration': an integer is expected, at column 15");
  EXPECT_EQ(f.ErrorOf("{'kDuration': 1.5}"), "'kDuration': an integer is expected, at column 15");
  EXPECT_EQ(f.ErrorOf("{'kDuration': 9223372036854775808}"),
            "'kDuration': an integer is out of range, at column 15");
  EXPECT_EQ(f.ErrorOf("{'kShortName': None}"), "'kShortName': a string is expected, at column 16");
  EXPECT_EQ(f.ErrorOf("{'grid': (1, 2)}"), "'grid': three integers are expected, at column 16");
  EXPECT_EQ(f.ErrorOf("{'grid': (1, 2, 3, 4)}"),
            "'grid': three integers are expected, at column 20");
  EXPECT_EQ(f.ErrorOf("{'grid': (1, 2, None)}"), "'grid': an integer is expected, at column 17");
  EXPECT_EQ(f.ErrorOf("{'grid': 7}"), "'grid': a list or a tuple is expected, at column 10");
  EXPECT_EQ(f.ErrorOf("{'layer': 'x'}"), "'layer': a list or a tuple is expected, at column 11");
  EXPECT_EQ(f.ErrorOf("{'layer': [1]}"), "'layer': a string is expected, at column 12");
  EXPECT_EQ(f.ErrorOf("{'seqId': ['1']}"), "'seqId': an integer is expected, at column 12");
  EXPECT_EQ(f.ErrorOf("{'tid': None}"), "'tid': an integer is expected, at column 9");
  EXPECT_EQ(f.ErrorOf("{'pid': 'None'}"), "'pid': an integer is expected, at column 9");
  EXPECT_EQ(f.ErrorOf("{'launch': 3}"), "'launch': a string is expected, at column 12");
  EXPECT_EQ(f.ErrorOf("{'reason': 'no-range'}"),
            "'reason': a list or a tuple is expected, at column 12");
  EXPECT_EQ(f.ErrorOf("{'dir': 1}"), "'dir': a string is expected, at column 9");
}

TEST(RecordReader, RefusesKeysThatStandTwice) {
  Fixture f;
  EXPECT_EQ(f.ErrorOf("{'tid': 1, 'tid': 1}"), "'tid': a key stands twice, at column 19");
  EXPECT_EQ(f.ErrorOf(LineWith("'layer': [], 'kDuration': 6")).substr(0, 33),
            "'kDuration': a key stands twice, ");
  // Keys that are not read cannot contradict each other.
  EXPECT_TRUE(f.Read(LineWith("'later': 1, 'later': 2")));
}

TEST(RecordReader, RefusesLinesThatAreNoRecords) {
  Fixture f;
  EXPECT_EQ(f.ErrorOf(""), "a dict is expected, at column 1, where the text ends");
  for (const std::string_view line :
       {"Error: no such table: CUPTI_ACTIVITY_KIND_KERNEL"sv, "[]"sv, "None"sv, "{"sv, "\0\0\0\0"sv,
        "{'kShortName': 'a\0b'}"sv, "{\0}"sv, "\x80\xff"sv, "{{}}"sv, "{'a': 1}}"sv, "{'a'; 1}"sv,
        "{'a': exit()}"sv, "{1: 2}"sv, "{\"kShortName\": null}"sv, "dict(kShortName='x')"sv}) {
    f.ErrorOf(line);
  }
  EXPECT_THAT(f.ErrorOf(LineWith("'x': 1") + "{}"), HasSubstr("something follows the literal"));
  EXPECT_THAT(f.ErrorOf(LineWith("'x': " + std::string(1000000, '['))), HasSubstr("too deeply"));
  EXPECT_THAT(f.ErrorOf(LineWith("'grid': " + std::string(1000000, '('))), HasSubstr("'grid'"));
  EXPECT_THAT(f.ErrorOf(LineWith("'x': '" + std::string(1000000, 'y'))),
              HasSubstr("closing quote"));
}

TEST(RecordReader, ReadsHugeValues) {
  Fixture f;
  const std::string text(1 << 20, 'x');
  ASSERT_TRUE(f.Read(LineWith(fmt::format("'kLongName': '{}'", text)))) << f.error;
  EXPECT_EQ(f.record.long_name, text);
  ASSERT_TRUE(f.Read(LineWith(fmt::format("'kLongName': '{}\\n'", text)))) << f.error;
  EXPECT_EQ(f.record.long_name.size(), text.size() + 1);
  EXPECT_TRUE(f.Read(LineWith("'later': " + std::string(1000000, '9')))) << f.error;
}

TEST(RecordReader, RefusesEveryCut) {
  Fixture f;
  const std::string line = LineWith(R"('layer': ['\x41'], 'kStart': None, 'reason': ['no-range'])");
  ASSERT_TRUE(f.Read(line));
  for (size_t size = 0; size < line.size(); ++size) f.ErrorOf(std::string(line, 0, size));
}

// What the corpus README counts in the files that PyProf made.
struct CorpusCase {
  const char* file;
  int64_t records;
  int64_t duration_ns;
};

class RecordReaderCorpus : public testing::TestWithParam<CorpusCase> {};

TEST_P(RecordReaderCorpus, ReadsEveryLine) {
  OPLENS_NEED_CORPUS();
  const std::string content = test::ReadFile(test::CorpusFile(GetParam().file));
  std::istringstream lines(content);
  Fixture f;
  int64_t records = 0;
  int64_t duration_ns = 0;
  for (std::string line; std::getline(lines, line); ++records) {
    ASSERT_TRUE(f.Read(line)) << "line " << records + 1 << ": " << f.error;
    EXPECT_EQ(f.record.mod.empty(), false);
    EXPECT_GT(f.record.grid.x * f.record.block.x, 0);
    duration_ns += f.record.duration_ns;
  }
  EXPECT_EQ(records, GetParam().records);
  EXPECT_EQ(duration_ns, GetParam().duration_ns);
}

INSTANTIATE_TEST_SUITE_P(Dict, RecordReaderCorpus,
                         testing::Values(CorpusCase{"dict/lm.dict", 160, 7296770},
                                         CorpusCase{"dict/lm.pyprof.dict", 160, 7296770},
                                         CorpusCase{"dict/dlprof_dummy.pyprof.dict", 46, 346684},
                                         CorpusCase{"dict/gpu_ml.pyprof.dict", 38, 77080567},
                                         CorpusCase{"dict/mmagic.pyprof.dict", 328, 4140952},
                                         CorpusCase{"dict/openacc.pyprof.dict", 1, 97641567},
                                         CorpusCase{"dict/saxpy_mpi.pyprof.dict", 10, 177146960}));

}  // namespace
}  // namespace oplens::record_reader_test

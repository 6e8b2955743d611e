// The test recorder itself, through NVTX.

#include <dlfcn.h>
#include <gmock/gmock.h>
#include <nvtx3/nvToolsExt.h>
#include <nvtx3/nvToolsExtPayload.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <thread>

#include "nvtx_annotate/oplens_annotate.h"
#include "nvtx_annotate/vocabulary/marker_format.h"
#include "test/annotate/annotate_fixture.h"
#include "test/support/test_files.h"

namespace oplens::test::recorder_test {
namespace {

using Kind = NvtxEvent::Kind;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

class RecorderTest : public AnnotateTest {
 protected:
  static std::vector<NvtxEvent> Events() { return Capture().events; }
};

nvtxEventAttributes_t Attributes() {
  nvtxEventAttributes_t event = {};
  event.version = NVTX_VERSION;
  event.size = NVTX_EVENT_ATTRIB_STRUCT_SIZE;
  return event;
}

TEST_F(RecorderTest, TextsOfTheDefaultDomain) {
  EXPECT_EQ(nvtxRangePushA("outer"), 0);
  EXPECT_EQ(nvtxRangePushW(L"w\x00e9\x20ac\U0001F600"), 1);
  nvtxMarkA("100% \n");
  EXPECT_EQ(nvtxRangePop(), 1);
  EXPECT_EQ(nvtxRangePop(), 0);
  EXPECT_LT(nvtxRangePop(), 0);
  const std::vector<NvtxEvent> events = Events();
  ASSERT_EQ(events.size(), 6U);
  EXPECT_EQ(events[0].kind, Kind::kPush);
  EXPECT_EQ(events[0].text, "outer");
  EXPECT_EQ(events[0].domain, "");
  EXPECT_EQ(events[0].thread_id, syscall(SYS_gettid));
  EXPECT_EQ(events[1].text, "w\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80");
  EXPECT_EQ(events[2].kind, Kind::kMark);
  EXPECT_EQ(events[2].text, "100% \n");
  EXPECT_EQ(events[5].kind, Kind::kPop);
  for (size_t i = 1; i < events.size(); ++i) EXPECT_GT(events[i].time_ns, events[i - 1].time_ns);
}

TEST_F(RecorderTest, EverythingOfAnEvent) {
  const nvtxDomainHandle_t domain = nvtxDomainCreateA("a domain");
  EXPECT_EQ(nvtxDomainCreateW(L"a domain"), domain);
  nvtxDomainNameCategoryA(domain, 5, "five");
  const nvtxStringHandle_t text = nvtxDomainRegisterStringA(domain, "registered");
  EXPECT_EQ(nvtxDomainRegisterStringW(domain, L"registered"), text);
  nvtxEventAttributes_t event = Attributes();
  event.category = 5;
  event.colorType = NVTX_COLOR_ARGB;
  event.color = 0xff00a1b2;
  event.messageType = NVTX_MESSAGE_TYPE_REGISTERED;
  event.message.registered = text;
  event.payloadType = NVTX_PAYLOAD_TYPE_DOUBLE;
  event.payload.dValue = 0.1;
  EXPECT_EQ(nvtxDomainRangePushEx(domain, &event), 0);
  EXPECT_EQ(nvtxDomainRangePop(domain), 0);
  const std::vector<NvtxEvent> events = Events();
  ASSERT_EQ(events.size(), 2U);
  EXPECT_EQ(events[0].domain, "a domain");
  EXPECT_EQ(events[0].category, 5U);
  EXPECT_EQ(events[0].category_name, "five");
  EXPECT_EQ(events[0].color, 0xff00a1b2U);
  EXPECT_TRUE(events[0].registered);
  EXPECT_EQ(events[0].text, "registered");
  EXPECT_EQ(std::get<double>(events[0].number), 0.1);
  EXPECT_EQ(events[1].domain, "a domain");
}

TEST_F(RecorderTest, NumbersOfEachType) {
  nvtxEventAttributes_t event = Attributes();
  const auto mark = [&event](int32_t type) {
    event.payloadType = type;
    nvtxMarkEx(&event);
  };
  event.payload.ullValue = UINT64_MAX;
  mark(NVTX_PAYLOAD_TYPE_UNSIGNED_INT64);
  mark(NVTX_PAYLOAD_TYPE_INT64);
  mark(NVTX_PAYLOAD_TYPE_UNSIGNED_INT32);
  mark(NVTX_PAYLOAD_TYPE_INT32);
  event.payload.fValue = 0.25f;
  mark(NVTX_PAYLOAD_TYPE_FLOAT);
  mark(NVTX_PAYLOAD_UNKNOWN);
  const std::vector<NvtxEvent> events = Events();
  ASSERT_EQ(events.size(), 6U);
  EXPECT_EQ(std::get<uint64_t>(events[0].number), UINT64_MAX);
  EXPECT_EQ(std::get<int64_t>(events[1].number), -1);
  EXPECT_EQ(std::get<uint64_t>(events[2].number), UINT32_MAX);
  EXPECT_EQ(std::get<int64_t>(events[3].number), -1);
  EXPECT_EQ(std::get<double>(events[4].number), 0.25);
  EXPECT_TRUE(std::holds_alternative<std::monostate>(events[5].number));
}

TEST_F(RecorderTest, RangesThatCrossThreads) {
  const nvtxRangeId_t first = nvtxRangeStartA("first");
  const nvtxRangeId_t second = nvtxRangeStartW(L"second");
  EXPECT_NE(first, second);
  std::thread([&] { nvtxRangeEnd(first); }).join();
  nvtxRangeEnd(second);
  const NvtxRanges ranges = RangesOf(Capture());
  EXPECT_THAT(ranges.faults, IsEmpty());
  ASSERT_EQ(ranges.ranges.size(), 2U);
  EXPECT_EQ(ranges.ranges[0].text, "first");
  EXPECT_FALSE(ranges.ranges[0].pushed);
  EXPECT_GE(ranges.ranges[0].end_ns, ranges.ranges[0].start_ns);
  EXPECT_EQ(ranges.ranges[1].text, "second");
  EXPECT_THAT(Outline(ranges), IsEmpty());
}

TEST_F(RecorderTest, WhatIsWrongIsSaid) {
  nvtxRangePop();
  nvtxRangePushA("left open");
  const nvtxDomainHandle_t domain = nvtxDomainCreateA("other");
  nvtxEventAttributes_t event = Attributes();
  nvtxDomainRangePushEx(domain, &event);
  nvtxRangePop();
  nvtxRangeEnd(12345);
  nvtxRangeStartA("never");
  EXPECT_EQ(RangesOf(Capture()).faults.size(), 5U);
  nvtxDomainRangePop(domain);
}

TEST_F(RecorderTest, NamesOfThreads) {
  nvtxNameOsThreadA(77, "loader");
  nvtxNameOsThreadW(78, L"loader \x00e9");
  const NvtxCapture capture = Capture();
  EXPECT_EQ(capture.thread_names.at(77), "loader");
  EXPECT_EQ(capture.thread_names.at(78), "loader \xc3\xa9");
  EXPECT_EQ(capture.process_id, getpid());
}

TEST_F(RecorderTest, Payloads) {
  const nvtxDomainHandle_t domain = nvtxDomainCreateA("with payloads");
  unsigned char bytes[] = {0, 1, 0xff};
  const nvtxPayloadData_t data[] = {{uint64_t{1} << 32, sizeof bytes, bytes}, {7, 0, nullptr}};
  nvtxEventAttributes_t event = Attributes();
  event.payloadType = NVTX_PAYLOAD_TYPE_EXT;
  event.reserved0 = 2;
  event.payload.ullValue = reinterpret_cast<uintptr_t>(data);
  nvtxDomainRangePushEx(domain, &event);
  bytes[0] = 42;  // The bytes are the program's again.
  nvtxDomainRangePop(domain);
  const std::vector<NvtxEvent> events = Events();
  ASSERT_EQ(events.size(), 2U);
  if (!TakesPayloads() && RecorderMode() != "foreign") {
    EXPECT_TRUE(events[0].payloads.empty());
    return;
  }
  ASSERT_EQ(events[0].payloads.size(), 2U);
  EXPECT_EQ(events[0].payloads[0].schema, uint64_t{1} << 32);
  EXPECT_EQ(events[0].payloads[0].bytes, std::string("\0\1\xff", 3));
  EXPECT_EQ(events[0].payloads[1].schema, 7U);
  EXPECT_EQ(events[0].payloads[1].bytes, "");
}

TEST_F(RecorderTest, SchemasAnswerWhichToolItIs) {
  const nvtxDomainHandle_t domain = nvtxDomainCreateA("with schemas");
  nvtxPayloadSchemaAttr_t schema = {};
  schema.fieldMask = NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_NAME;
  schema.name = markers::kSchemaName;
  const uint64_t known = nvtxPayloadSchemaRegister(domain, &schema);
  schema.name = "another";
  const uint64_t other = nvtxPayloadSchemaRegister(domain, &schema);
  if (RecorderMode() == "text") {
    EXPECT_EQ(known, 0U);
    EXPECT_EQ(other, 0U);
    EXPECT_EQ(nvtxDomainIsEnabled(domain), 0);
  } else {
    EXPECT_EQ(known >> 48 == markers::kSchemaIdTag, TakesPayloads());
    EXPECT_EQ(other >> 48, 0U);
    EXPECT_GE(other, uint64_t{1} << 32);
    EXPECT_EQ(nvtxDomainIsEnabled(domain), 1);
  }
}

TEST_F(RecorderTest, ManyEventsOfManyThreads) {
  constexpr int kThreads = 8;
  constexpr int kRanges = 20'000;
  const uint64_t before = RecorderCall<uint64_t()>("oplens_test_recorder_events")();
  std::vector<std::thread> threads;
  for (int i = 0; i < kThreads; ++i) {
    threads.emplace_back([i] {
      const std::string text = "thread " + std::to_string(i);
      for (int n = 0; n < kRanges; ++n) {
        nvtxRangePushA(text.c_str());
        nvtxRangePop();
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  const uint64_t after = RecorderCall<uint64_t()>("oplens_test_recorder_events")();
  EXPECT_EQ(after - before, uint64_t{2} * kThreads * kRanges);
  const NvtxRanges ranges = RangesOf(Capture());
  EXPECT_THAT(ranges.faults, IsEmpty());
  EXPECT_EQ(ranges.ranges.size(), size_t{kThreads} * kRanges);
  for (size_t i = 1; i < ranges.ranges.size(); ++i) {
    const NvtxRange& range = ranges.ranges[i];
    if (range.thread_id != ranges.ranges[i - 1].thread_id) continue;
    ASSERT_EQ(range.text, ranges.ranges[i - 1].text);
    ASSERT_GT(range.start_ns, ranges.ranges[i - 1].end_ns);
  }
}

TEST_F(RecorderTest, LongTexts) {
  const std::string text(1'000'000, 'x');
  nvtxMarkA(text.c_str());
  nvtxMarkA("after");
  const std::vector<NvtxEvent> events = Events();
  ASSERT_EQ(events.size(), 2U);
  EXPECT_EQ(events[0].text, text);
  EXPECT_EQ(events[1].text, "after");
}

TEST_F(RecorderTest, ForgottenEventsAreGone) {
  for (int i = 0; i < 10'000; ++i) nvtxMarkA("some text that fills the buffer");
  RecorderCall<void()>("oplens_test_recorder_clear")();
  EXPECT_THAT(Events(), IsEmpty());
  nvtxMarkA("new");
  ASSERT_EQ(Events().size(), 1U);
  EXPECT_EQ(Events()[0].text, "new");
}

TEST_F(RecorderTest, ObjectsWithNvtxCodeOfTheirOwn) {
  // The library of the C interface is linked apart from this program.
  void* const library =
      dlopen(BuildFile("lib/liboplens_annotate.so.1").c_str(), RTLD_NOW | RTLD_LOCAL);
  ASSERT_NE(library, nullptr) << dlerror();
  const auto begin =
      reinterpret_cast<decltype(&oplens_op_begin)>(dlsym(library, "oplens_op_begin"));
  const auto end = reinterpret_cast<decltype(&oplens_end)>(dlsym(library, "oplens_end"));
  ASSERT_NE(begin, &oplens_op_begin);
  const std::vector<std::string> lines = EmitOutline([&] {
    const uint64_t here = oplens_op_begin("torch", "mm", nullptr, 0);
    const uint64_t there = begin("torch", "bmm", nullptr, 0);
    end(there);
    oplens_end(here);
  });
  EXPECT_THAT(lines, ElementsAre(OpDict("torch", "mm", ""), "  " + OpDict("torch", "bmm", "")));
}

TEST_F(RecorderTest, BadFilesAreRefused) {
  const std::filesystem::path path = TestDir() / "bad.nvtx";
  for (const char* content :
       {"", "push 1 2 0 text=a\n", "oplens-capture 2 3\n", "oplens-capture 1 3\nshove 1 2 0\n",
        "oplens-capture 1 3\npush 1 2\n", "oplens-capture 1 3\npush 1 2 0 text=%4\n",
        "oplens-capture 1 3\npush 1 2 9\n", "oplens-capture 1 3\npush 1 2 0 what=4\n",
        "oplens-capture 1 3\npush x 2 0\n"}) {
    WriteFile(path, content);
    EXPECT_THROW(ReadCapture(path), std::runtime_error) << content;
  }
}

}  // namespace
}  // namespace oplens::test::recorder_test

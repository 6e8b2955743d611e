// Every kind of event and name, and what the database shows of it.

#include <bit>
#include <string>
#include <vector>

#include "nvtx_annotate/payload.h"
#include "nvtx_annotate/vocabulary/marker_format.h"
#include "test/record/spool_test.h"

namespace oplens::record::event_conversion_test {
namespace {

using spool::RecordKind;
using test::EventRecord;
using test::SpoolParts;
using test::SpoolStream;
using testing::ElementsAre;
using testing::IsEmpty;

constexpr uint32_t kThread = 0xEADC3740;  // Negative where it is signed.
constexpr uint32_t kOsThread = 4712;
constexpr const char* kNull = "-- null --";

class EventConversion : public SpoolTest {
 protected:
  void SetUp() override { image_ = MakeImage(); }

  SpoolStream Names() const { return SpoolStream(image_, spool::kNamesStream); }
  SpoolStream Events(uint32_t stream = spool::kFirstEventStream, uint32_t thread = kThread,
                     uint32_t os_thread = kOsThread) const {
    return SpoolStream(image_, stream, thread, os_thread);
  }
  static std::string Row(int flags, int64_t time, int64_t id, const std::string& text,
                         const std::string& domain = kNull,
                         const std::string& thread = "4037DCEA") {
    return std::to_string(flags) + "|" + std::to_string(time) + "|" + std::to_string(id) + "|" +
           thread + "|" + text + "|" + domain;
  }

  std::filesystem::path image_;
};

TEST_F(EventConversion, PushAndPop) {
  SpoolStream events = Events();
  events.Push(10, "outer");
  events.Push(20, "inner");
  events.Pop(30);
  events.Push(40, "inner");
  events.Pop(50);
  events.Pop(60);
  const ProcessSummary summary = ConvertOne();
  EXPECT_THAT(Markers(),
              ElementsAre(Row(2, 10, 1, "outer"), Row(2, 20, 2, "inner"), Row(4, 30, 2, kNull),
                          Row(2, 40, 3, "inner"), Row(4, 50, 3, kNull), Row(4, 60, 1, kNull)));
  EXPECT_EQ(summary.ranges, 3);
  EXPECT_EQ(summary.open_ranges, 0);
  EXPECT_THAT(summary.notes, IsEmpty());
  EXPECT_EQ(summary.damage, "");
}

TEST_F(EventConversion, ObjectIsProcessThreadAndZero) {
  Events().Push(10, "a");
  ConvertOne();
  EXPECT_THAT(Query(output(), "SELECT objectKind, objectId FROM CUPTI_ACTIVITY_KIND_MARKER"),
              ElementsAre("2|x'671200004037dcea00000000'"));
}

TEST_F(EventConversion, PushAndPopBelongTogetherWithinADomain) {
  SpoolStream names = Names();
  SpoolParts name;
  name.domain = 1;
  name.text = "lib";
  names.Append(EventRecord(RecordKind::kDomain, 1, name));
  SpoolStream events = Events();
  events.Push(10, "mine");
  events.Append(EventRecord(RecordKind::kPush, 20, {.domain = 1, .text = "theirs"}));
  events.Pop(30);
  events.Append(EventRecord(RecordKind::kPop, 40, {.domain = 1}));
  ConvertOne();
  EXPECT_THAT(Markers(), ElementsAre(Row(2, 10, 1, "mine"), Row(2, 20, 2, "theirs", "lib"),
                                     Row(4, 30, 1, kNull), Row(4, 40, 2, kNull, "lib")));
}

TEST_F(EventConversion, StartAndEndMayBeOnTwoThreads) {
  SpoolStream first = Events(2, 1);
  SpoolStream second = Events(3, 2);
  first.Append(EventRecord(RecordKind::kStart, 10, {.range = 77, .text = "long"}));
  first.Append(EventRecord(RecordKind::kStart, 15, {.range = 78, .text = "open"}));
  second.Append(EventRecord(RecordKind::kEnd, 20, {.range = 77}));
  const ProcessSummary summary = ConvertOne();
  EXPECT_THAT(Markers(), ElementsAre(Row(2, 10, 1, "long", kNull, "01000000"),
                                     Row(2, 15, 2, "open", kNull, "01000000"),
                                     Row(4, 20, 1, kNull, kNull, "02000000")));
  EXPECT_EQ(summary.ranges, 2);
  EXPECT_EQ(summary.open_ranges, 1);
}

TEST_F(EventConversion, AnEndMayBeReadBeforeItsStart) {
  SpoolStream second = Events(3, 2);
  second.Append(EventRecord(RecordKind::kEnd, 20, {.range = 77}));
  Conversion conversion(Options());
  EXPECT_FALSE(conversion.Advance(std::chrono::seconds(10)));
  SpoolStream first = Events(2, 1);
  first.Append(EventRecord(RecordKind::kStart, 10, {.range = 77, .text = "late"}));
  const std::vector<ProcessSummary> summaries = conversion.Finish({});
  EXPECT_THAT(Markers(), ElementsAre(Row(2, 10, 1, "late", kNull, "01000000"),
                                     Row(4, 20, 1, kNull, kNull, "02000000")));
  EXPECT_EQ(summaries[0].open_ranges, 0);
  EXPECT_THAT(summaries[0].notes, IsEmpty());
}

TEST_F(EventConversion, EndsWithoutAStartAreCounted) {
  SpoolStream events = Events();
  events.Pop(10);
  events.Append(EventRecord(RecordKind::kEnd, 20, {.range = 5}));
  events.Push(30, "open");
  const ProcessSummary summary = ConvertOne();
  EXPECT_THAT(Markers(), ElementsAre(Row(2, 30, 1, "open")));
  EXPECT_EQ(summary.open_ranges, 1);
  EXPECT_THAT(summary.notes, ElementsAre("2 ends of ranges had no start and were left out"));
  EXPECT_EQ(Meta()["unmatched_ends"], "2");
  EXPECT_EQ(Meta()["open_ranges"], "1");
}

TEST_F(EventConversion, Marks) {
  Events().Append(EventRecord(RecordKind::kMark, 10, {.text = "capture start"}));
  EXPECT_EQ(ConvertOne().marks, 1);
  EXPECT_THAT(Markers(), ElementsAre(Row(1, 10, 1, "capture start")));
}

TEST_F(EventConversion, EventsWithoutATextAreNull) {
  Events().Append(EventRecord(RecordKind::kMark, 10, {}));
  Events(3).Append(EventRecord(RecordKind::kMark, 11, {.text = ""}));
  ConvertOne();
  EXPECT_THAT(Markers(), ElementsAre(Row(1, 10, 1, kNull), Row(1, 11, 2, "")));
}

TEST_F(EventConversion, TextsThatAreNoUtf8AreMended) {
  SpoolStream events = Events();
  events.Push(10, "a\xff");
  events.Push(20, std::string("b\0c", 3));
  events.Push(30, "b");
  ConvertOne();
  EXPECT_THAT(Markers(),
              ElementsAre(Row(2, 10, 1, "a\xef\xbf\xbd"), Row(2, 20, 2, "b"), Row(2, 30, 3, "b")));
  EXPECT_THAT(Query(output(), "SELECT count(*) FROM StringTable WHERE value = 'b'"),
              ElementsAre("1"));
}

TEST_F(EventConversion, RegisteredStrings) {
  Names().Append(EventRecord(RecordKind::kString, 1, {.string = 9, .text = "registered"}));
  SpoolStream events = Events();
  events.Append(EventRecord(RecordKind::kPush, 10, {.string = 9}));
  events.Append(EventRecord(RecordKind::kPush, 20, {.string = 10}));
  const ProcessSummary summary = ConvertOne();
  EXPECT_THAT(Markers(), ElementsAre(Row(2, 10, 1, "registered"), Row(2, 20, 2, "<unknown>")));
  EXPECT_THAT(summary.notes, ElementsAre("1 texts of ranges were not found"));
}

TEST_F(EventConversion, HandlesAreOfADomain) {
  SpoolStream names = Names();
  names.Append(EventRecord(RecordKind::kDomain, 1, {.domain = 1, .text = "lib"}));
  names.Append(EventRecord(RecordKind::kString, 1, {.string = 9, .text = "ours"}));
  names.Append(EventRecord(RecordKind::kString, 1, {.domain = 1, .string = 9, .text = "theirs"}));
  Events().Append(EventRecord(RecordKind::kPush, 10, {.domain = 1, .string = 9}));
  ConvertOne();
  EXPECT_THAT(Markers(), ElementsAre(Row(2, 10, 1, "theirs", "lib")));
}

TEST_F(EventConversion, DataOfEvents) {
  SpoolStream events = Events();
  const auto value = [](int32_t type, uint64_t bits) { return std::pair(type, bits); };
  const std::vector<SpoolParts> parts = {
      {},
      {.category = 7},
      {.color = 0xFF00AA11},
      {.value = value(1, 0x8000000000000001)},
      {.value = value(2, static_cast<uint64_t>(-2))},
      {.value = value(3, std::bit_cast<uint64_t>(1.5))},
      {.value = value(4, 0xFFFFFFFF80000000)},
      {.value = value(5, 0x80000000)},
      {.category = 1, .color = 2, .value = value(6, std::bit_cast<uint32_t>(1.5f))},
      {.value = value(99, 5)},
  };
  for (size_t i = 0; i < parts.size(); ++i) {
    events.Append(EventRecord(RecordKind::kMark, static_cast<int64_t>(i), parts[i]));
  }
  ConvertOne();
  EXPECT_THAT(Query(output(),
                    "SELECT id, flags, payloadKind, payload, color, category FROM "
                    "CUPTI_ACTIVITY_KIND_MARKER_DATA ORDER BY _id_"),
              ElementsAre("2|1|0|x'0000000000000000'|0|7",           //
                          "3|2|0|x'0000000000000000'|4278233617|0",  //
                          "4|1|1|x'0100000000000080'|0|0",           //
                          "5|1|4|x'feffffffffffffff'|0|0",           //
                          "6|1|0|x'000000000000f83f'|0|0",           //
                          "7|1|1|x'0000008000000000'|0|0",           //
                          "8|1|4|x'00000080ffffffff'|0|0",           //
                          "9|2|0|x'000000000000f83f'|2|1",           //
                          "10|1|0|x'0000000000000000'|0|0"));
}

TEST_F(EventConversion, NamesOfCategoriesAndSchemas) {
  SpoolStream names = Names();
  names.Append(EventRecord(RecordKind::kDomain, 1, {.domain = 1, .text = "lib"}));
  names.Append(EventRecord(RecordKind::kCategory, 2, {.domain = 1, .category = 3, .text = "io"}));
  names.Append(EventRecord(RecordKind::kSchema, 3, {.domain = 1, .range = 99, .text = "other.v1"}));
  Events().Append(EventRecord(RecordKind::kMark, 10, {.payloads = {{99, "abc"}, {98, ""}}}));
  ConvertOne();
  EXPECT_THAT(Query(output(),
                    "SELECT d.value, category, n.value FROM OPLENS_CATEGORY c JOIN StringTable d "
                    "ON d._id_ = c.domain JOIN StringTable n ON n._id_ = c.name"),
              ElementsAre("lib|3|io"));
  EXPECT_THAT(Query(output(),
                    "SELECT schemaId, d.value, n.value FROM OPLENS_SCHEMA c JOIN StringTable d ON "
                    "d._id_ = c.domain JOIN StringTable n ON n._id_ = c.name"),
              ElementsAre("99|lib|other.v1"));
  EXPECT_THAT(Query(output(), "SELECT marker, schemaId, data FROM OPLENS_PAYLOAD ORDER BY _id_"),
              ElementsAre("1|99|x'616263'", "1|98|x''"));
}

TEST_F(EventConversion, NamesOfThreads) {
  SpoolStream names = Names();
  names.Append(EventRecord(RecordKind::kThreadName, 1, {.range = kOsThread, .text = "worker"}));
  names.Append(EventRecord(RecordKind::kThreadName, 2, {.range = 99, .text = "silent"}));
  SpoolStream events = Events();
  events.Push(10, "a");
  events.Append(test::ThreadRecord(5, 6));
  events.Push(20, "b");
  ConvertOne();
  EXPECT_THAT(Markers(), ElementsAre(Row(2, 10, 1, "a"), Row(2, 20, 2, "b", kNull, "05000000")));
  EXPECT_THAT(Query(output(),
                    "SELECT objectKind, objectId, value FROM CUPTI_ACTIVITY_KIND_NAME n JOIN "
                    "StringTable s ON s._id_ = n.name ORDER BY n._id_"),
              ElementsAre("1|x'671200000000000000000000'|./program -n 3",
                          "2|x'671200004037dcea00000000'|worker"));
  EXPECT_THAT(Query(output(),
                    "SELECT threadId, osThreadId, value FROM OPLENS_THREAD t JOIN StringTable s ON "
                    "s._id_ = t.name ORDER BY t._id_"),
              ElementsAre("3940300608|4712|worker", "5|6|-- null --", "NULL|99|silent"));
}

TEST_F(EventConversion, AThreadThatFollowsInAStreamHasItsOwnRanges) {
  SpoolStream events = Events();
  events.Push(10, "a");
  events.Append(test::ThreadRecord(5, 6));
  events.Pop(20);
  const ProcessSummary summary = ConvertOne();
  EXPECT_THAT(Markers(), ElementsAre(Row(2, 10, 1, "a")));
  EXPECT_EQ(summary.open_ranges, 1);
}

TEST_F(EventConversion, RowsOfAllThreadsAreInTheOrderOfTheirTimes) {
  std::vector<SpoolStream> streams;
  for (uint32_t i = 0; i < 5; ++i) streams.push_back(Events(2 + i, i + 1, i + 1));
  for (int64_t time = 1; time <= 400; ++time) {
    // Long and short runs of one thread.
    SpoolStream& stream = streams[static_cast<size_t>(time * time / 7 % 5)];
    if (time % 2 == 1) {
      stream.Push(time, "a");
    } else {
      stream.Append(EventRecord(RecordKind::kMark, time, {.text = "m"}));
    }
  }
  ConvertOne();
  std::vector<std::string> times =
      Query(output(), "SELECT timestamp FROM CUPTI_ACTIVITY_KIND_MARKER ORDER BY _id_");
  std::vector<std::string> ids =
      Query(output(), "SELECT id FROM CUPTI_ACTIVITY_KIND_MARKER ORDER BY _id_");
  ASSERT_EQ(times.size(), 400u);
  for (size_t i = 0; i < 400; ++i) {
    EXPECT_EQ(times[i], std::to_string(i + 1));
    EXPECT_EQ(ids[i], std::to_string(i + 1));
  }
}

// The payload of an op becomes nested ranges, as the annotation library would have pushed them.

constexpr uint64_t kOpSchema = spool::kFirstSchema + 1;

constexpr const char* kRelu =
    "{'mod': 'torch', 'op': 'relu', 'args': [], 'oplens': {'v': 1, 'type': 'op', 'aten': "
    "'aten::relu'}}";

/// A call with so many numbers as arguments.
std::string OpPayload(int64_t seq, size_t arguments = 0) {
  markers::CallFacts facts;
  oplens_arg args[2] = {};
  args[0].kind = args[1].kind = OPLENS_INT;
  facts.seq = seq;
  facts.tid = 3;
  alignas(8) unsigned char bytes[markers::kPayloadBufferBytes];
  const size_t size = markers::EncodePayload(facts, 0, args, arguments, bytes);
  return {reinterpret_cast<const char*>(bytes), size};
}

class OpConversion : public EventConversion {
 protected:
  void SetUp() override {
    EventConversion::SetUp();
    SpoolStream names = Names();
    names.Append(EventRecord(RecordKind::kDomain, 1, {.domain = 1, .text = "oplens"}));
    names.Append(EventRecord(RecordKind::kSchema, 2,
                             {.domain = 1, .range = kOpSchema, .text = markers::kSchemaName}));
    names.Append(EventRecord(RecordKind::kString, 3,
                             {.domain = 1, .string = 1, .text = "torch.relu|aten::relu|a.py:3"}));
  }
};

TEST_F(OpConversion, BecomesNestedRanges) {
  SpoolStream events = Events();
  events.Append(EventRecord(
      RecordKind::kPush, 10,
      {.domain = 1, .color = 5, .string = 1, .payloads = {{kOpSchema, OpPayload(8)}, {7, "x"}}}));
  events.Append(EventRecord(RecordKind::kPop, 20, {.domain = 1}));
  const ProcessSummary summary = ConvertOne();
  EXPECT_EQ(summary.ranges, 2);
  EXPECT_THAT(Markers(), ElementsAre(Row(2, 10, 1, "{'traceMarker': ['a.py:3']}", "oplens"),
                                     Row(2, 10, 2, kRelu, "oplens"), Row(4, 20, 2, kNull, "oplens"),
                                     Row(4, 20, 1, kNull, "oplens")));
  EXPECT_THAT(Query(output(), "SELECT marker, seq, tid, ftid, h, fh, dir FROM OPLENS_CALL"),
              ElementsAre("2|8|3|0|0|0|f"));
  EXPECT_THAT(Query(output(), "SELECT id, color FROM CUPTI_ACTIVITY_KIND_MARKER_DATA"),
              ElementsAre("2|5"));
  EXPECT_THAT(Query(output(), "SELECT marker, schemaId FROM OPLENS_PAYLOAD"), ElementsAre("2|7"));
}

/// Whichever way they are written.
TEST_F(OpConversion, AlikeCallsHaveOneText) {
  SpoolStream events = Events();
  for (int64_t i = 0; i < 3; ++i) {
    events.Append(EventRecord(RecordKind::kPush, 10 + 2 * i,
                              {.domain = 1,
                               .string = 1,
                               .payloads = {{kOpSchema, OpPayload(i, 1 + (i == 2 ? 1 : 0))}},
                               .call = i > 0}));
    events.Append(EventRecord(RecordKind::kPop, 11 + 2 * i, {.domain = 1}));
  }
  ConvertOne();
  EXPECT_THAT(Query(output(),
                    "SELECT count(*), count(DISTINCT name) FROM "
                    "CUPTI_ACTIVITY_KIND_MARKER WHERE flags = 2"),
              ElementsAre("6|3"));
  EXPECT_THAT(Query(output(), "SELECT marker, seq FROM OPLENS_CALL"),
              ElementsAre("2|0", "4|1", "6|2"));
}

TEST_F(OpConversion, CountsWhatTheProgramLeftOut) {
  SpoolStream events = Events();
  for (const char* const text : {"ranges left out: 5", "ranges left out: 382", "ranges left out"}) {
    events.Append(EventRecord(RecordKind::kMark, 10, {.domain = 1, .text = text}));
  }
  ConvertOne();
  EXPECT_THAT(Query(output(), "SELECT value FROM OPLENS_META WHERE key = 'left_out_ranges'"),
              ElementsAre("382"));
}

TEST_F(OpConversion, ADamagedPayloadLeavesTheMessage) {
  SpoolStream events = Events();
  events.Append(EventRecord(RecordKind::kPush, 10,
                            {.domain = 1, .string = 1, .payloads = {{kOpSchema, "short"}}}));
  events.Append(EventRecord(RecordKind::kPop, 20, {.domain = 1}));
  const ProcessSummary summary = ConvertOne();
  EXPECT_THAT(Markers(), ElementsAre(Row(2, 10, 1, "torch.relu|aten::relu|a.py:3", "oplens"),
                                     Row(4, 20, 1, kNull, "oplens")));
  EXPECT_THAT(summary.notes,
              ElementsAre("1 payloads of ops were damaged; the ranges keep their names"));
  EXPECT_THAT(Query(output(), "SELECT marker, data FROM OPLENS_PAYLOAD"),
              ElementsAre("1|x'73686f7274'"));
}

TEST_F(OpConversion, ASchemaOfThatNameWithAnotherIdIsNotOurs) {
  Names();
  Events().Append(EventRecord(RecordKind::kPush, 10,
                              {.domain = 1, .payloads = {{12, OpPayload(1)}}, .text = "plain"}));
  ConvertOne();
  EXPECT_THAT(Markers(), ElementsAre(Row(2, 10, 1, "plain", "oplens")));
}

}  // namespace
}  // namespace oplens::record::event_conversion_test

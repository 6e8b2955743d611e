#include "parse/source/json_events.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <string>
#include <utility>
#include <vector>

namespace oplens::parse::json_events_test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

/// A text that comes in pieces; the last piece of a read may be short only at the end.
class TextSource : public ByteSource {
 public:
  explicit TextSource(std::string text, std::string damage = {})
      : text_(std::move(text)), damage_(std::move(damage)) {}
  size_t Read(char* to, size_t size) override {
    const size_t taken = std::min(size, text_.size() - used_);
    std::memcpy(to, text_.data() + used_, taken);
    used_ += taken;
    return taken;
  }
  std::string damage() const override { return damage_; }

 private:
  std::string text_;
  size_t used_ = 0;
  std::string damage_;
};

class Collector : public JsonEventHandler {
 public:
  void OnEvent(simdjson::dom::object event) override {
    events.push_back(simdjson::minify(event));
    texts.emplace_back(event_text);
  }
  void OnMember(std::string_view key, simdjson::dom::element value) override {
    members.push_back(std::string(key) + "=" + simdjson::minify(value));
  }
  std::vector<std::string> events;
  std::vector<std::string> texts;
  std::vector<std::string> members;
};

struct Result {
  JsonEventCounts counts;
  Collector got;
  Diagnostics diagnostics;
};

Result Read(std::string text, std::string damage = {}) {
  Result result;
  TextSource source(std::move(text), std::move(damage));
  result.counts = ReadJsonEvents(&source, "t.json", &result.got, &result.diagnostics);
  return result;
}

TEST(JsonEventsTest, EventsAndMembersInAnyOrder) {
  const Result result = Read(
      R"({"a": {"x": [1, 2]}, "traceEvents": [ {"ph":"X"}, {"ph":"i"} ], "b": "t", "c": -1.5})");
  EXPECT_THAT(result.got.events, ElementsAre(R"({"ph":"X"})", R"({"ph":"i"})"));
  EXPECT_THAT(result.got.members, ElementsAre(R"(a={"x":[1,2]})", R"(b="t")", "c=-1.5"));
  EXPECT_TRUE(result.counts.has_events);
  EXPECT_FALSE(result.counts.truncated);
  EXPECT_EQ(result.counts.events, 2);
  EXPECT_EQ(result.counts.bad, 0);
}

TEST(JsonEventsTest, BareArraysAndByteOrderMarks) {
  EXPECT_THAT(Read("\xEF\xBB\xBF [{\"a\":1}]").got.events, ElementsAre(R"({"a":1})"));
  EXPECT_THAT(Read("[]").got.events, IsEmpty());
  EXPECT_TRUE(Read("[]").counts.has_events);
}

TEST(JsonEventsTest, DocumentsWithoutEvents) {
  for (const char* text : {"", "{}", R"({"nodes": []})", R"({"traceEvents": 3})", "true", "{"}) {
    const Result result = Read(text);
    EXPECT_FALSE(result.counts.has_events) << text;
    EXPECT_EQ(result.counts.events, 0) << text;
  }
}

TEST(JsonEventsTest, BracketsAndEscapesInStrings) {
  const Result result =
      Read(R"({"traceEvents": [{"name":"a}]\"{\\"},{"name":"\\\\\""},{"name":"]"}]})");
  EXPECT_THAT(result.got.events,
              ElementsAre(R"({"name":"a}]\"{\\"})", R"({"name":"\\\\\""})", R"({"name":"]"})"));
}

TEST(JsonEventsTest, EveryPlaceOfABlockAndWindow) {
  // Enough for several windows, with escapes at all places of the 64-byte blocks.
  std::string document = R"({"traceEvents": [)";
  std::vector<std::string> expected;
  for (int i = 0; i < 6000; ++i) {
    std::string event = R"({"name":"\\\"{)" + std::string(static_cast<size_t>(i % 131), 'x') +
                        R"(\\","args":{"n":)" + std::to_string(i) + "}}";
    expected.push_back(event);
    document += (i == 0 ? "" : ",\n ") + event;
  }
  const Result result = Read(document + R"(],"last":1})");
  EXPECT_EQ(result.got.events, expected);
  EXPECT_EQ(result.got.texts, expected);
  EXPECT_THAT(result.got.members, ElementsAre("last=1"));
}

TEST(JsonEventsTest, AnyCutKeepsTheWholeEvents) {
  const std::string document =
      R"({"schemaVersion": 1, "traceEvents": [{"ph":"X","args":{"a":[1]}}, {"name":"b\\"},)"
      "\n {\"ph\":\"i\"}], \"x\": {\"y\": 2}}";
  const std::vector<std::string> whole = Read(document).got.events;
  ASSERT_EQ(whole.size(), 3u);
  for (size_t cut = 0; cut < document.size(); ++cut) {
    const Result result = Read(document.substr(0, cut));
    const auto& events = result.got.events;
    ASSERT_LE(events.size(), whole.size());
    EXPECT_TRUE(std::equal(events.begin(), events.end(), whole.begin())) << cut;
    EXPECT_EQ(result.counts.bad, 0) << cut;
    EXPECT_EQ(result.counts.has_events && !result.counts.truncated, false) << cut;
  }
}

TEST(JsonEventsTest, CutFilesSayWhatWasLost) {
  const Result result = Read(R"({"traceEvents": [{"a":1}, {"b":)");
  EXPECT_EQ(result.counts.lost_bytes, 5);
  EXPECT_THAT(
      result.diagnostics.Render("parse"),
      HasSubstr("t.json: the file ends early: 5 bytes after the last whole event are lost"));
}

TEST(JsonEventsTest, DamageOfTheFileIsTold) {
  const Result result = Read("[{\"a\":1}]", "the gzip data ends early");
  EXPECT_TRUE(result.counts.truncated);
  EXPECT_THAT(result.diagnostics.Render("parse"), HasSubstr("the gzip data ends early"));
}

TEST(JsonEventsTest, WhatFollowsTheDocumentIsCounted) {
  const std::string list = R"([{"a":1}])";
  const std::string object = R"({"traceEvents": [{"a":1}], "b": 2})";
  for (const std::string& document : {list, object}) {
    for (const std::string& behind : {list, object, std::string("}"), std::string(700'000, 'x')}) {
      const Result result = Read(document + " \n" + behind + "\n");
      EXPECT_EQ(result.counts.trailing_bytes, std::ssize(behind) + 1);
      EXPECT_EQ(result.counts.events, 1);
      EXPECT_FALSE(result.counts.truncated);
      EXPECT_EQ(result.diagnostics.CountOf(Reason::kTrailingData), 1);
      EXPECT_TRUE(result.diagnostics.HasLost());
      EXPECT_THAT(result.diagnostics.lost_files(),
                  ElementsAre(HasSubstr("goes on behind its end")));
    }
    const Result padded = Read(document + "\r\n" + std::string(600'000, '\0') + " \n");
    EXPECT_EQ(padded.counts.trailing_bytes, 0);
    EXPECT_FALSE(padded.diagnostics.Damaged());
  }
}

TEST(JsonEventsTest, CutFilesAreDamage) {
  EXPECT_TRUE(Read(R"({"traceEvents": [{"a":1}, {"b":)").diagnostics.HasLost());
  // Between events, and behind the last.
  EXPECT_TRUE(Read(R"({"traceEvents": [{"a":1},)").diagnostics.HasLost());
  EXPECT_TRUE(Read(R"({"traceEvents": [{"a":1}])").diagnostics.HasLost());
  EXPECT_TRUE(Read(R"([{"a":1}])", "the gzip data is damaged").diagnostics.HasLost());
  EXPECT_FALSE(Read(R"({"traceEvents": [{"a":1}]})").diagnostics.HasLost());
}

struct Mend {
  const char* name;
  std::string broken;
  std::string mended;
};

class MendTest : public testing::TestWithParam<Mend> {};

TEST_P(MendTest, TheEventIsMendedAndItsNeighboursStay) {
  const Result result = Read(R"({"traceEvents": [{"n":1},)" + GetParam().broken + R"(,{"n":2}]})");
  EXPECT_THAT(result.got.events, ElementsAre(R"({"n":1})", GetParam().mended, R"({"n":2})"));
  EXPECT_EQ(result.counts.repaired, 1);
  EXPECT_EQ(result.counts.bad, 0);
  EXPECT_EQ(result.diagnostics.CountOf(Reason::kRepairedEvent), 1);
}

INSTANTIATE_TEST_SUITE_P(
    Cases, MendTest,
    testing::Values(
        Mend{"Control", "{\"a\":\"x\ny\x01\"}", R"({"a":"x\ny\u0001"})"},
        Mend{"Utf8", "{\"a\":\"\xff\xc3\x28\"}", "{\"a\":\"\xEF\xBF\xBD\xEF\xBF\xBD(\"}"},
        Mend{"Backslash", R"({"a":"C:\dir\q"})", R"({"a":"C:\\dir\\q"})"},
        Mend{"NotANumber", R"({"a":NaN,"b":-Infinity,"c":N/A})",
             R"({"a":"NaN","b":"-Infinity","c":"N/A"})"},
        Mend{"HugeInteger", R"({"a":18446744073709551616,"b":[-9223372036854775809]})",
             R"({"a":"18446744073709551616","b":["-9223372036854775809"]})"},
        Mend{"HugeDouble", R"({"a":1e999})", R"({"a":"1e999"})"},
        Mend{"LeadingZero", R"({"a":007})", R"({"a":"007"})"},
        Mend{"LastComma", R"({"a":[1,2,],})", R"({"a":[1,2]})"},
        Mend{"BareQuotes", R"({"name":"{"device": "cpu"}(3): f","b":["x"y"z"],"c":"d"})",
             R"({"name":"{\"device\": \"cpu\"}(3): f","b":["x\"y\"z"],"c":"d"})"},
        Mend{"BareQuotesAndBytes", "{\"a\":{\"s\":\"f(0): \"\x08\xff\";g\"},\"b\":1}",
             "{\"a\":{\"s\":\"f(0): \\\"\\b\xEF\xBF\xBD\\\";g\"},\"b\":1}"},
        Mend{"LoneSurrogate", R"({"a":"\ud800x"})", "{\"a\":\"\xEF\xBF\xBDx\"}"}),
    [](const auto& mend) { return mend.param.name; });

TEST(JsonEventsTest, WhatCannotBeMendedCostsOnlyItself) {
  const Result result = Read(R"([{"n":1},{"a" 5},{"n":2},7,"x",[3],{"n":3}])");
  EXPECT_THAT(result.got.events, ElementsAre(R"({"n":1})", R"({"n":2})", R"({"n":3})"));
  EXPECT_EQ(result.counts.bad, 4);
  EXPECT_EQ(result.diagnostics.CountOf(Reason::kBadEvent), 4);
  EXPECT_THAT(result.diagnostics.Render("parse"), HasSubstr("at byte 9"));
}

TEST(JsonEventsTest, AMissingQuoteDoesNotSwallowTheRest) {
  std::string document = "{\"traceEvents\": [\n";
  for (int i = 0; i < 5000; ++i) {
    const std::string name = i == 2000 ? "\"broken" : "\"whole\"";
    document +=
        "  {\n    \"ph\": \"X\", \"name\": " + name + ", \"ts\": " + std::to_string(i) + "\n  },\n";
  }
  document += "  {\"ph\": \"i\"}\n]}";
  const Result result = Read(document);
  EXPECT_EQ(result.counts.events, 5000);
  EXPECT_EQ(result.counts.bad, 1);
  EXPECT_FALSE(result.counts.truncated);
}

TEST(JsonEventsTest, AQuoteTooManyCostsNothing) {
  std::string document = "{\"traceEvents\": [\n";
  for (int i = 0; i < 5000; ++i) {
    const std::string name = i % 1000 == 500 ? "\"bro\"ken\"" : "\"whole\"";
    document +=
        "  {\n    \"ph\": \"X\", \"name\": " + name + ", \"ts\": " + std::to_string(i) + "\n  },\n";
  }
  document += "  {\"ph\": \"i\"}\n]}";
  const Result result = Read(document);
  EXPECT_EQ(result.counts.events, 5001);
  EXPECT_EQ(result.counts.bad, 0);
  EXPECT_EQ(result.counts.repaired, 5);
  EXPECT_FALSE(result.counts.truncated);
  EXPECT_THAT(result.got.events, testing::Contains(R"({"ph":"X","name":"bro\"ken","ts":500})"));
}

TEST(JsonEventsTest, AMissingQuoteInADocumentOfOneLine) {
  std::string document = "[";
  for (int i = 0; i < 5000; ++i) {
    document += i == 2000 ? R"({"ph":"X","name":"broken},)" : R"({"ph":"X","name":"whole"},)";
  }
  const Result result = Read(document + R"({"ph":"i"}])");
  EXPECT_EQ(result.counts.events, 5000);
  EXPECT_EQ(result.counts.bad, 1);
}

TEST(JsonEventsTest, ManyBrokenEventsCostNoMoreThanTheirSize) {
  // Each would swallow the rest of the document.
  std::string document = "[";
  for (int i = 0; i < 20000; ++i) document += "\n{\"ph\": \"X\", \"name\": \"{},";
  document += "\n{\"ph\":\"i\"}]";
  const Result result = Read(document);
  EXPECT_GE(result.counts.events, 1);
  EXPECT_GT(result.counts.bad, 0);
}

TEST(JsonEventsTest, DeepNestingIsABadEvent) {
  const Result result =
      Read("[{\"n\":1},{\"a\":" + std::string(5000, '[') + std::string(5000, ']') + "},{\"n\":2}]");
  EXPECT_THAT(result.got.events, ElementsAre(R"({"n":1})", R"({"n":2})"));
  EXPECT_EQ(result.counts.bad, 1);
}

// An object inside of a member begins as members do, but for the blank.
TEST(JsonEventsTest, OtherListsOfOtherDocuments) {
  static constexpr std::string_view kKeys[] = {"\"id\"", "\"name\""};
  constexpr JsonList kList = {
      .key = "nodes", .first_keys = kKeys, .blank_before_key = true, .bad = Reason::kBadNode};
  const std::string broken = R"({
 "id": 1, "name": "no end, "attrs": [{"name": "a"},{"name": "b"}]
})";
  TextSource source(R"({"pid": 3, "traceEvents": [{"ph": "X"}], "nodes": [)" + broken + R"(,
{ "name": "x", "attrs": [{"name": "c"}]}]})");
  Collector got;
  Diagnostics diagnostics;
  const JsonEventCounts counts = ReadJsonEvents(&source, "t.json", &got, &diagnostics, kList);
  EXPECT_TRUE(counts.has_events);
  EXPECT_THAT(got.events, ElementsAre(R"({"name":"x","attrs":[{"name":"c"}]})"));
  EXPECT_EQ(counts.bad, 1);
  EXPECT_EQ(diagnostics.CountOf(Reason::kBadNode), 1);
  EXPECT_EQ(diagnostics.CountOf(Reason::kBadEvent), 0);
  EXPECT_THAT(got.members, ElementsAre("pid=3", R"(traceEvents=[{"ph":"X"}])"));
}

TEST(JsonEventsTest, SeveralListsOfEvents) {
  const Result result = Read(R"({"traceEvents": [{"a":1}], "traceEvents": [{"b":2}]})");
  EXPECT_THAT(result.got.events, ElementsAre(R"({"a":1})", R"({"b":2})"));
}

}  // namespace
}  // namespace oplens::parse::json_events_test

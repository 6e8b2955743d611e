// Values that went through a range come back the same: through the reader of this project, and
// through Python's.

#include <fmt/format.h>
#include <gmock/gmock.h>

#include <bit>
#include <cmath>
#include <limits>
#include <random>

#include "nvtx_annotate/annotate.h"
#include "nvtx_annotate/vocabulary/marker_format.h"
#include "parse/model/marker_text.h"
#include "parse/model/op_call.h"
#include "test/annotate/annotate_fixture.h"
#include "test/support/python_literal.h"
#include "test/support/test_files.h"

namespace oplens::test::round_trip_test {
namespace {

using annotate::Arg;
using annotate::DType;
using annotate::IntList;
using annotate::OpName;
using annotate::ScopedBackward;
using annotate::ScopedForward;
using annotate::ScopedLayer;
using annotate::ScopedOp;
using annotate::ScopedTrace;
using annotate::Tensor;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

std::string Utf8(uint32_t code) {
  std::string text;
  const auto add = [&text](uint32_t byte) { text += static_cast<char>(byte); };
  if (code < 0x80) {
    add(code);
  } else if (code < 0x800) {
    add(0xc0 | code >> 6);
    add(0x80 | (code & 0x3f));
  } else if (code < 0x10000) {
    add(0xe0 | code >> 12);
    add(0x80 | (code >> 6 & 0x3f));
    add(0x80 | (code & 0x3f));
  } else {
    add(0xf0 | code >> 18);
    add(0x80 | (code >> 12 & 0x3f));
    add(0x80 | (code >> 6 & 0x3f));
    add(0x80 | (code & 0x3f));
  }
  return text;
}

/// All of U+0000 to U+FFFF and some beyond, 64 to a text. The surrogates are no characters; as
/// bytes they are invalid UTF-8.
std::vector<std::string> AllCharacters() {
  std::vector<std::string> texts;
  for (uint32_t first = 0; first < 0x10000; first += 64) {
    std::string text;
    for (uint32_t code = first; code < first + 64; ++code) text += Utf8(code);
    texts.push_back(text);
  }
  texts.push_back(Utf8(0x10000) + Utf8(0x1f600) + Utf8(0x10ffff));
  return texts;
}

std::vector<std::string> BadUtf8() {
  std::vector<std::string> texts = {"\x80",
                                    "\xff",
                                    "\xc3",
                                    "a\xc3",
                                    "\xc3(",
                                    "\xe2\x82",
                                    "\xe2\x28\xa1",
                                    "\xf0\x9f\x98",
                                    "\xf0\x9f\x98(",
                                    "\xc0\xaf",
                                    "\xe0\x80\xaf",
                                    "\xf8\x88\x80\x80\x80",
                                    "\xf4\x90\x80\x80",
                                    "\xed\xa0\x80\xed\xb0\x80",
                                    "\xfe\xff"};
  std::string all;
  for (int byte = 0; byte < 256; ++byte) all += static_cast<char>(byte);
  texts.push_back(all);
  std::mt19937 random(7);
  for (int i = 0; i < 300; ++i) {
    std::string text;
    for (size_t n = random() % 40; n > 0; --n) text += static_cast<char>(random());
    texts.push_back(text);
  }
  return texts;
}

std::vector<std::string> Texts() {
  std::vector<std::string> texts = {"",
                                    "'",
                                    "\"",
                                    "\\",
                                    "\\'\"",
                                    "a\nb\r\n\tc",
                                    "{'mod': 'x', 'op': 'y', 'args': [], 'type': 'z'}",
                                    "layer:x",
                                    ", seq = 5",
                                    "\\x41\\u0041\\N{DASH}\\101",
                                    "%41%",
                                    "...",
                                    "inf",
                                    "None"};
  for (const auto& more : {AllCharacters(), BadUtf8()}) {
    texts.insert(texts.end(), more.begin(), more.end());
  }
  return texts;
}

std::string Hex(const std::string& text) {
  std::string hex;
  for (const char c : text) hex += fmt::format("{:02x}", static_cast<unsigned char>(c));
  return hex;
}

class RoundTripTest : public AnnotateTest {
 protected:
  /// The ops that `emit` emits, as this project reads them.
  static std::vector<OpCall> EmitCalls(const std::function<void()>& emit) {
    std::vector<OpCall> calls;
    std::string literals;
    for (const NvtxRange& range : Emit(emit).ranges) {
      const MarkerText marker = ClassifyMarker(range.text);
      EXPECT_FALSE(marker.damaged) << range.text;
      if (range.text.starts_with('{')) literals += range.text + '\n';
      if (marker.kind != MarkerKind::kOp) continue;
      std::string error;
      const std::optional<OpCall> call = ParseOpCall(range.text, &error);
      EXPECT_TRUE(call) << range.text << ": " << error;
      if (!call) continue;
      EXPECT_EQ(marker.mod, call->mod);
      EXPECT_EQ(marker.op, call->op);
      calls.push_back(*call);
    }
    if (HavePython()) {
      const std::filesystem::path path = TestDir() / "literals.txt";
      WriteFile(path, literals);
      EXPECT_EQ(CheckPythonDictLines(path), "");
    }
    return calls;
  }
  static OpCall EmitCall(const std::function<void()>& emit) {
    const std::vector<OpCall> calls = EmitCalls(emit);
    EXPECT_EQ(calls.size(), 1U);
    return calls.empty() ? OpCall() : calls[0];
  }

  /// Emits each text and expects that Python reads it at `place` of the literal.
  static void ExpectPythonReads(const std::vector<std::string>& texts, const std::string& place,
                                const std::function<void(const std::string&)>& emit) {
    if (!HavePython()) return;
    const NvtxRanges ranges = Emit([&] {
      for (const std::string& text : texts) emit(text);
    });
    ASSERT_EQ(ranges.ranges.size(), texts.size());
    std::string lines;
    for (size_t i = 0; i < texts.size(); ++i) {
      lines += ranges.ranges[i].text + '\t' + Hex(texts[i]) + '\n';
    }
    const std::filesystem::path path = TestDir() / "strings.txt";
    WriteFile(path, lines);
    EXPECT_EQ(CheckPythonStrings(path, place), "");
  }
};

/// Without those that a C string cannot hold.
std::vector<std::string> WithoutZeros(std::vector<std::string> texts) {
  for (std::string& text : texts) std::erase(text, '\0');
  return texts;
}

OpName Name(const char* mod, const char* op) { return {mod, op, nullptr, 0}; }

TEST_F(RoundTripTest, StringValues) {
  const std::vector<std::string> texts = Texts();
  const std::vector<OpCall> calls = EmitCalls([&] {
    for (const std::string& text : texts) {
      const ScopedOp op(Name("torch", "op"), Arg(text), 7);
    }
  });
  ASSERT_EQ(calls.size(), texts.size());
  for (size_t i = 0; i < texts.size(); ++i) {
    ASSERT_EQ(calls[i].args.size(), 2U);
    ASSERT_EQ(Hex(calls[i].args[0].text), Hex(texts[i]));
    ASSERT_EQ(calls[i].args[1].int_value, 7);
  }
  ExpectPythonReads(texts, "['args'][0]['value']", [](const std::string& text) {
    const ScopedOp op(Name("torch", "op"), Arg(text));
  });
}

TEST_F(RoundTripTest, Names) {
  const std::vector<std::string> texts = WithoutZeros(Texts());
  const std::vector<OpCall> calls = EmitCalls([&] {
    for (const std::string& text : texts) {
      { const ScopedOp op(Name(text.c_str(), "op")); }
      { const ScopedOp op(Name("mod", text.c_str())); }
      { const ScopedOp op(Name(text.c_str(), text.c_str())); }
      { const ScopedOp op(Name("mod", "op"), Arg(1).Named(text.c_str())); }
    }
  });
  ASSERT_EQ(calls.size(), 4 * texts.size());
  for (size_t i = 0; i < texts.size(); ++i) {
    ASSERT_EQ(Hex(calls[4 * i].mod), Hex(texts[i]));
    ASSERT_EQ(calls[4 * i].op, "op");
    ASSERT_EQ(calls[4 * i + 1].mod, "mod");
    ASSERT_EQ(Hex(calls[4 * i + 1].op), Hex(texts[i]));
    ASSERT_EQ(Hex(calls[4 * i + 2].mod), Hex(texts[i]));
    ASSERT_EQ(Hex(calls[4 * i + 2].op), Hex(texts[i]));
    ASSERT_EQ(calls[4 * i + 3].args.size(), 1U);
    ASSERT_EQ(Hex(calls[4 * i + 3].args[0].name), Hex(texts[i]));
  }
  ExpectPythonReads(texts, "['mod']",
                    [](const std::string& text) { const ScopedOp op(Name(text.c_str(), "op")); });
  ExpectPythonReads(texts, "['op']",
                    [](const std::string& text) { const ScopedOp op(Name("mod", text.c_str())); });
}

TEST_F(RoundTripTest, NodesAndTraces) {
  const std::vector<std::string> texts = WithoutZeros(Texts());
  ExpectPythonReads(texts, "['oplens']['node']",
                    [](const std::string& text) { const ScopedBackward node(text.c_str()); });
  ExpectPythonReads(texts, "['traceMarker'][0]", [](const std::string& text) {
    const char* const frames[] = {text.c_str()};
    const ScopedTrace trace(frames, 1);
  });
  const NvtxRanges ranges = Emit([&] {
    for (const std::string& text : texts) {
      const char* const frames[] = {text.c_str()};
      const ScopedTrace trace(frames, 1);
    }
  });
  ASSERT_EQ(ranges.ranges.size(), texts.size());
  for (size_t i = 0; i < texts.size(); ++i) {
    const MarkerText marker = ClassifyMarker(ranges.ranges[i].text);
    ASSERT_EQ(marker.kind, MarkerKind::kTrace);
    ASSERT_EQ(marker.frames.size(), 1U);
    ASSERT_EQ(marker.frames[0], texts[i]);
  }
}

TEST_F(RoundTripTest, CallSites) {
  std::vector<std::string> texts = WithoutZeros(Texts());
  std::erase(texts, "");  // No call site.
  const NvtxRanges ranges = Emit([&] {
    for (const std::string& text : texts) {
      const ScopedOp op({"torch", "op", text.c_str(), 17});
    }
  });
  ASSERT_EQ(ranges.ranges.size(), 2 * texts.size());
  for (size_t i = 0; i < texts.size(); ++i) {
    const MarkerText marker = ClassifyMarker(ranges.ranges[2 * i].text);
    ASSERT_EQ(marker.kind, MarkerKind::kTrace);
    ASSERT_EQ(marker.frames.size(), 1U);
    ASSERT_EQ(marker.frames[0], texts[i] + ":17");
  }
}

TEST_F(RoundTripTest, Layers) {
  const std::vector<std::string> texts = WithoutZeros(Texts());
  const NvtxRanges ranges = Emit([&] {
    for (const std::string& text : texts) {
      const ScopedLayer layer(text.c_str());
    }
  });
  ASSERT_EQ(ranges.ranges.size(), texts.size());
  for (size_t i = 0; i < texts.size(); ++i) {
    const std::string& text = ranges.ranges[i].text;
    const MarkerText marker = ClassifyMarker(text);
    ASSERT_EQ(marker.kind, MarkerKind::kLayer);
    std::string decoded;
    for (size_t at = std::string("layer:").size(); at < text.size(); ++at) {
      ASSERT_TRUE(text[at] >= 0x20 && text[at] < 0x7f && text[at] != ':');
      if (text[at] != '%') {
        decoded += text[at];
      } else {
        decoded += static_cast<char>(std::stoi(text.substr(at + 1, 2), nullptr, 16));
        at += 2;
      }
    }
    ASSERT_EQ(Hex(decoded), Hex(texts[i]));
    ASSERT_EQ(marker.name, texts[i]);
  }
}

TEST_F(RoundTripTest, SequenceTextsOfOddNames) {
  const std::vector<std::string> names = WithoutZeros(Texts());
  const NvtxRanges ranges = Emit([&] {
    for (const std::string& name : names) {
      const ScopedForward op(Name("mod", name.c_str()));
    }
  });
  ASSERT_EQ(ranges.ranges.size(), 2 * names.size());
  for (size_t i = 0; i < names.size(); ++i) {
    const std::string& text = ranges.ranges[2 * i + 1].text;
    const MarkerText marker = ClassifyMarker(text);
    ASSERT_EQ(marker.kind, MarkerKind::kSeq) << text;
    ASSERT_EQ(marker.seq, static_cast<int64_t>(i));
    ASSERT_FALSE(marker.backward);
    for (const char c : text) ASSERT_TRUE(c >= 0x20 && c < 0x7f);
  }
}

TEST_F(RoundTripTest, Integers) {
  constexpr int64_t kMin = std::numeric_limits<int64_t>::min();
  constexpr int64_t kMax = std::numeric_limits<int64_t>::max();
  const OpCall call = EmitCall([&] {
    const int64_t shape[] = {kMax, 0, 1};
    const ScopedOp op(Name("torch", "op"), kMin, kMax, 0, -1, IntList({kMin, kMax}),
                      annotate::IntTuple({kMax}), Tensor(shape, 3, DType::kInt64));
  });
  ASSERT_EQ(call.args.size(), 7U);
  EXPECT_EQ(call.args[0].int_value, kMin);
  EXPECT_EQ(call.args[1].int_value, kMax);
  EXPECT_EQ(call.args[2].int_value, 0);
  EXPECT_EQ(call.args[3].int_value, -1);
  EXPECT_THAT(call.args[4].int_list, ElementsAre(kMin, kMax));
  EXPECT_THAT(call.args[5].int_list, ElementsAre(kMax));
  EXPECT_THAT(call.args[6].shape, ElementsAre(kMax, 0, 1));
}

TEST_F(RoundTripTest, Floats) {
  std::vector<double> values = {0.0,
                                -0.0,
                                1.0,
                                0.1,
                                1e22,
                                1e-300,
                                123456789012345680.0,
                                std::numeric_limits<double>::max(),
                                std::numeric_limits<double>::lowest(),
                                std::numeric_limits<double>::min(),
                                std::numeric_limits<double>::denorm_min(),
                                std::numeric_limits<double>::infinity(),
                                -std::numeric_limits<double>::infinity()};
  std::mt19937_64 random(3);
  while (values.size() < 2000) {
    const auto value = std::bit_cast<double>(random());
    if (std::isfinite(value)) values.push_back(value);
  }
  const std::vector<OpCall> calls = EmitCalls([&] {
    for (const double value : values) const ScopedOp op(Name("torch", "op"), value);
    const ScopedOp op(Name("torch", "op"), std::nan(""));
  });
  ASSERT_EQ(calls.size(), values.size() + 1);
  for (size_t i = 0; i < values.size(); ++i) {
    const OpArg& arg = calls[i].args.at(0);
    ASSERT_EQ(arg.kind, OpArg::Kind::kFloat);
    ASSERT_EQ(arg.type, "float");
    ASSERT_EQ(std::bit_cast<uint64_t>(arg.float_value), std::bit_cast<uint64_t>(values[i]));
  }
  EXPECT_TRUE(std::isnan(calls.back().args.at(0).float_value));
}

TEST_F(RoundTripTest, Tensors) {
  const OpCall call = EmitCall([] {
    const ScopedOp op(Name("torch", "op"), Tensor({}, DType::kFloat32),
                      Tensor({0}, DType::kFloat16), Tensor({2, 0, 3}, DType::kComplex64),
                      Tensor(nullptr, 2, DType::kFloat32), Tensor({1}, DType::kFloat8E4m3fn));
  });
  ASSERT_EQ(call.args.size(), 5U);
  EXPECT_EQ(call.args[0].kind, OpArg::Kind::kTensor);
  EXPECT_THAT(call.args[0].shape, ElementsAre());
  EXPECT_EQ(call.args[0].dtype, "float32");
  EXPECT_THAT(call.args[1].shape, ElementsAre(0));
  EXPECT_THAT(call.args[2].shape, ElementsAre(2, 0, 3));
  EXPECT_EQ(call.args[2].dtype, "complex64");
  EXPECT_EQ(call.args[3].kind, OpArg::Kind::kNone);
  EXPECT_EQ(call.args[4].dtype, "float8_e4m3fn");
}

TEST_F(RoundTripTest, TensorsOfManyDimensions) {
  const std::vector<int64_t> extents(100, 2);
  const std::string text = EmitOp([&] {
    const ScopedOp op(Name("torch", "op"), Tensor(extents.data(), 64, DType::kFloat32),
                      Tensor(extents.data(), 100, DType::kFloat32), 5);
  });
  std::string error;
  const std::optional<OpCall> call = ParseOpCall(text, &error);
  ASSERT_TRUE(call) << error;
  ASSERT_EQ(call->args.size(), 3U);
  EXPECT_EQ(call->args[0].shape.size(), 64U);
  EXPECT_EQ(call->args[1].shape.size(), 64U);
  EXPECT_EQ(call->args[2].int_value, 5);
  EXPECT_THAT(text, HasSubstr("'cut': 36}"));
  EXPECT_EQ(call->cut, 36);
}

TEST_F(RoundTripTest, ListsOfTensors) {
  const OpCall call = EmitCall([] {
    const ScopedOp op(
        Name("torch", "op"), Tensor({1}, DType::kFloat32), Tensor({2}, DType::kFloat32).InList(1),
        Tensor({3}, DType::kFloat16).InList(1), Tensor(nullptr, 1, DType::kFloat32).InList(1),
        Tensor({4}, DType::kFloat32).InList(2).Named("out"), 6);
  });
  ASSERT_EQ(call.args.size(), 6U);
  const int32_t lists[] = {0, 1, 1, 0, 2, 0};
  for (size_t i = 0; i < 6; ++i) EXPECT_EQ(call.args[i].list, lists[i]) << i;
  EXPECT_THAT(call.args[2].shape, ElementsAre(3));
  EXPECT_EQ(call.args[4].name, "out");
}

TEST_F(RoundTripTest, LongStringsAreCutAtACodePoint) {
  // 100 kB of one, two, three and four bytes to a character, from each place in it.
  for (const uint32_t code : {0x41u, 0xe9u, 0x20acu, 0x1f600u}) {
    for (size_t shift = 0; shift < 4; ++shift) {
      std::string text(shift, 'x');
      while (text.size() < 100'000) text += Utf8(code);
      const std::string literal = EmitOp([&] {
        const ScopedOp op(Name("torch", "op"), Arg(text), Tensor({3, 4}, DType::kFloat32));
      });
      std::string error;
      const std::optional<OpCall> call = ParseOpCall(literal, &error);
      ASSERT_TRUE(call) << error;
      ASSERT_EQ(call->args.size(), 2U);
      const size_t bytes = Utf8(code).size();
      const size_t kept = shift + (markers::kMaxStringBytes - shift) / bytes * bytes;
      EXPECT_EQ(call->args[0].text, text.substr(0, kept) + "...");
      EXPECT_THAT(call->args[1].shape, ElementsAre(3, 4));
      EXPECT_THAT(literal, HasSubstr("'cut': 1}"));
    }
  }
}

TEST_F(RoundTripTest, StringsOfTheGreatestLength) {
  for (const size_t size : {markers::kMaxStringBytes - 1, markers::kMaxStringBytes}) {
    const std::string text(size, 'y');
    const std::string literal = EmitOp([&] { const ScopedOp op(Name("torch", "op"), Arg(text)); });
    EXPECT_THAT(literal, HasSubstr("'" + text + "'"));
    EXPECT_THAT(literal, ::testing::Not(HasSubstr("cut")));
  }
  const std::string text(markers::kMaxStringBytes + 1, 'y');
  EXPECT_THAT(EmitOp([&] { const ScopedOp op(Name("torch", "op"), Arg(text)); }),
              HasSubstr("'cut': 1}"));
}

TEST_F(RoundTripTest, NamesOfTheGreatestLength) {
  for (const size_t size : {size_t{200}, size_t{300}, markers::kMaxStringBytes}) {
    const std::string name(size, 'n');
    const OpCall call = EmitCall(
        [&] { const ScopedOp op(Name(name.c_str(), name.c_str()), Arg(1).Named(name.c_str())); });
    EXPECT_EQ(call.mod, name) << size;
    EXPECT_EQ(call.op, name) << size;
    ASSERT_EQ(call.args.size(), 1U);
    EXPECT_EQ(call.args[0].name, name) << size;
  }
}

TEST_F(RoundTripTest, LongNames) {
  const std::string name(100'000, 'n');
  const std::string literal = EmitOp([&] {
    const ScopedForward op(Name(name.c_str(), name.c_str()), Arg(1).Named(name.c_str()), 2);
  });
  std::string error;
  const std::optional<OpCall> call = ParseOpCall(literal, &error);
  ASSERT_TRUE(call) << error;
  const std::string kept = name.substr(0, markers::kMaxStringBytes) + "...";
  EXPECT_EQ(call->mod, kept);
  EXPECT_EQ(call->op, kept);
  ASSERT_EQ(call->args.size(), 2U);
  EXPECT_EQ(call->args[0].name, kept);
  EXPECT_EQ(call->args[1].int_value, 2);
  EXPECT_THAT(literal, HasSubstr("'cut': 3}"));
}

TEST_F(RoundTripTest, LongLists) {
  std::vector<int64_t> values(100'000);
  for (size_t i = 0; i < values.size(); ++i) values[i] = static_cast<int64_t>(i) - 5;
  const std::vector<double> numbers(1000, 0.1);
  const std::string literal = EmitOp([&] {
    const ScopedOp op(Name("torch", "op"), IntList(values.data(), values.size()),
                      annotate::FloatList(numbers.data(), numbers.size()), IntList({1, 2}), 7);
  });
  std::string error;
  const std::optional<OpCall> call = ParseOpCall(literal, &error);
  ASSERT_TRUE(call) << error;
  ASSERT_EQ(call->args.size(), 4U);
  const std::vector<int64_t>& kept = call->args[0].int_list;
  ASSERT_EQ(kept.size(), markers::kMaxListItems);
  EXPECT_THAT(kept, ::testing::ElementsAreArray(values.data(), kept.size()));
  EXPECT_THAT(call->args[2].int_list, ElementsAre(1, 2));
  EXPECT_EQ(call->args[3].int_value, 7);
  EXPECT_EQ(call->cut, 100'000 - 1024);
}

TEST_F(RoundTripTest, ListsThatFitAreWhole) {
  std::vector<int64_t> values(markers::kMaxListItems);
  for (size_t i = 0; i < values.size(); ++i) values[i] = static_cast<int64_t>(i) - 5;
  const std::string literal = EmitOp(
      [&] { const ScopedOp op(Name("torch", "op"), IntList(values.data(), values.size())); });
  std::string error;
  const std::optional<OpCall> call = ParseOpCall(literal, &error);
  ASSERT_TRUE(call) << error;
  EXPECT_EQ(call->args.at(0).int_list, values);
  EXPECT_THAT(literal, ::testing::Not(HasSubstr("cut")));
}

/// Calls with more arguments than any other.
uint64_t BeginManyArguments(const std::vector<oplens_arg>& args) {
  return oplens_op_begin("torch", "op", args.data(), args.size());
}

TEST_F(RoundTripTest, ManyArguments) {
  const int64_t shape[] = {8, 16, 32, 64};
  oplens_arg tensor = {};
  tensor.kind = OPLENS_TENSOR;
  tensor.dtype = OPLENS_FLOAT32;
  tensor.count = 4;
  tensor.value.ints = shape;
  for (const size_t count : {size_t{40}, size_t{255}, size_t{256}, size_t{600}, size_t{5000}}) {
    const std::vector<oplens_arg> args(count, tensor);
    const std::string literal = EmitOp([&] { oplens_end(BeginManyArguments(args)); });
    EXPECT_LE(literal.size(), markers::kMaxTextBytes);
    std::string error;
    const std::optional<OpCall> call = ParseOpCall(literal, &error);
    ASSERT_TRUE(call) << error;
    ASSERT_GE(call->args.size(), 40U);
    for (const OpArg& arg : call->args) ASSERT_THAT(arg.shape, ElementsAre(8, 16, 32, 64));
    if (call->args.size() == count) {
      EXPECT_THAT(literal, ::testing::Not(HasSubstr("cut")));
    } else {
      EXPECT_EQ(count, 5000U);
      EXPECT_EQ(call->cut, static_cast<int64_t>(count - call->args.size()));
    }
  }
}

TEST_F(RoundTripTest, AlikeMembersOfAListStandForThemselves) {
  const OpCall call = EmitCall([] {
    const ScopedOp op(Name("torch", "cat"), Tensor({100}, DType::kFloat32).InList(1, 299),
                      Tensor({7}, DType::kFloat16).InList(1), 0);
  });
  ASSERT_EQ(call.args.size(), 302U);
  for (size_t i = 0; i < 300; ++i) {
    ASSERT_THAT(call.args[i].shape, ElementsAre(100));
    ASSERT_EQ(call.args[i].list, 1);
  }
  EXPECT_THAT(call.args[300].shape, ElementsAre(7));
  EXPECT_EQ(call.args[301].int_value, 0);
  EXPECT_EQ(call.cut, 0);
}

TEST_F(RoundTripTest, NoTextIsLongerThanItMayBe) {
  // What takes most room once it is escaped.
  const std::string worst(10'000, '\x80');
  std::vector<oplens_arg> args(20);
  for (oplens_arg& arg : args) {
    arg = {};
    arg.name = worst.c_str();
    arg.kind = OPLENS_STRING;
    arg.count = worst.size();
    arg.value.text = worst.data();
  }
  const NvtxRanges ranges = Emit([&] {
    const char* const frames[] = {worst.c_str(), worst.c_str(), worst.c_str(), worst.c_str()};
    { const ScopedTrace trace(frames, 4); }
    { const ScopedLayer layer(worst.c_str()); }
    { const ScopedBackward node(worst.c_str()); }
    { const annotate::ScopedRange range(std::string(100'000, 'x')); }
    oplens_link link;
    oplens_end(oplens_forward_begin(worst.c_str(), worst.c_str(), args.data(), args.size(), &link));
  });
  EXPECT_EQ(ranges.ranges.size(), 6U);
  for (const NvtxRange& range : ranges.ranges) {
    EXPECT_LE(range.text.size(), markers::kMaxTextBytes);
    EXPECT_FALSE(ClassifyMarker(range.text).damaged) << range.text;
  }
}

TEST_F(RoundTripTest, TracesKeepTheInnermostFrames) {
  struct Case {
    std::string folder;
    size_t kept;
  };
  // 64, or as many as have room: here 6 bytes for each that is no UTF-8.
  const Case cases[] = {{"args", 64},
                        {"/srv/some body/network/src/models/vision/transformers", 64},
                        {std::string(490, '\x80'), 20}};
  for (const Case& c : cases) {
    std::vector<std::string> texts;
    std::vector<const char*> frames;
    for (int i = 0; i < 1000; ++i) texts.push_back(fmt::format("{}/{}.py:{}", c.folder, i, i));
    for (const std::string& text : texts) frames.push_back(text.c_str());
    const NvtxRanges ranges = Emit([&] { const ScopedTrace trace(frames.data(), frames.size()); });
    ASSERT_EQ(ranges.ranges.size(), 1U);
    EXPECT_LE(ranges.ranges[0].text.size(), markers::kMaxTextBytes);
    const MarkerText marker = ClassifyMarker(ranges.ranges[0].text);
    ASSERT_EQ(marker.kind, MarkerKind::kTrace);
    ASSERT_EQ(marker.frames.size(), c.kept) << c.folder;
    EXPECT_EQ(marker.frames.back(), texts.back());
    EXPECT_EQ(marker.frames.front(), texts[texts.size() - c.kept]);
  }
}

}  // namespace
}  // namespace oplens::test::round_trip_test

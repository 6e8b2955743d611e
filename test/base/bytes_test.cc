#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <cstdint>
#include <limits>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "base/byte_reader.h"
#include "base/byte_writer.h"
#include "base/error.h"

namespace oplens::bytes_test {
namespace {

using ::testing::HasSubstr;

enum class Colour : uint8_t { kRed, kGreen, kBlue };
constexpr size_t WordCountOf(Colour) { return 3; }

struct Inner {
  int64_t count = 0;
  std::string name;
  friend auto operator<=>(const Inner&, const Inner&) = default;

  template <typename Bytes, typename Self>
  static void Transfer(Bytes* bytes, Self* self) {
    bytes->Counts(&self->count);
    bytes->Values(&self->name);
  }
};

struct Outer {
  int64_t number = 0;
  uint32_t small = 0;
  double decimal = 0;
  bool flag = false;
  Colour colour = Colour::kRed;
  std::optional<int64_t> maybe;
  std::vector<Inner> list;
  std::map<std::string, Inner> by_name;
  std::set<std::string> words;

  template <typename Bytes, typename Self>
  static void Transfer(Bytes* bytes, Self* self) {
    bytes->Values(&self->number, &self->small, &self->decimal, &self->flag, &self->colour,
                  &self->maybe, &self->list, &self->by_name, &self->words);
  }
};

std::string BytesOf(const Outer& outer) {
  ByteWriter bytes;
  bytes.Values(&outer);
  return bytes.Take();
}

Outer OuterOf(std::string_view bytes) {
  ByteReader reader(bytes, "made.bytes");
  Outer outer;
  reader.Values(&outer);
  reader.End();
  return outer;
}

std::string ErrorOf(std::string_view bytes) {
  try {
    OuterOf(bytes);
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

Outer AnyOuter() {
  Outer outer;
  outer.number = *rc::gen::arbitrary<int64_t>();
  outer.small = *rc::gen::arbitrary<uint32_t>();
  outer.decimal = *rc::gen::arbitrary<double>();
  outer.flag = *rc::gen::arbitrary<bool>();
  outer.colour = static_cast<Colour>(*rc::gen::inRange(0, 3));
  if (*rc::gen::arbitrary<bool>()) outer.maybe = *rc::gen::arbitrary<int64_t>();
  const auto texts = *rc::gen::arbitrary<std::vector<std::string>>();
  for (const std::string& text : texts) {
    const Inner inner = {*rc::gen::inRange<int64_t>(0, 1'000'000), text};
    outer.list.push_back(inner);
    outer.by_name.emplace(text, inner);
    outer.words.insert(text);
  }
  return outer;
}

RC_GTEST_PROP(BytesTest, WhatIsReadIsWhatWasWritten, ()) {
  const Outer made = AnyOuter();
  const std::string bytes = BytesOf(made);
  const Outer read = OuterOf(bytes);
  RC_ASSERT(read.number == made.number);
  RC_ASSERT(read.small == made.small);
  RC_ASSERT(read.decimal == made.decimal);
  RC_ASSERT(read.flag == made.flag);
  RC_ASSERT(read.colour == made.colour);
  RC_ASSERT(read.maybe == made.maybe);
  RC_ASSERT(read.list == made.list);
  RC_ASSERT(read.by_name == made.by_name);
  RC_ASSERT(read.words == made.words);
  RC_ASSERT(BytesOf(read) == bytes);
}

RC_GTEST_PROP(BytesTest, OfAnyOtherBytesErrorsAreAllThatComes, ()) {
  std::string bytes = BytesOf(AnyOuter());
  const size_t changes = *rc::gen::inRange<size_t>(1, 4);
  for (size_t i = 0; i < changes && !bytes.empty(); ++i) {
    bytes[*rc::gen::inRange<size_t>(0, bytes.size())] = *rc::gen::arbitrary<char>();
  }
  bytes.resize(*rc::gen::inRange<size_t>(0, bytes.size() + 1));
  ErrorOf(bytes);
}

TEST(BytesTest, SmallNumbersTakeOneByteAndATextIsThereOnce) {
  ByteWriter bytes;
  bytes.Number(127);
  bytes.Signed(-64);
  bytes.Text("conv");
  bytes.Text("relu");
  bytes.Text("conv");
  EXPECT_EQ(bytes.Take(), std::string("\x7f\x7f\0\4conv\1\4relu\0", 15));
}

TEST(BytesTest, ExtremesComeBack) {
  for (const int64_t value : {INT64_MIN, INT64_MIN + 1, int64_t{-1}, int64_t{0}, INT64_MAX}) {
    ByteWriter bytes;
    bytes.Signed(value);
    bytes.Near(&value, INT64_MAX);
    ByteReader reader(bytes.bytes(), "x");
    EXPECT_EQ(reader.Signed(), value);
    int64_t near = 0;
    reader.Near(&near, INT64_MAX);
    EXPECT_EQ(near, value);
    reader.End();
  }
}

TEST(BytesTest, SumsOfAnyWidthComeBack) {
  const Checked most(INT64_MAX);
  for (const Checked sum : {Checked(0), Checked(-1), most, most * most, Checked(0) - most * most,
                            Checked(0) - most * 2, most * most * most, Checked(1) / Checked(0)}) {
    ByteWriter bytes;
    bytes.Values(&sum);
    ByteReader reader(bytes.bytes(), "x");
    Checked read;
    reader.Values(&read);
    reader.End();
    EXPECT_EQ(read, sum);
  }
}

TEST(BytesTest, TextsInOneComeBackWithTheirZeros) {
  for (const std::string& text : {std::string(), std::string("a"), std::string("a\0b", 3),
                                  std::string("a\0\0", 3), std::string("\0", 1)}) {
    ByteWriter bytes;
    bytes.Texts(&text);
    ByteReader reader(bytes.bytes(), "x");
    std::string read = "before";
    reader.Texts(&read);
    EXPECT_EQ(read, text);
  }
}

TEST(BytesTest, TextsAreChangedAsTheyAreWritten) {
  ByteWriter bytes([](std::string_view text) { return std::string(text.substr(0, 1)); });
  bytes.Text("ab");
  bytes.Text("ac");
  ByteReader reader(bytes.bytes(), "x");
  EXPECT_EQ(reader.Text(), "a");
  EXPECT_EQ(reader.Text(), "a");
  reader.End();
}

TEST(BytesTest, ErrorsSayWhatAndWhere) {
  EXPECT_EQ(ErrorOf(""), "made.bytes, byte 0: it ends early; the file is damaged: save it again");
  EXPECT_THAT(ErrorOf(BytesOf({}) + "x"), HasSubstr("there is more than belongs here"));
}

/// What reading `bytes` as one value throws.
template <typename T>
std::string ErrorOfOne(std::string_view bytes) {
  ByteReader reader(bytes, "x");
  T value{};
  try {
    reader.Values(&value);
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

TEST(BytesTest, NoSizeIsTakenThatTheBytesCannotHold) {
  EXPECT_THAT(ErrorOfOne<std::vector<int64_t>>("\xff\xff\xff\xff\x0f"),
              HasSubstr("announces more"));
  EXPECT_THAT(ErrorOfOne<std::vector<int64_t>>(std::string_view("\3\0\0", 3)),
              HasSubstr("announces more"));
  EXPECT_THAT(ErrorOfOne<std::string>(std::string_view("\0\7abc", 5)), HasSubstr("announces more"));
}

TEST(BytesTest, NoTextIsTakenThatNoneHasTheNumberOf) {
  EXPECT_THAT(ErrorOfOne<std::string>("\1"), HasSubstr("a text has a number"));
}

TEST(BytesTest, TextsThatStandForManyTakeBoundedMemory) {
  ByteWriter bytes;
  const std::string text(size_t{1} << 20, 'x');
  bytes.Number(1000);
  for (int i = 0; i < 1000; ++i) bytes.Text(text);
  EXPECT_THAT(ErrorOfOne<std::vector<std::string>>(bytes.bytes()), HasSubstr("too much memory"));
}

TEST(BytesTest, NumbersThatDoNotFitAreRefused) {
  EXPECT_THAT(ErrorOfOne<uint8_t>("\x80\x02"), HasSubstr("too large"));
  EXPECT_THAT(ErrorOfOne<int32_t>("\xff\xff\xff\xff\x7f"), HasSubstr("too large"));
  EXPECT_THAT(ErrorOfOne<uint64_t>("\xff\xff\xff\xff\xff\xff\xff\xff\xff\x02"),
              HasSubstr("too large"));
  EXPECT_THAT(ErrorOfOne<bool>("\2"), HasSubstr("neither"));
  EXPECT_THAT(ErrorOfOne<Colour>("\3"), HasSubstr("larger than it can be"));
  ByteWriter infinite;
  const double none = std::numeric_limits<double>::infinity();
  infinite.Values(&none);
  EXPECT_THAT(ErrorOfOne<double>(infinite.bytes()), HasSubstr("a number is not finite"));
  ByteReader count("\xff\xff\xff\xff\xff\xff\xff\xff\x7f", "x");
  int64_t value = 0;
  EXPECT_THROW(count.Counts(&value), Error);
}

TEST(BytesTest, AKeyComesOnce) {
  EXPECT_THAT((ErrorOfOne<std::map<int64_t, int64_t>>(std::string_view("\2\2\0\2\0", 5))),
              HasSubstr("twice"));
}

}  // namespace
}  // namespace oplens::bytes_test

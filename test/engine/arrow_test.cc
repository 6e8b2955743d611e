// Tables in Arrow's format, read back through its C interface.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "prof/table/arrow_abi.h"
#include "prof/table/arrow_table.h"

namespace oplens::prof {
namespace {

using testing::ElementsAre;

constexpr Field kFields[] = {
    {"count", "Count", "", FieldType::kInteger, 4, "a count"},
    {"time", "Time", "ns", FieldType::kDecimal, 4, "a time"},
    {"name", "Name", "", FieldType::kName, 4, "a name"},
    {"places", "Places", "", FieldType::kIntegerList, 4, "numbers"},
    {"layers", "Layers", "", FieldType::kTextList, 4, "texts"},
    {"grid", "Grid", "", FieldType::kExtent, 4, "an extent"},
};

std::shared_ptr<const ArrowTable> TableOf(const std::vector<std::vector<Cell>>& rows,
                                          std::vector<Field> fields = {std::begin(kFields),
                                                                       std::end(kFields)}) {
  ArrowTables tables;
  const std::unique_ptr<Sink> sink = tables.NewTable();
  sink->Begin("made", std::move(fields));
  for (const std::vector<Cell>& row : rows) sink->Row(row);
  sink->End();
  return tables.At(0);
}

std::vector<Cell> Unknown() { return std::vector<Cell>(std::size(kFields)); }

struct Read {
  explicit Read(const std::shared_ptr<const ArrowTable>& table) {
    ArrowArrayStream stream;
    ExportStream(table, &stream);
    EXPECT_EQ(stream.get_schema(&stream, &schema), 0);
    EXPECT_EQ(stream.get_next(&stream, &array), 0);
    ArrowArray end;
    EXPECT_EQ(stream.get_next(&stream, &end), 0);
    EXPECT_EQ(end.release, nullptr);
    stream.release(&stream);
    EXPECT_EQ(stream.release, nullptr);
  }
  ~Read() {
    schema.release(&schema);
    array.release(&array);
  }
  Read(const Read&) = delete;
  Read& operator=(const Read&) = delete;

  const ArrowArray& Column(size_t column) const { return *array.children[column]; }
  template <typename Value>
  Value At(size_t column, size_t row) const {
    return static_cast<const Value*>(Column(column).buffers[1])[row];
  }
  bool IsKnown(size_t column, size_t row) const {
    const auto* const bits = static_cast<const uint8_t*>(Column(column).buffers[0]);
    return bits == nullptr || ((bits[row / 8] >> (row % 8)) & 1) != 0;
  }

  ArrowSchema schema;
  ArrowArray array;
};

TEST(ArrowTableTest, FormatsAndMetadata) {
  const Read read(TableOf({}));
  std::vector<std::string> formats;
  for (int64_t i = 0; i < read.schema.n_children; ++i) {
    formats.emplace_back(read.schema.children[i]->format);
  }
  EXPECT_THAT(formats, ElementsAre("l", "g", "i", "+L", "+L", "+w:3"));
  EXPECT_STREQ(read.schema.children[2]->dictionary->format, "u");
  EXPECT_STREQ(read.schema.children[1]->name, "time");
  const char* metadata = read.schema.children[1]->metadata;
  int32_t pairs = 0;
  std::memcpy(&pairs, metadata, sizeof pairs);
  EXPECT_EQ(pairs, 3);
  EXPECT_EQ(std::string_view(metadata + 8, 4), "unit");
  EXPECT_EQ(std::string_view(metadata + 16, 2), "ns");
  EXPECT_EQ(read.array.length, 0);
}

TEST(ArrowTableTest, CellsOfEveryKind) {
  const std::vector<int64_t> numbers = {4, 5};
  const std::vector<std::string_view> texts = {"a", "b", "a"};
  std::vector<Cell> row = {Integer(int64_t{-7}), Decimal(1.5),         Text("mm"),
                           {std::span(numbers)}, {Cell::Texts{texts}}, {Dim3{1, 2, 3}}};
  const Read read(TableOf({row, Unknown(), row}));
  ASSERT_EQ(read.array.length, 3);
  for (size_t column = 0; column < std::size(kFields); ++column) {
    EXPECT_EQ(read.Column(column).null_count, 1) << column;
    EXPECT_TRUE(read.IsKnown(column, 0));
    EXPECT_FALSE(read.IsKnown(column, 1)) << column;
    EXPECT_TRUE(read.IsKnown(column, 2));
  }
  EXPECT_EQ(read.At<int64_t>(0, 2), -7);
  EXPECT_EQ(read.At<double>(1, 2), 1.5);
  EXPECT_EQ(read.At<int32_t>(2, 0), read.At<int32_t>(2, 2));
  EXPECT_EQ(read.Column(2).dictionary->length, 1);
  EXPECT_EQ(read.At<int64_t>(3, 1), 2);
  EXPECT_EQ(read.At<int64_t>(3, 2), 2) << "an unknown list has no items";
  EXPECT_EQ(read.At<int64_t>(3, 3), 4);
  EXPECT_EQ(read.Column(4).children[0]->length, 6);
  EXPECT_EQ(read.Column(4).children[0]->dictionary->length, 2);
  EXPECT_EQ(read.Column(5).children[0]->length, 9);
}

TEST(ArrowTableTest, MoreThanAByteOfRowsKeepTheirUnknownOnes) {
  std::vector<std::vector<Cell>> rows;
  for (int64_t i = 0; i < 100; ++i) {
    rows.push_back(Unknown());
    if (i % 3 != 0 && i >= 16) rows.back()[0] = Integer(i);
    if (i < 64) rows.back()[1] = Decimal(0.5);
  }
  const Read read(TableOf(rows));
  for (size_t i = 0; i < rows.size(); ++i) {
    EXPECT_EQ(read.IsKnown(0, i), i % 3 != 0 && i >= 16) << i;
    EXPECT_EQ(read.IsKnown(1, i), i < 64) << i;
  }
  EXPECT_EQ(read.Column(1).null_count, 36);
}

TEST(ArrowTableTest, ADecimalAmongIntegersMakesAllDecimals) {
  std::vector<std::vector<Cell>> rows = {Unknown(), Unknown(), Unknown()};
  rows[0][0] = Integer(int64_t{2});
  rows[2][0] = Decimal(2.5);
  const Read read(TableOf(rows));
  EXPECT_STREQ(read.schema.children[0]->format, "g");
  EXPECT_EQ(read.At<double>(0, 0), 2.0);
  EXPECT_FALSE(read.IsKnown(0, 1));
  EXPECT_EQ(read.At<double>(0, 2), 2.5);
}

TEST(ArrowTableTest, ATextAmongNumbersMakesAllTexts) {
  std::vector<std::vector<Cell>> rows = {Unknown(), Unknown(), Unknown()};
  rows[0][0] = Integer(int64_t{2});
  rows[2][0] = Text("(all)");
  const auto table = TableOf(rows);
  EXPECT_EQ(table->Column(0).kind(), ArrowColumn::Kind::kTexts);
  EXPECT_EQ(table->Column(0).texts().At(static_cast<size_t>(table->Column(0).codes()[0])), "2");
  EXPECT_FALSE(table->Column(0).IsKnown(1));
}

TEST(ArrowTableTest, NumbersInAColumnOfTextsStayNumbers) {
  std::vector<std::vector<Cell>> rows = {Unknown(), Unknown(), Unknown()};
  rows[1][2] = Integer(int64_t{1});
  const auto numbers = TableOf(rows);
  EXPECT_EQ(numbers->Column(2).kind(), ArrowColumn::Kind::kIntegers);
  EXPECT_EQ(numbers->Column(2).integers()[1], 1);
  EXPECT_FALSE(numbers->Column(2).IsKnown(0));
  rows[2][2] = Text("mm");
  const auto texts = TableOf(rows);
  ASSERT_EQ(texts->Column(2).kind(), ArrowColumn::Kind::kTexts);
  const auto at = [&](size_t row) {
    return texts->Column(2).texts().At(static_cast<size_t>(texts->Column(2).codes()[row]));
  };
  EXPECT_EQ(at(1), "1");
  EXPECT_EQ(at(2), "mm");
  EXPECT_FALSE(texts->Column(2).IsKnown(0));
}

TEST(ArrowTableTest, ListsThatWereCutSaySo) {
  const std::vector<std::string_view> texts = {"a"};
  std::vector<std::vector<Cell>> rows = {Unknown(), Unknown()};
  rows[1][4] = {Cell::Texts{texts, 3}};
  const auto table = TableOf(rows);
  ASSERT_EQ(table->columns(), std::size(kFields) + 1);
  EXPECT_EQ(table->KeyOf(6), "layersCut");
  EXPECT_FALSE(table->Column(6).IsKnown(0));
  EXPECT_EQ(table->Column(6).integers()[1], 3);
}

TEST(ArrowTableTest, NamesKeepTheirBlanks) {
  std::vector<std::vector<Cell>> rows = {Unknown()};
  rows[0][2] = Text("void f(int, int)");
  EXPECT_EQ(TableOf(rows)->Column(2).texts().At(0), "void f(int, int)");
}

TEST(ArrowTableTest, TextsAreUtf8AndAnAddressMayHoldAnother) {
  std::string scratch = "first";
  ArrowTexts texts;
  EXPECT_EQ(texts.NumberOf(scratch), 0);
  EXPECT_EQ(texts.NumberOf(scratch), 0);
  scratch = "other";
  EXPECT_EQ(texts.NumberOf(scratch), 1);
  scratch = "first";
  EXPECT_EQ(texts.NumberOf(scratch), 0);
  EXPECT_EQ(texts.At(static_cast<size_t>(texts.NumberOf("a\xff"))), "a\xEF\xBF\xBD");
  EXPECT_EQ(texts.NumberOf("a\xff"), 2);
  EXPECT_EQ(texts.size(), 3U);
}

TEST(ArrowTableTest, ConsumersMayTakeAndReleaseParts) {
  const auto table = TableOf({Unknown()});
  ArrowArray array;
  ExportArray(table, &array);
  ArrowSchema schema;
  ExportSchema(*table, &schema);
  // A moved child: the consumer owns it, and marks what it leaves as released.
  ArrowArray child = *array.children[2];
  array.children[2]->release = nullptr;
  array.release(&array);
  EXPECT_NE(child.release, nullptr);
  child.release(&child);
  schema.children[0]->release(schema.children[0]);
  schema.release(&schema);
}

}  // namespace
}  // namespace oplens::prof

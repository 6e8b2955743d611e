#include "parse/source/sqlite_record.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <random>
#include <string>
#include <string_view>
#include <vector>

namespace oplens::parse {
namespace {

using Bytes = std::vector<unsigned char>;

/// A record of columns of these types; values are bytes that count up from `first`. Types up to
/// 0x7F.
Bytes RecordOf(const std::vector<int>& serials, unsigned char first) {
  constexpr int kSizes[] = {0, 1, 2, 3, 4, 6, 8, 8, 0, 0, 0, 0};
  Bytes record = {static_cast<unsigned char>(serials.size() + 1)};
  for (const int serial : serials) record.push_back(static_cast<unsigned char>(serial));
  for (const int serial : serials) {
    const int bytes = serial < 12 ? kSizes[serial] : (serial - 12) / 2;
    for (int i = 0; i < bytes; ++i) record.push_back(first++);
  }
  return record;
}

std::string Show(const Cell& cell) {
  switch (cell.type()) {
    case Cell::Type::kNull:
      return "null";
    case Cell::Type::kInt:
      return std::to_string(cell.integer());
    case Cell::Type::kReal:
      return "real " + std::to_string(cell.real());
    case Cell::Type::kText:
      return "text " + std::string(cell.bytes());
    case Cell::Type::kBlob:
      return "blob " + std::string(cell.bytes());
  }
  return {};
}

/// What `records` makes of the first `size` bytes of a record: its cells, or what is wrong.
std::string ReadWith(SqliteRecords* records, const std::vector<int>& slots, const Bytes& record,
                     size_t size) {
  // Exactly what may be read: a sanitizer sees more.
  Bytes bytes(record.begin(), record.begin() + static_cast<std::ptrdiff_t>(size));
  bytes.resize(size + kSqliteRecordSlack);
  std::vector<Cell> row(slots.size());
  // Of another row.
  for (const int slot : slots) {
    if (slot >= 0) row[static_cast<size_t>(slot)] = Cell::Int(7);
  }
  const std::string_view wrong = records->Read(slots, bytes.data(), size, row.data());
  if (!wrong.empty()) return std::string(wrong);
  std::string text;
  for (const Cell& cell : row) text.append(Show(cell)).append("|");
  return text;
}

TEST(SqliteRecords, ValuesOfAKnownHeader) {
  SqliteRecords records;
  const std::vector<int> slots = {0, -1, 1, 2, 3};
  const std::vector<int> serials = {1, 2, 8, 9, 16};
  EXPECT_EQ(ReadWith(&records, slots, RecordOf(serials, 'a'), 6 + 5), "97|0|1|blob de|null|");
  EXPECT_EQ(ReadWith(&records, slots, RecordOf(serials, 0xF0), 6 + 5),
            "-16|0|1|blob \xF3\xF4|null|");
}

TEST(SqliteRecords, ColumnsWithoutAValueAreNull) {
  SqliteRecords records;
  const std::vector<int> slots = {1, 0, 2};
  for (int i = 0; i < 2; ++i) {
    EXPECT_EQ(ReadWith(&records, slots, RecordOf({0, 1}, 'a'), 3 + 1), "97|null|null|") << i;
  }
}

// Each record is read by one that has seen the others, and by one that has seen none.
TEST(SqliteRecords, HeadersThatCameBeforeChangeNothing) {
  std::mt19937 random(7);
  const std::vector<int> slots = {3, 0, -1, 1, 2, 4};
  SqliteRecords records;
  int texts = 0;
  for (int i = 0; i < 4000; ++i) {
    std::vector<int> serials(random() % 7);
    for (int& serial : serials) serial = static_cast<int>(random() % (i % 2 == 0 ? 3 : 20));
    Bytes record = RecordOf(serials, static_cast<unsigned char>(random()));
    // Wrong headers as well: they count more or less bytes, or go beyond the record.
    if (i % 5 == 0) record[0] = static_cast<unsigned char>(random() % (record.size() + 2));
    if (i % 7 == 0) record[random() % record.size()] = static_cast<unsigned char>(random());
    const size_t size = i % 3 == 0 ? random() % (record.size() + 1) : record.size();
    SqliteRecords fresh;
    const std::string expected = ReadWith(&fresh, slots, record, size);
    EXPECT_EQ(ReadWith(&records, slots, record, size), expected) << i;
    EXPECT_EQ(ReadWith(&records, slots, record, size), expected) << i;
    texts += expected.find("text") != std::string::npos;
  }
  EXPECT_GT(texts, 100);
}

TEST(SqliteRecords, ARecordThatIsShorterThanItsHeaderSays) {
  SqliteRecords records;
  const std::vector<int> slots = {0, 1};
  const Bytes record = RecordOf({6, 4}, 1);
  EXPECT_EQ(ReadWith(&records, slots, record, record.size()), "72623859790382856|151653132|");
  EXPECT_EQ(ReadWith(&records, slots, record, record.size() - 1), "a value that runs over its row");
  EXPECT_EQ(ReadWith(&records, slots, record, 2), "a row with a broken header");
}

}  // namespace
}  // namespace oplens::parse

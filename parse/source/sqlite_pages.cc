#include "parse/source/sqlite_pages.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <deque>
#include <limits>
#include <string>
#include <utility>

#include "base/error.h"
#include "base/shortage.h"
#include "base/staged_work.h"
#include "base/threads.h"
#include "parse/source/sqlite_record.h"

namespace oplens::parse {
namespace {

using Byte = unsigned char;

constexpr uint32_t kSqlitePagesMaxDepth = 20;  // SQLite's own limit of cursor depth.
/// Of the pages that are read, and handed on, at once.
constexpr uint32_t kReadAheadBytes = 64u << 10;
/// Of a table that is read without a thread: 2 MB of pages.
constexpr int kPiecesBeforeThreads = 32;
constexpr int kMostReaders = 3;
constexpr std::string_view kBrokenChain = "a broken chain of overflow pages";
constexpr Byte kInteriorTable = 5;
constexpr Byte kLeafTable = 13;

uint32_t Big16(const Byte* p) { return static_cast<uint32_t>(p[0]) << 8 | p[1]; }
uint32_t Big32(const Byte* p) { return Big16(p) << 16 | Big16(p + 2); }

/// Reads `size` bytes at `offset`; false at the end of the file.
bool ReadAt(int fd, void* to, size_t size, uint64_t offset, const std::string& path) {
  auto* p = static_cast<char*>(to);
  while (size > 0) {
    const ssize_t n = ::pread(fd, p, size, static_cast<off_t>(offset));
    if (n == 0) return false;
    if (n < 0) {
      if (errno == EINTR) continue;
      throw SystemError(path, "cannot be read", errno, "copy it to another disk and try again");
    }
    p += n;
    offset += static_cast<uint64_t>(n);
    size -= static_cast<size_t>(n);
  }
  return true;
}

constexpr size_t kHeaderBytes = 100;

uint32_t PageSizeOf(const Byte* head) { return Big16(&head[16]) == 1 ? 65536 : Big16(&head[16]); }

/// The stored size is valid only if change counter == version-valid-for; else 0.
uint32_t PromisedPages(const Byte* head) {
  return Big32(&head[24]) == Big32(&head[92]) ? Big32(&head[28]) : 0;
}

}  // namespace

int64_t PromisedBytes(std::string_view head) {
  if (head.size() < kHeaderBytes) return 0;
  std::array<Byte, kHeaderBytes> bytes{};
  std::memcpy(bytes.data(), head.data(), bytes.size());
  return int64_t{PageSizeOf(bytes.data())} * PromisedPages(bytes.data());
}

SqliteHeader ReadSqliteHeader(int fd, int64_t file_bytes, const std::string& path) {
  std::array<Byte, kHeaderBytes> head{};
  constexpr std::string_view kMagic("SQLite format 3\0", 16);
  const bool whole = file_bytes >= 100 && ReadAt(fd, head.data(), head.size(), 0, path);
  if (!whole || std::memcmp(head.data(), kMagic.data(), kMagic.size()) != 0) {
    throw Error(path, "is not an SQLite database",
                "give the file that nvprof -o, record or nsys export wrote, or a trace of PyTorch");
  }
  SqliteHeader header;
  header.page_size = PageSizeOf(head.data());
  header.usable_size = header.page_size - head[20];
  header.utf8 = Big32(&head[56]) == 1;
  if (header.page_size < 512 || !std::has_single_bit(header.page_size) ||
      header.usable_size < 480) {
    throw Error(path, "is corrupt (impossible page size in its header)",
                "record or copy the profile again");
  }
  const auto pages_there = static_cast<uint64_t>(file_bytes) / header.page_size;
  header.page_count = static_cast<uint32_t>(std::min<uint64_t>(pages_there, UINT32_MAX));
  const uint32_t promised = PromisedPages(head.data());
  if (promised > 0) {
    if (promised > pages_there) {
      throw Error(path,
                  fmt::format("is truncated ({} of {} pages are there)", pages_there, promised),
                  "copy the profile again, whole");
    }
    header.page_count = promised;
    header.has_page_count = true;
  }
  return header;
}

namespace {

/// What is wrong on a page, found while it was read.
struct Damage {
  std::string_view what;
};

constexpr int64_t kNoRow = std::numeric_limits<int64_t>::min();

/// What all parts of a scan read.
struct PageFile {
  int fd;
  const SqliteHeader& header;
  const std::string& path;
  WorkMeter* meter;

  /// Reads `count` pages from page `number` on, which must be in the file. Throws Damage.
  void Read(uint32_t number, uint32_t count, Byte* to) const {
    const uint64_t offset = uint64_t{number - 1} * header.page_size;
    const uint64_t size = uint64_t{count} * header.page_size;
    if (!ReadAt(fd, to, size, offset, path)) throw Damage{"the file ends too early"};
    if (meter != nullptr) meter->Add(static_cast<int64_t>(size));
  }
  void Check(uint32_t number) const {
    if (number == 0 || number > header.page_count) throw Damage{"a page number out of range"};
  }
};

/// The head of a page of a table.
struct PageHead {
  /// Throws Damage if it is none.
  PageHead(const SqliteHeader& header, uint32_t number, const Byte* page) {
    const uint32_t start = number == 1 ? 100 : 0;
    const Byte type = page[start];
    if (type != kInteriorTable && type != kLeafTable) throw Damage{"a page of the wrong kind"};
    is_leaf = type == kLeafTable;
    cells = Big16(page + start + 3);
    pointers = start + (is_leaf ? 8 : 12);
    if (pointers + cells * 2 > header.usable_size) throw Damage{"too many cells on a page"};
    if (!is_leaf) last_child = Big32(page + start + 8);
  }

  bool is_leaf = false;
  uint32_t cells = 0;
  uint32_t pointers = 0;  // Where the offsets of the cells are.
  uint32_t last_child = 0;
};

/// The leaf pages of a table in order, found one after the other: interior pages are read when
/// their leaves are asked for.
class LeafPages {
 public:
  LeafPages(const PageFile& file, uint32_t root) : file_(file) { levels_.push_back({{root}}); }

  /// False at the end. Throws Damage; later calls return false then.
  bool Next(uint32_t* number) {
    while (!levels_.empty()) {
      if (levels_.back().next == levels_.back().children.size()) {
        levels_.pop_back();
        continue;
      }
      Level& level = levels_.back();
      const bool first = level.next == 0;
      const uint32_t child = level.children[level.next++];
      // Pages of one level are of one kind.
      if (!first && level.of_leaves) {
        *number = child;
        return true;
      }
      try {
        if (IsLeaf(child)) {
          levels_.back().of_leaves = true;
          *number = child;
          return true;
        }
      } catch (...) {
        levels_.clear();
        throw;
      }
    }
    return false;
  }

 private:
  struct Level {
    std::vector<uint32_t> children;
    size_t next = 0;
    bool of_leaves = false;
  };

  /// Whether a page has rows; one that has not becomes the next level.
  bool IsLeaf(uint32_t number) {
    if (levels_.size() > kSqlitePagesMaxDepth) throw Damage{"a loop of pages"};
    file_.Check(number);
    page_.resize(file_.header.page_size + kSqliteRecordSlack);
    file_.Read(number, 1, page_.data());
    const PageHead head(file_.header, number, page_.data());
    if (head.is_leaf) return true;
    listed_ += head.cells + 1;
    if (listed_ > file_.header.page_count) throw Damage{"a loop of pages"};
    Level level;
    level.children.reserve(head.cells + 1);
    for (uint32_t i = 0; i < head.cells; ++i) {
      const uint32_t offset = Big16(&page_[head.pointers + 2 * i]);
      if (offset + 4 > file_.header.usable_size) throw Damage{"a cell outside its page"};
      level.children.push_back(Big32(&page_[offset]));
    }
    level.children.push_back(head.last_child);
    levels_.push_back(std::move(level));
    return false;
  }

  const PageFile& file_;
  std::vector<Level> levels_;
  std::vector<Byte> page_;
  uint64_t listed_ = 0;  // Pages; more than the file has are a loop.
};

/// Which cells of a row go where.
struct RowSlots {
  std::vector<int> of_column;
  int row_id = -1;
  size_t count = 0;
};

/// The rows of some leaf pages.
class LeafRows {
 public:
  /// Takes the next leaves of a table; false if there are none.
  bool Take(LeafPages* leaves, const PageFile& file) {
    const size_t most = std::max(1u, kReadAheadBytes / file.header.page_size);
    pages_.clear();
    damage_ = {};
    uint32_t number = 0;
    try {
      while (pages_.size() < most && leaves->Next(&number)) pages_.push_back(number);
    } catch (const Damage& damage) {
      damage_ = damage.what;
      return true;
    }
    return !pages_.empty();
  }

  /// Reads their rows, up to damage if there is some.
  void Read(const PageFile& file, const RowSlots& slots) {
    batch_.column_count = slots.count;
    batch_.row_ids.clear();
    overflow_texts_.clear();
    overflow_pages_ = 0;
    try {
      ReadPages(file);
      for (size_t i = 0; i < pages_.size(); ++i) {
        ReadLeaf(file, slots, pages_[i], PageAt(file, i));
      }
    } catch (const Damage& damage) {
      damage_ = damage.what;
    }
  }

  const RowBatch& batch() const { return batch_; }
  /// Empty: none.
  std::string_view damage() const { return damage_; }
  int64_t last_row_id() const { return batch_.row_ids.empty() ? kNoRow : last_row_id_; }
  uint64_t overflow_pages() const { return overflow_pages_; }

 private:
  Byte* PageAt(const PageFile& file, size_t i) {
    return reinterpret_cast<Byte*>(lines_.data()) + i * file.header.page_size;
  }

  /// Reads neighbouring pages at once.
  void ReadPages(const PageFile& file) {
    lines_.resize(pages_.size() * file.header.page_size / sizeof(CacheLine) + 1);
    size_t i = 0;
    try {
      while (i < pages_.size()) {
        file.Check(pages_[i]);
        size_t end = i + 1;
        while (end < pages_.size() && pages_[end] == pages_[end - 1] + 1 &&
               pages_[end] <= file.header.page_count) {
          ++end;
        }
        file.Read(pages_[i], static_cast<uint32_t>(end - i), PageAt(file, i));
        i = end;
      }
    } catch (const Damage& damage) {
      damage_ = damage.what;
      pages_.resize(i);
    }
  }

  void ReadLeaf(const PageFile& file, const RowSlots& slots, uint32_t number, const Byte* page) {
    const PageHead head(file.header, number, page);
    if (!head.is_leaf) throw Damage{"a page of the wrong kind"};
    const size_t row = batch_.row_ids.size();
    // Cells of no column are null, and stay so: the rows of a table have the same slots.
    const size_t cells_after = (row + head.cells) * slots.count;
    if (batch_.cells.size() < cells_after) batch_.cells.resize(cells_after);
    Cell* cells = batch_.cells.data() + row * slots.count;
    for (uint32_t i = 0; i < head.cells; ++i, cells += slots.count) {
      const uint32_t offset = Big16(page + head.pointers + 2 * i);
      if (offset < head.pointers + 2 * head.cells || offset >= file.header.usable_size) {
        throw Damage{"a cell outside its page"};
      }
      ReadCell(file, slots, page, offset, cells);
    }
  }

  /// Decodes the cell at `offset` into `row`.
  void ReadCell(const PageFile& file, const RowSlots& slots, const Byte* page, uint32_t offset,
                Cell* row) {
    const Byte* end = page + file.header.usable_size;
    uint64_t payload_bytes = 0;
    uint64_t key = 0;
    const Byte* p = ReadSqliteVarint(page + offset, end, &payload_bytes);
    if (p != nullptr) p = ReadSqliteVarint(p, end, &key);
    if (p == nullptr) throw Damage{"a cell that runs over its page"};
    const auto row_id = static_cast<int64_t>(key);
    if (!batch_.row_ids.empty() && row_id <= last_row_id_) throw Damage{"row ids out of order"};
    if (payload_bytes > file.header.usable_size - 35) {
      p = ReadOverflow(file, p, static_cast<size_t>(end - p), payload_bytes);
    } else if (payload_bytes > static_cast<uint64_t>(end - p)) {
      throw Damage{"a row that runs over its page"};
    }
    const std::string_view wrong = records_.Read(slots.of_column, p, payload_bytes, row);
    if (!wrong.empty()) throw Damage{wrong};
    if (slots.row_id >= 0) row[slots.row_id] = Cell::Int(row_id);
    last_row_id_ = row_id;
    batch_.row_ids.push_back(row_id);
  }

  /// Returns the payload of a cell that spills to other pages (fileformat2.html, section 1.6).
  const Byte* ReadOverflow(const PageFile& file, const Byte* p, size_t bytes_on_page,
                           uint64_t payload_bytes) {
    const SqliteHeader& header = file.header;
    const uint64_t usable = header.usable_size;
    if (payload_bytes > uint64_t{header.page_count} * usable) {
      throw Damage{"a row larger than the file"};
    }
    const uint64_t least = (usable - 12) * 32 / 255 - 23;
    uint64_t local = least + (payload_bytes - least) % (usable - 4);
    if (local > usable - 35) local = least;
    if (local + 4 > bytes_on_page) throw Damage{"a row that runs over its page"};
    std::vector<Byte>& payload = overflow_texts_.emplace_back();
    payload.reserve(payload_bytes + kSqliteRecordSlack);
    payload.assign(p, p + local);
    std::vector<Byte> page(header.page_size);
    uint32_t next = Big32(p + local);
    while (payload.size() < payload_bytes) {
      // A page belongs to one row: more visits than pages mean a loop.
      if (next == 0 || next > header.page_count || ++overflow_pages_ > header.page_count) {
        throw Damage{kBrokenChain};
      }
      file.Read(next, 1, page.data());
      const uint64_t take = std::min(usable - 4, payload_bytes - payload.size());
      payload.insert(payload.end(), page.begin() + 4,
                     page.begin() + 4 + static_cast<std::ptrdiff_t>(take));
      next = Big32(page.data());
    }
    payload.resize(payload_bytes + kSqliteRecordSlack);
    return payload.data();
  }

  /// The system copies to the beginning of a line in two thirds of the time of elsewhere.
  struct alignas(64) CacheLine {
    Byte bytes[64];
  };
  static_assert(sizeof(CacheLine) >= kSqliteRecordSlack);

  std::vector<uint32_t> pages_;
  std::vector<CacheLine> lines_;  // Of the pages, one after the other.
  std::deque<std::vector<Byte>> overflow_texts_;
  SqliteRecords records_;
  RowBatch batch_;
  int64_t last_row_id_ = kNoRow;  // Of the batch, if it has rows.
  uint64_t overflow_pages_ = 0;
  std::string_view damage_;
};

/// Hands the rows of one scan to its callback, in order.
class RowHandover {
 public:
  RowHandover(const PageFile& file, std::string_view table, const BatchCallback& callback)
      : file_(file), table_(table), callback_(callback) {}

  void Hand(const LeafRows& rows) {
    const RowBatch& batch = rows.batch();
    overflow_pages_ += rows.overflow_pages();
    if (overflow_pages_ > file_.header.page_count) Corrupt(kBrokenChain);
    if (batch.row_count() > 0) {
      if (last_row_id_ != kNoRow && batch.row_ids.front() <= last_row_id_) {
        Corrupt("row ids out of order");
      }
      last_row_id_ = rows.last_row_id();
      callback_(batch);
    }
    if (!rows.damage().empty()) Corrupt(rows.damage());
  }

 private:
  [[noreturn]] void Corrupt(std::string_view what) const {
    throw Error(file_.path, table_, last_row_id_ == kNoRow ? -1 : last_row_id_,
                fmt::format("the database is corrupt after this row ({})", what),
                "record or copy the profile again");
  }

  const PageFile& file_;
  std::string_view table_;
  const BatchCallback& callback_;
  int64_t last_row_id_ = kNoRow;
  uint64_t overflow_pages_ = 0;
};

}  // namespace

SqlitePages::SqlitePages(int fd, const SqliteHeader& header, std::string path, WorkMeter* meter)
    : fd_(fd), header_(header), path_(std::move(path)), meter_(meter) {}

SqlitePages::~SqlitePages() = default;

void SqlitePages::Scan(std::string_view table, uint32_t root,
                       const std::vector<int>& slot_of_column, int row_id_slot, size_t slot_count,
                       const BatchCallback& callback) {
  RowSlots slots = {slot_of_column, row_id_slot, slot_count};
  while (!slots.of_column.empty() && slots.of_column.back() < 0) slots.of_column.pop_back();
  const PageFile file = {fd_, header_, path_, meter_};
  LeafPages leaves(file, root);
  RowHandover handover(file, table, callback);
  LeafRows rows;
  for (int i = 0; i < kPiecesBeforeThreads; ++i) {
    if (!rows.Take(&leaves, file)) return;
    rows.Read(file, slots);
    handover.Hand(rows);
  }
  // Rows are read in less time than they are taken in: few threads are of use.
  const int threads = std::min(ThreadLimit() - 1, kMostReaders);
  DoInOrder<LeafRows>(
      static_cast<size_t>(threads), [&](LeafRows* piece) { return piece->Take(&leaves, file); },
      [&](LeafRows* piece) { piece->Read(file, slots); },
      [&](LeafRows* piece) { handover.Hand(*piece); });
}

}  // namespace oplens::parse

#include "parse/source/sqlite_pages.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cerrno>
#include <cstring>
#include <deque>
#include <limits>
#include <string>
#include <utility>

#include "base/error.h"
#include "base/shortage.h"

namespace oplens::parse {
namespace {

using Byte = unsigned char;

constexpr uint32_t kSqlitePagesMaxDepth = 20;  // SQLite's own limit of cursor depth.
constexpr uint32_t kReadAheadBytes = 128u << 10;
constexpr Byte kInteriorTable = 5;
constexpr Byte kLeafTable = 13;
/// Bytes past the end of a page buffer that the wide loads below may read, but never use.
constexpr size_t kSqlitePagesSlack = 8;

uint32_t Big16(const Byte* p) { return static_cast<uint32_t>(p[0]) << 8 | p[1]; }
uint32_t Big32(const Byte* p) { return Big16(p) << 16 | Big16(p + 2); }

uint64_t Big64(const Byte* p) {
  uint64_t value = 0;
  std::memcpy(&value, p, sizeof value);
  return __builtin_bswap64(value);
}

/// A signed big-endian integer of 1 to 8 bytes; may read up to 8 bytes from `p`.
int64_t SignedBig(const Byte* p, uint32_t bytes) {
  return static_cast<int64_t>(Big64(p)) >> (64 - 8 * bytes);
}

/// Reads a varint that must end before `end`; returns nullptr if it does not.
const Byte* ReadVarint(const Byte* p, const Byte* end, uint64_t* value) {
  if (p < end && *p < 0x80) {
    *value = *p;
    return p + 1;
  }
  uint64_t result = 0;
  for (int i = 0; i < 8; ++i) {
    if (p >= end) return nullptr;
    result = result << 7 | (*p & 0x7Fu);
    if (*p++ < 0x80) {
      *value = result;
      return p;
    }
  }
  if (p >= end) return nullptr;
  *value = result << 8 | *p;
  return p + 1;
}

/// Bytes of a value, for serial types below 12.
constexpr std::array<uint8_t, 12> kSerialBytes = {0, 1, 2, 3, 4, 6, 8, 8, 0, 0, 0, 0};

uint64_t SerialBytes(uint64_t serial) {
  return serial < 12 ? kSerialBytes[serial] : (serial - 12) / 2;
}

Cell DecodeCell(uint64_t serial, const Byte* p) {
  switch (serial) {
    case 0:
      return {};
    case 7:
      return Cell::Real(std::bit_cast<double>(Big64(p)));
    case 8:
      return Cell::Int(0);
    case 9:
      return Cell::Int(1);
    default:
      break;
  }
  if (serial < 7) return Cell::Int(SignedBig(p, kSerialBytes[serial]));
  const char* bytes = reinterpret_cast<const char*>(p);  // NOLINT
  const size_t size = SerialBytes(serial);
  return serial % 2 == 0 ? Cell::Blob(bytes, size) : Cell::Text(bytes, size);
}

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

/// The state of one Scan.
class SqlitePages::Walk {
 public:
  Walk(int fd, const SqliteHeader& header, const std::string& path, std::string_view table,
       const std::vector<int>& slot_of_column, int row_id_slot, const BatchCallback& callback,
       WorkMeter* meter)
      : fd_(fd),
        header_(header),
        path_(path),
        table_(table),
        slots_(slot_of_column),
        row_id_slot_(row_id_slot),
        callback_(callback),
        meter_(meter) {
    while (!slots_.empty() && slots_.back() < 0) slots_.pop_back();
  }

  void Run(uint32_t root, size_t slot_count) {
    batch_.column_count = slot_count;
    Visit(root, 0);
  }

 private:
  [[noreturn]] void Corrupt(std::string_view what) const {
    throw Error(path_, table_, last_row_id_ == kNoRow ? -1 : last_row_id_,
                fmt::format("the database is corrupt after this row ({})", what),
                "record or copy the profile again");
  }

  /// Returns a page's bytes, valid until the next call. Reads ahead after two neighbouring pages.
  const Byte* Page(uint32_t number) {
    if (number == 0 || number > header_.page_count) Corrupt("a page number out of range");
    if (number < block_first_ || number >= block_first_ + block_count_) {
      const bool sequential = number == block_first_ + block_count_;
      const uint32_t most = std::max(1u, kReadAheadBytes / header_.page_size);
      uint32_t count = sequential ? std::min(most, block_count_ * 2) : 1;
      count = std::min(std::max(count, 1u), header_.page_count - number + 1);
      block_.resize(size_t{most} * header_.page_size + kSqlitePagesSlack);
      const uint64_t offset = uint64_t{number - 1} * header_.page_size;
      if (!ReadAt(fd_, block_.data(), size_t{count} * header_.page_size, offset, path_)) {
        Corrupt("the file ends too early");
      }
      if (meter_ != nullptr) meter_->Add(int64_t{count} * header_.page_size);
      block_first_ = number;
      block_count_ = count;
    }
    return block_.data() + size_t{number - block_first_} * header_.page_size;
  }

  void Visit(uint32_t number, uint32_t depth) {
    if (depth > kSqlitePagesMaxDepth || ++pages_visited_ > header_.page_count)
      Corrupt("a loop of pages");
    const Byte* page = Page(number);
    const uint32_t start = number == 1 ? 100 : 0;
    const Byte type = page[start];
    const uint32_t cells = Big16(page + start + 3);
    const uint32_t head_bytes = type == kInteriorTable ? 12 : 8;
    if (type != kInteriorTable && type != kLeafTable) Corrupt("a page of the wrong kind");
    if (start + head_bytes + cells * 2 > header_.usable_size) Corrupt("too many cells on a page");
    if (type == kLeafTable) {
      VisitLeaf(page, start + head_bytes, cells);
      return;
    }
    // The page buffer is reused below: copy the children first.
    std::vector<uint32_t> children;
    children.reserve(cells + 1);
    for (uint32_t i = 0; i < cells; ++i) {
      const uint32_t offset = Big16(page + start + head_bytes + 2 * i);
      if (offset + 4 > header_.usable_size) Corrupt("a cell outside its page");
      children.push_back(Big32(page + offset));
    }
    children.push_back(Big32(page + start + 8));
    for (const uint32_t child : children) Visit(child, depth + 1);
  }

  void VisitLeaf(const Byte* page, uint32_t pointers, uint32_t cells) {
    batch_.row_ids.clear();
    batch_.cells.assign(cells * batch_.column_count, Cell());
    overflow_texts_.clear();
    for (uint32_t i = 0; i < cells; ++i) {
      const uint32_t offset = Big16(page + pointers + 2 * i);
      if (offset < pointers + 2 * cells || offset >= header_.usable_size) {
        Corrupt("a cell outside its page");
      }
      VisitCell(page, offset, batch_.cells.data() + i * batch_.column_count);
    }
    if (cells > 0) callback_(batch_);
  }

  /// Decodes the cell at `offset` into `row`.
  void VisitCell(const Byte* page, uint32_t offset, Cell* row) {
    const Byte* end = page + header_.usable_size;
    uint64_t payload_bytes = 0;
    uint64_t key = 0;
    const Byte* p = ReadVarint(page + offset, end, &payload_bytes);
    if (p != nullptr) p = ReadVarint(p, end, &key);
    if (p == nullptr) Corrupt("a cell that runs over its page");
    const auto row_id = static_cast<int64_t>(key);
    if (last_row_id_ != kNoRow && row_id <= last_row_id_) Corrupt("row ids out of order");
    last_row_id_ = row_id;
    batch_.row_ids.push_back(row_id);
    if (payload_bytes > header_.usable_size - 35) {
      p = ReadOverflow(p, static_cast<size_t>(end - p), payload_bytes);
    } else if (payload_bytes > static_cast<uint64_t>(end - p)) {
      Corrupt("a row that runs over its page");
    }
    DecodeRecord(p, payload_bytes, row_id, row);
  }

  /// Returns the payload of a cell that spills to other pages (fileformat2.html, section 1.6).
  const Byte* ReadOverflow(const Byte* p, size_t bytes_on_page, uint64_t payload_bytes) {
    const uint64_t usable = header_.usable_size;
    if (payload_bytes > uint64_t{header_.page_count} * usable)
      Corrupt("a row larger than the file");
    const uint64_t least = (usable - 12) * 32 / 255 - 23;
    uint64_t local = least + (payload_bytes - least) % (usable - 4);
    if (local > usable - 35) local = least;
    if (local + 4 > bytes_on_page) Corrupt("a row that runs over its page");
    std::vector<Byte>& payload = overflow_texts_.emplace_back();
    payload.reserve(payload_bytes + kSqlitePagesSlack);
    payload.assign(p, p + local);
    std::vector<Byte> page(header_.usable_size);
    uint32_t next = Big32(p + local);
    while (payload.size() < payload_bytes) {
      // A page belongs to one row: more visits than pages mean a loop.
      if (next == 0 || next > header_.page_count || ++pages_visited_ > header_.page_count) {
        Corrupt("a broken chain of overflow pages");
      }
      if (!ReadAt(fd_, page.data(), page.size(), uint64_t{next - 1} * header_.page_size, path_)) {
        Corrupt("the file ends too early");
      }
      if (meter_ != nullptr) meter_->Add(header_.page_size);
      const uint64_t take = std::min(usable - 4, payload_bytes - payload.size());
      payload.insert(payload.end(), page.begin() + 4,
                     page.begin() + 4 + static_cast<std::ptrdiff_t>(take));
      next = Big32(page.data());
    }
    payload.resize(payload_bytes + kSqlitePagesSlack);
    return payload.data();
  }

  void DecodeRecord(const Byte* record, uint64_t size, int64_t row_id, Cell* row) {
    const Byte* end = record + size;
    uint64_t header_bytes = 0;
    const Byte* h = ReadVarint(record, end, &header_bytes);
    if (h == nullptr || header_bytes > size) Corrupt("a row with a broken header");
    const Byte* header_end = record + header_bytes;
    const Byte* value = header_end;
    for (const int slot : slots_) {
      if (h >= header_end) break;
      uint64_t serial = *h;
      if (serial < 0x80) {
        ++h;
      } else {
        h = ReadVarint(h, header_end, &serial);
        if (h == nullptr) Corrupt("a row with a broken header");
      }
      const uint64_t bytes = SerialBytes(serial);
      if (bytes > static_cast<uint64_t>(end - value)) Corrupt("a value that runs over its row");
      if (slot >= 0) row[slot] = DecodeCell(serial, value);
      value += bytes;
    }
    if (row_id_slot_ >= 0) row[row_id_slot_] = Cell::Int(row_id);
  }

  static constexpr int64_t kNoRow = std::numeric_limits<int64_t>::min();

  int fd_;
  const SqliteHeader& header_;
  const std::string& path_;
  std::string_view table_;
  std::vector<int> slots_;
  int row_id_slot_;
  const BatchCallback& callback_;
  WorkMeter* meter_;

  RowBatch batch_;
  std::vector<Byte> block_;
  uint32_t block_first_ = 0;
  uint32_t block_count_ = 0;
  std::deque<std::vector<Byte>> overflow_texts_;
  int64_t last_row_id_ = kNoRow;
  uint64_t pages_visited_ = 0;
};

SqlitePages::SqlitePages(int fd, const SqliteHeader& header, std::string path, WorkMeter* meter)
    : fd_(fd), header_(header), path_(std::move(path)), meter_(meter) {}

SqlitePages::~SqlitePages() = default;

void SqlitePages::Scan(std::string_view table, uint32_t root,
                       const std::vector<int>& slot_of_column, int row_id_slot, size_t slot_count,
                       const BatchCallback& callback) {
  Walk walk(fd_, header_, path_, table, slot_of_column, row_id_slot, callback, meter_);
  walk.Run(root, slot_count);
}

}  // namespace oplens::parse

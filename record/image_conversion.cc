#include "record/image_conversion.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <functional>
#include <limits>
#include <sstream>
#include <string>
#include <string_view>

namespace oplens::record {
namespace {

int64_t ValueAt(const unsigned char* values, size_t i) {
  int64_t value = 0;
  std::memcpy(&value, values + i * sizeof value, sizeof value);
  return value;
}

/// nvprof stores thread ids as signed 32-bit numbers.
int64_t SignedThread(int64_t thread_id) {
  constexpr int64_t kAllThreadBits = 0xffffffff;
  return thread_id >= 0 && thread_id <= kAllThreadBits
             ? static_cast<int32_t>(static_cast<uint32_t>(thread_id))
             : thread_id;
}

/// Distinct notes; the limit bounds memory if a library goes wild.
constexpr size_t kMostNotes = 100;

int64_t ToSigned(uint64_t count) {
  constexpr auto kMost = static_cast<uint64_t>(std::numeric_limits<int64_t>::max());
  return static_cast<int64_t>(std::min(count, kMost));
}

template <size_t kSize>
std::string TextAt(const char (&text)[kSize]) {
  return std::string(text, ::strnlen(text, kSize));
}

std::map<std::string, int64_t> RankVariablesOf(const spool::ProcessPage& page) {
  std::map<std::string, int64_t> variables;
  for (size_t i = 0; i < markers::kLauncherCount; ++i) {
    for (size_t fact = 0; fact < markers::kRankFactCount; ++fact) {
      const char* const name = markers::kRankVariables[i][fact];
      const int64_t above = page.rank_variables[i][fact];
      if (name != nullptr && above > 0) variables[name] = above - 1;
    }
  }
  return variables;
}

}  // namespace

ActivityRows::ActivityRows(NvprofWriter* writer) : writer_(*writer) {
  for (const ActivityTable& source : kActivityTables) {
    Table& table = tables_[static_cast<size_t>(source.table)];
    if (source.kind != nullptr) AddNvprofColumns(source, &table);
    if (source.extra_table != nullptr) AddExtraColumns(source, &table);
  }
}

void ActivityRows::AddNvprofColumns(const ActivityTable& source, Table* table) {
  const TableSpec& spec = NvprofTable(source.kind);
  const bool calls =
      source.table == spool::Table::kRuntime || source.table == spool::Table::kDriver;
  std::string names;
  int parameter = 0;
  for (const ColumnSpec& column : spec.columns) {
    Form form = column.blob ? Form::kBlob : Form::kNumber;
    if (column.name == "name") form = Form::kText;
    if (calls && column.name == "threadId") form = Form::kThread;
    table->columns.push_back({form, false, ++parameter});
    names += (names.empty() ? "" : ", ") + column.name;
  }
  table->add.emplace(writer_.PrepareInsert(spec.name, names));
}

void ActivityRows::AddExtraColumns(const ActivityTable& source, Table* table) {
  table->numbered = source.kind != nullptr;
  std::string names = table->numbered ? "row" : "";
  int parameter = table->numbered ? 1 : 0;
  std::istringstream tokens(source.extra_columns);
  for (std::string name; tokens >> name;) {
    const bool text = name.back() == '\'';
    if (text) name.pop_back();
    table->columns.push_back({text ? Form::kText : Form::kNumber, true, ++parameter});
    names += (names.empty() ? "" : ", ") + name;
  }
  table->add_extra.emplace(writer_.PrepareInsert(source.extra_table, names));
}

void ActivityRows::BindBytes(SQLite::Statement* statement, const Column& column, int64_t length,
                             std::string_view bytes) {
  if (column.form == Form::kText) {
    statement->bind(column.parameter, length < 0 ? int64_t{0} : writer_.Intern(bytes));
    return;
  }
  bytes = bytes.substr(0, kMostBytes);
  // A null pointer would be stored as NULL.
  statement->bindNoCopy(column.parameter,
                        static_cast<const void*>(bytes.empty() ? "" : bytes.data()),
                        static_cast<int>(bytes.size()));
}

bool ActivityRows::Bind(Table* table, const unsigned char* values, ByteCursor bytes, bool* extras) {
  for (size_t i = 0; i < table->columns.size(); ++i) {
    const Column& column = table->columns[i];
    SQLite::Statement& statement = column.extra ? *table->add_extra : *table->add;
    const int64_t value = ValueAt(values, i);
    if (column.form == Form::kText || column.form == Form::kBlob) {
      std::string_view text;
      if (value > 0 && !bytes.TakeBytes(static_cast<uint64_t>(value), &text)) return false;
      BindBytes(&statement, column, value, text);
      *extras |= column.extra && value >= 0;
    } else if (value == kAbsent) {
      if (column.extra) {
        statement.bind(column.parameter);
      } else {
        statement.bind(column.parameter, int64_t{0});  // nvprof's columns are never NULL.
      }
    } else {
      statement.bind(column.parameter, column.form == Form::kThread ? SignedThread(value) : value);
      *extras |= column.extra;
    }
  }
  return true;
}

bool ActivityRows::Add(uint16_t number, const unsigned char* body, size_t size) {
  if (number >= tables_.size()) return false;
  Table& table = tables_[number];
  spool::RowPart row;
  const size_t values_bytes = table.columns.size() * sizeof(int64_t);
  if (size < sizeof row + values_bytes) return false;
  std::memcpy(&row, body, sizeof row);
  if (row.values != table.columns.size()) return false;
  const unsigned char* const values = body + sizeof row;
  bool extras = false;
  const ByteCursor bytes(values + values_bytes, size - sizeof row - values_bytes);
  if (!Bind(&table, values, bytes, &extras)) return false;
  if (table.add) {
    table.add->exec();
    table.add->reset();
  }
  if (table.add_extra && (extras || !table.add)) {
    if (table.numbered) table.add_extra->bind(1, writer_.last_row());
    table.add_extra->exec();
    table.add_extra->reset();
  }
  ++counts_[number];
  return true;
}

int64_t ActivityRows::Sum(std::initializer_list<spool::Table> tables) const {
  int64_t sum = 0;
  for (const spool::Table table : tables) sum += CountOf(table);
  return sum;
}

PageFacts ReadPage(const std::filesystem::path& folder) {
  PageFacts facts;
  const std::filesystem::path path = folder / "process";
  const MappedFile file(path, spool::kProcessPageBytes);
  const auto damaged = [&](std::string_view what) {
    facts.damage = fmt::format("{}: {}", path.string(), what);
    return facts;
  };
  if (file.data() == nullptr) {
    return damaged(file.error() == 0 ? "is empty" : std::strerror(file.error()));
  }
  if (file.size() < sizeof(spool::ProcessPage)) {
    return damaged(fmt::format("ends at byte {}", file.size()));
  }
  const auto& page = *reinterpret_cast<const spool::ProcessPage*>(file.data());
  // Written last: until then the library is filling in the page.
  facts.state = page.state.load(std::memory_order_acquire);
  if (std::memcmp(page.magic, spool::kProcessMagic, sizeof page.magic) != 0) {
    return damaged("is not the page of a process");
  }
  if (facts.state == spool::ProcessState{0}) return damaged("was not completed");
  if (page.version != spool::kVersion) {
    return damaged(
        fmt::format("has version {} of the spool's format, not {}", page.version, spool::kVersion));
  }
  facts.known = true;
  facts.identity = {page.process_id, page.pid_namespace, page.start_ticks};
  facts.parent_id = page.parent_id;
  facts.start_ns = page.start_ns;
  facts.lost_events = ToSigned(page.lost_events.load(std::memory_order_relaxed));
  facts.handler_events = ToSigned(page.handler_events.load(std::memory_order_relaxed));
  facts.child_events = ToSigned(page.child_events.load(std::memory_order_relaxed));
  facts.cut_texts = ToSigned(page.cut_texts.load(std::memory_order_relaxed));
  facts.lost_rows = ToSigned(page.lost_rows.load(std::memory_order_relaxed));
  facts.cupti_lost = ToSigned(page.cupti_lost.load(std::memory_order_relaxed));
  facts.odd_rows = ToSigned(page.odd_rows.load(std::memory_order_relaxed));
  facts.waits_for_start = page.waits_for_start.load(std::memory_order_relaxed) != 0;
  facts.streams = page.streams.load(std::memory_order_relaxed);
  facts.first_error = page.first_error.load(std::memory_order_relaxed);
  facts.cuda = page.cuda.load(std::memory_order_acquire);
  facts.cupti_result = page.cupti_result.load(std::memory_order_relaxed);
  facts.cupti_version = page.cupti_version.load(std::memory_order_relaxed);
  facts.gpu_busy_at_end = page.gpu_busy_at_end.load(std::memory_order_relaxed) != 0;
  facts.cupti_step = TextAt(page.cupti_step);
  facts.cupti_message = TextAt(page.cupti_message);
  facts.output = TextAt(page.output);
  facts.command = TextAt(page.command);
  facts.rank_variables = RankVariablesOf(page);
  facts.reference = page.reference != 0;
  return facts;
}

ImageConversion::ImageConversion(ImageFolder folder, NvprofWriter* writer, MarkerRows* markers,
                                 ActivityRows* activity)
    : folder_(std::move(folder)),
      activity_(*activity),
      names_(writer),
      events_(writer, markers, &names_, folder_.process_id, [this] { ReadNames(); }),
      name_stream_(folder_.path, spool::kNamesStream),
      activity_stream_(folder_.path, spool::kActivityStream) {}

void ImageConversion::FindStreams() {
  for (const auto& [stream, last] : ListStreams(folder_.path)) {
    if (stream < spool::kFirstEventStream || !known_streams_.insert(stream).second) continue;
    event_streams_.emplace_back(StreamReader(folder_.path, stream));
    if (ended_) event_streams_.back().reader.End();
  }
}

void ImageConversion::ReadNames() {
  while (const StreamReader::Record* const record = name_stream_.Peek()) {
    if (!names_.Add(record->head, record->body, record->body_size)) ++odd_records_;
    name_stream_.Next();
  }
}

bool ImageConversion::ReadActivity(Deadline* deadline) {
  while (const StreamReader::Record* const record = activity_stream_.Peek()) {
    if (deadline->Passed()) return true;
    const spool::RecordHead& head = record->head;
    RecordParts parts;
    if (head.kind == spool::RecordKind::kRow) {
      if (!activity_.Add(head.domain, record->body, record->body_size)) ++odd_rows_;
    } else if (head.kind == spool::RecordKind::kNote &&
               ReadParts(head.parts, record->body, record->body_size, &parts)) {
      if (notes_.size() < kMostNotes) notes_.emplace(parts.text.substr(0, kMostBytes));
    } else {
      ++odd_records_;
    }
    activity_stream_.Next();
  }
  return false;
}

void ImageConversion::TakeEvent(EventStream* stream, const StreamReader::Record& record) {
  const StreamReader& reader = stream->reader;
  if (stream->sequence != reader.sequence()) {
    stream->sequence = reader.sequence();
    stream->thread = events_.FindThread(reader.thread_id(), reader.os_thread_id());
  }
  if (record.head.kind == spool::RecordKind::kThread) {
    spool::ThreadPart part;
    if (record.body_size < sizeof part) {
      ++odd_records_;
      return;
    }
    std::memcpy(&part, record.body, sizeof part);
    stream->thread = events_.FindThread(part.thread_id, part.os_thread_id);
    return;
  }
  if (!events_.Add(stream->thread, record.head, record.body, record.body_size)) ++odd_records_;
}

bool ImageConversion::ReadEvents(Deadline* deadline) {
  heap_.clear();
  for (size_t i = 0; i < event_streams_.size(); ++i) {
    const StreamReader::Record* const record = event_streams_[i].reader.Peek();
    if (record != nullptr) heap_.emplace_back(record->head.time_ns, i);
  }
  std::make_heap(heap_.begin(), heap_.end(), std::greater<>());
  while (!heap_.empty()) {
    std::pop_heap(heap_.begin(), heap_.end(), std::greater<>());
    EventStream& stream = event_streams_[heap_.back().second];
    // Continue with a stream until another one has an earlier record.
    const int64_t until =
        heap_.size() > 1 ? heap_.front().first : std::numeric_limits<int64_t>::max();
    const StreamReader::Record* record = stream.reader.Peek();
    do {
      if (deadline->Passed()) return true;
      TakeEvent(&stream, *record);
      stream.reader.Next();
      record = stream.reader.Peek();
    } while (record != nullptr && record->head.time_ns <= until);
    if (record == nullptr) {
      heap_.pop_back();
    } else {
      heap_.back().first = record->head.time_ns;
      std::push_heap(heap_.begin(), heap_.end(), std::greater<>());
    }
  }
  return false;
}

bool ImageConversion::Advance(uint32_t streams, Deadline* deadline) {
  // The folder may hold many chunks: list it only if a stream is missing.
  if (ended_ || known_streams_.size() + spool::kFirstEventStream < streams) FindStreams();
  ReadNames();
  const bool more_activity = ReadActivity(deadline);
  return ReadEvents(deadline) || more_activity;
}

void ImageConversion::End() {
  ended_ = true;
  ring_faults_ = NameRingChunks(folder_.path);
  name_stream_.End();
  activity_stream_.End();
  for (EventStream& stream : event_streams_) stream.reader.End();
}

EventCounts ImageConversion::Finish() {
  std::map<uint32_t, uint32_t> last = ListStreams(folder_.path);
  name_stream_.CheckLast(last[spool::kNamesStream]);
  activity_stream_.CheckLast(last[spool::kActivityStream]);
  for (EventStream& stream : event_streams_) stream.reader.CheckLast(last[stream.reader.stream()]);
  return events_.Finish();
}

uint64_t ImageConversion::bytes_read() const {
  uint64_t bytes = name_stream_.bytes_read() + activity_stream_.bytes_read();
  for (const EventStream& stream : event_streams_) bytes += stream.reader.bytes_read();
  return bytes;
}

std::string ImageConversion::damage() const {
  std::vector<std::string> faults = ring_faults_;
  const auto add = [&faults](const StreamReader& reader) {
    if (!reader.damage().empty()) faults.push_back(reader.damage());
  };
  add(name_stream_);
  add(activity_stream_);
  for (const EventStream& stream : event_streams_) add(stream.reader);
  if (odd_records_ > 0) {
    faults.push_back(
        fmt::format("{}: {} records are not understood", folder_.path.string(), odd_records_));
  }
  if (faults.empty()) return "";
  if (faults.size() == 1) return faults[0];
  return fmt::format("{} (and {} more)", faults[0], faults.size() - 1);
}

}  // namespace oplens::record

#include "test/support/spool_builder.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <fstream>
#include <memory>
#include <stdexcept>

namespace oplens::test {
namespace {

namespace fs = std::filesystem;
namespace spool = record::spool;

template <typename T>
void Add(const T& value, std::string* out) {
  out->append(reinterpret_cast<const char*>(&value), sizeof value);
}

void AddPadded(const std::string& bytes, std::string* out) {
  *out += bytes;
  out->append((8 - bytes.size() % 8) % 8, '\0');
}

std::string Finish(spool::RecordHead head, const std::string& body) {
  head.size = static_cast<uint32_t>(sizeof head + body.size());
  std::string record;
  Add(head, &record);
  return record + body;
}

void WriteAt(const fs::path& path, uint64_t offset, const std::string& bytes) {
  std::fstream file(path, std::ios::in | std::ios::out | std::ios::binary);
  file.seekp(static_cast<std::streamoff>(offset));
  file.write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  if (!file.flush()) throw std::runtime_error(path.string() + " cannot be written");
}

}  // namespace

std::string EventRecord(spool::RecordKind kind, int64_t time_ns, const SpoolParts& parts) {
  spool::RecordHead head{};
  head.time_ns = time_ns;
  head.domain = parts.domain;
  head.kind = kind;
  std::string body;
  if (parts.category != 0 || parts.color) {
    head.parts |= spool::kLookPart;
    if (parts.color) head.parts |= spool::kColorBit;
    Add(spool::LookPart{parts.category, parts.color.value_or(0)}, &body);
  }
  if (parts.value) {
    head.parts |= spool::kValuePart;
    Add(spool::ValuePart{parts.value->second, parts.value->first, 0}, &body);
  }
  if (parts.string && !parts.call) {
    head.parts |= spool::kStringPart;
    Add(*parts.string, &body);
  }
  if (parts.range) {
    head.parts |= spool::kRangePart;
    Add(*parts.range, &body);
  }
  if (parts.call) {
    const auto& [schema, bytes] = parts.payloads.at(0);
    head.parts |= spool::kCallPart;
    Add(spool::CallPart{static_cast<uint32_t>(parts.string.value()),
                        static_cast<uint16_t>(schema - spool::kFirstSchema),
                        static_cast<uint16_t>(bytes.size())},
        &body);
    AddPadded(bytes, &body);
  } else if (!parts.payloads.empty()) {
    head.parts |= spool::kPayloadPart;
    Add(uint64_t{parts.payloads.size()}, &body);
    for (const auto& [schema, bytes] : parts.payloads) {
      Add(spool::PayloadHead{schema, bytes.size()}, &body);
      AddPadded(bytes, &body);
    }
  }
  if (parts.text) {
    head.parts |= spool::kTextPart;
    Add(uint64_t{parts.text->size()}, &body);
    AddPadded(*parts.text, &body);
  }
  return Finish(head, body);
}

std::string RowRecord(spool::Table table, const std::vector<SpoolValue>& values) {
  spool::RecordHead head{};
  head.domain = static_cast<uint16_t>(table);
  head.kind = spool::RecordKind::kRow;
  std::string body;
  Add(spool::RowPart{static_cast<uint32_t>(values.size()), 0}, &body);
  std::string bytes;
  for (const SpoolValue& value : values) {
    int64_t number = spool::kNullText;
    if (const auto* const text = std::get_if<std::string>(&value)) {
      number = static_cast<int64_t>(text->size());
      AddPadded(*text, &bytes);
    } else if (const auto* const plain = std::get_if<int64_t>(&value)) {
      number = *plain;
    }
    Add(number, &body);
  }
  return Finish(head, body + bytes);
}

std::string ThreadRecord(uint32_t thread_id, uint32_t os_thread_id) {
  spool::RecordHead head{};
  head.kind = spool::RecordKind::kThread;
  std::string body;
  Add(spool::ThreadPart{thread_id, os_thread_id}, &body);
  return Finish(head, body);
}

SpoolStream::SpoolStream(fs::path folder, uint32_t stream, uint32_t thread_id,
                         uint32_t os_thread_id, uint32_t chunk_bytes)
    : folder_(std::move(folder)),
      stream_(stream),
      thread_id_(thread_id),
      os_thread_id_(os_thread_id),
      chunk_bytes_(chunk_bytes) {}

fs::path SpoolStream::path() const { return folder_ / fmt::format("{}.{}", stream_, sequence_); }

void SpoolStream::StartChunk(uint32_t bytes) {
  if (started_) ++sequence_;
  started_ = true;
  capacity_ = bytes;
  spool::ChunkHead head{};
  std::memcpy(head.magic, spool::kChunkMagic, sizeof head.magic);
  head.version = spool::kVersion;
  head.stream = stream_;
  head.sequence = sequence_;
  head.thread_id = thread_id_;
  head.os_thread_id = os_thread_id_;
  head.capacity = bytes;
  head.used = sizeof head;
  std::ofstream(path(), std::ios::binary).flush();
  fs::resize_file(path(), bytes);
  std::string head_bytes(sizeof head, '\0');
  std::memcpy(head_bytes.data(), static_cast<const void*>(&head), sizeof head);
  WriteAt(path(), 0, head_bytes);
  used_ = sizeof head;
}

void SpoolStream::Append(const std::string& record) {
  if (!started_ || used_ + record.size() > capacity_) {
    const size_t needed = sizeof(spool::ChunkHead) + record.size();
    StartChunk(std::max(chunk_bytes_, static_cast<uint32_t>(needed)));
  }
  WriteAt(path(), used_, record);
  used_ += record.size();
  PatchUsed(used_);
}

void SpoolStream::Push(int64_t time_ns, const std::string& text) {
  SpoolParts parts;
  parts.text = text;
  Append(EventRecord(spool::RecordKind::kPush, time_ns, parts));
}

void SpoolStream::Pop(int64_t time_ns) {
  Append(EventRecord(spool::RecordKind::kPop, time_ns, {}));
}

void SpoolStream::Patch(uint64_t offset, const std::string& bytes) {
  WriteAt(path(), offset, bytes);
}

void SpoolStream::PatchUsed(uint64_t used) {
  std::string bytes;
  Add(used, &bytes);
  WriteAt(path(), offsetof(spool::ChunkHead, used), bytes);
}

fs::path MakeSpoolImage(const fs::path& spool_folder, int32_t process_id, const fs::path& output,
                        const std::function<void(spool::ProcessPage*)>& change, int image) {
  const fs::path folder = spool_folder / fmt::format("{}.{}", process_id, image);
  fs::create_directories(folder);
  auto page = std::make_unique<spool::ProcessPage>();
  std::memcpy(page->magic, spool::kProcessMagic, sizeof page->magic);
  page->version = spool::kVersion;
  page->process_id = process_id;
  page->state = spool::ProcessState::kEnded;
  page->streams = 1000;  // More than there are.
  SetField(page->output, output.string());
  SetField(page->command, "./program -n 3");
  if (change) change(page.get());
  std::string bytes(spool::kProcessPageBytes, '\0');
  std::memcpy(bytes.data(), static_cast<const void*>(page.get()), sizeof *page);
  std::ofstream(folder / "process", std::ios::binary) << bytes;
  return folder;
}

}  // namespace oplens::test

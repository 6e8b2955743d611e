#include "test/recorder/capture_file.h"

#include <nvtx3/nvToolsExt.h>
#include <unistd.h>

#include <bit>
#include <cerrno>
#include <charconv>
#include <cstdio>
#include <cstring>
#include <string_view>

#include "test/recorder/event_buffer.h"
#include "test/recorder/names.h"

namespace oplens::test_recorder {
namespace {

constexpr char kHexDigits[] = "0123456789abcdef";

/// One line, built field by field.
class Line {
 public:
  explicit Line(std::string_view word) : text_(word) {}

  template <typename T>
  Line& Number(T value, int base = 10) {
    text_ += ' ';
    AppendNumber(value, base);
    return *this;
  }
  Line& Text(std::string_view value) {
    text_ += ' ';
    AppendText(value);
    return *this;
  }
  template <typename T>
  void NumberField(std::string_view key, T value, int base = 10) {
    (text_ += ' ') += key;
    AppendNumber(value, base);
  }
  void FloatField(std::string_view key, auto value) {
    (text_ += ' ') += key;
    char digits[40];
    text_.append(digits, std::to_chars(digits, digits + sizeof digits, value).ptr);
  }
  void TextField(std::string_view key, std::string_view value) {
    (text_ += ' ') += key;
    AppendText(value);
  }
  void PayloadField(uint64_t schema, const unsigned char* bytes, size_t size) {
    NumberField("payload=", schema, 16);
    text_ += ':';
    for (size_t i = 0; i < size; ++i) {
      text_ += kHexDigits[bytes[i] >> 4];
      text_ += kHexDigits[bytes[i] & 0xf];
    }
  }

  void Write(FILE* file) {
    text_ += '\n';
    std::fwrite(text_.data(), 1, text_.size(), file);
  }

 private:
  void AppendNumber(auto value, int base) {
    char digits[24];
    text_.append(digits, std::to_chars(digits, digits + sizeof digits, value, base).ptr);
  }
  void AppendText(std::string_view value) {
    for (const char c : value) {
      const auto byte = static_cast<unsigned char>(c);
      if (byte > 0x20 && byte < 0x7f && c != '%') {
        text_ += c;
      } else {
        text_ += '%';
        text_ += kHexDigits[byte >> 4];
        text_ += kHexDigits[byte & 0xf];
      }
    }
  }

  std::string text_;
};

std::string_view Word(EventKind kind) {
  constexpr std::string_view kWords[] = {"push", "pop", "start", "end", "mark"};
  return kWords[static_cast<size_t>(kind)];
}

void AddUnion(const EventHead& event, Line* line) {
  switch (event.payload_type) {
    case NVTX_PAYLOAD_TYPE_UNSIGNED_INT64:
      line->NumberField("u64=", event.value);
      break;
    case NVTX_PAYLOAD_TYPE_INT64:
      line->NumberField("i64=", static_cast<int64_t>(event.value));
      break;
    case NVTX_PAYLOAD_TYPE_DOUBLE:
      line->FloatField("f64=", std::bit_cast<double>(event.value));
      break;
    case NVTX_PAYLOAD_TYPE_UNSIGNED_INT32:
      line->NumberField("u32=", static_cast<uint32_t>(event.value));
      break;
    case NVTX_PAYLOAD_TYPE_INT32:
      line->NumberField("i32=", static_cast<int32_t>(event.value));
      break;
    case NVTX_PAYLOAD_TYPE_FLOAT:
      line->FloatField("f32=", std::bit_cast<float>(static_cast<uint32_t>(event.value)));
      break;
    default:
      break;
  }
}

void AddPayloads(const EventHead& event, const unsigned char* at, Line* line) {
  for (int i = 0; i < event.payload_count; ++i) {
    PayloadPart part;
    std::memcpy(&part, at, sizeof part);
    line->PayloadField(part.schema, at + sizeof part, part.size);
    at += sizeof part + part.size;
  }
}

void WriteEvent(int64_t thread_id, const EventHead& event, const unsigned char* data, FILE* file) {
  Line line(Word(event.kind));
  line.Number(event.time_ns).Number(thread_id).Number(event.domain);
  if (event.kind == EventKind::kStart || event.kind == EventKind::kEnd) line.Number(event.range_id);
  if (event.string_id != 0) line.NumberField("string=", event.string_id);
  if (event.text_size > 0) {
    line.TextField("text=", {reinterpret_cast<const char*>(data), event.text_size});
  }
  if (event.category != 0) line.NumberField("category=", event.category);
  if (event.has_color) line.NumberField("color=", event.color, 16);
  AddUnion(event, &line);
  AddPayloads(event, data + event.text_size, &line);
  line.Write(file);
}

void WriteNames(FILE* file) {
  const Names::Content names = Names::Get().Copy();
  for (size_t i = 0; i < names.domains.size(); ++i) {
    Line("domain").Number(i + 1).Text(names.domains[i]).Write(file);
  }
  for (const auto& [key, name] : names.categories) {
    Line("category").Number(key.first).Number(key.second).Text(name).Write(file);
  }
  for (size_t i = 0; i < names.strings.size(); ++i) {
    const auto& [domain, text] = names.strings[i];
    Line("string").Number(i + 1).Number(domain).Text(text).Write(file);
  }
  for (const auto& [thread_id, name] : names.threads) {
    Line("thread").Number(thread_id).Text(name).Write(file);
  }
  for (const Names::Schema& schema : names.schemas) {
    Line line("schema");
    line.Number(schema.id, 16).Number(schema.domain).Number(schema.bytes).Text(schema.name);
    line.Write(file);
  }
}

}  // namespace

int WriteCapture(const std::string& path) {
  FILE* const file = std::fopen(path.c_str(), "we");
  if (file == nullptr) return errno;
  Line("oplens-capture 1").Number(getpid()).Write(file);
  // Of the events first, so that every string they refer to is among the names that follow.
  ThreadBuffer::ForEach([file](ThreadBuffer& buffer) {
    buffer.ForEachEvent([&](const EventHead& event, const unsigned char* data) {
      WriteEvent(buffer.thread_id(), event, data, file);
    });
  });
  WriteNames(file);
  const bool failed = std::ferror(file) != 0;
  return std::fclose(file) != 0 || failed ? (errno != 0 ? errno : EIO) : 0;
}

}  // namespace oplens::test_recorder

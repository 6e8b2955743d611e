// The entry points that NVTX looks for, and what it calls for every function of its interface.

#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <string_view>

#include "nvtx_annotate/vocabulary/marker_format.h"
#include "record/inject/nvtx_functions.h"
#include "test/recorder/capture_file.h"
#include "test/recorder/event_buffer.h"
#include "test/recorder/names.h"
#include "test/recorder/test_recorder.h"

namespace oplens::test_recorder {
namespace {

enum class Tool { kPayload, kText, kForeign, kNone };

struct Settings {
  Tool tool = Tool::kPayload;
  std::string out;
  pid_t process_id = getpid();
};

Settings ReadSettings() {
  Settings settings;
  const char* const out = std::getenv("OPLENS_TEST_RECORDER_OUT");
  if (out != nullptr) settings.out = out;
  const char* const variable = std::getenv("OPLENS_TEST_RECORDER");
  std::string_view word = variable == nullptr ? "payload" : variable;
  constexpr std::string_view kDiscard = "discard-";
  if (word.starts_with(kDiscard)) {
    word.remove_prefix(kDiscard.size());
    ThreadBuffer::SetDiscard(true);
  }
  settings.tool = word == "payload"   ? Tool::kPayload
                  : word == "text"    ? Tool::kText
                  : word == "foreign" ? Tool::kForeign
                                      : Tool::kNone;
  return settings;
}

const Settings& TheSettings() {
  static const auto* const settings = new Settings(ReadSettings());
  return *settings;
}

using record::inject::NvtxEvent;
using record::inject::NvtxFunctions;
using record::inject::NvtxText;
using record::inject::PayloadBytes;

std::string Bytes(NvtxText text) {
  return text.wide == nullptr ? std::string(text.bytes) : Narrow(text.wide);
}

EventHead MakeHead(EventKind kind, uint32_t domain, const NvtxEvent& event) {
  EventHead head = {};
  head.kind = kind;
  head.domain = domain;
  head.category = event.category;
  head.has_color = event.has_color;
  head.color = event.color;
  head.string_id = event.string;
  head.payload_type = event.payload_type;
  head.value = event.value;
  // A tool without the extension does not know that type.
  const bool extended = TheSettings().tool != Tool::kText;
  head.payload_count = static_cast<uint16_t>(extended ? event.payload_count : 0);
  return head;
}

size_t EventSize(const EventHead& head, const NvtxEvent& event, std::string_view text) {
  size_t size = sizeof(EventHead) + text.size();
  for (size_t i = 0; i < head.payload_count; ++i) {
    size += sizeof(PayloadPart) + PayloadBytes(event.payloads[i]);
  }
  return (size + 7) & ~size_t{7};
}

/// Copies the event: what it points to is the program's, and gone afterwards.
void Record(EventHead head, const NvtxEvent& event, ThreadBuffer* buffer) {
  std::string wide;
  std::string_view text = event.text.bytes;
  if (event.text.wide != nullptr) text = wide = Narrow(event.text.wide);
  head.size = static_cast<uint32_t>(EventSize(head, event, text));
  head.text_size = static_cast<uint32_t>(text.size());
  unsigned char* at = buffer->Reserve(head.size);
  if (at == nullptr) return;
  head.time_ns = buffer->NextTime();
  std::memcpy(at, &head, sizeof head);
  at += sizeof head;
  if (!text.empty()) std::memcpy(at, text.data(), text.size());
  at += text.size();
  for (size_t i = 0; i < head.payload_count; ++i) {
    const PayloadPart part = {event.payloads[i].schemaId, PayloadBytes(event.payloads[i])};
    std::memcpy(at, &part, sizeof part);
    at += sizeof part;
    if (part.size > 0) std::memcpy(at, event.payloads[i].payload, part.size);
    at += part.size;
  }
  buffer->Publish(head.size);
}

/// What happens at each call of NVTX. See NvtxFunctions.
struct TestTool {
  static int Push(uint32_t domain, const NvtxEvent& event) {
    ThreadBuffer* const buffer = ThreadBuffer::Current();
    if (buffer == nullptr) return NVTX_NO_PUSH_POP_TRACKING;
    Record(MakeHead(EventKind::kPush, domain, event), event, buffer);
    return buffer->Depth(domain)++;
  }
  static int Pop(uint32_t domain, const NvtxEvent& event) {
    ThreadBuffer* const buffer = ThreadBuffer::Current();
    if (buffer == nullptr) return NVTX_NO_PUSH_POP_TRACKING;
    Record(MakeHead(EventKind::kPop, domain, event), event, buffer);
    int& depth = buffer->Depth(domain);
    return depth > 0 ? --depth : -1;
  }
  static uint64_t Start(uint32_t domain, const NvtxEvent& event) {
    ThreadBuffer* const buffer = ThreadBuffer::Current();
    if (buffer == nullptr) return 0;
    EventHead head = MakeHead(EventKind::kStart, domain, event);
    head.range_id = buffer->NextRangeId();
    Record(head, event, buffer);
    return head.range_id;
  }
  static void End(uint32_t domain, uint64_t range, const NvtxEvent& event) {
    EventHead head = MakeHead(EventKind::kEnd, domain, event);
    head.range_id = range;
    if (ThreadBuffer* const buffer = ThreadBuffer::Current()) Record(head, event, buffer);
  }
  static void Mark(uint32_t domain, const NvtxEvent& event) {
    if (ThreadBuffer* const buffer = ThreadBuffer::Current()) {
      Record(MakeHead(EventKind::kMark, domain, event), event, buffer);
    }
  }
  static uint32_t Domain(NvtxText name) { return Names::Get().Domain(Bytes(name)); }
  static uint32_t String(uint32_t domain, NvtxText text) {
    return Names::Get().String(domain, Bytes(text));
  }
  static void NameCategory(uint32_t domain, uint32_t category, NvtxText name) {
    Names::Get().NameCategory(domain, category, Bytes(name));
  }
  static void NameThread(uint32_t thread, NvtxText name) {
    Names::Get().NameThread(thread, Bytes(name));
  }
  static uint64_t AddSchema(uint32_t domain, const nvtxPayloadSchemaAttr_t& schema) {
    const auto given = [&schema](uint64_t field) { return (schema.fieldMask & field) != 0; };
    const bool named = given(NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_NAME) && schema.name != nullptr;
    const std::string_view name = named ? schema.name : std::string_view();
    const bool known = TheSettings().tool == Tool::kPayload &&
                       (name == markers::kSchemaName || name == markers::kMemorySchemaName);
    return Names::Get().AddSchema(
        domain, name,
        given(NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_STATIC_SIZE) ? schema.payloadStaticSize : 0,
        known ? markers::kSchemaIdTag : 0,
        given(NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_SCHEMA_ID) ? schema.schemaId : 0);
  }
};

/// The path with the process's id for %p; empty when nothing is to be written.
std::string OutPath() {
  const Settings& settings = TheSettings();
  std::string path = settings.out;
  const size_t at = path.find("%p");
  if (at != path.npos) return path.replace(at, 2, std::to_string(getpid()));
  return settings.process_id == getpid() ? path : std::string();
}

__attribute__((destructor)) void WriteAtExit() {
  const std::string path = OutPath();
  if (path.empty()) return;
  if (const int error = WriteCapture(path); error != 0) {
    std::fprintf(stderr, "oplens_test_recorder: %s: %s\n", path.c_str(), std::strerror(error));
  }
}

}  // namespace
}  // namespace oplens::test_recorder

#define OPLENS_EXPORT __attribute__((visibility("default")))

extern "C" {

/// Called once for every object of the process that has NVTX code, each time with tables of its
/// own.
OPLENS_EXPORT int InitializeInjectionNvtx2(NvtxGetExportTableFunc_t export_table) {
  using namespace oplens::test_recorder;
  if (TheSettings().tool == Tool::kNone) return 0;
  return NvtxFunctions<TestTool>::Fill(export_table) ? 1 : 0;
}

OPLENS_EXPORT int InitializeInjectionNvtxExtension(nvtxExtModuleInfo_t* module) {
  using namespace oplens::test_recorder;
  const Tool tool = TheSettings().tool;
  if (tool != Tool::kPayload && tool != Tool::kForeign) return 0;
  return NvtxFunctions<TestTool>::FillExtension(module) ? 1 : 0;
}

OPLENS_EXPORT int oplens_test_recorder_write(const char* path) {
  return oplens::test_recorder::WriteCapture(path);
}

OPLENS_EXPORT void oplens_test_recorder_clear(void) {
  using oplens::test_recorder::ThreadBuffer;
  ThreadBuffer::ForEach([](ThreadBuffer& buffer) { buffer.Clear(); });
}

OPLENS_EXPORT uint64_t oplens_test_recorder_events(void) {
  using oplens::test_recorder::ThreadBuffer;
  uint64_t events = 0;
  ThreadBuffer::ForEach([&events](ThreadBuffer& buffer) { events += buffer.event_count(); });
  return events;
}

}  // extern "C"

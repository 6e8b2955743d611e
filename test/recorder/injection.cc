// The entry points that NVTX looks for, and what it calls for every function of its interface.

#include <nvtx3/nvToolsExt.h>
#include <nvtx3/nvToolsExtPayload.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <string_view>

#include "nvtx_annotate/marker_format.h"
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

// Handles are small numbers.
nvtxDomainHandle_t DomainHandle(uint32_t id) {
  return reinterpret_cast<nvtxDomainHandle_t>(uintptr_t{id});
}
uint32_t DomainId(nvtxDomainHandle_t handle) {
  return static_cast<uint32_t>(reinterpret_cast<uintptr_t>(handle));
}
nvtxStringHandle_t StringHandle(uint32_t id) {
  return reinterpret_cast<nvtxStringHandle_t>(uintptr_t{id});
}
uint32_t StringId(nvtxStringHandle_t handle) {
  return static_cast<uint32_t>(reinterpret_cast<uintptr_t>(handle));
}

std::string_view View(const char* text) { return text == nullptr ? std::string_view() : text; }

/// An event as the program described it, before it is in a buffer.
struct Draft {
  EventHead head = {};
  std::string_view text;
  const nvtxPayloadData_t* payloads = nullptr;
};

Draft MakeDraft(EventKind kind, uint32_t domain) {
  Draft draft;
  draft.head.kind = kind;
  draft.head.domain = domain;
  return draft;
}

Draft TextDraft(EventKind kind, std::string_view text) {
  Draft draft = MakeDraft(kind, 0);
  draft.text = text;
  return draft;
}

void SetUnion(const nvtxEventAttributes_t& event, Draft* draft) {
  switch (event.payloadType) {
    case NVTX_PAYLOAD_TYPE_UNSIGNED_INT64:
    case NVTX_PAYLOAD_TYPE_INT64:
    case NVTX_PAYLOAD_TYPE_DOUBLE:
      draft->head.value = event.payload.ullValue;
      break;
    case NVTX_PAYLOAD_TYPE_UNSIGNED_INT32:
    case NVTX_PAYLOAD_TYPE_INT32:
    case NVTX_PAYLOAD_TYPE_FLOAT:
      draft->head.value = event.payload.uiValue;
      break;
    default:
      return;
  }
  draft->head.payload_type = event.payloadType;
}

void SetPayloads(const nvtxPayloadData_t* payloads, size_t count, Draft* draft) {
  // A tool without the extension does not know that type.
  if (TheSettings().tool == Tool::kText || payloads == nullptr) return;
  draft->payloads = payloads;
  draft->head.payload_count = static_cast<uint16_t>(count);
}

/// `wide` holds the text if it had to be converted.
Draft EventDraft(EventKind kind, uint32_t domain, const nvtxEventAttributes_t* event,
                 std::string* wide) {
  Draft draft = MakeDraft(kind, domain);
  if (event == nullptr) return draft;
  draft.head.category = event->category;
  draft.head.has_color = event->colorType == NVTX_COLOR_ARGB;
  draft.head.color = event->color;
  if (event->messageType == NVTX_MESSAGE_TYPE_ASCII) {
    draft.text = View(event->message.ascii);
  } else if (event->messageType == NVTX_MESSAGE_TYPE_UNICODE) {
    *wide = Narrow(event->message.unicode);
    draft.text = *wide;
  } else if (event->messageType == NVTX_MESSAGE_TYPE_REGISTERED) {
    draft.head.string_id = StringId(event->message.registered);
  }
  if (event->payloadType == NVTX_PAYLOAD_TYPE_EXT) {
    const auto address = static_cast<uintptr_t>(event->payload.ullValue);
    SetPayloads(reinterpret_cast<const nvtxPayloadData_t*>(address),
                static_cast<size_t>(event->reserved0), &draft);
  } else {
    SetUnion(*event, &draft);
  }
  return draft;
}

/// SIZE_MAX asks the tool to find the size, which this one does not.
size_t PayloadSize(const nvtxPayloadData_t& payload) {
  return payload.payload == nullptr || payload.size == SIZE_MAX ? 0 : payload.size;
}

size_t EventSize(const Draft& draft) {
  size_t size = sizeof(EventHead) + draft.text.size();
  for (size_t i = 0; i < draft.head.payload_count; ++i) {
    size += sizeof(PayloadPart) + PayloadSize(draft.payloads[i]);
  }
  return (size + 7) & ~size_t{7};
}

/// Copies the event: what it points to is the program's, and gone afterwards.
void Record(Draft draft, ThreadBuffer* buffer) {
  draft.head.size = static_cast<uint32_t>(EventSize(draft));
  draft.head.text_size = static_cast<uint32_t>(draft.text.size());
  unsigned char* at = buffer->Reserve(draft.head.size);
  if (at == nullptr) return;
  draft.head.time_ns = buffer->NextTime();
  std::memcpy(at, &draft.head, sizeof draft.head);
  at += sizeof draft.head;
  if (!draft.text.empty()) std::memcpy(at, draft.text.data(), draft.text.size());
  at += draft.text.size();
  for (size_t i = 0; i < draft.head.payload_count; ++i) {
    const PayloadPart part = {draft.payloads[i].schemaId, PayloadSize(draft.payloads[i])};
    std::memcpy(at, &part, sizeof part);
    at += sizeof part;
    if (part.size > 0) std::memcpy(at, draft.payloads[i].payload, part.size);
    at += part.size;
  }
  buffer->Publish(draft.head.size);
}

int RecordPush(const Draft& draft) {
  ThreadBuffer* const buffer = ThreadBuffer::Current();
  if (buffer == nullptr) return NVTX_NO_PUSH_POP_TRACKING;
  Record(draft, buffer);
  return buffer->Depth(draft.head.domain)++;
}

int RecordPop(const Draft& draft) {
  ThreadBuffer* const buffer = ThreadBuffer::Current();
  if (buffer == nullptr) return NVTX_NO_PUSH_POP_TRACKING;
  Record(draft, buffer);
  int& depth = buffer->Depth(draft.head.domain);
  return depth > 0 ? --depth : -1;
}

nvtxRangeId_t RecordStart(Draft draft) {
  ThreadBuffer* const buffer = ThreadBuffer::Current();
  if (buffer == nullptr) return 0;
  draft.head.range_id = buffer->NextRangeId();
  Record(draft, buffer);
  return draft.head.range_id;
}

void RecordOther(const Draft& draft) {
  if (ThreadBuffer* const buffer = ThreadBuffer::Current()) Record(draft, buffer);
}

void RecordEnd(uint32_t domain, nvtxRangeId_t id) {
  Draft draft = MakeDraft(EventKind::kEnd, domain);
  draft.head.range_id = id;
  RecordOther(draft);
}

// The core interface, as NVTX calls it.

void MarkEx(const nvtxEventAttributes_t* event) {
  std::string wide;
  RecordOther(EventDraft(EventKind::kMark, 0, event, &wide));
}
void MarkA(const char* text) { RecordOther(TextDraft(EventKind::kMark, View(text))); }
void MarkW(const wchar_t* text) { MarkA(Narrow(text).c_str()); }

nvtxRangeId_t RangeStartEx(const nvtxEventAttributes_t* event) {
  std::string wide;
  return RecordStart(EventDraft(EventKind::kStart, 0, event, &wide));
}
nvtxRangeId_t RangeStartA(const char* text) {
  return RecordStart(TextDraft(EventKind::kStart, View(text)));
}
nvtxRangeId_t RangeStartW(const wchar_t* text) { return RangeStartA(Narrow(text).c_str()); }
void RangeEnd(nvtxRangeId_t id) { RecordEnd(0, id); }

int RangePushEx(const nvtxEventAttributes_t* event) {
  std::string wide;
  return RecordPush(EventDraft(EventKind::kPush, 0, event, &wide));
}
int RangePushA(const char* text) { return RecordPush(TextDraft(EventKind::kPush, View(text))); }
int RangePushW(const wchar_t* text) { return RangePushA(Narrow(text).c_str()); }
int RangePop() { return RecordPop(MakeDraft(EventKind::kPop, 0)); }

void NameCategoryA(uint32_t category, const char* name) {
  Names::Get().NameCategory(0, category, View(name));
}
void NameCategoryW(uint32_t category, const wchar_t* name) {
  Names::Get().NameCategory(0, category, Narrow(name));
}
void NameOsThreadA(uint32_t thread_id, const char* name) {
  Names::Get().NameThread(thread_id, View(name));
}
void NameOsThreadW(uint32_t thread_id, const wchar_t* name) {
  Names::Get().NameThread(thread_id, Narrow(name));
}

// The interface of domains.

void DomainMarkEx(nvtxDomainHandle_t domain, const nvtxEventAttributes_t* event) {
  std::string wide;
  RecordOther(EventDraft(EventKind::kMark, DomainId(domain), event, &wide));
}
nvtxRangeId_t DomainRangeStartEx(nvtxDomainHandle_t domain, const nvtxEventAttributes_t* event) {
  std::string wide;
  return RecordStart(EventDraft(EventKind::kStart, DomainId(domain), event, &wide));
}
void DomainRangeEnd(nvtxDomainHandle_t domain, nvtxRangeId_t id) {
  RecordEnd(DomainId(domain), id);
}
int DomainRangePushEx(nvtxDomainHandle_t domain, const nvtxEventAttributes_t* event) {
  std::string wide;
  return RecordPush(EventDraft(EventKind::kPush, DomainId(domain), event, &wide));
}
int DomainRangePop(nvtxDomainHandle_t domain) {
  return RecordPop(MakeDraft(EventKind::kPop, DomainId(domain)));
}
void DomainNameCategoryA(nvtxDomainHandle_t domain, uint32_t category, const char* name) {
  Names::Get().NameCategory(DomainId(domain), category, View(name));
}
void DomainNameCategoryW(nvtxDomainHandle_t domain, uint32_t category, const wchar_t* name) {
  Names::Get().NameCategory(DomainId(domain), category, Narrow(name));
}
nvtxStringHandle_t DomainRegisterStringA(nvtxDomainHandle_t domain, const char* text) {
  return StringHandle(Names::Get().String(DomainId(domain), View(text)));
}
nvtxStringHandle_t DomainRegisterStringW(nvtxDomainHandle_t domain, const wchar_t* text) {
  return StringHandle(Names::Get().String(DomainId(domain), Narrow(text)));
}
nvtxDomainHandle_t DomainCreateA(const char* name) {
  return DomainHandle(Names::Get().Domain(View(name)));
}
nvtxDomainHandle_t DomainCreateW(const wchar_t* name) {
  return DomainHandle(Names::Get().Domain(Narrow(name)));
}

// The extension for payloads.

uint64_t PayloadSchemaRegister(nvtxDomainHandle_t domain, const nvtxPayloadSchemaAttr_t* schema) {
  if (schema == nullptr) return 0;
  const auto given = [schema](uint64_t field) { return (schema->fieldMask & field) != 0; };
  const std::string_view name =
      given(NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_NAME) ? View(schema->name) : std::string_view();
  const bool known = TheSettings().tool == Tool::kPayload && name == markers::kSchemaName;
  return Names::Get().AddSchema(
      DomainId(domain), name,
      given(NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_STATIC_SIZE) ? schema->payloadStaticSize : 0,
      known ? markers::kSchemaIdTag : 0,
      given(NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_SCHEMA_ID) ? schema->schemaId : 0);
}

Draft PayloadDraft(EventKind kind, nvtxDomainHandle_t domain, const nvtxPayloadData_t* payloads,
                   size_t count) {
  Draft draft = MakeDraft(kind, DomainId(domain));
  SetPayloads(payloads, count, &draft);
  return draft;
}

void MarkPayload(nvtxDomainHandle_t domain, const nvtxPayloadData_t* payloads, size_t count) {
  RecordOther(PayloadDraft(EventKind::kMark, domain, payloads, count));
}
int RangePushPayload(nvtxDomainHandle_t domain, const nvtxPayloadData_t* payloads, size_t count) {
  return RecordPush(PayloadDraft(EventKind::kPush, domain, payloads, count));
}
int RangePopPayload(nvtxDomainHandle_t domain, const nvtxPayloadData_t* payloads, size_t count) {
  return RecordPop(PayloadDraft(EventKind::kPop, domain, payloads, count));
}
nvtxRangeId_t RangeStartPayload(nvtxDomainHandle_t domain, const nvtxPayloadData_t* payloads,
                                size_t count) {
  return RecordStart(PayloadDraft(EventKind::kStart, domain, payloads, count));
}
void RangeEndPayload(nvtxDomainHandle_t domain, nvtxRangeId_t id, const nvtxPayloadData_t* payloads,
                     size_t count) {
  Draft draft = PayloadDraft(EventKind::kEnd, domain, payloads, count);
  draft.head.range_id = id;
  RecordOther(draft);
}
uint8_t DomainIsEnabled(nvtxDomainHandle_t) { return 1; }

/// A table of NVTX's functions that this library fills in.
class FunctionTable {
 public:
  FunctionTable(const NvtxExportTableCallbacks& callbacks, NvtxCallbackModule module) {
    if (callbacks.GetModuleFunctionTable(module, &table_, &size_) == 0) table_ = nullptr;
  }
  template <typename Function>
  void Set(unsigned id, Function* function) {
    if (table_ == nullptr || id >= size_ || table_[id] == nullptr) return;
    *table_[id] = reinterpret_cast<NvtxFunctionPointer>(function);
  }

 private:
  NvtxFunctionTable table_ = nullptr;
  unsigned size_ = 0;
};

void SetCore(FunctionTable table) {
  table.Set(NVTX_CBID_CORE_MarkEx, MarkEx);
  table.Set(NVTX_CBID_CORE_MarkA, MarkA);
  table.Set(NVTX_CBID_CORE_MarkW, MarkW);
  table.Set(NVTX_CBID_CORE_RangeStartEx, RangeStartEx);
  table.Set(NVTX_CBID_CORE_RangeStartA, RangeStartA);
  table.Set(NVTX_CBID_CORE_RangeStartW, RangeStartW);
  table.Set(NVTX_CBID_CORE_RangeEnd, RangeEnd);
  table.Set(NVTX_CBID_CORE_RangePushEx, RangePushEx);
  table.Set(NVTX_CBID_CORE_RangePushA, RangePushA);
  table.Set(NVTX_CBID_CORE_RangePushW, RangePushW);
  table.Set(NVTX_CBID_CORE_RangePop, RangePop);
  table.Set(NVTX_CBID_CORE_NameCategoryA, NameCategoryA);
  table.Set(NVTX_CBID_CORE_NameCategoryW, NameCategoryW);
  table.Set(NVTX_CBID_CORE_NameOsThreadA, NameOsThreadA);
  table.Set(NVTX_CBID_CORE_NameOsThreadW, NameOsThreadW);
}

void SetDomains(FunctionTable table) {
  table.Set(NVTX_CBID_CORE2_DomainMarkEx, DomainMarkEx);
  table.Set(NVTX_CBID_CORE2_DomainRangeStartEx, DomainRangeStartEx);
  table.Set(NVTX_CBID_CORE2_DomainRangeEnd, DomainRangeEnd);
  table.Set(NVTX_CBID_CORE2_DomainRangePushEx, DomainRangePushEx);
  table.Set(NVTX_CBID_CORE2_DomainRangePop, DomainRangePop);
  table.Set(NVTX_CBID_CORE2_DomainNameCategoryA, DomainNameCategoryA);
  table.Set(NVTX_CBID_CORE2_DomainNameCategoryW, DomainNameCategoryW);
  table.Set(NVTX_CBID_CORE2_DomainRegisterStringA, DomainRegisterStringA);
  table.Set(NVTX_CBID_CORE2_DomainRegisterStringW, DomainRegisterStringW);
  table.Set(NVTX_CBID_CORE2_DomainCreateA, DomainCreateA);
  table.Set(NVTX_CBID_CORE2_DomainCreateW, DomainCreateW);
}

void SetPayloadSlots(const nvtxExtModuleSegment_t& segment) {
  const auto set = [&segment](size_t id, auto* function) {
    if (id < segment.slotCount) segment.functionSlots[id] = reinterpret_cast<intptr_t>(function);
  };
  set(NVTX3EXT_CBID_nvtxPayloadSchemaRegister, PayloadSchemaRegister);
  set(NVTX3EXT_CBID_nvtxMarkPayload, MarkPayload);
  set(NVTX3EXT_CBID_nvtxRangePushPayload, RangePushPayload);
  set(NVTX3EXT_CBID_nvtxRangePopPayload, RangePopPayload);
  set(NVTX3EXT_CBID_nvtxRangeStartPayload, RangeStartPayload);
  set(NVTX3EXT_CBID_nvtxRangeEndPayload, RangeEndPayload);
  set(NVTX3EXT_CBID_nvtxDomainIsEnabled, DomainIsEnabled);
}

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
  const auto* const callbacks =
      static_cast<const NvtxExportTableCallbacks*>(export_table(NVTX_ETID_CALLBACKS));
  if (callbacks == nullptr) return 0;
  SetCore(FunctionTable(*callbacks, NVTX_CB_MODULE_CORE));
  SetDomains(FunctionTable(*callbacks, NVTX_CB_MODULE_CORE2));
  return 1;
}

OPLENS_EXPORT int InitializeInjectionNvtxExtension(nvtxExtModuleInfo_t* module) {
  using namespace oplens::test_recorder;
  const Tool tool = TheSettings().tool;
  if (tool != Tool::kPayload && tool != Tool::kForeign) return 0;
  if (module == nullptr || module->moduleId != NVTX_EXT_PAYLOAD_MODULEID) return 0;
  if (module->segmentsCount == 0) return 0;
  SetPayloadSlots(module->segments[0]);
  return 1;
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

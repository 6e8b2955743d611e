// The entry points through which NVTX and the CUDA driver find this library.

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "nvtx_annotate/vocabulary/direct_calls.h"
#include "nvtx_annotate/vocabulary/marker_format.h"
#include "record/inject/cupti_session.h"
#include "record/inject/entry.h"
#include "record/inject/event_stream.h"
#include "record/inject/nvtx_functions.h"
#include "record/inject/process.h"
#include "record/inject/wide_text.h"
#include "record/spool/spool_format.h"

#define OPLENS_EXPORT __attribute__((visibility("default")))

namespace oplens::record::inject {
namespace {

using spool::RecordKind;

std::atomic<uint32_t> g_domains{0};
std::atomic<uint32_t> g_strings{0};
std::atomic<uint64_t> g_schemas{0};
/// One bit for each of the first 64 domains: it is ours and controls the window.
std::atomic<uint64_t> g_own_domains{0};

/// A name as bytes, valid during the lifetime of this object.
class Bytes {
 public:
  explicit Bytes(NvtxText text) {
    if (text.wide == nullptr) {
      view_ = text.bytes.substr(0, CutBytes(text.bytes.size(), spool::kMostNameBytes, &is_cut_));
      return;
    }
    const size_t size = Utf8Bytes(text.wide, sizeof buffer_, &is_cut_);
    WriteUtf8(text.wide, size, buffer_);
    view_ = std::string_view(buffer_, size);
  }
  std::string_view view() const { return view_; }
  bool is_cut() const { return is_cut_; }

 private:
  // Wide names are rare and short.
  char buffer_[4096];
  std::string_view view_;
  bool is_cut_ = false;
};

bool IsOwn(uint32_t domain) {
  return domain < 64 && (g_own_domains.load(std::memory_order_relaxed) >> domain & 1) != 0;
}

/// Prefix test: the marks of a schedule have a suffix.
bool Begins(const NvtxEvent& event, std::string_view text) {
  return event.text.wide == nullptr && event.text.bytes.substr(0, text.size()) == text;
}

/// Stores a name whose handle may be used at once, or counts it as lost.
void KeepName(RecordKind kind, uint32_t domain, uint8_t part, uint64_t id, const Bytes& name) {
  const Entry entry;
  if (!entry.granted()) return CountRefusedCall();
  WriteName(kind, DomainNumber(domain), part, id, name.view(), name.is_cut());
}

/// Answers a request for direct calls, which is no schema.
void FillDirectCalls(uint32_t domain, const nvtxPayloadSchemaAttr_t& schema) {
  constexpr uint64_t kEntries =
      NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_ENTRIES | NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_NUM_ENTRIES;
  if (domain >= markers::kDirectDomains || (schema.fieldMask & kEntries) != kEntries ||
      schema.entries == nullptr || schema.numEntries != 1 ||
      schema.entries->description == nullptr) {
    return;
  }
  // The emitter's memory is writable: DirectRequest.
  const auto* const request =
      reinterpret_cast<const markers::DirectRequest*>(schema.entries->description);
  const_cast<markers::DirectRequest*>(request)->calls = DirectCallsOfEvents();
}

/// Stores NVTX calls in the spool. See NvtxFunctions.
struct NvtxTool {
  static int Push(uint32_t domain, const NvtxEvent& event) {
    const Entry entry;
    if (entry.granted()) return StorePush(DomainNumber(domain), event);
    CountRefusedEvent();
    MissPush(DomainNumber(domain));
    return NVTX_NO_PUSH_POP_TRACKING;
  }

  static int PushString(uint32_t domain, uint32_t string, const nvtxPayloadData_t* payload) {
    const Entry entry;
    if (entry.granted()) return StorePushString(DomainNumber(domain), string, payload);
    CountRefusedEvent();
    MissPush(DomainNumber(domain));
    return NVTX_NO_PUSH_POP_TRACKING;
  }

  static int Pop(uint32_t domain, const NvtxEvent&) {
    const Entry entry;
    if (entry.granted()) return StorePop(DomainNumber(domain));
    MissPop(DomainNumber(domain));
    return NVTX_NO_PUSH_POP_TRACKING;
  }

  static uint64_t Start(uint32_t domain, const NvtxEvent& event) {
    const Entry entry;
    if (entry.granted()) return StoreStart(DomainNumber(domain), event);
    CountRefusedEvent();
    return 0;
  }

  static void End(uint32_t domain, uint64_t range, const NvtxEvent&) {
    const Entry entry;
    if (entry.granted()) return StoreEnd(DomainNumber(domain), range);
    if (range != 0) CountRefusedCall();  // 0: its start was not stored.
  }

  static void Mark(uint32_t domain, const NvtxEvent& event) {
    const Entry entry;
    if (!entry.granted()) return CountRefusedEvent();
    const bool own = IsOwn(domain);
    if (own && Begins(event, markers::kStartMark)) SetWindow(true);
    StoreMark(DomainNumber(domain), event);
    if (own && Begins(event, markers::kStopMark)) SetWindow(false);
  }

  static uint32_t Domain(NvtxText name) {
    const uint32_t id = g_domains.fetch_add(1, std::memory_order_relaxed) + 1;
    const Bytes bytes(name);
    if (id < 64 && bytes.view() == markers::kDomain) {
      g_own_domains.fetch_or(uint64_t{1} << id, std::memory_order_relaxed);
    }
    KeepName(RecordKind::kDomain, id, 0, 0, bytes);
    return id;
  }

  static uint32_t String(uint32_t domain, NvtxText text) {
    const uint32_t id = g_strings.fetch_add(1, std::memory_order_relaxed) + 1;
    KeepName(RecordKind::kString, domain, spool::kStringPart, id, Bytes(text));
    return id;
  }

  static void NameCategory(uint32_t domain, uint32_t category, NvtxText name) {
    KeepName(RecordKind::kCategory, domain, spool::kLookPart, category, Bytes(name));
  }

  static void NameThread(uint32_t thread, NvtxText name) {
    KeepName(RecordKind::kThreadName, 0, spool::kRangePart, thread, Bytes(name));
  }

  static uint64_t AddSchema(uint32_t domain, const nvtxPayloadSchemaAttr_t& schema) {
    const auto given = [&schema](uint64_t field) { return (schema.fieldMask & field) != 0; };
    const bool named = given(NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_NAME) && schema.name != nullptr;
    const std::string_view name = named ? std::string_view(schema.name) : std::string_view();
    if (name == markers::kDirectSchemaName) {
      FillDirectCalls(domain, schema);
      return 0;
    }
    uint64_t id = given(NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_SCHEMA_ID) ? schema.schemaId : 0;
    if (id == 0) {
      // Ids below 2^32 are reserved for types and for ids chosen by programs.
      const bool known = name == markers::kSchemaName || name == markers::kMemorySchemaName;
      const uint64_t first = known ? spool::kFirstSchema : uint64_t{1} << 32;
      id = first + g_schemas.fetch_add(1, std::memory_order_relaxed);
    }
    KeepName(RecordKind::kSchema, domain, spool::kRangePart, id, Bytes({name, nullptr}));
    return id;
  }
};

__attribute__((destructor)) void AtEnd() { EndProcess(); }

}  // namespace
}  // namespace oplens::record::inject

extern "C" {

/// Called once per binary with NVTX code, each time with its own tables. Returning 0 keeps NVTX off
/// in that binary.
OPLENS_EXPORT int InitializeInjectionNvtx2(NvtxGetExportTableFunc_t export_table) {
  using namespace oplens::record::inject;
  if (!StartProcess() || !TheOptions().nvtx) return 0;
  return NvtxFunctions<NvtxTool>::Fill(export_table) ? 1 : 0;
}

OPLENS_EXPORT int InitializeInjectionNvtxExtension(nvtxExtModuleInfo_t* module) {
  using namespace oplens::record::inject;
  if (!StartProcess() || !TheOptions().nvtx) return 0;
  return NvtxFunctions<NvtxTool>::FillExtension(module) ? 1 : 0;
}

/// Called by the CUDA driver during its initialisation.
OPLENS_EXPORT int InitializeInjection(void) {
  using namespace oplens::record::inject;
  if (StartProcess() && TheOptions().cuda) StartCupti();
  return 1;
}

}  // extern "C"

#ifndef OPLENS_RECORD_INJECT_NVTX_FUNCTIONS_H_
#define OPLENS_RECORD_INJECT_NVTX_FUNCTIONS_H_

#include <nvtx3/nvToolsExt.h>
#include <nvtx3/nvToolsExtPayload.h>

#include <cstddef>
#include <cstdint>
#include <string_view>

// Reduces all tool-visible NVTX functions to a few: what an injection library needs besides its two
// entry points.

namespace oplens::record::inject {

/// A text from NVTX: bytes or wide characters. The program owns the memory.
struct NvtxText {
  std::string_view bytes;
  const wchar_t* wide = nullptr;  ///< If not null, used instead of `bytes`.
};

/// The attributes of an event.
struct NvtxEvent {
  NvtxText text;
  uint32_t string = 0;  ///< Id of a registered string; 0: none.
  uint32_t category = 0;
  uint32_t color = 0;  ///< ARGB, if has_color.
  bool has_color = false;
  int32_t payload_type = 0;  ///< nvtxPayloadType_t of the C union; 0: none.
  uint64_t value = 0;        ///< Its bits; 32-bit types in the low half.
  const nvtxPayloadData_t* payloads = nullptr;
  size_t payload_count = 0;
};

/// 0 for SIZE_MAX, which asks the tool to compute the size from the schema.
inline size_t PayloadBytes(const nvtxPayloadData_t& payload) {
  return payload.payload == nullptr || payload.size == SIZE_MAX ? 0 : payload.size;
}

/// `Tool` handles the calls as static functions. Domain 0 is the default one; `Tool` chooses the
/// ids of domains and strings:
///   int Push(uint32_t domain, const NvtxEvent&);       int Pop(uint32_t domain, const NvtxEvent&);
///   uint64_t Start(uint32_t domain, const NvtxEvent&);
///   void End(uint32_t domain, uint64_t range, const NvtxEvent&);
///   void Mark(uint32_t domain, const NvtxEvent&);
///   uint32_t Domain(NvtxText name);                    uint32_t String(uint32_t domain, NvtxText);
///   void NameCategory(uint32_t domain, uint32_t category, NvtxText name);
///   void NameThread(uint32_t thread, NvtxText name);
///   uint64_t AddSchema(uint32_t domain, const nvtxPayloadSchemaAttr_t& schema);
/// and, if it has one, a shorter way for events of a registered string, with one payload of the
/// extension or null and nothing else:
///   int PushString(uint32_t domain, uint32_t string, const nvtxPayloadData_t* payload);
template <typename Tool>
class NvtxFunctions {
 public:
  /// Called once per binary with NVTX code, each time with its own tables. False: the tables are
  /// missing.
  static bool Fill(NvtxGetExportTableFunc_t export_table) {
    if (export_table == nullptr) return false;
    const auto* const callbacks =
        static_cast<const NvtxExportTableCallbacks*>(export_table(NVTX_ETID_CALLBACKS));
    if (callbacks == nullptr) return false;
    FillCore(Table(*callbacks, NVTX_CB_MODULE_CORE));
    FillDomains(Table(*callbacks, NVTX_CB_MODULE_CORE2));
    return true;
  }

  /// The payload extension. False for other extensions.
  static bool FillExtension(nvtxExtModuleInfo_t* module) {
    if (module == nullptr || module->moduleId != NVTX_EXT_PAYLOAD_MODULEID) return false;
    if (module->segmentsCount == 0) return false;
    FillPayloads(module->segments[0]);
    return true;
  }

 private:
  // Handles are small numbers.
  static nvtxDomainHandle_t DomainHandle(uint32_t id) {
    return reinterpret_cast<nvtxDomainHandle_t>(uintptr_t{id});
  }
  static uint32_t Id(nvtxDomainHandle_t handle) {
    return static_cast<uint32_t>(reinterpret_cast<uintptr_t>(handle));
  }
  static nvtxStringHandle_t StringHandle(uint32_t id) {
    return reinterpret_cast<nvtxStringHandle_t>(uintptr_t{id});
  }

  static NvtxText Text(const char* text) {
    return {text == nullptr ? std::string_view() : std::string_view(text), nullptr};
  }
  static NvtxText Text(const wchar_t* text) { return {{}, text == nullptr ? L"" : text}; }
  template <typename Char>
  static NvtxEvent TextEvent(const Char* text) {
    NvtxEvent event;
    event.text = Text(text);
    return event;
  }

  static void SetUnion(const nvtxEventAttributes_t& given, NvtxEvent* event) {
    switch (given.payloadType) {
      case NVTX_PAYLOAD_TYPE_UNSIGNED_INT64:
      case NVTX_PAYLOAD_TYPE_INT64:
      case NVTX_PAYLOAD_TYPE_DOUBLE:
        event->value = given.payload.ullValue;
        break;
      case NVTX_PAYLOAD_TYPE_UNSIGNED_INT32:
      case NVTX_PAYLOAD_TYPE_INT32:
      case NVTX_PAYLOAD_TYPE_FLOAT:
        event->value = given.payload.uiValue;
        break;
      default:
        return;
    }
    event->payload_type = given.payloadType;
  }

  static NvtxEvent EventOf(const nvtxEventAttributes_t* given) {
    NvtxEvent event;
    if (given == nullptr) return event;
    event.category = given->category;
    event.has_color = given->colorType == NVTX_COLOR_ARGB;
    event.color = given->color;
    if (given->messageType == NVTX_MESSAGE_TYPE_ASCII) {
      event.text = Text(given->message.ascii);
    } else if (given->messageType == NVTX_MESSAGE_TYPE_UNICODE) {
      event.text = Text(given->message.unicode);
    } else if (given->messageType == NVTX_MESSAGE_TYPE_REGISTERED) {
      event.string = static_cast<uint32_t>(reinterpret_cast<uintptr_t>(given->message.registered));
    }
    if (given->payloadType == NVTX_PAYLOAD_TYPE_EXT) {
      const auto address = static_cast<uintptr_t>(given->payload.ullValue);
      event.payloads = reinterpret_cast<const nvtxPayloadData_t*>(address);
      event.payload_count = event.payloads == nullptr ? 0 : static_cast<size_t>(given->reserved0);
    } else {
      SetUnion(*given, &event);
    }
    return event;
  }

  /// The payload of an event that has at most that besides a registered string; `other`: it has
  /// more.
  static const nvtxPayloadData_t* OnlyPayload(const nvtxEventAttributes_t& given, bool* other) {
    *other = given.messageType != NVTX_MESSAGE_TYPE_REGISTERED ||
             given.message.registered == nullptr || given.category != 0 ||
             given.colorType == NVTX_COLOR_ARGB;
    if (given.payloadType == NVTX_PAYLOAD_UNKNOWN) return nullptr;
    const auto address = static_cast<uintptr_t>(given.payload.ullValue);
    if (given.payloadType != NVTX_PAYLOAD_TYPE_EXT || given.reserved0 != 1 || address == 0)
      *other = true;
    return reinterpret_cast<const nvtxPayloadData_t*>(address);
  }

  static int Push(uint32_t domain, const nvtxEventAttributes_t* event) {
    if constexpr (requires { Tool::PushString(domain, 0u, nullptr); }) {
      bool other = true;
      const nvtxPayloadData_t* const payload =
          event == nullptr ? nullptr : OnlyPayload(*event, &other);
      if (!other) {
        const auto string = reinterpret_cast<uintptr_t>(event->message.registered);
        return Tool::PushString(domain, static_cast<uint32_t>(string), payload);
      }
    }
    return Tool::Push(domain, EventOf(event));
  }

  static NvtxEvent PayloadEvent(const nvtxPayloadData_t* payloads, size_t count) {
    NvtxEvent event;
    event.payloads = payloads;
    event.payload_count = payloads == nullptr ? 0 : count;
    return event;
  }

  // The core interface, as NVTX calls it; texts are char or wchar_t.

  static void MarkEx(const nvtxEventAttributes_t* event) { Tool::Mark(0, EventOf(event)); }
  template <typename Char>
  static void MarkText(const Char* text) {
    Tool::Mark(0, TextEvent(text));
  }
  static nvtxRangeId_t RangeStartEx(const nvtxEventAttributes_t* event) {
    return Tool::Start(0, EventOf(event));
  }
  template <typename Char>
  static nvtxRangeId_t RangeStartText(const Char* text) {
    return Tool::Start(0, TextEvent(text));
  }
  static void RangeEnd(nvtxRangeId_t id) { Tool::End(0, id, NvtxEvent()); }
  static int RangePushEx(const nvtxEventAttributes_t* event) { return Push(0, event); }
  template <typename Char>
  static int RangePushText(const Char* text) {
    return Tool::Push(0, TextEvent(text));
  }
  static int RangePop() { return Tool::Pop(0, NvtxEvent()); }
  template <typename Char>
  static void NameCategory(uint32_t category, const Char* name) {
    Tool::NameCategory(0, category, Text(name));
  }
  template <typename Char>
  static void NameOsThread(uint32_t thread, const Char* name) {
    Tool::NameThread(thread, Text(name));
  }

  // The domain interface.

  static void DomainMarkEx(nvtxDomainHandle_t domain, const nvtxEventAttributes_t* event) {
    Tool::Mark(Id(domain), EventOf(event));
  }
  static nvtxRangeId_t DomainRangeStartEx(nvtxDomainHandle_t domain,
                                          const nvtxEventAttributes_t* event) {
    return Tool::Start(Id(domain), EventOf(event));
  }
  static void DomainRangeEnd(nvtxDomainHandle_t domain, nvtxRangeId_t id) {
    Tool::End(Id(domain), id, NvtxEvent());
  }
  static int DomainRangePushEx(nvtxDomainHandle_t domain, const nvtxEventAttributes_t* event) {
    return Push(Id(domain), event);
  }
  static int DomainRangePop(nvtxDomainHandle_t domain) {
    return Tool::Pop(Id(domain), NvtxEvent());
  }
  template <typename Char>
  static void DomainNameCategory(nvtxDomainHandle_t domain, uint32_t category, const Char* name) {
    Tool::NameCategory(Id(domain), category, Text(name));
  }
  template <typename Char>
  static nvtxStringHandle_t DomainRegisterString(nvtxDomainHandle_t domain, const Char* text) {
    return StringHandle(Tool::String(Id(domain), Text(text)));
  }
  template <typename Char>
  static nvtxDomainHandle_t DomainCreate(const Char* name) {
    return DomainHandle(Tool::Domain(Text(name)));
  }

  // The payload extension.

  static uint64_t PayloadSchemaRegister(nvtxDomainHandle_t domain,
                                        const nvtxPayloadSchemaAttr_t* schema) {
    return schema == nullptr ? 0 : Tool::AddSchema(Id(domain), *schema);
  }
  static void MarkPayload(nvtxDomainHandle_t domain, const nvtxPayloadData_t* payloads,
                          size_t count) {
    Tool::Mark(Id(domain), PayloadEvent(payloads, count));
  }
  static int RangePushPayload(nvtxDomainHandle_t domain, const nvtxPayloadData_t* payloads,
                              size_t count) {
    return Tool::Push(Id(domain), PayloadEvent(payloads, count));
  }
  static int RangePopPayload(nvtxDomainHandle_t domain, const nvtxPayloadData_t* payloads,
                             size_t count) {
    return Tool::Pop(Id(domain), PayloadEvent(payloads, count));
  }
  static nvtxRangeId_t RangeStartPayload(nvtxDomainHandle_t domain,
                                         const nvtxPayloadData_t* payloads, size_t count) {
    return Tool::Start(Id(domain), PayloadEvent(payloads, count));
  }
  static void RangeEndPayload(nvtxDomainHandle_t domain, nvtxRangeId_t id,
                              const nvtxPayloadData_t* payloads, size_t count) {
    Tool::End(Id(domain), id, PayloadEvent(payloads, count));
  }
  static uint8_t DomainIsEnabled(nvtxDomainHandle_t) { return 1; }

  /// An NVTX function table for a tool to fill in.
  class Table {
   public:
    Table(const NvtxExportTableCallbacks& callbacks, NvtxCallbackModule module) {
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

  static void FillCore(Table table) {
    table.Set(NVTX_CBID_CORE_MarkEx, MarkEx);
    table.Set(NVTX_CBID_CORE_MarkA, MarkText<char>);
    table.Set(NVTX_CBID_CORE_MarkW, MarkText<wchar_t>);
    table.Set(NVTX_CBID_CORE_RangeStartEx, RangeStartEx);
    table.Set(NVTX_CBID_CORE_RangeStartA, RangeStartText<char>);
    table.Set(NVTX_CBID_CORE_RangeStartW, RangeStartText<wchar_t>);
    table.Set(NVTX_CBID_CORE_RangeEnd, RangeEnd);
    table.Set(NVTX_CBID_CORE_RangePushEx, RangePushEx);
    table.Set(NVTX_CBID_CORE_RangePushA, RangePushText<char>);
    table.Set(NVTX_CBID_CORE_RangePushW, RangePushText<wchar_t>);
    table.Set(NVTX_CBID_CORE_RangePop, RangePop);
    table.Set(NVTX_CBID_CORE_NameCategoryA, NameCategory<char>);
    table.Set(NVTX_CBID_CORE_NameCategoryW, NameCategory<wchar_t>);
    table.Set(NVTX_CBID_CORE_NameOsThreadA, NameOsThread<char>);
    table.Set(NVTX_CBID_CORE_NameOsThreadW, NameOsThread<wchar_t>);
  }

  static void FillDomains(Table table) {
    table.Set(NVTX_CBID_CORE2_DomainMarkEx, DomainMarkEx);
    table.Set(NVTX_CBID_CORE2_DomainRangeStartEx, DomainRangeStartEx);
    table.Set(NVTX_CBID_CORE2_DomainRangeEnd, DomainRangeEnd);
    table.Set(NVTX_CBID_CORE2_DomainRangePushEx, DomainRangePushEx);
    table.Set(NVTX_CBID_CORE2_DomainRangePop, DomainRangePop);
    table.Set(NVTX_CBID_CORE2_DomainNameCategoryA, DomainNameCategory<char>);
    table.Set(NVTX_CBID_CORE2_DomainNameCategoryW, DomainNameCategory<wchar_t>);
    table.Set(NVTX_CBID_CORE2_DomainRegisterStringA, DomainRegisterString<char>);
    table.Set(NVTX_CBID_CORE2_DomainRegisterStringW, DomainRegisterString<wchar_t>);
    table.Set(NVTX_CBID_CORE2_DomainCreateA, DomainCreate<char>);
    table.Set(NVTX_CBID_CORE2_DomainCreateW, DomainCreate<wchar_t>);
  }

  static void FillPayloads(const nvtxExtModuleSegment_t& segment) {
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
};

}  // namespace oplens::record::inject

#endif  // OPLENS_RECORD_INJECT_NVTX_FUNCTIONS_H_

#include "nvtx_annotate/tool.h"

#include <nvtx3/nvToolsExtPayload.h>

#include <cstddef>

#include "nvtx_annotate/vocabulary/marker_format.h"

namespace oplens::annotate {
namespace {

/// Registers a fixed-size schema; returns its id, 0 if the tool does not support it.
template <size_t N>
uint64_t Register(const char* name, const nvtxPayloadSchemaEntry_t (&entries)[N], size_t size_bytes,
                  nvtxDomainHandle_t domain) {
  nvtxPayloadSchemaAttr_t attributes = {};
  attributes.fieldMask = NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_NAME | NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_TYPE |
                         NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_ENTRIES |
                         NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_NUM_ENTRIES |
                         NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_STATIC_SIZE;
  attributes.name = name;
  attributes.type = NVTX_PAYLOAD_SCHEMA_TYPE_STATIC;
  attributes.entries = entries;
  attributes.numEntries = N;
  attributes.payloadStaticSize = size_bytes;
  return nvtxPayloadSchemaRegister(domain, &attributes);
}

uint64_t RegisterMemorySchema(nvtxDomainHandle_t domain) {
  static const nvtxPayloadSchemaEntry_t kEntries[] = {
      {0, NVTX_PAYLOAD_ENTRY_TYPE_UINT64, "address", nullptr, 0, 0, nullptr, nullptr},
      {0, NVTX_PAYLOAD_ENTRY_TYPE_INT64, "bytes", nullptr, 0, 8, nullptr, nullptr},
      {0, NVTX_PAYLOAD_ENTRY_TYPE_INT64, "allocated", nullptr, 0, 16, nullptr, nullptr},
      {0, NVTX_PAYLOAD_ENTRY_TYPE_INT64, "reserved", nullptr, 0, 24, nullptr, nullptr},
      {0, NVTX_PAYLOAD_ENTRY_TYPE_INT32, "device type", nullptr, 0, 32, nullptr, nullptr},
      {0, NVTX_PAYLOAD_ENTRY_TYPE_INT32, "device", nullptr, 0, 36, nullptr, nullptr},
  };
  const uint64_t schema =
      Register(markers::kMemorySchemaName, kEntries, sizeof(markers::MemoryPayload), domain);
  return schema >> 48 == markers::kSchemaIdTag ? schema : 0;
}

uint64_t RegisterSchema(nvtxDomainHandle_t domain) {
  // Only the head: the arguments after it vary per call.
  static const nvtxPayloadSchemaEntry_t kEntries[] = {
      {0, NVTX_PAYLOAD_ENTRY_TYPE_INT64, "seq", nullptr, 0, 0, nullptr, nullptr},
      {0, NVTX_PAYLOAD_ENTRY_TYPE_UINT64, "h", nullptr, 0, 8, nullptr, nullptr},
      {0, NVTX_PAYLOAD_ENTRY_TYPE_UINT32, "tid", nullptr, 0, 16, nullptr, nullptr},
      {0, NVTX_PAYLOAD_ENTRY_TYPE_CHAR, "dir", nullptr, 0, 20, nullptr, nullptr},
      {0, NVTX_PAYLOAD_ENTRY_TYPE_UINT8, "flags", nullptr, 0, 21, nullptr, nullptr},
      {0, NVTX_PAYLOAD_ENTRY_TYPE_UINT16, "args", nullptr, 0, 22, nullptr, nullptr},
      {0, NVTX_PAYLOAD_ENTRY_TYPE_UINT32, "bytes", nullptr, 0, 24, nullptr, nullptr},
  };
  return Register(markers::kSchemaName, kEntries, sizeof(markers::PayloadHead), domain);
}

/// Null calls if the tool has none.
markers::DirectCalls AskForDirectCalls(nvtxDomainHandle_t domain) {
  // Only to tools that take payloads: they are ours.
  markers::DirectRequest request;
  const nvtxPayloadSchemaEntry_t entries[] = {{0, NVTX_PAYLOAD_ENTRY_TYPE_UINT64, "calls",
                                               reinterpret_cast<const char*>(&request), 0, 0,
                                               nullptr, nullptr}};
  Register(markers::kDirectSchemaName, entries, sizeof(uint64_t), domain);
  const markers::DirectCalls& calls = request.calls;
  return calls.push != nullptr && calls.pop != nullptr ? calls : markers::DirectCalls{};
}

Tool FindTool() {
  Tool tool;
  tool.domain = nvtxDomainCreateA(markers::kDomain);
  if (tool.domain == nullptr) return tool;
  tool.mode = Mode::kText;
  tool.schema = RegisterSchema(tool.domain);
  if (tool.schema >> 48 == markers::kSchemaIdTag) tool.mode = Mode::kPayload;
  if (tool.mode != Mode::kPayload) return tool;
  tool.memory_schema = RegisterMemorySchema(tool.domain);
  tool.direct = AskForDirectCalls(tool.domain);
  return tool;
}

}  // namespace

const Tool& TheTool() noexcept {
  static const Tool tool = FindTool();
  return tool;
}

}  // namespace oplens::annotate

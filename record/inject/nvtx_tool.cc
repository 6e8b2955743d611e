#include "record/inject/nvtx_tool.h"

#include <atomic>
#include <cstddef>
#include <string_view>

#include "nvtx_annotate/vocabulary/marker_format.h"
#include "record/inject/event_stream.h"
#include "record/inject/process.h"
#include "record/inject/wide_text.h"
#include "record/spool/spool_format.h"

namespace oplens::record::inject {
namespace {

using spool::RecordKind;

std::atomic<uint32_t> g_domains{0};
std::atomic<uint32_t> g_strings{0};
std::atomic<uint64_t> g_schemas{0};
/// A bit for each of the first 64 domains: whether it is ours, which opens and closes the window.
std::atomic<uint64_t> g_own_domains{0};

uint16_t Number(uint32_t domain) {
  return domain < spool::kLastDomain ? static_cast<uint16_t>(domain) : spool::kLastDomain;
}

/// Longer names are cut.
constexpr size_t kMostNameBytes = 64 * 1024;

/// A name as bytes, for as long as this lives.
class Bytes {
 public:
  explicit Bytes(NvtxText text) : view_(text.bytes.substr(0, MostOf(text.bytes))) {
    if (text.wide == nullptr) return;
    const size_t size = Utf8Bytes(text.wide, sizeof buffer_);
    WriteUtf8(text.wide, size, buffer_);
    view_ = std::string_view(buffer_, size);
  }
  std::string_view view() const { return view_; }

 private:
  static size_t MostOf(std::string_view text) {
    return text.size() < kMostNameBytes ? text.size() : kMostNameBytes;
  }
  // Wide names are rare and short.
  char buffer_[4096];
  std::string_view view_;
};

bool IsOwn(uint32_t domain) {
  return domain < 64 && (g_own_domains.load(std::memory_order_relaxed) >> domain & 1) != 0;
}

bool Says(const NvtxEvent& event, const char* text) {
  return event.text.wide == nullptr && event.text.bytes == text;
}

}  // namespace

int NvtxTool::Push(uint32_t domain, const NvtxEvent& event) {
  return StorePush(Number(domain), event);
}

int NvtxTool::Pop(uint32_t domain, const NvtxEvent&) { return StorePop(Number(domain)); }

uint64_t NvtxTool::Start(uint32_t domain, const NvtxEvent& event) {
  return StoreStart(Number(domain), event);
}

void NvtxTool::End(uint32_t domain, uint64_t range, const NvtxEvent&) {
  StoreEnd(Number(domain), range);
}

void NvtxTool::Mark(uint32_t domain, const NvtxEvent& event) {
  const bool own = IsOwn(domain);
  if (own && Says(event, markers::kStartMark)) SetWindow(true);
  StoreMark(Number(domain), event);
  if (own && Says(event, markers::kStopMark)) SetWindow(false);
}

uint32_t NvtxTool::Domain(NvtxText name) {
  const uint32_t id = g_domains.fetch_add(1, std::memory_order_relaxed) + 1;
  const Bytes bytes(name);
  if (id < 64 && bytes.view() == markers::kDomain) {
    g_own_domains.fetch_or(uint64_t{1} << id, std::memory_order_relaxed);
  }
  WriteName(RecordKind::kDomain, Number(id), 0, 0, bytes.view());
  return id;
}

uint32_t NvtxTool::String(uint32_t domain, NvtxText text) {
  const uint32_t id = g_strings.fetch_add(1, std::memory_order_relaxed) + 1;
  WriteName(RecordKind::kString, Number(domain), spool::kStringPart, id, Bytes(text).view());
  return id;
}

void NvtxTool::NameCategory(uint32_t domain, uint32_t category, NvtxText name) {
  WriteName(RecordKind::kCategory, Number(domain), spool::kLookPart, category, Bytes(name).view());
}

void NvtxTool::NameThread(uint32_t thread, NvtxText name) {
  WriteName(RecordKind::kThreadName, 0, spool::kRangePart, thread, Bytes(name).view());
}

uint64_t NvtxTool::AddSchema(uint32_t domain, const nvtxPayloadSchemaAttr_t& schema) {
  const auto given = [&schema](uint64_t field) { return (schema.fieldMask & field) != 0; };
  const bool named = given(NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_NAME) && schema.name != nullptr;
  const std::string_view name = named ? std::string_view(schema.name) : std::string_view();
  uint64_t id = given(NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_SCHEMA_ID) ? schema.schemaId : 0;
  if (id == 0) {
    // Ids below are reserved for types and for ids that programs choose.
    constexpr uint64_t kFirstOwnId = uint64_t{1} << 32;
    constexpr int kTagShift = 48;
    const uint64_t tag = name == markers::kSchemaName ? markers::kSchemaIdTag : 0;
    id = tag << kTagShift | (kFirstOwnId + g_schemas.fetch_add(1, std::memory_order_relaxed));
  }
  WriteName(RecordKind::kSchema, Number(domain), spool::kRangePart, id, name);
  return id;
}

}  // namespace oplens::record::inject

#include "record/inject/activity_rows.h"

#include <algorithm>
#include <cstring>
#include <type_traits>

#include "record/inject/clock.h"
#include "record/inject/process.h"
#include "record/spool/activity_columns.h"

namespace oplens::record::inject {
namespace {

using spool::Table;

// Records of older CUPTI versions are prefixes of these: members were only appended.
#define OPLENS_FIELD(record, member, type) \
  { #member, offsetof(record, member), sizeof(record::member), ActivityField::type }

#define N(member) OPLENS_FIELD(Record, member, kNumber)
#define S(member) OPLENS_FIELD(Record, member, kSigned)
#define T(member) OPLENS_FIELD(Record, member, kTime)
#define B(member) OPLENS_FIELD(Record, member, kBytes)
#define TEXT(member) OPLENS_FIELD(Record, member, kText)

struct KernelFields {
  using Record = CUpti_ActivityKernel10;
  static constexpr ActivityField kFields[] = {
      B(cacheConfig), N(sharedMemoryConfig), N(registersPerThread),
      N(partitionedGlobalCacheRequested), N(partitionedGlobalCacheExecuted), T(start), T(end),
      T(completed), N(deviceId), N(contextId), N(streamId), S(gridX), S(gridY), S(gridZ), S(blockX),
      S(blockY), S(blockZ), S(staticSharedMemory), S(dynamicSharedMemory), N(localMemoryPerThread),
      N(localMemoryTotal), N(correlationId), S(gridId), TEXT(name), T(queued), T(submitted),
      N(launchType), N(isSharedMemoryCarveoutRequested), N(sharedMemoryCarveoutRequested),
      N(sharedMemoryExecuted),
      // OPLENS_KERNEL
      N(graphNodeId), N(graphId), N(shmemLimitConfig), N(channelID), N(channelType), N(clusterX),
      N(clusterY), N(clusterZ), N(clusterSchedulingPolicy), N(localMemoryTotal_v2),
      N(maxPotentialClusterSize), N(maxActiveClusters), N(isDeviceLaunched)};
};

struct ApiFields {
  using Record = CUpti_ActivityAPI;
  static constexpr ActivityField kFields[] = {
      N(cbid), T(start), T(end), N(processId), S(threadId), N(correlationId), N(returnValue)};
};

struct MemcpyFields {
  using Record = CUpti_ActivityMemcpy6;
  static constexpr ActivityField kFields[] = {
      N(copyKind), N(srcKind), N(dstKind), N(flags), N(bytes), T(start), T(end), N(deviceId),
      N(contextId), N(streamId), N(correlationId), N(runtimeCorrelationId),
      // OPLENS_MEMCPY
      N(graphNodeId), N(graphId), N(channelID), N(channelType), N(isDeviceLaunched), N(copyCount)};
};

struct PeerCopyFields {
  using Record = CUpti_ActivityMemcpyPtoP4;
  static constexpr ActivityField kFields[] = {
      N(copyKind), N(srcKind), N(dstKind), N(flags), N(bytes), T(start), T(end), N(deviceId),
      N(contextId), N(streamId), N(srcDeviceId), N(srcContextId), N(dstDeviceId), N(dstContextId),
      N(correlationId),
      // OPLENS_MEMCPY2
      N(graphNodeId), N(graphId), N(channelID), N(channelType)};
};

struct MemsetFields {
  using Record = CUpti_ActivityMemset4;
  static constexpr ActivityField kFields[] = {
      N(value), N(bytes), T(start), T(end), N(deviceId), N(contextId), N(streamId),
      N(correlationId), N(flags), N(memoryKind),
      // OPLENS_MEMSET
      N(graphNodeId), N(graphId), N(channelID), N(channelType), N(isDeviceLaunched)};
};

struct SynchronizationFields {
  using Record = CUpti_ActivitySynchronization2;
  static constexpr ActivityField kFields[] = {N(type), T(start), T(end), N(correlationId),
                                              N(contextId), N(streamId), S(cudaEventId),
                                              // OPLENS_SYNCHRONIZATION
                                              N(cudaEventSyncId), N(returnValue)};
};

struct EventFields {
  using Record = CUpti_ActivityCudaEvent2;
  static constexpr ActivityField kFields[] = {N(correlationId), N(contextId), N(streamId),
                                              N(eventId),
                                              // OPLENS_CUDA_EVENT
                                              N(deviceId), N(deviceTimestamp), N(cudaEventSyncId)};
};

struct OverheadFields {
  using Record = CUpti_ActivityOverhead3;
  static constexpr ActivityField kFields[] = {N(overheadKind), N(objectKind), B(objectId), T(start),
                                              T(end),
                                              // OPLENS_OVERHEAD
                                              N(correlationId)};
};

struct DeviceFields {
  using Record = CUpti_ActivityDevice5;
  static constexpr ActivityField kFields[] = {
      N(flags), N(globalMemoryBandwidth), N(globalMemorySize), N(constantMemorySize),
      N(l2CacheSize), N(numThreadsPerWarp), N(coreClockRate), N(numMemcpyEngines),
      N(numMultiprocessors), N(maxIPC), N(maxWarpsPerMultiprocessor), N(maxBlocksPerMultiprocessor),
      N(maxSharedMemoryPerMultiprocessor), N(maxRegistersPerMultiprocessor),
      N(maxRegistersPerBlock), N(maxSharedMemoryPerBlock), N(maxThreadsPerBlock), N(maxBlockDimX),
      N(maxBlockDimY), N(maxBlockDimZ), N(maxGridDimX), N(maxGridDimY), N(maxGridDimZ),
      N(computeCapabilityMajor), N(computeCapabilityMinor), N(id), N(eccEnabled), B(uuid),
      TEXT(name),
      // OPLENS_DEVICE
      N(isCudaVisible), N(isMigEnabled), N(gpuInstanceId), N(computeInstanceId), N(isNumaNode),
      N(numaId)};
};

struct DeviceAttributeFields {
  using Record = CUpti_ActivityDeviceAttribute;
  static constexpr ActivityField kFields[] = {N(flags), N(deviceId), B(attribute), B(value)};
};

struct ContextFields {
  using Record = CUpti_ActivityContext3;
  static constexpr ActivityField kFields[] = {
      N(contextId), N(deviceId), N(computeApiKind), N(nullStreamId),
      // OPLENS_CONTEXT
      N(parentContextId), N(isGreenContext), N(numMultiprocessors)};
};

struct StreamFields {
  using Record = CUpti_ActivityStream;
  static constexpr ActivityField kFields[] = {N(contextId), N(streamId), N(priority), N(flag),
                                              N(correlationId)};
};

struct NameFields {
  using Record = CUpti_ActivityName;
  static constexpr ActivityField kFields[] = {N(objectKind), B(objectId), TEXT(name)};
};

struct PcieFields {
  using Record = CUpti_ActivityPcie;
  static constexpr ActivityField kFields[] = {N(type),           B(id),       N(domain),
                                              N(pcieGeneration), N(linkRate), N(linkWidth),
                                              N(upstreamBus),    B(attr)};
};

struct ExternalCorrelationFields {
  using Record = CUpti_ActivityExternalCorrelation;
  static constexpr ActivityField kFields[] = {N(externalKind), N(externalId), N(correlationId)};
};

struct UnifiedMemoryFields {
  using Record = CUpti_ActivityUnifiedMemoryCounter3;
  static constexpr ActivityField kFields[] = {N(counterKind), N(value), T(start), T(end),
                                              N(address),     N(srcId), N(dstId), N(streamId),
                                              N(processId),   N(flags)};
};

struct MemoryFields {
  using Record = CUpti_ActivityMemory4;
  static constexpr ActivityField kFields[] = {N(memoryOperationType),
                                              N(memoryKind),
                                              N(correlationId),
                                              N(address),
                                              N(bytes),
                                              T(timestamp),
                                              N(PC),
                                              N(processId),
                                              N(deviceId),
                                              N(contextId),
                                              N(streamId),
                                              N(isAsync),
                                              TEXT(name)};
};

#undef N
#undef S
#undef T
#undef B
#undef TEXT

constexpr ActivityKind kKinds[] = {
    {CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL, Table::kConcurrentKernel, KernelFields::kFields},
    {CUPTI_ACTIVITY_KIND_RUNTIME, Table::kRuntime, ApiFields::kFields},
    {CUPTI_ACTIVITY_KIND_DRIVER, Table::kDriver, ApiFields::kFields},
    {CUPTI_ACTIVITY_KIND_MEMCPY, Table::kMemcpy, MemcpyFields::kFields},
    {CUPTI_ACTIVITY_KIND_MEMCPY2, Table::kMemcpy2, PeerCopyFields::kFields},
    {CUPTI_ACTIVITY_KIND_MEMSET, Table::kMemset, MemsetFields::kFields},
    {CUPTI_ACTIVITY_KIND_SYNCHRONIZATION, Table::kSynchronization, SynchronizationFields::kFields},
    {CUPTI_ACTIVITY_KIND_CUDA_EVENT, Table::kCudaEvent, EventFields::kFields},
    {CUPTI_ACTIVITY_KIND_OVERHEAD, Table::kOverhead, OverheadFields::kFields},
    {CUPTI_ACTIVITY_KIND_DEVICE, Table::kDevice, DeviceFields::kFields},
    {CUPTI_ACTIVITY_KIND_DEVICE_ATTRIBUTE, Table::kDeviceAttribute, DeviceAttributeFields::kFields},
    {CUPTI_ACTIVITY_KIND_CONTEXT, Table::kContext, ContextFields::kFields},
    {CUPTI_ACTIVITY_KIND_STREAM, Table::kStream, StreamFields::kFields},
    {CUPTI_ACTIVITY_KIND_NAME, Table::kName, NameFields::kFields},
    {CUPTI_ACTIVITY_KIND_PCIE, Table::kPcie, PcieFields::kFields},
    {CUPTI_ACTIVITY_KIND_EXTERNAL_CORRELATION, Table::kExternalCorrelation,
     ExternalCorrelationFields::kFields},
    {CUPTI_ACTIVITY_KIND_UNIFIED_MEMORY_COUNTER, Table::kUnifiedMemoryCounter,
     UnifiedMemoryFields::kFields},
    {CUPTI_ACTIVITY_KIND_MEMORY2, Table::kMemoryOperation, MemoryFields::kFields},
};

const ActivityKind* FindKind(CUpti_ActivityKind kind) {
  const auto* const found =
      std::find_if(std::begin(kKinds), std::end(kKinds),
                   [kind](const ActivityKind& entry) { return entry.kind == kind; });
  return found == std::end(kKinds) ? nullptr : found;
}

size_t ActivityRowsPadded(size_t size) { return (size + 7) & ~size_t{7}; }

/// Whether the field has bytes after the numbers of the row.
bool HasBytes(const ActivityField& field) {
  return field.type == ActivityField::kText || field.type == ActivityField::kBytes;
}

/// Reads a little-endian number of 1 to 8 bytes.
int64_t ReadNumber(const unsigned char* at, size_t size, bool with_sign) {
  uint64_t bits = 0;
  std::memcpy(&bits, at, size);
  const size_t unused = 64 - 8 * size;
  if (with_sign && unused > 0) return static_cast<int64_t>(bits << unused) >> unused;
  return static_cast<int64_t>(bits);
}

/// The valid bytes of an object's id; the rest is garbage.
size_t ObjectBytes(const CUpti_ActivityName& name) {
  switch (name.objectKind) {
    case CUPTI_ACTIVITY_OBJECT_PROCESS:
    case CUPTI_ACTIVITY_OBJECT_DEVICE:
      return sizeof(uint32_t);
    case CUPTI_ACTIVITY_OBJECT_THREAD:
    case CUPTI_ACTIVITY_OBJECT_CONTEXT:
      return 2 * sizeof(uint32_t);
    default:
      return sizeof name.objectId;
  }
}

class RecordView {
 public:
  RecordView(const CUpti_Activity* record, size_t size, int64_t clock_offset_ns)
      : bytes_(reinterpret_cast<const unsigned char*>(record)),
        size_(size),
        clock_offset_ns_(clock_offset_ns) {}

  bool Has(const ActivityField& field) const { return size_t{field.offset} + field.size <= size_; }

  /// The number in a column; for a text or bytes, the length.
  int64_t Number(const ActivityField& field) const {
    if (field.type == ActivityField::kBytes) return field.size;
    if (!Has(field)) return field.type == ActivityField::kText ? spool::kNullText : kAbsent;
    if (field.type == ActivityField::kText) {
      const char* const text = Text(field);
      return text == nullptr ? spool::kNullText : static_cast<int64_t>(std::strlen(text));
    }
    const int64_t number =
        ReadNumber(bytes_ + field.offset, field.size, field.type == ActivityField::kSigned);
    const bool shifts = field.type == ActivityField::kTime && number != 0;
    return shifts ? number + clock_offset_ns_ : number;
  }

  const char* Text(const ActivityField& field) const {
    const char* text = nullptr;
    std::memcpy(&text, bytes_ + field.offset, sizeof text);
    return text;
  }
  const unsigned char* Bytes(const ActivityField& field) const { return bytes_ + field.offset; }

 private:
  const unsigned char* bytes_;
  size_t size_;
  int64_t clock_offset_ns_;
};

unsigned char* WriteHeads(Table table, size_t size, size_t values, unsigned char* at) {
  const spool::RecordHead head = {Now(), static_cast<uint32_t>(size), static_cast<uint16_t>(table),
                                  spool::RecordKind::kRow, 0};
  const spool::RowPart row = {static_cast<uint32_t>(values), 0};
  std::memcpy(at, &head, sizeof head);
  std::memcpy(at + sizeof head, &row, sizeof row);
  return at + sizeof head + sizeof row;
}

constexpr size_t kHeadBytes = sizeof(spool::RecordHead) + sizeof(spool::RowPart);
/// C++ kernel names can be very long; longer names are cut.
constexpr auto kMostNameBytes = static_cast<int64_t>(spool::kMostNameBytes);

}  // namespace

std::span<const ActivityKind> ActivityKinds() noexcept { return kKinds; }

Stored StoreActivity(const CUpti_Activity* record, size_t size, int64_t clock_offset_ns,
                     Stream* stream) noexcept {
  const ActivityKind* const kind = FindKind(record->kind);
  if (kind == nullptr) return Stored::kUnknownKind;
  // Copy the id without the garbage after it.
  CUpti_ActivityName name;
  if (record->kind == CUPTI_ACTIVITY_KIND_NAME && size >= sizeof name) {
    std::memcpy(&name, record, sizeof name);
    const size_t used = ObjectBytes(name);
    std::memset(reinterpret_cast<char*>(&name.objectId) + used, 0, sizeof name.objectId - used);
    record = reinterpret_cast<const CUpti_Activity*>(&name);
  }
  constexpr size_t kMostFields = 64;
  int64_t numbers[kMostFields];
  bool is_cut = false;
  const RecordView view(record, size, clock_offset_ns);
  size_t bytes = kHeadBytes + kind->fields.size() * sizeof(int64_t);
  for (size_t i = 0; i < kind->fields.size(); ++i) {
    const ActivityField& field = kind->fields[i];
    numbers[i] = view.Number(field);
    if (!HasBytes(field)) continue;
    is_cut |= numbers[i] > kMostNameBytes;
    numbers[i] = std::min(numbers[i], kMostNameBytes);
    if (numbers[i] > 0) bytes += ActivityRowsPadded(static_cast<size_t>(numbers[i]));
  }
  unsigned char* const start = stream->Reserve(bytes, 0);
  if (start == nullptr) return Stored::kNoRoom;
  if (is_cut) CountCutText();
  unsigned char* at = WriteHeads(kind->table, bytes, kind->fields.size(), start);
  std::memcpy(at, numbers, kind->fields.size() * sizeof(int64_t));
  at += kind->fields.size() * sizeof(int64_t);
  for (size_t i = 0; i < kind->fields.size(); ++i) {
    const ActivityField& field = kind->fields[i];
    if (!HasBytes(field) || numbers[i] <= 0) continue;
    const auto length = static_cast<size_t>(numbers[i]);
    if (field.type == ActivityField::kText) {
      std::memcpy(at, view.Text(field), length);
    } else if (view.Has(field)) {
      std::memcpy(at, view.Bytes(field), length);
    }
    at += ActivityRowsPadded(length);
  }
  stream->Publish(bytes);
  return Stored::kYes;
}

bool StoreRow(spool::Table table, std::span<const int64_t> values, const char* text,
              Stream* stream) noexcept {
  const size_t length =
      text == nullptr ? 0 : std::min(std::strlen(text), static_cast<size_t>(kMostNameBytes));
  const int64_t told = text == nullptr ? spool::kNullText : static_cast<int64_t>(length);
  const size_t bytes = kHeadBytes + values.size_bytes() + sizeof told + ActivityRowsPadded(length);
  unsigned char* at = stream->Reserve(bytes, 0);
  if (at == nullptr) return false;
  at = WriteHeads(table, bytes, values.size() + 1, at);
  std::memcpy(at, values.data(), values.size_bytes());
  std::memcpy(at + values.size_bytes(), &told, sizeof told);
  if (length > 0) std::memcpy(at + values.size_bytes() + sizeof told, text, length);
  stream->Publish(bytes);
  return true;
}

bool StoreNote(const char* text, Stream* stream) noexcept {
  const uint64_t length = std::strlen(text);
  const size_t bytes = sizeof(spool::RecordHead) + sizeof length + ActivityRowsPadded(length);
  unsigned char* const at = stream->Reserve(bytes, 0);
  if (at == nullptr) return false;
  const spool::RecordHead head = {Now(), static_cast<uint32_t>(bytes), 0, spool::RecordKind::kNote,
                                  spool::kTextPart};
  std::memcpy(at, &head, sizeof head);
  std::memcpy(at + sizeof head, &length, sizeof length);
  std::memcpy(at + sizeof head + sizeof length, text, length);
  stream->Publish(bytes);
  return true;
}

}  // namespace oplens::record::inject

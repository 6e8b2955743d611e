#include "parse/readers/nvprof/nvprof_reader.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <limits>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/id_pages.h"
#include "base/team.h"
#include "parse/readers/common/kernel_row.h"
#include "parse/readers/common/scan_beside.h"
#include "parse/readers/nvprof/nvprof_calls.h"
#include "parse/readers/nvprof/nvprof_context.h"
#include "parse/readers/nvprof/nvprof_events.h"
#include "parse/readers/nvprof/nvprof_markers.h"
#include "parse/readers/nvprof/nvprof_schema.h"
#include "parse/readers/nvprof/recorded_tables.h"

namespace oplens::parse {
namespace {

using nvprof::kConcurrentKernelTable;
using nvprof::kDeviceTable;
using nvprof::kDriverTable;
using nvprof::kKernelTable;
using nvprof::kMarkerTable;
using nvprof::kMemcpy2Table;
using nvprof::kMemcpyTable;
using nvprof::kMemsetTable;
using nvprof::kOverheadTable;
using nvprof::kRuntimeTable;
using nvprof::kSynchronizationTable;
using nvprof::kVersionTable;

/// The loss for the user if a table is missing.
struct TableCost {
  std::string_view table;
  std::string_view loss;
};

constexpr TableCost kTableCosts[] = {
    {kVersionTable, "the schema version is unknown"},
    {kConcurrentKernelTable, "kernels of ordinary runs are unknown"},
    {kKernelTable, "kernels of runs that were serialised for metrics are unknown"},
    {kRuntimeTable, "launches made through the CUDA runtime, and their ranges, are unknown"},
    {kDriverTable, "launches made through the CUDA driver, and their ranges, are unknown"},
    {kMarkerTable, "no kernel has a layer, op or range"},
    {kMemcpyTable, "copies are unknown"},
    {kMemcpy2Table, "copies between GPUs are unknown"},
    {kMemsetTable, "memory fills are unknown"},
    {kSynchronizationTable, "waits are unknown"},
    {kOverheadTable, "the profiler's own overhead is unknown"},
    {kDeviceTable, "GPU names are unknown"},
};

/// Reads one database in order: strings, GPU work, only the API calls referred to, then ranges.
class NvprofReader {
 public:
  NvprofReader(SqliteDatabase* database, TraceNeeds needs, Diagnostics* diagnostics)
      : context_(database, needs, diagnostics) {}

  Trace Read() {
    trace_.family = Family::kNvprof;
    NoteRecording(&database_, &trace_, &diagnostics_);
    NoteMissingTables();
    ReadVersion();
    // Most rows are of ranges, strings and API calls: a thread reads the first while the others are
    // read.
    ranges_.Begin(markers_.scans_beside(), [this] { markers_.Scan(); });
    context_.ReadStrings();
    ReadDevices();
    ReadKernels(kConcurrentKernelTable);
    const size_t concurrent = trace_.kernels.size();
    ReadKernels(kKernelTable);
    ReadCopies(kMemcpyTable);
    ReadCopies(kMemcpy2Table);
    ReadSets();
    ReadSynchronizations();
    ReadOverheads();
    if (Needs(TracePart::kWaitEvents)) events_.Read();
    if (Needs(TracePart::kMemoryEvents)) memory_.Read();
    calls_.Read();
    ResolveLaunches();
    const auto thread_of = [this](int64_t process_id, int64_t thread_id) {
      return context_.ThreadOf(process_id, thread_id);
    };
    PlaceRecordedGraphNodes(&database_, concurrent, thread_of, &trace_, &diagnostics_);
    if (Needs(TracePart::kCaptures)) AddRecordedCaptures(&context_);
    ReadAllocations(&database_, thread_of, context_.needs, &trace_, &diagnostics_);
    ranges_.Finish();
    markers_.Place();
    calls_.PlaceOthers();
    if (Needs(TracePart::kNames)) ReadNvprofNames(&context_);
    NoteEmptiness();
    return std::move(trace_);
  }

 private:
  bool Needs(TracePart part) const { return context_.needs.Has(part); }

  void NoteMissingTables() {
    for (const TableCost& cost : kTableCosts) {
      if (!database_.HasTable(cost.table)) {
        diagnostics_.Note(
            fmt::format("{}: no table {}: {}", database_.path(), cost.table, cost.loss));
      }
    }
  }

  void NoteEmptiness() {
    if (!trace_.kernels.empty()) return;
    diagnostics_.Note(
        fmt::format("{}: no kernels were recorded: tables {} and {} are missing or hold no rows; "
                    "profile a part of the program that runs on the GPU",
                    database_.path(), kConcurrentKernelTable, kKernelTable));
  }

  void ReadVersion() {
    constexpr std::string_view kColumns[] = {"version"};
    context_.ForEachRow(kVersionTable, kColumns, [&](int64_t, const Cell* row) {
      TakeInt64(row[0], &trace_.schema_version);
    });
  }

  void ReadDevices() {
    constexpr std::string_view kColumns[] = {"id",
                                             "name",
                                             "computeCapabilityMajor",
                                             "computeCapabilityMinor",
                                             "coreClockRate",
                                             "globalMemoryBandwidth",
                                             "globalMemorySize",
                                             "l2CacheSize",
                                             "numMultiprocessors"};
    context_.ForEachRow(kDeviceTable, kColumns, [&](int64_t row_id, const Cell* row) {
      Device device;
      int64_t clock_khz = 0;
      int64_t bandwidth_kb_per_s = 0;
      if (!TakeInt64(row[0], &device.id)) {
        context_.CountBadRow(Reason::kBadOtherRow, kDeviceTable, row_id);
        return;
      }
      device.name = context_.TextOf(row[1]);
      TakeInt32(row[2], &device.compute_capability_major);
      TakeInt32(row[3], &device.compute_capability_minor);
      // Stored in kHz and kB/s; values that overflow times 1000 are invalid.
      constexpr int64_t kMostKilo = std::numeric_limits<int64_t>::max() / 1000;
      if (TakeInt64(row[4], &clock_khz) && clock_khz > 0 && clock_khz < kMostKilo) {
        device.core_clock_hz = clock_khz * 1000;
      }
      if (TakeInt64(row[5], &bandwidth_kb_per_s) && bandwidth_kb_per_s > 0 &&
          bandwidth_kb_per_s < kMostKilo) {
        device.memory_bandwidth_bytes_per_s = bandwidth_kb_per_s * 1000;
      }
      TakeInt64(row[6], &device.memory_bytes);
      TakeInt64(row[7], &device.l2_cache_bytes);
      TakeInt32(row[8], &device.multiprocessors);
      trace_.devices.push_back(device);
    });
  }

  void ReadKernels(std::string_view table) {
    constexpr size_t kName = kKernelColumnCount;
    std::vector<std::string_view> columns(std::begin(kKernelColumns), std::end(kKernelColumns));
    columns.push_back("name");
    trace_.kernels.reserve(trace_.kernels.size() + context_.RowsToReserve(table));
    const std::vector<bool> missing = context_.MissingColumns(table, columns);
    context_.ForEachRow(table, columns, [&](int64_t row_id, const Cell* row) {
      Kernel& kernel = trace_.kernels.emplace_back();
      kernel.row_id = row_id;
      kernel.correlation_id = kUnknownId;
      KernelShape shape;
      if (!TakeKernelColumns(row, missing, &kernel, &shape)) {
        kernel.bad_row = true;
        context_.CountBadRow(Reason::kBadKernelRow, table, row_id);
      }
      kernel.shape = trace_.shapes.Add(shape);
      kernel.name = context_.TextOf(row[kName]);
      if (kernel.name == 0) context_.CountBadRow(Reason::kUnknownKernelName, table, row_id);
      if (kernel.correlation_id != kUnknownId) calls_.Want(kernel.correlation_id);
      work_correlations_[kKernelWork].push_back(kernel.correlation_id);
    });
  }

  void ReadCopies(std::string_view table) {
    constexpr std::string_view kColumns[] = {"start",     "end",     "bytes",   "correlationId",
                                             "copyKind",  "srcKind", "dstKind", "deviceId",
                                             "contextId", "streamId"};
    trace_.copies.reserve(trace_.copies.size() + context_.RowsToReserve(table));
    context_.ForEachWholeRow(table, kColumns, [&](int64_t row_id, const Cell* row) {
      MemoryCopy copy;
      bool good = AllInts(row, 4);
      int32_t kinds[3] = {};
      int32_t* const fields[] = {&kinds[0],       &kinds[1],        &kinds[2],
                                 &copy.device_id, &copy.context_id, &copy.stream_id};
      for (size_t i = 0; i < std::size(fields); ++i) good &= TakeInt32(row[4 + i], fields[i]);
      copy.copy_kind = CopyKindOfNumber(kinds[0]);
      copy.source_kind = MemoryKindOfNumber(kinds[1]);
      copy.target_kind = MemoryKindOfNumber(kinds[2]);
      if (!good) {
        context_.CountBadRow(Reason::kBadOtherRow, table, row_id);
        return;
      }
      copy.start_ns = row[0].integer();
      copy.end_ns = row[1].integer();
      copy.size_bytes = row[2].integer();
      calls_.Want(row[3].integer());
      work_correlations_[kCopyWork].push_back(row[3].integer());
      trace_.copies.push_back(copy);
    });
  }

  void ReadSets() {
    constexpr std::string_view kColumns[] = {"start", "end",      "bytes",     "correlationId",
                                             "value", "deviceId", "contextId", "streamId"};
    context_.ForEachWholeRow(kMemsetTable, kColumns, [&](int64_t row_id, const Cell* row) {
      MemorySet set;
      // The value is a 32-bit pattern that some versions store unsigned.
      bool good = AllInts(row, 5) && TakeInt32(row[5], &set.device_id) &&
                  TakeInt32(row[6], &set.context_id) && TakeInt32(row[7], &set.stream_id);
      if (!good) {
        context_.CountBadRow(Reason::kBadOtherRow, kMemsetTable, row_id);
        return;
      }
      set.start_ns = row[0].integer();
      set.end_ns = row[1].integer();
      set.size_bytes = row[2].integer();
      set.value = static_cast<int32_t>(row[4].integer() & NvprofContext::kLow32Bits);
      calls_.Want(row[3].integer());
      work_correlations_[kSetWork].push_back(row[3].integer());
      trace_.sets.push_back(set);
    });
  }

  void ReadSynchronizations() {
    constexpr std::string_view kColumns[] = {"start",     "end",      "correlationId", "type",
                                             "contextId", "streamId", "cudaEventId"};
    trace_.synchronizations.reserve(context_.RowsToReserve(kSynchronizationTable));
    const bool events = Needs(TracePart::kWaitEvents);
    const size_t columns = std::size(kColumns) - (events ? 0 : 1);
    context_.ForEachWholeRow(
        kSynchronizationTable, std::span(kColumns, columns), 6,
        [&](int64_t row_id, const Cell* row) {
          Synchronization wait;
          int32_t kind = 0;
          if (!AllInts(row, 3) || !TakeInt32(row[3], &kind) ||
              !TakeInt32(row[4], &wait.context_id) || !row[5].is_int()) {
            context_.CountBadRow(Reason::kBadOtherRow, kSynchronizationTable, row_id);
            return;
          }
          wait.start_ns = row[0].integer();
          wait.end_ns = row[1].integer();
          wait.kind = WaitKindOfNumber(kind);
          // CUPTI_SYNCHRONIZATION_INVALID_VALUE, "no stream", is stored as -1 or 2^32 - 1.
          wait.stream_id = static_cast<int32_t>(row[5].integer() & NvprofContext::kLow32Bits);
          calls_.Want(row[2].integer());
          work_correlations_[kWaitWork].push_back(row[2].integer());
          trace_.synchronizations.push_back(wait);
          if (events) events_.TakeWait(row_id, row[6]);
        });
  }

  void ReadOverheads() {
    constexpr std::string_view kColumns[] = {"start", "end", "overheadKind", "objectKind",
                                             "objectId"};
    const bool keep = Needs(TracePart::kOverheads);
    if (keep) trace_.overheads.reserve(context_.RowsToReserve(kOverheadTable));
    const size_t columns = keep ? std::size(kColumns) : 3;
    context_.ForEachWholeRow(
        kOverheadTable, std::span(kColumns, columns), 3, [&](int64_t row_id, const Cell* row) {
          int32_t kind = 0;
          if (!AllInts(row, 2) || !TakeInt32(row[2], &kind)) {
            context_.CountBadRow(Reason::kBadOtherRow, kOverheadTable, row_id);
            return;
          }
          if (!keep) return;
          Overhead& overhead = trace_.overheads.emplace_back();
          overhead.start_ns = row[0].integer();
          overhead.end_ns = row[1].integer();
          overhead.kind = OverheadKindOfNumber(kind);
          // Up to version 12 the file has only the process.
          ThreadObject object;
          if (IsOfThread(row[3]) && object.Take(row[4])) {
            overhead.thread = context_.ThreadOf(object.process_id, object.thread_id);
          }
        });
  }

  void ResolveLaunches() {
    const auto resolve = [this](Work work, auto& rows) {
      const auto find = [&](size_t, size_t begin, size_t end) {
        IdPages::Last last;
        for (size_t i = begin; i < end; ++i) {
          rows[i].launch = calls_.Find(work_correlations_[work][i], &last);
        }
      };
      InParts(rows.size(), CountParts(rows.size(), kRowsOfThreads), find);
      std::vector<int64_t>().swap(work_correlations_[work]);
    };
    resolve(kKernelWork, trace_.kernels);
    resolve(kCopyWork, trace_.copies);
    resolve(kSetWork, trace_.sets);
    resolve(kWaitWork, trace_.synchronizations);
    if (Needs(TracePart::kWaitEvents)) events_.Join();
    memory_.Join();
    calls_.ForgetRequests();
  }

  /// Rows that are worth a thread.
  static constexpr size_t kRowsOfThreads = size_t{16} << 10;

  enum Work { kKernelWork, kCopyWork, kSetWork, kWaitWork, kWorkCount };

  NvprofContext context_;
  SqliteDatabase& database_ = context_.database;
  Diagnostics& diagnostics_ = context_.diagnostics;
  Trace& trace_ = context_.trace;
  NvprofCalls calls_{&context_};
  NvprofEvents events_{&context_, &calls_};
  NvprofMemory memory_{&context_, &calls_};
  std::vector<int64_t> work_correlations_[kWorkCount];

  NvprofMarkers markers_{&context_};
  ScanBeside ranges_;  // Of markers_.
};

bool RecognisesNvprof(ProfileFile* file) {
  return file->database() != nullptr && file->database()->HasTable(nvprof::kStringTable);
}

Trace ReadNvprof(ProfileFile* file, TraceNeeds needs, Diagnostics* diagnostics) {
  return NvprofReader(file->database(), needs, diagnostics).Read();
}

}  // namespace

constexpr TraceReader kNvprofReader = {Family::kNvprof, RecognisesNvprof, ReadNvprof};

}  // namespace oplens::parse

#include "parse/readers/nvprof/nvprof_reader.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <limits>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/id_map.h"
#include "parse/readers/common/kernel_row.h"
#include "parse/readers/nvprof/cuda_api_names.h"
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
using nvprof::kStringTable;
using nvprof::kSynchronizationTable;
using nvprof::kVersionTable;

/// What the user loses with a table that is not there.
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

constexpr int64_t kLow32Bits = 0xFFFFFFFF;

/// Reads one database. Tables are read in the order of their needs: strings, GPU work, then only
/// those API calls that the GPU work refers to, then ranges.
class NvprofReader {
 public:
  NvprofReader(SqliteDatabase* database, Diagnostics* diagnostics)
      : database_(*database), diagnostics_(*diagnostics) {}

  Trace Read() {
    trace_.family = Family::kNvprof;
    NoteRecording(&database_, &diagnostics_);
    NoteMissingTables();
    ReadVersion();
    ReadStrings();
    ReadDevices();
    ReadKernels(kConcurrentKernelTable);
    const size_t concurrent = trace_.kernels.size();
    ReadKernels(kKernelTable);
    ReadCopies(kMemcpyTable);
    ReadCopies(kMemcpy2Table);
    ReadSets();
    ReadSynchronizations();
    ReadOverheads();
    ReadCalls(kRuntimeTable, RuntimeApiName);
    ReadCalls(kDriverTable, DriverApiName);
    ResolveLaunches();
    PlaceRecordedGraphNodes(
        &database_, concurrent,
        [this](int64_t process_id, int64_t thread_id) { return ThreadOf(process_id, thread_id); },
        &trace_, &diagnostics_);
    ReadMarkers();
    NoteEmptiness();
    return std::move(trace_);
  }

 private:
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

  template <typename F>
  void ForEachRow(std::string_view table, std::span<const std::string_view> columns, F f) {
    database_.Scan(table, columns, [&f](const RowBatch& batch) {
      for (size_t i = 0; i < batch.row_count(); ++i) f(batch.row_ids[i], batch.Row(i));
    });
  }

  size_t RowsToReserve(std::string_view table) {
    return static_cast<size_t>(database_.MaxRowCount(table));
  }

  /// Which of `columns` the table lacks; each costs a sentence, and no row of it is damaged by
  /// that.
  std::vector<bool> MissingColumns(std::string_view table,
                                   std::span<const std::string_view> columns) {
    std::vector<bool> missing;
    for (const std::string_view column : columns) {
      missing.push_back(database_.HasTable(table) && !database_.HasColumn(table, column));
      if (missing.back()) {
        diagnostics_.Note(
            fmt::format("{}: table {} has no column {}", database_.path(), table, column));
      }
    }
    return missing;
  }

  /// Reads a table whose rows say nothing without one of `columns`: then all of it is left out.
  template <typename F>
  void ForEachWholeRow(std::string_view table, std::span<const std::string_view> columns, F f) {
    const std::vector<bool> missing = MissingColumns(table, columns);
    if (std::find(missing.begin(), missing.end(), true) != missing.end()) return;
    ForEachRow(table, columns, f);
  }

  void CountBadRow(Reason reason, std::string_view table, int64_t row_id) {
    diagnostics_.Count(reason, diagnostics_.WantsExample(reason)
                                   ? fmt::format("table {}, row {}", table, row_id)
                                   : std::string());
  }

  void ReadVersion() {
    constexpr std::string_view kColumns[] = {"version"};
    ForEachRow(kVersionTable, kColumns,
               [&](int64_t, const Cell* row) { TakeInt64(row[0], &trace_.schema_version); });
  }

  void ReadStrings() {
    constexpr std::string_view kColumns[] = {"_id_", "value"};
    ForEachWholeRow(kStringTable, kColumns, [&](int64_t row_id, const Cell* row) {
      if (!row[0].is_int() || row[1].type() != Cell::Type::kText) {
        CountBadRow(Reason::kBadOtherRow, kStringTable, row_id);
        return;
      }
      const std::string_view text = row[1].bytes();
      if (row[0].integer() == 0 && text == nvprof::kNullString) return;
      string_ids_.FindOrInsert(row[0].integer(), trace_.strings.Intern(text));
    });
  }

  /// The text of a string id, 0 (empty) when it is not there or stands for NULL.
  StringId TextOf(const Cell& cell) const {
    if (!cell.is_int()) return 0;
    const uint32_t found = string_ids_.Find(cell.integer());
    return found == IdMap::kNone ? 0 : found;
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
    ForEachRow(kDeviceTable, kColumns, [&](int64_t row_id, const Cell* row) {
      Device device;
      int64_t clock_khz = 0;
      int64_t bandwidth_kb_per_s = 0;
      if (!TakeInt64(row[0], &device.id)) {
        CountBadRow(Reason::kBadOtherRow, kDeviceTable, row_id);
        return;
      }
      device.name = TextOf(row[1]);
      TakeInt32(row[2], &device.compute_capability_major);
      TakeInt32(row[3], &device.compute_capability_minor);
      // Stored in kHz and kB/s; values that would not fit times 1000 are no clocks.
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
    trace_.kernels.reserve(trace_.kernels.size() + RowsToReserve(table));
    const std::vector<bool> missing = MissingColumns(table, columns);
    ForEachRow(table, columns, [&](int64_t row_id, const Cell* row) {
      Kernel& kernel = trace_.kernels.emplace_back();
      kernel.row_id = row_id;
      kernel.correlation_id = kUnknownId;
      if (!TakeKernelColumns(row, missing, &kernel)) {
        kernel.reasons.Add(Reason::kBadKernelRow);
        CountBadRow(Reason::kBadKernelRow, table, row_id);
      }
      kernel.name = TextOf(row[kName]);
      if (kernel.name == 0) {
        kernel.reasons.Add(Reason::kUnknownKernelName);
        CountBadRow(Reason::kUnknownKernelName, table, row_id);
      }
      if (kernel.correlation_id != kUnknownId) Want(kernel.correlation_id);
      work_correlations_[kKernelWork].push_back(kernel.correlation_id);
    });
  }

  void ReadCopies(std::string_view table) {
    constexpr std::string_view kColumns[] = {"start",     "end",     "bytes",   "correlationId",
                                             "copyKind",  "srcKind", "dstKind", "deviceId",
                                             "contextId", "streamId"};
    ForEachWholeRow(table, kColumns, [&](int64_t row_id, const Cell* row) {
      MemoryCopy copy;
      bool good = AllInts(row, 4);
      int32_t* const fields[] = {&copy.copy_kind, &copy.source_kind, &copy.target_kind,
                                 &copy.device_id, &copy.context_id,  &copy.stream_id};
      for (size_t i = 0; i < std::size(fields); ++i) good &= TakeInt32(row[4 + i], fields[i]);
      if (!good) {
        CountBadRow(Reason::kBadOtherRow, table, row_id);
        return;
      }
      copy.start_ns = row[0].integer();
      copy.end_ns = row[1].integer();
      copy.size_bytes = row[2].integer();
      Want(row[3].integer());
      work_correlations_[kCopyWork].push_back(row[3].integer());
      trace_.copies.push_back(copy);
    });
  }

  void ReadSets() {
    constexpr std::string_view kColumns[] = {"start", "end",      "bytes",     "correlationId",
                                             "value", "deviceId", "contextId", "streamId"};
    ForEachWholeRow(kMemsetTable, kColumns, [&](int64_t row_id, const Cell* row) {
      MemorySet set;
      // The fill value is a 32-bit pattern that some versions store unsigned.
      bool good = AllInts(row, 5) && TakeInt32(row[5], &set.device_id) &&
                  TakeInt32(row[6], &set.context_id) && TakeInt32(row[7], &set.stream_id);
      if (!good) {
        CountBadRow(Reason::kBadOtherRow, kMemsetTable, row_id);
        return;
      }
      set.start_ns = row[0].integer();
      set.end_ns = row[1].integer();
      set.size_bytes = row[2].integer();
      set.value = static_cast<int32_t>(row[4].integer() & kLow32Bits);
      Want(row[3].integer());
      work_correlations_[kSetWork].push_back(row[3].integer());
      trace_.sets.push_back(set);
    });
  }

  void ReadSynchronizations() {
    constexpr std::string_view kColumns[] = {"start", "end",       "correlationId",
                                             "type",  "contextId", "streamId"};
    ForEachWholeRow(kSynchronizationTable, kColumns, [&](int64_t row_id, const Cell* row) {
      Synchronization wait;
      if (!AllInts(row, 3) || !TakeInt32(row[3], &wait.kind) ||
          !TakeInt32(row[4], &wait.context_id) || !row[5].is_int()) {
        CountBadRow(Reason::kBadOtherRow, kSynchronizationTable, row_id);
        return;
      }
      wait.start_ns = row[0].integer();
      wait.end_ns = row[1].integer();
      // CUPTI_SYNCHRONIZATION_INVALID_VALUE, "no stream", is stored as -1 or 2^32 - 1.
      wait.stream_id = static_cast<int32_t>(row[5].integer() & kLow32Bits);
      Want(row[2].integer());
      work_correlations_[kWaitWork].push_back(row[2].integer());
      trace_.synchronizations.push_back(wait);
    });
  }

  void ReadOverheads() {
    constexpr std::string_view kColumns[] = {"start", "end", "overheadKind"};
    trace_.overheads.reserve(RowsToReserve(kOverheadTable));
    ForEachWholeRow(kOverheadTable, kColumns, [&](int64_t row_id, const Cell* row) {
      Overhead overhead;
      if (!AllInts(row, 2) || !TakeInt32(row[2], &overhead.kind)) {
        CountBadRow(Reason::kBadOtherRow, kOverheadTable, row_id);
        return;
      }
      overhead.start_ns = row[0].integer();
      overhead.end_ns = row[1].integer();
      trace_.overheads.push_back(overhead);
    });
  }

  /// Notes that GPU work refers to this API call.
  void Want(int64_t correlation_id) {
    if (wanted_.FindOrInsert(correlation_id, static_cast<uint32_t>(launch_of_wanted_.size())) ==
        launch_of_wanted_.size()) {
      launch_of_wanted_.push_back(kNoLaunch);
    }
  }

  /// Keeps the wanted calls of one API table. A call that an earlier table had stays; of rows of
  /// one table that share a correlation id the one that starts first counts, whatever their order.
  void ReadCalls(std::string_view table, std::string (*name_of)(int64_t)) {
    constexpr std::string_view kColumns[] = {"cbid",      "start",    "end",
                                             "processId", "threadId", "correlationId"};
    const size_t first_of_table = trace_.launches.size();
    IdMap api_of_cbid;
    std::vector<int64_t> correlations;
    correlations.reserve(RowsToReserve(table));
    bool ascending = true;
    ForEachWholeRow(table, kColumns, [&](int64_t row_id, const Cell* row) {
      if (!AllInts(row, 6)) {
        CountBadRow(Reason::kBadLaunchRow, table, row_id);
        return;
      }
      const int64_t correlation_id = row[5].integer();
      ascending &= correlations.empty() || correlations.back() < correlation_id;
      correlations.push_back(correlation_id);
      const uint32_t wanted = wanted_.Find(correlation_id);
      if (wanted == IdMap::kNone) return;
      LaunchCall call;
      call.start_ns = row[1].integer();
      call.end_ns = row[2].integer();
      if (call.end_ns < call.start_ns) {
        CountBadRow(Reason::kBadLaunchTimes, table, row_id);
        return;
      }
      call.correlation_id = correlation_id;
      LaunchIndex* launch = &launch_of_wanted_[wanted];
      if (*launch != kNoLaunch && *launch < first_of_table) return;
      call.thread = ThreadOf(row[3].integer(), row[4].integer());
      call.api = ApiName(row[0].integer(), name_of, &api_of_cbid);
      if (*launch == kNoLaunch) {
        *launch = static_cast<LaunchIndex>(trace_.launches.size());
        trace_.launches.push_back(call);
        return;
      }
      LaunchCall& kept = trace_.launches[*launch];
      if (std::pair(call.start_ns, call.end_ns) < std::pair(kept.start_ns, kept.end_ns)) {
        kept = call;
      }
    });
    CountRepeats(std::move(correlations), ascending);
  }

  void CountRepeats(std::vector<int64_t> correlations, bool ascending) {
    if (ascending) return;
    std::sort(correlations.begin(), correlations.end());
    const auto last = std::unique(correlations.begin(), correlations.end());
    diagnostics_.CountMany(Reason::kDuplicateLaunch, correlations.end() - last);
  }

  StringId ApiName(int64_t cbid, std::string (*name_of)(int64_t), IdMap* known) {
    const uint32_t found = known->Find(cbid);
    if (found != IdMap::kNone) return found;
    return known->FindOrInsert(cbid, trace_.strings.Intern(name_of(cbid)));
  }

  /// API rows hold the thread as signed, range rows as unsigned 32 bits: both are masked here.
  ThreadIndex ThreadOf(int64_t process_id, int64_t thread_id) {
    const int64_t key = process_id << 32 | (thread_id & kLow32Bits);
    if (key == last_thread_key_ && !trace_.threads.empty()) return last_thread_;
    const auto next = static_cast<ThreadIndex>(trace_.threads.size());
    last_thread_key_ = key;
    last_thread_ = threads_.FindOrInsert(key, next);
    if (last_thread_ == next) {
      trace_.threads.push_back({process_id & kLow32Bits, thread_id & kLow32Bits, 0});
    }
    return last_thread_;
  }

  void ResolveLaunches() {
    const auto resolve = [this](Work work, auto& rows) {
      for (size_t i = 0; i < rows.size(); ++i) {
        const int64_t correlation_id = work_correlations_[work][i];
        const uint32_t wanted =
            correlation_id == kUnknownId ? IdMap::kNone : wanted_.Find(correlation_id);
        rows[i].launch = wanted == IdMap::kNone ? kNoLaunch : launch_of_wanted_[wanted];
      }
      std::vector<int64_t>().swap(work_correlations_[work]);
    };
    resolve(kKernelWork, trace_.kernels);
    resolve(kCopyWork, trace_.copies);
    resolve(kSetWork, trace_.sets);
    resolve(kWaitWork, trace_.synchronizations);
  }

  void ReadMarkers() {
    constexpr std::string_view kColumns[] = {"flags",      "timestamp", "id",
                                             "objectKind", "objectId",  "name"};
    trace_.ranges.reserve(RowsToReserve(kMarkerTable) / 2);
    ForEachWholeRow(kMarkerTable, kColumns,
                    [&](int64_t row_id, const Cell* row) { ReadMarker(row_id, row); });
    const int64_t unmatched =
        static_cast<int64_t>(early_ends_.size()) - static_cast<int64_t>(early_ends_used_);
    if (unmatched > 0) diagnostics_.CountMany(Reason::kUnmatchedEnd, unmatched);
    PlaceRecordedCalls(&database_, &trace_, &diagnostics_);
    DropReversed();
    if (process_markers_ > 0) {
      diagnostics_.Note(fmt::format("{}: {} range rows belong to no thread; left out",
                                    database_.path(), process_markers_));
    }
  }

  void ReadMarker(int64_t row_id, const Cell* row) {
    if (!AllInts(row, 3)) {
      CountBadRow(Reason::kBadMarkerRow, kMarkerTable, row_id);
      return;
    }
    const int64_t flags = row[0].integer();
    const bool start = (flags & nvprof::kMarkerStart) != 0;
    const bool end = (flags & nvprof::kMarkerEnd) != 0;
    if (start == end || (flags & nvprof::kMarkerInstant) != 0) {
      if (start) CountBadRow(Reason::kBadMarkerRow, kMarkerTable, row_id);
      return;  // An instant, or a synchronisation mark.
    }
    if (start) {
      OpenRange(row_id, row);
    } else {
      CloseRange(row_id, row);
    }
  }

  static bool IsOfThread(const Cell& object_kind) {
    return object_kind.is_int() && object_kind.integer() == nvprof::kObjectThread;
  }

  void OpenRange(int64_t row_id, const Cell* row) {
    const std::string_view object =
        row[4].type() == Cell::Type::kBlob ? row[4].bytes() : std::string_view();
    if (row[3].is_int() && !IsOfThread(row[3])) {
      ++process_markers_;
      return;
    }
    if (!row[3].is_int() || object.size() < 8 || !row[5].is_int()) {
      CountBadRow(Reason::kBadMarkerRow, kMarkerTable, row_id);
      return;
    }
    const int64_t id = row[2].integer();
    const auto index = static_cast<uint32_t>(trace_.ranges.size());
    const uint32_t pending = pending_.FindOrInsert(id, index);
    if (pending != index && (pending & kEarlyEnd) == 0) {
      CountBadRow(Reason::kDuplicateMarker, kMarkerTable, row_id);
      return;
    }
    uint32_t process_id = 0;
    uint32_t thread_id = 0;
    std::memcpy(&process_id, object.data(), 4);
    std::memcpy(&thread_id, object.data() + 4, 4);
    Range& range = trace_.ranges.emplace_back();
    range.start_ns = row[1].integer();
    range.id = id;
    range.text = TextOf(row[5]);
    if (range.text == 0) {
      // A NULL text is stored as string 0; any other id that is not there is damage.
      if (row[5].integer() != 0) CountBadRow(Reason::kBadMarkerRow, kMarkerTable, row_id);
      range.text = trace_.strings.Intern("<unknown>");
    }
    range.thread = ThreadOf(process_id, thread_id);
    if (pending != index) {
      range.end_ns = early_ends_[pending & ~kEarlyEnd];
      ++early_ends_used_;
      pending_.Erase(id);
    }
  }

  /// An end needs its id and time only: the thread and text are those of the start.
  void CloseRange(int64_t row_id, const Cell* row) {
    const int64_t id = row[2].integer();
    const uint32_t pending = pending_.Find(id);
    if (pending == IdMap::kNone) {
      if (!IsOfThread(row[3])) {
        ++process_markers_;
        return;
      }
      // Its start row may still come.
      pending_.FindOrInsert(id, kEarlyEnd | static_cast<uint32_t>(early_ends_.size()));
      early_ends_.push_back(row[1].integer());
    } else if ((pending & kEarlyEnd) != 0) {
      CountBadRow(Reason::kDuplicateMarker, kMarkerTable, row_id);
    } else {
      trace_.ranges[pending].end_ns = row[1].integer();
      pending_.Erase(id);
    }
  }

  void DropReversed() {
    const auto reversed = [](const Range& range) { return range.end_ns < range.start_ns; };
    const auto kept = std::remove_if(trace_.ranges.begin(), trace_.ranges.end(), reversed);
    const int64_t dropped = trace_.ranges.end() - kept;
    if (dropped > 0) diagnostics_.CountMany(Reason::kReversedRange, dropped);
    trace_.ranges.erase(kept, trace_.ranges.end());
  }

  enum Work { kKernelWork, kCopyWork, kSetWork, kWaitWork, kWorkCount };
  static constexpr uint32_t kEarlyEnd = uint32_t{1} << 31;

  SqliteDatabase& database_;
  Diagnostics& diagnostics_;
  Trace trace_;
  IdMap string_ids_;

  IdMap wanted_;  // correlation id -> index into launch_of_wanted_
  std::vector<LaunchIndex> launch_of_wanted_;
  std::vector<int64_t> work_correlations_[kWorkCount];

  IdMap threads_;
  int64_t last_thread_key_ = 0;
  ThreadIndex last_thread_ = 0;

  IdMap pending_;  // marker id -> index of an open range, or kEarlyEnd | index of an end
  std::vector<int64_t> early_ends_;
  size_t early_ends_used_ = 0;
  int64_t process_markers_ = 0;
};

bool RecognisesNvprof(ProfileFile* file) {
  return file->database() != nullptr && file->database()->HasTable(kStringTable);
}

Trace ReadNvprof(ProfileFile* file, Diagnostics* diagnostics) {
  return NvprofReader(file->database(), diagnostics).Read();
}

}  // namespace

constexpr TraceReader kNvprofReader = {Family::kNvprof, RecognisesNvprof, ReadNvprof};

}  // namespace oplens::parse

#include "parse/readers/nsys/nsys_target.h"

#include <algorithm>
#include <charconv>
#include <limits>
#include <set>
#include <string>
#include <string_view>
#include <utility>

#include "base/parse_number.h"
#include "parse/model/run_place.h"
#include "parse/readers/nsys/nsys_schema.h"

namespace oplens::parse {
namespace {

/// Returns the displayable part of a version, up to the first character foreign to versions.
std::string CleanVersion(std::string_view text) {
  constexpr std::string_view kAllowed =
      "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ.-+_";
  constexpr size_t kLongest = 40;
  return std::string(text.substr(0, std::min(kLongest, text.find_first_not_of(kAllowed))));
}

void TakePositive(const Cell& cell, int64_t* value) {
  if (cell.is_int() && cell.integer() > 0) *value = cell.integer();
}

}  // namespace

int64_t MpiRankOf(std::string_view name) {
  constexpr std::string_view kPrefix = "MPI Rank ";
  if (!name.starts_with(kPrefix)) return -1;
  name.remove_prefix(kPrefix.size());
  int64_t rank = -1;
  ParseNumber(name, &rank);
  return rank;
}

void NsysTarget::Read(size_t ranked) {
  ReadVersion();
  ReadStartTime();
  ReadProcesses();
  ReadThreadNames();
  ReadEnvironment();
  TakeRank(ranked);
  ReadDevices();
}

void NsysTarget::ReadVersion() {
  constexpr std::string_view kColumns[] = {"name", "value"};
  std::string product;
  std::string schema;
  for (const std::string_view table : {nsys::kMetaTable, nsys::kOldMetaTable}) {
    context_.ForEachWholeRow(table, kColumns, 2, [&](int64_t, const Cell* row) {
      if (row[0].type() != Cell::Type::kText || row[1].type() != Cell::Type::kText) return;
      const std::string_view name = row[0].bytes();
      if (name == "EXPORT_PRODUCT_VERSION" && product.empty())
        product = CleanVersion(row[1].bytes());
      if (name == "EXPORT_SCHEMA_VERSION" && schema.empty()) schema = CleanVersion(row[1].bytes());
    });
  }
  std::from_chars(schema.data(), schema.data() + schema.size(), trace_.schema_version);
  trace_.schema_version = std::max<int64_t>(trace_.schema_version, 0);
  trace_.producer = std::move(product);
  if (schema.empty()) return;
  if (!trace_.producer.empty()) trace_.producer += ' ';
  trace_.producer += "(schema " + schema + ")";
}

/// Reads the origin of the times of events. ANALYSIS_DETAILS.startTime, the start of the session,
/// is earlier: with it, files whose capture began late would have been exported before their end.
void NsysTarget::ReadStartTime() {
  constexpr std::string_view kColumns[] = {"utcEpochNs"};
  context_.ForEachRow(nsys::kStartTimeTable, kColumns, [&](int64_t, const Cell* row) {
    if (row[0].is_int() && !trace_.clock_offset_ns) trace_.clock_offset_ns = row[0].integer();
  });
}

void NsysTarget::ReadProcesses() {
  constexpr std::string_view kColumns[] = {"globalPid", "name"};
  const std::vector<int64_t>& keys = context_.process_keys();
  std::map<int64_t, StringId> names;
  for (const int64_t key : keys) names.emplace(key, StringId{0});
  context_.ForEachWholeRow(nsys::kProcessTable, kColumns, 2, [&](int64_t, const Cell* row) {
    if (!row[0].is_int()) return;
    const auto process = names.find(nsys::ProcessKey(row[0].integer()));
    if (process != names.end() && process->second == 0) process->second = context_.TextOf(row[1]);
  });
  for (const auto& [key, name] : names) {
    trace_.processes.push_back({nsys::ProcessIdOf(key), name});
  }
}

void NsysTarget::ReadThreadNames() {
  constexpr std::string_view kColumns[] = {"globalTid", "nameId", "priority"};
  // The name with the smallest priority number is the most specific; NVTX already named some.
  std::vector<int64_t> priorities(trace_.threads.size(), std::numeric_limits<int64_t>::max());
  for (size_t i = 0; i < priorities.size(); ++i) {
    if (trace_.threads[i].name != 0) priorities[i] = std::numeric_limits<int64_t>::min();
  }
  context_.ForEachWholeRow(nsys::kThreadNameTable, kColumns, 2, [&](int64_t, const Cell* row) {
    if (!row[0].is_int()) return;
    const uint32_t thread = context_.FindThread(row[0].integer());
    if (thread == IdMap::kNone || thread >= priorities.size()) return;
    const int64_t priority = row[2].is_int() ? row[2].integer() : 0;
    const StringId name = context_.TextOf(row[1]);
    if (name == 0 || priority >= priorities[thread]) return;
    priorities[thread] = priority;
    trace_.threads[thread].name = name;
  });
}

void NsysTarget::ReadEnvironment() {
  // The environment of several ranks is the launcher's.
  if (context_.reads_part()) return;
  constexpr std::string_view kColumns[] = {"name", "value"};
  RankVariables variables;
  context_.ForEachWholeRow(nsys::kCaptureTable, kColumns, 2, [&](int64_t, const Cell* row) {
    if (row[0].type() != Cell::Type::kText || row[1].type() != Cell::Type::kText) return;
    if (row[0].bytes() != nsys::kVariableName) return;
    const std::string_view text = row[1].bytes();
    const size_t equals = text.find('=');
    if (equals == text.npos) return;
    std::string_view value = text.substr(equals + 1);
    if (value.size() >= 2 && value.front() == '"' && value.back() == '"') {
      value = value.substr(1, value.size() - 2);
    }
    variables.Take(text.substr(0, equals), value);
  });
  trace_.environment = variables.Place();
}

void NsysTarget::TakeRank(size_t ranked) {
  std::set<int64_t> ranks;
  for (size_t i = 0; i < ranked; ++i) {
    const int64_t rank = MpiRankOf(trace_.strings.View(trace_.threads[i].name));
    if (rank >= 0) ranks.insert(rank);
  }
  // A file of several ranks belongs to none of them.
  if (ranks.size() == 1) trace_.rank = *ranks.begin();
}

std::map<int64_t, std::vector<int64_t>> NsysTarget::ReadDeviceNumbers() {
  constexpr std::string_view kColumns[] = {"gpuId", "cudaId", "pid"};
  std::map<int64_t, std::vector<int64_t>> numbers;
  context_.ForEachWholeRow(
      nsys::kCudaDeviceTable, kColumns, 2, [&](int64_t row_id, const Cell* row) {
        if (!AllInts(row, 2)) {
          context_.CountBadRow(Reason::kBadOtherRow, nsys::kCudaDeviceTable, row_id);
          return;
        }
        const auto is_owner = [&](int64_t key) {
          return !row[2].is_int() || row[2].integer() == nsys::ProcessIdOf(key) ||
                 nsys::ProcessKey(row[2].integer()) == key;
        };
        const std::vector<int64_t>& keys = context_.process_keys();
        if (std::none_of(keys.begin(), keys.end(), is_owner)) return;
        numbers[row[0].integer()].push_back(row[1].integer());
      });
  return numbers;
}

void NsysTarget::ReadDevices() {
  constexpr std::string_view kColumns[] = {
      "id",      "name",      "cuDevice",        "computeMajor", "computeMinor",
      "smCount", "clockRate", "memoryBandwidth", "totalMemory",  "l2CacheSize"};
  const auto numbers = ReadDeviceNumbers();
  std::map<int64_t, Device> devices;  // The first one of a number counts.
  context_.ForEachWholeRow(nsys::kGpuTable, kColumns, 2, [&](int64_t row_id, const Cell* row) {
    if (!row[0].is_int()) {
      context_.CountBadRow(Reason::kBadOtherRow, nsys::kGpuTable, row_id);
      return;
    }
    Device device;
    device.name = context_.TextOf(row[1]);
    TakeInt32(row[3], &device.compute_capability_major);
    TakeInt32(row[4], &device.compute_capability_minor);
    TakeInt32(row[5], &device.multiprocessors);
    TakePositive(row[6], &device.core_clock_hz);
    TakePositive(row[7], &device.memory_bandwidth_bytes_per_s);
    TakePositive(row[8], &device.memory_bytes);
    TakePositive(row[9], &device.l2_cache_bytes);
    const auto listed = numbers.find(row[0].integer());
    if (listed != numbers.end()) {
      for (const int64_t number : listed->second) {
        device.id = number;
        devices.try_emplace(number, device);
      }
    } else if (numbers.empty() && TakeInt64(row[2], &device.id)) {
      devices.try_emplace(device.id, device);
    }
  });
  for (const auto& [number, device] : devices) trace_.devices.push_back(device);
}

}  // namespace oplens::parse

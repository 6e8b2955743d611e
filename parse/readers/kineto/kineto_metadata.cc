#include "parse/readers/kineto/kineto_metadata.h"

#include <optional>

#include "parse/readers/kineto/kineto_event.h"

namespace oplens::parse {
namespace {

using simdjson::dom::element;
using simdjson::dom::key_value_pair;

/// The number of the first of `keys` that is there; else 0.
template <typename T>
void TakeFirst(simdjson::dom::object object, std::initializer_list<std::string_view> keys, T* to) {
  for (const std::string_view key : keys) {
    element value;
    if (object[key].get(value) == simdjson::SUCCESS && TakeInt(value, to)) return;
  }
}

void TakeDevices(element value, Trace* trace) {
  simdjson::dom::array items;
  if (value.get(items) != simdjson::SUCCESS) return;
  for (const element item : items) {
    simdjson::dom::object properties;
    if (item.get(properties) != simdjson::SUCCESS) continue;
    Device& device = trace->devices.emplace_back();
    element name;
    if (properties["name"].get(name) == simdjson::SUCCESS) {
      device.name = trace->strings.Intern(TextOf(name));
    }
    TakeFirst(properties, {"id"}, &device.id);
    // The second spelling is that of the first versions.
    TakeFirst(properties, {"computeMajor", "major"}, &device.compute_capability_major);
    TakeFirst(properties, {"computeMinor", "minor"}, &device.compute_capability_minor);
    TakeFirst(properties, {"numSms", "multiProcessorCount"}, &device.multiprocessors);
    TakeFirst(properties, {"totalGlobalMem"}, &device.memory_bytes);
    TakeFirst(properties, {"warpSize"}, &device.warp_threads);
  }
}

/// A text or a whole number; of another type it is passed over.
void TakeVersion(std::string_view name, element value, Trace* trace) {
  std::string text;
  int64_t number = 0;
  std::string_view words;
  if (value.get(words) == simdjson::SUCCESS) {
    text = words;
  } else if (TakeInt(value, &number)) {
    text = std::to_string(number);
  }
  if (text.empty()) return;
  trace->versions.emplace_back(trace->strings.Intern(name), trace->strings.Intern(text));
}

/// The ranks of each process group that has several, kUnknownId where they differ; nullopt where
/// the file lists no groups.
std::optional<int64_t> GroupSize(simdjson::dom::object info) {
  simdjson::dom::array groups;
  if (info["pg_config"].get(groups) != simdjson::SUCCESS) return std::nullopt;
  std::optional<int64_t> size;
  for (const element item : groups) {
    simdjson::dom::object group;
    int64_t ranks = 0;
    if (item.get(group) != simdjson::SUCCESS) continue;
    TakeFirst(group, {"pg_size"}, &ranks);
    if (ranks < 2 || size == kUnknownId) continue;
    size = size.value_or(ranks) == ranks ? ranks : kUnknownId;
  }
  return size;
}

void TakeRanks(simdjson::dom::object group, std::vector<int64_t>* ranks) {
  simdjson::dom::array items;
  if (group["ranks"].get(items) != simdjson::SUCCESS) return;
  for (const element item : items) {
    int64_t rank = 0;
    if (!TakeInt(item, &rank) || rank < 0) {  // A list that is not understood is none.
      ranks->clear();
      return;
    }
    ranks->push_back(rank);
  }
}

void TakeGroups(simdjson::dom::object info, Trace* trace) {
  simdjson::dom::array groups;
  if (info["pg_config"].get(groups) != simdjson::SUCCESS) return;
  for (const element item : groups) {
    simdjson::dom::object group;
    element name;
    if (item.get(group) != simdjson::SUCCESS || group["pg_name"].get(name) != simdjson::SUCCESS) {
      continue;
    }
    ProcessGroup& own = trace->process_groups.emplace_back();
    own.name = trace->strings.Intern(PrintKineto(name));
    element description;
    if (group["pg_desc"].get(description) == simdjson::SUCCESS) {
      own.description = trace->strings.Intern(TextOf(description));
    }
    TakeFirst(group, {"pg_size"}, &own.size);
    TakeRanks(group, &own.ranks);
  }
}

void TakeDistributed(element value, Trace* trace) {
  simdjson::dom::object info;
  if (value.get(info) != simdjson::SUCCESS) return;
  TakeFirst(info, {"rank"}, &trace->rank);
  TakeFirst(info, {"world_size"}, &trace->world_size);
  element version;
  if (info["nccl_version"].get(version) == simdjson::SUCCESS) {
    TakeVersion("nccl_version", version, trace);
  }
  TakeGroups(info, trace);
  trace->group_size = GroupSize(info).value_or(trace->world_size);
}

}  // namespace

bool TakeKinetoMember(std::string_view key, element value, Trace* trace) {
  if (key == "schemaVersion") {
    TakeInt(value, &trace->schema_version);
  } else if (key == "deviceProperties" || key == "computeProperties") {
    TakeDevices(value, trace);
  } else if (key == "distributedInfo") {
    TakeDistributed(value, trace);
  } else if (key == "host_name") {
    trace->host = TextOf(value);
  } else if (key.ends_with("_version")) {
    TakeVersion(key, value, trace);
    return false;
  } else if (key == "baseTimeNanoseconds") {
    int64_t base_ns = 0;
    if (TakeInt(value, &base_ns)) trace->clock_offset_ns = base_ns;
  } else {
    return false;
  }
  return true;
}

}  // namespace oplens::parse

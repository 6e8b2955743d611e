#include "parse/readers/kineto/kineto_metadata.h"

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

void TakeDistributed(element value, Trace* trace) {
  simdjson::dom::object info;
  if (value.get(info) != simdjson::SUCCESS) return;
  TakeFirst(info, {"rank"}, &trace->rank);
  TakeFirst(info, {"world_size"}, &trace->world_size);
}

}  // namespace

void TakeKinetoMember(std::string_view key, element value, Trace* trace) {
  if (key == "schemaVersion") {
    TakeInt(value, &trace->schema_version);
  } else if (key == "deviceProperties" || key == "computeProperties") {
    TakeDevices(value, trace);
  } else if (key == "distributedInfo") {
    TakeDistributed(value, trace);
  } else if (key == "baseTimeNanoseconds") {
    int64_t base_ns = 0;
    if (TakeInt(value, &base_ns)) trace->clock_offset_ns = base_ns;
  }
}

}  // namespace oplens::parse

#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "parse/model/kernel_record.h"
#include "parse/model/python_text.h"

namespace oplens {
namespace {

void AppendOptionalInt(const std::optional<int64_t>& value, std::string* out) {
  if (value) {
    AppendPythonInt(*value, out);
  } else {
    out->append("None");
  }
}

void AppendOptionalString(const std::optional<std::string_view>& text, std::string* out) {
  if (text) {
    AppendPythonString(*text, out);
  } else {
    out->append("None");
  }
}

void AppendStrings(const std::vector<std::string_view>& texts, std::string* out) {
  out->push_back('[');
  for (size_t i = 0; i < texts.size(); ++i) {
    if (i > 0) out->append(", ");
    AppendPythonString(texts[i], out);
  }
  out->push_back(']');
}

void AppendInts(const std::vector<int64_t>& values, std::string* out) {
  out->push_back('[');
  for (size_t i = 0; i < values.size(); ++i) {
    if (i > 0) out->append(", ");
    AppendPythonInt(values[i], out);
  }
  out->push_back(']');
}

void AppendDim(const Dim3& dim, std::string* out) {
  out->push_back('(');
  AppendPythonInt(dim.x, out);
  out->append(", ");
  AppendPythonInt(dim.y, out);
  out->append(", ");
  AppendPythonInt(dim.z, out);
  out->push_back(')');
}

void AppendReasons(ReasonSet reasons, std::string* out) {
  out->push_back('[');
  bool first = true;
  reasons.ForEach([&](Reason reason) {
    if (!first) out->append(", ");
    first = false;
    AppendPythonString(ReasonWord(reason), out);
  });
  out->push_back(']');
}

nlohmann::ordered_json JsonOf(const std::optional<int64_t>& value) {
  return value ? nlohmann::ordered_json(*value) : nlohmann::ordered_json(nullptr);
}

nlohmann::ordered_json JsonOf(const std::optional<std::string_view>& text) {
  return text ? nlohmann::ordered_json(*text) : nlohmann::ordered_json(nullptr);
}

// Written only where there is anything: most kernels have none of these.
struct ForwardList {
  std::string_view key;
  std::vector<std::string_view> KernelRecord::*member;
};
constexpr ForwardList kForwardLists[] = {
    {"fwdLayer", &KernelRecord::forward_layer},    {"fwdTrace", &KernelRecord::forward_trace},
    {"fwdMarker", &KernelRecord::forward_markers}, {"fwdMod", &KernelRecord::forward_mod},
    {"fwdOp", &KernelRecord::forward_op},
};

}  // namespace

void AppendDictLine(const KernelRecord& record, std::string* out) {
  out->append("{'kShortName': ");
  AppendPythonString(record.short_name, out);
  out->append(", 'kDuration': ");
  AppendPythonInt(record.duration_ns, out);
  out->append(", 'layer': ");
  AppendStrings(record.layer, out);
  out->append(", 'trace': ");
  AppendStrings(record.trace, out);
  out->append(", 'reprMarkers': ");
  AppendStrings(record.repr_markers, out);
  out->append(", 'marker': ");
  AppendStrings(record.markers, out);
  out->append(", 'seqMarker': ");
  AppendStrings(record.seq_markers, out);
  out->append(", 'seqId': ");
  AppendInts(record.seq_ids, out);
  out->append(", 'subSeqId': ");
  AppendPythonInt(record.sub_seq_id, out);
  out->append(", 'altSeqId': ");
  AppendInts(record.alt_seq_ids, out);
  out->append(", 'dir': ");
  AppendPythonString(DirectionWord(record.direction), out);
  out->append(", 'mod': ");
  AppendStrings(record.mod, out);
  out->append(", 'op': ");
  AppendStrings(record.op, out);
  out->append(", 'tid': ");
  AppendPythonInt(record.thread_id, out);
  out->append(", 'device': ");
  AppendPythonInt(record.device_id, out);
  out->append(", 'stream': ");
  AppendPythonInt(record.stream_id, out);
  out->append(", 'grid': ");
  AppendDim(record.grid, out);
  out->append(", 'block': ");
  AppendDim(record.block, out);
  out->append(", 'kLongName': ");
  AppendPythonString(record.long_name, out);
  out->append(", 'kStart': ");
  AppendOptionalInt(record.start_ns, out);
  out->append(", 'kEnd': ");
  AppendOptionalInt(record.end_ns, out);
  out->append(", 'corrId': ");
  AppendOptionalInt(record.correlation_id, out);
  out->append(", 'pid': ");
  AppendOptionalInt(record.process_id, out);
  out->append(", 'context': ");
  AppendOptionalInt(record.context_id, out);
  out->append(", 'registers': ");
  AppendOptionalInt(record.registers_per_thread, out);
  out->append(", 'staticSharedMemory': ");
  AppendOptionalInt(record.static_shared_memory_bytes, out);
  out->append(", 'dynamicSharedMemory': ");
  AppendOptionalInt(record.dynamic_shared_memory_bytes, out);
  out->append(", 'launch': ");
  AppendOptionalString(record.launch_api, out);
  out->append(", 'launchStart': ");
  AppendOptionalInt(record.launch_start_ns, out);
  out->append(", 'launchEnd': ");
  AppendOptionalInt(record.launch_end_ns, out);
  out->append(", 'deviceName': ");
  AppendOptionalString(record.device_name, out);
  out->append(", 'range': ");
  AppendStrings(record.range, out);
  out->append(", 'rangeCut': ");
  AppendPythonInt(record.range_cut, out);
  out->append(", 'markerStart': ");
  AppendInts(record.marker_starts_ns, out);
  out->append(", 'rank': ");
  AppendOptionalString(record.rank, out);
  out->append(", 'phase': ");
  AppendPythonString(PhaseWord(record.phase), out);
  out->append(", 'node': ");
  AppendInts(record.nodes, out);
  out->append(", 'nodeOps': ");
  AppendInts(record.node_ops, out);
  out->append(", 'nodeRun': ");
  AppendPythonInt(record.node_run, out);
  for (const ForwardList& list : kForwardLists) {
    if ((record.*list.member).empty()) continue;
    out->append(", '");
    out->append(list.key);
    out->append("': ");
    AppendStrings(record.*list.member, out);
  }
  out->append(", 'step': ");
  AppendOptionalInt(record.step, out);
  out->append(", 'gpu': ");
  AppendOptionalString(record.gpu, out);
  out->append(", 'sharedMemory': ");
  AppendOptionalInt(record.shared_memory_bytes, out);
  out->append(", 'reason': ");
  AppendReasons(record.reasons, out);
  out->append("}\n");
}

void AppendJsonLine(const KernelRecord& record, std::string* out) {
  const auto dim = [](const Dim3& d) { return nlohmann::ordered_json{d.x, d.y, d.z}; };
  auto reasons = nlohmann::ordered_json::array();
  record.reasons.ForEach([&](Reason reason) { reasons.push_back(ReasonWord(reason)); });
  nlohmann::ordered_json line = {
      {"kShortName", record.short_name},
      {"kDuration", record.duration_ns},
      {"layer", record.layer},
      {"trace", record.trace},
      {"reprMarkers", record.repr_markers},
      {"marker", record.markers},
      {"seqMarker", record.seq_markers},
      {"seqId", record.seq_ids},
      {"subSeqId", record.sub_seq_id},
      {"altSeqId", record.alt_seq_ids},
      {"dir", DirectionWord(record.direction)},
      {"mod", record.mod},
      {"op", record.op},
      {"tid", record.thread_id},
      {"device", record.device_id},
      {"stream", record.stream_id},
      {"grid", dim(record.grid)},
      {"block", dim(record.block)},
      {"kLongName", record.long_name},
      {"kStart", JsonOf(record.start_ns)},
      {"kEnd", JsonOf(record.end_ns)},
      {"corrId", JsonOf(record.correlation_id)},
      {"pid", JsonOf(record.process_id)},
      {"context", JsonOf(record.context_id)},
      {"registers", JsonOf(record.registers_per_thread)},
      {"staticSharedMemory", JsonOf(record.static_shared_memory_bytes)},
      {"dynamicSharedMemory", JsonOf(record.dynamic_shared_memory_bytes)},
      {"launch", JsonOf(record.launch_api)},
      {"launchStart", JsonOf(record.launch_start_ns)},
      {"launchEnd", JsonOf(record.launch_end_ns)},
      {"deviceName", JsonOf(record.device_name)},
      {"range", record.range},
      {"rangeCut", record.range_cut},
      {"markerStart", record.marker_starts_ns},
      {"rank", JsonOf(record.rank)},
      {"phase", PhaseWord(record.phase)},
      {"node", record.nodes},
      {"nodeOps", record.node_ops},
      {"nodeRun", record.node_run},
      {"step", JsonOf(record.step)},
      {"gpu", JsonOf(record.gpu)},
      {"sharedMemory", JsonOf(record.shared_memory_bytes)},
      {"reason", std::move(reasons)},
  };
  for (const ForwardList& list : kForwardLists) {
    if (!(record.*list.member).empty()) line[std::string(list.key)] = record.*list.member;
  }
  out->append(line.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace));
  out->push_back('\n');
}

}  // namespace oplens

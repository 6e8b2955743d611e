#include "prof/price/call_key.h"

#include <string_view>

#include "base/hash.h"

namespace oplens::prof {
namespace {

/// cudaGraphLaunch, cuGraphLaunch, hipGraphLaunch, with or without a suffix.
bool IsGraphLaunch(const KernelRecord& record) {
  return record.launch_api && record.launch_api->find("GraphLaunch") != std::string_view::npos;
}

}  // namespace

std::optional<CallKey> CallKeyOf(const WaitingRow& row) {
  const Resolution& resolution = row.resolution;
  const KernelRecord& record = row.record;
  if (resolution.priced == nullptr) return std::nullopt;
  CallKey key;
  key.process_id = record.process_id.value_or(-1);
  key.thread_id = record.thread_id;
  if (resolution.forward != nullptr) {
    const bool has_node = !record.nodes.empty();
    key.by = has_node ? CallKey::By::kNode : CallKey::By::kSequence;
    key.number = has_node ? record.nodes.front() : record.seq_ids.front();
    key.what = resolution.forward->id;
    key.run = resolution.forward_run;
    return key;
  }
  if (!resolution.call_start_ns) return std::nullopt;
  key.number = *resolution.call_start_ns;
  key.what = resolution.priced->id;
  // The ranges of a replayed kernel are those of its capture, the same at every replay.
  if (IsGraphLaunch(record)) key.run = record.launch_start_ns.value_or(0);
  return key;
}

CallKey AroundKey(const CallKey& key, const OuterCall& outer) {
  CallKey around = key;
  around.number = outer.start_ns;
  around.what = outer.annotation->id;
  return around;
}

StreamKey StreamKeyOf(const KernelRecord& record) {
  return {record.process_id.value_or(-1), record.thread_id, record.stream_id};
}

size_t CallKeyHash::operator()(const CallKey& key) const {
  return MixHash(MixHash(MixHash(0, key.process_id), key.thread_id), key.number);
}

size_t StreamKeyHash::operator()(const StreamKey& key) const {
  return MixHash(MixHash(MixHash(0, key.process_id), key.thread_id), key.stream_id);
}

}  // namespace oplens::prof

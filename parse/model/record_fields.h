#ifndef OPLENS_PARSE_MODEL_RECORD_FIELDS_H_
#define OPLENS_PARSE_MODEL_RECORD_FIELDS_H_

#include <array>
#include <cstddef>
#include <string_view>
#include <tuple>

#include "parse/model/kernel_record.h"

namespace oplens {

/// A key as a template argument.
template <size_t N>
struct FieldKey {
  char text[N] = {};
  consteval FieldKey(const char (&key)[N]) {  // NOLINT: a literal is its key.
    for (size_t i = 0; i < N; ++i) text[i] = key[i];
  }
};

enum class FieldUse {
  kAlways,
  kRequired,  ///< A line without it is no record.
  kIfAny,     ///< A list or word that is written only if not empty.
};

/// One key of a record's line and the member for it.
template <FieldKey K, auto M, FieldUse U = FieldUse::kAlways>
struct RecordField {
  static constexpr auto kMember = M;
  static constexpr FieldUse kUse = U;
  static constexpr std::string_view kKey{K.text, sizeof K.text - 1};

 private:
  static constexpr auto kText = [] {
    std::array<char, kKey.size() + 6> text{};
    size_t at = 0;
    for (const std::string_view part : {std::string_view(", '"), kKey, std::string_view("': ")}) {
      for (const char c : part) text[at++] = c;
    }
    return text;
  }();

 public:
  /// How a line of Python literals spells it behind another key: ", 'KEY': ".
  static constexpr std::string_view kSpelling{kText.data(), kText.size()};
};

/// Every key of a record, in the order of the lines: PyProf's first. The writers and the reader use
/// this table; docs/formats.md explains the keys.
inline constexpr std::tuple kRecordFields{
    RecordField<"kShortName", &KernelRecord::short_name, FieldUse::kRequired>(),
    RecordField<"kDuration", &KernelRecord::duration_ns, FieldUse::kRequired>(),
    RecordField<"layer", &KernelRecord::layer>(),
    RecordField<"trace", &KernelRecord::trace>(),
    RecordField<"reprMarkers", &KernelRecord::repr_markers>(),
    RecordField<"marker", &KernelRecord::markers>(),
    RecordField<"seqMarker", &KernelRecord::seq_markers>(),
    RecordField<"seqId", &KernelRecord::seq_ids>(),
    RecordField<"subSeqId", &KernelRecord::sub_seq_id>(),
    RecordField<"altSeqId", &KernelRecord::alt_seq_ids>(),
    RecordField<"dir", &KernelRecord::direction>(),
    RecordField<"mod", &KernelRecord::mod>(),
    RecordField<"op", &KernelRecord::op>(),
    RecordField<"tid", &KernelRecord::thread_id, FieldUse::kRequired>(),
    RecordField<"device", &KernelRecord::device_id, FieldUse::kRequired>(),
    RecordField<"stream", &KernelRecord::stream_id, FieldUse::kRequired>(),
    RecordField<"grid", &KernelRecord::grid, FieldUse::kRequired>(),
    RecordField<"block", &KernelRecord::block, FieldUse::kRequired>(),
    RecordField<"kLongName", &KernelRecord::long_name>(),
    RecordField<"kStart", &KernelRecord::start_ns>(),
    RecordField<"kEnd", &KernelRecord::end_ns>(),
    RecordField<"corrId", &KernelRecord::correlation_id>(),
    RecordField<"pid", &KernelRecord::process_id>(),
    RecordField<"context", &KernelRecord::context_id>(),
    RecordField<"registers", &KernelRecord::registers_per_thread>(),
    RecordField<"staticSharedMemory", &KernelRecord::static_shared_memory_bytes>(),
    RecordField<"dynamicSharedMemory", &KernelRecord::dynamic_shared_memory_bytes>(),
    RecordField<"launch", &KernelRecord::launch_api>(),
    RecordField<"launchStart", &KernelRecord::launch_start_ns>(),
    RecordField<"launchEnd", &KernelRecord::launch_end_ns>(),
    RecordField<"deviceName", &KernelRecord::device_name>(),
    RecordField<"range", &KernelRecord::range>(),
    RecordField<"rangeCut", &KernelRecord::range_cut>(),
    RecordField<"layerCut", &KernelRecord::layer_cut, FieldUse::kIfAny>(),
    RecordField<"markerCut", &KernelRecord::marker_cut, FieldUse::kIfAny>(),
    RecordField<"callerRange", &KernelRecord::caller_range, FieldUse::kIfAny>(),
    RecordField<"markerStart", &KernelRecord::marker_starts_ns>(),
    RecordField<"rank", &KernelRecord::rank>(),
    RecordField<"phase", &KernelRecord::phase>(),
    RecordField<"node", &KernelRecord::nodes>(),
    RecordField<"nodeOps", &KernelRecord::node_ops>(),
    RecordField<"nodeRun", &KernelRecord::node_run>(),
    RecordField<"fwdLayer", &KernelRecord::forward_layer, FieldUse::kIfAny>(),
    RecordField<"fwdTrace", &KernelRecord::forward_trace, FieldUse::kIfAny>(),
    RecordField<"fwdMarker", &KernelRecord::forward_markers, FieldUse::kIfAny>(),
    RecordField<"fwdMod", &KernelRecord::forward_mod, FieldUse::kIfAny>(),
    RecordField<"fwdOp", &KernelRecord::forward_op, FieldUse::kIfAny>(),
    RecordField<"step", &KernelRecord::step>(),
    RecordField<"gpu", &KernelRecord::gpu>(),
    RecordField<"sharedMemory", &KernelRecord::shared_memory_bytes>(),
    RecordField<"evidence", &KernelRecord::evidence, FieldUse::kIfAny>(),
    RecordField<"confidence", &KernelRecord::confidence, FieldUse::kIfAny>(),
    RecordField<"reason", &KernelRecord::reasons>()};

}  // namespace oplens

#endif  // OPLENS_PARSE_MODEL_RECORD_FIELDS_H_

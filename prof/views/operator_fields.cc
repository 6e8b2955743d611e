#include "prof/views/operator_fields.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <span>

#include "base/error.h"

namespace oplens::prof {
namespace {

constexpr Field kOperatorFields[] = {
    {"op", "Op", "", FieldType::kText, Field::kShared, "operator, by its name as recorded",
     Fold::kKey},
    {"calls", "Calls", "", FieldType::kInteger, 8, "calls", Fold::kSum},
    {"device_self_ns", "DevSelf(ns)", "ns", FieldType::kInteger, 13,
     "sum of the durations of the device events that its calls launched themselves", Fold::kSum},
    {"device_total_ns", "DevTotal(ns)", "ns", FieldType::kInteger, 13,
     "device_self_ns and that of calls inside; a call inside another of the same row adds nothing",
     Fold::kNone},
    {"device_busy_ns", "DevBusy(ns)", "ns", FieldType::kInteger, 13,
     "time in which any device event of device_self_ns ran, summed over GPUs", Fold::kSum},
    {"host_self_ns", "HostSelf(ns)", "ns", FieldType::kInteger, 13,
     "its calls' time on the host without that in which calls inside ran", Fold::kSum},
    {"host_total_ns", "HostTotal(ns)", "ns", FieldType::kInteger, 13,
     "its calls' time on the host; a call inside another of the same row adds nothing",
     Fold::kNone},
    {"mean_ns", "Mean(ns)", "ns", FieldType::kDecimal, 13,
     "length of a call on the host: sum of the lengths of all / calls", Fold::kMean},
    {"p50_ns", "P50(ns)", "ns", FieldType::kInteger, 11,
     "length of the call of rank ceil(0.5 * calls), at most 1.6 % off", Fold::kQuantiles},
    {"p95_ns", "P95(ns)", "ns", FieldType::kInteger, 11,
     "length of the call of rank ceil(0.95 * calls), at most 1.6 % off", Fold::kQuantiles},
    {"launches", "Launches", "", FieldType::kInteger, 8,
     "device events that its calls launched themselves", Fold::kSum},
    {"flops", "FLOPs", "FLOP", FieldType::kInteger, 18,
     "of the kernels that its calls launched themselves and whose FLOPs are known", Fold::kSum},
    {"bytes", "Bytes", "B", FieldType::kInteger, 16,
     "of the kernels that its calls launched themselves and whose bytes are known", Fold::kSum},
    {"tc_elig", "TCElig", "", FieldType::kText, 7,
     "yes: a kernel of it or of calls inside runs on Tensor Cores or could; no: none could",
     Fold::kNone},
    {"tc_self_pct", "TCSelf(%)", "%", FieldType::kDecimal, 8,
     "time of kernels that use Tensor Cores / that of kernels of which it is known, * 100; of the "
     "kernels of device_self_ns",
     Fold::kNone},
    {"tc_total_pct", "TCTotal(%)", "%", FieldType::kDecimal, 8,
     "the same of the kernels of device_total_ns", Fold::kNone},
};

struct OperatorFieldsKeyWord {
  std::string_view word;
  OperatorKey key;
  Field field;
};

constexpr OperatorFieldsKeyWord kOperatorFieldsKeyWords[] = {
    {"shape",
     OperatorKey::kShape,
     {"shape", "Shape", "", FieldType::kText, Field::kShared,
      "extents of the tensors among the arguments", Fold::kKey}},
    {"layer",
     OperatorKey::kLayer,
     {"layer", "Layer", "", FieldType::kText, Field::kShared,
      "layers around the call, outermost first; in the backward pass those of the forward op",
      Fold::kKey}},
    {"stack",
     OperatorKey::kStack,
     {"stack", "Stack", "", FieldType::kText, Field::kShared, "call stack, outermost frame first",
      Fold::kKey}},
    {"phase",
     OperatorKey::kPhase,
     {"phase", "Phase", "", FieldType::kText, 10,
      "forward, backward, recompute, gradient or optimizer", Fold::kKey}},
    {"step",
     OperatorKey::kStep,
     {"step", "Step", "", FieldType::kInteger, 6, "number of the step in which the call began",
      Fold::kKey}},
    {"rank",
     OperatorKey::kRank,
     {"rank", "Rank", "", FieldType::kText, 6, "rank of the process", Fold::kKey}},
};

}  // namespace

std::span<const Field> OperatorsFields() { return kOperatorFields; }

std::vector<OperatorKey> OperatorKeysOf(const std::vector<std::string>& by) {
  std::vector<OperatorKey> keys;
  for (const std::string& word : by) {
    const auto* known =
        std::find_if(std::begin(kOperatorFieldsKeyWords), std::end(kOperatorFieldsKeyWords),
                     [&](const OperatorFieldsKeyWord& one) { return one.word == word; });
    if (known == std::end(kOperatorFieldsKeyWords)) {
      throw UsageError(fmt::format(
          "--by {}: the view operators is split by shape, layer, stack, phase, step, rank", word));
    }
    if (std::find(keys.begin(), keys.end(), known->key) == keys.end()) keys.push_back(known->key);
  }
  return keys;
}

const Field& FieldOf(OperatorKey key) {
  const auto* known =
      std::find_if(std::begin(kOperatorFieldsKeyWords), std::end(kOperatorFieldsKeyWords),
                   [&](const OperatorFieldsKeyWord& one) { return one.key == key; });
  return known->field;
}

}  // namespace oplens::prof

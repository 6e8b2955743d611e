#include "prof/views/event_fields.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

#include "base/error.h"
#include "prof/views/time_keys.h"

namespace oplens::prof {
namespace {

constexpr Field kEventFields[] = {
    {"name", "Name", "", FieldType::kText, Field::kShared,
     "of a call the operator, of a device event the kernel, copy or fill", Fold::kKey},
    {"kind", "Kind", "", FieldType::kText, 6, "call or device", Fold::kKey},
    {"calls", "Calls", "", FieldType::kInteger, 8, "calls, or device events", Fold::kSum},
    {"host_self_ns", "HostSelf(ns)", "ns", FieldType::kInteger, 13,
     "time of its calls on the host without that in which calls inside ran", Fold::kSum},
    {"host_total_ns", "HostTotal(ns)", "ns", FieldType::kInteger, 13,
     "time of its calls on the host: the sum of their lengths", Fold::kNone},
    {"device_self_ns", "DevSelf(ns)", "ns", FieldType::kInteger, 13,
     "durations of the device events that its calls launched themselves, or of the device events",
     Fold::kNone},
    {"device_total_ns", "DevTotal(ns)", "ns", FieldType::kInteger, 13,
     "the same with those of calls inside, for each call", Fold::kNone},
    {"host_self_bytes", "HostSelf(B)", "B", FieldType::kInteger, 13,
     "memory of the host taken less given back in its calls, not in calls inside", Fold::kSum},
    {"host_total_bytes", "HostTotal(B)", "B", FieldType::kInteger, 13,
     "the same with calls inside, for each call", Fold::kNone},
    {"device_self_bytes", "DevSelf(B)", "B", FieldType::kInteger, 13,
     "memory of devices taken less given back in its calls, not in calls inside", Fold::kSum},
    {"device_total_bytes", "DevTotal(B)", "B", FieldType::kInteger, 13,
     "the same with calls inside, for each call", Fold::kNone},
};
constexpr size_t kKeyCount = 2;

constexpr Field kShapeField = {"shape",
                               "Shape",
                               "",
                               FieldType::kText,
                               Field::kShared,
                               "extents of the arguments: [[2, 3], []]; [] of what is no tensor",
                               Fold::kKey};
constexpr Field kStackField = {
    "stack",   "Stack", "", FieldType::kText, Field::kShared, "call stack, outermost frame first",
    Fold::kKey};

}  // namespace

EventPlan::EventPlan(const ViewOptions& options, const EventRules& rules)
    : sort(rules.table != nullptr ? options.sort : std::string()), top(options.top) {
  for (const std::string& word : options.by) {
    bool* const asked = word == "shape"   ? &shape
                        : word == "stack" ? &stack
                        : word == "rank"  ? &rank
                        : word == "call"  ? &call
                        : word == "total" ? &total
                                          : nullptr;
    const bool known = std::find(rules.by.begin(), rules.by.end(), word) != rules.by.end();
    if (asked == nullptr || !known) {
      throw UsageError(
          fmt::format("--by {}: the view events takes shape, stack and rank; with "
                      "--compat torch-legacy rank, call and total",
                      word));
    }
    *asked = true;
  }
  if (call && total) throw UsageError("--by: the view events takes call or total, not both");
}

std::vector<Field> FieldsOf(const EventPlan& plan) {
  std::vector<Field> fields(std::begin(kEventFields), std::begin(kEventFields) + kKeyCount);
  if (plan.shape) fields.push_back(kShapeField);
  if (plan.stack) fields.push_back(kStackField);
  if (plan.rank) fields.push_back(kRankField);
  fields.insert(fields.end(), std::begin(kEventFields) + kKeyCount, std::end(kEventFields));
  return fields;
}

std::span<const Field> EventsFields() { return kEventFields; }

}  // namespace oplens::prof

#include "prof/views/modules.h"

namespace oplens::prof {
namespace {

constexpr Field kModuleFields[] = {
    {"path", "Path", "", FieldType::kText, Field::kShared,
     "the module with those that it is in, outermost first, joined by /", Fold::kKey},
    {"name", "Name", "", FieldType::kText, 24, "its own name, as recorded", Fold::kNone},
    {"level", "Level", "", FieldType::kInteger, 5, "modules that it is in", Fold::kNone},
    {"calls", "Calls", "", FieldType::kInteger, 8,
     "calls of the module, those that run again in the backward pass included", Fold::kSum},
    {"wall_ns", "Wall(ns)", "ns", FieldType::kInteger, 13, "sum of the lengths of these calls",
     Fold::kNone},
    {"ops", "Ops", "", FieldType::kInteger, 8, "calls of operators in it and in no module inside",
     Fold::kSum},
    {"device_self_ns", "DevSelf(ns)", "ns", FieldType::kInteger, 13,
     "sum of the durations of the device events that these launched, outside of the backward pass",
     Fold::kSum},
    {"device_total_ns", "DevTotal(ns)", "ns", FieldType::kInteger, 13,
     "device_self_ns of it and of all modules inside", Fold::kNone},
    {"host_self_ns", "HostSelf(ns)", "ns", FieldType::kInteger, 13,
     "their time on the host, each without that of calls inside, outside of the backward pass",
     Fold::kSum},
    {"host_total_ns", "HostTotal(ns)", "ns", FieldType::kInteger, 13,
     "host_self_ns of it and of all modules inside", Fold::kNone},
    {"bwd_device_self_ns", "BwdDevSelf(ns)", "ns", FieldType::kInteger, 14,
     "as device_self_ns, in the backward pass", Fold::kSum},
    {"bwd_device_total_ns", "BwdDevTotal(ns)", "ns", FieldType::kInteger, 15,
     "bwd_device_self_ns of it and of all modules inside", Fold::kNone},
    {"bwd_host_self_ns", "BwdHostSelf(ns)", "ns", FieldType::kInteger, 15,
     "as host_self_ns, in the backward pass", Fold::kSum},
    {"bwd_host_total_ns", "BwdHostTotal(ns)", "ns", FieldType::kInteger, 16,
     "bwd_host_self_ns of it and of all modules inside", Fold::kNone},
    {"comm_self_ns", "CommSelf(ns)", "ns", FieldType::kInteger, 13,
     "sum of the durations of the kernels that communicate, in both passes; the times above are "
     "without them",
     Fold::kSum},
    {"comm_total_ns", "CommTotal(ns)", "ns", FieldType::kInteger, 13,
     "comm_self_ns of it and of all modules inside", Fold::kNone},
    {"collectives", "Collectives", "", FieldType::kInteger, 11, "kernels of comm_self_ns",
     Fold::kSum},
    {"launches", "Launches", "", FieldType::kInteger, 8,
     "device events of device_self_ns and bwd_device_self_ns", Fold::kSum},
    {"flops", "FLOPs", "FLOP", FieldType::kInteger, 18,
     "of the kernels among them whose FLOPs are known", Fold::kSum},
    {"bytes", "Bytes", "B", FieldType::kInteger, 16,
     "of the kernels among them whose bytes are known", Fold::kSum},
    {"alloc_bytes", "Alloc(B)", "B", FieldType::kInteger, 14,
     "device memory that the framework gave out while it ran and no module inside did", Fold::kSum},
    {"freed_bytes", "Freed(B)", "B", FieldType::kInteger, 14,
     "the same of memory that was given back", Fold::kSum},
    {"tc_self_pct", "TCSelf(%)", "%", FieldType::kDecimal, 8,
     "time of kernels that use Tensor Cores / that of kernels of which it is known, * 100; of the "
     "kernels among launches",
     Fold::kNone},
};

}  // namespace

std::span<const Field> ModulesFields() { return kModuleFields; }

}  // namespace oplens::prof

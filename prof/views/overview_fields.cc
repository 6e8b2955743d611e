#include "prof/views/overview.h"

namespace oplens::prof {
namespace {

using enum FieldType;
constexpr int kOverviewFieldsWidth = 13;

constexpr Field kOverviewFields[] = {
    {"rank", "Rank", "", FieldType::kText, 4, "rank", Fold::kKey},
    {"step",
     "Step",
     "",
     FieldType::kText,
     6,
     "number of the step; mean: of whole steps, if any",
     Fold::kKey,
     {},
     {},
     "mean"},
    {"state", "State", "", FieldType::kText, 5,
     "whole; cut: never closed, or at the end with less than 80 % of the GPU work of the one "
     "before"},
    {"start_ns", "Start(ns)", "ns", kInteger, kOverviewFieldsWidth,
     "start of the span, from the rank's first event", Fold::kMin},
    {"total_ns", "Total(ns)", "ns", kInteger, kOverviewFieldsWidth,
     "length of the span = kernel + memcpy + memset + comm + runtime + dataloader + cpu + other",
     Fold::kSum},
    {"host_ns", "Host(ns)", "ns", kInteger, kOverviewFieldsWidth, "length on the host", Fold::kSum},
    {"kernel_ns", "Kernel(ns)", "ns", kInteger, kOverviewFieldsWidth,
     "a compute kernel or a graph's replay runs", Fold::kSum},
    {"memcpy_ns", "Memcpy(ns)", "ns", kInteger, kOverviewFieldsWidth, "else a copy", Fold::kSum},
    {"memset_ns", "Memset(ns)", "ns", kInteger, kOverviewFieldsWidth, "else a fill", Fold::kSum},
    {"comm_ns", "Comm(ns)", "ns", kInteger, kOverviewFieldsWidth, "else a communication kernel",
     Fold::kSum},
    {"runtime_ns", "Runtime(ns)", "ns", kInteger, kOverviewFieldsWidth,
     "else an API call (runtime or driver)", Fold::kSum},
    {"dataloader_ns", "DataLoader(ns)", "ns", kInteger, kOverviewFieldsWidth,
     "else the data loader", Fold::kSum},
    {"cpu_ns", "CPU(ns)", "ns", kInteger, kOverviewFieldsWidth,
     "else a call or an annotation of a host thread", Fold::kSum},
    {"other_ns", "Other(ns)", "ns", kInteger, kOverviewFieldsWidth, "none of them", Fold::kSum},
    {"kernel_exposed_ns", "KernelExposed(ns)", "ns", kInteger, kOverviewFieldsWidth,
     "compute kernels run, and nothing else of the GPUs", Fold::kSum},
    {"memcpy_exposed_ns", "MemcpyExposed(ns)", "ns", kInteger, kOverviewFieldsWidth,
     "copies run, and nothing else of the GPUs", Fold::kSum},
    {"memset_exposed_ns", "MemsetExposed(ns)", "ns", kInteger, kOverviewFieldsWidth,
     "fills run, and nothing else of the GPUs", Fold::kSum},
    {"comm_exposed_ns", "CommExposed(ns)", "ns", kInteger, kOverviewFieldsWidth,
     "communication runs, and nothing else of the GPUs", Fold::kSum},
    {"runtime_exposed_ns", "RuntimeExposed(ns)", "ns", kInteger, kOverviewFieldsWidth,
     "API calls run, and nothing of the GPUs", Fold::kSum},
    {"dataloader_exposed_ns", "LoaderExposed(ns)", "ns", kInteger, kOverviewFieldsWidth,
     "the data loader runs, and nothing of the GPUs", Fold::kSum},
    {"cpu_exposed_ns", "CPUExposed(ns)", "ns", kInteger, kOverviewFieldsWidth,
     "calls or annotations of host threads run, and nothing of the GPUs", Fold::kSum},
    {"kernel_hidden_ns", "KernelHidden(ns)", "ns", kInteger, kOverviewFieldsWidth,
     "compute kernels run, less kernel_exposed_ns", Fold::kSum},
    {"memcpy_hidden_ns", "MemcpyHidden(ns)", "ns", kInteger, kOverviewFieldsWidth,
     "copies run, less memcpy_exposed_ns", Fold::kSum},
    {"memset_hidden_ns", "MemsetHidden(ns)", "ns", kInteger, kOverviewFieldsWidth,
     "fills run, less memset_exposed_ns", Fold::kSum},
    {"comm_hidden_ns", "CommHidden(ns)", "ns", kInteger, kOverviewFieldsWidth,
     "communication runs, less comm_exposed_ns", Fold::kSum},
    {"runtime_hidden_ns", "RuntimeHidden(ns)", "ns", kInteger, kOverviewFieldsWidth,
     "API calls run, less runtime_exposed_ns", Fold::kSum},
    {"dataloader_hidden_ns", "LoaderHidden(ns)", "ns", kInteger, kOverviewFieldsWidth,
     "the data loader runs, less dataloader_exposed_ns", Fold::kSum},
    {"cpu_hidden_ns", "CPUHidden(ns)", "ns", kInteger, kOverviewFieldsWidth,
     "calls or annotations of host threads run, less cpu_exposed_ns", Fold::kSum},
    AsRatio({"busy_pct", "Busy(%)", "%", FieldType::kDecimal, 8,
             "100 x time of any GPU work / total_ns"},
            {"kernel_ns+memcpy_ns+memset_ns+comm_ns", "total_ns", 100}),
    {"mfu_pct", "MFU(%)", "%", FieldType::kDecimal, 8,
     "100 x sum of FLOPs / peak rate over the products launched in the step / (total_ns x GPUs)"},
};

}  // namespace

std::span<const Field> OverviewFields() { return kOverviewFields; }

}  // namespace oplens::prof

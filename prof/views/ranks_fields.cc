#include "prof/views/ranks.h"
#include "prof/views/time_keys.h"

namespace oplens::prof {
namespace {

using enum FieldType;

constexpr Field kRanksFields[] = {
    kRankField,
    {"node", "Node", "", FieldType::kText, 6,
     "number of the node that it ran on, where the file tells it; h0: the first host by rank, "
     "where its name alone is told",
     Fold::kNone},
    {"stage", "Stage", "", kInteger, 5, "its stage of the pipeline, from 0", Fold::kNone},
    {"place", "Place", "", FieldType::kName, 20,
     "where it is in its process groups: data 3/8, tensor 0/2", Fold::kNone},
    {"place_by", "By", "", FieldType::kText, 8,
     "told: by what the program calls the groups; inferred: by their ranks and what they do",
     Fold::kNone},
    {"steps", "Steps", "", kInteger, 6,
     "steps that the times are of: those that are whole, all where none is", Fold::kSum},
    AsRatio({"step_ns", "Step(ns)", "ns", FieldType::kDecimal, 13,
             "total_ns / steps: a step with the device work of it", Fold::kNone},
            {"total_ns", "steps", 1}),
    {"total_ns", "Total(ns)", "ns", kInteger, 13, "sum of the lengths of these steps", Fold::kSum},
    {"busy_ns", "Busy(ns)", "ns", kInteger, 13, "of it, any work of the GPUs runs", Fold::kSum},
    {"compute_ns", "Compute(ns)", "ns", kInteger, 13,
     "of it, compute kernels or replays of graphs run", Fold::kSum},
    {"communication_ns", "Comm(ns)", "ns", kInteger, 13,
     "of it, communication runs and no compute: exposed", Fold::kSum},
    AsRatio({"busy_pct", "Busy(%)", "%", FieldType::kDecimal, 8, "100 x busy_ns / total_ns",
             Fold::kNone},
            {"busy_ns", "total_ns", 100}),
    AsRatio({"communication_pct", "Comm(%)", "%", FieldType::kDecimal, 8,
             "100 x communication_ns / total_ns", Fold::kNone},
            {"communication_ns", "total_ns", 100}),
    {"collectives", "Calls", "", kInteger, 7, "calls of collectives launched in these steps",
     Fold::kSum},
    {"wait_ns", "Wait(ns)", "ns", kInteger, 13,
     "sum of what they waited for the rank that came last; unknown where none of them was found on "
     "another rank",
     Fold::kSum},
    {"peak_bytes", "Peak(B)", "B", kInteger, 13,
     "the most memory that the framework had allocated on a GPU", Fold::kMax},
    {"kernels", "Kernels", "", kInteger, 8, "kernels of the rank, in steps or not", Fold::kSum},
    {"kernel_ns", "KernelSum(ns)", "ns", kInteger, 13, "sum of their times", Fold::kSum},
};

}  // namespace

std::span<const Field> RanksFields() { return kRanksFields; }

}  // namespace oplens::prof

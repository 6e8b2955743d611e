#include "prof/views/imbalance.h"

namespace oplens::prof {
namespace {

using enum FieldType;

constexpr Field kImbalanceFields[] = {
    {"what", "What", "", FieldType::kText, 8,
     "stages: compute of the stages of the pipeline; experts: kernels of experts and of routing to "
     "them, of the ranks of a group",
     Fold::kKey},
    {"group", "Group", "", FieldType::kText, 7, "name of the process group of the experts",
     Fold::kKey},
    {"first_rank", "First", "", kInteger, 6, "its first rank, where its ranks are known",
     Fold::kKey},
    {"members", "Members", "", kInteger, 7, "stages, or ranks of the group at hand", Fold::kNone},
    {"most", "Most", "", FieldType::kText, 6, "the stage or rank with the most work", Fold::kNone},
    {"steps", "Steps", "", kInteger, 6, "whole steps that two members or more have", Fold::kNone},
    {"max_ns", "Max(ns)", "ns", kInteger, 13,
     "sum over the steps of the time of the member that has most in it", Fold::kSum},
    {"mean_ns", "Mean(ns)", "ns", kInteger, 13, "the same of the mean of the members", Fold::kSum},
    {"ratio", "Max/Mean", "", FieldType::kDecimal, 9, "max_ns / mean_ns: 1 is even", Fold::kNone},
    {"saved_ns", "Saved(ns)", "ns", kInteger, 13,
     "max_ns - mean_ns: the most that perfect balance can save, if all wait for the most loaded",
     Fold::kSum},
    {"total_ns", "Total(ns)", "ns", kInteger, 13, "sum of the lengths of these steps", Fold::kSum},
    {"saved_pct", "Saved(%)", "%", FieldType::kDecimal, 8, "100 x saved_ns / total_ns",
     Fold::kNone},
    {"max_bytes", "Max(B)", "B", kInteger, 13,
     "the most that a rank of the group sends by all_to_all", Fold::kSum},
    {"mean_bytes", "Mean(B)", "B", kInteger, 13, "the same of the mean rank", Fold::kSum},
};

}  // namespace

std::span<const Field> ImbalanceFields() { return kImbalanceFields; }

}  // namespace oplens::prof

#include "prof/views/collective_fields.h"

#include "prof/views/time_keys.h"

namespace oplens::prof {
namespace {

constexpr Field kKind = {
    "kind",
    "Kind",
    "",
    FieldType::kText,
    14,
    "all_reduce, all_gather, reduce_scatter, all_to_all, broadcast, reduce, gather, scatter, send, "
    "recv, send_recv (a kernel of either), barrier, unknown",
    Fold::kKey};
constexpr Field kGroup = {"group",
                          "Group",
                          "",
                          FieldType::kText,
                          7,
                          "name of the process group; empty where it is "
                          "not recorded",
                          Fold::kKey};
constexpr Field kRanks = {
    "ranks", "Ranks", "", FieldType::kName, 12, "its ranks, as recorded: [0, 1]", Fold::kKey};
constexpr Field kGroupSize = {"group_size",
                              "GroupSize",
                              "",
                              FieldType::kInteger,
                              9,
                              "ranks of the group, as recorded; without any group those of the "
                              "run, where all of them have the call",
                              Fold::kKey};
constexpr Field kGroupKind = {"group_kind",
                              "GroupKind",
                              "",
                              FieldType::kText,
                              9,
                              "what the group shares: world, data, tensor, pipeline, expert, "
                              "context; by its description, else by its ranks and use",
                              Fold::kKey};
constexpr Field kDtype = {"dtype", "DType", "", FieldType::kText, 6, "data type", Fold::kKey};
constexpr Field kSize = {
    "size_bytes",
    "Size(B)",
    "B",
    FieldType::kInteger,
    11,
    "of the message: of all_gather and gather the whole output, of reduce_scatter and scatter the "
    "whole input, of all_to_all what the rank sends, of others the buffer; a barrier has none",
    Fold::kKey};

constexpr Field kCollectiveFieldsCallFields[] = {
    kRankField,
    kStepField,
    {"start_ns", "Start(ns)", "ns", FieldType::kInteger, 13,
     "of its first kernel, or of the host's range, from the first event of the rank", Fold::kKey},
    kKind,
    kGroup,
    kRanks,
    kGroupSize,
    {"seq", "Seq", "", FieldType::kInteger, 6, "its number in the group, where that is recorded",
     Fold::kKey},
    kDtype,
    {"size_bytes", "Size(B)", "B", FieldType::kInteger, 11, kSize.help, Fold::kSum},
    {"time", "Time", "", FieldType::kText, 7,
     "what its times are of: kernel; host, the range of a library that works on the host; enqueue, "
     "the host's call alone, which does not tell how long the work took",
     Fold::kKey},
    {"latency_ns", "Latency(ns)", "ns", FieldType::kInteger, 12,
     "time in which its kernels ran, or the length of the host's range; = wait_ns + transfer_ns; "
     "unknown of enqueue",
     Fold::kSum},
    {"wait_ns", "Wait(ns)", "ns", FieldType::kInteger, 12,
     "latency_ns - transfer_ns: it waited for the rank that came last", Fold::kSum},
    {"transfer_ns", "Transfer(ns)", "ns", FieldType::kInteger, 12,
     "the shortest latency of the ranks that have the call; unknown where none was found on "
     "another",
     Fold::kSum},
    {"exposed_ns", "Exposed(ns)", "ns", FieldType::kInteger, 12,
     "of latency_ns the time in which the rank computes nothing", Fold::kSum},
    AsRatio({"algo_gbps", "Algo(GB/s)", "GB/s", FieldType::kDecimal, 10,
             "size_bytes / transfer_ns; unknown where that is", Fold::kNone},
            {"size_bytes", "transfer_ns", 1}),
    {"bus_gbps", "Bus(GB/s)", "GB/s", FieldType::kDecimal, 10,
     "algo_gbps x 2 (n - 1) / n for all_reduce, (n - 1) / n for all_gather, reduce_scatter, "
     "all_to_all, gather, scatter, 1 for broadcast, reduce, send, recv; n = group_size",
     Fold::kNone},
    AsRatio(
        {"seen_gbps", "Seen(GB/s)", "GB/s", FieldType::kDecimal, 10,
         "size_bytes / latency_ns: with what it waited, so no more than algo_gbps", Fold::kNone},
        {"size_bytes", "latency_ns", 1}),
    {"matched_ranks", "Matched", "", FieldType::kInteger, 7,
     "ranks that have the call, this one too", Fold::kMax},
    {"match", "Match", "", FieldType::kText, 9,
     "how it was found on them: sequence, order, alone (a group of one rank), or unmatched",
     Fold::kKey},
    {"clock_ns", "Clock(ns)", "ns", FieldType::kInteger, 10,
     "how far this rank's clock is ahead of that of the first rank when the call ends: the median "
     "of how much later calls of the group end on it, with the drift where that shows; where both "
     "files tell the time of day",
     Fold::kNone},
    {"residual_ns", "Residual(ns)", "ns", FieldType::kInteger, 12,
     "how much later than on the first rank the call ended, clocks set right: ranks that end a "
     "collective together differ by no more than clocks and the profiler do",
     Fold::kNone},
    {"arrival_ns", "Arrival(ns)", "ns", FieldType::kInteger, 12,
     "how much later than on the rank that came first the call began, clocks set right; unknown "
     "where no calls of the group set them",
     Fold::kNone},
    {"last_rank", "Last", "", FieldType::kText, 5, "the rank that came last", Fold::kNone},
    {"last_by_ns", "LastBy(ns)", "ns", FieldType::kInteger, 11,
     "how much later it came than the one before it", Fold::kNone},
    {"last_op", "LastOp", "", FieldType::kText, 20,
     "what the GPUs of the rank that came last mostly ran since its call before: the op, of a "
     "kernel without one the kernel's name; unknown where they computed nothing",
     Fold::kNone},
    {"last_layer", "LastLayer", "", FieldType::kName, 16, "the layer of that", Fold::kNone},
    {"last_idle_pct", "LastIdle(%)", "%", FieldType::kDecimal, 11,
     "share of the time between these two calls in which its GPUs computed nothing", Fold::kNone},
};

constexpr Field kCollectiveFieldsSumFields[] = {
    {"calls", "Calls", "", FieldType::kInteger, 7, "calls, each on one rank", Fold::kSum},
    {"matched_calls", "Matched", "", FieldType::kInteger, 7,
     "of these the ones whose waiting is known", Fold::kSum},
    {"total_bytes", "Bytes(B)", "B", FieldType::kInteger, 13,
     "sum of the sizes that are known; unknown where none is", Fold::kSum},
    {"latency_ns", "Latency(ns)", "ns", FieldType::kInteger, 13,
     "sum of the latencies that are known = wait_ns + transfer_ns + unmatched_ns", Fold::kSum},
    {"wait_ns", "Wait(ns)", "ns", FieldType::kInteger, 13,
     "sum of the matched calls; unknown where none is", Fold::kSum},
    {"transfer_ns", "Transfer(ns)", "ns", FieldType::kInteger, 13, "the same", Fold::kSum},
    {"unmatched_ns", "Unmatched(ns)", "ns", FieldType::kInteger, 13,
     "sum of the latencies of the others", Fold::kSum},
    {"exposed_ns", "Exposed(ns)", "ns", FieldType::kInteger, 13,
     "sum of the times that are known in which the rank computes nothing", Fold::kSum},
    {"algo_gbps", "Algo(GB/s)", "GB/s", FieldType::kDecimal, 10,
     "bytes / transfer time of the matched calls of known size", Fold::kNone},
    {"bus_gbps", "Bus(GB/s)", "GB/s", FieldType::kDecimal, 10,
     "the same with each call's bytes times its factor (prof -h --view collectives)", Fold::kNone},
    {"seen_gbps", "Seen(GB/s)", "GB/s", FieldType::kDecimal, 10,
     "bytes / latency of the calls of known size and latency", Fold::kNone},
};

}  // namespace

std::span<const Field> CollectiveCallFields() { return kCollectiveFieldsCallFields; }

std::vector<Field> CollectiveKeyFields(std::string_view word) {
  if (word == "rank") return {kRankField};
  if (word == "step") return {kStepField};
  if (word == "kind") return {kKind};
  if (word == "group") return {kGroup, kRanks, kGroupSize};
  if (word == "group_kind") return {kGroupKind};
  if (word == "dtype") return {kDtype};
  if (word == "size") return {kSize};
  return {};
}

std::string_view ShownDType(ops::DType dtype) {
  return dtype == ops::DType::kUnknown ? std::string_view() : ops::DTypeWord(dtype);
}

std::span<const Field> CollectiveSumFields() { return kCollectiveFieldsSumFields; }

}  // namespace oplens::prof

#include "prof/run/collective_kind.h"

#include <algorithm>
#include <string>

#include "base/ascii.h"
#include "base/checked.h"

namespace oplens::prof {
namespace {

struct CollectiveKindWord {
  std::string_view word;
  CollectiveKind kind;
};

// Searched in the name without case and '_'; the first match decides.
constexpr CollectiveKindWord kCollectiveKindWords[] = {
    {"wait", CollectiveKind::kWait},           {"barrier", CollectiveKind::kBarrier},
    {"allreduce", CollectiveKind::kAllReduce}, {"reducescatter", CollectiveKind::kReduceScatter},
    {"allgather", CollectiveKind::kAllGather}, {"alltoall", CollectiveKind::kAllToAll},
    {"broadcast", CollectiveKind::kBroadcast}, {"bcast", CollectiveKind::kBroadcast},
    {"gather", CollectiveKind::kGather},       {"scatter", CollectiveKind::kScatter},
    {"reduce", CollectiveKind::kReduce},       {"sendrecv", CollectiveKind::kSendRecv},
    {"send", CollectiveKind::kSend},           {"recv", CollectiveKind::kRecv},
    {"dispatch", CollectiveKind::kAllToAll},   {"combine", CollectiveKind::kAllToAll},
};

int64_t CollectiveKindTimes(int64_t elements, int64_t ranks) {
  if (elements < 0 || ranks <= 0) return -1;
  return (Checked(elements) * ranks).Value().value_or(-1);
}

}  // namespace

std::string_view CollectiveWord(CollectiveKind kind) {
  constexpr std::string_view kNames[] = {
      "unknown", "all_reduce", "all_gather", "reduce_scatter", "all_to_all", "broadcast", "reduce",
      "gather",  "scatter",    "send",       "recv",           "send_recv",  "barrier",   "wait"};
  return kNames[static_cast<size_t>(kind)];
}

CollectiveKind KindOfCollective(std::string_view name) {
  // "nccl:send 0->1"
  name = name.substr(0, name.find(' '));
  std::string plain;
  for (const char c : name) {
    if (c != '_') plain += ToLower(c);
  }
  for (const CollectiveKindWord& word : kCollectiveKindWords) {
    if (plain.find(word.word) != std::string::npos) return word.kind;
  }
  return CollectiveKind::kUnknown;
}

CollectiveKind KindOfKernel(ops::CommunicationKind kind) {
  switch (kind) {
    case ops::CommunicationKind::kAllReduce:
      return CollectiveKind::kAllReduce;
    case ops::CommunicationKind::kAllGather:
      return CollectiveKind::kAllGather;
    case ops::CommunicationKind::kReduceScatter:
      return CollectiveKind::kReduceScatter;
    case ops::CommunicationKind::kAllToAll:
      return CollectiveKind::kAllToAll;
    case ops::CommunicationKind::kSendRecv:
      return CollectiveKind::kSendRecv;
    case ops::CommunicationKind::kBroadcast:
      return CollectiveKind::kBroadcast;
    case ops::CommunicationKind::kReduce:
      return CollectiveKind::kReduce;
    case ops::CommunicationKind::kBarrier:
      return CollectiveKind::kBarrier;
    case ops::CommunicationKind::kOther:
      return CollectiveKind::kUnknown;
  }
  return CollectiveKind::kUnknown;
}

std::optional<double> BusFactor(CollectiveKind kind, int64_t ranks) {
  if (ranks >= 0 && ranks < 2) return std::nullopt;
  const auto n = static_cast<double>(ranks);
  switch (kind) {
    case CollectiveKind::kAllReduce:
      return ranks < 0 ? std::nullopt : std::optional(2 * (n - 1) / n);
    case CollectiveKind::kAllGather:
    case CollectiveKind::kReduceScatter:
    case CollectiveKind::kAllToAll:
    case CollectiveKind::kGather:
    case CollectiveKind::kScatter:
      return ranks < 0 ? std::nullopt : std::optional((n - 1) / n);
    case CollectiveKind::kBroadcast:
    case CollectiveKind::kReduce:
    case CollectiveKind::kSend:
    case CollectiveKind::kRecv:
      return 1;
    default:
      return std::nullopt;
  }
}

int64_t MessageElements(CollectiveKind kind, const CollectiveElements& elements, int64_t ranks) {
  const auto [input, output] = elements;
  switch (kind) {
    case CollectiveKind::kBarrier:
      return -1;
    case CollectiveKind::kAllToAll:
      return input >= 0 ? input : output;
    case CollectiveKind::kAllGather:
    case CollectiveKind::kGather:
      return output > 0 ? std::max(input, output) : CollectiveKindTimes(input, ranks);
    case CollectiveKind::kReduceScatter:
    case CollectiveKind::kScatter:
      return input > 0 ? std::max(input, output) : CollectiveKindTimes(output, ranks);
    default:
      return std::max(input, output);
  }
}

}  // namespace oplens::prof

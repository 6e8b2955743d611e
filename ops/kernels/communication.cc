#include "ops/kernels/communication.h"

#include <re2/re2.h>

namespace oplens::ops {
namespace {

// First match wins; in the order in which they are likely.
constexpr std::string_view kKernelRules[] = {
    "(?i)nccl",        "(?i)rccl",        "(?i)msccl",           "(?i)nvshmem",
    "(?i)oneccl",      "(?i)hccl",        "(?i)deep_?ep",        "(?i)cross_device_reduce",
    "(?i)all_?reduce", "(?i)all_?gather", "(?i)reduce_?scatter", "(?i)all_?to_?all",
    "(?i)send_?recv",
};

constexpr std::string_view kRangeRules[] = {
    "^c10d::",
    "^record_param_comms$",
    "^(nccl|gloo|ucc|mpi|xccl):",
};

}  // namespace

bool IsCommunicationKernel(std::string_view name) {
  static const auto* const rules = new re2::RE2([] {
    std::string all;
    for (const std::string_view rule : kKernelRules) {
      if (!all.empty()) all += '|';
      all += rule;
    }
    return all;
  }());
  return re2::RE2::PartialMatch(re2::StringPiece(name.data(), name.size()), *rules);
}

bool IsCommunicationRange(std::string_view name) {
  static const auto* const rules = new re2::RE2([] {
    std::string all;
    for (const std::string_view rule : kRangeRules) {
      if (!all.empty()) all += '|';
      all += rule;
    }
    return all;
  }());
  return re2::RE2::PartialMatch(re2::StringPiece(name.data(), name.size()), *rules);
}

}  // namespace oplens::ops

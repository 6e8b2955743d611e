#include "prof/views/repetition.h"

#include <functional>
#include <string_view>

namespace oplens::prof {
namespace {

uint64_t WhatOf(const KernelRecord& record) {
  const std::string_view name = record.long_name.empty() ? record.short_name : record.long_name;
  uint64_t hash = std::hash<std::string_view>{}(name);
  for (const int64_t blocks : {record.grid.x, record.grid.y, record.grid.z}) {
    hash = Mixed(hash, blocks);
  }
  return hash;
}

}  // namespace

void RepetitionFinder::Stop() {
  stopped_ = true;
  kernels_ = {};
  durations_ns_ = {};
  kinds_ = {};
  kind_of_ = {};
}

void RepetitionFinder::Add(const KernelRecord& record, uint32_t group) {
  if (stopped_) return;
  const std::string_view rank = record.rank.value_or(std::string_view());
  if (kernels_.empty()) {
    rank_ = rank;
    device_id_ = record.device_id;
  }
  if (rank_ != rank || device_id_ != record.device_id || kernels_.size() >= kMaxKernels) {
    return Stop();
  }
  const Kind kind{WhatOf(record), group};
  const auto next = static_cast<uint32_t>(kinds_.size());
  const uint32_t number =
      kind_of_.FindOrInsert(static_cast<int64_t>(Mixed(kind.what, kind.group)), next);
  if (number == next) kinds_.push_back(kind);
  kernels_.push_back(number);
  durations_ns_.push_back(record.timed() ? record.duration_ns : 0);
}

std::optional<Repetition> RepetitionFinder::Find() const {
  std::vector<uint64_t> whats;
  whats.reserve(kernels_.size());
  for (const uint32_t kind : kernels_) whats.push_back(kinds_[kind].what);
  return FindRepetition(whats);
}

}  // namespace oplens::prof

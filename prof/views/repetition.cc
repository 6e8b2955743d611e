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
  whats_ = {};
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
  whats_.push_back(WhatOf(record));
  kernels_.push_back({record.timed() ? record.duration_ns : 0, group});
}

std::optional<Repetition> RepetitionFinder::Find() const { return FindRepetition(whats_); }

}  // namespace oplens::prof

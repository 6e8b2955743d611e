#include "prof/views/common/repetition.h"

#include <functional>
#include <string_view>

#include "base/free_memory.h"
#include "base/hash.h"

namespace oplens::prof {

uint64_t RepetitionFinder::WhatOf(const KernelRecord& record) {
  const std::string_view name = record.long_name.empty() ? record.short_name : record.long_name;
  uint64_t hash = TextHash{}(name);
  for (const int64_t blocks : {record.grid.x, record.grid.y, record.grid.z}) {
    hash = MixHash(hash, blocks);
  }
  return hash;
}

void RepetitionFinder::Stop() {
  stopped_ = true;
  FreeMemory(&kernels_);
  FreeMemory(&durations_ns_);
  FreeMemory(&whats_);
  FreeMemory(&kind_groups_);
  kind_of_ = {};
}

bool RepetitionFinder::Takes(const KernelRecord& record) {
  const std::string_view rank = record.rank.value_or(std::string_view());
  if (kernels_.empty()) {
    rank_ = rank;
    device_id_ = record.device_id;
  }
  if (rank_ != rank || device_id_ != record.device_id || kernels_.size() >= kMaxKernels) {
    Stop();
  }
  return !stopped_;
}

uint32_t RepetitionFinder::Add(const KernelRecord& record, uint32_t group, size_t place) {
  if (stopped_) return kNone;
  groups_[place] = group;
  if (place + 1 < groups_.size() || !Takes(record)) return kNone;
  const uint64_t what = WhatOf(record);
  uint64_t hash = what;
  for (const uint32_t one : groups_) hash = MixHash(hash, one);
  const auto next = static_cast<uint32_t>(whats_.size());
  const uint32_t number = kind_of_.FindOrInsert(static_cast<int64_t>(hash), next);
  if (number == next) {
    whats_.push_back(what);
    kind_groups_.insert(kind_groups_.end(), groups_.begin(), groups_.end());
  }
  kernels_.push_back(number);
  durations_ns_.push_back(record.timed() ? record.duration_ns : 0);
  return number;
}

void RepetitionFinder::AddAlike(const KernelRecord& record, uint32_t kind) {
  if (stopped_ || kind == kNone || !Takes(record)) return;
  kernels_.push_back(kind);
  durations_ns_.push_back(record.timed() ? record.duration_ns : 0);
}

std::optional<Repetition> RepetitionFinder::Find() {
  if (searched_) return found_;
  std::vector<uint64_t> whats;
  whats.reserve(kernels_.size());
  for (const uint32_t kind : kernels_) whats.push_back(whats_[kind]);
  found_ = FindRepetition(whats);
  searched_ = true;
  return found_;
}

}  // namespace oplens::prof

#include "prof/price/group_instances.h"

#include <algorithm>
#include <cstddef>
#include <optional>
#include <string_view>

#include "base/hash.h"
#include "ops/kernels/kernel_name.h"

namespace oplens::prof {
namespace {

/// cudaGraphLaunch, cuGraphLaunch, hipGraphLaunch, with any suffix.
bool IsGraphLaunch(const KernelRecord& record) {
  return record.launch_api && record.launch_api->find("GraphLaunch") != std::string_view::npos;
}

constexpr size_t kMaxSolo = 16384;

/// The gradient that a kernel is known to compute.
std::optional<ops::Part> PartOf(const WaitingRow& row) {
  const auto& gradient = row.resolution.gradient;
  return gradient ? std::optional(gradient->part) : std::nullopt;
}

void Charge(const ops::KernelShare& share, WaitingRow* waiting) {
  PricedKernel* const row = &waiting->row;
  row->share = share;
  const Direction direction = PricedDirection(*waiting);
  if (const auto& gradient = waiting->resolution.gradient) {
    row->share.part = gradient->part;
    row->share.part_confidence = gradient->confidence;
  } else if (row->price != nullptr) {
    row->params = ops::ParamsOf(*row->price, direction, share.part);
  }
  if (row->price != nullptr) {
    row->extents = ops::ExtentsOf(*row->price, direction, row->share.part);
    row->op_layout = ops::LayoutOf(*row->price, direction, row->share.part);
  }
  row->reasons.Merge(share.reasons);
}

constexpr size_t kMaxStreams = 4096;

bool SameCall(const OpInstance& instance, const WaitingRow& row) {
  const WaitingRow& last = *instance.rows.back();
  const KernelRecord& a = last.record;
  const KernelRecord& b = row.record;
  if (last.resolution.priced->id != row.resolution.priced->id || a.direction != b.direction ||
      a.seq_ids != b.seq_ids || a.markers != b.markers || a.trace != b.trace) {
    return false;
  }
  return std::none_of(instance.rows.begin(), instance.rows.end(), [&](const WaitingRow* other) {
    return other->record.long_name == b.long_name;
  });
}

/// Number of products in a matrix op's backward.
size_t GradientCount(const ops::PricedOp& op) {
  const auto is_product = [](const ops::PartWork& part) { return part.part != ops::Part::kBgrad; };
  return static_cast<size_t>(std::count_if(op.backward.begin(), op.backward.end(), is_product));
}

}  // namespace

std::optional<CallKey> CallKeyOf(const WaitingRow& row) {
  const Resolution& resolution = row.resolution;
  const KernelRecord& record = row.record;
  if (resolution.priced == nullptr) return std::nullopt;
  CallKey key;
  key.process_id = record.process_id.value_or(-1);
  key.thread_id = record.thread_id;
  if (resolution.forward != nullptr) {
    const bool has_node = !record.nodes.empty();
    key.by = has_node ? CallKey::By::kNode : CallKey::By::kSequence;
    key.number = has_node ? record.nodes.front() : record.seq_ids.front();
    key.what = resolution.forward->id;
    key.run = resolution.forward_run;
    return key;
  }
  if (!resolution.call_start_ns) return std::nullopt;
  key.number = *resolution.call_start_ns;
  key.what = resolution.priced->id;
  // A replayed kernel has the ranges of its capture, equal in every replay.
  if (IsGraphLaunch(record)) key.run = record.launch_start_ns.value_or(0);
  return key;
}

CallKey EnclosingKey(const CallKey& key, const OuterCall& outer) {
  CallKey around = key;
  around.number = outer.start_ns;
  around.what = outer.annotation->id;
  return around;
}

LaunchStream LaunchStreamOf(const KernelRecord& record) {
  return {record.process_id.value_or(-1), record.thread_id, record.stream_id};
}

size_t CallKeyHash::operator()(const CallKey& key) const {
  return MixHash(MixHash(MixHash(0, key.process_id), key.thread_id), key.number);
}

size_t LaunchStreamHash::operator()(const LaunchStream& key) const {
  return MixHash(MixHash(MixHash(0, key.process_id), key.thread_id), key.stream_id);
}

bool IsProduct(const WaitingRow& row) {
  const ops::KernelKind kind =
      row.resolution.kind ? *row.resolution.kind : ops::KernelKindOf(row.record.long_name);
  return kind == ops::KernelKind::kMatrix;
}

size_t InstanceSharer::SoloKeyHash::operator()(const SoloKey& key) const {
  const auto both = (static_cast<uint64_t>(key.annotation_id) << 32) ^
                    (static_cast<uint64_t>(key.kernel_id) << 1) ^
                    static_cast<uint64_t>(key.direction);
  return MixHash(0, both);
}

void InstanceSharer::Share(const OpInstance& instance, ops::CoveredWork covered) {
  WaitingRow& first = *instance.rows.front();
  const bool solo = instance.rows.size() == 1 && first.resolution.kernel_id != 0 && !covered.main &&
                    !covered.epilogue;
  if (solo) {
    const SoloKey key{instance.annotation_id, first.resolution.kernel_id, instance.direction,
                      PartOf(first)};
    auto place = solo_.find(key);
    if (place == solo_.end()) {
      Compute(instance, covered);
      if (solo_.size() >= kMaxSolo) solo_.clear();
      place = solo_.emplace(key, shares_.front()).first;
    }
    return Charge(place->second, &first);
  }
  Compute(instance, covered);
  for (size_t i = 0; i < shares_.size(); ++i) Charge(shares_[i], instance.rows[i]);
}

void InstanceSharer::Compute(const OpInstance& instance, ops::CoveredWork covered) {
  kernels_.clear();
  for (const WaitingRow* row : instance.rows) {
    kernels_.push_back({row->record.long_name, row->record.grid, row->record.duration_ns,
                        row->resolution.kind, PartOf(*row)});
  }
  shares_.assign(kernels_.size(), {});
  ops::ShareWork(*instance.price, instance.direction, kernels_, shares_, covered);
}

bool GivenWork::IsSpent(const CallKey& key) const {
  const Given* given = calls_.Find(key);
  return given != nullptr && given->spent;
}

void GivenWork::Cover(const WaitingRow& row, const CallKey& key) {
  const ops::PricedOp& inner = *row.resolution.priced->price;
  for (const OuterCall& outer : row.outer) {
    const ops::CoveredWork part = ops::CoveredBy(*outer.annotation->price, inner);
    if (!part.main && !part.epilogue) continue;
    const CallKey around = EnclosingKey(key, outer);
    // A nested range with equal text and start is indistinguishable.
    if (around == key) continue;
    ops::CoveredWork& covered = calls_[around].covered;
    covered.main |= part.main;
    covered.epilogue |= part.epilogue;
  }
}

ops::CoveredWork GivenWork::CoveredOf(const CallKey& key) const {
  const Given* given = calls_.Find(key);
  return given != nullptr ? given->covered : ops::CoveredWork();
}

void InstanceGrouper::Enter(WaitingRow* row) {
  row->number = next_number_++;
  row->instance = nullptr;
  row->row.share = {};
  row->row.instance = 0;
  if (const std::optional<CallKey> key = CallKeyOf(*row)) {
    JoinByKey(row, *key);
    if (row->resolution.forward == nullptr) given_.Cover(*row, *key);
  } else {
    JoinByOrder(row);
  }
  TakeTurn(row);
  OpInstance* const instance = row->instance;
  if (instance == nullptr) return;
  instance->rows.push_back(row);
  row->row.instance = instance->number;
  if (row->resolution.forward != nullptr && IsProduct(*row)) ++instance->products;
  ++instance->left;
  instance->last_number = row->number;
}

void InstanceGrouper::TakeTurn(WaitingRow* row) {
  if (ends_.size() > kMaxStreams) ends_.clear();
  const int64_t instance = row->instance != nullptr ? row->instance->number : 0;
  StreamEnd& end = ends_[LaunchStreamOf(row->record)];
  if (instance == 0 || end.instance != instance) end = {instance, row->number};
  row->turn = end.turn;
}

void InstanceGrouper::JoinByKey(WaitingRow* row, const CallKey& key) {
  if (given_.IsSpent(key)) {
    row->row.reasons.Add(Reason::kUnknownRole);
    return;
  }
  if (key.by == CallKey::By::kSequence) {
    const auto place = open_.find(key);
    if (place != open_.end() && BeginsAgain(*place->second, *row)) Close(place->second, true);
  }
  OpInstance*& instance = open_[key];
  if (instance == nullptr) {
    instance = New(*row);
    instance->key = key;
  }
  row->instance = instance;
}

void InstanceGrouper::JoinByOrder(WaitingRow* row) {
  const LaunchStream stream = LaunchStreamOf(row->record);
  if (last_.size() > kMaxStreams) last_.clear();
  OpInstance*& last = last_[stream];
  if (row->resolution.priced == nullptr) {
    last = nullptr;
    return;
  }
  if (last == nullptr || !SameCall(*last, *row)) {
    last = New(*row);
    last->stream = stream;
  }
  row->instance = last;
}

bool InstanceGrouper::BeginsAgain(const OpInstance& instance, const WaitingRow& row) const {
  const auto end = ends_.find(LaunchStreamOf(row.record));
  const bool follows = end != ends_.end() && end->second.instance == instance.number;
  const int64_t turn = follows ? end->second.turn : -1;
  bool repeats = false;
  for (const WaitingRow* other : instance.rows) {
    // Compares ids of names, since rows of a long call are compared often.
    if (other->resolution.kernel_id != row.resolution.kernel_id ||
        other->record.grid != row.record.grid) {
      continue;
    }
    repeats = true;
    const bool same_stream = other->record.thread_id == row.record.thread_id &&
                             other->record.stream_id == row.record.stream_id;
    if (same_stream && other->turn != turn) return true;
  }
  return repeats && instance.price->matmul_like && IsProduct(row) &&
         instance.products >= GradientCount(*instance.price);
}

OpInstance* InstanceGrouper::New(const WaitingRow& row) {
  if (free_.empty()) {
    all_.push_back(std::make_unique<OpInstance>());
    free_.push_back(all_.back().get());
  }
  OpInstance* instance = free_.back();
  free_.pop_back();
  instance->price = &*row.resolution.priced->price;
  instance->annotation_id = row.resolution.priced->id;
  instance->direction = PricedDirection(row);
  instance->number = ++count_;
  instance->rows.clear();
  instance->left = 0;
  instance->products = 0;
  instance->closed = false;
  instance->key.reset();
  instance->stream.reset();
  return instance;
}

bool InstanceGrouper::MayGrow(const OpInstance& instance) const {
  return instance.last_number + kWindow >= next_number_;
}

bool InstanceGrouper::IsOpen(const WaitingRow& row) const {
  const OpInstance* instance = row.instance;
  return instance != nullptr && !instance->closed && MayGrow(*instance);
}

void InstanceGrouper::Leave(const WaitingRow& row) {
  OpInstance* const instance = row.instance;
  if (instance == nullptr) return;
  if (!instance->closed) Close(instance);
  if (--instance->left == 0) free_.push_back(instance);
}

void InstanceGrouper::Close(OpInstance* instance, bool comes_again) {
  instance->closed = true;
  ops::CoveredWork covered;
  if (instance->key) {
    const CallKey key = *instance->key;
    covered = given_.CoveredOf(key);
    open_.erase(key);
    // A range's start and a node identify a call for good. A sequence id may return in a later
    // iteration, so it is only kept from growing.
    const bool for_good = key.by != CallKey::By::kSequence;
    if (for_good || (MayGrow(*instance) && !comes_again)) given_.Spend(key);
  } else if (const auto place = last_.find(*instance->stream);
             place != last_.end() && place->second == instance) {
    place->second = nullptr;
  }
  sharer_.Share(*instance, covered);
}

}  // namespace oplens::prof

#include "prof/price/row_queue.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "ops/kernels/kernel_name.h"

namespace oplens::prof {

/// The kernels of one op call.
struct OpInstance {
  const ops::PricedOp* price = nullptr;
  Direction direction = Direction::kForward;
  std::vector<WaitingRow*> rows;
  int64_t number = 0;       // Over all of the queue's, from 1.
  size_t left = 0;          // Rows that have not left the queue.
  size_t products = 0;      // Matrix products among its rows; counted for backward calls.
  int64_t last_number = 0;  // Of its last row.
  bool closed = false;
  // Where the queue finds it while it is open.
  std::optional<RowQueue::CallKey> key;
  std::optional<RowQueue::StreamKey> stream;
};

namespace {

constexpr size_t kKeptLineBytes = size_t{64} << 10;
constexpr size_t kMaxStreams = 4096;
constexpr size_t kMaxSpent = 32768;
constexpr size_t kMaxSolo = 65536;

uint64_t Mix(uint64_t hash, int64_t value) {
  hash = (hash ^ static_cast<uint64_t>(value)) * 0x9e3779b97f4a7c15;
  return hash ^ (hash >> 29);
}

/// What of a call a row is charged: the backward of a forward op that it was linked to, else the
/// call itself, wherever it ran.
Direction PricedDirection(const WaitingRow& row) {
  return row.resolution.forward != nullptr ? Direction::kBackward : Direction::kForward;
}

bool SameCall(const OpInstance& instance, const WaitingRow& row) {
  const WaitingRow& last = *instance.rows.back();
  const KernelRecord& a = last.record;
  const KernelRecord& b = row.record;
  if (last.resolution.priced != row.resolution.priced || a.direction != b.direction ||
      a.seq_ids != b.seq_ids || a.markers != b.markers || a.trace != b.trace) {
    return false;
  }
  return std::none_of(instance.rows.begin(), instance.rows.end(), [&](const WaitingRow* other) {
    return other->record.long_name == b.long_name;
  });
}

bool IsProduct(const WaitingRow& row) {
  const ops::KernelKind kind =
      row.resolution.kind ? *row.resolution.kind : ops::KernelKindOf(row.record.long_name);
  return kind == ops::KernelKind::kMatrix;
}

/// Of the products in the backward of a matrix op.
size_t GradientCount(const ops::PricedOp& op) {
  const auto is_product = [](const ops::PartWork& part) { return part.part != ops::Part::kBgrad; };
  return static_cast<size_t>(std::count_if(op.backward.begin(), op.backward.end(), is_product));
}

void Charge(const ops::KernelShare& share, WaitingRow* waiting) {
  Row* const row = &waiting->row;
  row->share = share;
  if (const auto& gradient = waiting->resolution.gradient) {
    row->share.part = gradient->part;
    row->share.part_confidence = gradient->confidence;
  } else if (row->price != nullptr) {
    row->params = ops::ParamsOf(*row->price, PricedDirection(*waiting), share.part);
    row->extents = ops::ExtentsOf(*row->price, PricedDirection(*waiting), share.part);
  }
  row->reasons.Merge(share.reasons);
}

/// The gradient that a kernel is known to compute.
std::optional<ops::Part> PartOf(const WaitingRow& row) {
  const auto& gradient = row.resolution.gradient;
  return gradient ? std::optional(gradient->part) : std::nullopt;
}

/// Whether the record says which run of which node a backward kernel belongs to.
bool HasNode(const WaitingRow& row) { return !row.record.nodes.empty(); }

/// cudaGraphLaunch, cuGraphLaunch, hipGraphLaunch, with or without a suffix.
bool IsGraphLaunch(const KernelRecord& record) {
  return record.launch_api && record.launch_api->find("GraphLaunch") != std::string_view::npos;
}

}  // namespace

size_t RowQueue::KeyHash::operator()(const SoloKey& key) const {
  const auto price = reinterpret_cast<intptr_t>(key.price);
  return Mix(Mix(static_cast<uint64_t>(key.direction), price),
             reinterpret_cast<intptr_t>(key.kernel));
}

size_t RowQueue::KeyHash::operator()(const CallKey& key) const {
  return Mix(Mix(Mix(0, key.process_id), key.thread_id), key.number);
}

size_t RowQueue::KeyHash::operator()(const StreamKey& key) const {
  return Mix(Mix(Mix(0, key.process_id), key.thread_id), key.stream_id);
}

RowQueue::RowQueue(int64_t instances_before) : instance_count_(instances_before) {}
RowQueue::~RowQueue() = default;

void RowQueue::ForgetTexts() {
  spent_.clear();
  older_spent_.clear();
  covered_.clear();
  older_covered_.clear();
  solo_.clear();
}

std::unique_ptr<WaitingRow> RowQueue::NewRow() {
  if (free_rows_.empty()) return std::make_unique<WaitingRow>();
  std::unique_ptr<WaitingRow> row = std::move(free_rows_.back());
  free_rows_.pop_back();
  return row;
}

void RowQueue::Recycle(std::unique_ptr<WaitingRow> row) {
  // A huge line must not keep its memory for the rest of the run.
  if (row->line.capacity() > kKeptLineBytes) return;
  free_rows_.push_back(std::move(row));
}

void RowQueue::Push(std::unique_ptr<WaitingRow> row) {
  row->number = next_number_++;
  row->instance = nullptr;
  row->row.share = {};
  row->row.instance = 0;
  waiting_bytes_ += row->line.size();
  CallKey key;
  if (FindCallKey(*row, &key)) {
    JoinByKey(row.get(), key);
    if (row->resolution.forward == nullptr) Cover(*row, key);
    row->resolution.outer = {};  // Not valid any longer.
  } else {
    JoinByOrder(row.get());
  }
  if (ends_.size() > kMaxStreams) ends_.clear();
  StreamEnd& end = ends_[StreamOf(row->record)];
  if (row->instance == nullptr || end.instance != row->instance) {
    end = {row->instance, row->number};
  }
  row->turn = end.turn;
  if (OpInstance* instance = row->instance) {
    instance->rows.push_back(row.get());
    row->row.instance = instance->number;
    if (row->resolution.forward != nullptr && IsProduct(*row)) ++instance->products;
    ++instance->left;
    instance->last_number = row->number;
  }
  waiting_.push_back(std::move(row));
}

void RowQueue::PushReplay(std::unique_ptr<WaitingRow> row) {
  row->number = next_number_;  // No row of the window.
  row->turn = row->number;
  row->instance = nullptr;
  row->resolution = {};
  waiting_bytes_ += row->line.size();
  row->row = {};
  row->row.record = &row->record;
  row->row.layer = row->record.layer;
  row->row.replay = true;
  waiting_.push_back(std::move(row));
}

bool RowQueue::FindCallKey(const WaitingRow& row, CallKey* key) {
  const Resolution& resolution = row.resolution;
  if (resolution.priced == nullptr) return false;
  key->process_id = row.record.process_id.value_or(-1);
  key->thread_id = row.record.thread_id;
  if (resolution.forward != nullptr) {
    key->what = resolution.forward;
    key->run = resolution.forward_run;
    if (HasNode(row)) {
      key->number = row.record.nodes.front();
      key->run = -1 - key->run;  // Numbers of nodes are no sequence ids.
    } else {
      key->number = row.record.seq_ids.front();
    }
    return true;
  }
  key->number = resolution.call_start_ns.value_or(0);
  key->what = resolution.priced;
  // The ranges of a replayed kernel are those of its capture, the same at every replay.
  if (IsGraphLaunch(row.record)) key->run = row.record.launch_start_ns.value_or(0);
  return resolution.call_start_ns.has_value();
}

void RowQueue::JoinByKey(WaitingRow* row, const CallKey& key) {
  if (spent_.count(key) > 0 || older_spent_.count(key) > 0) {
    row->row.reasons.Add(Reason::kUnknownRole);
    return;
  }
  if (row->resolution.forward != nullptr && !HasNode(*row)) {
    const auto place = open_.find(key);
    if (place != open_.end() && BeginsAgain(*place->second, *row)) Close(place->second, true);
  }
  OpInstance*& instance = open_[key];
  if (instance == nullptr) {
    instance = NewInstance(*row);
    instance->key = key;
  }
  row->instance = instance;
}

void RowQueue::JoinByOrder(WaitingRow* row) {
  const KernelRecord& record = row->record;
  const StreamKey stream = StreamOf(record);
  if (last_.size() > kMaxStreams) last_.clear();
  OpInstance*& last = last_[stream];
  if (row->resolution.priced == nullptr) {
    last = nullptr;
    return;
  }
  if (last == nullptr || !SameCall(*last, *row)) {
    last = NewInstance(*row);
    last->stream = stream;
  }
  row->instance = last;
}

RowQueue::StreamKey RowQueue::StreamOf(const KernelRecord& record) {
  return {record.process_id.value_or(-1), record.thread_id, record.stream_id};
}

bool RowQueue::BeginsAgain(const OpInstance& instance, const WaitingRow& row) const {
  const auto end = ends_.find(StreamOf(row.record));
  const bool follows = end != ends_.end() && end->second.instance == &instance;
  const int64_t turn = follows ? end->second.turn : -1;
  bool repeats = false;
  for (const WaitingRow* other : instance.rows) {
    // One address a full name: rows of a long call are compared often.
    if (other->resolution.kernel != row.resolution.kernel ||
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

void RowQueue::Cover(const WaitingRow& row, const CallKey& key) {
  const ops::PricedOp& inner = *row.resolution.priced->price;
  for (const OuterCall& outer : row.resolution.outer) {
    const ops::CoveredWork part = ops::CoveredBy(*outer.annotation->price, inner);
    if (!part.main && !part.epilogue) continue;
    const CallKey outer_key{key.process_id, key.thread_id, outer.start_ns, outer.annotation,
                            key.run};
    // A text that nests in itself and begins together cannot be told apart from one range.
    if (outer_key == key) continue;
    if (covered_.size() >= kMaxSpent) {
      older_covered_ = std::move(covered_);
      covered_.clear();
    }
    ops::CoveredWork& covered = covered_[outer_key];
    covered.main |= part.main;
    covered.epilogue |= part.epilogue;
  }
}

ops::CoveredWork RowQueue::CoveredOf(const CallKey& key) const {
  ops::CoveredWork covered;
  for (const auto* calls : {&covered_, &older_covered_}) {
    if (const auto place = calls->find(key); place != calls->end()) {
      covered.main |= place->second.main;
      covered.epilogue |= place->second.epilogue;
    }
  }
  return covered;
}

OpInstance* RowQueue::NewInstance(const WaitingRow& row) {
  if (free_instances_.empty()) {
    instances_.push_back(std::make_unique<OpInstance>());
    free_instances_.push_back(instances_.back().get());
  }
  OpInstance* instance = free_instances_.back();
  free_instances_.pop_back();
  instance->price = &*row.resolution.priced->price;
  instance->direction = PricedDirection(row);
  instance->number = ++instance_count_;
  instance->rows.clear();
  instance->left = 0;
  instance->products = 0;
  instance->closed = false;
  instance->key.reset();
  instance->stream.reset();
  return instance;
}

std::unique_ptr<WaitingRow> RowQueue::PopReady() {
  if (waiting_.empty()) return nullptr;
  const OpInstance* instance = waiting_.front()->instance;
  const bool full = waiting_.size() > kMaxRows || waiting_bytes_ > kMaxBytes;
  const bool open = instance != nullptr && !instance->closed && MayGrow(*instance);
  return open && !full ? nullptr : PopFirst();
}

std::unique_ptr<WaitingRow> RowQueue::PopFirst() {
  if (waiting_.empty()) return nullptr;
  std::unique_ptr<WaitingRow> row = std::move(waiting_.front());
  waiting_.pop_front();
  waiting_bytes_ -= row->line.size();
  if (OpInstance* instance = row->instance) {
    if (!instance->closed) Close(instance);
    if (--instance->left == 0) free_instances_.push_back(instance);
  }
  return row;
}

bool RowQueue::MayGrow(const OpInstance& instance) const {
  return instance.last_number + kWindow >= next_number_;
}

void RowQueue::Spend(const CallKey& key) {
  if (spent_.size() >= kMaxSpent) {
    older_spent_ = std::move(spent_);
    spent_.clear();
  }
  spent_.insert(key);
}

void RowQueue::Close(OpInstance* instance, bool comes_again) {
  instance->closed = true;
  ops::CoveredWork covered;
  if (instance->key) {
    covered = CoveredOf(*instance->key);
    open_.erase(*instance->key);
    // The beginning of a range and a node name a call for good; a sequence id may come again in
    // another iteration, so it is only kept from growing on.
    const WaitingRow& row = *instance->rows.front();
    const bool for_good = row.resolution.forward == nullptr || HasNode(row);
    if (for_good || (MayGrow(*instance) && !comes_again)) Spend(*instance->key);
  } else if (const auto place = last_.find(*instance->stream);
             place != last_.end() && place->second == instance) {
    place->second = nullptr;
  }
  const WaitingRow& first = *instance->rows.front();
  if (instance->rows.size() == 1 && first.resolution.kernel != nullptr && !covered.main &&
      !covered.epilogue) {
    ShareSolo(instance);
  } else {
    Share(instance, covered);
  }
}

void RowQueue::ShareSolo(OpInstance* instance) {
  WaitingRow& waiting = *instance->rows.front();
  const SoloKey key{instance->price, waiting.resolution.kernel, instance->direction,
                    PartOf(waiting)};
  const auto place = solo_.find(key);
  if (place != solo_.end()) {
    Charge(place->second, &waiting);
    return;
  }
  Share(instance, {});
  if (solo_.size() > kMaxSolo) solo_.clear();
  solo_.emplace(key, shares_.front());
}

void RowQueue::Share(OpInstance* instance, ops::CoveredWork covered) {
  kernels_.clear();
  for (const WaitingRow* row : instance->rows) {
    kernels_.push_back({row->record.long_name, row->record.grid, row->record.duration_ns,
                        row->resolution.kind, PartOf(*row)});
  }
  shares_.assign(kernels_.size(), {});
  ops::ShareWork(*instance->price, instance->direction, kernels_, shares_, covered);
  for (size_t i = 0; i < shares_.size(); ++i) {
    Charge(shares_[i], instance->rows[i]);
  }
}

}  // namespace oplens::prof

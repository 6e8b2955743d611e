#include "prof/price/link_backward.h"

#include <algorithm>
#include <utility>

#include "base/hash.h"

namespace oplens::prof {
namespace {

/// Ids remembered per record: nesting is tens deep; hostile records must not fill the tables.
constexpr size_t kMaxIds = 16;
constexpr int kMaxThreads = 64;  // Per number.
constexpr size_t kMaxCandidates = size_t{64} << 10;

/// Whether a sequence marker of the op names the op of one of the nodes.
bool OpFits(const ForwardOp& op, const std::vector<std::string_view>& node_texts) {
  return std::any_of(op.seq_names.begin(), op.seq_names.end(),
                     [&](std::string_view name) { return FitsNode(name, node_texts); });
}

}  // namespace

uint64_t BackwardLinker::KeyHash::operator()(const Key& key) const {
  const auto seq = static_cast<uint64_t>(key.seq_id);
  const auto process = static_cast<uint64_t>(key.process_id);
  return SpreadBits(MixHash(seq, (process << 32) ^ (process >> 32)));
}

void BackwardLinker::Table::Put(const Key& key, const Candidate& candidate) {
  const auto next = static_cast<uint32_t>(candidates.size());
  const auto [head, is_new] = heads.TryEmplace(key, next);
  if (is_new) {
    candidates.push_back(candidate);
    return;
  }
  int threads = 0;
  for (uint32_t i = head; i != kEnd; i = candidates[i].next) {
    if (candidates[i].thread_id != candidate.thread_id && ++threads < kMaxThreads) continue;
    const bool same_run =
        candidates[i].thread_id == candidate.thread_id && !candidates[i].asked_for;
    const int64_t run = same_run ? candidates[i].run : candidate.run;
    candidates[i] = {candidate.thread_id, candidate.device_id, candidate.op, candidates[i].next,
                     run};
    return;
  }
  candidates.push_back(candidate);
  candidates.back().next = head;
  head = next;
}

void BackwardLinker::Table::Append(const Key& key, std::vector<Candidate>* out) {
  const uint32_t* const head = heads.Find(key);
  if (head == nullptr) return;
  for (uint32_t i = *head; i != kEnd; i = candidates[i].next) {
    candidates[i].asked_for = true;
    const auto same_thread = [&](const Candidate& c) {
      return c.thread_id == candidates[i].thread_id;
    };
    if (std::none_of(out->begin(), out->end(), same_thread)) out->push_back(candidates[i]);
  }
}

void BackwardLinker::BeginGeneration() {
  old_ = std::move(young_);
  young_ = Generation();
}

void BackwardLinker::FollowOps() {
  for (; ops_generation_ != ops_.generation(); ++ops_generation_) BeginGeneration();
}

void BackwardLinker::AddForward(const KernelRecord& record) {
  if (record.seq_ids.empty() && record.alt_seq_ids.empty() && record.nodes.empty()) return;
  FollowOps();
  if (young_.size() > kMaxCandidates) BeginGeneration();
  const ForwardOp* op = ops_.Of(record);
  const int64_t process_id = record.process_id.value_or(-1);
  for (size_t i = 0; i < std::min(record.nodes.size(), kMaxIds); ++i) {
    const bool all = i >= record.node_ops.size() || record.node_ops[i] < 0 ||
                     static_cast<size_t>(record.node_ops[i]) >= record.markers.size();
    young_.nodes[{process_id, record.nodes[i]}] =
        all ? op : ops_.Of(record, static_cast<size_t>(record.node_ops[i]));
  }
  ++runs_;
  const auto put = [&](const std::vector<int64_t>& ids, Table* table) {
    for (size_t i = 0; i < std::min(ids.size(), kMaxIds); ++i) {
      table->Put({process_id, ids[i]}, {record.thread_id, record.device_id, op, kEnd, runs_});
    }
  };
  put(record.seq_ids, &young_.own);
  put(record.alt_seq_ids, &young_.nested);
}

ForwardMatch BackwardLinker::Find(const KernelRecord& record) {
  FollowOps();
  return record.nodes.empty() ? FindByNumber(record) : FindByNode(record);
}

ForwardMatch BackwardLinker::FindByNode(const KernelRecord& record) {
  const auto matched = [&](const ForwardOp* op) {
    return ForwardMatch{op, Reason::kNoForwardMatch, record.node_run};
  };
  if (!record.forward_markers.empty() || !record.forward_op.empty()) {
    return matched(ops_.DescribedBy(record));
  }
  const Key key{record.process_id.value_or(-1), record.nodes.front()};
  for (const Generation* generation : {&young_, &old_}) {
    const ForwardOp* const* const op = generation->nodes.Find(key);
    if (op != nullptr) return matched(*op);
  }
  return {};
}

ForwardMatch BackwardLinker::FindByNumber(const KernelRecord& record) {
  if (record.seq_ids.empty()) return {};
  const Key key{record.process_id.value_or(-1), record.seq_ids.front()};
  found_.clear();
  young_.own.Append(key, &found_);
  old_.own.Append(key, &found_);
  if (found_.empty()) {
    young_.nested.Append(key, &found_);
    old_.nested.Append(key, &found_);
  }
  return Choose(record);
}

ForwardMatch BackwardLinker::Choose(const KernelRecord& record) {
  if (found_.empty()) return {};
  const auto misfit = [&](const Candidate& c) { return !OpFits(*c.op, record.seq_markers); };
  if (record.phase != Phase::kUnknown) {
    const Reason reason = found_.size() > 1 ? Reason::kAmbiguousForward : Reason::kNoForwardMatch;
    std::erase_if(found_, misfit);
    if (found_.empty()) return {nullptr, reason, 0};
  }
  const auto matched = [](const Candidate& c) {
    return ForwardMatch{c.op, Reason::kNoForwardMatch, c.run};
  };
  const auto all_same = [&] {
    return std::all_of(found_.begin(), found_.end(),
                       [&](const Candidate& c) { return c.op == found_.front().op; });
  };
  if (all_same()) return matched(found_.front());
  for (const Candidate& candidate : found_) {
    if (candidate.thread_id == record.thread_id) return matched(candidate);
  }
  const auto elsewhere = [&](const Candidate& c) { return c.device_id != record.device_id; };
  if (!std::all_of(found_.begin(), found_.end(), elsewhere)) {
    std::erase_if(found_, elsewhere);
    if (all_same()) return matched(found_.front());
  }
  std::erase_if(found_, misfit);
  if (!found_.empty() && all_same()) return matched(found_.front());
  return {nullptr, Reason::kAmbiguousForward, 0};
}

}  // namespace oplens::prof

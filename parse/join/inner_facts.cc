#include "parse/join/inner_facts.h"

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

namespace oplens::parse {
namespace {

bool IsTensor(const OpArg& arg) { return arg.kind == OpArg::Kind::kTensor; }

OpArg Named(std::string_view name, OpArg arg) {
  arg.name = name;
  arg.list = 0;
  return arg;
}

OpArg IntArg(std::string_view name, int64_t value) {
  OpArg arg;
  arg.name = name;
  arg.kind = OpArg::Kind::kInt;
  arg.type = "int";
  arg.int_value = value;
  return arg;
}

std::vector<const std::vector<int64_t>*> ListsOf(const OpCall& call) {
  std::vector<const std::vector<int64_t>*> lists;
  for (const OpArg& arg : call.args) {
    if (arg.kind == OpArg::Kind::kIntList) lists.push_back(&arg.int_list);
  }
  return lists;
}

/// x[indices], whose list of indices is not recorded. PyTorch restrides the source to the shape of
/// the result, with strides of 0 along the indexed dimensions, and reshapes each index to match
/// (ATen/native/TensorAdvancedIndexing.cpp: restride_src, reshape_indexer).
bool AddIndexFacts(std::span<const OpCall> inner, OpCall* call) {
  if (call->args.empty() || !IsTensor(call->args.front())) return false;
  if (std::count_if(call->args.begin(), call->args.end(), IsTensor) > 1) return false;
  const OpArg x = call->args.front();
  std::optional<OpArg> output;
  std::vector<OpArg> indices;
  for (const OpCall& one : inner) {
    if (one.args.empty() || !IsTensor(one.args.front())) continue;
    const OpArg& source = one.args.front();
    if (one.op == "reshape") {
      if (source.dtype.starts_with("int")) indices.push_back(Named("indices", source));
      continue;
    }
    const auto lists = ListsOf(one);
    if (lists.size() != 2 || source.shape != x.shape || source.dtype != x.dtype) continue;
    const auto& strides = *lists[1];
    if (std::find(strides.begin(), strides.end(), 0) == strides.end()) continue;
    output = Named("output", x);
    output->shape = *lists[0];
  }
  if (!output) return false;
  call->args = {x, *output};
  std::move(indices.begin(), indices.end(), std::back_inserter(call->args));
  return true;
}

/// moe_forward(x[T,H], scores[T,E], layer): the engine allocates buffers [T,k] for indices of
/// experts, and, by routed and padded rows, [P,I] for intermediates and [P,H] for results.
bool AddExpertFacts(std::span<const OpCall> inner, OpCall* call) {
  std::vector<const OpArg*> tensors;
  for (const OpArg& arg : call->args) {
    if (IsTensor(arg) && arg.shape.size() == 2) tensors.push_back(&arg);
  }
  if (tensors.size() < 2) return false;
  const int64_t rows = tensors[0]->shape[0];
  const int64_t hidden = tensors[0]->shape[1];
  const int64_t experts = tensors[1]->shape[1];
  std::vector<std::vector<int64_t>> buffers;
  for (const OpCall& one : inner) {
    const auto lists = ListsOf(one);
    if (one.op == "empty" && !lists.empty() && lists[0]->size() == 2) buffers.push_back(*lists[0]);
  }
  const auto routed =
      std::find_if(buffers.begin(), buffers.end(), [&](const std::vector<int64_t>& shape) {
        return shape[0] == rows && shape[1] > 0 && shape[1] < experts && shape[1] != hidden;
      });
  if (routed == buffers.end()) return false;
  const int64_t topk = (*routed)[1];
  // Other buffers may have such shapes: accepts the experts' only if exactly one pair fits.
  std::optional<int64_t> intermediate;
  for (const auto& result : buffers) {
    if (result[1] != hidden || result[0] <= rows || result[0] / topk < rows) continue;
    for (const auto& shape : buffers) {
      if (shape[0] != result[0] || shape[1] == hidden) continue;
      if (intermediate && *intermediate != shape[1]) return false;
      intermediate = shape[1];
    }
  }
  if (!intermediate) return false;
  call->args.push_back(IntArg("topk", topk));
  call->args.push_back(IntArg("intermediate", *intermediate));
  return true;
}

struct FindingsReporter {
  std::string_view name;  ///< Of the operator, as recorded.
  bool (*add)(std::span<const OpCall> inner, OpCall* call);
};

constexpr FindingsReporter kTellers[] = {
    {"aten::index", AddIndexFacts},
    {"vllm::moe_forward", AddExpertFacts},
    {"vllm::moe_forward_shared", AddExpertFacts},
};

constexpr std::string_view kTold[] = {"aten::as_strided", "aten::empty", "aten::reshape"};

bool Tells(std::string_view name) {
  return std::any_of(std::begin(kTellers), std::end(kTellers),
                     [&](const FindingsReporter& teller) { return teller.name == name; });
}

/// More calls add no facts.
constexpr size_t kMostInside = 64;

enum Role : uint8_t { kRoleNotAsked, kRoleOther, kRoleTells, kRoleIsTold };

}  // namespace

bool AddInnerFacts(std::span<const OpCall> inner, OpCall* call) {
  const std::string name = call->mod + "::" + call->op;
  for (const FindingsReporter& teller : kTellers) {
    // The Python form of aten operators has no namespace.
    const size_t scope = teller.name.find("::");
    if (teller.name == name ||
        (teller.name.starts_with("aten::") && call->op == teller.name.substr(scope + 2))) {
      return teller.add(inner, call);
    }
  }
  return false;
}

InnerFacts::InnerFacts(Trace* trace, const ThreadRanges& threads, RangeTexts* texts)
    : trace_(*trace), texts_(*texts), roles_(trace->strings.size(), kRoleNotAsked) {
  if (trace->operators.empty() || !trace->strings.Any(Tells)) return;
  for (size_t thread = 0; thread < threads.thread_count(); ++thread) {
    SweepThread(threads.BeginOf(thread), threads.EndOf(thread));
  }
}

uint8_t InnerFacts::RoleOf(StringId name) {
  if (name >= roles_.size()) return kRoleOther;
  uint8_t& role = roles_[name];
  if (role != kRoleNotAsked) return role;
  const std::string_view text = trace_.strings.View(name);
  role = Tells(text) ? kRoleTells : kRoleOther;
  if (std::find(std::begin(kTold), std::end(kTold), text) != std::end(kTold)) role = kRoleIsTold;
  return role;
}

void InnerFacts::SweepThread(size_t begin, size_t end) {
  for (size_t i = begin; i < end; ++i) {
    const Range& range = trace_.ranges[i];
    const Operator* const op = trace_.OperatorOf(range);
    if (op == nullptr) continue;
    const uint8_t role = RoleOf(range.text);
    if (role == kRoleOther) continue;
    while (!open_.empty() && open_.back().end_ns <= range.start_ns) {
      Close(open_.back());
      open_.pop_back();
    }
    const StringId call = op->call;
    if (call == 0 || range.open()) continue;
    if (role == kRoleTells) {
      open_.push_back({static_cast<uint32_t>(i), range.end_ns, {call}});
    } else if (!open_.empty() && open_.back().calls.size() <= kMostInside) {
      open_.back().calls.push_back(call);
    }
  }
  for (; !open_.empty(); open_.pop_back()) Close(open_.back());
}

void InnerFacts::Close(const Open& open) {
  if (open.calls.size() < 2) return;
  const auto [place, is_new] = known_.try_emplace(open.calls, 0);
  if (is_new) place->second = Complete(open.calls);
  if (place->second != 0) completed_.emplace(open.range, place->second);
}

StringId InnerFacts::Complete(const std::vector<StringId>& calls) {
  std::string error;
  std::optional<OpCall> outer = ParseOpCall(trace_.strings.View(calls.front()), &error);
  if (!outer) return 0;
  std::vector<OpCall> inner;
  for (size_t i = 1; i < calls.size(); ++i) {
    std::optional<OpCall> one = ParseOpCall(trace_.strings.View(calls[i]), &error);
    if (one) inner.push_back(*std::move(one));
  }
  if (!AddInnerFacts(inner, &*outer)) return 0;
  std::string text;
  AppendOpCall(*outer, &text);
  const StringId id = trace_.strings.Intern(text);
  texts_.Classify(id);
  return id;
}

}  // namespace oplens::parse

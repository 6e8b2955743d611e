#include "parse/join/lookup_calls.h"

#include <algorithm>
#include <cstddef>
#include <limits>
#include <optional>
#include <tuple>
#include <utility>

#include "parse/model/op_call.h"

namespace oplens::parse {
namespace {

constexpr std::string_view kSplit = "split_embedding_codegen_lookup_";
constexpr std::string_view kDenseLookup = "dense_embedding_codegen_lookup_function";
constexpr std::string_view kFunction = "_function";
constexpr std::string_view kNode = "CppNode<SplitLookupFunction_";
constexpr std::string_view kOp = "_Op";
constexpr std::string_view kDense = "dense";

/// Upper bound on earlier look-ups that are checked for a node.
constexpr size_t kLookupCallsNear = 256;

/// Whether two ranges are of one thread and no op between them has a number.
bool AreTogether(const Trace& trace, uint32_t first, uint32_t second) {
  if (trace.ThreadOf(trace.ranges[first]) != trace.ThreadOf(trace.ranges[second])) return false;
  if (first > second) std::swap(first, second);
  for (uint32_t i = first + 1; i < second; ++i) {
    const Operator* const op = trace.OperatorOf(trace.ranges[i]);
    if (op != nullptr && op->sequence >= 0 && !op->backward) return false;
  }
  return true;
}

}  // namespace

std::string LookupOfForward(std::string_view name) {
  if (!name.ends_with(kFunction)) return {};
  if (name.ends_with(kDenseLookup)) return std::string(kDense);
  const size_t at = name.find(kSplit);
  if (at == std::string_view::npos) return {};
  name.remove_prefix(at + kSplit.size());
  if (name.size() <= kFunction.size()) return {};
  name.remove_suffix(kFunction.size());
  return std::string(name);
}

std::string LookupOfNode(std::string_view name) {
  const size_t at = name.find(kNode);
  if (at == std::string_view::npos || !name.starts_with("torch::autograd::")) return {};
  name.remove_prefix(at + kNode.size());
  const size_t end = name.find(kOp);
  if (end == std::string_view::npos) return {};
  const std::string_view function = name.substr(0, end);
  return std::string(function == "Dense" ? kDense : function);
}

LookupCalls::LookupCalls(Trace* trace, const ThreadRanges& threads, RangeTexts* texts)
    : trace_(*trace), texts_(*texts) {
  const auto is_lookup = [](std::string_view name) { return !LookupOfForward(name).empty(); };
  if (trace->operators.empty() || !trace->strings.Any(is_lookup)) return;
  FindLookups(threads);
  if (lookups_.empty()) return;
  std::stable_sort(lookups_.begin(), lookups_.end(), [](const Lookup& a, const Lookup& b) {
    return std::tie(a.process_id, a.after) < std::tie(b.process_id, b.after);
  });
  for (const uint32_t node : nodes_) Link(node, names_[trace_.ranges[node].text].node);
}

const LookupCalls::Named& LookupCalls::NamesOf(StringId name) {
  const auto [place, is_new] = names_.try_emplace(name);
  if (is_new) {
    const std::string_view text = trace_.strings.View(name);
    place->second = {LookupOfForward(text), LookupOfNode(text)};
  }
  return place->second;
}

void LookupCalls::FindLookups(const ThreadRanges& threads) {
  std::vector<uint8_t> asked(trace_.strings.size(), 0);  // By name: 1 neither, 2 either.
  for (size_t thread = 0; thread < threads.thread_count(); ++thread) {
    const size_t first = lookups_.size();
    size_t waiting = first;  // From here on `before` is unknown.
    int64_t last = -1;
    for (size_t i = threads.BeginOf(thread); i < threads.EndOf(thread); ++i) {
      const Range& range = trace_.ranges[i];
      const Operator* const known_op = trace_.OperatorOf(range);
      if (known_op == nullptr) continue;
      const Operator& op = *known_op;
      if (op.sequence >= 0 && !op.backward) {
        while (waiting < lookups_.size() &&
               trace_.ranges[lookups_[waiting].range].end_ns <= range.start_ns) {
          lookups_[waiting++].before = op.sequence;
        }
        last = op.sequence;
      }
      uint8_t& known = asked[range.text];
      if (known == 0) {
        const Named& named = NamesOf(range.text);
        known = named.forward.empty() && named.node.empty() ? 1 : 2;
      }
      if (known == 1) continue;
      const Named& named = NamesOf(range.text);
      if (!named.node.empty()) {
        if (op.sequence >= 0 && op.call != 0) nodes_.push_back(static_cast<uint32_t>(i));
      } else if (op.sequence < 0 && op.call != 0) {
        lookups_.push_back({trace_.threads[trace_.ThreadOf(range)].process_id, last,
                            std::numeric_limits<int64_t>::max(), static_cast<uint32_t>(i)});
      }
    }
  }
}

void LookupCalls::Link(uint32_t node, const std::string& function) {
  const Range& range = trace_.ranges[node];
  const Operator& op = *trace_.OperatorOf(range);
  const int64_t process_id = trace_.threads[trace_.ThreadOf(range)].process_id;
  auto next = std::partition_point(lookups_.begin(), lookups_.end(), [&](const Lookup& lookup) {
    return std::tie(lookup.process_id, lookup.after) <= std::tie(process_id, op.sequence);
  });
  // Numbers may overlap those of other threads, or of another run in the file: takes the last one
  // that fits, unless it is ambiguous.
  const Lookup* found = nullptr;
  for (size_t near = 0; near < kLookupCallsNear && next != lookups_.begin(); ++near) {
    const Lookup& lookup = *--next;
    const Range& forward = trace_.ranges[lookup.range];
    if (lookup.process_id != process_id) break;
    if (lookup.before <= op.sequence || forward.start_ns > range.start_ns ||
        NamesOf(forward.text).forward != function) {
      continue;
    }
    if (found != nullptr && AreTogether(trace_, lookup.range, found->range)) return;
    if (found == nullptr || trace_.ranges[found->range].start_ns < forward.start_ns) {
      found = &lookup;
    }
  }
  if (found == nullptr) return;
  std::string error;
  const StringId forward_call = trace_.OperatorOf(trace_.ranges[found->range])->call;
  std::optional<OpCall> forward = ParseOpCall(trace_.strings.View(forward_call), &error);
  const std::optional<OpCall> gradient = ParseOpCall(trace_.strings.View(op.call), &error);
  if (!forward || !gradient || gradient->args.size() != 1 ||
      gradient->args[0].kind != OpArg::Kind::kTensor) {
    return;
  }
  OpCall backward{"fbgemm", "SplitLookupFunction_" + function + "_Op", gradient->args};
  backward.args.insert(backward.args.end(), forward->args.begin(), forward->args.end());
  OpArg output = gradient->args[0];
  output.name = "output";
  forward->args.push_back(std::move(output));
  std::string text;
  AppendOpCall(backward, &text);
  completed_[node] = Intern(text);
  text.clear();
  AppendOpCall(*forward, &text);
  completed_[found->range] = Intern(text);
}

StringId LookupCalls::Intern(const std::string& text) {
  const StringId id = trace_.strings.Intern(text);
  texts_.Classify(id);
  return id;
}

}  // namespace oplens::parse

#include "parse/join/autograd.h"

#include <algorithm>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <unordered_map>
#include <utility>

#include "nvtx_annotate/vocabulary/marker_format.h"
#include "parse/join/gradient_hints.h"
#include "parse/model/node_name.h"

namespace oplens::parse {
namespace {

constexpr std::string_view kEvaluate = "autograd::engine::evaluate_function";
constexpr std::string_view kAccumulate = "AccumulateGrad";
constexpr std::string_view kGraphRoot = "autograd::GraphRoot";
constexpr std::string_view kOptimizer = "Optimizer.";
constexpr std::string_view kOptimizerPhase = "phase:optimizer";
constexpr std::string_view kCheckpointNode = "CheckpointFunctionBackward";
constexpr std::string_view kCheckpointFile = "torch/utils/checkpoint.py";

/// What the text of a range says, whoever recorded it.
struct TextFacts {
  StepContext context = StepContext::kNone;
  bool checkpoint = false;  ///< A node, or Python code, that runs forward ops again.
  bool known = false;
};

struct Key {
  int64_t process_id;
  int64_t sequence;
  friend bool operator==(const Key&, const Key&) = default;
};
struct KeyHash {
  size_t operator()(const Key& key) const {
    return (static_cast<uint64_t>(key.sequence) ^ (static_cast<uint64_t>(key.process_id) << 40)) *
           0x9e3779b97f4a7c15;
  }
};

}  // namespace

class Autograd::Builder {
 public:
  Builder(Autograd* result, const Trace& trace, const RangeTexts& texts,
          std::span<const size_t> ends, const std::vector<bool>& left_out)
      : result_(*result), trace_(trace), texts_(texts), ends_(ends), left_out_(left_out) {}

  void Run() {
    result_.contexts_.assign(trace_.ranges.size(), StepContext::kNone);
    result_.links_.assign(trace_.ranges.size(), 0);
    result_.nodes_around_.assign(trace_.ranges.size(), kNone);
    result_.engine_threads_.assign(trace_.threads.size(), false);
    echoes_.assign(trace_.ranges.size(), false);
    for (size_t thread = 0, begin = 0; thread < ends_.size(); begin = ends_[thread++]) {
      ReadThread(static_cast<ThreadIndex>(thread), begin, ends_[thread]);
    }
    if (nodes_.empty()) return;
    FindToldForwards();
    CollectForwards();
    MapForwardThreads();
    LinkNodes();
  }

 private:
  /// An op-like range that is open.
  struct Open {
    int64_t end_ns;
    uint32_t range;
    bool node;
    bool checkpoint;
    /// Number that a marker of nvtx_annotate tells, which the range right inside repeats; -1: none.
    int64_t told_sequence;
    bool told_op;  ///< An op that nvtx_annotate marked with its arguments.
  };
  /// A run of a node with a sequence number.
  struct Node {
    uint32_t range;
    Key key;
    int64_t forward_thread;
    int64_t forward_handle;  ///< The call that made it, as the file tells; 0: it does not.
  };

  std::string_view TextOf(const Range& range) const { return trace_.strings.View(range.text); }

  const TextFacts& FactsOf(const Range& range) {
    if (range.text >= facts_.size()) facts_.resize(trace_.strings.size());
    TextFacts& facts = facts_[range.text];
    if (facts.known) return facts;
    facts.known = true;
    const std::string_view text = TextOf(range);
    facts.checkpoint = text.find(kCheckpointNode) != text.npos;
    if (text.starts_with(kEvaluate) || text.find(kGraphRoot) != text.npos) {
      facts.context = StepContext::kEvaluate;
    } else if (text.find(kAccumulate) != text.npos) {
      facts.context = StepContext::kAccumulate;
    } else if (text.starts_with(kOptimizer) || text == kOptimizerPhase) {
      facts.context = StepContext::kOptimizer;
    } else if (facts.checkpoint) {
      facts.context = StepContext::kNode;
    }
    return facts;
  }

  const Operator* OperatorOf(const Range& range) const {
    return range.kind == RangeKind::kOperator && range.item < trace_.operators.size()
               ? &trace_.operators[range.item]
               : nullptr;
  }

  /// The number that links an op with its node; nullopt: the range is no op or node; -1: it is one
  /// without a number.
  std::optional<int64_t> SequenceOf(const Range& range) const {
    if (const Operator* op = OperatorOf(range)) return op->sequence;
    if (range.kind != RangeKind::kMarker) return std::nullopt;
    const RangeTexts::Text& text = texts_.Of(range.text);
    if (text.kind == MarkerKind::kSeq || text.kind == MarkerKind::kNode) return text.seq;
    if (text.kind == MarkerKind::kOp && text.thread != 0) return text.seq;
    // Texts of ops that made no node have no number.
    if (text.kind == MarkerKind::kOperator) return -1;
    return std::nullopt;
  }

  /// What an op or a node is called.
  std::string_view NameOf(const Range& range) const {
    if (range.kind == RangeKind::kMarker) {
      const RangeTexts::Text& text = texts_.Of(range.text);
      if (text.kind == MarkerKind::kNode || text.kind == MarkerKind::kOp) {
        return trace_.strings.View(text.op);
      }
    }
    return TextOf(range);
  }

  /// Markers of nvtx_annotate tell their number, and a range right inside repeats it for older
  /// readers: "mm, seq = 3".
  int64_t ToldSequence(const Range& range) const {
    if (const Operator* op = OperatorOf(range)) return op->thread != 0 ? op->sequence : -1;
    if (range.kind != RangeKind::kMarker) return -1;
    const RangeTexts::Text& text = texts_.Of(range.text);
    return text.kind == MarkerKind::kNode || text.kind == MarkerKind::kOp ? text.seq : -1;
  }
  bool IsToldOp(const Range& range) const {
    if (const Operator* op = OperatorOf(range)) return op->thread != 0 && !op->backward;
    if (range.kind != RangeKind::kMarker) return false;
    const RangeTexts::Text& text = texts_.Of(range.text);
    return text.kind == MarkerKind::kOp && text.thread != 0;
  }
  bool IsTold(const Range& range, markers::Direction direction) const {
    char told = 0;
    if (const Operator* op = OperatorOf(range)) {
      told = op->direction;
    } else if (range.kind == RangeKind::kMarker) {
      told = texts_.Of(range.text).direction;
    }
    return told == static_cast<char>(direction);
  }
  /// Of the ops inside a marked one only their numbers are told: the nodes that they made are the
  /// marked op's, which has several then.
  void NoteOwner(size_t index, const Range& range) {
    if (range.kind != RangeKind::kMarker || texts_.Of(range.text).kind != MarkerKind::kSeq) return;
    const auto owner = std::find_if(open_.rbegin(), open_.rend(),
                                    [](const Open& open) { return open.told_op || open.node; });
    if (owner != open_.rend() && owner->told_op) {
      owners_[static_cast<uint32_t>(index)] = owner->range;
    }
  }
  bool IsEcho(const Range& range) const {
    return range.kind == RangeKind::kMarker && !open_.empty() && open_.back().told_sequence >= 0 &&
           texts_.Of(range.text).kind == MarkerKind::kSeq &&
           texts_.Of(range.text).seq == open_.back().told_sequence;
  }

  bool SaysBackward(const Range& range) const {
    if (const Operator* op = OperatorOf(range)) return op->backward;
    if (range.kind != RangeKind::kMarker) return false;
    const RangeTexts::Text& text = texts_.Of(range.text);
    // Also "torch::autograd::CopyBackwards".
    return text.backward || (text.kind == MarkerKind::kSeq &&
                             TextOf(range).find("Backward") != std::string_view::npos);
  }

  StepContext ContextOfRange(const Range& range) {
    if (range.kind == RangeKind::kFrame || range.kind == RangeKind::kModule) {
      return StepContext::kNone;
    }
    const StepContext context = FactsOf(range).context;
    if (context != StepContext::kNone) return context;
    if (IsTold(range, markers::Direction::kRecompute)) return StepContext::kRecompute;
    return SaysBackward(range) ? StepContext::kNode : StepContext::kNone;
  }

  void ReadThread(ThreadIndex thread, size_t begin, size_t end) {
    open_.clear();
    evaluates_.clear();
    last_nodes_.clear();
    bool any_node = false;
    bool any_forward = false;
    for (size_t i = begin; i < end; ++i) {
      const Range& range = trace_.ranges[i];
      if (left_out_[i] || range.open()) continue;
      while (!open_.empty() && open_.back().end_ns < range.end_ns) open_.pop_back();
      if (IsEcho(range)) {
        echoes_[i] = true;
        continue;
      }
      NoteToldThread(range);
      NoteOwner(i, range);
      StepContext context = ContextOfRange(range);
      // "relu_backward" is a function that a node calls, and a node only where none is around.
      if (context == StepContext::kNode && IsGradientFunction(range) && InsideNode()) {
        context = StepContext::kNone;
      }
      result_.contexts_[i] = context;
      NoteNodeAround(i, range, context);
      const std::optional<int64_t> sequence = SequenceOf(range);
      if (range.kind == RangeKind::kFrame) {
        NoteCheckpointFrame(range);
        continue;
      }
      if (context == StepContext::kNone && !sequence) continue;
      const bool node = context == StepContext::kNode;
      if (node) {
        any_node = true;
        AddNode(i, range, sequence.value_or(-1));
      } else if (context == StepContext::kNone) {
        const bool inside = NoteInnerOp(i, *sequence);
        // 0 may be a filler, but not where the marker tells the op's own number.
        any_forward |= !inside && (*sequence > 0 || ToldSequence(range) == 0 ||
                                   IsTold(range, markers::Direction::kForward));
      }
      open_.push_back({range.end_ns, static_cast<uint32_t>(i), node,
                       node && FactsOf(range).checkpoint, ToldSequence(range), IsToldOp(range)});
    }
    result_.engine_threads_[thread] = any_node && !any_forward;
    MarkRecomputed();
  }

  /// What the engine does around a node is the node's; it runs AccumulateGrad right after the node
  /// whose gradient is complete, before any other of the same depth.
  void NoteNodeAround(size_t index, const Range& range, StepContext context) {
    const auto depth = static_cast<size_t>(
        std::count_if(open_.begin(), open_.end(), [](const Open& open) { return open.node; }));
    if (last_nodes_.size() < depth + 1) last_nodes_.resize(depth + 1, kNone);
    while (!evaluates_.empty() && trace_.ranges[evaluates_.back()].end_ns <= range.start_ns) {
      evaluates_.pop_back();
    }
    if (context == StepContext::kNode) {
      last_nodes_.resize(depth + 1);
      last_nodes_[depth] = static_cast<uint32_t>(index);
      // The first node in the range is the one that it is for.
      if (evaluates_.empty()) return;
      uint32_t& node = result_.nodes_around_[evaluates_.back()];
      if (node == kNone) node = static_cast<uint32_t>(index);
    } else if (context == StepContext::kEvaluate) {
      evaluates_.push_back(static_cast<uint32_t>(index));
      const bool accumulates = TextOf(range).find(kAccumulate) != std::string_view::npos;
      if (accumulates) result_.nodes_around_[index] = last_nodes_[depth];
    } else if (context == StepContext::kAccumulate) {
      result_.nodes_around_[index] = last_nodes_[depth];
    }
  }

  bool InsideNode() const {
    return std::any_of(open_.begin(), open_.end(), [](const Open& open) { return open.node; });
  }

  bool IsGradientFunction(const Range& range) const {
    return TextOf(range).find("Backward") == std::string_view::npos;
  }

  void AddNode(size_t index, const Range& range, int64_t sequence) {
    if (sequence < 0) return;
    const Operator* op = OperatorOf(range);
    int64_t forward_thread = op != nullptr ? op->forward_thread : 0;
    int64_t forward_handle = op != nullptr ? op->forward_handle : 0;
    if (range.kind == RangeKind::kMarker && texts_.Of(range.text).kind == MarkerKind::kNode) {
      forward_thread = texts_.Of(range.text).thread;
      forward_handle = texts_.Of(range.text).handle;
    }
    nodes_.push_back({static_cast<uint32_t>(index),
                      {trace_.threads[range.thread].process_id, sequence},
                      forward_thread,
                      forward_handle});
  }

  /// Which thread the number of a thread means that a marker of nvtx_annotate tells.
  void NoteToldThread(const Range& range) {
    int64_t thread = 0;
    if (const Operator* op = OperatorOf(range)) {
      thread = op->backward ? 0 : op->thread;
    } else if (range.kind == RangeKind::kMarker) {
      const RangeTexts::Text& text = texts_.Of(range.text);
      if (text.kind == MarkerKind::kOp) thread = text.thread;
    }
    if (thread == 0) return;
    told_threads_[{trace_.threads[range.thread].process_id, thread}] = range.thread;
  }

  /// The calls that nodes name as theirs.
  void FindToldForwards() {
    for (const Node& node : nodes_) {
      if (node.forward_handle == 0) continue;
      told_forwards_.try_emplace({node.key.process_id, node.forward_handle}, kNone);
    }
    if (told_forwards_.empty()) return;
    for (size_t i = 0; i < trace_.ranges.size(); ++i) {
      const Range& range = trace_.ranges[i];
      if (left_out_[i] || range.open()) continue;
      const int64_t handle = HandleOf(range);
      if (handle == 0) continue;
      const auto place = told_forwards_.find({trace_.threads[range.thread].process_id, handle});
      if (place != told_forwards_.end()) place->second = static_cast<uint32_t>(i);
    }
  }

  /// The number of an op's call, as the file tells; 0: it does not, or the range is no op.
  int64_t HandleOf(const Range& range) const {
    if (const Operator* op = OperatorOf(range)) return op->backward ? 0 : op->handle;
    if (range.kind != RangeKind::kMarker) return 0;
    const RangeTexts::Text& text = texts_.Of(range.text);
    return text.kind == MarkerKind::kOp ? text.handle : 0;
  }

  /// Code of the framework that unpacks what a checkpoint kept runs inside the node that asks.
  void NoteCheckpointFrame(const Range& range) {
    if (TextOf(range).find(kCheckpointFile) == std::string_view::npos) return;
    if (!open_.empty() && open_.back().node) open_.back().checkpoint = true;
  }

  /// An op right inside a node: remembers whether gradients were recorded while it ran. Answers
  /// whether a node is around the op at all.
  bool NoteInnerOp(size_t index, int64_t sequence) {
    if (open_.empty()) return false;
    const Open& parent = open_.back();
    if (!parent.node) return InsideNode();
    if (IsTellingGradient(TextOf(trace_.ranges[index]))) {
      gradient_calls_.emplace(parent.range, static_cast<uint32_t>(index));
    }
    // Which of them run again is told.
    if (ToldSequence(trace_.ranges[index]) >= 0 || IsToldOp(trace_.ranges[index])) return true;
    Inner& inner = inner_[parent.range];
    inner.checkpoint |= parent.checkpoint;
    // Old files give 0 to ops that have no number.
    if (sequence > 0 || parent.checkpoint) {
      inner.numbered.push_back(static_cast<uint32_t>(index));
    } else {
      inner.unnumbered = true;
    }
    return true;
  }

  /// Ops run without numbers in a backward pass, unless the pass itself is recorded
  /// (create_graph), when all have one. Numbered ops beside others are a forward pass that runs
  /// again.
  void MarkRecomputed() {
    for (const auto& [node, inner] : inner_) {
      if (!inner.checkpoint && !inner.unnumbered) continue;
      for (const uint32_t range : inner.numbered) {
        result_.contexts_[range] = StepContext::kRecompute;
      }
    }
    inner_.clear();
  }

  /// The ops that may have made the nodes: by number, in the order of their starts.
  void CollectForwards() {
    for (const Node& node : nodes_) forwards_.try_emplace(node.key);
    for (size_t i = 0; i < trace_.ranges.size(); ++i) {
      const StepContext context = result_.contexts_[i];
      if (left_out_[i] || echoes_[i] ||
          (context != StepContext::kNone && context != StepContext::kRecompute)) {
        continue;
      }
      const Range& range = trace_.ranges[i];
      if (range.open()) continue;
      const std::optional<int64_t> sequence = SequenceOf(range);
      // On a thread of the engine 0 is a filler.
      if (!sequence || *sequence < (result_.engine_threads_[range.thread] ? 1 : 0)) continue;
      const auto place = forwards_.find({trace_.threads[range.thread].process_id, *sequence});
      if (place != forwards_.end()) place->second.push_back(static_cast<uint32_t>(i));
    }
    const auto earlier = [&](uint32_t a, uint32_t b) {
      return trace_.ranges[a].start_ns < trace_.ranges[b].start_ns;
    };
    for (auto& [key, list] : forwards_) std::stable_sort(list.begin(), list.end(), earlier);
  }

  /// Which thread the framework's own number of a thread means: the one that most nodes of it leave
  /// no choice but.
  void MapForwardThreads() {
    std::unordered_map<int64_t, std::unordered_map<ThreadIndex, size_t>> votes;
    for (const Node& node : nodes_) {
      if (node.forward_thread == 0) continue;
      const std::vector<uint32_t>& candidates = forwards_.at(node.key);
      if (candidates.empty()) continue;
      const ThreadIndex thread = trace_.ranges[candidates.front()].thread;
      if (std::all_of(candidates.begin(), candidates.end(),
                      [&](uint32_t i) { return trace_.ranges[i].thread == thread; })) {
        ++votes[node.forward_thread][thread];
      }
    }
    for (const auto& [number, threads] : votes) {
      const auto most =
          std::max_element(threads.begin(), threads.end(), [](const auto& a, const auto& b) {
            return std::pair(a.second, b.first) < std::pair(b.second, a.first);
          });
      forward_threads_[number] = most->first;
    }
  }

  void LinkNodes() {
    links_ = trace_.forward_backward_links;
    std::sort(links_.begin(), links_.end(), [](const auto& a, const auto& b) {
      return std::tie(a.backward_thread, a.backward_ns) <
             std::tie(b.backward_thread, b.backward_ns);
    });
    std::stable_sort(nodes_.begin(), nodes_.end(), [&](const Node& a, const Node& b) {
      return trace_.ranges[a.range].start_ns < trace_.ranges[b.range].start_ns;
    });
    // By forward op and number of the node: those of one op are no runs of each other.
    std::map<std::pair<uint32_t, int64_t>, uint32_t> run_counts;
    for (const Node& node : nodes_) {
      uint32_t forward = ForwardOf(node);
      if (forward == kNone) continue;
      if (const auto owner = owners_.find(forward); owner != owners_.end()) forward = owner->second;
      uint32_t& number = result_.links_[forward];
      if (number == 0) {
        result_.forwards_.push_back(forward);
        result_.gradient_calls_.push_back(kNone);
        number = static_cast<uint32_t>(result_.forwards_.size());
      }
      const auto gradient = gradient_calls_.find(node.range);
      if (gradient != gradient_calls_.end()) {
        result_.gradient_calls_[number - 1] = gradient->second;
      }
      result_.runs_.push_back({number, run_counts[{number, node.key.sequence}]++});
      result_.links_[node.range] = static_cast<uint32_t>(result_.runs_.size());
    }
  }

  /// The forward end of the profiler's own arrow to a node, or null.
  const ForwardBackwardLink* LinkOf(const Range& node) const {
    const auto place = std::lower_bound(links_.begin(), links_.end(), node,
                                        [](const ForwardBackwardLink& link, const Range& range) {
                                          return std::tie(link.backward_thread, link.backward_ns) <
                                                 std::tie(range.thread, range.start_ns);
                                        });
    if (place == links_.end() || place->backward_thread != node.thread ||
        place->backward_ns > node.end_ns) {
      return nullptr;
    }
    return &*place;
  }

  uint32_t ForwardOf(const Node& node) {
    const Range& backward = trace_.ranges[node.range];
    if (const auto told = told_forwards_.find({node.key.process_id, node.forward_handle});
        told != told_forwards_.end() && told->second != kNone) {
      return told->second;
    }
    candidates_.clear();
    for (const uint32_t i : forwards_.at(node.key)) {
      if (trace_.ranges[i].start_ns >= backward.start_ns) break;
      candidates_.push_back(i);
    }
    if (const ForwardBackwardLink* link = LinkOf(backward)) {
      KeepThread(link->forward_thread);
      std::erase_if(candidates_, [&](uint32_t i) {
        return trace_.ranges[i].start_ns > link->forward_ns &&
               !Within(trace_.ranges[i], link->forward_ns);
      });
    } else if (const auto told = told_threads_.find({node.key.process_id, node.forward_thread});
               told != told_threads_.end()) {
      KeepThread(told->second);
    } else if (const auto thread = forward_threads_.find(node.forward_thread);
               thread != forward_threads_.end()) {
      KeepThread(thread->second);
    }
    if (candidates_.empty()) return kNone;
    const uint32_t last = LastThatFits(NameOf(backward));
    if (last == kNone) return kNone;
    return IsOneOpOfAllThreads(last) ? last : kNone;
  }

  static bool Within(const Range& range, int64_t time_ns) {
    return range.start_ns <= time_ns && time_ns <= range.end_ns;
  }

  void KeepThread(ThreadIndex thread) {
    const bool any = std::any_of(candidates_.begin(), candidates_.end(),
                                 [&](uint32_t i) { return trace_.ranges[i].thread == thread; });
    if (any)
      std::erase_if(candidates_, [&](uint32_t i) { return trace_.ranges[i].thread != thread; });
  }

  /// The last whose name is the node's. Else the node is that of a function of the user, which
  /// calls ops of the same number: the outermost around the last. kNone where that says nothing.
  uint32_t LastThatFits(std::string_view node_text) const {
    const std::string node_name = BareName(node_text);
    for (size_t i = candidates_.size(); i-- > 0;) {
      if (NamesFit(node_name, BareName(NameOf(trace_.ranges[candidates_[i]])))) {
        return candidates_[i];
      }
    }
    // The op of a C++ function of the user has no number of its own, nor a name like the node's.
    if (node_text.find("CppNode<") != std::string_view::npos) return kNone;
    const Range& last = trace_.ranges[candidates_.back()];
    const auto outermost = std::find_if(candidates_.begin(), candidates_.end(), [&](uint32_t i) {
      const Range& range = trace_.ranges[i];
      return range.thread == last.thread && range.start_ns <= last.start_ns &&
             range.end_ns >= last.end_ns;
    });
    return *outermost;
  }

  /// Whether no other thread has another op of the same number: which one made the node cannot be
  /// told then.
  bool IsOneOpOfAllThreads(uint32_t chosen) const {
    const Range& range = trace_.ranges[chosen];
    return std::all_of(candidates_.begin(), candidates_.end(),
                       [&](uint32_t i) { return trace_.ranges[i].thread == range.thread; });
  }

  struct Inner {
    std::vector<uint32_t> numbered;
    bool unnumbered = false;
    bool checkpoint = false;
  };

  Autograd& result_;
  const Trace& trace_;
  const RangeTexts& texts_;
  std::span<const size_t> ends_;
  const std::vector<bool>& left_out_;
  std::vector<TextFacts> facts_;  // By StringId.
  std::vector<Open> open_;
  std::vector<uint32_t> evaluates_;            // Ranges of the engine around nodes, open ones last.
  std::vector<uint32_t> last_nodes_;           // The last node by the number of nodes around it.
  std::unordered_map<uint32_t, Inner> inner_;  // By node, of one thread.
  std::unordered_map<uint32_t, uint32_t> gradient_calls_;  // By node; ranges.
  std::vector<Node> nodes_;
  std::unordered_map<Key, std::vector<uint32_t>, KeyHash> forwards_;
  std::unordered_map<int64_t, ThreadIndex> forward_threads_;
  std::map<std::pair<int64_t, int64_t>, ThreadIndex> told_threads_;  // By process and number.
  std::unordered_map<Key, uint32_t, KeyHash> told_forwards_;  // Ranges, by process and handle.
  std::unordered_map<uint32_t, uint32_t> owners_;  // By range of a number inside a marked op.
  std::vector<bool> echoes_;  // By range: repeats the number of the marker around it.
  std::vector<ForwardBackwardLink> links_;
  std::vector<uint32_t> candidates_;
};

Autograd::Autograd(const Trace& trace, const RangeTexts& texts, std::span<const size_t> ends,
                   const std::vector<bool>& left_out) {
  Builder(this, trace, texts, ends, left_out).Run();
}

}  // namespace oplens::parse

#include "parse/chrome/chrome_links.h"

#include <algorithm>
#include <cstdint>
#include <optional>
#include <tuple>

#include "parse/model/marker_text.h"

namespace oplens::parse {
namespace {

/// A range that bears a sequence number.
struct Numbered {
  int64_t process = 0;
  int64_t sequence = 0;
  int64_t start_ns = 0;
  int64_t end_ns = 0;
  ThreadIndex thread = 0;

  std::tuple<int64_t, int64_t, int64_t> key() const { return {process, sequence, start_ns}; }
  bool SameNumber(const Numbered& other) const {
    return process == other.process && sequence == other.sequence;
  }
};

class Matcher {
 public:
  explicit Matcher(const Trace& trace) : trace_(trace), texts_(trace.strings.size()) {}

  std::vector<ForwardBackwardLink> Run() {
    for (const Range& range : trace_.ranges) Sort(range);
    const auto by_key = [](const Numbered& a, const Numbered& b) { return a.key() < b.key(); };
    std::stable_sort(forward_.begin(), forward_.end(), by_key);
    std::stable_sort(backward_.begin(), backward_.end(), by_key);
    std::vector<ForwardBackwardLink> links;
    const Numbered* outer = nullptr;
    for (const Numbered& node : backward_) {
      const bool inside = outer != nullptr && outer->SameNumber(node) &&
                          outer->thread == node.thread && node.start_ns < outer->end_ns;
      if (inside) continue;
      outer = &node;
      const Numbered* op = ForwardOf(node);
      if (op == nullptr) continue;
      links.push_back({op->start_ns, node.start_ns, op->thread, node.thread});
    }
    return links;
  }

 private:
  /// What a marker's text says of sequences, kept by text.
  struct Text {
    bool known = false;
    bool backward = false;
    int64_t sequence = -1;
  };

  void Sort(const Range& range) {
    if (range.kind == RangeKind::kOperator && range.item < trace_.operators.size()) {
      const Operator& op = trace_.operators[range.item];
      Add(range, op.sequence, op.backward);
    } else if (range.kind == RangeKind::kMarker) {
      const Text& text = TextOf(range.text);
      Add(range, text.sequence, text.backward);
    }
  }

  void Add(const Range& range, int64_t sequence, bool backward) {
    if (sequence < 0) return;
    const int64_t process = trace_.threads[range.thread].process_id;
    (backward ? backward_ : forward_)
        .push_back({process, sequence, range.start_ns, range.end_ns, range.thread});
  }

  const Text& TextOf(StringId id) {
    Text& text = texts_[id];
    if (text.known) return text;
    const MarkerText marker = ClassifyMarker(trace_.strings.View(id));
    text.known = true;
    text.backward = marker.backward;
    if (marker.kind == MarkerKind::kSeq) text.sequence = marker.seq;
    return text;
  }

  const Numbered* ForwardOf(const Numbered& node) const {
    const auto after =
        std::lower_bound(forward_.begin(), forward_.end(), node,
                         [](const Numbered& a, const Numbered& b) { return a.key() < b.key(); });
    if (after == forward_.begin()) return nullptr;
    const Numbered* last = &*(after - 1);
    if (!last->SameNumber(node)) return nullptr;
    if (node.sequence != 0) return last;
    return &*std::lower_bound(
        forward_.begin(), after, node, [](const Numbered& a, const Numbered& b) {
          return std::tuple(a.process, a.sequence) < std::tuple(b.process, b.sequence);
        });
  }

  const Trace& trace_;
  std::vector<Text> texts_;  // By StringId.
  std::vector<Numbered> forward_;
  std::vector<Numbered> backward_;
};

}  // namespace

std::vector<ForwardBackwardLink> ForwardBackwardLinks(const Trace& trace) {
  if (!trace.forward_backward_links.empty()) return trace.forward_backward_links;
  return Matcher(trace).Run();
}

}  // namespace oplens::parse

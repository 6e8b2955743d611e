#ifndef OPLENS_PARSE_MODEL_REASON_H_
#define OPLENS_PARSE_MODEL_REASON_H_

// Public header: installed, docs/library.md.

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace oplens {

/// Effect of a reason on exit codes: --strict exits 3 from kDamage on, a gate 4 for kLost.
enum class Severity : uint8_t {
  kInfo,    ///< The file does not hold it (no annotation, no cost model yet).
  kDamage,  ///< A row or a text of the file is broken.
  kLost,    ///< Damage, and recorded data is not read: figures cover the rest.
};

// Every reason code: enumerator, printed word, severity, sentence for the user. To add one, add a
// line here; nothing else lists them. At most 64.
#define OPLENS_REASONS(X)                                                                          \
  X(kNoLaunchCall, "no-launch", kDamage, "kernels whose launch call is not in the file")           \
  X(kUnnumberedLaunch, "unnumbered-launch", kDamage,                                               \
    "kernels without a number that tells which call of the file launched them")                    \
  X(kNoMarker, "no-range", kInfo, "kernels launched outside every annotated range")                \
  X(kUntimed, "untimed", kDamage, "kernels without a time (start = end = 0); left out of sums")    \
  X(kBadTimes, "bad-times", kDamage, "kernels that end before they start; left out of sums")       \
  X(kBadKernelRow, "bad-kernel-row", kLost, "kernel rows with a value of the wrong type or range") \
  X(kUnknownKernelName, "no-kernel-name", kDamage,                                                 \
    "kernels whose name is not in the string table")                                               \
  X(kBadLaunchRow, "bad-launch-row", kLost, "API rows with a value of the wrong type; skipped")    \
  X(kBadLaunchTimes, "bad-launch-times", kLost, "API calls that end before they start; skipped")   \
  X(kDuplicateLaunch, "duplicate-launch", kInfo,                                                   \
    "API rows that repeat a correlation id; the first "                                            \
    "one counts")                                                                                  \
  X(kBadMarkerRow, "bad-marker-row", kLost,                                                        \
    "range rows with a value of the wrong type, or an unknown text")                               \
  X(kBadMarkerText, "bad-marker-text", kDamage,                                                    \
    "range texts that look like an annotation but do "                                             \
    "not parse; read as free text")                                                                \
  X(kUnmatchedEnd, "unmatched-end", kDamage, "range ends without a start; skipped")                \
  X(kDuplicateMarker, "duplicate-range", kDamage,                                                  \
    "range rows that repeat a start or end; skipped")                                              \
  X(kReversedRange, "reversed-range", kDamage, "ranges that end before they start; skipped")       \
  X(kOpenRange, "open-range", kInfo,                                                               \
    "ranges that were never closed; they give no op unless "                                       \
    "--keep-open")                                                                                 \
  X(kLeakedRange, "leaked-range", kInfo,                                                           \
    "ranges left out: more than 8 of one text on a thread were "                                   \
    "never closed")                                                                                \
  X(kOnlyLeakedRanges, "leaked-ranges-only", kInfo,                                                \
    "kernels that only leaked ranges surround; they have no op")                                   \
  X(kGraphKernel, "graph-kernel", kInfo,                                                           \
    "kernels that a CUDA graph replayed; their ops were at work when it was captured")             \
  X(kCompiledKernel, "compiled-kernel", kInfo, "kernels that a compiler made of several ops")      \
  X(kClippedTime, "clipped-time", kInfo, "times cut to fit the range or row around them")          \
  X(kBadEvent, "bad-event", kLost, "events of the file that do not parse; skipped")                \
  X(kRepairedEvent, "repaired-event", kInfo,                                                       \
    "events with broken text or numbers; read after a repair")                                     \
  X(kBadNode, "bad-node", kDamage,                                                                 \
    "nodes of an execution trace that do not parse, or repeat a number; skipped")                  \
  X(kOtherNode, "other-node", kDamage,                                                             \
    "ranges of PyTorch that the execution trace has as another call; read as without it")          \
  X(kNoNode, "no-node", kInfo,                                                                     \
    "ranges of PyTorch that are not in the execution trace of their process")                      \
  X(kBadOtherRow, "bad-row", kLost,                                                                \
    "rows of other tables with a value of the wrong type; skipped")                                \
  X(kBadLine, "bad-line", kLost, "lines that are not a kernel record; skipped")                    \
  X(kUnknownOp, "no-cost-model", kInfo, "kernels of ops that have no cost model yet")              \
  X(kNoArguments, "no-arguments", kInfo, "kernels whose ranges name no op with its arguments")     \
  X(kUnsupportedArgs, "unsupported-args", kInfo,                                                   \
    "kernels of ops whose arguments cannot be priced")                                             \
  X(kCutArguments, "cut-args", kInfo, "kernels of ops with more arguments than their range holds") \
  X(kShapeMismatch, "shape-mismatch", kInfo, "kernels of ops whose shapes contradict each other")  \
  X(kUnknownDType, "unknown-dtype", kInfo, "kernels of ops with a data type of unknown size")      \
  X(kNoForwardMatch, "no-forward", kInfo,                                                          \
    "backward kernels without a forward op of their sequence "                                     \
    "id")                                                                                          \
  X(kAmbiguousForward, "ambiguous-forward", kInfo,                                                 \
    "backward kernels whose sequence id fits "                                                     \
    "different forward ops of several threads")                                                    \
  X(kRuleFault, "rule-fault", kInfo, "kernels of ops whose rule gives no number for their sizes")  \
  X(kCostOverflow, "cost-overflow", kInfo, "kernels whose cost does not fit into 64 bits")         \
  X(kUnknownRole, "unknown-role", kInfo, "kernels whose part in their op is not known")            \
  X(kWinograd, "winograd", kInfo,                                                                  \
    "kernels above the peak of their units: Winograd or FFT convolutions, which do fewer FLOPs "   \
    "than their op has")                                                                           \
  X(kCache, "cache", kInfo,                                                                        \
    "kernels above the DRAM bandwidth: the L2 cache may have had a part of their bytes")           \
  X(kClock, "clock", kInfo,                                                                        \
    "kernels above a roof by less than the error of their times, which are whole microseconds")    \
  X(kLink, "link", kInfo,                                                                          \
    "collectives faster than the links of their GPU: a switch sums for them, or they sent less "   \
    "than their sizes and ranks say")                                                              \
  X(kFileCut, "file-cut", kLost, "files that end early, or whose packed data is damaged")          \
  X(kTrailingData, "trailing-data", kLost, "files that go on behind their end; that is not read")

enum class Reason : uint8_t {
#define OPLENS_X(name, word, severity, sentence) name,
  OPLENS_REASONS(OPLENS_X)
#undef OPLENS_X
};

inline constexpr int kReasonCount = 0
#define OPLENS_X(name, word, severity, sentence) +1
    OPLENS_REASONS(OPLENS_X)
#undef OPLENS_X
    ;

/// The printed word, e.g. "no-launch". Stable: files contain it.
std::string_view ReasonWord(Reason reason);
Severity SeverityOf(Reason reason);
/// What is counted, for users: "events of the file that do not parse; skipped".
std::string_view ReasonSentence(Reason reason);
/// Returns true and sets `reason` if `word` is one of the printed words.
bool FindReason(std::string_view word, Reason* reason);

/// A set of reasons, in declaration order.
class ReasonSet {
 public:
  constexpr ReasonSet() = default;
  constexpr void Add(Reason reason) { bits_ |= Bit(reason); }
  constexpr bool Has(Reason reason) const { return (bits_ & Bit(reason)) != 0; }
  constexpr bool Empty() const { return bits_ == 0; }
  constexpr void Clear() { bits_ = 0; }
  constexpr void Merge(ReasonSet other) { bits_ |= other.bits_; }
  friend constexpr bool operator==(ReasonSet a, ReasonSet b) { return a.bits_ == b.bits_; }
  /// Whether the launch of the kernel is not known.
  constexpr bool LacksLaunch() const {
    return Has(Reason::kNoLaunchCall) || Has(Reason::kUnnumberedLaunch);
  }

  /// Calls f(Reason) for each member, in declaration order.
  template <typename F>
  void ForEach(F f) const {
    for (uint64_t rest = bits_; rest != 0; rest &= rest - 1) {
      f(static_cast<Reason>(__builtin_ctzll(rest)));
    }
  }

 private:
  static constexpr uint64_t Bit(Reason reason) { return uint64_t{1} << static_cast<int>(reason); }
  uint64_t bits_ = 0;
};
static_assert(kReasonCount <= 64, "ReasonSet is one word");

/// What a stage could not understand: a count and the first examples per reason, and plain
/// sentences. Libraries fill it, main prints it; nothing in it stops a run.
class Diagnostics {
 public:
  /// Counts one case. Keeps the first three `example`s (place and content), with '?' for non-ASCII
  /// and control characters.
  void Count(Reason reason, std::string example = {});
  /// Counts `n` cases without an example.
  void CountMany(Reason reason, int64_t n);
  /// Adds a sentence for the user, e.g. a missing table and what it costs. Drops repeats.
  void Note(std::string sentence);
  /// Counts a file of which a part is lost. `sentence`: "FILE: what is wrong".
  void CountFile(Reason reason, std::string sentence);
  /// Like CountFile, but without the count.
  void NoteLost(std::string sentence);
  void Merge(const Diagnostics& other);

  int64_t CountOf(Reason reason) const { return counts_[static_cast<size_t>(reason)]; }
  /// Whether anything counted is kDamage or worse.
  bool Damaged() const;
  bool HasLost() const;
  /// Sentences of CountFile(); notes() has them too.
  const std::vector<std::string>& lost_files() const { return lost_files_; }
  const std::vector<std::string>& notes() const { return notes_; }
  const std::vector<std::string>& ExamplesOf(Reason reason) const {
    return examples_[static_cast<size_t>(reason)];
  }
  /// Whether Count would keep another example; if not, callers need not build the text.
  bool KeepsExample(Reason reason) const { return ExamplesOf(reason).size() < kMaxExamples; }

  /// One line per note, then one per reason: "TOOL: COUNT SENTENCE [WORD], e.g. EXAMPLE".
  std::string Render(std::string_view tool) const;

 private:
  static constexpr size_t kMaxExamples = 3;
  bool HasOf(Severity least) const;

  std::array<int64_t, kReasonCount> counts_{};
  std::array<std::vector<std::string>, kReasonCount> examples_;
  std::vector<std::string> notes_;
  std::vector<std::string> lost_files_;
};

}  // namespace oplens

#endif  // OPLENS_PARSE_MODEL_REASON_H_

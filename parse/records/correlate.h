#ifndef OPLENS_PARSE_RECORDS_CORRELATE_H_
#define OPLENS_PARSE_RECORDS_CORRELATE_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "base/id_map.h"
#include "parse/join/autograd.h"
#include "parse/join/range_texts.h"
#include "parse/join/step_index.h"
#include "parse/model/kernel_record.h"
#include "parse/model/reason.h"
#include "parse/model/trace.h"

namespace oplens::parse {

struct CorrelateOptions {
  /// Ranges that were never closed give their op and call stack too, as PyProf has it.
  bool keep_open = false;
};

/// How many ranges of one text may stay open on a thread before they count as a leak and are left
/// out.
inline constexpr int64_t kMaxOpenOfOneText = 8;
/// How many free-text ranges a record names.
inline constexpr size_t kMaxRangePath = 16;
/// How many frames of a call stack of separate Python functions a record names: the innermost.
inline constexpr size_t kMaxFrames = 64;

/// Kernels joined with their launch and the ranges around it. Rules: docs/correlation.md.
///
/// O((K + R) log R) for K kernels and R ranges, whatever the order of the rows, with one sweep a
/// thread. Keeps about 60 bytes a kernel and 4 bytes a range that a record names.
class Correlation {
 public:
  /// Sorts the kernels of `trace` into output order (start, correlation id, row id; untimed ones
  /// last), its graph replays by start, and its ranges by thread and start. `trace` must outlive
  /// this object. What is missing is counted in `diagnostics`.
  Correlation(Trace* trace, const CorrelateOptions& options, Diagnostics* diagnostics);
  ~Correlation();
  Correlation(const Correlation&) = delete;
  Correlation& operator=(const Correlation&) = delete;

  size_t kernel_count() const { return trace_.kernels.size(); }

  /// Fills the record of the i-th kernel in output order. Its views live as long as this object.
  void RecordOf(size_t i, KernelRecord* record) const;

  /// Replays of CUDA graphs whose kernels the file hides, in the order of their starts.
  size_t replay_count() const { return trace_.graph_replays.size(); }

  /// Fills what is known of the i-th replay as of a kernel without a name: its span, which is no
  /// less than the time of its kernels' work, and its launch with what is around it.
  void ReplayOf(size_t i, KernelRecord* record) const;

 private:
  class Builder;

  /// The ranges around one launch, as spans of items_, and the sequence state behind it.
  struct Launched {
    uint32_t first_item = 0;  // Layers, then reprs, ops, seqs, free texts, frames, forward ops.
    uint32_t layers = 0;
    uint32_t reprs = 0;
    uint32_t ops = 0;
    uint32_t seqs = 0;
    uint32_t paths = 0;
    uint32_t paths_cut = 0;
    uint32_t frames = 0;
    uint32_t forwards = 0;     // Of those that made a node.
    NodeRun node;              // Of the innermost node.
    uint32_t node_around = 0;  // Of the engine's own work: the forward op of the node it is for.
    uint32_t trace_range = UINT32_MAX;
    uint32_t sub_seq_id = 0;
    uint32_t callers = 0;  // From 1, into caller_ends_; 0: no thread waits for this launch.
    Phase phase = Phase::kUnknown;
    bool backward = false;  // A node or its number says so.
    bool has_seq = false;
    int64_t seq_id = -1;
    ReasonSet reasons;
  };
  struct KernelName {
    std::string long_name;
    std::string short_name;
  };

  /// Adds to the calls of forward ops what their gradient functions tell.
  void CompleteForwardCalls();
  /// The same where no number links them.
  void CompleteCallsBySize();
  static void DropZeroBesideOthers(std::vector<int64_t>* seq_ids);

  /// The call whose surroundings tell the op of a kernel: its launch, or what put it into the graph
  /// that was launched.
  static LaunchIndex OriginOf(const Kernel& kernel) {
    return kernel.capture != kNoLaunch ? kernel.capture : kernel.launch;
  }

  void NameKernels();
  /// Makes the calls of the kernels that say which collective they are.
  void NameCommunications();
  std::span<const uint32_t> Ops(const Launched& launched) const;
  std::span<const uint32_t> Seqs(const Launched& launched) const;
  std::span<const uint32_t> Paths(const Launched& launched) const;
  std::span<const uint32_t> Forwards(const Launched& launched) const;
  std::span<const uint32_t> Callers(const Launched& launched) const;
  /// Calls f(op, mod) for each op of the launch by PyProf's rule: annotated calls; else backward
  /// nodes; else forward sequence ranges; else the outermost free-text range. mod 0 is unknown.
  template <typename F>
  void ForEachOp(const Launched& launched, F f) const;
  // The texts of a range in the lists above: what a marker says itself, and what the details of an
  // operator say.
  StringId OpTextOf(uint32_t range) const;
  StringId SeqTextOf(uint32_t range) const;
  StringId TraceTextOf(uint32_t range) const;
  const RangeTexts::Text& OpOf(uint32_t range) const { return texts_->Of(OpTextOf(range)); }
  const RangeTexts::Text& SeqOf(uint32_t range) const { return texts_->Of(SeqTextOf(range)); }

  void FillKernel(const Kernel& kernel, KernelRecord* record) const;
  /// Times and place of a kernel or a replay.
  template <typename Work>
  void FillWork(const Work& work, KernelRecord* record) const;
  void FillLaunch(const LaunchCall& call, KernelRecord* record) const;
  void FillRanges(const Launched& launched, KernelRecord* record) const;
  void FillLayers(const Launched& launched, KernelRecord* record) const;
  /// The layer that a forward op is in.
  void FillLayerOf(uint32_t forward, KernelRecord* record) const;
  void FillSequence(const Launched& launched, KernelRecord* record) const;
  void FillNode(const Launched& launched, KernelRecord* record) const;
  /// Adds the call of a kernel's collective as the innermost.
  void FillCommunication(const Kernel& kernel, KernelRecord* record) const;

  Trace& trace_;
  CorrelateOptions options_;
  std::unique_ptr<RangeTexts> texts_;
  std::vector<Launched> launched_;       // One a kernel, in output order.
  std::vector<uint32_t> items_;          // Indices into trace_.ranges.
  std::vector<uint32_t> caller_ranges_;  // The same: what threads that wait are inside of.
  std::vector<uint32_t> caller_ends_;    // Where those of each question end in it; [0] is 0.
  std::unique_ptr<Autograd> autograd_;
  std::vector<StringId> completed_calls_;  // By number of the forward op; 0: as recorded.
  std::unordered_map<StringId, StringId> calls_by_size_;  // Completed ones by the recorded.
  /// What is around the forward ops that launched nothing, by number.
  std::unordered_map<uint32_t, Launched> silent_forwards_;
  // Those whose layer a kernel takes that runs between the nodes, by number.
  std::unordered_map<uint32_t, Launched> forward_places_;
  std::vector<StringId> operator_seq_texts_;   // By index into Trace::operators; 0: not needed yet.
  std::vector<uint32_t> name_index_;           // By StringId; into names_.
  std::vector<KernelName> names_;              // [0] is the unknown name.
  StepIndex steps_;                            // Its threads are those of trace_.
  IdMap device_index_;                         // By device id; into Trace::devices.
  std::vector<StringId> communication_calls_;  // By index into Trace::communications; 0: none.
  std::vector<StringId> device_texts_;         // Of each of Trace::devices, for KernelRecord::gpu.
};

}  // namespace oplens::parse

#endif  // OPLENS_PARSE_RECORDS_CORRELATE_H_

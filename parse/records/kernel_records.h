#ifndef OPLENS_PARSE_RECORDS_KERNEL_RECORDS_H_
#define OPLENS_PARSE_RECORDS_KERNEL_RECORDS_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "base/id_map.h"
#include "parse/join/collectives.h"
#include "parse/join/joined.h"
#include "parse/model/kernel_names.h"
#include "parse/model/kernel_record.h"
#include "parse/model/reason.h"
#include "parse/model/trace.h"

namespace oplens::parse {

class Joined;
struct Surroundings;

/// The sequence number of each kernel, chosen among those around its launch as PyProf does, and the
/// kernel's position among consecutive kernels with the same number and op. Unlike PyProf's, the
/// state is per thread and follows the order of launches, so neither the order of rows nor other
/// threads matter. Rules: docs/correlation.md, "Sequence ids, direction, op". 8 bytes per kernel.
class PyProfSequence {
 public:
  PyProfSequence() = default;
  explicit PyProfSequence(const Joined& joined);

  /// Fills `numbers` with the distinct numbers around a call, ascending; without 0 beside others.
  static void NumbersOf(const Joined& joined, const Surroundings& around,
                        std::vector<int64_t>* numbers);

  /// Index of the kernel's number among those around its launch; nullopt: none.
  std::optional<size_t> ChosenOf(size_t kernel) const {
    const uint32_t chosen = kernels_[kernel].chosen;
    return chosen == kNone ? std::nullopt : std::optional<size_t>(chosen);
  }
  uint32_t SubSequenceOf(size_t kernel) const { return kernels_[kernel].sub_sequence; }

 private:
  class Follower;
  static constexpr uint32_t kNone = UINT32_MAX;
  struct OfKernel {
    uint32_t chosen = kNone;
    uint32_t sub_sequence = 0;
  };

  std::vector<OfKernel> kernels_;  // In output order.
};

struct Inferred;

/// The records of a trace: the join's results for each kernel, as texts. 16 bytes per kernel.
class KernelRecords {
 public:
  /// Joins `trace`, adding texts to its strings. `reference`: another recording of the program,
  /// joined with for_reference, or null. Both must outlive this object.
  KernelRecords(Trace* trace, const JoinOptions& options, Diagnostics* diagnostics,
                const KernelRecords* reference = nullptr);

  const Joined& joined() const { return joined_; }
  const KernelNames& names() const { return names_; }

  size_t kernel_count() const { return trace_.kernels.size(); }

  /// Fills the record of the i-th kernel in output order. Its views live as long as this object.
  void RecordOf(size_t i, KernelRecord* record) const;

  /// Replays of CUDA graphs whose kernels are not in the file, in order of start.
  size_t replay_count() const { return trace_.graph_replays.size(); }

  /// Fills the record of the i-th replay like that of a kernel without a name: its span, which is
  /// at least the time of its kernels' work, and its launch with the ranges around it.
  void ReplayOf(size_t i, KernelRecord* record) const;

 private:
  std::string_view View(StringId text) const { return trace_.strings.View(text); }
  void NameDevices();

  void FillKernel(const Kernel& kernel, KernelRecord* record) const;
  template <typename Work>
  void FillWork(const Work& work, KernelRecord* record) const;
  void FillLaunch(const LaunchCall& call, KernelRecord* record) const;
  void FillRanges(const Surroundings& around, KernelRecord* record) const;
  void FillLayers(std::span<const uint32_t> layers, KernelRecord* record) const;
  void FillStack(const Surroundings& around, KernelRecord* record) const;
  void FillOps(const Surroundings& around, KernelRecord* record) const;
  void FillNode(const Surroundings& around, KernelRecord* record) const;
  void FillForwards(const Surroundings& around, KernelRecord* record) const;
  /// Where the op comes from, unless it is inferred.
  Evidence EvidenceOf(size_t i, const KernelRecord& record) const;
  /// `chosen`: index of the kernel's number among those around its launch.
  void FillSequence(const Surroundings& around, std::optional<size_t> chosen, uint32_t sub_sequence,
                    KernelRecord* record) const;
  /// The records that hold the donor.
  const KernelRecords& DonorsOf(const Inferred& inferred) const;
  /// Makes bare_ of the calls of kernels that take an op without its arguments.
  void MakeBareCalls();
  /// Adds the inferred op to the facts from the kernel's own rows.
  void FillInferred(const Inferred& inferred, KernelRecord* record) const;
  /// What another kernel may inherit from the i-th: ranges, phase and the forward op of its node.
  void FillInheritable(size_t i, KernelRecord* record) const;
  /// Adds the call of the kernel's collective as the innermost one.
  void FillCollective(const Kernel& kernel, const Collectives::Call& call,
                      KernelRecord* record) const;

  Trace& trace_;
  const KernelRecords* reference_;
  Joined joined_;
  PyProfSequence sequence_;
  KernelNames names_;
  std::unordered_map<std::string_view, StringId> bare_;  // Calls without arguments, by the call.
  IdMap device_index_;                                   // By device id; into Trace::devices.
  // For unlisted ids (AMD's profilers number GPUs by node): any device, if all are equal.
  uint32_t unlisted_device_ = IdMap::kNone;
  std::vector<StringId> device_texts_;  // Per device of Trace::devices, for KernelRecord::gpu.
};

}  // namespace oplens::parse

#endif  // OPLENS_PARSE_RECORDS_KERNEL_RECORDS_H_

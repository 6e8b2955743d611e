#ifndef OPLENS_PARSE_READERS_KINETO_KINETO_HOST_H_
#define OPLENS_PARSE_READERS_KINETO_KINETO_HOST_H_

#include <compare>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "parse/readers/kineto/kineto_calls.h"
#include "parse/readers/kineto/kineto_context.h"
#include "parse/readers/kineto/kineto_event.h"
#include "parse/readers/kineto/kineto_order.h"

namespace oplens::parse {

/// Reads the events of host threads: operators, Python frames and modules, labels, steps, moments,
/// arrows from forward to backward, and the names of threads and processes.
class KinetoHost {
 public:
  explicit KinetoHost(KinetoContext* context) : context_(*context), trace_(context->trace) {}

  void ReadOperator(const KinetoEvent& event);
  void ReadAnnotation(const KinetoEvent& event);
  void ReadPythonFunction(const KinetoEvent& event);
  /// Reads an NVTX range of `parse --format chrome`; the argument "open" means never closed.
  void ReadMarker(const KinetoEvent& event);
  /// Reads a moment: the allocator's becomes a memory event, one of the whole trace is ignored.
  void ReadInstant(const KinetoEvent& event);
  /// Reads the start ("s") or finish ("f") of an arrow from a forward op to its backward node.
  void ReadForwardBackward(const KinetoEvent& event);
  void ReadNames(const KinetoEvent& event);
  /// Orders ranges and links arrows. Call after all events; a thread may, beside others that change
  /// no ranges and add no texts.
  void OrderRanges();
  /// Names the threads and lists the processes. Call after OrderRanges().
  void Finish();

 private:
  struct ArrowEnd {
    int64_t id = 0;
    int64_t time_ns = 0;
    ThreadIndex thread = 0;

    friend auto operator<=>(const ArrowEnd&, const ArrowEnd&) = default;
  };

  Range* AddRange(const KinetoEvent& event, const KinetoEventIds& ids, RangeKind kind,
                  StringId text);
  void AddCommunication(const KinetoEvent& event, Communication* communication);
  void ReadMemoryEvent(const KinetoEvent& event, int64_t time_ns);
  StringId StackOf(std::string_view frames);
  void LinkArrows();
  /// Keeps the longest of several names of a thread or process, as the most informative.
  void KeepName(StringId name, StringId* kept) const;

  KinetoContext& context_;
  Trace& trace_;
  KinetoCalls calls_;
  std::vector<uint8_t> name_kinds_;  // TorchName + 1, or 0; by 3 * StringId + 0 to 2 for the
                                     // category and arguments.
  SortedTextMap<StringId> stacks_;
  std::string text_;
  std::vector<KinetoEventIds> range_ids_;   // By range.
  std::vector<KinetoEventIds> memory_ids_;  // By memory event.
  std::vector<ArrowEnd> arrow_starts_;
  std::vector<ArrowEnd> arrow_finishes_;
  std::map<int64_t, StringId> process_names_;
  std::map<std::pair<int64_t, int64_t>, StringId> thread_names_;
};

}  // namespace oplens::parse

#endif  // OPLENS_PARSE_READERS_KINETO_KINETO_HOST_H_

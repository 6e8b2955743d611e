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

/// Reads what host threads did: operators, Python frames and modules, labels, steps, moments,
/// arrows from forward to backward, and the names of threads and processes.
class KinetoHost {
 public:
  explicit KinetoHost(KinetoContext* context) : context_(*context), trace_(context->trace) {}

  void ReadOperator(const KinetoEvent& event);
  void ReadAnnotation(const KinetoEvent& event);
  void ReadPythonFunction(const KinetoEvent& event);
  /// An NVTX range of `parse --format chrome`; its argument "open" says that it was never closed.
  void ReadMarker(const KinetoEvent& event);
  /// A moment; one of the allocator becomes a memory event, one of the whole trace is left out.
  void ReadInstant(const KinetoEvent& event);
  /// Start ("s") or finish ("f") of an arrow from a forward op to its backward node.
  void ReadForwardBackward(const KinetoEvent& event);
  /// Names of processes and threads.
  void ReadNames(const KinetoEvent& event);
  /// Names the threads and lists the processes, once all events are read.
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
  /// Of several names of one thread or process the longest is kept, which tells most.
  void KeepName(StringId name, StringId* kept) const;

  KinetoContext& context_;
  Trace& trace_;
  KinetoCalls calls_;
  std::vector<uint8_t> name_kinds_;  // By 3 * StringId + what it has: TorchName + 1, or 0.
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

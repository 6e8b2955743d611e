#ifndef OPLENS_PARSE_READERS_KINETO_KINETO_READER_H_
#define OPLENS_PARSE_READERS_KINETO_KINETO_READER_H_

#include <string>
#include <string_view>

#include "parse/readers/common/trace_reader.h"
#include "parse/readers/kineto/kineto_context.h"
#include "parse/readers/kineto/kineto_device.h"
#include "parse/readers/kineto/kineto_host.h"
#include "parse/readers/kineto/kineto_samples.h"
#include "parse/readers/kineto/kineto_torch_events.h"
#include "parse/readers/kineto/kineto_torch_functions.h"
#include "parse/source/json_events.h"

namespace oplens::parse {

extern const TraceReader kKinetoReader;

/// Makes a Trace of the events, in any order, of a trace by PyTorch's profiler (Kineto).
class KinetoReader : public JsonEventHandler {
 public:
  KinetoReader(std::string path, TraceNeeds needs, Diagnostics* diagnostics);

  void OnEvent(simdjson::dom::object object) override;
  void OnMember(std::string_view key, simdjson::dom::element value) override;

  /// Whether the document has the members of an execution trace, which lists nodes without times.
  bool is_execution_trace() const { return has_nodes_; }
  /// Whether anything in the document is from PyTorch's profiler: a member that it writes, or an
  /// event of one of its categories, even if broken.
  bool is_pytorch() const { return is_pytorch_; }
  /// The events of other categories: "foo (3), phase C (1)"; "" if there are none.
  std::string IgnoredList() const;
  /// Returns the trace after the last event. Notes what was ignored. `cut`: the file ends early.
  Trace Finish(bool cut = false);

 private:
  void ReadTimed(const KinetoEvent& event, KinetoClass kind);
  void Ignore(const KinetoEvent& event);
  void NoteIgnored();

  std::string path_;
  KinetoContext context_;
  KinetoHost host_{&context_};
  KinetoTorchEvents torch_{&context_};
  KinetoTorchFunctions functions_{&context_};
  KinetoDevice device_{&context_};
  KinetoSamples samples_{&context_};
  SortedTextMap<KinetoClass> classes_;  // By category as written.
  int64_t events_ = 0;
  int64_t counter_ranges_ = 0;
  SortedTextMap<int64_t> ignored_;  // Counts by category, or by phase if there is none.
  bool has_nodes_ = false;
  bool is_pytorch_ = false;
  bool own_timeline_ = false;  // The file was written by parse.
};

}  // namespace oplens::parse

#endif  // OPLENS_PARSE_READERS_KINETO_KINETO_READER_H_

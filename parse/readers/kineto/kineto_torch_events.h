#ifndef OPLENS_PARSE_READERS_KINETO_KINETO_TORCH_EVENTS_H_
#define OPLENS_PARSE_READERS_KINETO_KINETO_TORCH_EVENTS_H_

#include <string>

#include "parse/readers/kineto/kineto_context.h"
#include "parse/readers/kineto/kineto_event.h"

namespace oplens::parse {

/// Reads Trace::torch_events, accelerator_events and other_events.
class KinetoTorchEvents {
 public:
  explicit KinetoTorchEvents(KinetoContext* context) : context_(*context), trace_(context->trace) {}

  /// Takes any event with a duration.
  void Read(const KinetoEvent& event, KinetoClass kind);
  /// Takes those that Read() does not, if they are needed, and operators that name a stream.
  void ReadOther(const KinetoEvent& event, KinetoClass kind);

 private:
  /// False if it has no times.
  bool ReadTimes(const KinetoEvent& event, TorchEvent* torch) const;
  void ReadArguments(const KinetoEvent& event, TorchEvent* torch);

  KinetoContext& context_;
  Trace& trace_;
  std::string text_;
};

}  // namespace oplens::parse

#endif  // OPLENS_PARSE_READERS_KINETO_KINETO_TORCH_EVENTS_H_

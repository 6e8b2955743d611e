#ifndef OPLENS_PARSE_READERS_KINETO_KINETO_TORCH_FUNCTIONS_H_
#define OPLENS_PARSE_READERS_KINETO_KINETO_TORCH_FUNCTIONS_H_

#include <cstdint>
#include <string>
#include <string_view>

#include "parse/readers/kineto/kineto_context.h"
#include "parse/readers/kineto/kineto_event.h"

namespace oplens::parse {

/// Reads Trace::torch_functions, if needed, and with them Trace::torch_recording.
class KinetoTorchFunctions {
 public:
  explicit KinetoTorchFunctions(KinetoContext* context)
      : context_(*context), trace_(context->trace) {}

  /// Takes any event with a duration; ignores those without usable times.
  void Read(const KinetoEvent& event, KinetoClass kind);
  /// Takes any moment.
  void ReadInstant(const KinetoEvent& event);
  /// Takes a member of the document beside the events.
  void ReadMember(std::string_view key, simdjson::dom::element value);
  void Finish();

 private:
  void ReadArguments(const KinetoEvent& event, bool linked, TorchFunction* function);
  void TakeName(std::string_view name, TorchFunction* function);
  void TakeStart(int64_t start_ns);

  KinetoContext& context_;
  Trace& trace_;
  bool any_device_ = false;
  // Of which families there are events.
  bool xpu_ = false;
  bool private_ = false;
  bool mtia_ = false;
  bool hpu_ = false;
  std::string text_;
};

}  // namespace oplens::parse

#endif  // OPLENS_PARSE_READERS_KINETO_KINETO_TORCH_FUNCTIONS_H_

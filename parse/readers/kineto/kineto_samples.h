#ifndef OPLENS_PARSE_READERS_KINETO_KINETO_SAMPLES_H_
#define OPLENS_PARSE_READERS_KINETO_KINETO_SAMPLES_H_

#include "parse/readers/kineto/kineto_context.h"
#include "parse/readers/kineto/kineto_event.h"

namespace oplens::parse {

/// Reads samples of hardware counters of a whole GPU: events of phase C, of the process "GPU 0
/// Counters", named by their metric.
class KinetoSamples {
 public:
  explicit KinetoSamples(KinetoContext* context) : context_(*context) {}

  void Read(const KinetoEvent& event);

 private:
  KinetoContext& context_;
};

}  // namespace oplens::parse

#endif  // OPLENS_PARSE_READERS_KINETO_KINETO_SAMPLES_H_

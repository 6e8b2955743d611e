#ifndef OPLENS_PROF_VIEWS_MODULE_SUMS_H_
#define OPLENS_PROF_VIEWS_MODULE_SUMS_H_

#include <cstdint>

#include "base/checked.h"

namespace oplens::prof {

/// What a module cost. Sums saturate.
struct ModuleSums {
  /// In one of the two passes of training.
  struct Pass {
    int64_t device_ns = 0;
    int64_t host_ns = 0;

    void Add(const Pass& other);
    template <typename Bytes, typename Self>
    static void Transfer(Bytes* bytes, Self* self) {
      bytes->Sums(&self->device_ns, &self->host_ns);
    }
    bool any() const { return device_ns != 0 || host_ns != 0; }
  };

  int64_t calls = 0;
  int64_t wall_ns = 0;
  int64_t ops = 0;
  int64_t launches = 0;
  int64_t tensor_core_ns = 0;
  int64_t tensor_core_known_ns = 0;
  int64_t with_flops = 0;
  int64_t with_bytes = 0;
  Checked flops;
  Checked bytes;
  Checked allocated_bytes;
  Checked freed_bytes;
  int64_t memory_events = 0;
  // Of communication, in both passes; the others are without it.
  int64_t collectives = 0;
  int64_t communication_ns = 0;
  Pass forward;
  Pass backward;

  void Add(const ModuleSums& other);

  template <typename Bytes, typename Self>
  static void Transfer(Bytes* bytes, Self* self) {
    bytes->Sums(&self->calls, &self->wall_ns, &self->ops, &self->launches, &self->tensor_core_ns,
                &self->tensor_core_known_ns, &self->with_flops, &self->with_bytes,
                &self->memory_events, &self->collectives, &self->communication_ns);
    bytes->Values(&self->flops, &self->bytes, &self->allocated_bytes, &self->freed_bytes,
                  &self->forward, &self->backward);
  }
};

}  // namespace oplens::prof

#endif  // OPLENS_PROF_VIEWS_MODULE_SUMS_H_

#ifndef OPLENS_PROF_VIEWS_MODULE_SUMS_H_
#define OPLENS_PROF_VIEWS_MODULE_SUMS_H_

#include <tuple>

#include "base/checked.h"
#include "base/sums.h"

namespace oplens::prof {

/// What a module cost.
struct ModuleSums {
  /// In one of the two passes of training.
  struct Pass {
    Sum device_ns;
    Sum host_ns;

    static constexpr std::tuple kMembers{&Pass::device_ns, &Pass::host_ns};
  };

  Sum calls;
  Sum wall_ns;
  Sum ops;
  Sum launches;
  Sum tensor_core_ns;
  Sum tensor_core_known_ns;
  Sum with_flops;
  Sum with_bytes;
  Sum memory_events;
  // Of communication, in both passes; the others are without it.
  Sum collectives;
  Sum communication_ns;
  Checked flops;
  Checked bytes;
  Checked allocated_bytes;
  Checked freed_bytes;
  Pass forward;
  Pass backward;

  static constexpr std::tuple kMembers{
      &ModuleSums::calls,       &ModuleSums::wall_ns,          &ModuleSums::ops,
      &ModuleSums::launches,    &ModuleSums::tensor_core_ns,   &ModuleSums::tensor_core_known_ns,
      &ModuleSums::with_flops,  &ModuleSums::with_bytes,       &ModuleSums::memory_events,
      &ModuleSums::collectives, &ModuleSums::communication_ns, &ModuleSums::flops,
      &ModuleSums::bytes,       &ModuleSums::allocated_bytes,  &ModuleSums::freed_bytes,
      &ModuleSums::forward,     &ModuleSums::backward};
};

}  // namespace oplens::prof

#endif  // OPLENS_PROF_VIEWS_MODULE_SUMS_H_

#include "parse/model/kernel_record.h"

#include <utility>

namespace oplens {

void KernelRecord::Clear() {
  // Lists keep their memory: one record is refilled millions of times.
  KernelRecord fresh;
  for (auto member :
       {&KernelRecord::layer, &KernelRecord::trace, &KernelRecord::repr_markers,
        &KernelRecord::markers, &KernelRecord::seq_markers, &KernelRecord::mod, &KernelRecord::op,
        &KernelRecord::range, &KernelRecord::caller_range, &KernelRecord::forward_layer,
        &KernelRecord::forward_trace, &KernelRecord::forward_markers, &KernelRecord::forward_mod,
        &KernelRecord::forward_op}) {
    (this->*member).clear();
    (fresh.*member).swap(this->*member);
  }
  for (auto member :
       {&KernelRecord::seq_ids, &KernelRecord::alt_seq_ids, &KernelRecord::marker_starts_ns,
        &KernelRecord::nodes, &KernelRecord::node_ops}) {
    (this->*member).clear();
    (fresh.*member).swap(this->*member);
  }
  *this = std::move(fresh);
}

}  // namespace oplens

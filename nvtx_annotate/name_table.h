#ifndef OPLENS_NVTX_ANNOTATE_NAME_TABLE_H_
#define OPLENS_NVTX_ANNOTATE_NAME_TABLE_H_

#include <nvtx3/nvToolsExt.h>

#include "nvtx_annotate/marker_text.h"

namespace oplens::annotate {

/// The names of an op and the handle that the tool gave to their message. Lives until the process
/// ends.
class RegisteredName {
 public:
  RegisteredName(const markers::OpNames& copied, nvtxStringHandle_t handle) noexcept
      : names_(copied), handle_(handle) {}
  /// Whether these are the names: the same texts, not only the same places.
  bool IsNamed(const markers::OpNames& names) const noexcept;
  /// The same, and called in the same place.
  bool Is(const markers::OpNames& names) const noexcept;
  nvtxStringHandle_t handle() const noexcept { return handle_; }

 private:
  markers::OpNames names_;
  nvtxStringHandle_t handle_;
};

/// Finds the registered name of an op, or registers it in `domain`: once for each text of a
/// process, under a lock, so callers keep what they got. Null when the table is full (8192 names:
/// programs that make up names) or memory is.
const RegisteredName* InternName(const markers::OpNames& names, nvtxDomainHandle_t domain) noexcept;

/// Around a fork: a child whose parent registers a name on another thread must find the table free.
void LockNames() noexcept;
void UnlockNames() noexcept;

}  // namespace oplens::annotate

#endif  // OPLENS_NVTX_ANNOTATE_NAME_TABLE_H_

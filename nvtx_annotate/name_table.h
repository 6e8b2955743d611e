#ifndef OPLENS_NVTX_ANNOTATE_NAME_TABLE_H_
#define OPLENS_NVTX_ANNOTATE_NAME_TABLE_H_

#include <nvtx3/nvToolsExt.h>

#include "nvtx_annotate/marker_text.h"

namespace oplens::annotate {

/// The names of an op and the tool's handle for their message. Lives until the process ends.
class RegisteredName {
 public:
  RegisteredName(const markers::OpNames& copied, nvtxStringHandle_t handle) noexcept
      : names_(copied), handle_(handle) {}
  /// Compares the texts, not just addresses.
  bool IsNamed(const markers::OpNames& names) const noexcept;
  /// Also compares the call site.
  bool Is(const markers::OpNames& names) const noexcept;
  nvtxStringHandle_t handle() const noexcept { return handle_; }

 private:
  markers::OpNames names_;
  nvtxStringHandle_t handle_;
};

/// Finds the registered name of an op, or registers it in `domain`: once per text and process,
/// under a lock, so callers should cache it. Null if the table is full (8192 names: programs that
/// generate names) or out of memory.
const RegisteredName* InternName(const markers::OpNames& names, nvtxDomainHandle_t domain) noexcept;

/// For forks: a child must not inherit a locked table.
void LockNames() noexcept;
void UnlockNames() noexcept;

}  // namespace oplens::annotate

#endif  // OPLENS_NVTX_ANNOTATE_NAME_TABLE_H_

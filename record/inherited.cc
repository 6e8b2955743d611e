#include "record/inherited.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>

namespace oplens::record {

Inherited::Inherited() {
  ::sigprocmask(SIG_SETMASK, nullptr, &mask_);
  for (size_t i = 0; i < kSignals.size(); ++i) ::sigaction(kSignals[i], nullptr, &actions_[i]);
  for (size_t fd = 0; fd < closed_.size(); ++fd) {
    closed_[fd] = ::fcntl(static_cast<int>(fd), F_GETFD) < 0 && errno == EBADF;
  }
}

void Inherited::Restore() const noexcept {
  for (size_t i = 0; i < kSignals.size(); ++i) ::sigaction(kSignals[i], &actions_[i], nullptr);
  for (size_t fd = 0; fd < closed_.size(); ++fd) {
    if (closed_[fd]) ::close(static_cast<int>(fd));
  }
  ::sigprocmask(SIG_SETMASK, &mask_, nullptr);
}

}  // namespace oplens::record

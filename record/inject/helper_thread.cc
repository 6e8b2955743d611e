#include "record/inject/helper_thread.h"

#include <pthread.h>
#include <signal.h>

#include "record/spool/futex.h"

namespace oplens::record::inject {
namespace {

void* RunCall(void* argument) {
  auto* const call = static_cast<HelperCall*>(argument);
  call->function();
  call->ended.store(1, std::memory_order_release);
  spool::WakeAll(call->ended);
  return nullptr;
}

}  // namespace

bool StartHelperThread(void* (*run)(void*), void* argument) noexcept {
  sigset_t all;
  sigset_t before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  pthread_t thread;
  const bool started = pthread_create(&thread, nullptr, run, argument) == 0;
  if (started) pthread_detach(thread);
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  return started;
}

bool CallWithin(int64_t most_ns, HelperCall* call) noexcept {
  if (!StartHelperThread(RunCall, call)) {
    call->function();
    return true;
  }
  return spool::WaitForChange(call->ended, 0, most_ns);
}

}  // namespace oplens::record::inject

#ifndef OPLENS_PYTHON_WATCHED_H_
#define OPLENS_PYTHON_WATCHED_H_

#include <nanobind/nanobind.h>

#include <functional>

#include "base/status_line.h"

namespace oplens::python {

/// Runs `work` on a thread of its own without the GIL and waits for its end. Ctrl-C and exceptions
/// of `progress` end the wait at once and stop the work at its next update of the meter: `work`
/// owns all that it touches. `progress`: None, or called with what is done and the total (0:
/// unknown) a few times per second. Throws what `work` throws, as exceptions of Python.
void RunWatched(std::function<void(WorkMeter* meter)> work, nanobind::handle progress);

/// Waits for work that was stopped and has not ended yet. At exit of the interpreter.
void AwaitStopped();

}  // namespace oplens::python

#endif  // OPLENS_PYTHON_WATCHED_H_

#include "python/watched.h"

#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <exception>
#include <memory>
#include <mutex>
#include <new>
#include <string>
#include <string_view>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

#include "base/error.h"

namespace oplens::python {
namespace {

namespace nb = nanobind;

// Well below the 0.2 s within which Ctrl-C must work.
constexpr std::chrono::milliseconds kTick{50};

struct Task {
  WorkMeter meter;
  std::mutex mutex;
  std::condition_variable ended;
  bool done = false;
  std::exception_ptr problem;
};

// Threads of work that nobody waits for any more, of one process: a forked one has none of them.
std::mutex stopped_mutex;
std::vector<std::thread> stopped_threads;
pid_t stopped_in = -1;

/// With stopped_mutex.
void ForgetThreadsOfParent() {
  if (stopped_in == ::getpid()) return;
  for (std::thread& thread : stopped_threads) thread.detach();
  stopped_threads.clear();
  stopped_in = ::getpid();
}

[[noreturn]] void Raise(const char* type, std::string_view message, std::string_view kind,
                        const std::string& file, long long row) {
  const nb::object own = nb::module_::import_("oplens._errors").attr(type);
  const nb::object where =
      file.empty() ? nb::none() : nb::object(nb::str(file.c_str(), file.size()));
  const nb::object line = row < 0 ? nb::none() : nb::object(nb::int_(row));
  const nb::object error =
      own(nb::str(message.data(), message.size()), nb::str(kind.data(), kind.size()), where, line);
  PyErr_SetObject(own.ptr(), error.ptr());
  throw nb::python_error();
}

/// With the GIL.
[[noreturn]] void RaiseAsPython(const std::exception_ptr& problem) {
  try {
    std::rethrow_exception(problem);
  } catch (const UsageError& error) {
    Raise("UsageError", error.what(), "usage", "", -1);
  } catch (const Error& error) {
    Raise("Error", error.what(), "input", error.file(), error.row());
  } catch (const Interrupted&) {
    // Another thread than the main one was told to stop, by its progress.
    Raise("Error", "the work was stopped", "stopped", "", -1);
  } catch (const std::bad_alloc&) {
    PyErr_NoMemory();
    throw nb::python_error();
  } catch (const std::exception& error) {
    Raise("Error", error.what(), "internal", "", -1);
  }
}

}  // namespace

void RunWatched(std::function<void(WorkMeter*)> work, nb::handle progress) {
  const auto task = std::make_shared<Task>();
  std::thread thread;
  try {
    thread = std::thread([task, work = std::move(work)]() mutable {
      std::exception_ptr problem;
      try {
        work(&task->meter);
      } catch (...) {
        problem = std::current_exception();
      }
      // What the work owns is freed before anybody hears of its end.
      work = nullptr;
      const std::lock_guard lock(task->mutex);
      task->problem = std::move(problem);
      task->done = true;
      task->ended.notify_all();
    });
  } catch (const std::system_error&) {
    Raise("Error", "no thread can be started; try again", "internal", "", -1);
  }
  const auto abandon = [&] {
    task->meter.Stop();
    const std::lock_guard lock(stopped_mutex);
    ForgetThreadsOfParent();
    stopped_threads.push_back(std::move(thread));
  };
  int64_t told = -1;
  while (true) {
    bool done = false;
    {
      const nb::gil_scoped_release released;
      std::unique_lock lock(task->mutex);
      done = task->ended.wait_for(lock, kTick, [&] { return task->done; });
    }
    if (done) break;
    if (PyErr_CheckSignals() != 0) {
      abandon();
      throw nb::python_error();
    }
    const int64_t now = task->meter.done();
    if (progress.is_none() || now == told) continue;
    told = now;
    try {
      progress(now, std::max<int64_t>(task->meter.total(), 0));
    } catch (...) {
      abandon();
      throw;
    }
  }
  {
    const nb::gil_scoped_release released;
    thread.join();
  }
  if (task->problem != nullptr) RaiseAsPython(task->problem);
}

void AwaitStopped() {
  const nb::gil_scoped_release released;
  std::vector<std::thread> threads;
  {
    const std::lock_guard lock(stopped_mutex);
    ForgetThreadsOfParent();
    threads = std::exchange(stopped_threads, {});
  }
  for (std::thread& thread : threads) thread.join();
}

}  // namespace oplens::python

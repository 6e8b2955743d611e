#include <exception>
#include <iterator>
#include <memory>
#include <utility>
#include <vector>

#include "base/threads.h"
#include "prof/input/profile_records.h"

namespace oplens::prof {
std::vector<std::unique_ptr<LoadedProfile>> Inputs::LoadAll(size_t threads) {
  std::vector<Input> inputs(std::make_move_iterator(waiting_.begin()),
                            std::make_move_iterator(waiting_.end()));
  std::vector<std::unique_ptr<LoadedProfile>> read(inputs.size());
  std::vector<Diagnostics> losses(inputs.size());
  std::vector<std::exception_ptr> problems(inputs.size());
  // Each counts what it reads; with several, only whether to stop is of interest.
  InThreads(inputs.size(), threads, [&](size_t i) {
    try {
      if (meter() != nullptr) meter()->Check();
      read[i] =
          inputs[i].counted ? ReadCounted(inputs[i]) : ReadProfile(inputs[i], meter(), &losses[i]);
    } catch (...) {
      problems[i] = std::current_exception();
    }
  });
  std::vector<std::unique_ptr<LoadedProfile>> loaded;
  for (size_t i = 0; i < inputs.size(); ++i) {
    waiting_.pop_front();
    last_path_ = inputs[i].file.path;
    try {
      if (problems[i] != nullptr) std::rethrow_exception(problems[i]);
      if (inputs[i].counted) {
        ++opened_;
      } else {
        Settle(inputs[i], read[i].get(), &losses[i]);
      }
      read[i]->losses = std::move(losses[i]);
      loaded.push_back(std::move(read[i]));
    } catch (const Error& error) {
      LeaveOut(error);
    }
  }
  problems.assign(loaded.size(), nullptr);
  // A reference is asked by one at a time.
  InThreads(loaded.size(), reference_ ? 1 : threads, [&](size_t i) {
    try {
      if (meter() != nullptr) meter()->Check();
      Join(loaded[i].get(), &loaded[i]->join_losses);
    } catch (...) {
      problems[i] = std::current_exception();
    }
  });
  for (size_t i = 0; i < loaded.size(); ++i) {
    if (problems[i] != nullptr) std::rethrow_exception(problems[i]);
    JoinCounters(loaded[i].get());
  }
  return loaded;
}

}  // namespace oplens::prof

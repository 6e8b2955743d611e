#include <algorithm>
#include <exception>
#include <iterator>
#include <memory>
#include <utility>
#include <vector>

#include "base/team.h"
#include "prof/input/profile_records.h"

namespace oplens::prof {
std::vector<std::unique_ptr<LoadedProfile>> Inputs::LoadAll(size_t threads) {
  std::vector<Input> inputs(std::make_move_iterator(waiting_.begin()),
                            std::make_move_iterator(waiting_.end()));
  std::vector<std::unique_ptr<LoadedProfile>> read(inputs.size());
  std::vector<Diagnostics> losses(inputs.size());
  std::vector<std::exception_ptr> problems(inputs.size());
  // Each counts what it reads; with several, only whether to stop is of interest.
  Team team(std::max<size_t>(std::min(inputs.size(), threads), 1) - 1);
  team.Each(inputs.size(), [&](size_t i) {
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
  const auto join = [&](size_t i) {
    if (meter() != nullptr) meter()->Check();
    Join(loaded[i].get(), &loaded[i]->join_losses);
  };
  if (reference_) {  // It is asked by one at a time.
    for (size_t i = 0; i < loaded.size(); ++i) join(i);
  } else {
    team.Each(loaded.size(), join);
  }
  for (const std::unique_ptr<LoadedProfile>& profile : loaded) JoinCounters(profile.get());
  return loaded;
}

}  // namespace oplens::prof

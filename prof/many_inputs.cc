#include "prof/many_inputs.h"

#include <fmt/format.h>

#include "base/count_line.h"
#include "base/error.h"
#include "base/forked_tasks.h"
#include "base/program.h"

namespace oplens::prof {

void LeftOut::Add(const std::string& problem) {
  if (tell_ != nullptr) {
    tell_(problem);
  } else {
    PrintError(Complaint(tool_, fmt::format("{}; left out", problem)));
  }
  ++count_;
}

void ManyInputs::Run(const std::vector<size_t>& places, const Find& find, const Take& take,
                     bool alone) {
  ForkedTasks tasks(places.size(), options_.jobs,
                    [&](size_t task) { return BytesOf(*find(inputs_, places[task])); });
  CountLine line("prof", "files", places.size(), !quiet_);
  size_t taken = 0;
  const auto take_one = [&](size_t task, TaskResult result) {
    const parse::ProfileInput& input = inputs_->waiting(places[task]);
    if (result.done) {
      take(*FindingsOf(result.bytes, input.path), places[task]);
      ++taken;
      return;
    }
    if (result.crashed) result.problem = fmt::format("{}: {}", input.path, result.problem);
    // If nothing can be read, the last reason ends the run.
    if (alone && taken == 0 && task + 1 == places.size()) throw Error(result.problem);
    line.Erase();
    left_out_->Add(result.problem);
  };
  tasks.Run(take_one, [&line](size_t ended) { line.Show(ended); });
}

}  // namespace oplens::prof

// oplens-mpi: the views of prof over the ranks of a run, by many processes.

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <exception>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "base/byte_reader.h"
#include "base/byte_writer.h"
#include "base/count_line.h"
#include "base/error.h"
#include "base/output.h"
#include "base/program.h"
#include "base/threads.h"
#include "mpi/merge_ranks.h"
#include "mpi/read_in_turns.h"
#include "mpi/started_tasks.h"
#include "mpi/world.h"
#include "parse/model/messages.h"
#include "prof/findings.h"
#include "prof/many_inputs.h"
#include "prof/options.h"
#include "prof/rank_summaries.h"
#include "prof/summary_file/stamp.h"
#include "prof/view_task.h"

namespace oplens::mpi {
namespace {

constexpr std::string_view kTool = "oplens-mpi";

constexpr std::string_view kHelp =
    "oplens-mpi - the views of prof over the ranks of a run, by many processes\n"
    "\n"
    "Usage: srun --mpi=pmix -n N oplens-mpi --view VIEWS [OPTIONS] FILE|FOLDER...\n"
    "       mpirun -n N oplens-mpi --view VIEWS [OPTIONS] FILE|FOLDER...\n"
    "\n"
    "Each process takes the next file, the largest first, and writes what the views found in\n"
    "it to FILE.oplens beside it, or in the folder of --summary-dir; a file whose summary is up\n"
    "to date is not read again. The tables are those of prof, byte for byte. The options of\n"
    "views, output and messages are those of prof --view: prof -h lists them.\n";

void RefuseOthers(const prof::Options& options) {
  if (options.task != prof::Task::kViews) {
    throw UsageError("give views with --view; for anything else there is prof");
  }
  if (!options.execution_traces.empty() || !options.reference.empty() ||
      !options.counters.empty()) {
    throw UsageError("--execution-trace, --reference and --counters are of one process: use prof");
  }
  std::vector<std::string> beside;
  if (!SummariesOf(options, &beside).empty()) {
    throw UsageError("the inputs are summaries: prof --view merges them");
  }
}

/// What each process derives from the command line.
struct Work {
  std::unique_ptr<prof::Inputs> inputs;
  ReadingPlan plan;
};

Work Prepare(const World& world, const prof::Options& options) {
  Work work;
  work.inputs = std::make_unique<prof::Inputs>(options.inputs, options.execution_traces,
                                               prof::NeedsOf(options.views), TraceNeeds(),
                                               world.rank() == 0 ? kTool : std::string_view());
  work.inputs->Explain(options.evidence, options.reference);
  if (!work.inputs->OnlyProfilesWait()) {
    work.inputs->RefuseRecords("what a summary is of", "view");
    throw UsageError("the inputs must be files of profiles: records and pipes go through prof");
  }
  work.plan.rank.find = FindOptionsOf(options, nullptr);
  work.plan.rank.find.texts = prof::SummaryTexts::kOfInput;
  work.plan.rank.options = options.rank_summary;
  if (!CanFindApart(work.plan.rank.find)) {
    throw UsageError("what is asked can only be found in all inputs at once: use prof");
  }
  work.plan.summaries = SummaryPathsOf(*work.inputs, work.plan.rank);
  if (world.rank() > 0) return work;
  RefuseOverwriting(options, {.read = {}, .written = work.plan.summaries});
  return work;
}

/// Ends the job; thrown by all processes together.
struct Failed {
  std::string problem;
  int exit_code = kExitCannotRead;
};

/// Collective. Runs `part`, which may throw; if it throws on any process, all throw Failed.
template <typename Part>
void Together(World* world, Part part) {
  Failed own{.problem = "", .exit_code = kExitOk};
  try {
    part();
  } catch (const UsageError& error) {
    own = {.problem = error.what(), .exit_code = kExitUsage};
  } catch (const std::exception& error) {
    own = {.problem = error.what(), .exit_code = kExitCannotRead};
  }
  ByteWriter writer;
  writer.Counts(&own.exit_code);
  writer.Text(own.problem);
  for (const std::string& one : world->AllGather(writer.Take())) {
    ByteReader reader(one, "another process");
    Failed its;
    reader.Counts(&its.exit_code);
    its.problem = reader.Text();
    if (its.exit_code != kExitOk) throw its;
  }
}

/// Collective. Throws Failed unless all processes have the same inputs.
void RefuseOtherInputs(World* world, const prof::Inputs& inputs) {
  std::string names;
  for (size_t i = 0; i < inputs.waiting(); ++i) names += inputs.waiting(i).path + "\n";
  const std::vector<std::string> all = world->AllGather(prof::HashOf(names));
  if (std::count(all.begin(), all.end(), all[0]) == static_cast<int64_t>(all.size())) return;
  throw Failed{
      "processes see different files; give a folder that all nodes share and nobody writes to"};
}

/// Collective. Returns the order that process 0 chose.
std::vector<size_t> OrderOfFirst(World* world, const prof::Inputs& inputs) {
  ByteWriter writer;
  const std::vector<size_t> own = LargestFirst(inputs);
  writer.Number(own.size());
  for (const size_t place : own) writer.Counts(&place);
  const std::string said = world->Broadcast(writer.Take());
  ByteReader reader(said, "process 0");
  std::vector<size_t> order(reader.Size());
  for (size_t& place : order) reader.Counts(&place);
  return order;
}

/// The output of process 0.
class FindingsReporter {
 public:
  FindingsReporter(const prof::Options& options, const Work& work)
      : options_(options),
        work_(work),
        left_out_(kTool),
        merger_(options.views, work.inputs->waiting(), nullptr),
        destination_(OpenDestination(options)) {}

  /// Throws Error if no input could be read.
  void Take(const std::vector<InputFacts>& inputs) {
    size_t read = 0;
    for (const InputFacts& input : inputs) {
      if (input.told != nullptr) {
        merger_.AddReport(*input.told);
        ++read;
        if (input.from_summary) ++kept_;
        continue;
      }
      if (read == 0 && &input == &inputs.back()) throw Error(input.problem);
      left_out_.Add(input.problem);
    }
  }

  /// Prints the tables of all inputs; returns the exit code. `found`: one partial per plan.
  int Print(std::vector<std::unique_ptr<prof::Partial>> found) {
    prof::ViewRunner runner(options_.views, options_.run, destination_.get());
    runner.AddPartials(std::move(found), prof::CollectiveSet());
    Messages messages(kTool);
    prof::PriceOptions pricing = PriceOptionsOf(options_, &messages);
    if (kept_ > 0) {
      // Summaries do not record how kernels were priced.
      pricing.shows_prices = false;
      messages.Head(fmt::format("{} of {} inputs were read before: their summaries are up to date",
                                kept_, work_.inputs->waiting()));
    }
    merger_.Tell(pricing, &messages);
    const int64_t shown = runner.Finish();
    destination_->Commit();
    for (std::string& note : runner.Notes()) messages.Need(std::move(note));
    for (std::string& note : destination_->Notes()) messages.Need(std::move(note));
    for (std::string& note : work_.inputs->Notes()) messages.Need(std::move(note));
    options_.Say(messages);
    const bool failure = shown == 0 || messages.losses()->Damaged();
    return options_.ExitCode(failure, left_out_.count() + work_.inputs->left_out(),
                             options_.many.allow_missing);
  }

 private:
  const prof::Options& options_;
  const Work& work_;
  prof::LeftOut left_out_;
  prof::FindingsMerger merger_;
  std::unique_ptr<prof::Destination> destination_;
  size_t kept_ = 0;  // Inputs read from their summaries.
};

/// `wrong`: the error of the command line; "" for none.
int RunViews(World* world, const prof::Options& options, const std::string& wrong) {
  Work work;
  Together(world, [&] {
    if (!wrong.empty()) throw UsageError(wrong);
    work = Prepare(*world, options);
  });
  RefuseOtherInputs(world, *work.inputs);
  const std::vector<size_t> order = OrderOfFirst(world, *work.inputs);
  const bool first = world->rank() == 0;
  std::optional<FindingsReporter> teller;
  Together(world, [&] {
    if (first) teller.emplace(options, work);
  });
  std::vector<ReadInput> own;
  {
    CountLine line(kTool, "files", order.size(), first && !options.quiet);
    own = ReadInTurns(world, work.inputs.get(), work.plan, order,
                      [&](size_t begun) { line.Show(begun); });
  }
  const std::vector<InputFacts> told = GatherFacts(world, own);
  Together(world, [&] {
    if (first) teller->Take(told);
  });
  const std::vector<std::vector<std::string>> names = NamesOfRanks(world, *work.inputs, own);
  std::vector<std::unique_ptr<prof::Partial>> found =
      MergeAll(world, work.plan.rank.find, *work.inputs, own, names);
  int exit_code = kExitOk;
  Together(world, [&] {
    if (!first) return;
    try {
      exit_code = teller->Print(std::move(found));
    } catch (const ClosedPipe&) {
      // The reader has closed the pipe.
    }
  });
  return std::atoi(world->Broadcast(std::to_string(exit_code)).c_str());
}

/// The exit code of a process that leaves error messages to process 0. Launchers kill all processes
/// once one fails, so it waits until process 0 has printed.
int FailAfterFirst() {
  std::this_thread::sleep_for(std::chrono::seconds(1));
  return kExitCannotRead;
}

int RunInWorld(const StartedTasks& tasks, Library library, const prof::Options& options,
               const std::string& wrong, int* argc, char*** argv) {
  World world(argc, argv);
  const std::string problem = ProblemAfter(tasks, library, world.size());
  if (!problem.empty()) {
    if (tasks.rank == 0) throw Error(problem);
    return FailAfterFirst();
  }
  try {
    return RunViews(&world, options, wrong);
  } catch (const Failed& failed) {
    // Print before the others leave: the destructor of World waits for them.
    if (world.rank() == 0) PrintError(Complaint(kTool, failed.problem));
    return failed.exit_code;
  } catch (const std::exception& error) {
    // The others wait for this process, so end them all.
    PrintError(Complaint(kTool, error.what()));
    world.Abort(kExitCannotRead);
  }
}

/// What to print instead of tables; nullopt: print tables.
std::optional<std::string> MessageOf(int argc, char** argv, const prof::Options& options) {
  const std::string_view word = argc == 2 ? argv[1] : "";
  if (word == "-h" || word == "--help") return std::string(kHelp);
  if (word == "--version") return fmt::format("{} {}\n", kTool, OPLENS_VERSION);
  if (options.task == prof::Task::kMessage) return options.message;
  return std::nullopt;
}

int Main(int argc, char** argv) {
  GiveBackWhatIsFreed();
  const StartedTasks tasks = StartedTasks::Of(OwnEnvironment);
  const Library library = LibraryOf(LibraryVersion());
  const bool first = tasks.rank == 0;
  prof::Options options;
  std::string wrong;
  try {
    SetThreadLimit(1);  // Unless told: there is a process for each core.
    options = prof::ParseKeepingOptions(argc, argv);
    if (const std::optional<std::string> message = MessageOf(argc, argv, options)) {
      if (first) PrintText(*message);
      return kExitOk;
    }
    RefuseOthers(options);
  } catch (const UsageError& error) {
    if (tasks.count == 1) throw;
    wrong = error.what();
  }
  const std::string problem = ProblemBefore(tasks, library);
  if (problem.empty()) return RunInWorld(tasks, library, options, wrong, &argc, &argv);
  if (!first) return FailAfterFirst();
  if (!wrong.empty()) throw UsageError(wrong);
  throw Error(problem);
}

}  // namespace
}  // namespace oplens::mpi

int main(int argc, char** argv) {
  return oplens::RunProgram("oplens-mpi", [&] { return oplens::mpi::Main(argc, argv); });
}

#include "mpi/merge_ranks.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/byte_reader.h"
#include "base/byte_writer.h"
#include "base/exchange.h"
#include "mpi/world.h"
#include "prof/input/rank_namer.h"
#include "prof/summary_file/section.h"
#include "prof/summary_file/summary_file.h"
#include "prof/views/collectives/collective_matches.h"

namespace oplens::mpi {
namespace {

/// Exchange over a World, for code that does not know MPI.
class WorldExchange : public Exchange {
 public:
  /// `world` must outlive this object.
  explicit WorldExchange(World* world) : world_(world) {}

  size_t rank() const override { return static_cast<size_t>(world_->rank()); }
  size_t size() const override { return static_cast<size_t>(world_->size()); }
  std::vector<std::string> AllToAll(std::vector<std::string> messages) override {
    return world_->AllToAll(messages);
  }
  std::vector<std::string> AllGather(std::string message) override {
    return world_->AllGather(message);
  }

 private:
  World* world_;
};

using prof::Findings;
using Numbers = std::vector<std::optional<int64_t>>;

std::string NameOf(int process) { return fmt::format("process {}", process); }

/// Serialises what process 0 needs to know of the inputs of a process.
std::string SerialiseFacts(const std::vector<ReadInput>& own) {
  ByteWriter bytes;
  bytes.Number(own.size());
  for (const ReadInput& input : own) {
    bytes.Counts(&input.place);
    bytes.Values(&input.problem, &input.from_summary);
    Findings told;
    if (input.findings != nullptr) {
      told.notes = input.findings->notes;
      told.losses.Merge(input.findings->losses);
      told.told.Merge(input.findings->told);
    }
    const std::string text = BytesOf(told);
    bytes.Number(text.size());
    bytes.Raw(text);
  }
  return bytes.Take();
}

void ReadTold(std::string_view text, const std::string& from, std::vector<InputFacts>* all) {
  ByteReader bytes(text, from);
  for (size_t left = bytes.Size(); left > 0; --left) {
    InputFacts& input = all->emplace_back();
    bytes.Counts(&input.place);
    bytes.Values(&input.problem, &input.from_summary);
    const std::string_view told = bytes.Raw(bytes.Size());
    if (input.problem.empty()) input.told = prof::FindingsOf(told, from);
  }
  bytes.End();
}

/// Collective. The rank numbers of all inputs that were read, by place.
std::map<size_t, Numbers> NumbersOfAll(World* world, const std::vector<ReadInput>& own) {
  ByteWriter bytes;
  bytes.Number(own.size());
  for (const ReadInput& input : own) {
    bytes.Counts(&input.place);
    const bool read = input.findings != nullptr;
    bytes.Values(&read);
    if (read) bytes.Values(&input.findings->summary.ranks);
  }
  std::map<size_t, Numbers> numbers;
  int process = 0;
  for (const std::string& text : world->AllGather(bytes.Take())) {
    ByteReader reader(text, NameOf(process++));
    for (size_t left = reader.Size(); left > 0; --left) {
      size_t place = 0;
      bool read = false;
      reader.Counts(&place);
      reader.Values(&read);
      if (read) reader.Values(&numbers[place]);
    }
    reader.End();
  }
  return numbers;
}

/// One partial per plan.
using Partials = std::vector<std::unique_ptr<prof::Partial>>;

/// Collective. Matches the calls of collectives across all processes and hands the results to the
/// partials of each process.
void MatchAll(World* world, const std::vector<prof::ViewPlan>& plans,
              const prof::CollectiveSet& calls, const Partials& partials) {
  if (!TakeCalls(plans)) return;
  WorldExchange exchange(world);
  const prof::CollectiveMatches matches(calls, &exchange);
  std::vector<prof::Partial*> takers;
  for (size_t i = 0; i < plans.size(); ++i) {
    if (plans[i].view->calls) takers.push_back(partials[i].get());
  }
  GiveCalls(matches, takers);
}

std::string BytesOf(const std::vector<prof::ViewPlan>& plans, const Partials& partials) {
  prof::SummaryFile summary;
  for (size_t i = 0; i < plans.size(); ++i) {
    summary.sections.push_back(SaveSection(*plans[i].view, plans[i].options, *partials[i]));
  }
  ByteWriter bytes;
  SaveSummary(summary, &bytes);
  return bytes.Take();
}

void MergeBytes(std::string_view text, const std::string& from,
                const std::vector<prof::ViewPlan>& plans, const Partials& partials) {
  ByteReader bytes(text, from);
  const prof::SummaryFile summary = prof::LoadSummary(&bytes);
  bytes.End();
  for (size_t i = 0; i < plans.size(); ++i) {
    partials[i]->Merge(*LoadView(summary, plans[i], {}, from));
  }
}

}  // namespace

std::vector<InputFacts> GatherFacts(World* world, const std::vector<ReadInput>& own) {
  std::vector<std::string> texts(static_cast<size_t>(world->size()));
  texts[0] = SerialiseFacts(own);
  const std::vector<std::string> told = world->AllToAll(texts);
  std::vector<InputFacts> all;
  for (size_t i = 0; world->rank() == 0 && i < told.size(); ++i) {
    ReadTold(told[i], NameOf(static_cast<int>(i)), &all);
  }
  std::sort(all.begin(), all.end(),
            [](const InputFacts& a, const InputFacts& b) { return a.place < b.place; });
  return all;
}

std::vector<std::vector<std::string>> NamesOfRanks(World* world, const prof::Inputs& inputs,
                                                   const std::vector<ReadInput>& own) {
  prof::RankNamer namer(inputs.waiting());
  std::map<size_t, std::vector<std::string>> names;
  for (const auto& [place, numbers] : NumbersOfAll(world, own)) {
    names[place] = namer.NamesOf(numbers, inputs.waiting(place).name);
  }
  std::vector<std::vector<std::string>> of_own;
  for (const ReadInput& input : own) of_own.push_back(std::move(names[input.place]));
  return of_own;
}

std::vector<std::unique_ptr<prof::Partial>> MergeAll(
    World* world, const prof::FindOptions& find, const prof::Inputs& inputs,
    const std::vector<ReadInput>& own, const std::vector<std::vector<std::string>>& names) {
  const std::vector<prof::ViewPlan>& plans = *find.plans;
  prof::ViewRunner runner(plans, find.run, nullptr);
  for (size_t i = 0; i < own.size(); ++i) {
    if (own[i].findings == nullptr) continue;
    AddSummary(own[i].findings->summary, plans, names[i], inputs.waiting(own[i].place).path,
               &runner);
  }
  Partials partials = runner.TakePartials();
  MatchAll(world, plans, runner.TakeCalls(), partials);
  const int rank = world->rank();
  for (int step = 1; step < world->size(); step *= 2) {
    if (rank % (2 * step) != 0) {
      world->Send(rank - step, BytesOf(plans, partials));
      return {};
    }
    if (rank + step >= world->size()) continue;
    MergeBytes(world->Receive(rank + step), NameOf(rank + step), plans, partials);
  }
  return partials;
}

}  // namespace oplens::mpi

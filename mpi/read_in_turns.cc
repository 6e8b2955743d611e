#include "mpi/read_in_turns.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <exception>
#include <filesystem>
#include <numeric>
#include <system_error>
#include <utility>

#include "base/forked_tasks.h"
#include "prof/summary_file/kept_losses.h"
#include "prof/summary_file/summary_file.h"

namespace oplens::mpi {
namespace {

using prof::Findings;

class Reader {
 public:
  Reader(World* world, prof::Inputs* inputs, const ReadingPlan& plan)
      : world_(world), inputs_(inputs), plan_(plan) {}

  ReadInput Read(size_t place) {
    ReadInput read;
    read.place = place;
    try {
      read.findings = FromSummary(place);
      read.from_summary = read.findings != nullptr;
      if (!read.from_summary) FromInput(&read);
    } catch (const std::exception& error) {
      read.problem = error.what();
    }
    return read;
  }

 private:
  const std::string& PathOf(size_t place) const { return inputs_->waiting(place).path; }

  /// Null without an up-to-date summary.
  std::unique_ptr<Findings> FromSummary(size_t place) const {
    if (plan_.summaries.empty()) return nullptr;
    const std::string& path = plan_.summaries[place];
    if (!prof::HasSummary(path, PathOf(place), plan_.rank)) return nullptr;
    auto findings = std::make_unique<Findings>();
    findings->summary = prof::ReadSummary(path);
    prof::AddKeptLosses(findings->summary, path, &findings->losses);
    return findings;
  }

  std::string Find(size_t place) const {
    if (plan_.summaries.empty()) return BytesOf(*FindIn(inputs_, place, plan_.rank.find));
    return BytesOf(*SummarizeInput(inputs_, place, plan_.summaries[place], plan_.rank));
  }

  void FromInput(ReadInput* read) {
    ForkedTasks tasks(1, 1, [&](size_t) { return Find(read->place); });
    const auto take = [&](size_t, TaskResult result) {
      const std::string& path = PathOf(read->place);
      if (result.done) {
        read->findings = prof::FindingsOf(result.bytes, path);
      } else {
        read->problem = result.crashed ? fmt::format("{}: {}", path, result.problem)
                                       : std::move(result.problem);
      }
    };
    tasks.Run(take, [&](size_t) { world_->Progress(); });
  }

  World* world_;
  prof::Inputs* inputs_;
  const ReadingPlan& plan_;
};

}  // namespace

std::vector<size_t> LargestFirst(const prof::Inputs& inputs) {
  std::vector<uint64_t> sizes;
  for (size_t i = 0; i < inputs.waiting(); ++i) {
    std::error_code error;
    const uintmax_t size = std::filesystem::file_size(inputs.waiting(i).path, error);
    sizes.push_back(error ? 0 : size);
  }
  std::vector<size_t> places(sizes.size());
  std::iota(places.begin(), places.end(), size_t{0});
  std::stable_sort(places.begin(), places.end(),
                   [&](size_t a, size_t b) { return sizes[a] > sizes[b]; });
  return places;
}

std::vector<ReadInput> ReadInTurns(World* world, prof::Inputs* inputs, const ReadingPlan& plan,
                                   const std::vector<size_t>& order,
                                   const std::function<void(size_t begun)>& begun) {
  Reader reader(world, inputs, plan);
  std::vector<ReadInput> all;
  {
    SharedCounter counter;
    for (size_t turn = counter.Next(); turn < order.size(); turn = counter.Next()) {
      if (begun != nullptr) begun(turn + 1);
      all.push_back(reader.Read(order[turn]));
    }
    // Until then others may use the counter.
    world->WaitForAll();
  }
  std::sort(all.begin(), all.end(),
            [](const ReadInput& a, const ReadInput& b) { return a.place < b.place; });
  return all;
}

}  // namespace oplens::mpi

// What views find in the inputs of a run can be put together in any order and in any parts: the
// rows are the same, and those of the inputs read one after the other.

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <memory>
#include <numeric>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "prof/findings.h"
#include "prof/price_all.h"
#include "test/support/network_run.h"
#include "test/support/test_files.h"
#include "test/support/view_rows.h"
#include "test/support/whole_corpus.h"

namespace oplens::test::merge_order_test {
namespace {

using prof::CollectiveSet;
using prof::Partial;
using prof::ViewPlan;

const std::vector<ViewPlan>& Plans() {
  static const auto* const plans = [] {
    auto* all = new std::vector<ViewPlan>(prof::PlanSummaryViews("", "", false));
    for (const char* by : {"op,layer", "shape", "rank,device"}) {
      for (ViewPlan& plan : prof::PlanSummaryViews("groups", by, false)) {
        all->push_back(std::move(plan));
      }
    }
    for (ViewPlan& plan : prof::PlanSummaryViews("collectives", "kind,group", false)) {
      all->push_back(std::move(plan));
    }
    return all;
  }();
  return *plans;
}

/// What was found in some inputs: a partial a plan, and the calls of collectives.
struct Found {
  std::vector<std::unique_ptr<Partial>> partials;
  CollectiveSet calls;

  void Merge(Found other) {
    for (size_t i = 0; i < partials.size(); ++i) partials[i]->Merge(*other.partials[i]);
    calls.Merge(std::move(other.calls));
  }
};

/// Some inputs of a run, each looked at apart.
class Inputs {
 public:
  explicit Inputs(const std::vector<std::string>& paths) : paths_(paths) {
    const prof::FindOptions options{.plans = &Plans(), .run = {}, .pricing = {}};
    for (size_t place = 0; place < paths.size(); ++place) {
      prof::Inputs inputs(paths, {}, prof::NeedsOf(Plans()));
      names_.push_back(inputs.waiting(place).name);
      bytes_.push_back(prof::BytesOf(*prof::FindIn(&inputs, place, options)));
    }
    prof::RankNamer namer(paths.size());
    for (size_t place = 0; place < paths.size(); ++place) {
      ranks_.push_back(namer.NamesOf(Findings(place)->summary.ranks, names_[place]));
    }
  }

  size_t size() const { return bytes_.size(); }

  Found Load(size_t place) const {
    const auto findings = Findings(place);
    Found found;
    for (const ViewPlan& plan : Plans()) {
      found.partials.push_back(
          prof::LoadView(findings->summary, plan, ranks_[place], paths_[place]));
    }
    found.calls = prof::LoadCalls(findings->summary.calls, ranks_[place], paths_[place]);
    return found;
  }

  /// In one process, one after the other.
  Found ReadTogether() const {
    Diagnostics diagnostics;
    prof::Inputs inputs(paths_, {}, prof::NeedsOf(Plans()));
    prof::ViewRunner runner(Plans(), {}, nullptr);
    prof::PriceAll(&inputs, {}, &runner, &diagnostics);
    return {runner.TakePartials(), runner.TakeCalls()};
  }

 private:
  std::unique_ptr<prof::Findings> Findings(size_t place) const {
    return prof::FindingsOf(bytes_[place], paths_[place]);
  }

  std::vector<std::string> paths_;
  std::vector<std::string> names_;
  std::vector<std::string> bytes_;
  std::vector<std::vector<std::string>> ranks_;
};

/// The rows and notes of every plan.
struct Said {
  std::vector<std::vector<ViewRow>> rows;
  std::vector<std::vector<std::string>> notes;
};

Said SaidBy(Found found) {
  Said said;
  for (const auto& partial : found.partials) {
    GiveCalls(found.calls, partial.get());
    said.rows.push_back(RowsOf(*partial));
    said.notes.push_back(partial->Notes());
  }
  return said;
}

void ExpectSame(const Said& one, const Said& other) {
  for (size_t i = 0; i < Plans().size(); ++i) {
    std::string name(Plans()[i].view->name);
    for (const std::string& word : Plans()[i].options.by) name += " " + word;
    SCOPED_TRACE(name);
    ASSERT_EQ(one.rows[i].size(), other.rows[i].size());
    for (size_t row = 0; row < one.rows[i].size(); ++row) {
      ASSERT_EQ(one.rows[i][row], other.rows[i][row]) << "row " << row;
    }
    EXPECT_EQ(one.notes[i], other.notes[i]);
  }
}

/// Those of `places`, put together two parts at a time, which are cut anywhere.
Found InParts(const Inputs& inputs, std::span<const size_t> places, std::mt19937* random) {
  if (places.size() == 1) return inputs.Load(places.front());
  const size_t cut = 1 + (*random)() % (places.size() - 1);
  Found found = InParts(inputs, places.subspan(0, cut), random);
  found.Merge(InParts(inputs, places.subspan(cut), random));
  return found;
}

void CheckAnyOrder(const std::vector<std::string>& paths, int rounds) {
  const Inputs inputs(paths);
  const Said together = SaidBy(inputs.ReadTogether());
  std::mt19937 random(11);
  std::vector<size_t> places(inputs.size());
  std::iota(places.begin(), places.end(), size_t{0});
  for (int round = 0; round < rounds; ++round) {
    SCOPED_TRACE(round);
    ExpectSame(SaidBy(InParts(inputs, places, &random)), together);
    std::shuffle(places.begin(), places.end(), random);
  }
}

TEST(MergeOrderTest, OfRunsOfSeveralFamilies) {
  const std::filesystem::path dir = TestDir();
  const NetworkRun run = ExampleNetwork();
  WriteNvprofRun(run, dir / "a.sql");
  WriteNsysRun(run, dir / "b.sqlite");
  WriteKinetoRun(run, dir / "c.json");
  CheckAnyOrder({(dir / "a.sql").string(), (dir / "b.sqlite").string(), (dir / "c.json").string(),
                 SourceDir() + "/examples/data/demo.sql"},
                6);
}

TEST(MergeOrderTest, OfRanksOfTheCorpus) {
  OPLENS_NEED_CORPUS();
  const std::filesystem::path corpus = CorpusDir().path / "kineto";
  std::vector<std::string> dlrm;
  for (const int rank : {0, 1, 4, 5, 7}) {
    dlrm.push_back((corpus / "dlrm_w8" / ("rank" + std::to_string(rank) + ".json.gz")).string());
  }
  CheckAnyOrder(dlrm, 4);
  for (const char* set : {"linear_tp2", "llama_tp2", "ddp_sampled_w128"}) {
    SCOPED_TRACE(set);
    CheckAnyOrder(
        {(corpus / set / "rank0.json.gz").string(), (corpus / set / "rank1.json.gz").string()}, 2);
  }
}

}  // namespace
}  // namespace oplens::test::merge_order_test

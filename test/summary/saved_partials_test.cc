// What partials save: loaded, they say and do what those did that were saved.

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <iterator>
#include <map>
#include <memory>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "base/error.h"
#include "prof/compat/compat.h"
#include "prof/input/profile_records.h"
#include "prof/price_all.h"
#include "prof/summary_file/summary_sink.h"
#include "prof/views/collectives/collective_matches.h"
#include "test/support/test_files.h"
#include "test/support/view_rows.h"
#include "test/support/whole_corpus.h"

namespace oplens::test::saved_partials_test {
namespace {

using prof::Partial;
using prof::Section;

/// All views that save, with the steps apart too, and with words of --by that change what is kept.
const std::vector<prof::ViewPlan>& Plans() {
  static const auto* const plans = [] {
    auto* all = new std::vector<prof::ViewPlan>(prof::PlanSummaryViews("", "", true));
    const auto add = [all](const char* list, const char* by) {
      for (prof::ViewPlan& plan : prof::PlanSummaryViews(list, by, false)) {
        all->push_back(std::move(plan));
      }
    };
    add("operators", "shape,layer,stack,phase,rank");
    add("groups", "op,layer,step,rank,grid");
    add("groups", "kernel:label,shape");
    add("critical-path", "edge");
    add("critical-path", "name");
    add("events", "shape,stack,rank");
    add("memory-ops", "layer,stack,step,rank");
    add("launches", "api,kernel");
    add("idle", "stream");
    add("queue", "time");
    add("bandwidth", "time");
    add("roofline", "layer,phase,rank");
    add("gemms", "layer,phase,rank");
    add("collectives", "kind,group,group_kind,size,dtype,rank,step");
    add("stacks", "host,layer,rank");
    add("modules", "rank");
    return all;
  }();
  return *plans;
}

std::string NameOf(const prof::ViewPlan& plan) {
  std::string name(plan.view->name);
  for (const std::string& word : plan.options.by) name += " " + word;
  return name;
}

/// What the views of Plans() found in profiles, with the calls of collectives given.
std::vector<std::unique_ptr<Partial>> Found(const std::vector<std::string>& paths) {
  Diagnostics diagnostics;
  prof::Inputs inputs(paths, {}, prof::NeedsOf(Plans()));
  prof::ViewRunner runner(Plans(), {}, nullptr);
  prof::PriceAll(&inputs, {}, &runner, &diagnostics);
  auto partials = runner.TakePartials();
  std::vector<Partial*> all;
  for (const auto& partial : partials) all.push_back(partial.get());
  const prof::CollectiveSet calls = runner.TakeCalls();
  prof::GiveCalls(prof::CollectiveMatches(calls), all);
  return partials;
}

Section SectionOf(size_t plan, const Partial& partial) {
  return prof::SaveSection(*Plans()[plan].view, Plans()[plan].options, partial);
}

std::unique_ptr<Partial> Loaded(const Section& section) {
  return prof::LoadPartial(section, "saved");
}

/// All that a partial says.
struct Said {
  std::vector<ViewRow> rows;
  std::string document;
  std::vector<std::string> notes;
  friend bool operator==(const Said&, const Said&) = default;
};
Said SaidBy(const Partial& partial) {
  Said said;
  said.rows = RowsOf(partial);
  said.document = partial.Document();
  said.notes = partial.Notes();
  return said;
}

void ExpectSame(const Said& loaded, const Said& saved) {
  ASSERT_EQ(loaded.rows.size(), saved.rows.size());
  for (size_t i = 0; i < saved.rows.size(); ++i) {
    ASSERT_EQ(loaded.rows[i], saved.rows[i]) << "row " << i;
  }
  EXPECT_EQ(loaded.document, saved.document);
  EXPECT_EQ(loaded.notes, saved.notes);
}

void CheckRoundTrips(const std::vector<std::string>& paths, bool needs_rows = false) {
  const auto found = Found(paths);
  size_t rows = 0;
  for (size_t i = 0; i < found.size(); ++i) {
    SCOPED_TRACE(NameOf(Plans()[i]));
    const Section section = SectionOf(i, *found[i]);
    const auto loaded = Loaded(section);
    const Said said = SaidBy(*found[i]);
    rows += said.rows.size();
    ExpectSame(SaidBy(*loaded), said);
    EXPECT_EQ(SectionOf(i, *loaded).bytes, section.bytes) << "saved again";
    EXPECT_EQ(SectionOf(i, *found[i]).bytes, section.bytes) << "saved twice";
  }
  if (needs_rows) {
    EXPECT_GT(rows, 0U);
  }
}

/// Two runs, merged before and after they were saved.
void CheckMerges(const std::string& a, const std::string& b) {
  const auto one = Found({a});
  const auto other = Found({b});
  for (size_t i = 0; i < one.size(); ++i) {
    SCOPED_TRACE(NameOf(Plans()[i]));
    const auto loaded_one = Loaded(SectionOf(i, *one[i]));
    const auto loaded_other = Loaded(SectionOf(i, *other[i]));
    // Of one that was loaded with one that was found, too.
    const auto mixed = Loaded(SectionOf(i, *one[i]));
    mixed->Merge(*other[i]);
    one[i]->Merge(*other[i]);
    loaded_one->Merge(*loaded_other);
    const Said said = SaidBy(*one[i]);
    ExpectSame(SaidBy(*loaded_one), said);
    ExpectSame(SaidBy(*mixed), said);
    ExpectSame(SaidBy(*Loaded(SectionOf(i, *loaded_one))), said);
  }
}

std::string Demo() { return SourceDir() + "/examples/data/demo.sql"; }

/// A file of the corpus; traces are read packed.
std::string Corpus(const std::string& name) {
  return name.ends_with(".gz") ? (CorpusDir().path / name).string() : CorpusFile(name).string();
}

/// Views that keep something, but need the trace all the same.
constexpr std::string_view kNeedTheTrace[] = {""};

TEST(SavedPartialsTest, EveryViewThatKeepsAnythingSaves) {
  for (const prof::View& view : prof::Views()) {
    const bool needs_trace = view.make == nullptr || std::count(std::begin(kNeedTheTrace),
                                                                std::end(kNeedTheTrace), view.name);
    EXPECT_EQ(view.saved_form == 0, needs_trace) << view.name;
  }
}

TEST(SavedPartialsTest, RulesOfOthersAreNotSaved) {
  for (const std::string_view rules : prof::CompatWords()) {
    for (const prof::View& view : prof::CompatViews(rules)) {
      EXPECT_EQ(view.saved_form, 0);
      EXPECT_THROW(prof::SaveSection(view, {}, *view.make({})), Error) << view.name;
    }
  }
}

TEST(SavedPartialsTest, OfNothing) {
  for (const prof::ViewPlan& plan : Plans()) {
    SCOPED_TRACE(NameOf(plan));
    const auto partial = plan.view->make(plan.options);
    const Section section = prof::SaveSection(*plan.view, plan.options, *partial);
    ExpectSame(SaidBy(*Loaded(section)), SaidBy(*partial));
  }
}

TEST(SavedPartialsTest, OfTheDemo) { CheckRoundTrips({Demo()}, true); }

TEST(SavedPartialsTest, OfTheDemoMergedWithItself) { CheckMerges(Demo(), Demo()); }

class CorpusSavedPartialsTest : public ::testing::TestWithParam<const char*> {};

TEST_P(CorpusSavedPartialsTest, SayTheSame) {
  OPLENS_NEED_CORPUS();
  CheckRoundTrips({Corpus(GetParam())});
}

INSTANTIATE_TEST_SUITE_P(
    Files, CorpusSavedPartialsTest,
    ::testing::Values("kineto/tiny/backward_thread.json.gz", "kineto/diff_tiny/base.json.gz",
                      "kineto/triton/triton_a100.json.gz",
                      "kineto/critical_path/event_sync.json.gz",
                      "kineto/critical_path/alexnet.json.gz",
                      "kineto/amd/mi250_minitoy_rocm62.json.gz", "kineto/linear_tp2/rank0.json.gz",
                      "kineto/dlrm_w8/rank5.json.gz", "kineto/switch_moe/moe_train_early.json.gz",
                      "kineto/sglang_qwen3_8b/decode_graph.json.gz",
                      "kineto/h100/bert_small.json.gz", "nvprof/lm.sql", "nvprof/tf_mnist.nvvp",
                      "nsys/stella.sqlite", "nsys/lm27b_graph.sqlite", "nsys/fuser2.sqlite"));

TEST(CorpusSavedPartialsTest, OfSeveralRanks) {
  OPLENS_NEED_CORPUS();
  CheckRoundTrips({Corpus("kineto/dlrm_w8/rank0.json.gz"), Corpus("kineto/dlrm_w8/rank1.json.gz"),
                   Corpus("kineto/dlrm_w8/rank2.json.gz")});
}

TEST(CorpusSavedPartialsTest, MergeAsTheOthersDo) {
  OPLENS_NEED_CORPUS();
  CheckMerges(Corpus("kineto/linear_tp2/rank0.json.gz"), Corpus("kineto/linear_tp2/rank1.json.gz"));
  CheckMerges(Corpus("kineto/llama_tp2/rank0.json.gz"), Corpus("kineto/llama_tp2/rank1.json.gz"));
  CheckMerges(Corpus("nvprof/lm.sql"), Corpus("nsys/stella.sqlite"));
}

/// Of a field over all rows of a partial.
double SumOf(const Partial& partial, const std::string& field) {
  double sum = 0;
  for (const ViewRow& row : RowsOf(partial)) {
    const auto cell = row.find(field);
    if (cell != row.end() && !cell->second.empty()) sum += std::stod(cell->second);
  }
  return sum;
}

// As paths do that are cut.
TEST(SavedPartialsTest, TextsThatBecomeTheSameAreOne) {
  const auto shorter = [](std::string_view text) {
    return std::string(text.size() > 24 ? "long" : text);
  };
  const auto found = Found({Demo()});
  for (size_t i = 0; i < found.size(); ++i) {
    SCOPED_TRACE(NameOf(Plans()[i]));
    const prof::ViewPlan& plan = Plans()[i];
    const auto loaded = Loaded(prof::SaveSection(*plan.view, plan.options, *found[i], shorter));
    EXPECT_LE(RowsOf(*loaded).size(), RowsOf(*found[i]).size());
    for (const char* const sum : {"device_self_ns", "host_self_ns", "count", "calls", "launches"}) {
      EXPECT_EQ(SumOf(*loaded, sum), SumOf(*found[i], sum)) << sum;
    }
  }
}

/// Counts rows, and looks at all their cells.
class Looking : public prof::Sink {
 public:
  void Begin(std::string_view, std::vector<prof::Field>) override {}
  void Row(std::span<const prof::Cell> cells) override { cells_ += cells.size(); }

 private:
  size_t cells_ = 0;
};

/// Loads bytes that may be anything, and does all that is done with partials.
void Use(const Section& section) {
  try {
    const auto partial = Loaded(section);
    const auto other = Loaded(section);
    partial->Merge(*other);
    Looking looking;
    partial->Emit(&looking);
    partial->Document();
    partial->Notes();
    ByteWriter bytes;
    partial->Save(&bytes);
  } catch (const Error& error) {
    EXPECT_NE(std::string(error.what()).find("save"), std::string::npos) << error.what();
    EXPECT_EQ(std::string(error.what()).find('\n'), std::string::npos) << error.what();
  }
}

TEST(SavedPartialsTest, OfDamagedBytesErrorsAreAllThatComes) {
  const auto found = Found({Demo()});
  std::mt19937 random(7);
  for (size_t i = 0; i < found.size(); ++i) {
    SCOPED_TRACE(NameOf(Plans()[i]));
    const Section whole = SectionOf(i, *found[i]);
    Section section = whole;
    const size_t cuts = std::min<size_t>(whole.bytes.size(), 200);
    for (size_t cut = 0; cut < cuts; ++cut) {
      section.bytes.resize(cut < cuts / 2 ? cut : whole.bytes.size() - (cut - cuts / 2) - 1);
      Use(section);
      section = whole;
    }
    for (int round = 0; round < 400; ++round) {
      for (size_t changes = 1 + random() % 3; changes > 0; --changes) {
        const size_t at = random() % (round % 2 == 0 ? std::min<size_t>(whole.bytes.size(), 64)
                                                     : whole.bytes.size());
        section.bytes[at] = static_cast<char>(random());
      }
      Use(section);
      section = whole;
    }
  }
}

}  // namespace
}  // namespace oplens::test::saved_partials_test

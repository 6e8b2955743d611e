// Each rule of advice on made-up facts: none fires on a clean run, each on a bad one.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "prof/advice/advise.h"
#include "prof/advice/evidence.h"
#include "prof/advice/rule.h"

namespace oplens::prof::advice::advice_rules_test {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

constexpr int64_t kStepNs = 10'000'000;
constexpr int64_t kSteps = 10;
constexpr int64_t kWindowNs = kSteps * kStepNs;
constexpr int64_t kGiB = int64_t{1} << 30;

/// A net in 16 bits on one GPU of an H100's kind whose work hides the host's: everything is known,
/// and of everything there is a little.
RankFacts CleanFacts() {
  RankFacts facts;
  facts.has_run = facts.has_launches = facts.has_prices = facts.has_roofs = true;
  facts.has_phases = facts.has_memory = facts.has_steps = true;
  facts.total_ns = kWindowNs;
  facts.gpus = 1;
  for (int64_t i = 0; i < kSteps; ++i) facts.steps.push_back({i * kStepNs, i, kStepNs, 1000});
  facts.dataloader_ns = kSteps * 1000;
  facts.comm_exposed_ns = kWindowNs / 100;
  facts.memcpy_exposed_ns = kWindowNs / 1000;
  facts.idle_ns.fill(kWindowNs / 1000);
  facts.compute_alone_ns = kWindowNs * 9 / 10;
  facts.kernels = {5000, kWindowNs * 9 / 10, 0};
  facts.products = {kWindowNs / 2, kWindowNs / 200, kWindowNs / 100};
  facts.multi_tensor_kernels = 40;
  facts.longest_host_ns = kWindowNs / 1000;
  for (size_t i = 0; i < kTopicCount; ++i) {
    facts.topics[i].Add("a place", {20, kWindowNs / 250, kWindowNs / 250});
  }
  facts.compute_capability = 90;
  facts.memory_bytes = 80 * kGiB;
  facts.peak_allocated_bytes = 60 * kGiB;
  facts.peak_reserved_bytes = 64 * kGiB;
  facts.allocated_at_peak_bytes = 60 * kGiB;
  facts.distributed_data_parallel = facts.nccl = true;
  return facts;
}

std::vector<std::string> IdsOf(const std::vector<Item>& items) {
  std::vector<std::string> ids;
  for (const Item& item : items) ids.emplace_back(item.rule->id);
  return ids;
}

std::vector<Item> AdviceOn(const RankFacts& facts) {
  const NamedRank rank{"0", &facts};
  return Advise({&rank, 1});
}

/// What makes the clean run a bad one for a rule; to the rule's threshold and just beyond it.
struct BadCase {
  std::string_view id;
  std::function<void(RankFacts* facts)> reach;   ///< It must not fire yet.
  std::function<void(RankFacts* facts)> exceed;  ///< After the former.
  Severity severity;
};

std::function<void(RankFacts*)> Places(Topic topic, Sums sums) {
  return [=](RankFacts* facts) { facts->At(topic).Add("the worst", sums); };
}

/// A topic holds 20 works of kWindowNs / 250 already.
constexpr int64_t Above(int64_t least_ns) { return least_ns - kWindowNs / 250; }

/// fp32 products, in a net whose other products are not of 16 bits.
std::function<void(RankFacts*)> Fp32On(int compute_capability) {
  return [=](RankFacts* facts) {
    facts->compute_capability = compute_capability;
    facts->products = {0, kWindowNs / 50, 0};
    facts->At(Topic::kFp32).Add("mm", {5, Above(kWindowNs / 50), Above(kWindowNs / 50)});
  };
}

const std::vector<BadCase>& BadCases() {
  static const std::vector<BadCase> cases = {
      {"dataloader", [](RankFacts* f) { f->dataloader_ns = kWindowNs / 20; },
       [](RankFacts* f) { ++f->dataloader_ns; }, Severity::kMedium},
      {"blocking-calls", Places(Topic::kBlocking, {3, 0, Above(kWindowNs / 50)}),
       Places(Topic::kBlocking, {0, 0, 1}), Severity::kLow},
      {"host-bound",
       [](RankFacts* f) {
         f->idle_ns[static_cast<size_t>(IdleCause::kLaunch)] = kWindowNs / 5 - 2 * kWindowNs / 1000;
         f->At(Topic::kHost).Add("", {5, 0, kWindowNs / 10});
       },
       [](RankFacts* f) { ++f->idle_ns[static_cast<size_t>(IdleCause::kLaunch)]; },
       Severity::kHigh},
      {"step-start", Places(Topic::kStepStart, {5, 0, Above(kWindowNs / 20)}),
       Places(Topic::kStepStart, {0, 0, 1}), Severity::kMedium},
      {"graph-launch", Places(Topic::kGraphLaunch, {5, 0, Above(kWindowNs / 50)}),
       Places(Topic::kGraphLaunch, {0, 0, 1}), Severity::kLow},
      {"api-calls", Places(Topic::kApiCall, {5, 0, Above(kWindowNs / 50)}),
       Places(Topic::kApiCall, {0, 0, 1}), Severity::kLow},
      {"short-kernels", Places(Topic::kShort, {2480, 0, kWindowNs / 10}),
       Places(Topic::kShort, {1, 0, 0}), Severity::kHigh},
      {"pageable-copies",
       [](RankFacts* f) {
         f->At(Topic::kPageable).Add("HtoD", {10, kWindowNs / 10, kWindowNs / 10});
         f->memcpy_exposed_ns = kWindowNs / 100;
         f->idle_ns[static_cast<size_t>(IdleCause::kPageableCopy)] = 0;
       },
       [](RankFacts* f) { ++f->memcpy_exposed_ns; }, Severity::kLow},
      {"pinned-copies",
       [](RankFacts* f) {
         f->At(Topic::kPinned).Add("HtoD", {10, kWindowNs / 10, kWindowNs / 10});
         f->memcpy_exposed_ns = kWindowNs / 100;
       },
       [](RankFacts* f) { ++f->memcpy_exposed_ns; }, Severity::kLow},
      {"allocator-retries", Places(Topic::kAllocation, {2, 0, Above(kWindowNs / 200)}),
       Places(Topic::kAllocation, {1, 0, 1}), Severity::kLow},
      {"pad-dims", Places(Topic::kPad, {5, kWindowNs / 10, Above(kWindowNs / 100)}),
       Places(Topic::kPad, {0, 0, 1}), Severity::kLow},
      {"fp32-in-16bit-net",
       [](RankFacts* f) {
         Fp32On(90)(f);
         f->products.half_ns = kWindowNs / 2;
       },
       Places(Topic::kFp32, {1, 1, 1}), Severity::kLow},
      {"tf32-off", Fp32On(80), Places(Topic::kFp32, {1, 1, 1}), Severity::kLow},
      {"mixed-precision", Fp32On(70), Places(Topic::kFp32, {1, 1, 1}), Severity::kLow},
      {"layout-transforms", Places(Topic::kLayout, {5, Above(kWindowNs / 50), 0}),
       Places(Topic::kLayout, {1, 1, 0}), Severity::kLow},
      {"small-grids", Places(Topic::kSmallGrid, {5, kWindowNs / 10, Above(kWindowNs / 20)}),
       Places(Topic::kSmallGrid, {0, 0, 1}), Severity::kMedium},
      {"low-occupancy", Places(Topic::kLowOccupancy, {5, kWindowNs / 10, Above(kWindowNs / 50)}),
       Places(Topic::kLowOccupancy, {0, 0, 1}), Severity::kLow},
      {"per-tensor-optimizer", Places(Topic::kOptimizer, {479, 0, kWindowNs / 20}),
       Places(Topic::kOptimizer, {1, 0, 0}), Severity::kMedium},
      {"attention-backend", Places(Topic::kAttention, {5, kWindowNs / 10, Above(kWindowNs / 50)}),
       Places(Topic::kAttention, {0, 0, 1}), Severity::kLow},
      {"rope-and-attention-copies",
       Places(Topic::kAttentionCopies, {5, kWindowNs / 10, Above(kWindowNs / 50)}),
       Places(Topic::kAttentionCopies, {0, 0, 1}), Severity::kLow},
      {"casts-before-products", Places(Topic::kCast, {5, kWindowNs / 10, Above(kWindowNs / 50)}),
       Places(Topic::kCast, {0, 0, 1}), Severity::kLow},
      {"quantize-around-products",
       Places(Topic::kQuantise, {5, kWindowNs / 10, Above(kWindowNs / 50)}),
       Places(Topic::kQuantise, {0, 0, 1}), Severity::kLow},
      {"fusion", Places(Topic::kChain, {5, kWindowNs / 10, Above(kWindowNs / 50)}),
       Places(Topic::kChain, {0, 0, 1}), Severity::kLow},
      {"far-from-roof", Places(Topic::kFarFromRoof, {5, kWindowNs / 10, Above(kWindowNs / 50)}),
       Places(Topic::kFarFromRoof, {0, 0, 1}), Severity::kLow},
      {"memory-bound-kernels", Places(Topic::kMemoryBound, {5, Above(kWindowNs / 5), 0}),
       Places(Topic::kMemoryBound, {1, 1, 0}), Severity::kLow},
      {"foreach-optimizer", Places(Topic::kForeach, {9, kWindowNs / 10, kWindowNs / 50}),
       Places(Topic::kForeach, {1, 0, 0}), Severity::kLow},
      {"recomputation",
       [](RankFacts* f) {
         f->At(Topic::kRecompute).Add("mm", {9, kWindowNs / 10, kWindowNs / 10});
         f->peak_allocated_bytes = 57 * kGiB;
       },
       [](RankFacts* f) { f->peak_allocated_bytes = 56 * kGiB; }, Severity::kHigh},
      {"thin-recording", [](RankFacts*) {}, [](RankFacts* f) { f->has_prices = false; },
       Severity::kInfo},
      {"exposed-communication", [](RankFacts* f) { f->comm_exposed_ns = kWindowNs / 20; },
       [](RankFacts* f) { ++f->comm_exposed_ns; }, Severity::kMedium},
      {"small-messages",
       [](RankFacts* f) {
         f->At(Topic::kSmallCollective).Add("the worst", {79, 0, kWindowNs / 50});
         f->comm_exposed_ns = kWindowNs / 25;
       },
       Places(Topic::kSmallCollective, {1, 0, 0}), Severity::kLow},
      {"data-parallel", [](RankFacts* f) { f->data_parallel = true; },
       [](RankFacts* f) { f->gpus = 2; }, Severity::kMedium},
      {"nccl-backend", [](RankFacts* f) { f->gloo = true; }, [](RankFacts* f) { f->nccl = false; },
       Severity::kMedium},
      {"memory-near-full", [](RankFacts* f) { f->peak_allocated_bytes = 72 * kGiB; },
       [](RankFacts* f) { ++f->peak_allocated_bytes; }, Severity::kMedium},
      {"fragmentation", [](RankFacts* f) { f->allocated_at_peak_bytes = 48 * kGiB; },
       [](RankFacts* f) { --f->allocated_at_peak_bytes; }, Severity::kLow},
      {"step-jitter",
       [](RankFacts* f) {
         f->steps[4].total_ns = kStepNs * 11 / 10;
         f->steps[7].total_ns = kStepNs * 11 / 10;
       },
       [](RankFacts* f) { f->steps[4].total_ns = kStepNs * 13 / 10; }, Severity::kMedium},
      {"cold-start",
       [](RankFacts* f) {
         f->idle_ns[static_cast<size_t>(IdleCause::kModuleLoad)] = kWindowNs / 20;
       },
       [](RankFacts* f) { ++f->idle_ns[static_cast<size_t>(IdleCause::kModuleLoad)]; },
       Severity::kInfo},
      {"warm-up-step", [](RankFacts* f) { f->steps[0].total_ns = kStepNs * 3 / 2; },
       [](RankFacts* f) { ++f->steps[0].total_ns; }, Severity::kInfo},
  };
  return cases;
}

TEST(AdviceRulesTest, NoneFiresOnACleanRun) {
  EXPECT_THAT(IdsOf(AdviceOn(CleanFacts())), IsEmpty());
}

TEST(AdviceRulesTest, NoneFiresOnNothing) {
  EXPECT_THAT(IdsOf(AdviceOn(RankFacts())), IsEmpty());
  RankFacts empty;
  empty.has_run = empty.has_launches = empty.has_prices = empty.has_roofs = true;
  empty.has_phases = empty.has_memory = empty.has_steps = true;
  empty.gpus = 1;
  EXPECT_THAT(IdsOf(AdviceOn(empty)), IsEmpty());
}

class AdviceRuleTest : public ::testing::TestWithParam<BadCase> {};

TEST_P(AdviceRuleTest, FiresBeyondItsThresholdAlone) {
  const BadCase& bad = GetParam();
  RankFacts facts = CleanFacts();
  bad.reach(&facts);
  const std::string id(bad.id);
  // The jitter of a first step that is late is its warm-up.
  EXPECT_THAT(IdsOf(AdviceOn(facts)), ::testing::Not(::testing::Contains(id)));
  bad.exceed(&facts);
  const std::vector<Item> items = AdviceOn(facts);
  ASSERT_THAT(IdsOf(items), ElementsAre(id));
  const Item& item = items[0];
  EXPECT_EQ(item.severity, bad.severity);
  EXPECT_FALSE(item.finding.sentence.empty());
  EXPECT_EQ(item.finding.gain.has_value(), !item.rule->bound.empty());
  if (!item.finding.gain) return;
  EXPECT_GT(*item.finding.gain, 0);
  EXPECT_LE(*item.finding.gain, 1);
  // Of a mean step.
  EXPECT_NEAR(*item.gain_ns, *item.finding.gain * static_cast<double>(facts.total_ns) / kSteps, 1);
}

std::string NameOf(const ::testing::TestParamInfo<BadCase>& info) {
  std::string name(info.param.id);
  std::replace(name.begin(), name.end(), '-', '_');
  return name;
}

INSTANTIATE_TEST_SUITE_P(Each, AdviceRuleTest, ::testing::ValuesIn(BadCases()), NameOf);

// With collectives only: see UnbalancedRanks, WaitsForRanks, SlowCollectives.
TEST(AdviceRulesTest, EachHasACase) {
  std::set<std::string_view> cases = {"slow-collectives", "unbalanced-ranks", "waits-for-ranks"};
  for (const BadCase& bad : BadCases()) cases.insert(bad.id);
  std::set<std::string_view> rules;
  for (const Rule& rule : Rules()) {
    EXPECT_TRUE(rules.insert(rule.id).second) << rule.id;
    EXPECT_FALSE(rule.change.empty()) << rule.id;
    EXPECT_FALSE(rule.command.empty()) << rule.id;
    EXPECT_EQ(rule.bound.empty(), rule.assumption.empty()) << rule.id;
  }
  EXPECT_EQ(cases, rules);
}

TEST(AdviceRulesTest, UnbalancedRanks) {
  std::vector<RankFacts> facts(3, CleanFacts());
  std::vector<NamedRank> ranks = {{"0", &facts[0]}, {"1", &facts[1]}, {"2", &facts[2]}};
  facts[2].kernels.time_ns += kWindowNs / 20;
  EXPECT_THAT(Advise(ranks), IsEmpty());
  ++facts[2].kernels.time_ns;
  const std::vector<Item> items = Advise(ranks);
  ASSERT_THAT(IdsOf(items), ElementsAre("unbalanced-ranks"));
  EXPECT_EQ(items[0].rank, "2");
  EXPECT_EQ(items[0].ranks, 1);
  // Ranks that do not talk do not wait for each other.
  for (RankFacts& rank : facts) rank.At(Topic::kCollective) = {};
  EXPECT_THAT(Advise(ranks), IsEmpty());
}

TEST(AdviceRulesTest, ARuleIsOneItemOfTheWorstRank) {
  std::vector<RankFacts> facts(3, CleanFacts());
  facts[0].dataloader_ns = kWindowNs / 10;
  facts[1].dataloader_ns = kWindowNs / 4;
  facts[2].idle_ns[static_cast<size_t>(IdleCause::kLaunch)] = kWindowNs / 2;
  facts[2].At(Topic::kHost).Add("", {5, 0, kWindowNs / 2});
  const std::vector<NamedRank> ranks = {{"0", &facts[0]}, {"1", &facts[1]}, {"2", &facts[2]}};
  const std::vector<Item> items = Advise(ranks);
  ASSERT_THAT(IdsOf(items), ElementsAre("host-bound", "dataloader"));  // By gain.
  EXPECT_EQ(items[1].rank, "1");
  EXPECT_EQ(items[1].ranks, 2);
  EXPECT_NEAR(*items[1].finding.gain, 0.25, 1e-12);
}

// Waiting is no transfer, which alone could be hidden.
TEST(AdviceRulesTest, WaitsForRanks) {
  RankFacts facts = CleanFacts();
  facts.comm_exposed_ns = kWindowNs / 2;
  facts.compute_alone_ns = kWindowNs / 4;
  CommunicationFacts other;
  other.exposed_ns = kWindowNs / 2;
  other.transfer_ns = kWindowNs / 10;
  other.waiting_ns = kWindowNs * 4 / 10;
  other.waits_for = {{kWindowNs * 3 / 10, "3"}, {kWindowNs / 20, "1"}};
  other.kind = "tensor";
  const NamedRank rank{"0", &facts, &other};
  const std::vector<Item> items = Advise({&rank, 1});
  ASSERT_THAT(IdsOf(items), ElementsAre("waits-for-ranks", "exposed-communication"));
  EXPECT_NEAR(*items[0].finding.gain, 0.4, 1e-12);
  EXPECT_THAT(items[0].finding.evidence,
              ElementsAre("for rank 3: 30 ms of 40 ms", "for rank 1: 5 ms of 40 ms"));
  EXPECT_NEAR(*items[1].finding.gain, 0.1, 1e-12);
  EXPECT_THAT(items[1].finding.sentence, HasSubstr("80.0 % of it waiting for other ranks"));
  EXPECT_THAT(items[1].finding.change, HasSubstr("within the layer"));
  EXPECT_THAT(items[1].finding.change, ::testing::Not(HasSubstr("DistributedDataParallel")));
  // Nothing but waiting: there is nothing to hide.
  other.transfer_ns = 0;
  other.waiting_ns = kWindowNs / 2;
  EXPECT_THAT(IdsOf(Advise({&rank, 1})), ElementsAre("waits-for-ranks"));
}

// 450 GB/s are there: of 40 ms, 4 are transfer of 0.9 GB; then 36.
TEST(AdviceRulesTest, SlowCollectives) {
  RankFacts facts = CleanFacts();
  facts.comm_exposed_ns = kWindowNs * 4 / 10;
  facts.compute_alone_ns = kWindowNs;
  facts.link_bytes_per_s = 450'000'000'000;
  CommunicationFacts other;
  other.exposed_ns = facts.comm_exposed_ns;
  other.transfer_ns = facts.comm_exposed_ns;
  other.matched = {900'000'000, 40'000'000, 36'000'000};
  const NamedRank rank{"0", &facts, &other};
  std::vector<Item> items = Advise({&rank, 1});
  ASSERT_THAT(IdsOf(items), ElementsAre("exposed-communication", "slow-collectives"));
  EXPECT_THAT(items[1].finding.sentence,
              HasSubstr("move 25.0 GB/s over the bus once all ranks are there (22.5 with waiting), "
                        "of 450 GB/s"));
  EXPECT_NEAR(*items[1].finding.gain, 0.4 * (1 - 25.0 / 450), 1e-12);
  // The same bytes in a tenth of the time: the links are used, the rest is waiting.
  other.matched.transfer_ns = 3'600'000;
  EXPECT_THAT(IdsOf(Advise({&rank, 1})), ElementsAre("exposed-communication"));
  // Without other ranks it is not known which.
  other.alone = std::exchange(other.matched, {});
  items = Advise({&rank, 1});
  ASSERT_THAT(IdsOf(items), ElementsAre("exposed-communication", "slow-collectives"));
  EXPECT_FALSE(items[1].finding.gain.has_value());
  EXPECT_THAT(items[1].finding.sentence, HasSubstr("wait for other ranks, or the fabric is slow"));
  facts.link_bytes_per_s = 0;
  EXPECT_THAT(IdsOf(Advise({&rank, 1})), ElementsAre("exposed-communication"));
}

TEST(AdviceRulesTest, EvidenceIsThatOfTheRank) {
  RankFacts facts = CleanFacts();
  facts.dataloader_ns = kWindowNs / 2;
  facts.At(Topic::kPageable).Add("host to GPU", {1, kWindowNs / 2, kWindowNs / 2});
  facts.memcpy_exposed_ns = kWindowNs / 2;
  const std::vector<NamedRank> ranks = {{"0", &facts}, {"it's", &facts}};
  for (const Item& item : Advise(ranks)) {
    const std::string alone = CommandOf(item, false);
    Item quoted = item;
    quoted.rank = ranks[1].name;
    EXPECT_EQ(CommandOf(quoted, true), alone);
    if (item.rule->id == "pageable-copies") {
      EXPECT_EQ(CommandOf(item, true),
                "--copies --where 'rank=\"0\" and (src=pageable or dst=pageable)'");
    } else {
      EXPECT_EQ(CommandOf(item, true), alone + " --where 'rank=\"0\"'");
    }
  }
}

TEST(AdviceRulesTest, WhatAThinRecordingCannotTell) {
  RankFacts facts = CleanFacts();
  facts.family = Family::kKineto;
  facts.has_prices = false;
  std::vector<Item> items = AdviceOn(facts);
  ASSERT_THAT(IdsOf(items), ElementsAre("thin-recording"));
  EXPECT_EQ(items[0].finding.sentence,
            "this profile cannot tell how far kernels are from what the GPU can");
  EXPECT_THAT(items[0].finding.evidence, ElementsAre(HasSubstr("record_shapes=True")));
  facts.has_prices = facts.file_cut = true;
  items = AdviceOn(facts);
  ASSERT_THAT(IdsOf(items), ElementsAre("thin-recording"));
  EXPECT_EQ(items[0].finding.sentence, "the file ends early: what follows is in no figure");
}

// What is recomputed is launched once more too.
TEST(AdviceRulesTest, RecomputationCostsTheHostAsWell) {
  RankFacts facts = CleanFacts();
  facts.At(Topic::kRecompute).Add("mm", {9, kWindowNs / 10, kWindowNs / 10});
  facts.At(Topic::kRecompute).Add("mm", {0, 0, kWindowNs / 5});
  facts.peak_allocated_bytes = facts.memory_bytes / 2;
  const std::vector<Item> items = AdviceOn(facts);
  ASSERT_THAT(IdsOf(items), ElementsAre("recomputation"));
  EXPECT_NEAR(*items[0].finding.gain, 0.3 + 0.004, 1e-9);
  EXPECT_THAT(items[0].finding.sentence, HasSubstr("for 20.0 % the GPU waits"));
}

// No more can be hidden than there is computation.
TEST(AdviceRulesTest, ExposedCommunicationIsBoundByComputation) {
  RankFacts facts = CleanFacts();
  facts.comm_exposed_ns = kWindowNs * 8 / 10;
  facts.compute_alone_ns = kWindowNs * 2 / 10;
  std::vector<Item> items = AdviceOn(facts);
  ASSERT_THAT(IdsOf(items), ElementsAre("exposed-communication"));
  EXPECT_NEAR(*items[0].finding.gain, 0.2, 1e-12);
  facts.compute_alone_ns = 0;
  items = AdviceOn(facts);
  ASSERT_THAT(IdsOf(items), ElementsAre("exposed-communication"));
  EXPECT_FALSE(items[0].finding.gain.has_value());
  EXPECT_EQ(items[0].severity, Severity::kHigh);
  EXPECT_THAT(items[0].finding.change, HasSubstr("nothing to hide it behind"));
}

TEST(AdviceRulesTest, OneWaitIsToldAsOne) {
  RankFacts facts = CleanFacts();
  facts.idle_ns[static_cast<size_t>(IdleCause::kPython)] = kWindowNs / 2;
  facts.At(Topic::kHost).Add("", {1, 0, kWindowNs / 2});
  facts.longest_host_ns = kWindowNs * 4 / 10;
  facts.host_place = "aten::item at train.py(3): step";
  const std::vector<Item> items = AdviceOn(facts);
  ASSERT_THAT(IdsOf(items), ElementsAre("host-bound"));
  EXPECT_THAT(items[0].finding.sentence, HasSubstr("one wait is 40 ms of "));
  EXPECT_THAT(items[0].finding.sentence, HasSubstr("mostly in aten::item at train.py(3): step"));
  EXPECT_EQ(items[0].finding.command, "--view gaps");
}

// What a replay of the critical path saves ranks the items; the bound stays.
TEST(AdviceRulesTest, EstimatesAreFromTheReplay) {
  RankFacts facts = CleanFacts();
  facts.has_replay = true;
  facts.dataloader_ns = kWindowNs / 4;
  facts.At(Topic::kDataLoader).saved_ns = kWindowNs / 20;
  facts.At(Topic::kBlocking).Add("item", {3, 0, Above(kWindowNs / 10)});
  facts.At(Topic::kBlocking).saved_ns = kWindowNs;
  const std::vector<Item> items = AdviceOn(facts);
  ASSERT_THAT(IdsOf(items), ElementsAre("blocking-calls", "dataloader"));
  EXPECT_NEAR(*items[0].estimate, 0.1, 1e-12);  // At most the bound.
  EXPECT_EQ(items[0].confidence, Confidence::kHigh);
  EXPECT_NEAR(*items[1].finding.gain, 0.25, 1e-12);
  EXPECT_NEAR(*items[1].estimate, 0.05, 1e-12);
  EXPECT_NEAR(*items[1].estimate_ns, kStepNs / 20, 1);
  EXPECT_EQ(items[1].severity, Severity::kMedium);
  EXPECT_EQ(items[1].confidence, Confidence::kLow);
}

// The severity goes before the order of the rules.
TEST(AdviceRulesTest, OrderIsBySeverityThenGain) {
  RankFacts facts = CleanFacts();
  facts.steps[0].total_ns = 2 * kStepNs;  // info
  facts.dataloader_ns = kWindowNs / 16;   // medium
  facts.comm_exposed_ns = kWindowNs / 4;  // high
  facts.data_parallel = true;             // medium, without a gain
  facts.gpus = 2;
  EXPECT_THAT(IdsOf(AdviceOn(facts)),
              ElementsAre("exposed-communication", "dataloader", "data-parallel", "warm-up-step"));
}

TEST(AdviceRulesTest, SeverityIsThatOfTheGain) {
  const auto severity_of = [](int64_t part) {
    RankFacts facts = CleanFacts();
    facts.comm_exposed_ns = kWindowNs / part;
    const std::vector<Item> items = AdviceOn(facts);
    return items.empty() ? Severity::kInfo : items[0].severity;
  };
  EXPECT_EQ(severity_of(10), Severity::kHigh);
  EXPECT_EQ(severity_of(11), Severity::kMedium);
}

TEST(AdviceRulesTest, WithoutRoofsAGainIsNotKnown) {
  RankFacts facts = CleanFacts();
  facts.has_roofs = false;
  facts.At(Topic::kPad).Add("mm", {5, kWindowNs / 10, 0});
  const std::vector<Item> items = AdviceOn(facts);
  ASSERT_THAT(IdsOf(items), ElementsAre("pad-dims"));
  EXPECT_FALSE(items[0].finding.gain.has_value());
  EXPECT_EQ(items[0].severity, Severity::kLow);
}

// Half of the steps late is two kinds of steps, no jitter.
TEST(AdviceRulesTest, ManyLateStepsAreNoJitter) {
  RankFacts facts = CleanFacts();
  for (size_t i = 1; i < 5; ++i) facts.steps[2 * i].total_ns = 2 * kStepNs;
  EXPECT_THAT(IdsOf(AdviceOn(facts)), IsEmpty());
}

TEST(AdviceRulesTest, SaysWhichRulesHadNothingToLookAt) {
  RankFacts facts = CleanFacts();
  const NamedRank rank{"", &facts};
  EXPECT_THAT(RulesWithoutData({&rank, 1}), IsEmpty());
  facts.has_memory = false;
  std::vector<std::string_view> ids;
  for (const Rule* rule : RulesWithoutData({&rank, 1})) ids.push_back(rule->id);
  EXPECT_THAT(ids, ElementsAre("memory-near-full", "fragmentation"));
}

TEST(AdviceFactsTest, MergingHasNoOrder) {
  RankFacts a = CleanFacts();
  RankFacts b = CleanFacts();
  b.At(Topic::kPad).Add("b", {1, 2, 3});
  b.steps[0].start_ns = 5;
  b.peak_allocated_bytes = 70 * kGiB;
  b.allocated_at_peak_bytes = 1;
  b.gpus = 4;
  b.family = Family::kKineto;
  b.link_bytes_per_s = 9;
  b.file_cut = true;
  RankFacts ab = a;
  ab.Merge(b);
  RankFacts ba = b;
  ba.Merge(a);
  for (const RankFacts* facts : {&ab, &ba}) {
    EXPECT_EQ(facts->steps, ab.steps);
    EXPECT_EQ(facts->total_ns, 2 * kWindowNs);
    EXPECT_EQ(facts->gpus, 4);
    EXPECT_EQ(facts->family, Family::kKineto);
    EXPECT_EQ(facts->link_bytes_per_s, 9);
    EXPECT_TRUE(facts->file_cut);
    EXPECT_EQ(facts->allocated_at_peak_bytes, 1);
    EXPECT_EQ(facts->At(Topic::kPad).places.at("b").gain_ns, 3);
    EXPECT_EQ(facts->At(Topic::kPad).all.count, 41);
  }
}

TEST(AdviceEvidenceTest, LargestFirstThenTheRest) {
  TopicFacts topic;
  for (int i = 1; i <= 7; ++i) {
    topic.Add("op" + std::to_string(i), {i, i * 1'000'000, i * 500'000});
  }
  EXPECT_THAT(EvidenceOf(topic),
              ElementsAre("op7: 7 x, 7 ms, at most 3.5 ms to gain", HasSubstr("op6: 6 x"),
                          HasSubstr("op5"), HasSubstr("op4"), HasSubstr("op3"),
                          "(2 more): 3 x, 3 ms, at most 1.5 ms to gain"));
}

TEST(AdviceEvidenceTest, TextsOfAmounts) {
  EXPECT_EQ(TimeText(999), "999 ns");
  EXPECT_EQ(TimeText(1500), "1.5 us");
  EXPECT_EQ(TimeText(2.25e9), "2.25 s");
  EXPECT_EQ(BytesText(3 * kGiB / 2), "1.50 GiB");
  EXPECT_EQ(BytesText(1 << 19), "0.5 MiB");
  EXPECT_EQ(Percent(0.1234), "12.3");
}

}  // namespace
}  // namespace oplens::prof::advice::advice_rules_test

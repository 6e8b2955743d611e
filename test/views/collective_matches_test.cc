// The same matches whatever process has which rank; clocks that are off, and who came last.

#include "prof/views/collectives/collective_matches.h"

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <map>
#include <mutex>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "base/error.h"
#include "test/support/test_files.h"
#include "test/support/thread_exchange.h"
#include "test/support/view_rows.h"

namespace oplens::test::collective_matches_test {
namespace {

using prof::CollectiveGroup;
using prof::CollectiveKind;
using prof::CollectiveMatches;
using prof::CollectiveRow;
using prof::CollectiveSet;

using Call = CollectiveSet::Call;

/// The calls of one rank, with their groups, and with what was before each of them by a number.
struct RankCalls {
  std::string rank;
  CollectiveSet::Recording recording;
  std::vector<std::pair<Call, CollectiveGroup>> calls;
};

/// That CollectiveSet::Call::before::work has in RankCalls.
prof::WorkName WorkOf(uint32_t number) {
  return {fmt::format("op {}", number), number % 2 == 0 ? "" : "layer"};
}

void AddTo(CollectiveSet* set, const RankCalls& of) {
  std::vector<Call> calls;
  for (const auto& [call, group] : of.calls) {
    calls.push_back(call);
    calls.back().group = set->NumberOf(group);
    uint32_t& work = calls.back().before.work;
    if (work != prof::BeforeCall::kNone) work = set->NumberOf(WorkOf(work));
  }
  set->Add(of.rank, of.recording, calls);
}

/// All that is said of a call.
std::string TextOf(const CollectiveRow& row) {
  const prof::CollectiveShare& share = row.share;
  const auto known = [](const auto& value) { return value ? std::to_string(*value) : "-"; };
  const auto work = [](const prof::WorkName* name) {
    return name != nullptr ? name->op + "," + name->layer : "-";
  };
  return fmt::format("{} {} {} {} {} | {} {} {} {} {} {} {} {} {} {} {} {}", row.call.start_ns,
                     row.call.end_ns, row.group->name, known(row.step()), work(row.work),
                     share.transfer_ns, known(share.clock_ns), known(share.residual_ns),
                     known(share.arrival_ns), share.last_rank != nullptr ? *share.last_rank : "-",
                     known(share.last_by_ns), share.ranks, static_cast<int>(share.match),
                     static_cast<int>(share.loss), work(share.last_work), share.last_idle_permille,
                     share.match_id);
}

/// By rank.
using Said = std::map<std::string, std::vector<std::string>>;

void Tell(const CollectiveMatches& matches, Said* said) {
  for (size_t rank = 0; rank < matches.rank_count(); ++rank) {
    for (const CollectiveRow& row : matches.RowsOf(rank)) {
      (*said)[*row.rank].push_back(TextOf(row));
    }
  }
}

/// What sets of ranks say that are in processes of their own.
Said SaidApart(const std::vector<CollectiveSet>& sets) {
  Said said;
  std::mutex mutex;
  RunProcesses(sets.size(), [&](Exchange* exchange) {
    const CollectiveMatches matches(sets[exchange->rank()], exchange);
    const std::lock_guard lock(mutex);
    Tell(matches, &said);
  });
  return said;
}

/// Ranks dealt to processes at random.
void CheckApart(const std::vector<RankCalls>& ranks, uint64_t seed) {
  CollectiveSet all;
  for (const RankCalls& rank : ranks) AddTo(&all, rank);
  Said expected;
  Tell(CollectiveMatches(all), &expected);
  std::mt19937_64 random(seed);
  for (const size_t processes : {1U, 2U, 3U, 8U}) {
    std::vector<CollectiveSet> sets(processes);
    std::vector<RankCalls> shuffled = ranks;
    std::shuffle(shuffled.begin(), shuffled.end(), random);
    std::map<std::string, size_t> process_of;
    for (const RankCalls& rank : shuffled) {
      const auto at = process_of.try_emplace(rank.rank, random() % processes).first;
      AddTo(&sets[at->second], rank);
    }
    ASSERT_EQ(SaidApart(sets), expected) << processes << " processes";
  }
}

/// Calls of any kind in groups of any name, some of which no other rank has.
std::vector<RankCalls> MadeRanks(std::mt19937* random) {
  const auto any = [random](unsigned count) { return static_cast<int64_t>((*random)() % count); };
  std::vector<RankCalls> ranks(2 + static_cast<size_t>(any(9)));
  const bool numbered = any(2) == 0;
  for (size_t i = 0; i < ranks.size(); ++i) {
    RankCalls& rank = ranks[i];
    // Two profiles of one rank now and then.
    rank.rank = std::to_string(any(8) == 0 ? 0 : i);
    rank.recording.world_size = static_cast<int64_t>(ranks.size());
    rank.recording.numbered_steps = any(4) > 0;
    if (any(3) > 0) rank.recording.clock_offset_ns = any(1000) * 1'000'000;
    rank.recording.steps = {3, 4};
    for (int64_t call = 0; call < 40; ++call) {
      if (any(25) == 0) continue;
      const int64_t start_ns = call * 10'000 + any(4000);
      Call of;
      of.start_ns = start_ns;
      of.end_ns = call * 10'000 + 5000 + any(300);
      of.latency_ns = any(30) == 0 ? -1 : of.end_ns - of.start_ns;
      of.kind = static_cast<CollectiveKind>(call % 12);
      of.size_bytes = (call % 3) * 1000;
      of.sequence = numbered ? call : -1;
      of.step = any(50) == 0 ? CollectiveSet::kNoStep : static_cast<uint32_t>(call / 20);
      if (any(9) > 0) of.before = {static_cast<uint32_t>(any(5)), static_cast<int32_t>(any(1001))};
      const int64_t group = call % 4;
      rank.calls.emplace_back(
          of, CollectiveGroup{group == 3 ? "" : fmt::format("g{}", group), "",
                              group == 0 ? static_cast<int64_t>(ranks.size()) : group - 1});
    }
  }
  return ranks;
}

RC_GTEST_PROP(CollectiveMatchesProperty, AnyNumberOfProcessesFindsTheSame, ()) {
  std::mt19937 random(*rc::gen::arbitrary<unsigned>());
  CheckApart(MadeRanks(&random), random());
}

/// Of calls with one id there are as many as ranks have the call, one a rank; the id is the place
/// of the first of them among all calls.
void CheckIds(const CollectiveSet& set) {
  const CollectiveMatches matches(set);
  std::map<int64_t, std::vector<const std::string*>> ranks_of;
  std::map<int64_t, uint32_t> said;
  int64_t place = 0;
  for (size_t rank = 0; rank < matches.rank_count(); ++rank) {
    for (const CollectiveRow& row : matches.RowsOf(rank)) {
      ++place;
      EXPECT_EQ(row.share.match_id > 0, row.share.ranks > 1) << place;
      if (row.share.match_id < 0) continue;
      std::vector<const std::string*>& ranks = ranks_of[row.share.match_id];
      EXPECT_TRUE(!ranks.empty() || row.share.match_id == place) << place;
      for (const std::string* one : ranks) EXPECT_NE(*one, *row.rank);
      ranks.push_back(row.rank);
      said[row.share.match_id] = row.share.ranks;
    }
  }
  for (const auto& [id, ranks] : ranks_of) EXPECT_EQ(ranks.size(), said[id]) << id;
}

RC_GTEST_PROP(CollectiveMatchesProperty, AnIdIsOfOneCollective, ()) {
  std::mt19937 random(*rc::gen::arbitrary<unsigned>());
  CollectiveSet set;
  for (const RankCalls& rank : MadeRanks(&random)) AddTo(&set, rank);
  CheckIds(set);
}

TEST(CollectiveMatchesTest, ARankIsInOneProcess) {
  std::vector<CollectiveSet> sets(2);
  for (CollectiveSet& set : sets) AddTo(&set, {"7", {}, {}});
  try {
    SaidApart(sets);
    FAIL();
  } catch (const Error& error) {
    EXPECT_STREQ(error.what(),
                 "rank 7: is in the files of two processes; give all files of a rank to one");
  }
}

/// Ranks of one group whose clocks are off by `offset_ns` and drift; one comes later to each call.
std::vector<RankCalls> Drifting(unsigned seed, int64_t ranks, double ppm, int64_t late_rank) {
  std::mt19937 random(seed);
  const auto noise = [&](int64_t most_ns) {
    return static_cast<int64_t>(random() % static_cast<uint64_t>(most_ns));
  };
  std::vector<RankCalls> made(static_cast<size_t>(ranks));
  for (int64_t step = 0; step < 100; ++step) {
    // Two calls a step, 50 ms each.
    const int64_t begin_ns = step * 50'000'000;
    const int64_t last_ns = begin_ns + 1'000'000;
    for (int64_t rank = 0; rank < ranks; ++rank) {
      const bool off = rank == 1;
      const auto by_clock = [&](int64_t time_ns) {
        return off ? time_ns + 3'000'000 +
                         static_cast<int64_t>(static_cast<double>(time_ns) * ppm / 1e6)
                   : time_ns;
      };
      const int64_t start_ns = rank == late_rank ? last_ns : last_ns - 200'000 - noise(50'000);
      const int64_t end_ns = last_ns + 300'000 + noise(8000);
      Call call;
      call.start_ns = by_clock(start_ns);
      call.end_ns = by_clock(end_ns);
      call.latency_ns = call.end_ns - call.start_ns;
      call.kind = CollectiveKind::kAllReduce;
      call.size_bytes = 1 << 20;
      made[static_cast<size_t>(rank)].rank = std::to_string(rank);
      made[static_cast<size_t>(rank)].calls.emplace_back(call, CollectiveGroup{"dp", "", ranks});
    }
  }
  return made;
}

TEST(CollectiveMatchesTest, AClockThatIsOffAndDriftsIsSetRight) {
  for (unsigned seed = 0; seed < 100; ++seed) {
    const int64_t late_rank = seed % 4;
    CollectiveSet set;
    for (const RankCalls& rank : Drifting(seed, 4, 50, late_rank)) AddTo(&set, rank);
    const CollectiveMatches matches(set);
    for (size_t rank = 0; rank < 4; ++rank) {
      for (const CollectiveRow& row : matches.RowsOf(rank)) {
        ASSERT_EQ(row.share.match, prof::CollectiveMatch::kOrder);
        ASSERT_NE(row.share.last_rank, nullptr);
        EXPECT_EQ(*row.share.last_rank, std::to_string(late_rank));
        EXPECT_EQ(row.came_last(), static_cast<int64_t>(rank) == late_rank);
        EXPECT_LT(std::abs(*row.share.residual_ns), 20'000);
        EXPECT_GT(*row.share.last_by_ns, 170'000);
        EXPECT_LE(*row.share.arrival_ns, 280'000);
      }
    }
    if (seed < 4) CheckApart(Drifting(seed, 4, 50, late_rank), seed);
  }
}

TEST(CollectiveMatchesTest, WhoSharesNoEndsIsNotSet) {
  std::vector<RankCalls> ranks = Drifting(1, 2, 0, 0);
  for (RankCalls& rank : ranks) {
    for (auto& [call, group] : rank.calls) call.kind = CollectiveKind::kBroadcast;
  }
  CollectiveSet set;
  for (const RankCalls& rank : ranks) AddTo(&set, rank);
  const CollectiveMatches matches(set);  // Rows point into it.
  for (const CollectiveRow& row : matches.RowsOf(1)) {
    EXPECT_EQ(row.share.match, prof::CollectiveMatch::kOrder);
    EXPECT_FALSE(row.share.arrival_ns);
    EXPECT_FALSE(row.share.last_by_ns);
    EXPECT_EQ(row.share.last_rank, nullptr);
  }
}

/// Ranks that reduce in groups of `sync`, then exchange in one of `experts`, where ranks 2 and 3
/// end 700 us later than the others. Clocks are off by 4 ms a rank.
std::vector<RankCalls> WithSlowPair(const std::vector<std::vector<int64_t>>& sync,
                                    const std::vector<int64_t>& experts) {
  std::vector<RankCalls> made(4);
  for (int64_t rank = 0; rank < 4; ++rank)
    made[static_cast<size_t>(rank)].rank = std::to_string(rank);
  const auto add = [&](const std::vector<int64_t>& ranks, int64_t at_ns, CollectiveKind kind) {
    const std::string listed = fmt::format("[{}]", fmt::join(ranks, ", "));
    for (const int64_t rank : ranks) {
      Call call;
      call.start_ns = at_ns + rank * 4'010'000;
      call.latency_ns = 300'000 - rank * 10'000;
      if (kind == CollectiveKind::kAllToAll && rank >= 2) call.latency_ns += 700'000;
      call.end_ns = call.start_ns + call.latency_ns;
      call.kind = kind;
      call.size_bytes = 4096;
      const auto size = static_cast<int64_t>(ranks.size());
      made[static_cast<size_t>(rank)].calls.emplace_back(call,
                                                         CollectiveGroup{listed, listed, size});
    }
  };
  for (int64_t step = 0; step < 20; ++step) {
    for (const std::vector<int64_t>& ranks : sync) {
      add(ranks, step * 50'000'000, CollectiveKind::kAllReduce);
    }
    add(experts, step * 50'000'000 + 20'000'000, CollectiveKind::kAllToAll);
  }
  return made;
}

/// By how much the all_to_all of each rank ended later than on the first of them.
std::map<std::string, int64_t> EndsOfAllToAll(const std::vector<RankCalls>& ranks) {
  CollectiveSet set;
  for (const RankCalls& rank : ranks) AddTo(&set, rank);
  const CollectiveMatches matches(set);
  std::map<std::string, int64_t> ends_ns;
  for (size_t rank = 0; rank < matches.rank_count(); ++rank) {
    for (const CollectiveRow& row : matches.RowsOf(rank)) {
      if (row.call.kind != CollectiveKind::kAllToAll) continue;
      ends_ns[*row.rank] = row.share.residual_ns.value_or(INT64_MIN);
    }
  }
  return ends_ns;
}

TEST(CollectiveMatchesTest, ASlowPairIsNotTakenForAClock) {
  const std::map<std::string, int64_t> late = {{"0", 0}, {"1", 0}, {"2", 700'000}, {"3", 700'000}};
  EXPECT_EQ(EndsOfAllToAll(WithSlowPair({{0, 1, 2, 3}}, {0, 1, 2, 3})), late);
  // Ranks 0 and 3 never reduce together.
  const std::vector<RankCalls> chained = WithSlowPair({{0, 1}, {1, 2}, {2, 3}}, {0, 1, 2, 3});
  EXPECT_EQ(EndsOfAllToAll(chained), late);
  CheckApart(chained, 1);
  // Of the first rank of the call, too.
  const std::vector<RankCalls> first = WithSlowPair({{0, 1, 2, 3}}, {2, 3, 1});
  EXPECT_EQ(EndsOfAllToAll(first),
            (std::map<std::string, int64_t>{{"1", 0}, {"2", 700'000}, {"3", 700'000}}));
  // Without calls that end at once it looks like a clock.
  const std::map<std::string, int64_t> alike = {{"0", 0}, {"1", 0}, {"2", 0}, {"3", 0}};
  EXPECT_EQ(EndsOfAllToAll(WithSlowPair({}, {0, 1, 2, 3})), alike);
  EXPECT_EQ(EndsOfAllToAll(WithSlowPair({{0, 1}, {2, 3}}, {0, 1, 2, 3})).at("1"), 0);
}

TEST(CollectiveMatchesTest, AGroupOfWhichOnlySomeRanksAreHere) {
  std::vector<RankCalls> ranks = Drifting(1, 3, 0, 2);
  for (RankCalls& rank : ranks) {
    for (auto& [call, group] : rank.calls) group = {"ep", "[0, 1, 2, 3, 4, 5, 6, 7]", 8};
  }
  CollectiveSet set;
  for (const RankCalls& rank : ranks) AddTo(&set, rank);
  const CollectiveMatches matches(set);  // Rows point into it.
  for (const CollectiveRow& row : matches.RowsOf(0)) {
    EXPECT_EQ(row.share.match, prof::CollectiveMatch::kOrder);
    EXPECT_EQ(row.share.ranks, 3u);
    EXPECT_EQ(row.group_size(), 8);
    EXPECT_EQ(row.group->ranks, "[0, 1, 2, 3, 4, 5, 6, 7]");
    EXPECT_EQ(*row.share.last_rank, "2");
  }
}

TEST(CollectiveMatchesTest, ASetIsSavedAndMergedWhole) {
  std::mt19937 random(5);
  for (int round = 0; round < 20; ++round) {
    const std::vector<RankCalls> ranks = MadeRanks(&random);
    CollectiveSet all;
    CollectiveSet merged;
    for (const RankCalls& rank : ranks) {
      AddTo(&all, rank);
      CollectiveSet one;
      AddTo(&one, rank);
      ByteWriter bytes;
      one.Save(&bytes);
      CollectiveSet loaded;
      ByteReader reader(bytes.bytes(), "calls");
      loaded.Load(&reader);
      reader.End();
      merged.Merge(std::move(loaded));
    }
    Said expected;
    Tell(CollectiveMatches(all), &expected);
    Said said;
    Tell(CollectiveMatches(merged), &said);
    ASSERT_EQ(said, expected);
  }
}

TEST(CollectiveMatchesTest, OfDamagedBytesErrorsAreAllThatComes) {
  std::mt19937 random(9);
  CollectiveSet set;
  for (const RankCalls& rank : MadeRanks(&random)) AddTo(&set, rank);
  ByteWriter writer;
  set.Save(&writer);
  const std::string whole = writer.Take();
  for (int round = 0; round < 3000; ++round) {
    std::string bytes = whole;
    for (size_t changes = 1 + random() % 3; changes > 0; --changes) {
      bytes[random() % bytes.size()] = static_cast<char>(random());
    }
    if (round % 5 == 0) bytes.resize(random() % bytes.size());
    try {
      ByteReader reader(bytes, "calls");
      CollectiveSet loaded;
      loaded.Load(&reader);
      reader.End();
      Said said;
      Tell(CollectiveMatches(loaded), &said);
    } catch (const Error& error) {
      EXPECT_EQ(std::string(error.what()).find('\n'), std::string::npos) << error.what();
    }
  }
}

TEST(CollectiveMatchesCorpusTest, AnyNumberOfProcessesFindsTheSame) {
  OPLENS_NEED_CORPUS();
  for (const char* const run : {"ddp_sampled_w128", "dlrm_w8", "linear_tp2", "llama_tp2"}) {
    SCOPED_TRACE(run);
    const std::string folder = CorpusDir().path / "kineto" / run;
    CollectiveSet all = FindIn(ViewNamed("collectives"), {folder}).calls;
    CheckIds(all);
    Said expected;
    Tell(CollectiveMatches(all), &expected);
    for (const size_t processes : {2U, 3U, 8U}) {
      std::vector<CollectiveSet> sets(processes);
      size_t next = 0;
      for (const auto& [rank, recordings] : all.ranks()) {
        CollectiveSet& set = sets[next++ % processes];
        for (const CollectiveSet::Recording& recording : recordings) {
          std::vector<Call> calls = CollectiveSet::CallsOf(recording);
          for (Call& call : calls) call.group = set.NumberOf(all.groups()[call.group]);
          set.Add(rank, recording, calls);
        }
      }
      EXPECT_EQ(SaidApart(sets), expected) << processes;
    }
  }
}

}  // namespace
}  // namespace oplens::test::collective_matches_test

// Pyramids, chunks, windows and counters of the timeline.

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <random>
#include <vector>

#include "report/missing_steps.h"
#include "report/summary.h"
#include "report/timeline/counters.h"
#include "report/timeline/event_chunk.h"
#include "report/timeline/host_lanes.h"
#include "report/timeline/host_times.h"
#include "report/timeline/path_strip.h"
#include "report/timeline/pyramid.h"
#include "report/timeline/signatures.h"
#include "report/timeline/windows.h"
#include "test/report/read_page.h"

namespace oplens::report::timeline_test {
namespace {

/// What a bucket must show, by looking at every ns.
std::vector<Bucket> BucketsByBruteForce(const std::vector<LaneEvent>& events, int64_t bucket_ns) {
  const auto floor = [&](int64_t t) {
    return t >= 0 ? t / bucket_ns : -((-t + bucket_ns - 1) / bucket_ns);
  };
  int64_t end = events.front().start_ns + 1;
  for (const LaneEvent& event : events) end = std::max({end, event.start_ns + 1, event.end_ns()});
  const int64_t first = floor(events.front().start_ns);
  const int64_t last = floor(end - 1);
  std::vector<Bucket> buckets(static_cast<size_t>(last - first + 1));
  std::vector<std::map<uint32_t, int64_t>> times(buckets.size());
  for (int64_t t = events.front().start_ns; t < end; ++t) {
    for (const LaneEvent& event : events) {
      if (t < event.start_ns || t >= event.end_ns()) continue;
      ++times[static_cast<size_t>(floor(t) - first)][event.signature];
      break;  // The one that started first.
    }
  }
  for (const LaneEvent& event : events) {
    ++buckets[static_cast<size_t>(floor(event.start_ns) - first)].events;
  }
  for (size_t i = 0; i < buckets.size(); ++i) {
    int64_t busy = 0;
    int64_t most = 0;
    for (const auto& [signature, time] : times[i]) {
      busy += time;
      if (time > most) buckets[i].signature = signature;
      most = std::max(most, time);
    }
    if (busy > 0) {
      const double share = static_cast<double>(busy) / static_cast<double>(bucket_ns);
      buckets[i].busy = static_cast<uint8_t>(std::clamp(share * 255 + 0.5, 1.0, 255.0));
      continue;
    }
    for (const LaneEvent& event : events) {
      if (event.duration_ns == 0 && floor(event.start_ns) - first == static_cast<int64_t>(i)) {
        buckets[i].signature = std::min(buckets[i].signature, event.signature);
      }
    }
  }
  return buckets;
}

void ExpectEqual(const std::vector<Bucket>& found, const std::vector<Bucket>& expected) {
  ASSERT_EQ(found.size(), expected.size());
  for (size_t i = 0; i < found.size(); ++i) {
    EXPECT_EQ(found[i].signature, expected[i].signature) << i;
    EXPECT_EQ(found[i].busy, expected[i].busy) << i;
    EXPECT_EQ(found[i].events, expected[i].events) << i;
  }
}

std::vector<LaneEvent> RandomEvents(std::mt19937* random, size_t count) {
  std::vector<LaneEvent> events;
  const auto below = [&](uint32_t limit) { return static_cast<int64_t>((*random)() % limit); };
  int64_t start = -below(300);
  for (size_t i = 0; i < count; ++i) {
    start += below(40);
    // Some overlap what comes, some are empty.
    const int64_t duration = below(4) == 0 ? 0 : below(60);
    events.push_back({start, duration, static_cast<uint32_t>(below(5)), 0});
  }
  return events;
}

TEST(PyramidTest, AgreesWithBruteForce) {
  std::mt19937 random(11);
  for (int round = 0; round < 200; ++round) {
    const std::vector<LaneEvent> events = RandomEvents(&random, 1 + random() % 40);
    for (const int64_t bucket_ns : {1, 4, 16, 64, 256, 4096}) {
      SCOPED_TRACE(testing::Message() << "round " << round << ", buckets of " << bucket_ns);
      ExpectEqual(MakeBuckets(events, bucket_ns, 5), BucketsByBruteForce(events, bucket_ns));
    }
    if (HasFailure()) return;
  }
}

TEST(PyramidTest, LevelsGrowByFour) {
  std::mt19937 random(3);
  const std::vector<LaneEvent> events = RandomEvents(&random, 100000);
  const std::vector<Level> levels = MakePyramid(events, 5);
  ASSERT_GT(levels.size(), 2u);
  EXPECT_LE(levels.front().count, kMaxBuckets);
  EXPECT_GT(levels.front().count, kMaxBuckets / 4);
  EXPECT_LE(levels.back().count, kLeastBuckets);
  for (size_t i = 1; i < levels.size(); ++i) {
    EXPECT_EQ(levels[i].bucket_ns, levels[i - 1].bucket_ns * kLevelFactor);
    EXPECT_EQ(levels[i].start_ns % levels[i].bucket_ns, 0);
  }
}

TEST(PyramidTest, FewEventsHaveFewBuckets) {
  const std::vector<LaneEvent> events = {{0, 10, 0, 0}, {1'000'000'000'000, 10, 0, 0}};
  const std::vector<Level> levels = MakePyramid(events, 1);
  ASSERT_EQ(levels.size(), 1u);
  EXPECT_LE(levels[0].count, kLeastBuckets);
  EXPECT_TRUE(MakePyramid({}, 1).empty());
}

TEST(PyramidTest, HostileTimesEnd) {
  // All of time, many times over: linear all the same.
  std::vector<LaneEvent> events(50000, LaneEvent{0, INT64_MAX, 0, 0});
  EXPECT_EQ(MakePyramid(events, 1).back().count, 256u);
  events = {{INT64_MIN, INT64_MAX, 0, 0}, {-1, INT64_MAX, 1, 0}, {INT64_MAX, 0, 2, 0}};
  EXPECT_FALSE(MakePyramid(events, 3).empty());
  // More than a bucket counts.
  const std::vector<LaneEvent> many(70000, LaneEvent{5, 0, 0, 0});
  EXPECT_EQ(MakeBuckets(many, 1024, 1)[0].events, UINT16_MAX);
}

nlohmann::json ChunkOf(const EventChunk& chunk) {
  return {{"start_ns", chunk.start_ns}, {"count", chunk.count}, {"wide", chunk.wide}};
}

TEST(EventChunkTest, WideWhereATimeNeedsIt) {
  const auto pack = [](std::vector<LaneEvent> events) {
    return PackEvents(events, false, INT64_MAX);
  };
  EXPECT_FALSE(pack({{-5, 1, 0, 0}, {int64_t{UINT32_MAX} - 5, UINT32_MAX, 0, 0}}).wide);
  EXPECT_TRUE(pack({{0, 1, 0, 0}, {int64_t{UINT32_MAX} + 1, 1, 0, 0}}).wide);
  EXPECT_TRUE(pack({{0, int64_t{UINT32_MAX} + 1, 0, 0}}).wide);
  const EventChunk all = pack({{INT64_MIN, INT64_MAX, 0, 0}, {INT64_MAX, 5, 0, 0}});
  EXPECT_TRUE(all.wide);
  EXPECT_EQ(all.start_ns, INT64_MIN);
  EXPECT_EQ(all.end_ns, INT64_MAX);
  EXPECT_EQ(ChunkOf(all)["count"], 2);
}

TEST(WindowsTest, FirstMedianAndLongest) {
  std::vector<prof::Step> steps;
  for (const int64_t length : {50, 10, 90, 20, 30}) {
    prof::Step step;
    step.number = static_cast<int64_t>(steps.size());
    step.host = {1000 * step.number, 1000 * step.number + 5};
    step.span = {1000 * step.number, 1000 * step.number + length};
    steps.push_back(step);
  }
  const auto numbers = [&] {
    std::vector<int64_t> found;
    for (const Window& window : WindowsOf(steps, 0)) found.push_back(window.step);
    return found;
  };
  EXPECT_EQ(numbers(), (std::vector<int64_t>{0, 4, 2}));
  steps[2].complete = false;
  EXPECT_EQ(numbers(), (std::vector<int64_t>{0, 3}));
  for (prof::Step& step : steps) step.complete = false;
  EXPECT_EQ(numbers(), (std::vector<int64_t>{0, 4, 2}));
  steps.resize(1);
  EXPECT_EQ(numbers(), std::vector<int64_t>{0});
  EXPECT_EQ(WindowsOf(steps, 100)[0].host.start_ns, -100);
  EXPECT_TRUE(WindowsOf({}, 0).empty());
}

TEST(WindowsTest, SinceNeverWraps) {
  EXPECT_EQ(Since(INT64_MAX, -5), INT64_MAX);
  EXPECT_EQ(Since(INT64_MIN, 5), INT64_MIN);
  EXPECT_EQ(Since(7, 5), 2);
}

/// Steps of 100 ns each, one after the other from `begin_ns` on, with what is between them.
std::vector<prof::Step> EvenSteps(int64_t begin_ns, size_t count) {
  std::vector<prof::Step> steps(count);
  for (size_t i = 0; i < count; ++i) {
    steps[i].number = static_cast<int64_t>(i);
    const int64_t start_ns = begin_ns + 110 * static_cast<int64_t>(i);
    steps[i].host = steps[i].span = {start_ns, start_ns + 100};
  }
  steps[5].span.end_ns += 50;  // The longest.
  return steps;
}

constexpr size_t kUsualLimit = 10'000'000;

/// Chooses among events of which `each` start in every 10 ns from 0 to `end_ns`; answers the number
/// in what was chosen.
size_t EventsChosen(HostTimes* times, int64_t end_ns, size_t each, size_t most, HostRequest* wish) {
  times->BeginThread();
  for (int64_t t = 0; t < end_ns; t += 10) {
    for (size_t i = 0; i < each; ++i) times->Count(t);
  }
  times->Choose(most, kUsualLimit, wish);
  size_t chosen = 0;
  for (const HostTimes::Stretch& stretch : times->chosen()) {
    for (int64_t t = 0; t < end_ns; t += 10) {
      if (t >= stretch.time.start_ns && t < stretch.time.end_ns) chosen += each;
    }
  }
  return chosen;
}

bool IsChosen(const HostTimes& times, int64_t time_ns) {
  return std::any_of(times.chosen().begin(), times.chosen().end(), [&](const auto& stretch) {
    return time_ns >= stretch.time.start_ns && time_ns < stretch.time.end_ns;
  });
}

TEST(HostTimesTest, FewEventsAreOneStretch) {
  HostTimes times(EvenSteps(200, 10), 0);
  HostRequest wish;
  EXPECT_EQ(EventsChosen(&times, 2000, 1, 200, &wish), 200u);
  ASSERT_EQ(times.chosen().size(), 1u);
  EXPECT_EQ(wish.events, 200u);
  EXPECT_EQ(wish.steps, (std::vector<int64_t>{0, 4, 5}));
  EXPECT_TRUE(wish.missing.empty());
}

TEST(HostTimesTest, WindowsThenFurtherStepsThenWhatIsBefore) {
  // 11 stretches of 10 ns from one step to the next: a step has 10,000 events, a gap 1,000.
  constexpr size_t kEach = 1000;
  constexpr int64_t kEnd = 200 + 110 * 10;
  size_t before = 0;
  for (size_t most = 0; most <= 133 * kEach; most += 7 * kEach) {
    SCOPED_TRACE(most);
    HostTimes times(EvenSteps(200, 10), 0);
    HostRequest wish;
    const size_t chosen = EventsChosen(&times, kEnd, kEach, most, &wish);
    EXPECT_LE(chosen, most);
    EXPECT_GE(chosen, before);  // More room, never less.
    before = chosen;
    if (most >= 30 * kEach) {
      for (const int64_t step : {0, 4, 5}) EXPECT_TRUE(IsChosen(times, 200 + 110 * step + 99));
    }
    if (most >= 50 * kEach) {
      EXPECT_TRUE(IsChosen(times, 200 + 110 * 1 + 99));
    }
    if (most < 100 * kEach) {
      EXPECT_FALSE(IsChosen(times, 200 + 110 * 9 + 99));
      EXPECT_FALSE(IsChosen(times, 0));
    }
    // Stretches ascend; what is missing is what was not chosen.
    for (size_t i = 1; i < times.chosen().size(); ++i) {
      EXPECT_GE(times.chosen()[i].time.start_ns, times.chosen()[i - 1].time.end_ns);
    }
    for (int64_t t = 0; t < kEnd; t += 10) {
      const bool missing = prof::IsWithin(wish.missing, t);
      EXPECT_NE(missing, IsChosen(times, t)) << t;
    }
  }
  EXPECT_EQ(before, 130 * kEach);
}

TEST(HostTimesTest, ALargerPageHoldsMoreFurtherSteps) {
  // 260,000 events, 2,000 in every 10 ns.
  const auto chosen_at = [](size_t limit_bytes, size_t most, HostRequest* wish) {
    HostTimes times(EvenSteps(200, 10), 0);
    times.BeginThread();
    for (int64_t t = 0; t < 1300; t += 10) {
      for (int i = 0; i < 2000; ++i) times.Count(t);
    }
    times.Choose(most, limit_bytes, wish);
    return IsChosen(times, 200 + 110 * 9 + 99);
  };
  constexpr size_t kRoom = 1'000'000;
  HostRequest usual;
  EXPECT_FALSE(chosen_at(kUsualLimit, kRoom, &usual));
  EXPECT_EQ(usual.most_events, 65'536u);  // There was room for more.
  HostRequest larger;
  EXPECT_TRUE(chosen_at(10 * kUsualLimit, kRoom, &larger));
  EXPECT_EQ(larger.most_events, 0u);
  EXPECT_TRUE(larger.missing.empty());
  HostRequest no_room;
  EXPECT_FALSE(chosen_at(10 * kUsualLimit, 70'000, &no_room));
  EXPECT_EQ(no_room.most_events, 0u);
  EXPECT_FALSE(no_room.missing.empty());
}

TEST(HostTimesTest, HostileStepsAndTimes) {
  std::vector<prof::Step> steps(4);
  steps[0].host = {INT64_MIN, INT64_MAX};
  steps[1].host = {5, 5};
  steps[2].host = {9, 3};
  steps[3].host = {INT64_MAX - 1, INT64_MAX};
  for (const std::vector<prof::Step>& all : {steps, std::vector<prof::Step>()}) {
    HostTimes times(all, -5);
    times.BeginThread();
    for (int i = 0; i < 70000; ++i) times.Count(INT64_MIN);
    for (int i = 0; i < 70000; ++i) times.Count(INT64_MAX);
    HostRequest wish;
    times.Choose(100, kUsualLimit, &wish);
    EXPECT_EQ(wish.events, 140000u);
    EXPECT_FALSE(wish.missing.empty());
  }
}

TEST(MissingStepsTest, ListsOfNumbers) {
  EXPECT_EQ(ListOfNumbers(std::vector<int64_t>{}), "");
  EXPECT_EQ(ListOfNumbers(std::vector<int64_t>{7}), "7");
  EXPECT_EQ(ListOfNumbers(std::vector<int64_t>{3, 4, 5, 9, 11, 12}), "3 to 5, 9, 11 to 12");
  std::vector<int64_t> odd;
  for (int64_t i = 0; i < 20; ++i) odd.push_back(2 * i + 1);
  EXPECT_EQ(ListOfNumbers(odd), "1, 3, 5, 7, 9, 11, 13, 15 and 12 more");
}

TEST(EventPlacesTest, FindsWhatWasAdded) {
  EventPlaces places;
  places.Seal();
  EXPECT_FALSE(places.Find(0));
  for (const uint32_t event : {9u, 2u, 5u}) places.Add(event, {event + 1, 0, event + 2});
  places.Seal();
  for (const uint32_t event : {2u, 5u, 9u}) EXPECT_EQ(places.Find(event)->place, event + 2);
  for (const uint32_t event : {0u, 3u, 10u}) EXPECT_FALSE(places.Find(event));
}

TEST(CountersTest, ThinningKeepsLeastAndLargest) {
  Counter counter;
  for (int64_t i = 0; i < 200000; ++i) {
    counter.times_ns.push_back(i * 10);
    counter.values.push_back((i * 7919) % 10007);
  }
  counter.values[123456] = 1'000'000;
  counter.values[654] = -3;
  const auto whole = counter;
  Thin(&counter);
  EXPECT_EQ(counter.recorded, 200000u);
  EXPECT_LE(counter.times_ns.size(), kMaxPoints);
  EXPECT_TRUE(std::is_sorted(counter.times_ns.begin(), counter.times_ns.end()));
  EXPECT_EQ(*std::max_element(counter.values.begin(), counter.values.end()), 1'000'000);
  EXPECT_EQ(*std::min_element(counter.values.begin(), counter.values.end()), -3);
  for (size_t i = 0; i < counter.times_ns.size(); ++i) {
    EXPECT_EQ(whole.values[static_cast<size_t>(counter.times_ns[i] / 10)], counter.values[i]);
  }
}

prof::PathEdge EdgeOf(int64_t start_ns, int64_t time_ns, prof::PathCause cause) {
  prof::PathEdge edge;
  edge.start_ns = start_ns;
  edge.time_ns = time_ns;
  edge.cause = cause;
  return edge;
}

prof::StepPath StepOf(int64_t number) {
  prof::StepPath step;
  step.number = number;
  return step;
}

TEST(PathStripTest, EachBucketHasTheCauseWithMostOfItsTime) {
  constexpr auto kLeast = static_cast<int64_t>(StripMaker::kLeastBuckets);
  // Buckets of 10 ns: half python and half compute is python, which comes later in the enumeration,
  // only from 6 ns on.
  StripMaker maker("0", 1000, 1024, StripMaker::kLeastBuckets);
  maker.TakeEdge(EdgeOf(1500, 26, prof::PathCause::kPython));
  maker.TakeEdge(EdgeOf(1526, 19, prof::PathCause::kCompute));
  maker.TakeEdge(EdgeOf(1560, 10 * kLeast - 60, prof::PathCause::kSync));
  maker.TakeStep(StepOf(7));
  const std::vector<PathStrip> strips = maker.Take();
  ASSERT_EQ(strips.size(), 1u);
  EXPECT_EQ(strips[0].rank, "0");
  EXPECT_EQ(strips[0].step, 7);
  EXPECT_EQ(strips[0].start_ns, 500);
  EXPECT_EQ(strips[0].bucket_ns, 10);
  const std::vector<PathStrip::Stretch> wanted = {{prof::PathCause::kPython, 3},
                                                  {prof::PathCause::kCompute, 2},
                                                  {std::nullopt, 1},
                                                  {prof::PathCause::kSync, kLeast - 6}};
  EXPECT_EQ(strips[0].stretches, wanted);
}

TEST(PathStripTest, OfManyStepsTheFirstOnes) {
  StripMaker maker("0", 0, 1000, 2 * StripMaker::kLeastBuckets);
  for (int64_t step = 0; step < 1000; ++step) {
    maker.TakeEdge(EdgeOf(step, 1, prof::PathCause::kCompute));
    maker.TakeStep(StepOf(step));
  }
  const std::vector<PathStrip> strips = maker.Take();
  ASSERT_EQ(strips.size(), 2u);
  EXPECT_EQ(strips[1].step, 1);
  // A step without edges has none.
  StripMaker few("0", 0, 2, 4096);
  few.TakeStep(StepOf(0));
  few.TakeEdge(EdgeOf(0, 3, prof::PathCause::kCompute));
  few.TakeStep(StepOf(1));
  EXPECT_EQ(few.Take().size(), 1u);
}

TEST(PathStripTest, HostileTimesEnd) {
  StripMaker maker("0", INT64_MIN, 1, 4096);
  maker.TakeEdge(EdgeOf(INT64_MIN, INT64_MAX, prof::PathCause::kCompute));
  maker.TakeEdge(EdgeOf(0, -5, prof::PathCause::kSync));
  maker.TakeEdge(EdgeOf(INT64_MAX - 1, INT64_MAX, prof::PathCause::kSync));
  maker.TakeStep(StepOf(0));
  const std::vector<PathStrip> strips = maker.Take();
  ASSERT_EQ(strips.size(), 1u);
  size_t buckets = 0;
  for (const PathStrip::Stretch& stretch : strips[0].stretches) buckets += stretch.buckets;
  EXPECT_LE(buckets, StripMaker::kMostBuckets);
  EXPECT_NE(StripsJson(strips).find("\"causes\":[\"compute\""), std::string::npos);
}

TEST(MissingTest, IsWhatKeptChunksDoNotCover) {
  Lane lane;
  lane.events = 40;
  lane.start_ns = 0;
  lane.end_ns = 100;
  for (int64_t i = 0; i < 4; ++i) {
    EventChunk chunk;
    chunk.count = 10;
    chunk.covers_from_ns = 20 * i;
    chunk.covers_to_ns = i == 3 ? INT64_MAX : 20 * i + 20;
    lane.chunks.push_back(chunk);
  }
  using Stretches = std::vector<std::pair<int64_t, int64_t>>;
  const std::optional<size_t> no;
  EXPECT_EQ(MissingOf(lane, {0, 1, 2, 3}), Stretches());
  EXPECT_EQ(MissingOf(lane, {no, no, no, no}), (Stretches{{0, 100}}));
  EXPECT_EQ(MissingOf(lane, {no, 1, no, 3}), (Stretches{{0, 20}, {40, 60}}));
  EXPECT_EQ(MissingOf(lane, {0, no, no, no}), (Stretches{{20, 100}}));
}

TEST(KeepAtMostTest, LanesWithMostEventsAndFirstSteps) {
  Timeline timeline;
  for (const size_t events : {5u, 1u, 9u, 5u}) {
    timeline.lanes.emplace_back();
    timeline.lanes.back().events = events;
  }
  for (const auto& [from, to] : {std::pair(0u, 2u), std::pair(2u, 3u), std::pair(1u, 2u)}) {
    timeline.links.push_back({Link::Kind::kLaunch, {from, 0, 7}, {to, 0, 8}});
  }
  timeline.ranks.resize(2);
  timeline.ranks[0].steps.resize(5);
  timeline.ranks[1].steps.resize(2);
  KeepAtMost(2, 6, &timeline);
  ASSERT_EQ(timeline.lanes.size(), 2u);
  EXPECT_EQ(timeline.lanes[0].events, 5u);
  EXPECT_EQ(timeline.lanes[1].events, 9u);
  EXPECT_EQ(timeline.lanes_left_out, 2u);
  ASSERT_EQ(timeline.links.size(), 1u);
  EXPECT_EQ(timeline.links[0].from.lane, 0u);
  EXPECT_EQ(timeline.links[0].to.lane, 1u);
  EXPECT_EQ(timeline.ranks[0].steps.size(), 3u);
  EXPECT_EQ(timeline.ranks[0].steps_left_out, 2u);
  EXPECT_EQ(timeline.ranks[1].steps.size(), 2u);
}

TEST(SignaturesTest, EqualOnesAreOneAndTheRestIsOther) {
  Signatures signatures;
  EXPECT_EQ(signatures.OfName("a", EventClass::kOperator), 0u);
  EXPECT_EQ(signatures.OfName("a", EventClass::kFrame), 1u);
  EXPECT_EQ(signatures.OfName("a", EventClass::kOperator), 0u);
  MemoryCopy copy;
  copy.size_bytes = 5;
  const uint32_t five = signatures.OfCopy(copy);
  copy.size_bytes = 6;
  EXPECT_NE(signatures.OfCopy(copy), five);
  for (size_t i = 0; i < Signatures::kMaxNamed; ++i) {
    signatures.OfName(std::to_string(i), EventClass::kMarker);
  }
  const size_t full = signatures.size();
  EXPECT_EQ(signatures.OfName("x", EventClass::kMarker),
            signatures.OfName("y", EventClass::kMarker));
  EXPECT_LE(signatures.size(), full + 1);
  copy.size_bytes = 7;
  const uint32_t plain = signatures.OfCopy(copy);
  copy.size_bytes = 8;
  EXPECT_EQ(signatures.OfCopy(copy), plain);
}

}  // namespace
}  // namespace oplens::report::timeline_test

// What holds of memory in every trace of the corpus that has allocations.

#include <gtest/gtest.h>

#include <filesystem>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include "base/error.h"
#include "prof/run/memory_curve.h"
#include "prof/run/run.h"
#include "prof/views/memory/memory.h"
#include "prof/views/memory/memory_events.h"
#include "prof/views/views.h"
#include "test/support/test_files.h"
#include "test/support/view_rows.h"
#include "test/support/whole_corpus.h"

namespace oplens::prof::memory_corpus_test {
namespace {

using test::ViewRow;
using Pool = std::tuple<std::string, std::string, std::string>;  // Rank, device, source.

/// Folders of traces with allocations. All were looked at: these are all.
constexpr std::string_view kFolders[] = {"ddp_v100_memory",
                                         "h100",
                                         "mi300",
                                         "sglang_qwen3_8b",
                                         "switch_moe",
                                         "vllm_piecewise",
                                         "resnet50_num_workers_0",
                                         "resnet50_num_workers_4"};

/// The three views at once, so that a file is read once; and what the trace itself says.
class AllOfMemory : public Partial {
 public:
  explicit AllOfMemory(const ViewOptions& options)
      : parts{kMemoryView.make(options), kMemoryEventsView.make(options),
              kMemoryOpsView.make(options)} {}
  void Begin(const Run* run) override {
    for (const auto& part : parts) part->Begin(run);
  }
  void End(const Run* run) override {
    for (const auto& part : parts) part->End(run);
    if (run == nullptr) return;
    for (const MemoryLife::Pool& pool : run->memory().pools()) {
      over_reserved += pool.counts.over_reserved;
      CheckPieces(run->memory(), pool);
    }
  }
  void Merge(const Partial& other) override {
    const auto& more = dynamic_cast<const AllOfMemory&>(other);
    for (size_t i = 0; i < std::size(parts); ++i) parts[i]->Merge(*more.parts[i]);
    over_reserved += more.over_reserved;
  }
  std::vector<Field> Fields() const override { return parts[0]->Fields(); }
  void Emit(Sink* sink) const override { parts[0]->Emit(sink); }

  std::unique_ptr<Partial> parts[3];
  int64_t over_reserved = 0;

 private:
  /// The sum of what is there is the curve, but for what was there before.
  static void CheckPieces(const MemoryLife& memory, const MemoryLife::Pool& pool) {
    std::vector<int64_t> changes(pool.end - pool.begin, 0);
    for (const MemoryLife::Piece& piece : memory.PiecesOf(pool)) {
      ASSERT_NE(piece.state, MemoryState::kOnlyFreed) << "no trace of the corpus has such";
      const int64_t size = memory.EventAt(piece.begin).size_bytes;
      changes[piece.begin - pool.begin] += size;
      if (piece.end != MemoryLife::kNone) changes[piece.end - pool.begin] -= size;
    }
    int64_t sum = pool.base_bytes;
    const bool paired = pool.counts.without_address == 0;
    for (uint32_t place = pool.begin; paired && place < pool.end; ++place) {
      sum += changes[place - pool.begin];
      ASSERT_EQ(sum, memory.AllocatedAt(place)) << "event " << place;
    }
  }
};

const View kView = {"memory", "", kMemoryView.needs, kMemoryView.fields,
                    [](const ViewOptions& options) {
                      return std::unique_ptr<Partial>(std::make_unique<AllOfMemory>(options));
                    }};

int64_t NumberIn(const ViewRow& row, const char* field) {
  const std::string& text = row.at(field);
  return text.empty() ? 0 : std::stoll(text);
}

/// The peak of each curve.
std::map<Pool, int64_t> CheckCurves(const std::vector<ViewRow>& rows) {
  std::map<Pool, int64_t> peaks;
  std::map<Pool, size_t> points;
  std::map<Pool, int64_t> largest;
  for (const ViewRow& row : rows) {
    const Pool pool(row.at("rank"), row.at("device"), row.at("source"));
    peaks[pool] = NumberIn(row, "peak_bytes");
    largest[pool] = std::max(largest[pool], NumberIn(row, "allocated_bytes"));
    ++points[pool];
    EXPECT_GE(NumberIn(row, "fragmentation_bytes"), 0);
  }
  EXPECT_EQ(peaks, largest);
  for (const auto& [pool, count] : points) EXPECT_LE(count, kMostCurvePoints);
  return peaks;
}

void CheckEvents(const std::vector<ViewRow>& events, const std::vector<ViewRow>& ops,
                 const std::map<Pool, int64_t>& peaks) {
  std::map<std::string, int64_t> of_events;
  for (const ViewRow& row : events) {
    ++of_events["allocations"];
    of_events["bytes"] += NumberIn(row, "size_bytes");
    if (row.at("leak") == "yes") of_events["leaked"] += NumberIn(row, "size_bytes");
    EXPECT_GE(NumberIn(row, "duration_ns"), 0);
  }
  std::map<std::string, int64_t> of_ops;
  int64_t at_peak = 0;
  for (const ViewRow& row : ops) {
    of_ops["allocations"] += NumberIn(row, "self_allocations");
    of_ops["bytes"] += NumberIn(row, "self_allocated_bytes");
    if (of_events.contains("leaked")) of_ops["leaked"] += NumberIn(row, "leaked_bytes");
    at_peak += NumberIn(row, "peak_bytes");
  }
  EXPECT_EQ(of_events, of_ops);
  for (const auto& [pool, peak] : peaks) at_peak -= peak;
  EXPECT_EQ(at_peak, 0) << "the rows at the peak are the peak";
}

TEST(MemoryCorpusTest, RowsAgree) {
  SKIP_WITH_SANITIZERS();
  OPLENS_NEED_CORPUS();
  size_t with_memory = 0;
  for (const std::string_view folder : kFolders) {
    for (const auto& entry : std::filesystem::recursive_directory_iterator(test::CorpusDir().path /
                                                                           "kineto" / folder)) {
      if (!entry.is_regular_file()) continue;
      SCOPED_TRACE(entry.path().string());
      std::unique_ptr<Partial> partial;
      try {
        partial = test::PartialOf(kView, {entry.path().string()});
      } catch (const Error&) {
        continue;  // No profile.
      }
      const auto& all = dynamic_cast<const AllOfMemory&>(*partial);
      const auto peaks = CheckCurves(test::RowsOf(*all.parts[0]));
      CheckEvents(test::RowsOf(*all.parts[1]), test::RowsOf(*all.parts[2]), peaks);
      EXPECT_EQ(all.over_reserved, 0);
      with_memory += peaks.empty() ? 0u : 1u;
    }
  }
  EXPECT_EQ(with_memory, 13u);
}

}  // namespace
}  // namespace oplens::prof::memory_corpus_test

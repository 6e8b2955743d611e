// make_summaries TEMPLATE FOLDER RANKS SHARDS: RANKS summaries out of one, to measure how they
// merge.
//
// TEMPLATE is that of rank 0 of a run that bench/ranks/make_ranks.py made with the layout
// (RANKS / SHARDS)xSHARDSx1. Rank i gets the number and the groups that it has there; its times are
// those of rank 0.

#include <fmt/format.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <filesystem>
#include <map>
#include <string>
#include <string_view>

#include "prof/summary_file/section.h"
#include "prof/summary_file/summary_file.h"

namespace {

namespace prof = oplens::prof;

/// As make_ranks.py writes it.
std::string TextOf(int64_t first, int64_t count, int64_t stride) {
  constexpr int64_t kListed = 30;
  const int64_t listed = count <= kListed ? count : kListed - 1;
  std::string text = "[";
  for (int64_t i = 0; i < listed; ++i) {
    text += fmt::format("{}{}", i == 0 ? "" : ", ", first + i * stride);
  }
  if (listed < count) text += fmt::format(", ..., {}", first + (count - 1) * stride);
  return text + "]";
}

/// The texts of rank 0, and what stands in their place for another rank.
std::map<std::string, std::string, std::less<>> TextsOf(int64_t rank, int64_t ranks,
                                                        int64_t shards) {
  const int64_t first_data = 1 + ranks / shards;
  return {
      {"1", std::to_string(1 + rank / shards)},
      {TextOf(0, shards, 1), TextOf(rank - rank % shards, shards, 1)},
      {std::to_string(first_data), std::to_string(first_data + rank % shards)},
      {TextOf(0, ranks / shards, shards), TextOf(rank % shards, ranks / shards, shards)},
  };
}

int Make(const std::string& path, const std::filesystem::path& folder, int64_t ranks,
         int64_t shards) {
  if (shards < 1 || ranks < shards || ranks % shards != 0) {
    fmt::print(stderr, "make_summaries: RANKS must be a multiple of SHARDS\n");
    return 2;
  }
  prof::SummaryFile summary = prof::ReadSummary(path);
  const prof::CollectiveSet calls = prof::LoadCalls(summary.calls, path);
  std::filesystem::create_directories(folder);
  for (int64_t rank = 0; rank < ranks; ++rank) {
    const auto texts = TextsOf(rank, ranks, shards);
    summary.ranks = {rank};
    summary.calls = prof::SaveCalls(calls, [&](std::string_view text) {
      const auto found = texts.find(text);
      return found == texts.end() ? std::string(text) : found->second;
    });
    prof::WriteSummary(folder / fmt::format("rank{}.json.oplens", rank), summary);
  }
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 5) {
    fmt::print(stderr, "usage: make_summaries TEMPLATE FOLDER RANKS SHARDS\n");
    return 2;
  }
  try {
    return Make(argv[1], argv[2], std::atoll(argv[3]), std::atoll(argv[4]));
  } catch (const std::exception& error) {
    fmt::print(stderr, "make_summaries: {}\n", error.what());
    return 1;
  }
}

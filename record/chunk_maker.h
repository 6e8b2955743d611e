#ifndef OPLENS_RECORD_CHUNK_MAKER_H_
#define OPLENS_RECORD_CHUNK_MAKER_H_

#include <array>
#include <condition_variable>
#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <thread>
#include <utility>

#include "record/spool/spool_format.h"

namespace oplens::record {

struct UnmapPage {
  void operator()(spool::ProcessPage* page) const;
};
using SharedPage = std::unique_ptr<spool::ProcessPage, UnmapPage>;

/// Maps the page of an image for writing; null unless its process runs. Use it only briefly: the
/// program may shorten the file.
SharedPage MapRunningPage(const std::filesystem::path& folder);

/// Creates the next chunks of the streams of a spool that grow fast, at their rate of use, because
/// creating a file's pages costs more than writing to them. What is not there in time, the library
/// in the process creates itself.
class ChunkMaker {
 public:
  explicit ChunkMaker(std::filesystem::path spool) : spool_(std::move(spool)) {}

  /// Visits all images; returns whether any of them uses chunks.
  bool Look();

 private:
  /// Stream and sequence.
  using Chunk = std::pair<uint32_t, uint32_t>;
  /// Of one of ProcessPage::large_chunks.
  struct Stream {
    uint64_t last = 0;  ///< Value at the last visit.
    uint32_t pace = 0;  ///< Chunks begun between two visits: a decaying maximum.
  };
  struct Use {
    std::array<Stream, spool::kLargeStreams> streams;
    std::set<Chunk> ahead;  ///< Not known to be begun.
    bool failed = false;
  };

  bool MakeFor(const std::filesystem::path& folder, Use* use);
  void RemoveAhead(const std::filesystem::path& folder, Use* use);
  void MakeNext(const std::filesystem::path& folder, const Stream& stream, Use* use);
  size_t AheadOfAll() const;

  const std::filesystem::path spool_;
  std::map<std::filesystem::path, Use> uses_;
};

/// Runs a ChunkMaker on a thread for its own lifetime.
class ChunkThread {
 public:
  explicit ChunkThread(std::filesystem::path spool);
  ~ChunkThread();
  ChunkThread(const ChunkThread&) = delete;
  ChunkThread& operator=(const ChunkThread&) = delete;

 private:
  void Run();

  ChunkMaker maker_;
  std::mutex mutex_;
  std::condition_variable ending_;
  bool ends_ = false;
  std::thread thread_;
};

}  // namespace oplens::record

#endif  // OPLENS_RECORD_CHUNK_MAKER_H_

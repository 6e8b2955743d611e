#ifndef OPLENS_RECORD_CHUNK_MAKER_H_
#define OPLENS_RECORD_CHUNK_MAKER_H_

#include <condition_variable>
#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <mutex>
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

/// Creates chunks for the processes of a spool in advance, at their rate of use, because creating a
/// file's pages costs more than writing to them. If none is ready in time, the library in the
/// process creates its own.
class ChunkMaker {
 public:
  explicit ChunkMaker(std::filesystem::path spool) : spool_(std::move(spool)) {}

  /// Visits all images; returns whether any of them uses chunks.
  bool Look();

 private:
  struct Use {
    uint32_t wanted = 0;  ///< Value at the last visit.
    uint32_t pace = 0;    ///< Chunks wanted between two visits: a decaying maximum.
    uint32_t ready = 0;   ///< The next chunk number.
    uint32_t ahead = 0;   ///< Chunks not known to be taken.
    bool failed = false;
  };

  bool MakeFor(const std::filesystem::path& folder, Use* use);
  uint32_t AheadOfAll() const;

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

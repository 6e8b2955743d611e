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

/// The page of an image whose process runs, to be written; null where it cannot be. For a moment:
/// the program may make the file shorter.
SharedPage MapRunningPage(const std::filesystem::path& folder);

/// Makes chunks for the processes of a spool ahead, as many as they use: the pages of a file cost
/// whoever makes it more than what is written there costs. Where there is none in time, the library
/// in the process makes its own.
class ChunkMaker {
 public:
  explicit ChunkMaker(std::filesystem::path spool) : spool_(std::move(spool)) {}

  /// Looks at all images. Whether one of them uses chunks.
  bool Look();

 private:
  /// How an image uses chunks.
  struct Use {
    uint32_t wanted = 0;  ///< As it was at the last look.
    uint32_t pace = 0;    ///< From one look to the next, the greatest number of late.
    uint32_t ready = 0;   ///< The next number to be made.
    uint32_t ahead = 0;   ///< Chunks that are not taken, so far as is known.
    bool failed = false;
  };

  bool MakeFor(const std::filesystem::path& folder, Use* use);
  uint32_t AheadOfAll() const;

  const std::filesystem::path spool_;
  std::map<std::filesystem::path, Use> uses_;
};

/// A thread that does so, as long as this lives.
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

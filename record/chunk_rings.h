#ifndef OPLENS_RECORD_CHUNK_RINGS_H_
#define OPLENS_RECORD_CHUNK_RINGS_H_

#include <condition_variable>
#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string>
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

/// Makes rings for the streams of a spool that grow fast, and empties them: copies the chunks in
/// which the library is done to files of their own. Where no place is free in time, the library
/// makes a file itself.
class ChunkRings {
 public:
  explicit ChunkRings(std::filesystem::path spool) : spool_(std::move(spool)) {}

  enum class Use { kNone, kRings, kCopied };
  /// Visits all images; returns what was found in any of them.
  Use Look();

 private:
  struct Image {
    std::set<uint32_t> streams;  ///< Those that have rings.
    int rest = 0;                ///< After a failure, visits without an attempt.
  };

  /// False: the process ended in an orderly way.
  bool MakeFor(const std::filesystem::path& folder, Image* image);
  Use CopyFrom(const std::filesystem::path& folder, Image* image);

  const std::filesystem::path spool_;
  std::map<std::filesystem::path, Image> images_;
  size_t rings_ = 0;
  std::string buffer_;  ///< Of a chunk.
};

/// Runs a ChunkRings on a thread for its own lifetime.
class RingThread {
 public:
  explicit RingThread(std::filesystem::path spool);
  ~RingThread();
  RingThread(const RingThread&) = delete;
  RingThread& operator=(const RingThread&) = delete;

 private:
  void Run();

  ChunkRings rings_;
  std::mutex mutex_;
  std::condition_variable ending_;
  bool ends_ = false;
  std::thread thread_;
};

}  // namespace oplens::record

#endif  // OPLENS_RECORD_CHUNK_RINGS_H_

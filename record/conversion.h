#ifndef OPLENS_RECORD_CONVERSION_H_
#define OPLENS_RECORD_CONVERSION_H_

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "record/spool/spool_format.h"

namespace oplens::record {

struct PageFacts;

struct ConversionOptions {
  std::filesystem::path spool;  ///< The folder written by the library, "net.sql.spool".
  bool force = false;           ///< Replace existing databases.
  bool recovered = false;       ///< The spool is from a crashed recording; noted in OPLENS_META.
  std::string version;          ///< Version of oplens, for OPLENS_META.
  /// Names the database of a process from what is known of its page; "": do not convert it. Null:
  /// use the name in the page.
  std::function<std::string(const PageFacts&)> name_of = {};
};

/// Facts about a process after its end. Its images (exec) count as one process.
struct ProcessSummary {
  int64_t process_id = 0;
  std::string output;   ///< Database name.
  std::string command;  ///< ProcessPage::command of the first image.
  int64_t kernels = 0;
  int64_t copies = 0;  ///< And memsets.
  int64_t calls = 0;   ///< CUDA runtime and driver calls.
  int64_t ranges = 0;
  int64_t marks = 0;
  int64_t open_ranges = 0;
  int64_t lost_events = 0;       ///< NVTX calls that could not be stored.
  int64_t handler_events = 0;    ///< NVTX calls by signal handlers that interrupted another one.
  int64_t child_events = 0;      ///< NVTX calls in children created without fork handlers.
  int64_t cut_texts = 0;         ///< Truncated texts, names and payloads.
  int64_t lost_rows = 0;         ///< Activity records that could not be stored.
  int64_t cupti_lost = 0;        ///< Activity records that CUPTI dropped.
  int64_t odd_rows = 0;          ///< Activity records that fit no table.
  int first_error = 0;           ///< errno of the first chunk that could not be created; 0: none.
  bool waits_for_start = false;  ///< An image waited for a start that never came.
  spool::CudaState cuda = spool::CudaState::kUnused;
  int cupti_result = 0;
  uint32_t cupti_version = 0;
  std::string cupti_step;
  std::string cupti_message;
  bool ended = true;                ///< Every image ended in an orderly way.
  bool gpu_cut_off = false;         ///< An image with GPU recording did not end in an orderly way.
  bool gpu_busy_at_end = false;     ///< Waiting for the GPU at the end of an image timed out.
  int64_t unfinished_launches = 0;  ///< Of such images: launches without a completed kernel.
  bool scheduled = false;           ///< The program used a capture schedule.
  /// Databases of its cycles, instead of `output`; empty if no cycle began.
  std::vector<std::string> cycle_outputs;
  int64_t joined_cycles = 0;      ///< Cycles in the last file, except its first.
  int64_t incomplete_cycles = 0;  ///< Cycles during which the program was cut off.
  int64_t kernels_outside = 0;    ///< Kernels in no cycle.
  int64_t ranges_outside = 0;
  std::vector<std::string> notes;
  std::string damage;  ///< What could not be read; "": nothing.
};

/// Converts the spool of a recording into databases of nvprof's schema, one per process, while it
/// grows and afterwards. Each is written as "NAME.part" in the spool, where nobody else may write,
/// and renamed by Finish. Not thread-safe.
class Conversion {
 public:
  /// Does not touch files yet.
  explicit Conversion(ConversionOptions options);
  /// Leaves .part files if Finish was not called or failed: all data is still in the spool.
  ~Conversion();
  Conversion(const Conversion&) = delete;
  Conversion& operator=(const Conversion&) = delete;

  /// Converts new data for about `budget` and commits. Returns true if more is waiting. Throws
  /// oplens::Error if a database cannot be written or exists already.
  bool Advance(std::chrono::milliseconds budget);

  /// Call after every process ended: converts the rest, writes indices and facts, and renames the
  /// .part files. `progress` (may be null) is called with the fraction done, 0 to 1. Throws like
  /// Advance.
  std::vector<ProcessSummary> Finish(const std::function<void(double done)>& progress);

  /// Number of recorded processes found so far.
  int64_t processes() const;
  /// Child processes that were not to be recorded (ProcessState::kSkipped).
  int64_t skipped_processes() const;
  /// Recorded processes that ConversionOptions::name_of did not name.
  int64_t unnamed_processes() const;

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace oplens::record

#endif  // OPLENS_RECORD_CONVERSION_H_

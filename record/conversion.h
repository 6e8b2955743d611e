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
  std::filesystem::path spool;  ///< The folder that the library writes, "net.sql.spool".
  bool force = false;           ///< Replace databases that are there already.
  bool recovered = false;       ///< The spool is what a crash left: said in OPLENS_META.
  std::string version;          ///< Of oplens, for OPLENS_META.
  /// Names the database of a process, as far as its page is known; "": it stays in the spool.
  /// Without it the page has the name.
  std::function<std::string(const PageFacts&)> name_of = {};
};

/// What is known of a process after its end. Its images (exec) are one process.
struct ProcessSummary {
  int64_t process_id = 0;
  std::string output;   ///< Name of the database.
  std::string command;  ///< Of the first image: ProcessPage::command.
  int64_t kernels = 0;
  int64_t copies = 0;  ///< And fills.
  int64_t calls = 0;   ///< Of the CUDA runtime and driver.
  int64_t ranges = 0;
  int64_t marks = 0;
  int64_t open_ranges = 0;
  int64_t lost_events = 0;       ///< NVTX calls that could not be stored.
  int64_t handler_events = 0;    ///< NVTX calls of signal handlers that interrupted another one.
  int64_t child_events = 0;      ///< NVTX calls of children that were made without fork.
  int64_t cut_texts = 0;         ///< Texts, names and payloads that were too long.
  int64_t lost_rows = 0;         ///< Activity records that could not be stored.
  int64_t cupti_lost = 0;        ///< Activity records that CUPTI dropped.
  int64_t odd_rows = 0;          ///< Activity records that no table takes.
  int first_error = 0;           ///< errno of the first chunk that could not be made; 0: none.
  bool waits_for_start = false;  ///< An image had --profile-from-start off, and no start came.
  spool::CudaState cuda = spool::CudaState::kUnused;
  int cupti_result = 0;
  uint32_t cupti_version = 0;
  std::string cupti_step;
  std::string cupti_message;
  bool ended = true;                ///< Every image, in an orderly way.
  bool gpu_cut_off = false;         ///< An image whose GPU was recorded did not end so.
  bool gpu_busy_at_end = false;     ///< The wait for the GPU at the end of an image was given up.
  int64_t unfinished_launches = 0;  ///< Of such images: launches without a kernel that ended.
  bool scheduled = false;           ///< The program recorded by a schedule.
  /// The databases of its cycles, in the place of `output`; none where no cycle was begun.
  std::vector<std::string> cycle_outputs;
  int64_t joined_cycles = 0;      ///< That share the last file, beyond its first one.
  int64_t incomplete_cycles = 0;  ///< Of these: the program was cut off meanwhile.
  int64_t kernels_outside = 0;    ///< In none of them.
  int64_t ranges_outside = 0;
  std::vector<std::string> notes;  ///< Sentences for the user.
  std::string damage;              ///< What of the spool could not be read; "": nothing.
};

/// Turns the spool of a recording into databases of nvprof's schema, one a process, while it grows
/// and after. Each is written as "NAME.part" inside the spool, where nobody else has a say, and
/// renamed by Finish. One thread uses it.
class Conversion {
 public:
  /// Touches no file yet.
  explicit Conversion(ConversionOptions options);
  /// Leaves the .part files where Finish was not called or failed: all is still in the spool.
  ~Conversion();
  Conversion(const Conversion&) = delete;
  Conversion& operator=(const Conversion&) = delete;

  /// Converts what has come since the last call, for about `budget` at most, and commits. True:
  /// more is waiting. Throws oplens::Error when a database cannot be written or is there already.
  bool Advance(std::chrono::milliseconds budget);

  /// After every process ended: converts the rest, writes indices and facts, renames each .part.
  /// `progress`, if given, is told the part that is done, 0 to 1, now and then. Throws as Advance.
  std::vector<ProcessSummary> Finish(const std::function<void(double done)>& progress);

  /// Recorded ones found so far.
  int64_t processes() const;
  /// Children that were not to be recorded (ProcessState::kSkipped).
  int64_t skipped_processes() const;
  /// Recorded ones that ConversionOptions::name_of gave no name.
  int64_t unnamed_processes() const;

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace oplens::record

#endif  // OPLENS_RECORD_CONVERSION_H_

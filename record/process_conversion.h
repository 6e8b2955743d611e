#ifndef OPLENS_RECORD_PROCESS_CONVERSION_H_
#define OPLENS_RECORD_PROCESS_CONVERSION_H_

#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "record/conversion.h"
#include "record/image_conversion.h"

namespace oplens::record {

/// Converts all images of a process into its database. All functions throw oplens::Error if it
/// cannot be written.
class ProcessConversion {
 public:
  /// Creates the database `part`, a file in the spool.
  ProcessConversion(int64_t process_id, std::string output, std::filesystem::path part,
                    const ConversionOptions& options);
  ~ProcessConversion();

  void AddImage(ImageFolder folder, PageFacts facts);

  bool Advance(Deadline* deadline);
  /// Call when nothing more will be written; then Advance until it returns false, and Finish.
  void End();
  ProcessSummary Finish(const std::function<void(double)>& progress);

  uint64_t bytes_read() const;
  const std::string& output() const { return output_; }

 private:
  struct Image {
    std::unique_ptr<ImageConversion> conversion;
    PageFacts facts;  // As last read.
  };
  /// Objects that write rows; destroyed before the database is closed.
  struct Rows {
    explicit Rows(NvprofWriter* writer) : markers(writer), activity(writer) {}
    MarkerRows markers;
    ActivityRows activity;
    std::vector<Image> images;
  };

  void AddProcessName(const std::string& command);
  /// For an image whose GPU may have done more than was recorded.
  void SumUpCutOff(size_t image, ProcessSummary* summary);
  void SumUp(ProcessSummary* summary, EventCounts* counts);
  /// Uses the last image with such variables: a program that calls exec may set them.
  void AddRankVariables();
  void AddFacts(const ProcessSummary& summary, const EventCounts& counts);
  /// The cycles that get their own files, and whether there was a schedule.
  std::vector<Cycle> TakeCycles(ProcessSummary* summary) const;
  bool IsReference() const;
  /// Writes a database with only what captures of graphs need; returns its .part file.
  std::vector<std::filesystem::path> KeepCaptures(const std::function<void(double)>& progress,
                                                  ProcessSummary* summary);
  /// Writes a database per cycle; returns their .part files.
  std::vector<std::filesystem::path> Split(const std::vector<Cycle>& cycles,
                                           const std::function<void(double)>& progress,
                                           ProcessSummary* summary);
  /// Calls f and converts SQLite exceptions to Error.
  template <typename F>
  auto Guard(F f);

  const int64_t process_id_;
  const std::string output_;
  const std::filesystem::path part_;
  const ConversionOptions options_;
  std::optional<NvprofWriter> writer_;
  std::optional<Rows> rows_;
  uint64_t committed_bytes_ = 0;
  int64_t parent_id_ = 0;
};

}  // namespace oplens::record

#endif  // OPLENS_RECORD_PROCESS_CONVERSION_H_

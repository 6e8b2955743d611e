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

/// Converts all images of one process into its database. All functions throw oplens::Error when it
/// cannot be written.
class ProcessConversion {
 public:
  /// Makes the database `part`, a file in the spool.
  ProcessConversion(int64_t process_id, std::string output, std::filesystem::path part,
                    const ConversionOptions& options);
  ~ProcessConversion();

  void AddImage(ImageFolder folder, PageFacts facts);

  /// As Conversion::Advance.
  bool Advance(Deadline* deadline);
  /// Nothing more will be written: Advance until it answers false, then Finish.
  void End();
  ProcessSummary Finish(const std::function<void(double)>& progress);

  uint64_t bytes_read() const;
  const std::string& output() const { return output_; }

 private:
  struct Image {
    std::unique_ptr<ImageConversion> conversion;
    PageFacts facts;  // As last read.
  };
  /// What writes rows; gone before the database is closed.
  struct Rows {
    explicit Rows(NvprofWriter* writer) : markers(writer), activity(writer) {}
    MarkerRows markers;
    ActivityRows activity;
    std::vector<Image> images;
  };

  void AddProcessName(const std::string& command);
  /// Of an image whose GPU may have done more than was recorded.
  void SumUpCutOff(size_t image, ProcessSummary* summary);
  void SumUp(ProcessSummary* summary, EventCounts* counts);
  /// Those of the last image that has any: a program that starts another in its place may set them.
  void AddRankVariables();
  void AddFacts(const ProcessSummary& summary, const EventCounts& counts);
  /// What the program's schedule wants in files of their own, and whether it had one.
  std::vector<Cycle> TakeCycles(ProcessSummary* summary) const;
  /// Whether the program was recorded with --reference.
  bool IsReference() const;
  /// The part of a file of what captures of graphs need, in the place of the one.
  std::vector<std::filesystem::path> KeepCaptures(const std::function<void(double)>& progress,
                                                  ProcessSummary* summary);
  /// The parts of files, in the place of the one.
  std::vector<std::filesystem::path> Split(const std::vector<Cycle>& cycles,
                                           const std::function<void(double)>& progress,
                                           ProcessSummary* summary);
  /// Calls f, and makes an Error of what SQLite throws.
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

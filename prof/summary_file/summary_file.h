#ifndef OPLENS_PROF_SUMMARY_FILE_SUMMARY_FILE_H_
#define OPLENS_PROF_SUMMARY_FILE_SUMMARY_FILE_H_

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "prof/summary_file/section.h"

namespace oplens::prof {

struct SummaryInput {
  std::string path;
  std::string name;  ///< As parse::ProfileInput::name of the input that it summarises.
  bool from_folder = false;
};

/// The summaries that the arguments name: files, and the files with suffix kSummaryEnding in
/// folders, in natural order; of a folder with profiles too, either, and `notes` gets what is not
/// read. Empty if there are none. Throws Error if only some arguments are summaries.
std::vector<SummaryInput> ListSummaries(const std::vector<std::string>& arguments,
                                        std::vector<std::string>* notes);

/// Suffix of a summary of one input, appended to the input's name.
inline constexpr std::string_view kSummaryEnding = ".oplens";

/// What a run was, and the results of its views: docs/summary_format.md.
struct SummaryFile {
  std::string writer;                        ///< Version of the oplens that wrote it.
  std::map<std::string, std::string> facts;  ///< Of the run: RunFacts.
  /// For a summary of one input: the numbers of its ranks (nullopt: not recorded), to which the
  /// marks in the other members refer (RankMark).
  std::vector<std::optional<int64_t>> ranks;
  std::vector<Section> sections;
  /// The collective calls of its ranks (SaveCalls), if a view takes them; otherwise "".
  std::string calls;
};

/// The newest known form of the file.
inline constexpr uint32_t kSummaryForm = 1;

/// Writes the file whole or not at all. Throws Error.
void WriteSummary(const std::string& path, const SummaryFile& summary);
/// Throws Error that says what is wrong with the file: not a summary, of a later version,
/// truncated, or damaged. Does not parse sections: see LoadPartial.
SummaryFile ReadSummary(const std::string& path);

/// The bytes of a summary file, and their parser. `path`: for messages.
std::string SummaryBytes(const SummaryFile& summary);
SummaryFile ParseSummary(std::string_view bytes, std::string_view path);

/// As part of other bytes, without packing and checksum.
void SaveSummary(const SummaryFile& summary, ByteWriter* bytes);
SummaryFile LoadSummary(ByteReader* bytes);

/// Whether a file begins as a summary, or is named as one; false if it cannot be read.
bool IsSummary(const std::string& path);

}  // namespace oplens::prof

#endif  // OPLENS_PROF_SUMMARY_FILE_SUMMARY_FILE_H_

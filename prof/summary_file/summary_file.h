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

/// What the name of a summary of one input ends with, behind the name of the input.
inline constexpr std::string_view kSummaryEnding = ".oplens";

/// What a run was, and what views found of it: docs/summary_format.md.
struct SummaryFile {
  std::string writer;                        ///< Version of the oplens that wrote it.
  std::map<std::string, std::string> facts;  ///< Of the run: RunFacts.
  /// Of a summary of one input: the numbers of its ranks (nullopt: the file does not say), for
  /// which marks stand in what follows (RankMark).
  std::vector<std::optional<int64_t>> ranks;
  std::vector<Section> sections;
  /// The calls of collectives of its ranks (SaveCalls), where a view takes them; else "".
  std::string calls;
};

/// The newest form of the file that is known here.
inline constexpr uint32_t kSummaryForm = 1;

/// Writes it whole or not at all. Throws Error.
void WriteSummary(const std::string& path, const SummaryFile& summary);
/// Throws Error that says what is wrong with the file: it is of another kind, of a later version,
/// cut, or damaged. Sections are not looked into: LoadPartial.
SummaryFile ReadSummary(const std::string& path);

/// The bytes of such a file, and what they say. `path`: for messages.
std::string SummaryBytes(const SummaryFile& summary);
SummaryFile ParseSummary(std::string_view bytes, std::string_view path);

/// The same as a part of other bytes, neither packed nor checked.
void SaveSummary(const SummaryFile& summary, ByteWriter* bytes);
SummaryFile LoadSummary(ByteReader* bytes);

/// Whether a file begins as one, or is called one; false where it cannot be read.
bool IsSummary(const std::string& path);

}  // namespace oplens::prof

#endif  // OPLENS_PROF_SUMMARY_FILE_SUMMARY_FILE_H_

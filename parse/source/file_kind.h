#ifndef OPLENS_PARSE_SOURCE_FILE_KIND_H_
#define OPLENS_PARSE_SOURCE_FILE_KIND_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace oplens::parse {

/// The kind of a file, as far as its beginning or its name shows.
enum class FileKind : uint8_t {
  kUnknown,
  kDatabase,  ///< SQLite's.
  kGzip,
  kZstd,
  kXz,
  kBzip2,
  kZip,
  kTar,
  kPickle,
  kUtf16,
  kGitLfsPointer,
  kProgram,
  kParquet,
  kArrow,
  kHdf5,
  kXmlSession,      ///< The Visual Profiler's.
  kMarkup,          ///< Other XML, or HTML.
  kRecords,         ///< Lines written by parse or PyProf: Python literals,
  kJsonRecords,     ///< or JSON.
  kJsonRows,        ///< Lines of prof --json.
  kExecutionTrace,  ///< PyTorch's.
  kJsonObject,      ///< Any other; a trace may begin so.
  kJsonList,
  kQuotedTable,    ///< CSV.
  kNcuReport,      ///< Nsight Compute's.
  kNsysReport,     ///< Nsight Systems', before it is exported,
  kNsysRecording,  ///< and before it is a report.
  kSummary,        ///< Written by prof --save-baseline.
};

/// The first bytes of a summary of oplens: docs/summary_format.md.
inline constexpr std::string_view kSummaryMagic = "\x8foplens\n";

/// Bytes at the beginning of a file that are inspected.
inline constexpr size_t kHeadBytes = 4096;

/// Classifies by the first bytes, unpacked; more than kHeadBytes do not help.
FileKind KindOfBytes(std::string_view head);

/// Classifies by the ending of the name kinds whose content cannot be recognised; else kUnknown.
FileKind KindOfName(std::string_view path);

/// Whether a text begins like JSON, behind blanks or a byte order mark: with an array, or with an
/// object that is no Python literal (records begin with {').
bool IsJson(std::string_view head);

/// Whether the content is for parse's readers: a database, or JSON of no other known kind.
bool IsProfileContent(std::string_view head);

/// The files of TorchInductor about its kernels that are read if they are beside a trace.
enum class ProvenanceFile : uint8_t { kInformation, kMappings, kStackTraces, kCode };

struct ProvenanceName {
  std::string_view name;
  ProvenanceFile file;
};

/// In the order of reading: a later file fills what earlier ones left open.
inline constexpr ProvenanceName kProvenanceNames[] = {
    {"kernel_information.json", ProvenanceFile::kInformation},
    {"inductor_provenance_tracking_node_mappings.json", ProvenanceFile::kMappings},
    {"inductor_provenance_tracking_kernel_stack_traces.json", ProvenanceFile::kStackTraces},
    {"output_code.py", ProvenanceFile::kCode},
};

/// Whether a file in a folder counts as a profile: by its ending, except kProvenanceNames.
bool HasProfileName(std::string_view name);

/// What a file is that cannot be read as a profile or as records, and what to do with it.
struct ForeignKind {
  std::string_view problem;  ///< "is a zip archive"; "": unknown.
  std::string_view advice;   ///< Names the program or option that reads it.
};

/// The words for a kind. Those for records apply where a profile is expected.
ForeignKind ForeignWords(FileKind kind);

}  // namespace oplens::parse

#endif  // OPLENS_PARSE_SOURCE_FILE_KIND_H_

#ifndef OPLENS_PARSE_SOURCE_FILE_KIND_H_
#define OPLENS_PARSE_SOURCE_FILE_KIND_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace oplens::parse {

/// What a file is, as far as its beginning or its name says.
enum class FileKind : uint8_t {
  kUnknown,
  kDatabase,  ///< Of SQLite.
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
  kXmlSession,      ///< Of the Visual Profiler.
  kMarkup,          ///< Other XML, or HTML.
  kRecords,         ///< Lines that parse wrote, or PyProf: Python literals,
  kJsonRecords,     ///< or JSON.
  kJsonRows,        ///< Lines of prof --json.
  kExecutionTrace,  ///< Of PyTorch.
  kJsonObject,      ///< Any other; a trace may begin so.
  kJsonList,
  kQuotedTable,    ///< CSV.
  kNcuReport,      ///< Of Nsight Compute.
  kNsysReport,     ///< Of Nsight Systems, before it is exported,
  kNsysRecording,  ///< and before it is a report.
  kSummary,        ///< What prof --save-baseline wrote.
};

/// What a summary of oplens begins with: docs/summary_format.md.
inline constexpr std::string_view kSummaryMagic = "\x8foplens\n";

/// How much of a file's beginning is looked at, bytes.
inline constexpr size_t kHeadBytes = 4096;

/// By the first bytes, unpacked; kHeadBytes tell all that can be told.
FileKind KindOfBytes(std::string_view head);

/// By the ending of the name: kinds whose content has no beginning to know them by. kUnknown for
/// all others.
FileKind KindOfName(std::string_view path);

/// Whether a text begins as JSON does, behind blanks or a byte order mark: with an array, or with
/// an object that is no Python literal (those of records begin with {').
bool IsJson(std::string_view head);

/// Whether content that begins so is for parse's readers: a database, or JSON of no other use.
bool IsProfileContent(std::string_view head);

/// What TorchInductor writes about its kernels, and is read when it lies beside a trace.
enum class ProvenanceFile : uint8_t { kInformation, kMappings, kStackTraces, kCode };

struct ProvenanceName {
  std::string_view name;
  ProvenanceFile file;
};

/// In the order of reading: what one does not say the next may.
inline constexpr ProvenanceName kProvenanceNames[] = {
    {"kernel_information.json", ProvenanceFile::kInformation},
    {"inductor_provenance_tracking_node_mappings.json", ProvenanceFile::kMappings},
    {"inductor_provenance_tracking_kernel_stack_traces.json", ProvenanceFile::kStackTraces},
    {"output_code.py", ProvenanceFile::kCode},
};

/// Whether a file inside a folder is taken for a profile: by the ending of its name, unless it is
/// one of kProvenanceNames.
bool HasProfileName(std::string_view name);

/// What a file is that nothing reads as a profile or as records, and what to do with it.
struct ForeignKind {
  std::string_view problem;  ///< "is a zip archive". "" where there is no more to say.
  std::string_view advice;   ///< Names the program or option that reads it.
};

/// The same words wherever such a file is given. Of records: where a profile is expected.
ForeignKind ForeignWords(FileKind kind);

}  // namespace oplens::parse

#endif  // OPLENS_PARSE_SOURCE_FILE_KIND_H_

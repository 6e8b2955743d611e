#ifndef OPLENS_PARSE_SOURCE_FILE_KIND_H_
#define OPLENS_PARSE_SOURCE_FILE_KIND_H_

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
  kOldPickle,  ///< Python pickles of protocol 2,
  kPickle,     ///< and of 3 to 5.
  kUtf16,
  kGitLfsPointer,
  kProgram,
  kXmlSession,  ///< Of the Visual Profiler.
  kMarkup,      ///< Other XML, or HTML.
  kRecords,     ///< Lines that parse wrote, or PyProf.
  kJsonObject,
  kJsonList,
  kQuotedTable,    ///< CSV.
  kNsysReport,     ///< Of Nsight Systems, before it is exported,
  kNsysRecording,  ///< and before it is a report.
};

/// By the first bytes, of which 32 are enough.
FileKind KindOfBytes(std::string_view head);

/// By the ending of the name: kinds whose content has no beginning to know them by. kUnknown for
/// all others.
FileKind KindOfName(std::string_view path);

/// Whether a text begins as JSON does, behind blanks or a byte order mark: with an array, or with
/// an object that is no Python literal (those of records begin with {').
bool IsJson(std::string_view head);

/// Whether JSON is lines that parse or prof wrote, and no trace.
bool IsJsonLines(std::string_view head);

/// Whether a file has a beginning or a name that parse knows as a profile, or knows to refuse with
/// advice: what prof takes for no records. False for "-" and for what is no regular file.
bool IsProfile(const std::string& path);

/// Whether a file inside a folder is taken for a profile: by the ending of its name.
bool HasProfileName(std::string_view name);

/// What a foreign file is, and what to do with it.
struct ForeignKind {
  std::string_view
      problem;  ///< "is a zip archive, not a database". "" where there is no more to say.
  std::string_view advice;
};

/// Of a file where a database is expected.
ForeignKind NoDatabase(FileKind kind);

/// Of a file, or standard input, where records are expected.
ForeignKind NoRecords(FileKind kind);

}  // namespace oplens::parse

#endif  // OPLENS_PARSE_SOURCE_FILE_KIND_H_

#include "parse/source/file_kind.h"

#include <algorithm>
#include <iterator>
#include <span>

namespace oplens::parse {
namespace {

struct Signature {
  std::string_view start;
  FileKind kind;
};

constexpr Signature kSignatures[] = {
    {"SQLite format 3", FileKind::kDatabase},
    {"\x1f\x8b", FileKind::kGzip},
    {"\x28\xb5\x2f\xfd", FileKind::kZstd},
    {"\xfd"
     "7zXZ",
     FileKind::kXz},
    {"BZh", FileKind::kBzip2},
    {"PK\x03\x04", FileKind::kZip},
    {"\x80\x02", FileKind::kPickle},
    {"\x80\x03", FileKind::kPickle},
    {"\x80\x04", FileKind::kPickle},
    {"\x80\x05", FileKind::kPickle},
    {"\xff\xfe", FileKind::kUtf16},
    {"version https://git-lfs", FileKind::kGitLfsPointer},
    {"\x7f"
     "ELF",
     FileKind::kProgram},
    {"PAR1", FileKind::kParquet},
    {"ARROW1", FileKind::kArrow},
    {"\x89HDF", FileKind::kHdf5},
    {kSummaryMagic, FileKind::kSummary},
    // "Report File Format" of the Customization Guide of Nsight Compute.
    {{"NVR\0", 4}, FileKind::kNcuReport},
};

// Of texts, behind a byte order mark and blanks. The first match counts.
constexpr Signature kTexts[] = {
    {"<?xml", FileKind::kXmlSession}, {"<", FileKind::kMarkup},       {"{'", FileKind::kRecords},
    {"[", FileKind::kJsonList},       {"\"", FileKind::kQuotedTable},
};

// Of JSON objects, by their first key. The first match counts.
constexpr Signature kFirstKeys[] = {
    {"\"kShortName\"", FileKind::kJsonRecords},
    {"\"kDuration\"", FileKind::kJsonRecords},
};

constexpr Signature kNameEndings[] = {
    {".nsys-rep", FileKind::kNsysReport},
    {".qdrep", FileKind::kNsysReport},
    {".qdstrm", FileKind::kNsysRecording},
    {".ncu-rep", FileKind::kNcuReport},
};

constexpr std::string_view kProfileEndings[] = {
    ".sql", ".sqlite", ".nvvp", ".nvprof", ".prof", ".db", ".json",
};

struct KindWords {
  FileKind kind;
  ForeignKind words;
};

constexpr std::string_view kUnpack = "unpack it first";
constexpr std::string_view kExportNsys =
    "export the report as a database: nsys export --type sqlite REPORT";

constexpr KindWords kWords[] = {
    {FileKind::kXz, {"is compressed with xz", "unpack it first: unxz FILE"}},
    {FileKind::kBzip2, {"is compressed with bzip2", "unpack it first: bunzip2 FILE"}},
    {FileKind::kZip, {"is a zip archive", kUnpack}},
    {FileKind::kTar, {"is a tar archive", "unpack it first: tar -xf FILE"}},
    {FileKind::kPickle,
     {"is a Python pickle, such as a memory snapshot of PyTorch",
      "give the trace that export_chrome_trace wrote; of memory, one of "
      "profile(profile_memory=True)"}},
    {FileKind::kUtf16,
     {"is UTF-16 text", "let parse write the file itself: parse -o FILE PROFILE"}},
    {FileKind::kGitLfsPointer,
     {"is a Git LFS pointer, not the profile itself", "fetch it with: git lfs pull"}},
    {FileKind::kProgram, {"is a program", "record it: record -o FILE -- PROGRAM"}},
    {FileKind::kParquet, {"is a Parquet file", kExportNsys}},
    {FileKind::kArrow, {"is an Arrow file", kExportNsys}},
    {FileKind::kHdf5, {"is an HDF5 file", kExportNsys}},
    {FileKind::kXmlSession,
     {"is an XML session of the Visual Profiler", "export the profile: nvprof -o FILE"}},
    {FileKind::kMarkup,
     {"is a page of HTML, such as report writes",
      "open it in a browser, or give the profile itself"}},
    {FileKind::kRecords, {"holds records that parse wrote", "give it to prof or report"}},
    {FileKind::kJsonRecords, {"holds records that parse wrote", "give it to prof or report"}},
    {FileKind::kJsonRows, {"holds rows that prof --json wrote", "give the profile itself"}},
    {FileKind::kExecutionTrace,
     {"is an execution trace, which has no GPU work",
      "give it beside the profile of the same run: --execution-trace FILE PROFILE"}},
    {FileKind::kQuotedTable, {"is a table (CSV), such as prof writes", "give the profile itself"}},
    {FileKind::kNcuReport,
     {"is a report of Nsight Compute, which has no time line",
      "export it: ncu --import FILE --csv --page raw > OUT, and give OUT to prof, or to --counters "
      "beside a profile of the same run"}},
    {FileKind::kNsysReport,
     {"is a report of Nsight Systems, not a database",
      "export it: nsys export --type sqlite FILE"}},
    {FileKind::kSummary,
     {"is a summary that prof --save-baseline wrote",
      "prof --view VIEW shows a view that is in it; all else needs the trace"}},
    {FileKind::kNsysRecording,
     {"is a raw recording of Nsight Systems, not a database",
      "make a report of it with QdstrmImporter, then export that: nsys export --type sqlite FILE"}},
};

/// Drops a byte order mark and the blanks before the text.
std::string_view SkipToText(std::string_view text) {
  if (text.starts_with("\xEF\xBB\xBF")) text.remove_prefix(3);
  const size_t first = text.find_first_not_of(" \t\r\n");
  text.remove_prefix(first == text.npos ? text.size() : first);
  return text;
}

FileKind FirstIn(std::span<const Signature> signatures, std::string_view text) {
  for (const Signature& signature : signatures) {
    if (text.starts_with(signature.start)) return signature.kind;
  }
  return FileKind::kUnknown;
}

/// Classifies an object by its first keys; `text` begins with its bracket.
FileKind KindOfObject(std::string_view text) {
  const std::string_view inside = SkipToText(text.substr(1));
  if (const FileKind kind = FirstIn(kFirstKeys, inside); kind != FileKind::kUnknown) return kind;
  constexpr std::string_view kSchema = "\"schema\"";
  if (!inside.starts_with(kSchema)) return FileKind::kJsonObject;
  std::string_view value = SkipToText(inside.substr(kSchema.size()));
  if (!value.starts_with(':')) return FileKind::kJsonObject;
  value = SkipToText(value.substr(1));
  // The rows of prof have a number, execution traces "1.0.2-chakra.0.0.4".
  return value.starts_with('"') ? FileKind::kExecutionTrace : FileKind::kJsonRows;
}

bool IsTar(std::string_view head) {
  constexpr size_t kPlace = 257;  // POSIX 1003.1, pax: the member "magic" of a header.
  return head.size() > kPlace && head.substr(kPlace).starts_with("ustar");
}

}  // namespace

FileKind KindOfBytes(std::string_view head) {
  if (const FileKind kind = FirstIn(kSignatures, head); kind != FileKind::kUnknown) return kind;
  if (IsTar(head)) return FileKind::kTar;
  const std::string_view text = SkipToText(head);
  if (IsJson(text) && text.front() == '{') return KindOfObject(text);
  return FirstIn(kTexts, text);
}

FileKind KindOfName(std::string_view path) {
  for (const Signature& ending : kNameEndings) {
    if (path.ends_with(ending.start)) return ending.kind;
  }
  return FileKind::kUnknown;
}

bool IsJson(std::string_view head) {
  std::string_view text = SkipToText(head);
  if (text.starts_with('[')) return true;
  if (!text.starts_with('{')) return false;
  text.remove_prefix(1);
  text.remove_prefix(std::min(text.find_first_not_of(" \t\r\n"), text.size()));
  return text.empty() || text.starts_with('"') || text.starts_with('}');
}

bool IsProfileContent(std::string_view head) {
  const FileKind kind = KindOfBytes(head);
  return kind == FileKind::kDatabase || kind == FileKind::kJsonObject ||
         kind == FileKind::kJsonList;
}

bool HasProfileName(std::string_view name) {
  if (std::any_of(std::begin(kProvenanceNames), std::end(kProvenanceNames),
                  [&](const ProvenanceName& known) { return known.name == name; })) {
    return false;
  }
  for (const std::string_view packed : {".gz", ".zst"}) {
    if (name.ends_with(packed)) name.remove_suffix(packed.size());
  }
  return std::any_of(std::begin(kProfileEndings), std::end(kProfileEndings),
                     [&](std::string_view ending) {
                       return name.size() > ending.size() && name.ends_with(ending);
                     });
}

ForeignKind ForeignWords(FileKind kind) {
  const auto* found = std::find_if(std::begin(kWords), std::end(kWords),
                                   [&](const KindWords& entry) { return entry.kind == kind; });
  return found == std::end(kWords) ? ForeignKind() : found->words;
}

}  // namespace oplens::parse

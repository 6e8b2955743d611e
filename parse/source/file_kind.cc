#include "parse/source/file_kind.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <system_error>

namespace oplens::parse {
namespace {

struct Signature {
  std::string_view start;
  FileKind kind;
};

// The first that fits counts.
constexpr Signature kSignatures[] = {
    {"SQLite format 3", FileKind::kDatabase},
    {"\x1f\x8b", FileKind::kGzip},
    {"\x28\xb5\x2f\xfd", FileKind::kZstd},
    {"\xfd"
     "7zXZ",
     FileKind::kXz},
    {"BZh", FileKind::kBzip2},
    {"PK\x03\x04", FileKind::kZip},
    {"\x80\x02", FileKind::kOldPickle},
    {"\x80\x03", FileKind::kPickle},
    {"\x80\x04", FileKind::kPickle},
    {"\x80\x05", FileKind::kPickle},
    {"\xff\xfe", FileKind::kUtf16},
    {"version https://git-lfs", FileKind::kGitLfsPointer},
    {"\x7f"
     "ELF",
     FileKind::kProgram},
    {"<?xml", FileKind::kXmlSession},
    {"<", FileKind::kMarkup},
    {"{'", FileKind::kRecords},
    {"{\"", FileKind::kJsonObject},
    {"[", FileKind::kJsonList},
    {"\"", FileKind::kQuotedTable},
};

constexpr Signature kNameEndings[] = {
    {".nsys-rep", FileKind::kNsysReport},
    {".qdrep", FileKind::kNsysReport},
    {".qdstrm", FileKind::kNsysRecording},
};

constexpr std::string_view kProfileEndings[] = {
    ".sql", ".sqlite", ".nvvp", ".nvprof", ".prof", ".db", ".json", ".json.gz", ".json.zst",
};

/// What to say of a kind where something else is expected.
struct KindWords {
  FileKind kind;
  ForeignKind no_database;
  ForeignKind no_records = {};
};

constexpr std::string_view kUnpack = "unpack it first";
constexpr std::string_view kGiveText = "give it the text that parse writes";
constexpr std::string_view kIsPickle = "is a Python pickle";

constexpr KindWords kWords[] = {
    {FileKind::kDatabase, {}, {"is a database, not the records of one", "run: parse FILE | prof"}},
    {FileKind::kGzip,
     {"is gzip data, not a database", "unpack it first with: gunzip"},
     {"is compressed (gzip)", "run: gzip -dc FILE | prof"}},
    {FileKind::kZstd,
     {"is zstd data, not a database", "unpack it first with: unzstd"},
     {"is compressed (zstd)", kUnpack}},
    {FileKind::kXz, {}, {"is compressed (xz)", kUnpack}},
    {FileKind::kBzip2, {}, {"is compressed (bzip2)", kUnpack}},
    {FileKind::kZip, {"is a zip archive, not a database", kUnpack}, {"is a zip archive", kUnpack}},
    {FileKind::kOldPickle,
     {"is a Python pickle, not a database", "give the file that nvprof -o wrote"},
     {kIsPickle, kGiveText}},
    {FileKind::kPickle, {}, {kIsPickle, kGiveText}},
    {FileKind::kUtf16, {}, {"is UTF-16 text", "let parse write the file itself: parse -o FILE DB"}},
    {FileKind::kGitLfsPointer,
     {"is a Git LFS pointer, not the profile itself", "fetch it with: git lfs pull"},
     {"is a Git LFS pointer", "run: git lfs pull"}},
    {FileKind::kProgram, {}, {"is a program", kGiveText}},
    {FileKind::kXmlSession,
     {"is an XML session of the Visual Profiler, not a database",
      "export the profile with nvprof -o FILE"},
     {"holds XML or HTML", kGiveText}},
    {FileKind::kMarkup, {}, {"holds XML or HTML", kGiveText}},
    {FileKind::kRecords, {"is a record file that parse wrote, not a database", "give it to prof"}},
    {FileKind::kJsonObject,
     {"is JSON, not a database", "this release reads nvprof databases"},
     {"holds JSON", "run parse without --format jsonl"}},
    {FileKind::kJsonList, {}, {"holds JSON", kGiveText}},
    {FileKind::kQuotedTable,
     {},
     {"looks like a table", "give it the text that parse writes, not that of prof"}},
    {FileKind::kNsysReport,
     {"is a report of Nsight Systems, not a database",
      "export it: nsys export --type sqlite FILE"}},
    {FileKind::kNsysRecording,
     {"is a raw recording of Nsight Systems, not a database",
      "make a report of it with QdstrmImporter, then export that: nsys export --type sqlite FILE"}},
};

const KindWords* WordsOf(FileKind kind) {
  const auto* found = std::find_if(std::begin(kWords), std::end(kWords),
                                   [&](const KindWords& words) { return words.kind == kind; });
  return found == std::end(kWords) ? nullptr : found;
}

/// Without a byte order mark and the blanks before the text.
std::string_view SkipToText(std::string_view text) {
  if (text.starts_with("\xEF\xBB\xBF")) text.remove_prefix(3);
  const size_t first = text.find_first_not_of(" \t\r\n");
  text.remove_prefix(first == text.npos ? text.size() : first);
  return text;
}

std::string HeadOf(const std::string& path) {
  std::string head(64, '\0');
  std::ifstream file(path, std::ios::binary);
  file.read(head.data(), static_cast<std::streamsize>(head.size()));
  head.resize(static_cast<size_t>(file.gcount()));
  return head;
}

}  // namespace

FileKind KindOfBytes(std::string_view head) {
  for (const Signature& signature : kSignatures) {
    if (head.starts_with(signature.start)) return signature.kind;
  }
  return FileKind::kUnknown;
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

bool IsJsonLines(std::string_view head) {
  const std::string_view text = SkipToText(head);
  return text.starts_with("{\"kShortName\"") || text.starts_with("{\"schema\"");
}

bool IsProfile(const std::string& path) {
  std::error_code ignored;
  // "-" is standard input even where a file has that name.
  if (path == "-" || !std::filesystem::is_regular_file(path, ignored)) return false;
  // Reports are refused with the command that exports them.
  if (KindOfName(path) != FileKind::kUnknown) return true;
  const std::string head = HeadOf(path);
  switch (KindOfBytes(head)) {
    case FileKind::kDatabase:
    case FileKind::kGzip:
    case FileKind::kZstd:
      return true;
    default:
      return IsJson(head) && !IsJsonLines(head);
  }
}

bool HasProfileName(std::string_view name) {
  return std::any_of(std::begin(kProfileEndings), std::end(kProfileEndings),
                     [&](std::string_view ending) {
                       return name.size() > ending.size() && name.ends_with(ending);
                     });
}

ForeignKind NoDatabase(FileKind kind) {
  const KindWords* words = WordsOf(kind);
  return words == nullptr ? ForeignKind() : words->no_database;
}

ForeignKind NoRecords(FileKind kind) {
  const KindWords* words = WordsOf(kind);
  return words == nullptr ? ForeignKind() : words->no_records;
}

}  // namespace oplens::parse

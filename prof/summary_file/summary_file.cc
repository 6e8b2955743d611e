#include "prof/summary_file/summary_file.h"

#include <fmt/format.h>
#include <sys/stat.h>
#include <zlib.h>
#include <zstd.h>

#include <algorithm>
#include <array>
#include <boost/iostreams/device/array.hpp>
#include <boost/iostreams/filter/zstd.hpp>
#include <boost/iostreams/filtering_stream.hpp>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <new>
#include <set>
#include <system_error>
#include <utility>

#include "base/byte_reader.h"
#include "base/byte_writer.h"
#include "base/error.h"
#include "base/output.h"
#include "parse/source/file_kind.h"
#include "parse/source/profile_list.h"

namespace oplens::prof {
namespace {

namespace fs = std::filesystem;

/// Which of the profiles a summary is of: its name without the ending, and without the number of a
/// rank where the file holds several. "": none.
std::string TraceOf(const std::string& summary, const std::set<std::string>& profiles) {
  std::string name = summary.substr(0, summary.size() - kSummaryEnding.size());
  if (profiles.contains(name)) return name;
  const size_t dot = name.rfind('.');
  const bool numbered = dot != name.npos && dot + 1 < name.size() &&
                        name.find_first_not_of("0123456789", dot + 1) == name.npos;
  if (numbered) name.resize(dot);
  return numbered && profiles.contains(name) ? name : "";
}

std::string FilesBeside(const std::vector<std::string>& names) {
  constexpr size_t kNamed = 3;
  std::string text;
  for (size_t i = 0; i < std::min(names.size(), kNamed); ++i) {
    text += (i == 0 ? "" : ", ") + names[i];
  }
  return names.size() > kNamed ? text + ", ..." : text;
}

/// The summaries in a folder, if they are the run: none without a trace is, or more of them than
/// there are profiles without a summary. Readers of profiles report folders that cannot be listed.
std::vector<std::string> SummariesIn(const std::string& folder, std::vector<std::string>* notes) {
  std::set<std::string> profiles;
  std::vector<std::string> names;
  std::error_code error;
  for (fs::directory_iterator it(folder, error), end; !error && it != end; it.increment(error)) {
    std::string name = it->path().filename().string();
    if (name.starts_with('.')) continue;
    if (parse::HasProfileName(name)) {
      profiles.insert(std::move(name));
    } else if (name.ends_with(kSummaryEnding) && name.size() > kSummaryEnding.size()) {
      names.push_back(std::move(name));
    }
  }
  std::sort(names.begin(), names.end(), parse::NaturalLess);
  if (names.empty() || profiles.empty()) return names;
  std::vector<std::string> alone;  // Summaries without their trace.
  std::set<std::string> covered;
  for (const std::string& name : names) {
    if (std::string trace = TraceOf(name, profiles); !trace.empty()) {
      covered.insert(std::move(trace));
    } else {
      alone.push_back(name);
    }
  }
  std::vector<std::string> stray;  // Profiles without a summary.
  for (const std::string& name : profiles) {
    if (!covered.contains(name)) stray.push_back(name);
  }
  std::sort(stray.begin(), stray.end(), parse::NaturalLess);
  if (alone.empty() || alone.size() < stray.size()) {
    if (!alone.empty()) {
      notes->push_back(fmt::format(
          "{}: the traces are read; not the summaries of others ({}): give them a folder of their "
          "own",
          folder, FilesBeside(alone)));
    }
    return {};
  }
  const size_t covers = profiles.size() - stray.size();
  std::string text = fmt::format("{}: its {} summaries are read", folder, names.size());
  if (covers > 0) text += fmt::format(", not the traces of {} of them", covers);
  if (!stray.empty()) {
    text += fmt::format("; no summary is of {}, which is not read", FilesBeside(stray));
  }
  notes->push_back(std::move(text));
  return names;
}

/// Names each after its trace.
void NameSummaries(std::vector<SummaryInput>* summaries) {
  std::vector<parse::ProfileInput> traces;
  for (const SummaryInput& summary : *summaries) {
    const std::string& path = summary.path;
    const bool ends = path.size() > kSummaryEnding.size() && path.ends_with(kSummaryEnding);
    traces.push_back({path.substr(0, path.size() - (ends ? kSummaryEnding.size() : 0)), {}});
  }
  parse::NameInputs(&traces);
  for (size_t i = 0; i < traces.size(); ++i) (*summaries)[i].name = std::move(traces[i].name);
}

// Header: magic, form, checksum of all other bytes, size of the packed rest.
constexpr std::string_view kMagic = parse::kSummaryMagic;
constexpr size_t kFormAt = 8;
constexpr size_t kChecksumAt = 12;
constexpr size_t kSizeAt = 16;
constexpr size_t kHeadSize = 24;
static_assert(kMagic.size() == kFormAt);

/// Limit of both packed and unpacked bytes.
constexpr size_t kMostBytes = size_t{256} << 20;
constexpr int kZstdLevel = 9;

constexpr std::string_view kAgain = "save it again";

template <typename T>
void AppendNumber(T value, std::string* bytes) {
  for (size_t i = 0; i < sizeof value; ++i) {
    bytes->push_back(static_cast<char>(value >> (8 * i) & 0xFF));
  }
}

template <typename T>
T NumberAt(std::string_view bytes, size_t at) {
  T value = 0;
  for (size_t i = 0; i < sizeof value; ++i) {
    value |= static_cast<T>(static_cast<unsigned char>(bytes[at + i])) << (8 * i);
  }
  return value;
}

uint32_t ChecksumOf(std::string_view bytes) {
  const auto add = [](uLong sum, std::string_view part) {
    return crc32_z(sum, reinterpret_cast<const Bytef*>(part.data()), part.size());
  };
  return static_cast<uint32_t>(
      add(add(crc32_z(0, nullptr, 0), bytes.substr(0, kChecksumAt)), bytes.substr(kSizeAt)));
}

/// At once: a stream does not know that there is little to pack, and clears memory for much.
std::string Packed(std::string_view body) {
  std::string packed(ZSTD_compressBound(body.size()), '\0');
  const size_t size =
      ZSTD_compress(packed.data(), packed.size(), body.data(), body.size(), kZstdLevel);
  if (ZSTD_isError(size) != 0) throw std::bad_alloc();
  packed.resize(size);
  return packed;
}

/// Allocates for the actual size, not for the header's.
std::string Unpacked(std::string_view packed, uint64_t size, std::string_view path) {
  const auto fail = [&](std::string_view problem) { throw Error(path, problem, kAgain); };
  if (size > kMostBytes) fail("says that it is larger than such files can be");
  std::string body;
  try {
    boost::iostreams::filtering_istream stream;
    stream.push(boost::iostreams::zstd_decompressor());
    stream.push(boost::iostreams::array_source(packed.data(), packed.size()));
    stream.exceptions(std::ios::badbit);
    std::array<char, size_t{64} << 10> piece{};
    while (body.size() <= size) {
      stream.read(piece.data(), piece.size());
      if (stream.gcount() == 0) break;
      body.append(piece.data(), static_cast<size_t>(stream.gcount()));
    }
  } catch (const std::ios::failure&) {
    fail("is damaged: what is packed in it cannot be unpacked");
  }
  if (body.size() != size) fail("is damaged: it unpacks to another size than it says");
  return body;
}

/// Embedded bytes, whose texts are numbered separately.
template <typename Bytes, typename Text>
void TransferRaw(Bytes* bytes, Text* raw) {
  if constexpr (Bytes::kReads) {
    *raw = bytes->Raw(bytes->Size());
  } else {
    bytes->Number(raw->size());
    bytes->Raw(*raw);
  }
}

template <typename Bytes, typename S>
void TransferSection(Bytes* bytes, S* section) {
  bytes->Values(&section->view, &section->by, &section->rules, &section->copies, &section->form);
  TransferRaw(bytes, &section->bytes);
}

/// Reads a whole file; Error names it.
std::string ReadAll(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) throw Error(path, std::strerror(errno), "give a file that save-baseline wrote");
  std::string bytes;
  std::array<char, size_t{64} << 10> piece{};
  while (file.read(piece.data(), piece.size()), file.gcount() > 0) {
    bytes.append(piece.data(), static_cast<size_t>(file.gcount()));
    if (bytes.size() > kMostBytes) throw Error(path, "is larger than such files can be", kAgain);
  }
  if (file.bad()) throw Error(path, "cannot be read to its end", kAgain);
  return bytes;
}

}  // namespace

std::vector<SummaryInput> ListSummaries(const std::vector<std::string>& arguments,
                                        std::vector<std::string>* notes) {
  std::vector<SummaryInput> summaries;
  const std::string* other = nullptr;
  for (const std::string& path : arguments) {
    std::error_code error;
    const bool folder = path != "-" && fs::is_directory(path, error);
    const std::vector<std::string> inside =
        folder ? SummariesIn(path, notes) : std::vector<std::string>();
    for (const std::string& name : inside) {
      summaries.push_back({(fs::path(path) / name).string(), {}, true});
    }
    const bool lost = path.ends_with(kSummaryEnding) && !fs::exists(path, error);
    if (!folder && (lost || IsSummary(path))) {
      summaries.push_back({path, {}, false});
    } else if (inside.empty()) {
      other = &path;
    }
  }
  if (summaries.empty()) return {};
  if (other != nullptr) {
    throw Error(*other, "is no summary, but other inputs are",
                "save it with --summary or --save-baseline first");
  }
  // As with profiles, each file counts once.
  std::set<std::string> seen;
  std::erase_if(summaries, [&seen](const SummaryInput& summary) {
    return !seen.insert(parse::IdentityOf(summary.path)).second;
  });
  NameSummaries(&summaries);
  return summaries;
}

void SaveSummary(const SummaryFile& summary, ByteWriter* bytes) {
  bytes->Values(&summary.writer, &summary.facts, &summary.ranks);
  bytes->Number(summary.sections.size());
  for (const Section& section : summary.sections) TransferSection(bytes, &section);
  TransferRaw(bytes, &summary.calls);
}

SummaryFile LoadSummary(ByteReader* bytes) {
  SummaryFile summary;
  bytes->Values(&summary.writer, &summary.facts, &summary.ranks);
  for (size_t left = bytes->Size(6); left > 0; --left) {
    TransferSection(bytes, &summary.sections.emplace_back());
  }
  TransferRaw(bytes, &summary.calls);
  return summary;
}

std::string SummaryBytes(const SummaryFile& summary) {
  ByteWriter body;
  SaveSummary(summary, &body);
  std::string bytes(kMagic);
  AppendNumber(kSummaryForm, &bytes);
  AppendNumber(uint32_t{0}, &bytes);
  AppendNumber(uint64_t{body.size()}, &bytes);
  bytes += Packed(body.bytes());
  std::string checksum;
  AppendNumber(ChecksumOf(bytes), &checksum);
  bytes.replace(kChecksumAt, checksum.size(), checksum);
  return bytes;
}

SummaryFile ParseSummary(std::string_view bytes, std::string_view path) {
  if (!bytes.starts_with(kMagic)) {
    throw Error(path, "is no summary of oplens",
                "give a file that prof --summary or --save-baseline wrote");
  }
  if (bytes.size() < kHeadSize) throw Error(path, "is cut: its head is not whole", kAgain);
  const auto form = NumberAt<uint32_t>(bytes, kFormAt);
  if (form > kSummaryForm) {
    throw Error(path,
                fmt::format("is of form {}, of a later oplens: this one reads up to form {}", form,
                            kSummaryForm),
                "read it with that oplens, or save it again with this one");
  }
  if (form == 0 || NumberAt<uint32_t>(bytes, kChecksumAt) != ChecksumOf(bytes)) {
    throw Error(path, "is cut or was changed: its checksum is another", kAgain);
  }
  const std::string body =
      Unpacked(bytes.substr(kHeadSize), NumberAt<uint64_t>(bytes, kSizeAt), path);
  ByteReader reader(body, std::string(path));
  SummaryFile summary = LoadSummary(&reader);
  reader.End();
  return summary;
}

void WriteSummary(const std::string& path, const SummaryFile& summary) {
  const std::string bytes = SummaryBytes(summary);
  if (NumberAt<uint64_t>(bytes, kSizeAt) > kMostBytes || bytes.size() > kMostBytes) {
    throw Error(path, "would be larger than such files can be", "name fewer views: --view VIEWS");
  }
  Output output(path);
  output.Write(bytes);
  output.Commit();
}

SummaryFile ReadSummary(const std::string& path) { return ParseSummary(ReadAll(path), path); }

bool IsSummary(const std::string& path) {
  // Do not consume pipes and the like.
  struct stat status {};
  if (stat(path.c_str(), &status) != 0 || !S_ISREG(status.st_mode)) return false;
  if (path.ends_with(kSummaryEnding)) return true;
  std::ifstream file(path, std::ios::binary);
  std::string head(kMagic.size(), '\0');
  file.read(head.data(), static_cast<std::streamsize>(head.size()));
  return file && head == kMagic;
}

}  // namespace oplens::prof

#ifndef OPLENS_PARSE_SOURCE_PROFILE_LIST_H_
#define OPLENS_PARSE_SOURCE_PROFILE_LIST_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "parse/source/byte_source.h"

namespace oplens::parse {

/// Whether `path` can be opened only once: standard input ("-"), a pipe or a device.
bool IsPipe(const std::string& path);

/// One of several ranks (processes) in a file.
struct FilePart {
  int64_t process_key = 0;  ///< In the numbering of the family's reader.
  int64_t rank = -1;        ///< -1: unknown.
  /// Number of ranks that were numbered by order because the file does not identify them; set on
  /// the first of them, for a note; else 0.
  int64_t guessed = 0;
};

/// One profile of the command line, and its name in records if there are several.
struct ProfileInput {
  std::string path;
  std::string name;          ///< The file's name, with as much of its folders as makes it unique.
  bool from_folder = false;  ///< Found in a folder argument, not named itself.
  /// An input that can be opened only once (standard input, a pipe, a device), opened; else null.
  std::shared_ptr<InputBytes> piped = nullptr;
  std::optional<FilePart> part = {};  ///< Which rank the input is, if the file holds several.
};

/// Entries of the folder arguments that are not read.
struct SkippedEntries {
  std::vector<std::string> files;  ///< No profiles by their names; in natural order.
  size_t folders = 0;              ///< Inside the folders.

  /// Describes it in one sentence; "" if nothing was skipped.
  std::string Sentence() const;
};

/// Lists the profiles that the arguments name: files as they are; of a folder (not its subfolders)
/// every file that ends like a profile (.sql .sqlite .nvvp .nvprof .prof .db .json .json.gz
/// .json.zst; not hidden files), in natural order of names ("rank2" before "rank10"). "-" is
/// standard input. A file named twice, by any path, counts once, at its first place. Throws Error
/// for a folder without profiles and for a path that does not exist. Opens no pipe, and detects
/// foreign files in a folder only when they are read. `skipped`, which may be null, gets what else
/// is in the folders, except hidden files, files that are read beside traces, and oplens' own.
std::vector<ProfileInput> ListProfiles(const std::vector<std::string>& arguments,
                                       SkippedEntries* skipped = nullptr);

/// Lists all files that reading these arguments may open: those of ListProfiles() and what is read
/// beside them. An argument that cannot be listed stands for itself. Never throws.
std::vector<std::string> FilesReadFor(const std::vector<std::string>& arguments);

/// Identifies a file: its path without links, or as it is if it has none (a pipe).
std::string IdentityOf(const std::string& path);

/// Names each input by the shortest end of its path that no other input has.
void NameInputs(std::vector<ProfileInput>* inputs);

/// Whether the file is missing but `record` left its spool when it was killed.
bool IsInterruptedRecording(const std::string& path);

/// Whether `a` goes before `b`: digits compare as numbers, the rest byte by byte.
bool NaturalLess(const std::string& a, const std::string& b);

}  // namespace oplens::parse

#endif  // OPLENS_PARSE_SOURCE_PROFILE_LIST_H_

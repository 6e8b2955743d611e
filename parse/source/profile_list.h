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

/// One of several ranks in a file: a process.
struct FilePart {
  int64_t process_key = 0;  ///< As the reader of the family numbers processes.
  int64_t rank = -1;        ///< -1: not known.
  /// How many ranks of the file are numbered in their order, since it does not say which they are:
  /// of the first of them, for a note; else 0.
  int64_t guessed = 0;
};

/// One profile of the command line, and the name its records bear if several are given.
struct ProfileInput {
  std::string path;
  std::string name;  ///< The file's name, with as much of its folders as tells it from the others.
  bool from_folder = false;  ///< Found in a folder that was named, not named itself.
  /// What can be opened only once (standard input, a pipe, a device), opened; else null.
  std::shared_ptr<InputBytes> piped = nullptr;
  /// Set where the file holds several ranks, of which the input is this.
  std::optional<FilePart> part = {};
};

/// What of the folders among the arguments is not looked at.
struct SkippedEntries {
  std::vector<std::string> files;  ///< No profiles by their names; in natural order.
  size_t folders = 0;              ///< Inside of the folders.

  /// What to say of it, in one sentence; "" for nothing.
  std::string Sentence() const;
};

/// The profiles that the arguments name: files as they are; of a folder (not of those inside it)
/// every file whose name ends like a profile's (.sql .sqlite .nvvp .nvprof .prof .db .json .json.gz
/// .json.zst; hidden files are left out), in natural order of their names ("rank2" before
/// "rank10"). A file named twice, by whatever path, counts once, at its first place. Throws Error
/// for a folder without profiles and for a path that does not exist; a file of a folder that is a
/// foreign one is found out when it is read. "-" is standard input. Pipes are not opened. `skipped`
/// (null: nobody asks) gets what else is in the folders, but for hidden files, what is read beside
/// traces and what oplens itself keeps there.
std::vector<ProfileInput> ListProfiles(const std::vector<std::string>& arguments,
                                       SkippedEntries* skipped = nullptr);

/// All files that reading these arguments may open: those that ListProfiles() lists, and what is
/// read beside them. What cannot be listed stands for itself. Never throws.
std::vector<std::string> FilesReadFor(const std::vector<std::string>& arguments);

/// What tells one file from another: its path without links, or as it is where there is none (a
/// pipe).
std::string IdentityOf(const std::string& path);

/// Gives each input the shortest end of its path that no other input has as its name.
void NameInputs(std::vector<ProfileInput>* inputs);

/// Whether there is no such file, but what `record` leaves of one when it is killed.
bool IsInterruptedRecording(const std::string& path);

/// Whether `a` goes before `b`: digits compare as numbers, the rest byte by byte.
bool NaturalLess(const std::string& a, const std::string& b);

}  // namespace oplens::parse

#endif  // OPLENS_PARSE_SOURCE_PROFILE_LIST_H_

#ifndef OPLENS_PARSE_PROFILE_LIST_H_
#define OPLENS_PARSE_PROFILE_LIST_H_

#include <cstddef>
#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include "parse/model/reason.h"
#include "parse/model/trace.h"

namespace oplens::parse {

/// One profile of the command line, and the name its records bear if several are given.
struct ProfileInput {
  std::string path;
  std::string name;  ///< The file's name, with as much of its folders as tells it from the others.
  bool from_folder = false;  ///< Found in a folder that was named, not named itself.
};

/// The profiles that the arguments name: files as they are; of a folder (not of those inside it)
/// every file whose name ends like a profile's (.sql .sqlite .nvvp .nvprof .prof .db .json .json.gz
/// .json.zst; hidden files are left out), in natural order of their names ("rank2" before
/// "rank10"). A file named twice, by whatever path, counts once, at its first place. Throws Error
/// for a folder without profiles and for a path that does not exist; a file of a folder that is a
/// foreign one is found out when it is read.
std::vector<ProfileInput> ListProfiles(const std::vector<std::string>& arguments);

/// Whether there is no such file, but what `record` leaves of one when it is killed.
bool IsInterruptedRecording(const std::string& path);

/// Whether `a` goes before `b`: digits compare as numbers, the rest byte by byte.
bool NaturalLess(const std::string& a, const std::string& b);

/// The rank numbers that the inputs of a run so far took.
using TakenRanks = std::set<int64_t>;

/// Sets trace->rank_name: the rank that the file says; else, with several inputs, `input.name`;
/// else nothing. Where an earlier input of the run has taken the same rank (`taken`, which may be
/// null), it is the rank with the name: "0 (b.json)". Only one input is looked at, so that one
/// trace at a time need be in memory; hence the first of them keeps the bare number.
void NameRank(const ProfileInput& input, size_t input_count, Trace* trace,
              TakenRanks* taken = nullptr);

/// Reads one of several inputs: OpenTrace and NameRank. A file of a folder that cannot be read at
/// all must not cost the others: that is the caller's to catch.
Trace OpenInput(const ProfileInput& input, size_t input_count, Diagnostics* diagnostics,
                TakenRanks* taken = nullptr);

}  // namespace oplens::parse

#endif  // OPLENS_PARSE_PROFILE_LIST_H_

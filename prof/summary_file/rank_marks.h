#ifndef OPLENS_PROF_SUMMARY_FILE_RANK_MARKS_H_
#define OPLENS_PROF_SUMMARY_FILE_RANK_MARKS_H_

#include <cstddef>
#include <span>
#include <string>
#include <string_view>

namespace oplens::prof {

/// What stands in the place of the name of a rank in what was found of one input: the name depends
/// on the other inputs of the run (parse::NameOfRank), which are not known there. `place`: of the
/// rank among those of the input.
std::string RankMark(size_t place);

/// A text with the names of ranks in the place of their marks. A mark that stands for none stays.
std::string WithRankNames(std::string_view text, std::span<const std::string> names);

}  // namespace oplens::prof

#endif  // OPLENS_PROF_SUMMARY_FILE_RANK_MARKS_H_

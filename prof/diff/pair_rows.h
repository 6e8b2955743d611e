#ifndef OPLENS_PROF_DIFF_PAIR_ROWS_H_
#define OPLENS_PROF_DIFF_PAIR_ROWS_H_

#include <map>
#include <string>
#include <vector>

#include "prof/diff/diff.h"
#include "prof/table/field.h"

namespace oplens::prof {

using RowKeys = std::vector<std::string>;

/// What the modules of the base are called in the new run, by the aligned places (the table
/// `operators`): layers of paired calls are the same, and so are those around them at the same
/// depth. A module is that with which most of its time is paired. Paths are joined by '/'.
std::map<std::string, std::string> RenamedPaths(const DiffTable& operators);

/// Pairs rows that have no counterpart of equal keys, in order of keys: paths of modules by
/// `renamed`, below parents that are paired or equal; GPUs, whose numbers mean nothing, in order if
/// both sides have equally many. Answers the keys of the base by those of the new run.
std::map<RowKeys, RowKeys> PairRows(const std::vector<Field>& keys,
                                    const std::vector<RowKeys>& base_alone,
                                    const std::vector<RowKeys>& now_alone,
                                    const std::map<std::string, std::string>& renamed);

}  // namespace oplens::prof

#endif  // OPLENS_PROF_DIFF_PAIR_ROWS_H_

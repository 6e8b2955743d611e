#ifndef OPLENS_PROF_SUMMARY_FILE_SECTION_H_
#define OPLENS_PROF_SUMMARY_FILE_SECTION_H_

#include <cstddef>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "prof/views/collectives/collective_set.h"
#include "prof/views/common/view.h"

namespace oplens::prof {

/// What stands in the place of the name of a rank in what was found of one input: the name depends
/// on the other inputs of the run (parse::NameOfRank), which are not known there. `place`: of the
/// rank among those of the input.
std::string RankMark(size_t place);

/// A text with the names of ranks in the place of their marks. A mark that stands for none stays.
std::string WithRankNames(std::string_view text, std::span<const std::string> names);

/// What one view found, as it is kept in a file: its partial as bytes, and what it was asked for.
struct Section {
  std::string view;
  std::vector<std::string> by;  ///< Words of --by.
  std::string rules;            ///< As View::rules: "oplens"; nothing else is saved today.
  bool copies = false;          ///< ViewOptions::copies.
  int form = 0;                 ///< View::saved_form when it was saved.
  std::string bytes;            ///< Of Partial::Save.
  bool is_own = false;          ///< This program has just made the bytes: it is of no file.
};

/// `change`: what is written in the place of a text; null for the text itself. Throws Error for a
/// view that does not save.
Section SaveSection(const View& view, const ViewOptions& options, const Partial& partial,
                    const std::function<std::string(std::string_view)>& change = nullptr);

/// Calls of collectives as bytes, which SummaryFile::calls holds. `change`: as of SaveSection.
std::string SaveCalls(const CollectiveSet& calls,
                      const std::function<std::string(std::string_view)>& change = nullptr);

/// The calls that were saved; none of no bytes. `file`: for messages. Throws Error where the form
/// is not known here, or the bytes are damaged.
CollectiveSet LoadCalls(std::string_view bytes, std::string_view file);
/// The same with names for the marks of ranks.
CollectiveSet LoadCalls(std::string_view bytes, std::span<const std::string> ranks,
                        std::string_view file);

/// The section of a view asked for the same; null where there is none. What only says how rows are
/// shown (sort, top, where, most_rows) need not be the same.
const Section* FindSection(std::span<const Section> sections, const View& view,
                           const ViewOptions& options);

/// The partial that was saved, ready to merge and emit. `file`: for messages. Throws Error where
/// the view or the form of the section is not known here, or its bytes are damaged.
std::unique_ptr<Partial> LoadPartial(const Section& section, std::string_view file);
/// The same with what rows are to be shown and how; of `shown` by and copies must be those
/// of the section. `ranks`: names for the marks in it.
std::unique_ptr<Partial> LoadPartial(const Section& section, const ViewOptions& shown,
                                     std::span<const std::string> ranks, std::string_view file);

}  // namespace oplens::prof

#endif  // OPLENS_PROF_SUMMARY_FILE_SECTION_H_

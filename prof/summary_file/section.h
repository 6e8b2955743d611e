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

/// Placeholder for a rank's name in what was found of one input: the name depends on the run's
/// other inputs (parse::NameOfRank), which are unknown there. `place`: index of the rank in the
/// input.
std::string RankMark(size_t place);

/// Replaces the marks in a text by names of ranks. Marks without a name stay.
std::string WithRankNames(std::string_view text, std::span<const std::string> names);

/// Saved results of one view: its partial as bytes, and its options.
struct Section {
  std::string view;
  std::vector<std::string> by;  ///< Words of --by.
  std::string rules;            ///< As View::rules; only "oplens" is saved so far.
  bool copies = false;          ///< ViewOptions::copies.
  int form = 0;                 ///< View::saved_form at the time of saving.
  std::string bytes;            ///< From Partial::Save.
  bool is_own = false;          ///< The bytes were made by this process, not read from a file.
};

/// `change`: maps texts before writing; null keeps them. Throws Error for a view that does not
/// save.
Section SaveSection(const View& view, const ViewOptions& options, const Partial& partial,
                    const std::function<std::string(std::string_view)>& change = nullptr);

/// The bytes of SummaryFile::calls. `change`: as in SaveSection.
std::string SaveCalls(const CollectiveSet& calls,
                      const std::function<std::string(std::string_view)>& change = nullptr);

/// The saved calls; none if `bytes` is empty. `file`: for messages. Throws Error if the form is
/// unknown or the bytes are damaged.
CollectiveSet LoadCalls(std::string_view bytes, std::string_view file);
/// `ranks`: names for the marks.
CollectiveSet LoadCalls(std::string_view bytes, std::span<const std::string> ranks,
                        std::string_view file);

/// The section of a view with the same options except those for display (sort, top, where,
/// most_rows); null if there is none.
const Section* FindSection(std::span<const Section> sections, const View& view,
                           const ViewOptions& options);

/// The saved partial, ready to merge and emit. `file`: for messages. Throws Error if the view or
/// the form is unknown, or the bytes are damaged.
std::unique_ptr<Partial> LoadPartial(const Section& section, std::string_view file);
/// With display options; `by` and `copies` of `shown` must be the section's. `ranks`: names for the
/// marks.
std::unique_ptr<Partial> LoadPartial(const Section& section, const ViewOptions& shown,
                                     std::span<const std::string> ranks, std::string_view file);

}  // namespace oplens::prof

#endif  // OPLENS_PROF_SUMMARY_FILE_SECTION_H_

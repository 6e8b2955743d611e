#ifndef OPLENS_TEST_VIEWS_DEVICE_RUN_H_
#define OPLENS_TEST_VIEWS_DEVICE_RUN_H_

#include <cstdint>
#include <string>
#include <vector>

#include "test/support/view_rows.h"

namespace oplens::prof {

/// One piece of device work of a made-up profile.
struct MadeWork {
  std::string name;  ///< Of a kernel; "Memcpy ...", "Memset ..." and "... Sync" are no kernels.
  int64_t start_ns = 0;
  int64_t duration_ns = 0;
  int64_t stream = 7;
  int64_t device = 0;
};

/// Writes it as a file of the running test, in this order; without calls. Answers its path.
/// `rank`: -1 for none.
std::string WriteRun(const std::string& file, const std::vector<MadeWork>& work, int rank = -1);

/// The rows of a view over files.
std::vector<test::ViewRow> RowsOver(const View& view, const std::vector<std::string>& paths);

/// The rows of the partials of some files, merged in the order of the files.
std::vector<test::ViewRow> MergedRows(const View& view, const std::vector<std::string>& paths);

}  // namespace oplens::prof

#endif  // OPLENS_TEST_VIEWS_DEVICE_RUN_H_

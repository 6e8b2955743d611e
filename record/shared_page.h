#ifndef OPLENS_RECORD_SHARED_PAGE_H_
#define OPLENS_RECORD_SHARED_PAGE_H_

#include <filesystem>
#include <memory>

#include "record/spool/spool_format.h"

namespace oplens::record {

struct UnmapPage {
  void operator()(spool::ProcessPage* page) const;
};
using SharedPage = std::unique_ptr<spool::ProcessPage, UnmapPage>;

/// The page of an image whose process runs, to be written; null where it cannot be. For a moment:
/// the program may make the file shorter.
SharedPage MapRunningPage(const std::filesystem::path& folder);

}  // namespace oplens::record

#endif  // OPLENS_RECORD_SHARED_PAGE_H_

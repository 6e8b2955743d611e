#include "record/shared_page.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include "record/image_conversion.h"

namespace oplens::record {

void UnmapPage::operator()(spool::ProcessPage* page) const {
  ::munmap(page, spool::kProcessPageBytes);
}

SharedPage MapRunningPage(const std::filesystem::path& folder) {
  // Also sees to it that the file is as long as a page.
  const PageFacts facts = ReadPage(folder);
  if (!facts.known || facts.state != spool::ProcessState::kRunning) return nullptr;
  const int file = ::open((folder / "process").c_str(), O_RDWR | O_CLOEXEC);
  if (file < 0) return nullptr;
  void* const mapped =
      ::mmap(nullptr, spool::kProcessPageBytes, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  ::close(file);
  return SharedPage(mapped == MAP_FAILED ? nullptr : static_cast<spool::ProcessPage*>(mapped));
}

}  // namespace oplens::record

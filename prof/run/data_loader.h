#ifndef OPLENS_PROF_RUN_DATA_LOADER_H_
#define OPLENS_PROF_RUN_DATA_LOADER_H_

#include <string_view>

namespace oplens::prof {

/// Whether a range of the host is the program waiting for its next batch, by its name.
inline bool IsDataLoaderRange(std::string_view name) {
  return name.starts_with("enumerate(DataPipe)#") ||
         (name.starts_with("enumerate(DataLoader)#") &&
          name.find(".__next__") != std::string_view::npos);
}

}  // namespace oplens::prof

#endif  // OPLENS_PROF_RUN_DATA_LOADER_H_

#include "test/views/device_run.h"

#include <fmt/format.h>

#include "test/support/kineto_builder.h"
#include "test/support/test_files.h"

namespace oplens::prof {

std::string WriteRun(const std::string& file, const std::vector<MadeWork>& work, int rank) {
  test::KinetoBuilder builder;
  if (rank >= 0) {
    builder.AddMember("distributedInfo", fmt::format(R"({{"rank": {}, "world_size": 64}})", rank));
  }
  for (const MadeWork& one : work) {
    const bool copy = one.name.starts_with("Memcpy");
    const bool fill = one.name.starts_with("Memset");
    const bool wait = one.name.ends_with("Sync");
    builder.AddDevice(
        copy   ? "gpu_memcpy"
        : fill ? "gpu_memset"
        : wait ? "cuda_sync"
               : "kernel",
        one.name, one.start_ns, one.duration_ns,
        {{"device", fmt::format("{}", one.device)}, {"stream", fmt::format("{}", one.stream)}});
  }
  const auto path = test::TestDir() / file;
  builder.Write(path);
  return path.string();
}

std::vector<test::ViewRow> RowsOver(const View& view, const std::vector<std::string>& paths) {
  return test::RowsOf(*test::PartialOf(view, paths));
}

std::vector<test::ViewRow> MergedRows(const View& view, const std::vector<std::string>& paths) {
  const auto all = view.make({});
  for (const std::string& path : paths) all->Merge(*test::PartialOf(view, {path}));
  return test::RowsOf(*all);
}

}  // namespace oplens::prof

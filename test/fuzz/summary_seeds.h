#ifndef OPLENS_TEST_FUZZ_SUMMARY_SEEDS_H_
#define OPLENS_TEST_FUZZ_SUMMARY_SEEDS_H_

#include <filesystem>
#include <string>
#include <vector>

namespace oplens::test {

/// Writes what all views that save found in profiles, one file a section as summary_fuzz.cc takes
/// them, and a whole summary.
void WriteSummarySeeds(const std::vector<std::string>& profiles,
                       const std::filesystem::path& folder);

}  // namespace oplens::test

#endif  // OPLENS_TEST_FUZZ_SUMMARY_SEEDS_H_

#ifndef OPLENS_TEST_REPORT_CHECKED_PAGE_H_
#define OPLENS_TEST_REPORT_CHECKED_PAGE_H_

#include <cstddef>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "test/report/read_page.h"
#include "test/support/program.h"

namespace oplens::test {

/// Runs this build's `report -v`.
RunResult RunReport(std::vector<std::string> arguments, const RunOptions& options = {});

/// The page of profiles. Fails the test when the exit code is not 0.
ReadPage PageOf(const std::vector<std::string>& inputs, std::vector<std::string> options = {});

/// A row of prof whose decimals have as many digits as those of a page.
nlohmann::json AsOnPages(nlohmann::json row);

/// The tables have the rows that prof prints of the same profiles, with `more` options.
void ExpectTablesOfProf(const ReadPage& page, const std::vector<std::string>& inputs,
                        const std::vector<std::string>& more = {});

/// Lanes and chunks agree with the tables of kernels and copies, and the pyramids with the chunks.
void ExpectTimeline(const ReadPage& page);

/// Links begin before they end: launches before kernels, forward ops before nodes.
void ExpectLinks(const ReadPage& page, size_t least_launches);

}  // namespace oplens::test

#endif  // OPLENS_TEST_REPORT_CHECKED_PAGE_H_

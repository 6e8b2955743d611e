#include "test/report/checked_page.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <set>
#include <utility>

#include "test/support/test_files.h"

namespace oplens::test {

using nlohmann::json;

RunResult RunReport(std::vector<std::string> arguments, const RunOptions& options) {
  arguments.insert(arguments.begin(), {Program("report"), "-v"});
  return RunProgram(arguments, options);
}

ReadPage PageOf(const std::vector<std::string>& inputs, std::vector<std::string> options) {
  const std::string path = (TestDir() / "page.html").string();
  options.insert(options.end(), inputs.begin(), inputs.end());
  options.insert(options.end(), {"-o", path});
  const RunResult result = RunReport(options);
  EXPECT_EQ(result.exit_code, 0) << result.err;
  return ReadPage(ReadFile(path));
}

void ExpectTimeline(const ReadPage& page) {
  const std::vector<json> signatures = page.Signatures();
  const auto& view = page.View("kernels");
  std::multiset<std::string> expected;
  for (const json& row : page.Rows(view.at("fields"), view.at("table"))) {
    if (row.at("sil").is_null()) continue;
    expected.insert(row.at("kernel").get<std::string>() + " " + row.at("sil").dump() + " " +
                    row.at("device").dump() + " " + row.at("stream").dump() + " " +
                    row.at("op").dump() + row.at("flops").dump() + row.at("bytes").dump() +
                    row.at("dir").dump());
  }
  size_t copies = 0;
  const auto& of_copies = page.View("copies");
  if (!of_copies.at("table").is_null()) {
    for (const json& row : page.Rows(of_copies.at("fields"), of_copies.at("table"))) {
      copies += row.at("dur").is_null() ? 0u : 1u;
    }
  }
  std::multiset<std::string> found;
  size_t found_copies = 0;
  for (const json& lane : page.summary().at("timeline").at("lanes")) {
    const std::vector<ReadPage::Event> events = page.EventsOf(lane);
    EXPECT_EQ(lane.at("missing").empty(), events.size() == lane.at("events"));
    int64_t before = INT64_MIN;
    for (const ReadPage::Event& event : events) {
      EXPECT_GE(event.start_ns, before);
      before = event.start_ns;
      const json& signature = signatures.at(event.signature);
      EXPECT_LT(event.depth, lane.at("depth"));
      if (lane.at("kind") == "thread") continue;
      if (signature.at("class") == "copy" || signature.at("class") == "fill") {
        ++found_copies;
        continue;
      }
      found.insert(signature.at("name").get<std::string>() + " " +
                   std::to_string(event.duration_ns) + " " + lane.at("device").dump() + " " +
                   lane.at("stream").dump() + " " + signature.at("op").dump() +
                   signature.at("flops").dump() + signature.at("bytes").dump() +
                   signature.at("dir").dump());
    }
    for (const json& level : lane.at("levels")) {
      size_t begun = 0;
      for (const ReadPage::Bucket& bucket : page.BucketsOf(level)) {
        begun += static_cast<size_t>(bucket.events);
        if (bucket.busy > 0) {
          EXPECT_LT(bucket.signature, signatures.size());
        }
      }
      if (lane.at("kind") == "stream") {
        EXPECT_EQ(begun, lane.at("events"));
      }
    }
  }
  EXPECT_EQ(found, expected);
  EXPECT_EQ(found_copies, copies);
}

void ExpectLinks(const ReadPage& page, size_t least_launches) {
  const json& timeline = page.summary().at("timeline");
  std::vector<std::vector<ReadPage::Event>> lanes;
  for (const json& lane : timeline.at("lanes")) lanes.push_back(page.EventsOf(lane));
  const bool any = !timeline.at("signatures").is_null();
  const std::vector<json> signatures = any ? page.Signatures() : std::vector<json>();
  size_t launches = 0;
  for (const json& of : timeline.at("links")) {
    for (const std::vector<int64_t>& link : page.LinksOf(of)) {
      const auto from_lane = static_cast<size_t>(link[0]);
      const auto to_lane = static_cast<size_t>(link[2]);
      const ReadPage::Event& from = lanes.at(from_lane).at(static_cast<size_t>(link[1]));
      const ReadPage::Event& to = lanes.at(to_lane).at(static_cast<size_t>(link[3]));
      if (of.at("kind") == "critical") {
        EXPECT_TRUE(from_lane != to_lane || timeline["lanes"][from_lane]["kind"] == "stream");
        continue;
      }
      EXPECT_EQ(timeline["lanes"][from_lane]["kind"], "thread");
      if (of.at("kind") == "launch") {
        ++launches;
        EXPECT_EQ(timeline["lanes"][to_lane]["kind"], "stream");
        EXPECT_EQ(signatures[from.signature]["class"], "api");
      } else {
        EXPECT_EQ(timeline["lanes"][to_lane]["kind"], "thread");
        EXPECT_LE(from.start_ns, to.start_ns);
        EXPECT_EQ(signatures[from.signature]["class"], "operator");
      }
    }
  }
  EXPECT_GE(launches, least_launches);
}

}  // namespace oplens::test

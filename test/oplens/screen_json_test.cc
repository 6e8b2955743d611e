// What programs read of oplens and prof: the screen as an object, schemas, tables with few rows.

#include "oplens/screen_json.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "test/support/program.h"
#include "test/support/test_files.h"

namespace oplens::test::screen_json_test {
namespace {

using testing::HasSubstr;
using Json = nlohmann::ordered_json;

const std::string kDemo = SourceDir() + "/examples/data/demo.sql";

RunResult RunOf(const char* program, std::vector<std::string> arguments) {
  arguments.insert(arguments.begin(), Program(program));
  return RunProgram(arguments);
}

/// Whether a value has one of the types that a schema names, at every depth, and no other keys.
bool Agrees(const Json& value, const Json& schema, std::string* why) {
  if (schema.contains("const")) return value == schema["const"];
  if (schema.contains("enum")) {
    return std::ranges::find(schema["enum"], value) != schema["enum"].end();
  }
  const auto is = [&](const Json& type) {
    return type == "null"      ? value.is_null()
           : type == "string"  ? value.is_string()
           : type == "boolean" ? value.is_boolean()
           : type == "integer" ? value.is_number_integer()
           : type == "number"  ? value.is_number()
           : type == "array"   ? value.is_array()
                               : value.is_object();
  };
  const Json& type = schema["type"];
  if (type.is_array() ? std::ranges::none_of(type, is) : !is(type)) {
    *why = value.dump() + " against " + schema.dump();
    return false;
  }
  if (value.is_array() && schema.contains("items")) {
    return std::ranges::all_of(
        value, [&](const Json& item) { return Agrees(item, schema["items"], why); });
  }
  if (!value.is_object() || !schema.contains("properties")) return true;
  for (const auto& [key, member] : value.items()) {
    if (!schema["properties"].contains(key)) {
      *why = "unknown key " + key;
      return false;
    }
    if (!Agrees(member, schema["properties"][key], why)) return false;
  }
  return std::ranges::all_of(
      schema["required"], [&](const Json& key) { return value.contains(key.get<std::string>()); });
}

TEST(ScreenJsonTest, AnEmptyScreenIsUnknownNotZero) {
  const Json screen = screen::JsonOf(screen::Screen());
  std::string why;
  EXPECT_TRUE(Agrees(screen, screen::ScreenSchema(), &why)) << why;
  EXPECT_TRUE(screen["time"].is_null());
  EXPECT_TRUE(screen["gpu"].is_null());
  EXPECT_TRUE(screen["verdict"].is_null());
  EXPECT_TRUE(screen["known"]["op_pct"].is_null());
  EXPECT_EQ(screen["steps"]["source"], "unknown");
}

TEST(ScreenJsonTest, TheProgramPrintsOneObject) {
  const RunResult result = RunOf("oplens", {"--json", kDemo});
  EXPECT_EQ(result.exit_code, 0);
  EXPECT_EQ(std::ranges::count(result.out, '\n'), 1);
  const Json screen = Json::parse(result.out);
  std::string why;
  EXPECT_TRUE(Agrees(screen, screen::ScreenSchema(), &why)) << why;
  EXPECT_EQ(screen["schema"], screen::kScreenSchema);
  EXPECT_EQ(screen["kernels"], 131);
  EXPECT_EQ(screen["ops"]["rows"][0]["name"], "mm");
  double parts_ns = 0;
  for (const Json& part : screen["time"]["parts"]) parts_ns += part["time_ns"].get<double>();
  EXPECT_DOUBLE_EQ(parts_ns, screen["time"]["total_ns"].get<double>());
}

TEST(ScreenJsonTest, ItsSchemaIsPrintedWithoutAFile) {
  const RunResult result = RunOf("oplens", {"--schema"});
  EXPECT_EQ(result.exit_code, 0);
  EXPECT_EQ(Json::parse(result.out), screen::ScreenSchema());
  EXPECT_EQ(RunOf("oplens", {"--json", "--markdown", kDemo}).exit_code, 2);
}

TEST(SchemaTest, EachTableHasOne) {
  std::vector<std::string> tables = {"kernels", "copies", "summary", "overview", "idle", "gate"};
  for (const std::string& table : tables) {
    const RunResult result = RunOf("prof", {"--schema", table});
    ASSERT_EQ(result.exit_code, 0) << result.err;
    const Json schema = Json::parse(result.out);
    EXPECT_EQ(schema["$schema"], "https://json-schema.org/draft/2020-12/schema");
    EXPECT_EQ(schema["version"], "1.0.0");
    EXPECT_FALSE(schema["properties"].empty());
  }
  const RunResult diff = RunOf("prof", {"--schema", "diff"});
  EXPECT_GT(Json::parse(diff.out)["anyOf"].size(), 10U);
  const RunResult wrong = RunOf("prof", {"--schema", "kernel"});
  EXPECT_EQ(wrong.exit_code, 2);
  EXPECT_THAT(wrong.err, HasSubstr("kernels"));
}

TEST(SchemaTest, LinesAgreeWithIt) {
  const std::pair<const char*, std::vector<std::string>> cases[] = {
      {"kernels", {"-c", "all"}},
      {"copies", {"--copies"}},
      {"summary", {"--by", "op,kernel,grid"}},
      {"idle", {"--view", "idle", "--by", "call,op"}},
      {"advice", {"--view", "advice"}},
  };
  for (const auto& [table, words] : cases) {
    std::vector<std::string> arguments = {"--json", "--quiet", kDemo};
    arguments.insert(arguments.begin(), words.begin(), words.end());
    const Json schema = Json::parse(RunOf("prof", {"--schema", table}).out);
    const RunResult result = RunOf("prof", arguments);
    ASSERT_EQ(result.exit_code, 0) << result.err;
    int lines = 0;
    for (size_t at = 0; at < result.out.size(); ++lines) {
      const size_t end = result.out.find('\n', at);
      std::string why;
      EXPECT_TRUE(Agrees(Json::parse(result.out.substr(at, end - at)), schema, &why))
          << table << ": " << why;
      at = end + 1;
    }
    EXPECT_GT(lines, 0);
  }
}

TEST(MaxRowsTest, TheCountOfWhatIsMissingIsSaid) {
  for (const char* format : {"--json", "--blank", "--csv"}) {
    const RunResult result = RunOf("prof", {format, "--max-rows", "3", kDemo});
    EXPECT_EQ(result.exit_code, 0);
    const bool head = std::string(format) != "--json";
    EXPECT_EQ(std::ranges::count(result.out, '\n'), head ? 4 : 3);
    EXPECT_THAT(result.err, HasSubstr("128 more rows, of 131: --max-rows 3"));
  }
  const RunResult all = RunOf("prof", {"--json", "--max-rows", "131", kDemo});
  EXPECT_EQ(std::ranges::count(all.out, '\n'), 131);
  EXPECT_EQ(all.err.find("more rows"), std::string::npos);
}

TEST(MaxRowsTest, ItIsOfEachTable) {
  const RunResult result =
      RunOf("prof", {"--json", "--view", "overview,idle,operators", "--max-rows", "2", kDemo});
  EXPECT_EQ(std::ranges::count(result.out, '\n'), 6);
}

TEST(MaxRowsTest, WhatMakesNoSenseIsRefused) {
  EXPECT_EQ(RunOf("prof", {"--max-rows", "0", kDemo}).exit_code, 2);
  EXPECT_EQ(RunOf("prof", {"--max-rows", "-3", kDemo}).exit_code, 2);
  EXPECT_EQ(RunOf("prof", {"--max-rows", "3", "--check", kDemo}).exit_code, 2);
  const std::string file = TestDir() / "x.db";
  EXPECT_EQ(RunOf("prof", {"--max-rows", "3", "--sqlite", file, "--raw", kDemo}).exit_code, 2);
}

}  // namespace
}  // namespace oplens::test::screen_json_test

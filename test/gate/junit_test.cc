#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <pugixml.hpp>
#include <sstream>
#include <string>
#include <vector>

#include "base/error.h"
#include "prof/gate/gate_output.h"
#include "test/gate/made_diff.h"
#include "test/support/test_files.h"

namespace oplens::prof::junit_test {
namespace {

using test::MadeDiff;
using test::MadeScopes;
using testing::HasSubstr;
namespace fs = std::filesystem;

GateResult Check(std::vector<std::string> expressions, const Diff& diff = MadeDiff()) {
  return Gate::Parse(expressions, false, MadeScopes()).Check(diff);
}

pugi::xml_document Read(const std::string& text) {
  pugi::xml_document document;
  const pugi::xml_parse_result result = document.load_buffer(text.data(), text.size());
  EXPECT_TRUE(result) << result.description() << "\n" << text;
  return document;
}

TEST(JunitTest, HasACaseAnExpression) {
  const std::string text = JunitText(Check({"total>+50%", "op(mm)>+3ms", "memory.peak>+0"}));
  const pugi::xml_document document = Read(text);
  const pugi::xml_node suite = document.child("testsuites").child("testsuite");
  EXPECT_STREQ(suite.attribute("name").value(), "base.json -> new.json");
  EXPECT_STREQ(suite.attribute("tests").value(), "3");
  EXPECT_STREQ(suite.attribute("failures").value(), "1");
  EXPECT_STREQ(suite.attribute("errors").value(), "1");
  std::vector<pugi::xml_node> cases(suite.children("testcase").begin(),
                                    suite.children("testcase").end());
  ASSERT_EQ(cases.size(), 3u);
  EXPECT_FALSE(cases[0].first_child());
  EXPECT_STREQ(cases[1].attribute("name").value(), "op(mm)>+3ms");
  EXPECT_STREQ(cases[1].attribute("classname").value(), "oplens.gate.operators");
  EXPECT_THAT(cases[1].child("failure").text().get(),
              HasSubstr("layer=decoder.0 op=mm shape=[8, 8]: 4.000 ms -> 7.000 ms\n"));
  EXPECT_THAT(cases[2].child("error").attribute("message").value(), HasSubstr("no allocations"));
}

/// Names of the attributes of an element, in their order.
std::vector<std::string> AttributesOf(const pugi::xml_node& node) {
  std::vector<std::string> names;
  for (const pugi::xml_attribute& attribute : node.attributes())
    names.emplace_back(attribute.name());
  return names;
}

// What junit-10.xsd of Jenkins' xUnit plugin allows, and asks for.
TEST(JunitTest, FollowsTheSchema) {
  using testing::ElementsAre;
  const pugi::xml_document document =
      Read(JunitText(Check({"total>+50%", "op(mm)>+3ms", "memory.peak>+0"})));
  const pugi::xml_node suites = document.child("testsuites");
  EXPECT_EQ(suites, document.document_element());
  EXPECT_THAT(AttributesOf(suites), ElementsAre("name", "tests", "failures", "errors", "time"));
  for (const pugi::xml_node& suite : suites.children()) {
    EXPECT_STREQ(suite.name(), "testsuite");
    EXPECT_THAT(AttributesOf(suite), ElementsAre("name", "tests", "failures", "errors", "time"));
    for (const pugi::xml_node& one : suite.children()) {
      EXPECT_STREQ(one.name(), "testcase");
      EXPECT_THAT(AttributesOf(one), ElementsAre("name", "classname", "time"));
      for (const pugi::xml_node& said : one.children()) {
        EXPECT_THAT(said.name(),
                    testing::AnyOf(testing::StrEq("failure"), testing::StrEq("error")));
        EXPECT_THAT(AttributesOf(said), ElementsAre("type", "message"));
      }
    }
  }
}

TEST(JunitTest, TheSameResultGivesTheSameBytes) {
  EXPECT_EQ(JunitText(Check({"total>+5%"})), JunitText(Check({"total>+5%"})));
}

TEST(JunitTest, HostileTextsStayTexts) {
  const std::string hostile =
      std::string("</failure>]]>&<!--\"'\x01\x7f\xff\xfe\n\t\xef\xbf\xbf\xed\xa0\x80", 31) + '\0' +
      "z";
  Diff diff = MadeDiff();
  diff.base_name = hostile;
  for (DiffRow& row : diff.tables[0].rows) row.keys[0] = hostile;
  const std::string text = JunitText(Check({"op(mm)>+0", "op(\"</testsuite>\")>+0"}, diff));
  const pugi::xml_document document = Read(text);
  const pugi::xml_node suite = document.child("testsuites").child("testsuite");
  const pugi::xml_node first = suite.child("testcase");
  EXPECT_THAT(first.child("failure").text().get(), HasSubstr("</failure>]]>&<!--"));
  EXPECT_STREQ(first.next_sibling("testcase").attribute("name").value(), "op(\"</testsuite>\")>+0");
  // Nothing that XML cannot hold, written out or as a reference.
  for (const char c : text) EXPECT_TRUE(c == '\n' || static_cast<unsigned char>(c) >= ' ');
  EXPECT_THAT(text, testing::Not(HasSubstr("&#0")));
  EXPECT_THAT(text, testing::Not(HasSubstr("\xef\xbf\xbf")));
}

TEST(JunitTest, IsWrittenWholeOrNotAtAll) {
  const fs::path path = fs::path(oplens::test::TestTmp()) / "gate_junit.xml";
  WriteJunit(Check({"total>+5%"}), path);
  std::stringstream read;
  read << std::ifstream(path).rdbuf();
  EXPECT_EQ(read.str(), JunitText(Check({"total>+5%"})));
  fs::remove(path);
  EXPECT_THROW(WriteJunit(Check({"total>+5%"}), "/nonexistent/x.xml"), Error);
}

}  // namespace
}  // namespace oplens::prof::junit_test

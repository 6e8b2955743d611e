#ifndef OPLENS_TEST_REPORT_READ_PAGE_H_
#define OPLENS_TEST_REPORT_READ_PAGE_H_

#include <cstdint>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

namespace oplens::test {

/// What raw deflate holds, by zlib. Throws std::runtime_error for damaged bytes.
std::string Inflate(std::string_view bytes);
/// What base64 holds. Throws std::runtime_error for text that is none.
std::string FromBase64(std::string_view text);

/// A page, read back as docs/report_format.md says it and apart from what wrote it.
class ReadPage {
 public:
  /// An event of a chunk; its times from the origin of the rank.
  struct Event {
    uint32_t signature = 0;
    int64_t start_ns = 0;
    int64_t duration_ns = 0;
    int64_t depth = 0;
    friend bool operator==(const Event&, const Event&) = default;
  };
  struct Bucket {
    uint32_t signature = 0;
    int busy = 0;
    int events = 0;
    friend bool operator==(const Bucket&, const Bucket&) = default;
  };

  /// Throws std::runtime_error where it is no page.
  explicit ReadPage(std::string html);

  const std::string& html() const { return html_; }
  const nlohmann::json& summary() const { return summary_; }
  const std::string& title() const { return title_; }
  const std::map<std::string, std::string>& blocks() const { return blocks_; }

  /// The bytes of a block.
  std::string Bytes(const std::string& id) const;
  /// The rows of a table as objects by the keys of `fields`. Integers that are written as texts
  /// are integers.
  std::vector<nlohmann::json> Rows(const nlohmann::json& fields, const std::string& id) const;
  /// The view of that name.
  const nlohmann::json& View(const std::string& name) const;
  std::vector<nlohmann::json> Signatures() const;
  /// The events of one chunk, or of all chunks of a lane.
  std::vector<Event> EventsOf(const nlohmann::json& lane, const nlohmann::json& chunk) const;
  std::vector<Event> EventsOf(const nlohmann::json& lane) const;
  std::vector<Bucket> BucketsOf(const nlohmann::json& level) const;
  /// Four numbers a link.
  std::vector<std::vector<int64_t>> LinksOf(const nlohmann::json& links) const;

 private:
  /// Puts the fields of a table in the place of their numbers.
  static void NameFields(const nlohmann::json& fields, nlohmann::json* table);

  std::string html_;
  std::string title_;
  nlohmann::json summary_;
  std::map<std::string, std::string> blocks_;  // Base64 by id.
};

/// A number of the summary, which is a text beyond 2^53.
int64_t NumberOf(const nlohmann::json& value);

}  // namespace oplens::test

#endif  // OPLENS_TEST_REPORT_READ_PAGE_H_

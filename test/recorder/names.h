#ifndef OPLENS_TEST_RECORDER_NAMES_H_
#define OPLENS_TEST_RECORDER_NAMES_H_

#include <cstddef>
#include <cstdint>
#include <map>
#include <mutex>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace oplens::test_recorder {

/// What the program named or registered. Every object of the process has NVTX code of its own, but
/// there is one table for all of them: the same name has the same number. Safe for threads.
class Names {
 public:
  struct Schema {
    uint64_t id;
    uint32_t domain;
    size_t bytes;  ///< 0: not told.
    std::string name;
  };
  /// A copy of everything.
  struct Content {
    std::vector<std::string> domains;                                 ///< Number 1 first.
    std::vector<std::pair<uint32_t, std::string>> strings;            ///< (domain, text), 1 first.
    std::map<std::pair<uint32_t, uint32_t>, std::string> categories;  ///< By (domain, number).
    std::map<uint32_t, std::string> threads;
    std::vector<Schema> schemas;
  };

  /// The one of this process, which lives until its end.
  static Names& Get();

  uint32_t Domain(std::string_view name);
  uint32_t String(uint32_t domain, std::string_view text);
  void NameCategory(uint32_t domain, uint32_t category, std::string_view name);
  void NameThread(uint32_t thread_id, std::string_view name);
  /// Gives the schema an id whose upper 16 bits are `tag`; keeps an id that the program chose.
  uint64_t AddSchema(uint32_t domain, std::string_view name, size_t bytes, uint64_t tag,
                     uint64_t chosen_id);

  Content Copy() const;

 private:
  mutable std::mutex mutex_;
  Content content_;
  std::map<std::string, uint32_t, std::less<>> domain_ids_;
  std::map<std::pair<uint32_t, std::string>, uint32_t> string_ids_;
};

/// UTF-8 of a wide text. What is no code point becomes U+FFFD. Null: empty.
std::string Narrow(const wchar_t* text);

}  // namespace oplens::test_recorder

#endif  // OPLENS_TEST_RECORDER_NAMES_H_

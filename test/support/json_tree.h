#ifndef OPLENS_TEST_SUPPORT_JSON_TREE_H_
#define OPLENS_TEST_SUPPORT_JSON_TREE_H_

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace oplens::test {

/// A value of a document, as nlohmann's library reads it: without the header of that, which is slow
/// to compile. Paths are "/args/stream"; in a name "/" is "~1". Where nothing is at one, the
/// library throws.
class JsonTree {
 public:
  struct Value;

  /// Throws where `document` is not JSON.
  explicit JsonTree(const std::string& document);

  bool Has(const std::string& path) const;
  /// The value at a path as JSON writes it, names sorted: "7", "\"name\"", "[1,2]".
  std::string At(const std::string& path) const;
  /// The text at a path.
  std::string TextAt(const std::string& path) const;
  int64_t NumberAt(const std::string& path) const;
  double RealAt(const std::string& path) const;
  /// The elements of the array at a path.
  std::vector<JsonTree> ItemsAt(const std::string& path) const;

 private:
  explicit JsonTree(std::shared_ptr<const Value> value);
  std::shared_ptr<const Value> value_;
};

}  // namespace oplens::test

#endif  // OPLENS_TEST_SUPPORT_JSON_TREE_H_

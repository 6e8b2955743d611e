#ifndef OPLENS_OPS_NETWORK_CONFIG_READER_H_
#define OPLENS_OPS_NETWORK_CONFIG_READER_H_

#include <cstdint>
#include <initializer_list>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace oplens::ops {

/// Members of a model's configuration. Each throws Error with one line that names the key if its
/// value is not of the kind asked for.
class ConfigReader {
 public:
  using Names = std::initializer_list<std::string_view>;

  /// Both must outlive this object. `place`: of the object in the file: "text_config.", or "".
  ConfigReader(const nlohmann::ordered_json& object, const std::string& path,
               std::string place = {})
      : object_(object), path_(path), place_(std::move(place)) {}

  bool Has(std::string_view key) const;
  /// The first of `names` that is present and not null, from `least` to kMost.
  std::optional<int64_t> Find(Names names, int64_t least = 1) const;
  int64_t Need(Names names, int64_t least = 1) const;
  int64_t Or(std::string_view key, int64_t otherwise, int64_t least = 1) const {
    return Find({key}, least).value_or(otherwise);
  }
  bool Flag(std::string_view key, bool otherwise) const;
  std::string Text(std::string_view key) const;
  std::vector<std::string> Texts(std::string_view key) const;
  std::vector<int64_t> Integers(std::string_view key) const;
  bool IsList(std::string_view key) const;
  /// How many members an object or array has; nullopt without one.
  std::optional<int64_t> SizeOf(std::string_view key) const;
  /// nullopt if it is absent or null.
  std::optional<ConfigReader> Inside(std::string_view key) const;

  [[noreturn]] void Refuse(std::string_view key, std::string_view problem,
                           std::string_view advice) const;

  static constexpr int64_t kMost = 10'000'000;

 private:
  const nlohmann::ordered_json* Get(std::string_view key) const;

  const nlohmann::ordered_json& object_;
  const std::string& path_;
  std::string place_;
};

}  // namespace oplens::ops

#endif  // OPLENS_OPS_NETWORK_CONFIG_READER_H_

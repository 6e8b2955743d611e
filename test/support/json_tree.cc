#include "test/support/json_tree.h"

#include <nlohmann/json.hpp>
#include <utility>

namespace oplens::test {

struct JsonTree::Value {
  nlohmann::json json;

  const nlohmann::json& At(const std::string& path) const {
    return json.at(nlohmann::json::json_pointer(path));
  }
};

JsonTree::JsonTree(const std::string& document)
    : JsonTree(std::make_shared<const Value>(Value{nlohmann::json::parse(document)})) {}
JsonTree::JsonTree(std::shared_ptr<const Value> value) : value_(std::move(value)) {}

bool JsonTree::Has(const std::string& path) const {
  return value_->json.contains(nlohmann::json::json_pointer(path));
}

std::string JsonTree::At(const std::string& path) const { return value_->At(path).dump(); }
std::string JsonTree::TextAt(const std::string& path) const {
  return value_->At(path).get<std::string>();
}
int64_t JsonTree::NumberAt(const std::string& path) const {
  return value_->At(path).get<int64_t>();
}
double JsonTree::RealAt(const std::string& path) const { return value_->At(path).get<double>(); }

std::vector<JsonTree> JsonTree::ItemsAt(const std::string& path) const {
  std::vector<JsonTree> items;
  for (const nlohmann::json& item : value_->At(path)) {
    items.push_back(JsonTree(std::make_shared<const Value>(Value{item})));
  }
  return items;
}

}  // namespace oplens::test

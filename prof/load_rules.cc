#include "prof/load_rules.h"

#include <fmt/format.h>

#include <fstream>

#include "base/error.h"
#include "base/shown_text.h"
#include "ops/rules/rules.h"

namespace oplens::prof {

ops::Rules LoadRules(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  // One byte more than is allowed, so that what is too long shows.
  std::string text(ops::kMaxRulesBytes + 1, '\0');
  file.read(text.data(), static_cast<std::streamsize>(text.size()));
  if (file.bad() || (file.fail() && !file.eof())) {
    throw UsageError(fmt::format(
        "--rules: cannot read {}; give a file that docs/rules.md describes", ShownText(path)));
  }
  text.resize(static_cast<size_t>(file.gcount()));
  return ops::ReadRules(text, path);
}

}  // namespace oplens::prof

#ifndef OPLENS_PROF_RUN_MODULE_NAMES_H_
#define OPLENS_PROF_RUN_MODULE_NAMES_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

namespace oplens {
struct Range;
}  // namespace oplens

namespace oplens {
struct Trace;
}  // namespace oplens

namespace oplens::parse {
class Joined;
}  // namespace oplens::parse

namespace oplens::prof {

/// How the modules of a run are known.
enum class ModuleSource : uint8_t {
  kNone,
  /// By calls of modules seen by Python's profiler, layers of NVTX, or Lightning's labels.
  kModules,
  kScopes,  ///< Otherwise by the ranges that the program itself names.
};
constexpr size_t WordCountOf(ModuleSource) { return 3; }

/// Which ranges of a trace are calls of modules, and of which.
class ModuleNames {
 public:
  /// `joined` must outlive this object. O(R).
  explicit ModuleNames(const parse::Joined& joined);

  ModuleSource source() const { return source_; }
  /// The module's name, as a view into the trace's strings; nullopt: not a module.
  std::optional<std::string_view> NameOf(size_t range);

 private:
  enum class Known : uint8_t { kUnasked, kNone, kModule, kScope };

  Known KindOf(const Range& range);
  Known AskKind(const Range& range) const;
  /// For a range whose text may be a scope's.
  /// Whether hooks of a framework mark it as a call of a module.
  bool HookedModule(const Range& range) const;
  bool IsScope(size_t range) const;

  const parse::Joined& joined_;
  const Trace& trace_;
  ModuleSource source_ = ModuleSource::kNone;
  std::vector<Known> known_;  // By text of a marker, and by text of a label.
};

}  // namespace oplens::prof

#endif  // OPLENS_PROF_RUN_MODULE_NAMES_H_

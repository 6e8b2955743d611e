#ifndef OPLENS_PROF_MODEL_OPTIONS_H_
#define OPLENS_PROF_MODEL_OPTIONS_H_

#include <memory>

namespace cxxopts {
class Options;
class ParseResult;
}  // namespace cxxopts

namespace oplens::prof {

struct ModelPlan;

/// Declares --model, --seq, --batch, --gpus, --recompute and --convention in `group`.
void AddModelOptions(const char* group, cxxopts::Options* options);

/// Null without --model. Throws UsageError with one line that says what to type instead, Error for
/// a configuration that cannot be read.
std::shared_ptr<const ModelPlan> ReadModelPlan(const cxxopts::ParseResult& given);

}  // namespace oplens::prof

#endif  // OPLENS_PROF_MODEL_OPTIONS_H_

#ifndef OPLENS_PYTHON_COST_H_
#define OPLENS_PYTHON_COST_H_

#include <nanobind/nanobind.h>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace oplens::python {

/// The cost of one call by its name and arguments: of tensors first, then others, which may be
/// numbers, booleans, None, texts and lists of numbers. `dtypes`: one for all tensors, or one each.
/// `gpu`: what --gpu takes; nullopt: no times. Returns a dict; None in it: unknown. Raises
/// UsageError for a call that has no model.
nanobind::dict PriceOp(const std::string& op, const std::vector<std::vector<int64_t>>& shapes,
                       const std::vector<std::string>& dtypes, const nanobind::list& arguments,
                       const std::optional<std::string>& gpu);

}  // namespace oplens::python

#endif  // OPLENS_PYTHON_COST_H_

#ifndef OPLENS_PYTHON_CONVERT_H_
#define OPLENS_PYTHON_CONVERT_H_

#include <nanobind/nanobind.h>

#include <cstddef>

#include "prof/table/arrow_table.h"

namespace oplens::python {

/// A cell as a value of Python; None if it is unknown.
nanobind::object ValueOf(const prof::ArrowColumn& column, size_t row);
/// All values of a column.
nanobind::list ValuesOf(const prof::ArrowColumn& column);

/// Capsules of Arrow's PyCapsule interface.
nanobind::object SchemaCapsule(const prof::ArrowTable& table);
nanobind::object StreamCapsule(std::shared_ptr<const prof::ArrowTable> table);

}  // namespace oplens::python

#endif  // OPLENS_PYTHON_CONVERT_H_

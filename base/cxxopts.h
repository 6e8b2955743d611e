#ifndef OPLENS_BASE_CXXOPTS_H_
#define OPLENS_BASE_CXXOPTS_H_

// Include cxxopts only through this header: it must be configured alike everywhere (no list
// delimiter, because file names may hold commas). Headers only forward-declare its classes.
#define CXXOPTS_VECTOR_DELIMITER '\0'
#include <cxxopts.hpp>

#endif  // OPLENS_BASE_CXXOPTS_H_

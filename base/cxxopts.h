#ifndef OPLENS_BASE_CXXOPTS_H_
#define OPLENS_BASE_CXXOPTS_H_

// All that read a command line include cxxopts through this header, so that they agree on it: names
// of files may hold commas, each argument is one name. Headers declare its classes alone.
#define CXXOPTS_VECTOR_DELIMITER '\0'
#include <cxxopts.hpp>

#endif  // OPLENS_BASE_CXXOPTS_H_

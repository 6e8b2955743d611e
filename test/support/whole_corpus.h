#ifndef OPLENS_TEST_SUPPORT_WHOLE_CORPUS_H_
#define OPLENS_TEST_SUPPORT_WHOLE_CORPUS_H_

#include <gtest/gtest.h>

/// Skips a test that reads all of the corpus where others run the same code over it with
/// sanitizers.
#if defined(OPLENS_SANITIZED)
#define SKIP_WITH_SANITIZERS() GTEST_SKIP() << "others run this code with sanitizers"
#else
#define SKIP_WITH_SANITIZERS() static_cast<void>(0)
#endif

#endif  // OPLENS_TEST_SUPPORT_WHOLE_CORPUS_H_

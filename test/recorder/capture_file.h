#ifndef OPLENS_TEST_RECORDER_CAPTURE_FILE_H_
#define OPLENS_TEST_RECORDER_CAPTURE_FILE_H_

#include <string>

namespace oplens::test_recorder {

/// Writes all names and the events since the last clear, in the format of test_recorder.h. Returns
/// 0, or the errno of what failed.
int WriteCapture(const std::string& path);

}  // namespace oplens::test_recorder

#endif  // OPLENS_TEST_RECORDER_CAPTURE_FILE_H_

#ifndef OPLENS_TEST_SUPPORT_PYTHON_LITERAL_H_
#define OPLENS_TEST_SUPPORT_PYTHON_LITERAL_H_

#include <filesystem>
#include <string>

namespace oplens::test {

/// Whether a python3 was found when the build was configured.
bool HavePython();

/// Reads every line of a file with Python's ast.literal_eval. Returns "" when every line is a dict
/// with string keys, else the number and the fault of the first line that is not.
std::string CheckPythonDictLines(const std::filesystem::path& path);

/// Checks what Python reads where. Each line holds a literal, a tab and the bytes, in hexadecimal,
/// that the string at `place`, e.g. "['args'][0]['value']", stands for as UTF-8 with
/// surrogateescape. Returns "" or the number and the fault of the first line where they differ.
std::string CheckPythonStrings(const std::filesystem::path& path, const std::string& place);

}  // namespace oplens::test

#endif  // OPLENS_TEST_SUPPORT_PYTHON_LITERAL_H_

# The target `coverage`: builds everything, runs the tests, then prints the line coverage of the
# product's folders and writes <build>/coverage.html.
find_program(OPLENS_GCOVR gcovr REQUIRED)
add_custom_target(coverage
  COMMAND ${CMAKE_COMMAND} --build ${PROJECT_BINARY_DIR}
  COMMAND ${CMAKE_CTEST_COMMAND} --output-on-failure
  COMMAND ${OPLENS_GCOVR} --root ${PROJECT_SOURCE_DIR}
          --filter ${PROJECT_SOURCE_DIR}/base/ --filter ${PROJECT_SOURCE_DIR}/parse/
          --filter ${PROJECT_SOURCE_DIR}/ops/ --filter ${PROJECT_SOURCE_DIR}/prof/
          --exclude-throw-branches --print-summary
          --html-details ${PROJECT_BINARY_DIR}/coverage.html --txt ${PROJECT_BINARY_DIR}/coverage.txt
          ${PROJECT_BINARY_DIR}
  WORKING_DIRECTORY ${PROJECT_BINARY_DIR}
  USES_TERMINAL VERBATIM)

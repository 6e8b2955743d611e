# cmake -DPARTS=<build>/parts.txt -P CheckParts.cmake: fails when a part that could be built was not.
file(STRINGS ${PARTS} missing REGEX "^[^ ]+ missing ")
file(STRINGS ${PARTS} built REGEX "^[^ ]+ built ")
if(missing)
  message(FATAL_ERROR "not built although the dependency is there: ${missing}")
endif()
if(NOT built)
  message(FATAL_ERROR "${PARTS} names no part that was built")
endif()

# cmake -DNINJA=ninja -DBUILD=<build> -DTARGET=T -DMOST=N -P CheckSteps.cmake: fails where a build of the target
# from nothing takes more than N steps, or none can be counted.
execute_process(COMMAND ${NINJA} -C ${BUILD} -t commands ${TARGET}
                OUTPUT_VARIABLE commands RESULT_VARIABLE code)
string(REGEX MATCHALL "\n" steps "${commands}")
list(LENGTH steps count)
message(STATUS "${TARGET}: ${count} steps of the build")
if(NOT code EQUAL 0 OR count EQUAL 0)
  message(FATAL_ERROR "the steps of ${TARGET} cannot be counted")
endif()
if(count GREATER MOST)
  message(FATAL_ERROR "${TARGET} takes ${count} steps to build; ${MOST} are the most: docs/architecture.md")
endif()

# Which parts of oplens this build holds.
#
# oplens_part(NAME [DEPENDENCY D] [TARGET T]) records one part. Its state is
#   built    the target T exists;
#   left-out it does not, and the dependency D was not found either;
#   missing  it does not although D was found (or no dependency is needed): a fault of the build,
#            the test house.parts fails;
#   planned  no target is named: the part belongs to a later release.
# oplens_print_parts() prints all of them and writes <build>/parts.txt, a line a part:
#   NAME STATE DEPENDENCY found|not-found   ("-" where there is no dependency)

option(OPLENS_ALL_PARTS "Stop where a part would be left out" OFF)
set(OPLENS_CUDA_HEADERS "" CACHE PATH
    "Folder with the headers of CUPTI, NVTX and the runtime, where no CUDA Toolkit is (scripts/common.sh)")

find_package(CUDAToolkit QUIET)
set(oplens_has_CUDAToolkit ${CUDAToolkit_FOUND})
if(NOT CUDAToolkit_FOUND AND OPLENS_CUDA_HEADERS)
  set(CUDAToolkit_INCLUDE_DIRS ${OPLENS_CUDA_HEADERS})
endif()

find_path(OPLENS_NVTX_INCLUDE_DIR nvtx3/nvToolsExt.h HINTS ${CUDAToolkit_INCLUDE_DIRS})
mark_as_advanced(OPLENS_NVTX_INCLUDE_DIR)
set(oplens_has_NVTX 0)
if(OPLENS_NVTX_INCLUDE_DIR)
  set(oplens_has_NVTX 1)
endif()

find_path(OPLENS_CUPTI_INCLUDE_DIR cupti.h
          HINTS ${CUDAToolkit_INCLUDE_DIRS} ${CUDAToolkit_LIBRARY_ROOT}/extras/CUPTI/include)
mark_as_advanced(OPLENS_CUPTI_INCLUDE_DIR)
# The records of CUDA 13, of which those of earlier versions are the beginning.
set(oplens_has_CUPTI 0)
if(OPLENS_NVTX_INCLUDE_DIR AND OPLENS_CUPTI_INCLUDE_DIR)
  file(STRINGS ${OPLENS_CUPTI_INCLUDE_DIR}/cupti_activity.h oplens_newest_kernel
       REGEX "CUpti_ActivityKernel10;")
  if(oplens_newest_kernel)
    set(oplens_has_CUPTI 1)
  endif()
endif()

include(OplensFindTorch)
set(oplens_has_Torch 0)
# The adaptor emits NVTX ranges.
if(OPLENS_TORCH_CONFIG AND OPLENS_NVTX_INCLUDE_DIR)
  set(oplens_has_Torch 1)
endif()

function(oplens_part name)
  cmake_parse_arguments(ARG "" "DEPENDENCY;TARGET" "" ${ARGN})
  set(dependency -)
  set(found -)
  set(available 1)
  if(ARG_DEPENDENCY)
    set(dependency ${ARG_DEPENDENCY})
    set(found not-found)
    set(available 0)
    if(oplens_has_${ARG_DEPENDENCY})
      set(found found)
      set(available 1)
    endif()
  endif()

  if(NOT ARG_TARGET)
    set(state planned)
  elseif(TARGET ${ARG_TARGET})
    set(state built)
  elseif(available)
    set(state missing)
  else()
    set(state left-out)
  endif()
  set_property(GLOBAL APPEND PROPERTY OPLENS_PARTS "${name} ${state} ${dependency} ${found}")
endfunction()

function(oplens_print_parts)
  get_property(parts GLOBAL PROPERTY OPLENS_PARTS)
  set(text "")
  message(STATUS "oplens parts:")
  foreach(part IN LISTS parts)
    string(APPEND text "${part}\n")
    string(REPLACE " " ";" fields ${part})
    list(GET fields 0 name)
    list(GET fields 1 state)
    list(GET fields 2 dependency)
    list(GET fields 3 found)
    set(why "")
    if(state STREQUAL planned)
      set(why " (comes later)")
    endif()
    if(NOT dependency STREQUAL -)
      string(REPLACE - " " found ${found})
      string(APPEND why ", ${dependency} ${found}")
    endif()
    message(STATUS "  ${name}: ${state}${why}")
    if(OPLENS_ALL_PARTS AND state STREQUAL left-out)
      message(SEND_ERROR "${name} is left out: ${dependency} was not found")
    endif()
  endforeach()
  file(WRITE ${PROJECT_BINARY_DIR}/parts.txt "${text}")
endfunction()

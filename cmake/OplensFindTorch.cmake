# Which PyTorch the adaptor is for, OPLENS_TORCH: sets OPLENS_TORCH_CONFIG, its package file, and
# OPLENS_TORCH_PYTHON, the Python that it belongs to, where there is one. The package file changes
# global flags and may stop the configuration, so it is looked for and never loaded: it tells where the
# headers and libraries are (OplensTorch.cmake).
set(OPLENS_TORCH "" CACHE STRING
    "PyTorch of the adaptor. Empty: the system's; pip: that of python3; or a path: of a Python, or of a folder torch")

if(NOT OPLENS_TORCH STREQUAL "${OPLENS_TORCH_FOUND_FOR}")
  # What was found for another one.
  unset(OPLENS_TORCH_CONFIG CACHE)
  unset(OPLENS_TORCH_PYTHON CACHE)
  unset(OPLENS_TORCH_INCLUDE_DIR CACHE)
  foreach(name torch torch_cpu c10)
    unset(OPLENS_TORCH_LIBRARY_${name} CACHE)
  endforeach()
endif()
set(OPLENS_TORCH_FOUND_FOR "${OPLENS_TORCH}" CACHE INTERNAL "What OPLENS_TORCH was")

# The folder torch that a Python imports.
function(oplens_torch_of_python python result)
  execute_process(
    COMMAND ${python} -c "import importlib.util, os; print(os.path.dirname(importlib.util.find_spec('torch').origin))"
    OUTPUT_VARIABLE folder OUTPUT_STRIP_TRAILING_WHITESPACE RESULT_VARIABLE failed ERROR_QUIET)
  if(failed)
    message(FATAL_ERROR "OPLENS_TORCH: ${python} has no PyTorch")
  endif()
  set(${result} ${folder} PARENT_SCOPE)
endfunction()

if(OPLENS_TORCH AND NOT OPLENS_TORCH_CONFIG)
  set(oplens_torch_python "")
  if(OPLENS_TORCH STREQUAL "pip")
    find_program(OPLENS_TORCH_PYTHON NAMES python3 REQUIRED)
    set(oplens_torch_python ${OPLENS_TORCH_PYTHON})
    oplens_torch_of_python(${oplens_torch_python} oplens_torch_folder)
  elseif(IS_DIRECTORY ${OPLENS_TORCH})
    set(oplens_torch_folder ${OPLENS_TORCH})
    # Of a virtual environment, or of an installation: PREFIX/lib/python3.11/site-packages/torch.
    find_program(OPLENS_TORCH_PYTHON NAMES python3 PATHS ${OPLENS_TORCH}/../../../../bin NO_DEFAULT_PATH)
  elseif(EXISTS ${OPLENS_TORCH})
    set(oplens_torch_python ${OPLENS_TORCH})
    oplens_torch_of_python(${oplens_torch_python} oplens_torch_folder)
  else()
    message(FATAL_ERROR "OPLENS_TORCH: there is no ${OPLENS_TORCH}")
  endif()
  if(oplens_torch_python)
    set(OPLENS_TORCH_PYTHON ${oplens_torch_python} CACHE FILEPATH "The Python that PyTorch belongs to" FORCE)
  endif()
  set(oplens_torch_config ${oplens_torch_folder}/share/cmake/Torch/TorchConfig.cmake)
  if(NOT EXISTS ${oplens_torch_config})
    message(FATAL_ERROR "OPLENS_TORCH: ${oplens_torch_folder} has no share/cmake/Torch/TorchConfig.cmake")
  endif()
  set(OPLENS_TORCH_CONFIG ${oplens_torch_config} CACHE FILEPATH "PyTorch's package file" FORCE)
endif()
find_file(OPLENS_TORCH_CONFIG TorchConfig.cmake
          PATH_SUFFIXES share/cmake/Torch lib/cmake/Torch lib/${CMAKE_LIBRARY_ARCHITECTURE}/cmake/Torch)
mark_as_advanced(OPLENS_TORCH_CONFIG OPLENS_TORCH_PYTHON)

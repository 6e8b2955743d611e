# The interface target oplens_libtorch: headers and libraries of PyTorch, found beside its package
# file (OPLENS_TORCH_CONFIG); OPLENS_TORCH_SONAME, the name by which programs load it; and
# OPLENS_TORCH_MAJOR, the first number of its version. No target where they are not found.
if(NOT OPLENS_TORCH_CONFIG)
  return()
endif()

# PREFIX/share/cmake/Torch, PREFIX/lib/cmake/Torch or PREFIX/lib/ARCHITECTURE/cmake/Torch
string(REGEX REPLACE "/(share|lib|lib/[^/]+)/cmake/Torch/TorchConfig.cmake$" ""
       oplens_torch_prefix ${OPLENS_TORCH_CONFIG})
find_path(OPLENS_TORCH_INCLUDE_DIR ATen/record_function.h HINTS ${oplens_torch_prefix}/include)
mark_as_advanced(OPLENS_TORCH_INCLUDE_DIR)
set(oplens_torch_libraries "")
foreach(name torch torch_cpu c10)
  find_library(OPLENS_TORCH_LIBRARY_${name} ${name} HINTS ${oplens_torch_prefix}/lib)
  mark_as_advanced(OPLENS_TORCH_LIBRARY_${name})
  if(NOT OPLENS_TORCH_LIBRARY_${name})
    set(oplens_torch_libraries NOTFOUND)
    break()
  endif()
  list(APPEND oplens_torch_libraries ${OPLENS_TORCH_LIBRARY_${name}})
endforeach()
if(NOT OPLENS_TORCH_INCLUDE_DIR OR NOT oplens_torch_libraries)
  message(WARNING "${OPLENS_TORCH_CONFIG} has no headers and libraries beside it: no adaptor for PyTorch")
  return()
endif()

add_library(oplens_libtorch INTERFACE)
# The directory itself may be /usr/include, which must not come first.
target_include_directories(oplens_libtorch SYSTEM INTERFACE
  ${OPLENS_TORCH_INCLUDE_DIR}/torch/csrc/api/include)
if(NOT OPLENS_TORCH_INCLUDE_DIR STREQUAL "/usr/include")
  target_include_directories(oplens_libtorch SYSTEM INTERFACE ${OPLENS_TORCH_INCLUDE_DIR})
endif()
target_link_libraries(oplens_libtorch INTERFACE ${oplens_torch_libraries})
# The ABI of the standard library that PyTorch was built with.
file(STRINGS ${OPLENS_TORCH_CONFIG} oplens_torch_abi REGEX "_GLIBCXX_USE_CXX11_ABI=[01]")
if(oplens_torch_abi MATCHES "(_GLIBCXX_USE_CXX11_ABI=[01])")
  target_compile_definitions(oplens_libtorch INTERFACE ${CMAKE_MATCH_1})
endif()

foreach(header torch/headeronly/version.h torch/csrc/api/include/torch/version.h)
  if(EXISTS ${OPLENS_TORCH_INCLUDE_DIR}/${header})
    file(STRINGS ${OPLENS_TORCH_INCLUDE_DIR}/${header} oplens_torch_major REGEX "define TORCH_VERSION_MAJOR")
    string(REGEX REPLACE ".* " "" oplens_torch_major "${oplens_torch_major}")
    set(OPLENS_TORCH_MAJOR ${oplens_torch_major} CACHE INTERNAL "The first number of PyTorch's version")
    break()
  endif()
endforeach()

execute_process(COMMAND ${CMAKE_READELF} -d ${OPLENS_TORCH_LIBRARY_torch_cpu}
                OUTPUT_VARIABLE oplens_torch_dynamic ERROR_QUIET)
set(OPLENS_TORCH_SONAME libtorch_cpu.so)
if(oplens_torch_dynamic MATCHES "SONAME[^\n]*\\[([^]\n]+)\\]")
  set(OPLENS_TORCH_SONAME ${CMAKE_MATCH_1})
endif()

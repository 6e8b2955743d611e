# `cpack -G DEB` in the build folder: oplens (programs, manual pages, completion, documents),
# liboplens-dev (libraries and headers), and oplens-torch (the adaptor, where it was built). The test
# house.deb builds, checks and installs them.
set(OPLENS_MAINTAINER "The oplens authors <oplens@packages.example.org>" CACHE STRING
    "Maintainer that the packages name")
mark_as_advanced(OPLENS_MAINTAINER)

set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_NAME oplens)
set(CPACK_PACKAGE_VENDOR oplens)
set(CPACK_PACKAGE_CONTACT "${OPLENS_MAINTAINER}")
set(CPACK_PACKAGE_DIRECTORY ${PROJECT_BINARY_DIR}/packages)
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_INSTALL_DEFAULT_DIRECTORY_PERMISSIONS
    OWNER_READ OWNER_WRITE OWNER_EXECUTE GROUP_READ GROUP_EXECUTE WORLD_READ WORLD_EXECUTE)
set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_COMPONENTS_ALL oplens dev)
if(TARGET oplens_torch)
  list(APPEND CPACK_COMPONENTS_ALL torch)
endif()

set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_MAINTAINER "${OPLENS_MAINTAINER}")
set(CPACK_DEBIAN_PACKAGE_RELEASE 1)
set(CPACK_DEBIAN_PACKAGE_PRIORITY optional)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_PACKAGE_GENERATE_SHLIBS ON)
set(CPACK_DEBIAN_PACKAGE_GENERATE_SHLIBS_POLICY ">=")
set(CPACK_DEBIAN_PACKAGE_CONTROL_STRICT_PERMISSION ON)
set(oplens_debian ${PROJECT_SOURCE_DIR}/cmake/debian)
set(oplens_exactly "(= ${PROJECT_VERSION}-${CPACK_DEBIAN_PACKAGE_RELEASE})")

set(CPACK_DEBIAN_OPLENS_PACKAGE_NAME oplens)
set(CPACK_DEBIAN_OPLENS_PACKAGE_SECTION utils)
set(CPACK_DEBIAN_OPLENS_DESCRIPTION "which op launched each GPU kernel
Reads profiles of GPU programs (nvprof, Nsight Systems, PyTorch's profiler),
or records them, and tells for each kernel the op, layer and call stack that
launched it, its sizes, FLOPs and bytes, and whether it used Tensor Cores.
Writes tables, databases, timelines, and a page for any browser.")

set(CPACK_DEBIAN_OPLENS_PACKAGE_CONTROL_EXTRA ${oplens_debian}/triggers)

set(CPACK_DEBIAN_DEV_PACKAGE_NAME liboplens-dev)
set(CPACK_DEBIAN_DEV_PACKAGE_SECTION libdevel)
set(CPACK_DEBIAN_DEV_PACKAGE_SHLIBDEPS OFF)
# What find_package(oplens) looks for: the libraries that scripts/packages.txt names for the build.
file(STRINGS ${PROJECT_SOURCE_DIR}/scripts/packages.txt oplens_libraries
     REGEX "^[a-z0-9.+-]*(-dev|pkg-config) +build$")
list(TRANSFORM oplens_libraries REPLACE " +build$" "")
list(REMOVE_ITEM oplens_libraries libcxxopts-dev)
list(JOIN oplens_libraries ", " oplens_libraries)
set(CPACK_DEBIAN_DEV_PACKAGE_DEPENDS "oplens ${oplens_exactly}, ${oplens_libraries}")
set(CPACK_DEBIAN_DEV_DESCRIPTION "libraries and headers of oplens
Records of GPU kernels, costs of the ops of neural networks, and annotations
for programs that are profiled, for C++ and C, with a package file for CMake.")

set(CPACK_DEBIAN_TORCH_PACKAGE_NAME oplens-torch)
set(CPACK_DEBIAN_TORCH_PACKAGE_SECTION python)
set(CPACK_DEBIAN_TORCH_PACKAGE_DEPENDS "oplens ${oplens_exactly}, python3")
set(CPACK_DEBIAN_TORCH_PACKAGE_RECOMMENDS python3-torch)
set(CPACK_DEBIAN_TORCH_PACKAGE_CONTROL_EXTRA ${oplens_debian}/prerm ${oplens_debian}/triggers)
set(CPACK_DEBIAN_TORCH_DESCRIPTION "annotates PyTorch programs for oplens
A Python package and libraries that let an unchanged PyTorch program say which
op, layer and call stack each of its GPU kernels is of, while a profiler
records it.")

# What Debian wants beside the files that every installation has.
set(CPACK_PRE_BUILD_SCRIPTS ${PROJECT_SOURCE_DIR}/cmake/DebianFiles.cmake)
set(CPACK_OPLENS_SOURCE ${PROJECT_SOURCE_DIR})
set(CPACK_OPLENS_STRIP ${CMAKE_STRIP})
include(CPack)

# What `cmake --install` adds beside the programs and libraries: headers and the package `oplens`.
include(CMakePackageConfigHelpers)

set(oplens_package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/oplens)

foreach(folder nvtx_annotate base parse ops prof record)
  install(DIRECTORY ${PROJECT_SOURCE_DIR}/${folder} DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/oplens
          FILES_MATCHING PATTERN "*.h" PATTERN inject EXCLUDE)
endforeach()

install(EXPORT oplensTargets NAMESPACE oplens:: DESTINATION ${oplens_package_dir})
configure_package_config_file(
  ${PROJECT_SOURCE_DIR}/cmake/oplensConfig.cmake.in ${PROJECT_BINARY_DIR}/oplensConfig.cmake
  INSTALL_DESTINATION ${oplens_package_dir})
write_basic_package_version_file(
  ${PROJECT_BINARY_DIR}/oplensConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/oplensConfig.cmake ${PROJECT_BINARY_DIR}/oplensConfigVersion.cmake
        DESTINATION ${oplens_package_dir})
install(FILES ${PROJECT_SOURCE_DIR}/LICENSE DESTINATION ${CMAKE_INSTALL_DOCDIR})

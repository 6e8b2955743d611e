# What `cmake --install` adds beside the programs and libraries: the public headers and the package
# `oplens`.
include(CMakePackageConfigHelpers)

set(oplens_package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/oplens)

# The headers that others may include: docs/library.md. Each says so in its first lines, and includes
# no others of the project; the test house.package checks both.
foreach(header
    base/checked.h
    base/error.h
    base/hash.h
    base/work_meter.h
    engine/query.h
    engine/run.h
    nvtx_annotate/annotate.h
    nvtx_annotate/oplens_annotate.h
    nvtx_annotate/schedule.h
    nvtx_annotate/torch/torch_annotate.h
    ops/dtype.h
    ops/op_model.h
    parse/model/dim3.h
    parse/model/evidence.h
    parse/model/kernel_record.h
    parse/model/messages.h
    parse/model/op_call.h
    parse/model/phase.h
    parse/model/reason.h
    prof/table/cell.h
    prof/table/field.h
    prof/table/kept_rows.h
    prof/table/sink.h)
  cmake_path(GET header PARENT_PATH folder)
  install(FILES ${PROJECT_SOURCE_DIR}/${header}
          DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/oplens/${folder} COMPONENT dev)
endforeach()

install(EXPORT oplensTargets NAMESPACE oplens:: DESTINATION ${oplens_package_dir}
        COMPONENT dev)
configure_package_config_file(
  ${PROJECT_SOURCE_DIR}/cmake/oplensConfig.cmake.in ${PROJECT_BINARY_DIR}/oplensConfig.cmake
  INSTALL_DESTINATION ${oplens_package_dir})
write_basic_package_version_file(
  ${PROJECT_BINARY_DIR}/oplensConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/oplensConfig.cmake ${PROJECT_BINARY_DIR}/oplensConfigVersion.cmake
        DESTINATION ${oplens_package_dir} COMPONENT dev)

# What help and messages name as docs/..., and what is beside it.
file(GLOB oplens_documents ${PROJECT_SOURCE_DIR}/docs/*.md ${PROJECT_SOURCE_DIR}/docs/*.png)
install(FILES ${oplens_documents} DESTINATION ${CMAKE_INSTALL_DOCDIR}/docs)
install(FILES ${PROJECT_SOURCE_DIR}/LICENSE ${PROJECT_SOURCE_DIR}/README.md
              ${PROJECT_SOURCE_DIR}/CHANGELOG.md
        DESTINATION ${CMAKE_INSTALL_DOCDIR})
install(FILES ${PROJECT_SOURCE_DIR}/examples/data/demo.sql
        DESTINATION ${CMAKE_INSTALL_DOCDIR}/examples/data)

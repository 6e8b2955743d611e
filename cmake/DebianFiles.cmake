# Run by cpack on what it packs: adds copyright and changelog of each package, strips programs and
# libraries, and puts the Python package where Python finds it.
set(source ${CPACK_OPLENS_SOURCE})
foreach(component IN LISTS CPACK_COMPONENTS_ALL)
  string(TOUPPER ${component} key)
  set(root ${CPACK_TEMPORARY_DIRECTORY}/${component}/usr)
  set(docs ${root}/share/doc/${CPACK_DEBIAN_${key}_PACKAGE_NAME})
  file(MAKE_DIRECTORY ${docs})

  configure_file(${source}/cmake/debian/copyright.in ${docs}/copyright @ONLY NEWLINE_STYLE UNIX)
  if(component STREQUAL oplens)
    # The page that `report` writes holds libraries: their licences.
    file(READ ${source}/report/page/dist/LICENSES.txt licences)
    file(APPEND ${docs}/copyright "\nFiles: /usr/bin/oplens\n"
         "Comment: holds the page that report writes, and in that these libraries.\n"
         "Copyright: see below\nLicense: ISC and Expat and BSD-3-Clause\n\n"
         "License: ISC and Expat and BSD-3-Clause\n")
    string(REGEX REPLACE "[ \t]+\n" "\n" licences "${licences}")
    string(REGEX REPLACE "\n\n+" "\n.\n" licences "${licences}")
    string(REGEX REPLACE "\n+$" "" licences "${licences}")
    string(REPLACE "\n" "\n " licences "${licences}")
    file(APPEND ${docs}/copyright " ${licences}\n")
    file(REMOVE ${docs}/LICENSE)
    file(RENAME ${docs}/CHANGELOG.md ${docs}/changelog)
    execute_process(COMMAND gzip -9nf ${docs}/changelog COMMAND_ERROR_IS_FATAL ANY)
  endif()

  string(TIMESTAMP date "%a, %d %b %Y %H:%M:%S +0000" UTC)
  file(WRITE ${docs}/changelog.Debian
    "oplens (${CPACK_PACKAGE_VERSION}-${CPACK_DEBIAN_PACKAGE_RELEASE}) unstable; urgency=medium\n\n"
    "  * Built from the sources of ${CPACK_PACKAGE_VERSION}; what is new: CHANGELOG.md.\n\n"
    " -- ${CPACK_DEBIAN_PACKAGE_MAINTAINER}  ${date}\n")
  execute_process(COMMAND gzip -9nf ${docs}/changelog.Debian COMMAND_ERROR_IS_FATAL ANY)

  file(GLOB libraries ${root}/lib/*.so ${root}/lib/*.so.*)
  foreach(library IN LISTS libraries)
    if(NOT IS_SYMLINK ${library})
      # Debian: libraries are no programs.
      file(CHMOD ${library} PERMISSIONS OWNER_READ OWNER_WRITE GROUP_READ WORLD_READ)
      execute_process(COMMAND ${CPACK_OPLENS_STRIP} --strip-unneeded --remove-section=.comment
                              --remove-section=.note ${library} COMMAND_ERROR_IS_FATAL ANY)
    endif()
  endforeach()
  file(GLOB programs ${root}/bin/*)
  foreach(program IN LISTS programs)
    if(NOT IS_SYMLINK ${program})
      execute_process(COMMAND ${CPACK_OPLENS_STRIP} --remove-section=.comment --remove-section=.note
                              ${program} COMMAND_ERROR_IS_FATAL ANY)
    endif()
  endforeach()
  file(GLOB archives ${root}/lib/*.a)
  foreach(archive IN LISTS archives)
    execute_process(COMMAND ${CPACK_OPLENS_STRIP} --strip-debug --remove-section=.comment
                            --remove-section=.note ${archive} COMMAND_ERROR_IS_FATAL ANY)
  endforeach()
  if(component STREQUAL torch)
    file(MAKE_DIRECTORY ${root}/lib/python3/dist-packages)
    file(CREATE_LINK ../../oplens/oplens_annotate
         ${root}/lib/python3/dist-packages/oplens_annotate SYMBOLIC)
  endif()
  # Whatever the umask.
  execute_process(COMMAND chmod -R u=rwX,go=rX ${root} COMMAND_ERROR_IS_FATAL ANY)
endforeach()

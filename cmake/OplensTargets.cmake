# Helpers of the build: one place for warnings, libraries and programs.

# What Debian builds its packages with. Everywhere, so that precompiled headers agree; programs are
# linked as position-independent ones, which g++ and clang of Debian compile for unasked.
if(OPLENS_HARDENED)
  add_compile_options(-D_FORTIFY_SOURCE=2 -fstack-protector-strong)
  add_link_options(LINKER:-z,relro LINKER:-z,now
                   $<$<STREQUAL:$<TARGET_PROPERTY:TYPE>,EXECUTABLE>:-pie>)
endif()

add_library(oplens_options INTERFACE)
target_compile_options(oplens_options INTERFACE
  -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wsign-conversion -Wnon-virtual-dtor
  -Woverloaded-virtual -Wold-style-cast -Wcast-qual -Wformat=2
  $<$<BOOL:${OPLENS_WERROR}>:-Werror>)
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS 13)
  # gcc 12 warns about std::string's own operator+ at -O3 (gcc bug 105651).
  target_compile_options(oplens_options INTERFACE -Wno-restrict)
endif()
if(CMAKE_UNITY_BUILD AND CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  # To gcc the sources of a batch are headers, in which types of an unnamed namespace would be wrong.
  target_compile_options(oplens_options INTERFACE -Wno-subobject-linkage)
endif()
if(OPLENS_SANITIZE)
  # A target with the property OPLENS_UNCHECKED is linked with the sanitizers and not looked at itself.
  target_compile_options(oplens_options INTERFACE
    $<$<NOT:$<BOOL:$<TARGET_PROPERTY:OPLENS_UNCHECKED>>>:-fsanitize=${OPLENS_SANITIZE}>
    -fno-omit-frame-pointer
    $<$<NOT:$<BOOL:$<TARGET_PROPERTY:OPLENS_UNCHECKED>>>:-fno-sanitize-recover=all>)
  if(OPLENS_SANITIZE MATCHES undefined)
    # Null pointers and sizes of objects are checked by the address sanitizer too. Together these checks
    # take a quarter of the time to compile, and half of the code.
    target_compile_options(oplens_options INTERFACE -fno-sanitize=null,alignment,object-size,vptr)
  endif()
  target_link_options(oplens_options INTERFACE -fsanitize=${OPLENS_SANITIZE})
  if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
    # The instrumented standard library makes gcc 12 warn about itself.
    target_compile_options(oplens_options INTERFACE -Wno-maybe-uninitialized)
  endif()
endif()
if(OPLENS_COVERAGE)
  target_compile_options(oplens_options INTERFACE --coverage)
  target_link_options(oplens_options INTERFACE --coverage)
endif()

# How the libraries of programs are compiled: so that the Python module, a shared library, is linked of the same
# objects, which the compiler cache then has. Hidden, a function is called as in a program.
set(oplens_code_options -fPIC -fvisibility=hidden -fvisibility-inlines-hidden)

# oplens_compact: for libraries whose code runs between the ops of a program, which it then finds in the
# processor's cache no longer: lines of instructions that are met once cost more than instructions do. Without
# copies of code, padding and stubs of calls a step of small ops meets 15 % fewer of ours (cachegrind).
add_library(oplens_compact INTERFACE)
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  target_compile_options(oplens_compact INTERFACE
    "$<$<CONFIG:Release,RelWithDebInfo>:-O2;-fno-plt;-fno-align-functions;-fno-align-jumps;-fno-align-loops>")
endif()

# oplens_precompiled(NAME HEADERS ... [LINK ...] [OPTIONS ...]): headers that many targets include,
# compiled once. oplens_use_precompiled(TARGET NAME) gives them, and the options, to a target. Files
# include what they need all the same: the preset `dev` builds without this.
function(oplens_precompiled name)
  cmake_parse_arguments(ARG "" "" "HEADERS;LINK;OPTIONS" ${ARGN})
  file(CONFIGURE OUTPUT ${CMAKE_CURRENT_BINARY_DIR}/${name}.cc CONTENT "")
  add_library(${name} OBJECT EXCLUDE_FROM_ALL ${CMAKE_CURRENT_BINARY_DIR}/${name}.cc)
  target_link_libraries(${name} PRIVATE ${ARG_LINK} oplens_options)
  # Some libraries ask for -pthread; what is precompiled must agree.
  set_target_properties(${name} PROPERTIES OPLENS_OPTIONS "-pthread;${oplens_code_options};${ARG_OPTIONS}")
  target_compile_options(${name} PRIVATE -pthread ${oplens_code_options} ${ARG_OPTIONS})
  target_precompile_headers(${name} PRIVATE ${ARG_HEADERS})
endfunction()

function(oplens_use_precompiled target name)
  get_target_property(options ${name} OPLENS_OPTIONS)
  target_compile_options(${target} PRIVATE ${options})
  if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS 13)
    # gcc 12 warns about std::string's own copies, and forgets that precompiled headers are the system's.
    target_compile_options(${target} PRIVATE
      -Wno-array-bounds -Wno-stringop-overflow -Wno-stringop-overread)
  endif()
  target_precompile_headers(${target} REUSE_FROM ${name})
endfunction()

# oplens_library(NAME [STANDARD S] [PRECOMPILED P] SOURCES ... LINK ...): the static library
# oplens_NAME, alias oplens::NAME. S is the C++ standard that its users need at least, 20 by default; P
# its precompiled headers.
function(oplens_library name)
  cmake_parse_arguments(ARG "" "STANDARD;PRECOMPILED" "SOURCES;LINK" ${ARGN})
  if(NOT ARG_STANDARD)
    set(ARG_STANDARD 20)
  endif()
  add_library(oplens_${name} STATIC ${ARG_SOURCES})
  add_library(oplens::${name} ALIAS oplens_${name})
  set_target_properties(oplens_${name} PROPERTIES EXPORT_NAME ${name})
  target_compile_features(oplens_${name} PUBLIC cxx_std_${ARG_STANDARD})
  target_include_directories(oplens_${name} PUBLIC
    $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}> $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}/oplens>)
  target_link_libraries(oplens_${name} PUBLIC ${ARG_LINK} PRIVATE $<BUILD_INTERFACE:oplens_options>)
  if(NOT ARG_PRECOMPILED)
    set(ARG_PRECOMPILED oplens_common_headers)
  endif()
  if(ARG_STANDARD EQUAL 20)
    oplens_use_precompiled(oplens_${name} ${ARG_PRECOMPILED})
  endif()
  install(TARGETS oplens_${name} EXPORT oplensTargets
          ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT dev)
endfunction()

# oplens_manual(NAME): the manual page of the program NAME and its completion for bash and zsh, which it
# prints itself (base/help_options.h), as installed: ${OPLENS_PREFIX}NAME, but for `oplens`. Call it where
# the target oplens_program is.
find_program(OPLENS_GZIP gzip)
mark_as_advanced(OPLENS_GZIP)
function(oplens_manual name)
  set(installed ${OPLENS_PREFIX}${name})
  if(name STREQUAL oplens)
    set(installed oplens)
  endif()
  set(folder ${PROJECT_BINARY_DIR}/manual)
  file(MAKE_DIRECTORY ${folder})
  set(page ${folder}/${installed}.1)
  set(packed "")
  if(OPLENS_GZIP)
    # Without a name and a time in it: the same page gives the same file.
    set(packed COMMAND ${OPLENS_GZIP} -9nf ${page})
    set(page ${page}.gz)
  endif()
  set(program ${CMAKE_RUNTIME_OUTPUT_DIRECTORY}/${name})
  add_custom_command(OUTPUT ${page} ${folder}/${installed}.bash ${folder}/_${installed}
    COMMAND ${program} --manual man,${OPLENS_PREFIX} > ${folder}/${installed}.1
    ${packed}
    COMMAND ${program} --manual bash,${OPLENS_PREFIX} > ${folder}/${installed}.bash
    COMMAND ${program} --manual zsh,${OPLENS_PREFIX} > ${folder}/_${installed}
    DEPENDS oplens_program VERBATIM)
  add_custom_target(oplens_${name}_manual ALL
    DEPENDS ${page} ${folder}/${installed}.bash ${folder}/_${installed})
  install(FILES ${page} DESTINATION ${CMAKE_INSTALL_MANDIR}/man1)
  install(FILES ${folder}/${installed}.bash
          DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions RENAME ${installed})
  install(FILES ${folder}/_${installed} DESTINATION ${CMAKE_INSTALL_DATADIR}/zsh/vendor-completions)
endfunction()

# oplens_program(NAME SOURCES ... LINK ...): the program NAME, a function of the one binary (base/program.h).
# <build>/bin/NAME is a link to it, installed as ${OPLENS_PREFIX}NAME.
function(oplens_program name)
  cmake_parse_arguments(ARG "" "" "SOURCES;LINK" ${ARGN})
  add_library(oplens_${name}_main OBJECT ${ARG_SOURCES})
  # cxxopts would else read the command line with std::regex: slow to start, and g++ warns about it
  # when sanitizers are on.
  target_compile_definitions(oplens_${name}_main PRIVATE
    OPLENS_VERSION="${PROJECT_VERSION}" CXXOPTS_NO_REGEX)
  target_link_libraries(oplens_${name}_main PUBLIC ${ARG_LINK} PRIVATE oplens_options)
  oplens_use_precompiled(oplens_${name}_main oplens_common_headers)
endfunction()

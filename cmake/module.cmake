# Every subfolder that has a CMakeLists.txt, and those of subfolders without one (tests/overlay, ..).
function(tilewright_subfolders)
  file(GLOB subfolders CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/*/CMakeLists.txt
       ${CMAKE_CURRENT_SOURCE_DIR}/*/*/CMakeLists.txt)
  foreach(file ${subfolders})
    get_filename_component(folder ${file} DIRECTORY)
    get_filename_component(above ${folder} DIRECTORY)
    if(above STREQUAL CMAKE_CURRENT_SOURCE_DIR OR NOT EXISTS ${above}/CMakeLists.txt)
      add_subdirectory(${folder})
    endif()
  endforeach()
endfunction()

# tilewright_unity(TARGET SOURCES file...): every folder of the sources is compiled as one unit, which reads the headers
# once: a third of the time of file by file. So names of a folder's unnamed namespaces are unique in it. Left out are
# files with options of their own and those of vector extensions, which stand in a file for each.
function(tilewright_unity target)
  cmake_parse_arguments(ARG "" "" "SOURCES" ${ARGN})
  set_target_properties(${target} PROPERTIES UNITY_BUILD ${TILEWRIGHT_UNITY} UNITY_BUILD_MODE GROUP)
  foreach(source ${ARG_SOURCES})
    if(NOT source MATCHES "_(avx2|avx512|portable)\\.cpp$")
      get_filename_component(folder ${source} ABSOLUTE)
      get_filename_component(folder ${folder} DIRECTORY)
      file(RELATIVE_PATH room ${CMAKE_SOURCE_DIR} ${folder})
      string(MAKE_C_IDENTIFIER "${room}" room)
      set_source_files_properties(${source} PROPERTIES UNITY_GROUP ${room})
    endif()
  endforeach()
endfunction()

# tilewright_cold(TARGET): code that reads, decides and prints, not what computes. A quarter less to compile.
function(tilewright_cold target)
  target_compile_options(${target} PRIVATE $<$<CONFIG:Release>:-O1>)
endfunction()

# tilewright_module(NAME [COLD] DEPENDS lib...): the static library of one module, from the sources beside the
# CMakeLists.txt that calls it, and its test programs: NAME_test from *_test.cpp, NAME_outside_test from
# *_outside_test.cpp (what needs the folder of real models, see tilewright_test). What tests share is no part of it:
# headers *_testing.h that only this module's tests include, and tests/support/NAME, whose own tests run in NAME_test.
function(tilewright_module name)
  cmake_parse_arguments(ARG "COLD" "" "DEPENDS;PRIVATE_DEPENDS" ${ARGN})
  file(GLOB_RECURSE sources CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/*.cpp)
  set(tests ${sources})
  list(FILTER tests INCLUDE REGEX "_test\\.cpp$")
  set(outside_tests ${tests})
  list(FILTER outside_tests INCLUDE REGEX "_outside_test\\.cpp$")
  list(FILTER tests EXCLUDE REGEX "_outside_test\\.cpp$")
  list(FILTER sources EXCLUDE REGEX "_test\\.cpp$")
  add_library(tilewright_${name} STATIC ${sources})
  target_include_directories(tilewright_${name} PUBLIC $<BUILD_INTERFACE:${CMAKE_SOURCE_DIR}/src>
                                                       $<INSTALL_INTERFACE:include>)
  target_link_libraries(tilewright_${name} PUBLIC ${ARG_DEPENDS} PRIVATE ${ARG_PRIVATE_DEPENDS})
  if(TILEWRIGHT_SANITIZE)  # programs that link an installed copy need the sanitizers' libraries too
    target_link_options(tilewright_${name} INTERFACE -fsanitize=${TILEWRIGHT_SANITIZE})
  endif()
  set_target_properties(tilewright_${name} PROPERTIES EXPORT_NAME ${name})
  tilewright_unity(tilewright_${name} SOURCES ${sources})
  if(ARG_COLD)
    tilewright_cold(tilewright_${name})
  endif()
  file(GLOB support_tests CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/tests/support/${name}/*_test.cpp)
  list(APPEND tests ${support_tests})
  set(test_libraries tilewright_${name})
  file(GLOB support CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/tests/support/${name}/*_testing.cpp)
  if(support)
    list(APPEND test_libraries tilewright_${name}_testing)
  endif()
  if(tests)
    tilewright_test(${name}_test SOURCES ${tests} DEPENDS ${test_libraries})
  endif()
  if(outside_tests)
    tilewright_test(${name}_outside_test SOURCES ${outside_tests} DEPENDS ${test_libraries} LABEL outside)
  endif()
endfunction()

# tilewright_test(NAME SOURCES file... DEPENDS lib... [LABEL fast|slow|outside|outside-slow]): one GoogleTest program.
# Only programs of label `outside` read the folder that TILEWRIGHT_OUTSIDE names, and they do not run where it is not there;
# for all others the variable is unset. They are built by the target outside_tests, not with everything else.
function(tilewright_test name)
  cmake_parse_arguments(ARG "" "LABEL" "SOURCES;DEPENDS" ${ARGN})
  if(NOT TARGET GTest::gtest_main)
    return()
  endif()
  if(NOT ARG_LABEL)
    set(ARG_LABEL fast)
  endif()
  add_executable(${name} ${ARG_SOURCES})
  tilewright_unity(${name} SOURCES ${ARG_SOURCES})
  target_link_libraries(${name} PRIVATE ${ARG_DEPENDS} GTest::gtest GTest::gtest_main)
  tilewright_cold(${name})
  target_include_directories(${name} PRIVATE ${CMAKE_SOURCE_DIR}/tests)
  target_compile_definitions(${name} PRIVATE TILEWRIGHT_SOURCE_DIR="${CMAKE_SOURCE_DIR}")
  set(environment ENVIRONMENT OMP_WAIT_POLICY=passive)
  if(ARG_LABEL MATCHES "^outside")
    target_sources(${name} PRIVATE ${CMAKE_SOURCE_DIR}/tests/support/outside_required_testing.cpp)
    set_target_properties(${name} PROPERTIES EXCLUDE_FROM_ALL ON)
    add_dependencies(outside_tests ${name})
  else()
    list(APPEND environment ENVIRONMENT_MODIFICATION TILEWRIGHT_OUTSIDE=unset:)
  endif()
  include(GoogleTest)
  gtest_discover_tests(${name} DISCOVERY_MODE PRE_TEST DISCOVERY_TIMEOUT 60
                       PROPERTIES LABELS ${ARG_LABEL} TIMEOUT 900 ${environment})
endfunction()

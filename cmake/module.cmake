# tilewright_module(NAME DEPENDS lib...): the static library of one module, from the sources beside the
# CMakeLists.txt that calls it, and the test program NAME_test from its *_test.cpp files.
function(tilewright_module name)
  cmake_parse_arguments(ARG "" "" "DEPENDS;PRIVATE_DEPENDS" ${ARGN})
  file(GLOB_RECURSE sources CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/*.cpp)
  set(tests ${sources})
  list(FILTER tests INCLUDE REGEX "_test\\.cpp$")
  list(FILTER sources EXCLUDE REGEX "_test\\.cpp$")
  add_library(tilewright_${name} STATIC ${sources})
  target_include_directories(tilewright_${name} PUBLIC $<BUILD_INTERFACE:${CMAKE_SOURCE_DIR}/src>
                                                       $<INSTALL_INTERFACE:include>)
  target_link_libraries(tilewright_${name} PUBLIC ${ARG_DEPENDS} PRIVATE ${ARG_PRIVATE_DEPENDS})
  set_target_properties(tilewright_${name} PROPERTIES EXPORT_NAME ${name})
  if(tests AND TARGET GTest::gtest_main)
    tilewright_test(${name}_test SOURCES ${tests} DEPENDS tilewright_${name})
  endif()
endfunction()

# tilewright_test(NAME SOURCES file... DEPENDS lib... [LABEL fast|slow]): one GoogleTest program.
function(tilewright_test name)
  cmake_parse_arguments(ARG "" "LABEL" "SOURCES;DEPENDS" ${ARGN})
  if(NOT TARGET GTest::gtest_main)
    return()
  endif()
  if(NOT ARG_LABEL)
    set(ARG_LABEL fast)
  endif()
  add_executable(${name} ${ARG_SOURCES})
  target_link_libraries(${name} PRIVATE ${ARG_DEPENDS} GTest::gtest GTest::gtest_main)
  target_compile_definitions(${name} PRIVATE TILEWRIGHT_MODELS_DIR="${TILEWRIGHT_MODELS_DIR}"
                                             TILEWRIGHT_SOURCE_DIR="${CMAKE_SOURCE_DIR}")
  include(GoogleTest)
  gtest_discover_tests(${name} DISCOVERY_MODE PRE_TEST DISCOVERY_TIMEOUT 60
                       PROPERTIES LABELS ${ARG_LABEL} TIMEOUT 900 ENVIRONMENT OMP_WAIT_POLICY=passive)
endfunction()

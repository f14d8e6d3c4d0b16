# Language level, warnings, sanitizers and the compiler cache, for every target of the project.
set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
# A release build is hardened: it reads files of strangers.
set(CMAKE_CXX_FLAGS_RELEASE "-O2 -D_FORTIFY_SOURCE=2 -fstack-protector-strong -fstack-clash-protection")
set(CMAKE_CXX_FLAGS_DEV "-O1 -g1")
add_link_options(-Wl,-z,relro,-z,now)
include(CheckPIESupported)
check_pie_supported(LANGUAGES CXX)  # without it CMake compiles position-independent code and links fixed programs
if(NOT CMAKE_BUILD_TYPE)
  set(CMAKE_BUILD_TYPE Release)
endif()

add_compile_options(-Wall -Wextra -Wshadow -Wnon-virtual-dtor -Wno-missing-field-initializers)
if(TILEWRIGHT_WERROR)
  add_compile_options(-Werror)
endif()
if(TILEWRIGHT_SANITIZE)
  add_compile_options(-fsanitize=${TILEWRIGHT_SANITIZE} -fno-omit-frame-pointer -fno-sanitize-recover=all)
  # With sanitizers on, gcc reports uninitialised uses inside its own library headers.
  add_compile_options($<$<CXX_COMPILER_ID:GNU>:-Wno-maybe-uninitialized>
                      $<$<CXX_COMPILER_ID:GNU>:-Wno-stringop-overflow>)
  add_link_options(-fsanitize=${TILEWRIGHT_SANITIZE})
endif()

if(TILEWRIGHT_FUZZ)
  add_compile_options(-fsanitize=fuzzer-no-link)  # coverage of everything that the fuzz targets call
endif()

# lld links several times faster than the default linker; both work.
find_program(TILEWRIGHT_LLD ld.lld)
if(TILEWRIGHT_LLD)
  add_link_options(-fuse-ld=lld)
endif()

find_program(TILEWRIGHT_CCACHE ccache)
if(TILEWRIGHT_CCACHE)
  set(CMAKE_CXX_COMPILER_LAUNCHER
      ${CMAKE_COMMAND} -E env CCACHE_SLOPPINESS=pch_defines,time_macros,include_file_mtime,include_file_ctime
      CCACHE_BASEDIR=${CMAKE_SOURCE_DIR} CCACHE_NOHASHDIR=1 ${TILEWRIGHT_CCACHE})
endif()

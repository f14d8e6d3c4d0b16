# Debian 12 packages (scripts/install-deps). Nothing is downloaded at configure time.
find_package(Threads REQUIRED)
find_package(fmt REQUIRED)
find_package(yaml-cpp REQUIRED)
find_package(Protobuf REQUIRED)  # before ONNX: its package file needs protobuf's targets
find_package(ONNX REQUIRED)
find_package(dnnl REQUIRED)
find_package(ZLIB REQUIRED)
find_package(SQLite3 REQUIRED)
find_package(PkgConfig REQUIRED)
pkg_check_modules(TILEWRIGHT_XGBOOST REQUIRED xgboost)  # its CMake package asks for a program that is not there
find_package(GTest QUIET)
find_package(leveldb QUIET)  # tests write checkpoints with it
find_path(TILEWRIGHT_NLOHMANN_JSON nlohmann/json.hpp REQUIRED)
find_path(TILEWRIGHT_CLI11 CLI/CLI.hpp REQUIRED)
find_program(TILEWRIGHT_FLATC flatc REQUIRED)
find_path(TILEWRIGHT_FLATBUFFERS flatbuffers/flatbuffers.h REQUIRED)
find_path(TILEWRIGHT_CADICAL cadical.hpp REQUIRED)
find_path(TILEWRIGHT_NETTLE_HEADERS nettle/sha2.h REQUIRED)
find_library(TILEWRIGHT_NETTLE nettle REQUIRED)  # digests of inputs
find_library(TILEWRIGHT_CADICAL_LIBRARY cadical REQUIRED)
foreach(header zip.h png.h turbojpeg.h sndfile.h)  # archives, pictures and sounds as samples
  string(MAKE_C_IDENTIFIER TILEWRIGHT_${header} found)
  find_path(${found} ${header} REQUIRED)
endforeach()

# `make package`: a Debian package of everything that cmake/install.cmake installs and, where libtorch is there, a second
# one, tilewright-training, so that nobody gets libtorch with the first.
set(CPACK_VERBATIM_VARIABLES ON)
set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_NAME tilewright)
set(CPACK_PACKAGE_VERSION ${PROJECT_VERSION})
set(TILEWRIGHT_MAINTAINER "The Tilewright authors <tilewright@users.noreply.github.com>" CACHE STRING "Maintainer of the packages")
set(CPACK_PACKAGE_CONTACT ${TILEWRIGHT_MAINTAINER})
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_STRIP_FILES ON)
set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_COMPRESSION_TYPE xz)
set(CPACK_DEBIAN_PACKAGE_SECTION science)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_PACKAGE_CONTROL_STRICT_PERMISSION ON)
set(CPACK_PRE_BUILD_SCRIPTS ${CMAKE_SOURCE_DIR}/cmake/debian/stage.cmake)
set(CPACK_TILEWRIGHT_SOURCE ${CMAKE_SOURCE_DIR})

set(CPACK_COMPONENTS_ALL tilewright)
set(CPACK_COMPONENT_TILEWRIGHT_DESCRIPTION "trained networks to verified accelerators and their programs
Tilewright takes a trained network (ONNX, TensorFlow, TFLite) and the
description of an accelerator. It quantises, maps and simulates the network,
and generates Verilog. Every step is checked against the next one, bit for bit
and cycle for cycle.
.
This package holds the command with its man pages and completions, the Python
package, the C++ libraries and headers, and the presets. Begin with
\"tilewright demo\".")
set(CPACK_DEBIAN_TILEWRIGHT_PACKAGE_NAME tilewright)
# Besides shared libraries: the images of the demo, and the one Python that the package is built for.
set(CPACK_DEBIAN_TILEWRIGHT_PACKAGE_DEPENDS dataset-fashion-mnist)
if(TARGET tilewright_python)
  math(EXPR next_python "${TILEWRIGHT_PYTHON_MINOR} + 1")
  string(APPEND CPACK_DEBIAN_TILEWRIGHT_PACKAGE_DEPENDS
         ", python3 (>= 3.${TILEWRIGHT_PYTHON_MINOR}~), python3 (<< 3.${next_python}~), python3-numpy")
  set(CPACK_DEBIAN_TILEWRIGHT_PACKAGE_CONTROL_EXTRA
      "${CMAKE_SOURCE_DIR}/cmake/debian/postinst;${CMAKE_SOURCE_DIR}/cmake/debian/prerm")
endif()
# What verbs that build hardware call, and what a program that links the libraries needs.
set(CPACK_DEBIAN_TILEWRIGHT_PACKAGE_SUGGESTS "verilator, yosys, iverilog, nextpnr-ice40, fpga-icestorm, \
python3-pandas, python3-matplotlib, g++, pkg-config, libfmt-dev, libyaml-cpp-dev, libprotobuf-dev, libonnx-dev, libdnnl-dev, \
zlib1g-dev, libcadical-dev, libsqlite3-dev, libxgboost-dev, libzip-dev, libpng-dev, libturbojpeg0-dev, libsndfile1-dev")

if(TARGET tilewright_cgra_training)
  list(APPEND CPACK_COMPONENTS_ALL training)
  set(CPACK_COMPONENT_TRAINING_DESCRIPTION "training of placement policies for Tilewright
With this package \"tilewright place train\" learns policies that place dataflow
graphs on coarse-grained arrays. It needs libtorch.")
  set(CPACK_DEBIAN_TRAINING_PACKAGE_NAME tilewright-training)
  set(CPACK_DEBIAN_TRAINING_PACKAGE_DEPENDS "tilewright (= ${PROJECT_VERSION})")
endif()
include(CPack)

# `make install`: the command with its man pages and completions, the libraries and headers with a CMake package and a
# pkg-config file, the hardware presets, dataflows and models. find_package(Tilewright) and link Tilewright::flow, or
# pkg-config tilewright. The folder can be moved: everything finds the rest from where it lies itself.
# Component `training` is what needs libtorch; it is a package of its own (cmake/package.cmake).
include(GNUInstallDirs)
include(CMakePackageConfigHelpers)
set(shared ${CMAKE_INSTALL_DATADIR}/tilewright)

# From those that use to those that are used: the order in which a linker wants them.
set(modules flow tune cgra pipeline spatial overlay quantize transform layers nest host frontend hardware graph report search
            synthesis netlist tensor base)
list(TRANSFORM modules PREPEND tilewright_ OUTPUT_VARIABLE libraries)
install(TARGETS ${libraries} EXPORT TilewrightTargets ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR})
install(TARGETS tilewright RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
if(TARGET tilewright_cgra_training)  # found by 'place train' from where the command is
  install(TARGETS tilewright_cgra_training LIBRARY DESTINATION lib/tilewright COMPONENT training)
endif()

install(CODE "set(SOURCE \"${CMAKE_SOURCE_DIR}/src\")\nset(INCLUDES \"${CMAKE_INSTALL_INCLUDEDIR}\")")
install(SCRIPT cmake/install_headers.cmake)
install(EXPORT TilewrightTargets NAMESPACE Tilewright:: DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/Tilewright)
configure_package_config_file(cmake/TilewrightConfig.cmake.in ${CMAKE_BINARY_DIR}/TilewrightConfig.cmake
                              INSTALL_DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/Tilewright)
write_basic_package_version_file(${CMAKE_BINARY_DIR}/TilewrightConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${CMAKE_BINARY_DIR}/TilewrightConfig.cmake ${CMAKE_BINARY_DIR}/TilewrightConfigVersion.cmake
        DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/Tilewright)
list(TRANSFORM libraries PREPEND -l OUTPUT_VARIABLE PKGCONFIG_LIBRARIES)
list(JOIN PKGCONFIG_LIBRARIES " " PKGCONFIG_LIBRARIES)
file(RELATIVE_PATH PKGCONFIG_PREFIX /${CMAKE_INSTALL_LIBDIR}/pkgconfig /)
configure_file(cmake/tilewright.pc.in ${CMAKE_BINARY_DIR}/tilewright.pc @ONLY)
install(FILES ${CMAKE_BINARY_DIR}/tilewright.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)

foreach(folder hardware dataflows models/cgra models/tune)
  install(DIRECTORY ${folder}/ DESTINATION ${shared}/${folder} PATTERN "*.md" EXCLUDE)
endforeach()
install(DIRECTORY rtl/ DESTINATION ${shared}/rtl)  # with the README that `generate` puts into designs
foreach(network lenet residual depthwise gated vit)
  install(FILES models/${network}-fashion/${network}_fashion.onnx DESTINATION ${shared}/models/${network}-fashion)
endforeach()
install(FILES models/byte-lm/byte_lm.onnx models/byte-lm/calibration.txt models/byte-lm/held_out.txt
        DESTINATION ${shared}/models/byte-lm)

# Made with the command (src/tilewright/cli/CMakeLists.txt).
set(manual ${CMAKE_BINARY_DIR}/manual)
install(DIRECTORY ${manual}/man1 DESTINATION ${CMAKE_INSTALL_MANDIR} OPTIONAL)
install(DIRECTORY ${manual}/bash/ DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions OPTIONAL)
install(DIRECTORY ${manual}/zsh/ DESTINATION ${CMAKE_INSTALL_DATADIR}/zsh/vendor-completions OPTIONAL)
install(DIRECTORY ${manual}/fish/ DESTINATION ${CMAKE_INSTALL_DATADIR}/fish/vendor_completions.d OPTIONAL)
install(DIRECTORY docs DESTINATION ${CMAKE_INSTALL_DATADIR}/doc/tilewright)
install(FILES README.md DESTINATION ${CMAKE_INSTALL_DATADIR}/doc/tilewright)

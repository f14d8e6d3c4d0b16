# `make install`: the command, the libraries and headers with a CMake package, the hardware presets and the dataflows.
#   find_package(Tilewright) and link Tilewright::flow (everything), or a lower module.
include(GNUInstallDirs)
include(CMakePackageConfigHelpers)

set(modules)
foreach(module base tensor netlist synthesis search report graph hardware frontend host nest layers transform quantize overlay spatial pipeline cgra tune flow)
  if(TARGET tilewright_${module})
    list(APPEND modules tilewright_${module})
  endif()
endforeach()
install(TARGETS ${modules} tilewright EXPORT TilewrightTargets ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR}
        RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
if(TARGET tilewright_cgra_training)  # loaded by 'place train' from beside the command
  install(TARGETS tilewright_cgra_training LIBRARY DESTINATION lib)
endif()
install(DIRECTORY models/cgra/ DESTINATION ${CMAKE_INSTALL_DATADIR}/tilewright/models/cgra)
install(DIRECTORY models/tune/ DESTINATION ${CMAKE_INSTALL_DATADIR}/tilewright/models/tune)
install(EXPORT TilewrightTargets NAMESPACE Tilewright:: DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/Tilewright)
install(DIRECTORY src/tilewright DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} FILES_MATCHING PATTERN "*.h"
        PATTERN "*_testing.h" EXCLUDE)
install(DIRECTORY hardware/ DESTINATION ${CMAKE_INSTALL_DATADIR}/tilewright/hardware)
install(DIRECTORY rtl/ DESTINATION ${CMAKE_INSTALL_DATADIR}/tilewright/rtl)
install(DIRECTORY dataflows/ DESTINATION ${CMAKE_INSTALL_DATADIR}/tilewright/dataflows)

configure_package_config_file(cmake/TilewrightConfig.cmake.in ${CMAKE_BINARY_DIR}/TilewrightConfig.cmake
                              INSTALL_DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/Tilewright)
write_basic_package_version_file(${CMAKE_BINARY_DIR}/TilewrightConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${CMAKE_BINARY_DIR}/TilewrightConfig.cmake ${CMAKE_BINARY_DIR}/TilewrightConfigVersion.cmake
        DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/Tilewright)

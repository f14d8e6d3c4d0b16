# `make install`: the command, the libraries and headers with a CMake package, and the hardware presets.
include(GNUInstallDirs)
install(DIRECTORY hardware/ DESTINATION ${CMAKE_INSTALL_DATADIR}/tilewright/hardware)

// Writes the RTL's parameter package of every parameter set, for work on the RTL with other tools:
//   write_parameter_sets FOLDER    FOLDER/NAME/overlay_config.sv
#include <cstdio>

#include "parameter_sets.h"
#include "tilewright/base/file.h"
#include "tilewright/overlay/rtl/rtl_config.h"

int main(int argc, char** argv) {
  if (argc != 2) {
    std::fputs("usage: write_parameter_sets FOLDER\n", stderr);
    return 1;
  }
  try {
    for (const tilewright::OverlayHardware& hardware : tilewright::overlay::parameter_sets()) {
      const std::filesystem::path folder = std::filesystem::path(argv[1]) / hardware.name;
      tilewright::create_folder(folder);
      tilewright::write_text_file(folder / "overlay_config.sv", tilewright::overlay::rtl_config(hardware));
    }
  } catch (const tilewright::Error& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return int(error.kind());
  }
  return 0;
}

// Raw programs (overlay/referee/raw_program.h) on any engine of the overlay.
#pragma once

#include <filesystem>

#include "tilewright/flow/target/target.h"

namespace tilewright {

struct RawRunRequest {
  std::filesystem::path program;  // program.yaml
  EngineRequest engine;           // its deadline ends check and run
  bool check = false;             // for hazards first; its errors stop the run
  bool allow_outside = false;     // files that lie outside of the program's folder
  SharedFolders folders;
};

// Writes the program's dumps. Errors: those of read_raw_program, program_engine_options and execute; what the
// check finds.
Answer run_raw_program(const RawRunRequest& request);

}  // namespace tilewright

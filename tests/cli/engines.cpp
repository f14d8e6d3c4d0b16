#include "engines.h"

#include <gtest/gtest.h>

#include "command.h"
#include "tilewright/base/file.h"
#include "tilewright/overlay/referee/raw_program.h"

namespace tilewright {

std::filesystem::path raw_program_folder(int memory_width_bits) {
  const auto folder = fresh_folder("raw_" + std::to_string(memory_width_bits));
  const std::string quantised = (folder / "q.onnx").string();
  const CommandResult made = command("quantize " + demo_files().model.string() + " --calibration " +
                                     demo_files().images.string() + " --scales power-of-two -o " + quantised);
  EXPECT_EQ(made.exit_code, 0) << made.output;
  OverlayHardware hardware = read_overlay_hardware(TILEWRIGHT_SOURCE_DIR "/hardware/vta-default.yaml");
  hardware.memory_width_bits = memory_width_bits;
  write_text_file(folder / "hardware.yaml", print_overlay_hardware(hardware));
  const CommandResult compiled =
      command("compile " + quantised + " --hardware " + (folder / "hardware.yaml").string() + " --emit-raw " +
              (folder / "raw").string());
  EXPECT_EQ(compiled.exit_code, 0) << compiled.output;
  overlay::RawProgram program = overlay::read_raw_program(folder / "raw/program.yaml");
  program.dump = {{"memory.bin", 0, program.memory_bytes}};
  overlay::write_raw_program(folder / "whole", program);
  return folder / "whole";
}

EngineRun run_on(const std::filesystem::path& folder, const std::string& engine, const std::string& more) {
  const CommandResult result =
      command("exec --json " + (folder / "program.yaml").string() + " --engine " + engine + " " + more);
  EXPECT_EQ(result.exit_code, 0) << result.output;
  EngineRun run{read_file(folder / "memory.bin"), result.output};
  std::filesystem::remove(folder / "memory.bin");
  return run;
}

}  // namespace tilewright

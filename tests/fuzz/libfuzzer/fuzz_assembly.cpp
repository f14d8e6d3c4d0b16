// Assembly text of the plain instruction set.
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include "tilewright/overlay/assembler.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  try {
    const std::string text(reinterpret_cast<const char*>(data), size);
    tilewright::OverlayHardware hardware;
    const auto program = tilewright::overlay::assemble(hardware, text);
    tilewright::overlay::disassemble(hardware, program.instructions, program.uops);
  } catch (const tilewright::Error&) {
  }
  return 0;
}

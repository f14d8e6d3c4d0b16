// Hardware descriptions, YAML and JSON.
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include "tilewright/hardware/overlay_hardware.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  try {
    const std::string text(reinterpret_cast<const char*>(data), size);
    tilewright::Diagnostics diagnostics;
    tilewright::parse_overlay_hardware(text, "fuzz").verify(diagnostics);
  } catch (const tilewright::Error&) {
  }
  return 0;
}

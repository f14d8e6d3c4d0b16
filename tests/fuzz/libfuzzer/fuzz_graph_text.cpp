// The text form of graphs.
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include "tilewright/graph/text.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  try {
    const std::string text(reinterpret_cast<const char*>(data), size);
    tilewright::print(tilewright::parse_graph(text));
  } catch (const tilewright::Error&) {
  }
  return 0;
}

// TFLite files; what is accepted must be fit for writing.
#include <cstddef>
#include <cstdint>
#include <span>

#include "tilewright/frontend/onnx/onnx_writer.h"
#include "tilewright/frontend/tflite/tflite_reader.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  try {
    const std::span bytes(reinterpret_cast<const std::byte*>(data), size);
    tilewright::format_onnx(tilewright::parse_tflite(bytes));
  } catch (const tilewright::Error&) {
  }
  return 0;
}

// TFLite files (version 3 of the format) to a Graph of ONNX semantics.
//
// Inputs and outputs keep the names, types and layout (NHWC) of the file; inside, inputs and outputs of
// convolutions and pools are channels-first. Quantised tensors are in QDQ form: every operator works on real
// numbers between DequantizeLinear and QuantizeLinear, so that integerize()
// (quantize/integerize/integerize.h) gives the integer graph. All problems of a file are reported together,
// each with the operator's index and kind (docs/reference/tflite.md).
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <map>
#include <span>
#include <string>

#include "tilewright/base/error.h"
#include "tilewright/graph/graph.h"

namespace tilewright {

struct TfliteOptions {
  // Sizes of dynamic dimensions (--shape NAME=N); NAME is "INPUT.AXIS", e.g. "image.0". Those that are not
  // given have the size that the file suggests, which is 1 for batches.
  std::map<std::string, int64_t> dimensions;
  // Layers with 8-bit weights between real activations ("dynamic range"): TFLite rounds their activations to
  // 8 bits on the fly. False: they stay real, as quantize() needs, with a warning. True: rounded as TFLite
  // does; supported for weights with one scale.
  bool round_dynamic_range = false;
  // Which of TFLite's implementations a quantised file is meant for: they differ in the last bit.
  Rounding rounding = Rounding::kFloat;
};

// Whether the bytes carry the identifier of the format.
bool is_tflite(std::span<const std::byte> bytes);

// Errors (invalid input or unsupported): everything wrong with the file, at once. `warnings`, if given,
// receives what was tolerated.
Graph read_tflite(const std::filesystem::path& path, const TfliteOptions& options = {},
                  Diagnostics* warnings = nullptr);
// The same for a file in memory.
Graph parse_tflite(std::span<const std::byte> bytes, const TfliteOptions& options = {},
                   Diagnostics* warnings = nullptr);

}  // namespace tilewright

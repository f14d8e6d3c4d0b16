// The byte-level language model of models/byte-lm, text that it was calibrated on and text that it has never
// seen, and how well it foresees text.
#pragma once

#include <cstdint>
#include <filesystem>
#include <span>
#include <vector>

#include "byte-lm/lm_graph.h"
#include "tilewright/quantize/quantizer.h"

namespace tilewright {

std::filesystem::path language_file();
// After the graph passes; "bytes" i64 [1,256] to "logits" f32 [1,256,256].
Graph language_network();
// In QDQ form, calibrated on windows that lie evenly in models/byte-lm/calibration.txt.
Graph quantized_language_network(const QuantizeOptions& options = {}, int64_t windows = 16);
std::vector<uint8_t> held_out_text();

// Of the first `windows` windows of `text`: bits per byte, from a language model in any form.
double bits_per_byte(const Graph& graph, std::span<const uint8_t> text, int64_t windows, int threads);

}  // namespace tilewright

// The YAML form of workloads (docs/reference/arrays.md), for people who have a layer's shape and no model
// file. A shorthand for the usual operators:
//   name: conv1
//   convolution: {batch: 16, input_channels: 3, output_channels: 96, input: 227, kernel: 11, stride: 4}
//   bits: {input: 8, weight: 8, output: 32}
// or depthwise, transposed_convolution, dense, matmul; or the general form, any loop nest with affine
// indices:
//   dimensions: {P: 13, S: 3}
//   data_spaces:
//   - {name: input, ranks: [{name: W, size: 15, index: P + S}]}
//   - {name: weight, ranks: [{name: S, size: 3, index: S}]}
//   - {name: output, output: true, bits: 32, ranks: [{name: P, size: 13, index: P}]}
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "tilewright/nest/workload.h"

namespace tilewright {

// A file holds one workload or a list of them. Errors (invalid input): everything wrong in all of them, with
// its line.
std::vector<Workload> parse_workloads(const std::string& text, const std::string& source_name);
std::vector<Workload> read_workloads(const std::filesystem::path& path);

// The general form. parse_workloads(print_workload(w)) == {w} for valid workloads whose dimension names are
// letters, digits and underscores, not beginning with a digit.
std::string print_workload(const Workload& workload);

}  // namespace tilewright

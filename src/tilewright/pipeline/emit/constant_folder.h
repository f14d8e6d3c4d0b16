// The folder of a network of constant weights: Verilog, a testbench that checks itself, a README.
#pragma once

#include <filesystem>

#include "tilewright/pipeline/constant/constant_network.h"

namespace tilewright::pipeline {

// Writes constant_network.sv, testbench.sv, vectors.hex, results.hex and README.md. The results are those of
// evaluate(network). Errors (invalid input): a folder that cannot be written.
void write_constant_folder(const ConstantNetwork& made, const Network& network,
                           const std::filesystem::path& folder);

}  // namespace tilewright::pipeline

// Vectors and results are hexadecimal words, element 0 in the lowest bits.
#include "tilewright/pipeline/emit/constant_folder.h"

#include <fmt/format.h>

#include "tilewright/base/file.h"
#include "tilewright/base/random.h"
#include "tilewright/netlist/verilog.h"
#include "tilewright/pipeline/component/component.h"
#include "tilewright/pipeline/image/memory_image.h"

namespace tilewright::pipeline {
namespace {

constexpr int kVectors = 64;

// One side of the network: its elements' widths, and what a signal of all of them is connected to.
struct PortGroup {
  std::vector<int> widths;
  std::string pins;
  int bits = 0;
};

PortGroup port_group(const netlist::Module& top, const std::string& prefix, const std::string& vector) {
  PortGroup side;
  for (int64_t i = 0;; ++i) {
    const netlist::NetId net = top.net(fmt::format("{}{}", prefix, i));
    if (net == netlist::kNoNet) return side;
    const int width = top.nets[size_t(net)].width;
    side.pins += fmt::format(",\n    .{}{}({}[{}:{}])", prefix, i, vector, side.bits + width - 1, side.bits);
    side.widths.push_back(width);
    side.bits += width;
  }
}

// Elements that mean -1 and +1 are bits.
MemoryImage packed_words(const std::vector<std::vector<int32_t>>& vectors, const PortGroup& side,
                         bool bipolar) {
  MemoryImage image(side.bits);
  for (const std::vector<int32_t>& vector : vectors) {
    const int64_t word = image.add_word();
    int low = 0;
    for (size_t i = 0; i < vector.size(); ++i) {
      const int64_t value = bipolar ? (vector[i] > 0 ? 1 : 0) : vector[i];
      image.set(word, low, side.widths[i], value);
      low += side.widths[i];
    }
  }
  return image;
}

std::vector<std::vector<int32_t>> seeded_vectors(const NetworkTensor& input) {
  Random random(1);
  const int64_t half = int64_t{1} << (input.bits - 1);
  std::vector<std::vector<int32_t>> vectors;
  for (int i = 0; i < kVectors; ++i) {
    std::vector<int32_t>& vector = vectors.emplace_back();
    for (int64_t e = 0; e < input.shape.elements(); ++e) {
      int64_t value = i == 0 ? -half : i == 1 ? half - 1 : random.between(-half, half - 1);
      if (input.bipolar) value = value < 0 ? -1 : 1;
      vector.push_back(int32_t(value));
    }
  }
  return vectors;
}

std::string constant_testbench(const ConstantNetwork& made, const PortGroup& in, const PortGroup& out) {
  return fmt::format(R"(// Feeds {0} vectors, with pauses, and compares every result.
module testbench;
  logic clk = 0, rst = 1, enable = 1, in_valid = 0;
  logic [{1}:0] vectors [{0}], vector;
  logic [{2}:0] results [{0}], result;
  logic out_valid;
  int sent = 0, seen = 0, wrong = 0;
  {3} dut (
    .clk(clk),
    .rst(rst),
    .enable(enable),
    .in_valid(in_valid),
    .out_valid(out_valid){4}{5}
  );
  always #5 clk = ~clk;
  initial begin
    $readmemh("vectors.hex", vectors);
    $readmemh("results.hex", results);
    vector = vectors[0];
    repeat (4) @(negedge clk);
    rst = 0;
    for (int cycle = 0; seen < {0} && cycle < 4 * {0} + 4 * {6}; cycle++) begin
      enable = cycle % 5 != 3;
      in_valid = cycle % 7 != 2 && sent < {0};
      vector = sent < {0} ? vectors[sent] : '0;
      @(negedge clk);
      if (enable && in_valid) sent++;
      if (enable && out_valid) begin
        if (result !== results[seen]) wrong++;
        seen++;
      end
    end
    if (wrong == 0 && seen == {0}) $display("PASS: {0} results");
    else $display("FAIL: %0d of %0d results wrong, {0} expected", wrong, seen);
    $finish;
  end
endmodule
)",
                     kVectors, in.bits - 1, out.bits - 1, made.design.top, in.pins, out.pins, made.latency);
}

std::string constant_readme(const ConstantNetwork& made, const Network& network) {
  const NetworkTensor& input = network.tensors[size_t(network.input)];
  std::string text = fmt::format(
      "# {}: constant weights\n\n"
      "One pipeline without multipliers and memories: a vector in and a result out in every cycle, {} "
      "cycles\n"
      "apart. The module is `{}` in `constant_network.sv`.\n\n"
      "| port | bits | what |\n|---|---|---|\n"
      "| `clk`, `rst` | 1 | clock; synchronous reset, 1 for one cycle or more |\n"
      "| `enable` | 1 | all registers step; 0 holds everything |\n"
      "| `in_valid`, `out_valid` | 1 | whether the vector of this cycle counts, and its result |\n",
      network.name.empty() ? "Network" : network.name, made.latency, made.design.top);
  text += fmt::format("| `in0` .. `in{}` | {} | elements of `{}`: row, column, channel; {} |\n",
                      input.shape.elements() - 1, input.bipolar ? 1 : input.bits, input.name,
                      input.bipolar ? "1 for +1, 0 for -1" : "two's complement");
  text += "\n| result | bits | range |\n|---|---|---|\n";
  for (size_t i = 0; i < made.outputs.size(); ++i) {
    const NumberRange& range = made.outputs[i];
    text += fmt::format("| `out{}` | {}{} | {} .. {} |\n", i, range_bits(range),
                        range.low < 0 ? ", two's complement" : "", range.low, range.high);
  }
  text +=
      "\nSimulate it: `iverilog -g2012 -o testbench testbench.sv constant_network.sv && vvp testbench` "
      "prints\n"
      "PASS. `report.json` has each layer's tables as the search counts them, depth and latency.\n";
  return text;
}

}  // namespace

void write_constant_folder(const ConstantNetwork& made, const Network& network,
                           const std::filesystem::path& folder) {
  const netlist::Module& top = *made.design.module(made.design.top);
  const NetworkTensor& input = network.tensors[size_t(network.input)];
  const PortGroup in = port_group(top, "in", "vector"), out = port_group(top, "out", "result");
  const std::vector<std::vector<int32_t>> vectors = seeded_vectors(input);
  std::vector<std::vector<int32_t>> results;
  for (const std::vector<int32_t>& vector : vectors) {
    results.push_back(evaluate(network, vector)[size_t(network.output)]);
  }
  write_text_file(folder / "constant_network.sv", netlist::to_verilog(made.design, component_library()));
  write_text_file(folder / "testbench.sv", constant_testbench(made, in, out));
  write_text_file(folder / "vectors.hex", packed_words(vectors, in, input.bipolar).to_hex());
  write_text_file(folder / "results.hex",
                  packed_words(results, out, network.tensors[size_t(network.output)].bipolar).to_hex());
  write_text_file(folder / "README.md", constant_readme(made, network));
}

}  // namespace tilewright::pipeline

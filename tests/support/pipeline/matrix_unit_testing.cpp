// Inputs and outputs of the bench are one wide vector each, the first port lowest.
#include "support/pipeline/matrix_unit_testing.h"

#include <fmt/format.h>

#include <sstream>

#include "tilewright/base/error.h"
#include "tilewright/base/file.h"
#include "tilewright/netlist/verilog.h"
#include "tilewright/pipeline/component/component.h"
#include "tilewright/synthesis/yosys.h"

namespace tilewright::pipeline {
namespace {

namespace fs = std::filesystem;

constexpr const char* kCells = "/usr/share/yosys/xilinx/cells_sim.v";

// Fields side by side as hexadecimal digits.
std::string packed(const std::vector<int64_t>& values, const std::vector<int>& widths) {
  std::string bits;
  for (size_t i = 0; i < values.size(); ++i) {
    for (int bit = 0; bit < widths[i]; ++bit) bits += (values[i] >> bit & 1) != 0 ? '1' : '0';
  }
  while (bits.size() % 4 != 0) bits += '0';
  std::string hex;
  for (size_t at = bits.size(); at > 0; at -= 4) {
    int digit = 0;
    for (size_t bit = 4; bit > 0; --bit) digit = 2 * digit + (bits[at - 4 + bit - 1] - '0');
    hex += "0123456789abcdef"[digit];
  }
  return hex;
}

fs::path write_unit_verilog(const netlist::Netlist& design, const fs::path& folder) {
  create_folder(folder);
  const fs::path file = fs::absolute(folder / "unit.sv");
  write_text_file(file, netlist::to_verilog(design, component_library()));
  return file;
}

std::string bench_text(const MatrixUnit& unit, int64_t vectors) {
  std::string pins = ".clk(clk), .rst(rst)";
  int in = 0, out = 0;
  for (const netlist::Port& port : unit.module.ports) {
    if (port.name == "enable") {
      pins += ", .enable(enable)";
      continue;
    }
    const bool input = port.direction == netlist::Direction::kInput;
    int& at = input ? in : out;
    pins += fmt::format(", .{}({}[{}:{}])", port.name, input ? "vector" : "result", at + port.width - 1, at);
    at += port.width;
  }
  return fmt::format(R"(module bench;
  reg clk = 0, rst = 1, enable = 1;
  reg [{0}:0] vector = 0;
  reg [{0}:0] vectors [0:{1}];
  wire [{2}:0] result;
  integer i;
  {3} unit ({4});
  initial begin
    $readmemh("vectors.hex", vectors);
    for (i = 0; i < 4; i = i + 1) begin #1000 clk = 1; #1000 clk = 0; end
    rst = 0;
    for (i = 0; i <= {1}; i = i + 1) begin
      if (i % 2 == 1) begin
        enable = 0; vector = ~vectors[i];
        #1000 clk = 1; #1000 clk = 0;
        enable = 1;
      end
      vector = vectors[i];
      #1000 clk = 1; #1000 clk = 0;
      if (i + 1 >= {5}) $display("result %h", result);
    end
    $finish;
  end
endmodule
)",
                     in - 1, vectors - 1, out - 1, unit.module.name, pins, unit.latency);
}

}  // namespace

SynthesisedUnit synthesise_design(const netlist::Netlist& design, const fs::path& folder, bool netlist) {
  synthesis::YosysJob job;
  job.family = synthesis::DeviceFamily::kXcup;
  job.top = design.top;
  job.sources = {write_unit_verilog(design, folder)};
  job.folder = folder / "yosys";
  job.write_netlist = netlist;
  const synthesis::YosysResult result = synthesis::run_yosys(job);
  SynthesisedUnit made{result.count.resources.lut, result.count.resources.ff, result.count.resources.dsp, {}};
  const auto inverters = result.cells.find("INV");
  if (inverters != result.cells.end()) made.lut += inverters->second;
  if (netlist) made.netlist = result.verilog;
  return made;
}

int64_t icarus_mismatches(const MatrixUnit& unit, const MatrixCase& one, int64_t vectors,
                          const fs::path& netlist, const fs::path& folder, Random& random) {
  std::vector<int> input_bits, output_bits;
  for (const NumberRange& range : one.ranges) input_bits.push_back(range_bits(range));
  for (int i = 0; i < one.matrix.rows; ++i) {
    output_bits.push_back(range_bits(row_range(one.matrix, i, one.ranges)));
  }
  std::string text;
  std::vector<std::string> due;
  const int64_t fed = vectors + unit.latency;
  for (int64_t i = 0; i < fed; ++i) {
    const std::vector<int64_t> vector = probing_vector(one, i, random);
    text += packed(vector, input_bits) + "\n";
    due.push_back(packed(multiply(one.matrix, vector), output_bits));
  }
  const fs::path source =
      netlist.empty() ? write_unit_verilog(unit_design(unit), folder) : fs::absolute(netlist);
  create_folder(folder);
  write_text_file(folder / "vectors.hex", text);
  write_text_file(folder / "bench.v", bench_text(unit, fed));
  synthesis::ToolCommand compile{
      "iverilog", {"-g2012", "-o", "bench", "bench.v", source.string()}, folder, 600, {}};
  if (!netlist.empty()) compile.arguments.push_back(kCells);
  synthesis::run_tool_checked(compile);
  std::istringstream lines(synthesis::run_tool_checked({"vvp", {"bench"}, folder, 1800, {}}).output);
  int64_t mismatches = 0;
  size_t seen = 0;
  for (std::string word, value; lines >> word;) {
    if (word != "result" || !(lines >> value)) continue;
    if (seen >= due.size() || value != due[seen]) ++mismatches;
    ++seen;
  }
  if (int64_t(seen) != fed - std::max(0, unit.latency - 1)) {
    throw Error(ErrorKind::kInternal, fmt::format("{} results for {} vectors", seen, fed));
  }
  return mismatches;
}

}  // namespace tilewright::pipeline

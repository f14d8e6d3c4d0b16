// Random netlists of all primitives: the evaluator, Verilator and Icarus agree in every cycle; Verilator has
// nothing to say about the Verilog, and Yosys reads it.
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include "support/netlist/evaluator_testing.h"
#include "support/netlist/random_netlist_testing.h"
#include "support/pipeline/rtl_testing.h"
#include "tilewright/base/error.h"
#include "tilewright/base/file.h"
#include "tilewright/netlist/verifier.h"
#include "tilewright/netlist/verilog.h"
#include "tilewright/pipeline/component/component.h"
#include "tilewright/pipeline/verilog/design_sources.h"
#include "tilewright/synthesis/tool.h"
#include "tilewright/synthesis/verilator.h"

namespace tilewright::pipeline {
namespace {

namespace fs = std::filesystem;
using netlist::Direction;

struct Case {
  netlist::Netlist design;
  netlist::MemoryContents contents;
  MemoryImages images;
};

Case make_case(int count, uint64_t seed) {
  Case result;
  result.design = netlist::random_design(count, seed, &result.contents);
  Diagnostics diagnostics;
  netlist::verify(result.design, component_library(), diagnostics);
  for (const Diagnostic& diagnostic : diagnostics.errors()) ADD_FAILURE() << to_string(diagnostic);
  for (const netlist::Module& module : result.design.modules) {
    for (const netlist::Memory& memory : module.memories) {
      for (int bank = 0; bank < memory.banks && !memory.contents.empty(); ++bank) {
        const std::string file =
            memory.banks == 1 ? memory.contents : fmt::format("{}.{}", memory.contents, bank);
        MemoryImage image(memory.width);
        for (const uint64_t word : result.contents.at(file)) {
          image.set(image.add_word(), 0, memory.width, int64_t(word));
        }
        result.images[file] = image;
      }
    }
  }
  return result;
}

class TemporaryFolder {
 public:
  TemporaryFolder() : path_(fs::temp_directory_path() / fmt::format("tilewright-netlist-{}", ::getpid())) {
    fs::create_directories(path_);
  }
  ~TemporaryFolder() { fs::remove_all(path_); }
  const fs::path& path() const { return path_; }

 private:
  const fs::path path_;
};

TEST(NetlistRtl, EvaluatorEqualsVerilator) {
  if (const std::string missing = missing_for_rtl(); !missing.empty()) GTEST_SKIP() << missing;
  const Case own = make_case(8, 1000);
  RtlModel rtl(own.design, own.images, rtl_options());
  netlist::Evaluator evaluator(own.design, own.contents);
  const netlist::Module& top = *own.design.module(own.design.top);
  rtl.reset();
  evaluator.reset();
  Random random(4);
  for (int cycle = 0; cycle < 2000; ++cycle) {
    for (const netlist::Port& port : top.ports) {
      if (port.direction != Direction::kInput) continue;
      const uint64_t value = netlist::low_bits(random.next(), port.width);
      rtl.set(rtl.port(port.name), value);
      evaluator.set(evaluator.port(port.name), value);
    }
    rtl.settle();
    evaluator.settle();
    for (const netlist::Port& port : top.ports) {
      if (port.direction != Direction::kOutput) continue;
      ASSERT_EQ(evaluator.get(evaluator.port(port.name)), rtl.get(rtl.port(port.name)))
          << "cycle " << cycle << ", " << port.name;
    }
    rtl.edge();
    evaluator.edge();
  }
}

// A testbench that reads one line of stimulus per cycle and writes one line of outputs.
std::string testbench(const netlist::Module& top, int cycles) {
  std::string text = "module testbench;\n  logic clk = 0, rst = 1;\n", pins = ".clk(clk), .rst(rst)", inputs,
              outputs;
  int input_bits = 0;
  for (const netlist::Port& port : top.ports) {
    text += fmt::format("  logic [{}:0] {};\n", port.width - 1, port.name);
    pins += fmt::format(", .{0}({0})", port.name);
    std::string& list = port.direction == Direction::kInput ? inputs : outputs;
    list += (list.empty() ? "" : ", ") + port.name;
    if (port.direction == Direction::kInput) input_bits += port.width;
  }
  text += fmt::format("  logic [{}:0] stimulus [0:{}];\n  {} dut ({});\n", input_bits - 1, cycles - 1,
                      top.name, pins);
  text += fmt::format(
      "  initial begin\n    $readmemh(\"stimulus.hex\", stimulus);\n    {{{0}}} = 0;\n"
      "    repeat (4) begin #1 clk = 1; #1 clk = 0; end\n    rst = 0;\n"
      "    for (int i = 0; i < {1}; i++) begin\n      {{{0}}} = stimulus[i];\n"
      "      #1 $display(\"%h\", {{{2}}}); clk = 1; #1 clk = 0;\n    end\n    $finish;\n  end\nendmodule\n",
      inputs, cycles, outputs);
  return text;
}

TEST(NetlistRtl, EvaluatorEqualsIcarus) {
  if (const std::string missing = synthesis::missing_tools({"iverilog"}); !missing.empty()) {
    GTEST_SKIP() << missing;
  }
  constexpr int kCycles = 300;
  const Case own = make_case(10, 2000);
  const netlist::Module& top = *own.design.module(own.design.top);
  const TemporaryFolder folder;
  const std::vector<fs::path> sources = write_sources(own.design, own.images, folder.path(), "");
  write_text_file(folder.path() / "testbench.sv", testbench(top, kCycles));
  int input_bits = 0, output_bits = 0;
  for (const netlist::Port& port : top.ports) {
    (port.direction == Direction::kInput ? input_bits : output_bits) += port.width;
  }
  netlist::Evaluator evaluator(own.design, own.contents);
  evaluator.reset();
  Random random(4);
  MemoryImage stimulus(input_bits), expected(output_bits);
  for (int cycle = 0; cycle < kCycles; ++cycle) {
    const int64_t word = stimulus.add_word();
    int64_t input = input_bits, output = output_bits;
    for (const netlist::Port& port : top.ports) {
      if (port.direction != Direction::kInput) continue;
      const uint64_t value = netlist::low_bits(random.next(), port.width);
      stimulus.set(word, input -= port.width, port.width, int64_t(value));
      evaluator.set(evaluator.port(port.name), value);
    }
    evaluator.settle();
    expected.add_word();
    for (const netlist::Port& port : top.ports) {
      if (port.direction != Direction::kOutput) continue;
      expected.set(word, output -= port.width, port.width, int64_t(evaluator.get(evaluator.port(port.name))));
    }
    evaluator.edge();
  }
  write_text_file(folder.path() / "stimulus.hex", stimulus.to_hex());
  synthesis::run_tool_checked(
      {"iverilog",
       {"-g2012", "-o", "run", "-s", "testbench", sources.back().string(), "testbench.sv"},
       folder.path(),
       120});
  const synthesis::ToolResult result = synthesis::run_tool_checked({"vvp", {"run"}, folder.path(), 120});
  EXPECT_EQ(result.output, expected.to_hex());
}

TEST(NetlistRtl, LintsCleanAndSynthesises) {
  if (const std::string missing = synthesis::missing_tools({"verilator", "yosys"}); !missing.empty()) {
    GTEST_SKIP() << missing;
  }
  const Case own = make_case(12, 3000);
  const TemporaryFolder folder;
  const std::vector<fs::path> sources = write_sources(own.design, own.images, folder.path(), "");
  EXPECT_EQ(synthesis::lint(own.design.top, sources), "");
  const std::string script =
      fmt::format("read_verilog -sv {}; hierarchy -check -top {}; proc; check -assert; stat",
                  sources.back().string(), own.design.top);
  const synthesis::ToolResult result =
      synthesis::run_tool_checked({"yosys", {"-p", script}, folder.path(), 300});
  EXPECT_NE(result.output.find("Number of cells"), std::string::npos);
}

TEST(NetlistRtl, EvaluatorRefusesWhatItCannotRun) {
  netlist::Module wide("wide");
  wide.add_port("in", Direction::kInput, 65);
  EXPECT_THROW(netlist::Evaluator({"wide", {wide}}), Error);
  netlist::Module component("component");
  component.add_instance("one", "stream_fifo", {}, {});
  EXPECT_THROW(netlist::Evaluator({"component", {component}}), Error);
  netlist::Module memory("memory");
  const netlist::NetId address = memory.add_port("address", Direction::kInput, 1);
  const netlist::NetId data = memory.add_net("data", 4);
  memory.memories.push_back(
      {"words", 2, 4, 1, netlist::MemoryKind::kBlockRam, {{address, address, data}}, {}, "missing.hex"});
  EXPECT_THROW(netlist::Evaluator({"memory", {memory}}), Error);
}

}  // namespace
}  // namespace tilewright::pipeline

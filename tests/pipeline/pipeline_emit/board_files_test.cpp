// What a folder has for the tools of others: Tcl runs in Tcl with a stub for Vivado's commands, which are
// compared with golden ones; the driver in Python runs the design in simulation through a board's calls.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>

#include "support/pipeline/emit_testing.h"
#include "support/pipeline/real_values_testing.h"
#include "tilewright/base/file.h"
#include "tilewright/pipeline/image/registers.h"
#include "tilewright/pipeline/network/model_values.h"
#include "tilewright/synthesis/tool.h"
#include "tilewright/tensor/npy.h"

namespace tilewright::pipeline {
namespace {

namespace fs = std::filesystem;

using synthesis::run_tool;
using synthesis::run_tool_checked;

constexpr const char* kPython = "/usr/bin/python3";  // Debian's, which has its packages

const fs::path kHere = fs::path(TILEWRIGHT_SOURCE_DIR) / "tests/pipeline/pipeline_emit";

class BoardFiles : public testing::TestWithParam<EmitCase> {};
INSTANTIATE_TEST_SUITE_P(Forms, BoardFiles, testing::ValuesIn(emit_cases()), emit_case_name);

// The commands that a script gives Vivado.
std::string vivado_commands(const EmittedDesign& own, const std::string& script,
                            const std::string& arguments = "") {
  const fs::path record = own.folder / "record.txt";
  run_tool_checked({"sh",
                    {"-c", fmt::format("tclsh {} {} {} {}", (kHere / "vivado_stub.tcl").string(),
                                       (own.folder / script).string(), record.string(), arguments)},
                    own.folder,
                    60});
  return read_text_file(record);
}

// What Vivado would have made by the time that the scripts ask for it.
void make_results(const fs::path& folder) {
  const fs::path runs = folder / "board_project/board_project.runs/impl_1";
  const fs::path handoff = folder / "board_project/board_project.gen/sources_1/bd/tilewright/hw_handoff";
  for (const fs::path& made : {folder / "ip", runs, handoff}) create_folder(made);
  write_text_file(folder / "ip/component.xml", "");
  write_text_file(runs / "tilewright_wrapper.bit", "bits");
  write_text_file(handoff / "tilewright.hwh", "handoff");
}

void expect_golden(const std::string& name, const std::string& text) {
  const fs::path golden = kHere / "golden" / name;
  if (std::getenv("TILEWRIGHT_UPDATE") != nullptr) {
    create_folder(golden.parent_path());
    write_text_file(golden, text);
  }
  EXPECT_EQ(text, read_text_file(golden)) << "TILEWRIGHT_UPDATE=1 writes " << golden;
}

// A design that no generator of random ones changes: two layers, weights through two memory ports.
EmittedDesign fixed_design() {
  NetworkBuilder builder("two layers", {6, 6, 2});
  Network network = builder.finish(builder.dense(builder.convolution(0, 4, 3), 3));
  Allocation a;
  a.engines = {{"mac", false, {4, 4, 4}}};
  a.weights_on_chip = false;
  a.weight_channels = 2;
  a.ring_words = 256;
  a.tensor_unit.assign(network.tensors.size(), 0);
  for (const Layer& layer : network.layers) a.layers.emplace_back().layer = layer.name;
  return {std::move(network), a, "fixed"};
}

TEST(BoardScripts, GiveVivadoTheGoldenCommands) {
  if (const std::string missing = synthesis::missing_tools({"tclsh"}); !missing.empty())
    GTEST_SKIP() << missing;
  const EmittedDesign own = fixed_design();
  expect_golden("build.txt", vivado_commands(own, "build.tcl"));
  expect_golden("package_ip.txt", vivado_commands(own, "package_ip.tcl"));
  make_results(own.folder);
  for (const char* const board : {"pynq-z2", "kv260"}) {
    expect_golden(fmt::format("block_design-{}.txt", board), vivado_commands(own, "block_design.tcl", board));
    EXPECT_EQ(read_text_file(own.folder / "host/tilewright.bit"), "bits");
    EXPECT_EQ(read_text_file(own.folder / "host/tilewright.hwh"), "handoff");
  }
}

TEST_P(BoardFiles, ScriptsNameEverySourceRegisterAndPort) {
  if (const std::string missing = synthesis::missing_tools({"tclsh"}); !missing.empty())
    GTEST_SKIP() << missing;
  const EmittedDesign own(GetParam().form, test_seed() + 4);
  const std::string built = vivado_commands(own, "build.tcl"),
                    packaged = vivado_commands(own, "package_ip.tcl");
  const auto has = [](const std::string& text, const std::string& part) {
    EXPECT_NE(text.find(part), std::string::npos) << part << " is not in\n" << text;
  };
  for (const std::string& source : own.sources({"rtl"})) {
    has(built, "rtl/" + fs::path(source).filename().string());
    has(packaged, "rtl/" + fs::path(source).filename().string());
  }
  has(built, "FOLDER=\"DESIGN\"");
  for (const DeviceRegister& r : kRegisters) {
    has(packaged, fmt::format("add_register {}{} ", r.name, r.words > 1 ? "_0" : ""));
    has(packaged, fmt::format("address_offset {:#05x} ", r.offset));
  }
  const std::string description = read_text_file(own.folder / "registers.rdl");
  for (const DeviceRegister& r : kRegisters) {
    has(description, fmt::format("}} {}{} @ {:#05x};\n", r.name, r.words > 1 ? "[16]" : "", r.offset));
  }
  make_results(own.folder);
  for (const std::string board : {"pynq-z1", "pynq-z2", "ultra96", "kv260"}) {
    const std::string commands = vivado_commands(own, "block_design.tcl", board);
    for (int64_t c = 0; c < own.design.channels; ++c)
      has(commands, fmt::format("<get_bd_intf_pins design_0/m{}_axi>", c));
    has(commands, "<get_bd_intf_pins design_0/s_axi>");
  }
  const fs::path stub = kHere / "vivado_stub.tcl";
  const auto failed =
      run_tool({"tclsh",
                {stub.string(), (own.folder / "block_design.tcl").string(), "/dev/null", "vu9p"},
                own.folder,
                60});
  EXPECT_NE(failed.exit_code, 0);
  has(failed.output, "name a board: pynq-z1, pynq-z2, ultra96, kv260");
}

TEST_P(BoardFiles, CoreDescriptionNamesFilesThatAreThere) {
  if (const std::string missing = synthesis::missing_tools({kPython}); !missing.empty()) {
    GTEST_SKIP() << missing;
  }
  const EmittedDesign own(GetParam().form, test_seed() + 4);
  const std::string check =
      "import sys, yaml, pathlib\n"
      "text = open('tilewright.core').read()\n"
      "assert text.startswith('CAPI=2:\\n')\n"
      "core = yaml.safe_load(text.split('\\n', 1)[1])\n"
      "assert core['name'].split(':')[:2] == ['tilewright', 'design'], core['name']\n"
      "named = []\n"
      "for target in core['targets'].values():\n"
      "    for name in target['filesets']:\n"
      "        for file in core['filesets'][name]['files']:\n"
      "            named.append(file if isinstance(file, str) else list(file)[0])\n"
      "missing = [file for file in named if not pathlib.Path(file).is_file()]\n"
      "there = [str(p) for folder in ('rtl', 'memory', 'testbench') for p in "
      "pathlib.Path(folder).iterdir()]\n"
      "assert not missing and not set(there) - set(named), (missing, set(there) - set(named))\n";
  write_text_file(own.folder / "check.py", check);
  run_tool_checked({kPython, {"check.py"}, own.folder, 60});
}

void write_values(const fs::path& path, const std::vector<std::vector<Tensor>>& images, size_t index) {
  Shape shape = images[0][index].shape();
  shape[0] = int64_t(images.size());
  Tensor all(ElementType::kF32, shape);
  int64_t at = 0;
  for (const std::vector<Tensor>& image : images) {
    for (int64_t i = 0; i < image[index].size(); ++i) all.set_number(at++, image[index].number_at(i));
  }
  write_npy(path, all);
}

// Images, and what the model makes of them.
struct Truth {
  std::vector<std::vector<Tensor>> inputs, outputs;
};

Truth make_truth(RealBorders& borders, const fs::path& folder, int64_t count) {
  Truth truth;
  for (int64_t i = 0; i < count; ++i) {
    truth.inputs.push_back(borders.random_inputs());
    truth.outputs.push_back(borders.outputs(truth.inputs.back()));
  }
  for (size_t i = 0; i < truth.inputs[0].size(); ++i)
    write_values(folder / fmt::format("in{}.npy", i), truth.inputs, i);
  for (size_t i = 0; i < truth.outputs[0].size(); ++i)
    write_values(folder / fmt::format("out{}.npy", i), truth.outputs, i);
  return truth;
}

// A network with a host's graphs that the programs know.
Network with_values(EmitForm form, uint64_t seed) {
  for (;; seed += 100) {
    Network network = emit_network(form, seed);
    const auto& tensors = network.tensors;
    const std::vector<int> inputs = network.input_tensors(), outputs = network.output_tensors();
    const auto signs = [&](int tensor) { return tensors[size_t(tensor)].bipolar; };
    if (std::none_of(inputs.begin(), inputs.end(), signs) &&
        std::none_of(outputs.begin(), outputs.end(), signs))
      return network;
  }
}

// Bits of results before a Softmax are equal; its exponentials are those of another library.
constexpr const char* kDrive =
    "import pathlib, sys\n"
    "sys.path.insert(0, 'host')\n"
    "import numpy as np\n"
    "import driver\n"
    "from simulated import SimulatedBoard\n"
    "board = SimulatedBoard()\n"
    "net = driver.Accelerator(board, board.allocate)\n"
    "inputs = [np.load(f'in{i}.npy') for i in range(len(driver.INPUTS))]\n"
    "truth = [np.load(f'out{i}.npy') for i in range(len(driver.OUTPUTS))]\n"
    "mismatches = 0\n"
    "for first, end in ((0, 1), (1, 40), (40, 100)):\n"
    "    results = net(*[x[first:end] for x in inputs])\n"
    "    results = results if isinstance(results, list) else [results]\n"
    "    for result, wanted, tensor in zip(results, truth, driver.OUTPUTS):\n"
    "        assert result.shape == wanted[first:end].shape, (result.shape, wanted.shape)\n"
    "        limit = 2e-7 if tensor.softmax else 0\n"
    "        mismatches += int((np.abs(result - wanted[first:end]) > limit).reshape(end - first, "
    "-1).any(axis=1).sum())\n"
    "    assert net.cycles > 0\n"
    "if len(truth) == 1:\n"
    "    wanted = truth[0].reshape(100, -1).argmax(axis=1)\n"
    "    mismatches += int((net.classes(*inputs) != wanted).sum())\n"
    "print(mismatches, 'mismatches of 100')\n"
    "try:\n"
    "    net(*[x.ravel()[:-1] for x in inputs])\n"
    "except driver.DesignError as error:\n"
    "    print(error)\n"
    "class Other:\n"
    "    read = staticmethod(lambda offset: 0)\n"
    "try:\n"
    "    driver.Accelerator(Other, board.allocate)\n"
    "except driver.DesignError as error:\n"
    "    print(error)\n";

TEST_P(BoardFiles, PythonDriverRunsTheDesignAsTheModel) {
  if (const std::string missing = synthesis::missing_tools({"verilator", "g++", kPython}); !missing.empty()) {
    GTEST_SKIP() << missing;
  }
  Network network = with_values(GetParam().form, test_seed() + 5);
  RealBorders borders(network, test_seed() + 5);
  const EmittedDesign own(network, GetParam().form, test_seed() + 5);
  make_truth(borders, own.folder, 100);
  run_folder_command(own.folder, "host/simulated.py", "verilator ");
  write_text_file(own.folder / "drive.py", kDrive);
  const std::string output = run_tool_checked({kPython, {"-B", "drive.py"}, own.folder, 300}).output;
  EXPECT_NE(output.find("0 mismatches of 100"), std::string::npos) << output;
  EXPECT_NE(output.find("elements per image"), std::string::npos) << output;
  EXPECT_NE(output.find("another design answers"), std::string::npos) << output;
}

TEST_P(BoardFiles, HostProgramTakesRealValues) {
  if (const std::string missing = synthesis::missing_tools({"verilator", "g++"}); !missing.empty()) {
    GTEST_SKIP() << missing;
  }
  Network network = with_values(GetParam().form, test_seed() + 6);
  RealBorders borders(network, test_seed() + 6);
  const EmittedDesign own(network, GetParam().form, test_seed() + 6);
  const Truth truth = make_truth(borders, own.folder, 3);
  run_folder_command(own.folder, "host/host.cpp", "verilator ");
  std::string images;
  for (const std::vector<Tensor>& image : truth.inputs) {
    for (const Tensor& tensor : image)
      images.append(reinterpret_cast<const char*>(tensor.bytes().data()), tensor.bytes().size());
  }
  write_text_file(own.folder / "images.bin", images);
  const std::string run = (own.folder / "obj_dir/run").string();
  const std::string output = run_tool_checked({run, {"images.bin", "results.bin"}, own.folder, 300}).output;
  const std::string bytes = read_text_file(own.folder / "results.bin");
  std::vector<float> results(bytes.size() / 4);
  std::memcpy(results.data(), bytes.data(), bytes.size());
  const ModelValues values = model_values(network);
  size_t at = 0;
  for (size_t i = 0; i < truth.outputs.size(); ++i) {
    for (size_t o = 0; o < truth.outputs[i].size(); ++o) {
      const std::vector<float> wanted = truth.outputs[i][o].to_floats();
      for (const float value : wanted) {
        ASSERT_LT(at, results.size());
        ASSERT_NEAR(results[at++], value, values.outputs[o].softmax ? 2e-7 : 0);
      }
      const bool vector =
          truth.outputs[i].size() == 1 && own.design.output.shape.rows * own.design.output.shape.columns == 1;
      const auto largest = std::max_element(wanted.begin(), wanted.end()) - wanted.begin();
      const std::string line = fmt::format("image {}: class {}\n", i, largest);
      EXPECT_EQ(output.find(line) != std::string::npos, vector) << output << line;
    }
  }
  EXPECT_EQ(at, results.size());
  if (truth.inputs[0].size() == 1) {
    EXPECT_EQ(run_tool_checked({run, {"in0.npy", "again.bin"}, own.folder, 300}).output, output);
    EXPECT_EQ(read_text_file(own.folder / "again.bin"), bytes);
  }
  write_text_file(own.folder / "short.bin", images.substr(4));
  EXPECT_NE(run_tool({run, {"short.bin", "none.bin"}, own.folder, 300}).output.find("an image has"),
            std::string::npos);
}

}  // namespace
}  // namespace tilewright::pipeline

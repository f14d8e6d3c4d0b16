// Wrong input ends with a message that names what is wrong and the exit code of its kind.
#include <gtest/gtest.h>

#include "command.h"
#include "tilewright/base/file.h"
#include "tilewright/frontend/onnx/onnx_writer.h"
#include "tilewright/tensor/npy.h"

namespace tilewright {
namespace {

void expect_failure(const std::string& arguments, int exit_code, const std::vector<std::string>& texts) {
  const CommandResult result = command(arguments);
  EXPECT_EQ(result.exit_code, exit_code) << arguments << "\n" << result.output;
  for (const std::string& text : texts) {
    EXPECT_NE(result.output.find(text), std::string::npos) << arguments << "\n" << result.output;
  }
}

// The first half of a file under another name.
std::filesystem::path half_of(const std::filesystem::path& file, const std::string& name) {
  std::vector<std::byte> bytes = read_file(file);
  bytes.resize(bytes.size() / 2);
  const auto path = fresh_folder(name) / file.filename();
  write_file(path, bytes);
  return path;
}

TEST(BadInput, MissingAndTruncatedFiles) {
  expect_failure("inspect /nowhere/model.onnx", 1,
                 {"cannot open '/nowhere/model.onnx': No such file or directory"});
  expect_failure("inspect " + half_of(demo_files().model, "half_model").string(), 1, {"lenet_fashion.onnx"});
  expect_failure("run " + half_of(demo_files().bundle, "half_bundle").string() + " --input " +
                     demo_files().images.string(),
                 1, {"m.twb", "truncated"});
  expect_failure("exec /nowhere/program.yaml", 1, {"/nowhere/program.yaml"});
}

TEST(BadInput, EveryUnsupportedOperatorIsNamed) {
  Graph graph;
  graph.name = "three";
  ValueId value = graph.add_input("x", ElementType::kF32, {1, 4});
  for (const char* op : {"FancyGate", "Warp", "Teleport"}) {
    const ValueId next = graph.add_value(std::string("after_") + op, ElementType::kF32, {1, 4});
    graph.add_node(std::string("node_") + op, op, {value}, {next});
    value = next;
  }
  graph.outputs = {value};
  const auto path = fresh_folder("unsupported") / "three.onnx";
  write_onnx(path, graph);
  expect_failure("inspect " + path.string(), 2,
                 {"3 problems", "node 'node_FancyGate' (FancyGate)", "node 'node_Warp' (Warp)",
                  "node 'node_Teleport' (Teleport)"});
}

TEST(BadInput, WrongInputShape) {
  const auto path = fresh_folder("shape") / "x.npy";
  write_npy(path, Tensor(ElementType::kF32, {3, 1, 20, 20}));
  expect_failure("run " + demo_files().bundle.string() + " --input " + path.string(), 1,
                 {"x.npy' holds samples of 400 elements (array 3x1x20x20), the model wants 1x1x28x28"});
  expect_failure(
      "run " + demo_files().bundle.string() + " --input " + demo_files().images.string() + " --input-count 9",
      1, {"9 samples are wanted, 8 are there"});
}

TEST(BadInput, ImpossibleHardware) {
  const auto path = fresh_folder("hardware") / "bad.yaml";
  write_text_file(
      path,
      "name: bad\nisa: vta\nbatch: 3\nblock_in: 16\nblock_out: 16\ninput_buffer_bytes: 1000\ncolour: red\n");
  expect_failure("compile " + demo_files().quantised.string() + " --hardware " + path.string(), 1,
                 {"bad.yaml", "batch", "input_buffer_bytes", "colour"});
  expect_failure("compile " + demo_files().quantised.string() + " --hardware no-such-overlay", 1,
                 {"overlay-16x16", "vta-default"});
}

TEST(BadInput, AFloatModelIsNotCompiled) {
  expect_failure("compile " + demo_files().model.string() + " --hardware overlay-16x16", 1,
                 {"is not quantised; run 'tilewright quantize' first"});
}

TEST(BadInput, FullDiskLeavesNothingBehind) {
  expect_failure("compile " + demo_files().quantised.string() + " --hardware overlay-16x16 -o /dev/full", 1,
                 {"No space left on device"});
  expect_failure("quantize " + demo_files().model.string() + " --calibration " +
                     demo_files().images.string() + " -o /nowhere/q.onnx",
                 1, {"cannot write '/nowhere/q.onnx'"});
}

TEST(BadInput, CommandLine) {
  expect_failure("", 1, {});
  expect_failure("frobnicate", 1, {});
  expect_failure("inspect a.onnx --shape batch", 1, {"'batch' is not name=N"});
  expect_failure("quantize " + demo_files().model.string() + " -o q.onnx", 1, {"no calibration inputs"});
}

}  // namespace
}  // namespace tilewright

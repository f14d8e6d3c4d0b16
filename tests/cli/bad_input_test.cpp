// Wrong input ends with a message that names what is wrong and the exit code of its kind.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "command.h"
#include "tilewright/base/file.h"
#include "tilewright/frontend/onnx/onnx_writer.h"
#include "tilewright/overlay/referee/raw_program.h"
#include "tilewright/tensor/npy.h"

namespace tilewright {
namespace {

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
  expect_failure("run /nowhere/m.twb --verify --input " + demo_files().images.string(), 1,
                 {"cannot open '/nowhere/m.twb'"});
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
      1, {"9 samples are requested, 8 are there"});
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

// What is wrong is found in the program itself, by every engine, before a byte is written outside of it.
TEST(BadInput, AProgramForOtherHardware) {
  const auto folder = fresh_folder("other_hardware");
  const auto program = folder / "raw" / "program.yaml";
  ASSERT_EQ(command("compile " + demo_files().quantised.string() + " --hardware overlay-16x16 --emit-raw " +
                    (folder / "raw").string())
                .exit_code,
            0);
  EXPECT_EQ(command("exec " + program.string()).exit_code, 0);
  for (const char* other : {"vta-default", "overlay-tiny"}) {
    std::filesystem::copy_file(std::string(TILEWRIGHT_SOURCE_DIR "/hardware/") + other + ".yaml",
                               folder / "raw" / "hardware.yaml",
                               std::filesystem::copy_options::overwrite_existing);
    for (const char* engine : {"functional", "cycle"}) {
      expect_failure("exec " + program.string() + " --engine " + engine, 1, {"instruction "});
    }
  }
}

TEST(BadInput, AProgramThatReachesOutsideOfItsFolder) {
  const auto folder = fresh_folder("reaching_out");
  const auto program = folder / "raw" / "program.yaml";
  ASSERT_EQ(command("compile " + demo_files().quantised.string() + " --hardware overlay-16x16 --emit-raw " +
                    (folder / "raw").string())
                .exit_code,
            0);
  write_text_file(folder / "secret", "s");
  const std::string yaml = read_text_file(program), exec = "exec " + program.string();
  const auto with_dump = [&](const std::string& file) {
    const std::string dumps = yaml.find("dump:\n") == std::string::npos ? "dump:\n" : "";
    write_text_file(program, yaml + dumps + "  - {file: " + file + ", address: 0, bytes: 16}\n");
  };
  with_dump("../dumped");
  expect_failure(exec, 1,
                 {"'../dumped' leads outside '" + (folder / "raw").string() + "'", "--allow-outside"});
  EXPECT_FALSE(std::filesystem::exists(folder / "dumped"));
  EXPECT_EQ(command(exec + " --allow-outside").exit_code, 0);
  EXPECT_TRUE(std::filesystem::exists(folder / "dumped"));
  with_dump("program.yaml");
  expect_failure(exec, 1, {"'program.yaml' would overwrite the program itself"});
  with_dump("hardware.yaml");
  expect_failure(exec + " --allow-outside", 1, {"'hardware.yaml' would overwrite program.yaml: hardware"});
}

TEST(BadInput, AProgramThatHardlyEnds) {
  const auto folder = fresh_folder("endless");
  overlay::RawProgram program;
  program.hardware.name = "default";
  program.memory_bytes = 1 << 16;
  overlay::RawImage code{"code.bin", 32768, {}};
  overlay::MemoryInstruction load;
  load.memory_type = overlay::MemoryType::kUop;
  load.y_size = 1;
  load.x_size = load.x_stride = 8192;
  overlay::AluInstruction alu;
  alu.loop.uop_end = 8192;
  alu.loop.iter_out = alu.loop.iter_in = 16383;
  for (const overlay::Instruction& i : {overlay::Instruction(load), overlay::Instruction(alu),
                                        overlay::Instruction(overlay::FinishInstruction{})}) {
    overlay::encode(program.hardware, i, code.bytes);
  }
  program.load = {code};
  program.instruction_address = 32768;
  program.instruction_count = 3;
  overlay::write_raw_program(folder, program);
  for (const char* engine : {"functional", "cycle"}) {
    expect_failure("exec " + (folder / "program.yaml").string() + " --time 50ms --engine " + engine, 3,
                   {"the program has not ended within 0.05 s; allow more time (--time)"});
  }
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

// One convolution of `rank` spatial dimensions, on an input that gives results of size 6 in each.
std::filesystem::path convolution_model(const std::string& name, size_t rank, const std::string& output,
                                        int64_t kernel = 3) {
  Graph graph;
  graph.name = name;
  std::vector<int64_t> input{1, 3}, weights{8, 3}, result{1, 8};
  for (size_t i = 0; i < rank; ++i) {
    input.push_back(kernel + 5);
    weights.push_back(kernel);
    result.push_back(6);
  }
  const ValueId x = graph.add_input("image", ElementType::kF32, Shape(input));
  Tensor constant(ElementType::kF32, Shape(weights));
  for (int64_t i = 0; i < constant.size(); ++i) constant.set_number(i, double(i % 7 - 3) / 10);
  const ValueId w = graph.add_constant("w", constant);
  const ValueId y = graph.add_value(output, ElementType::kF32, Shape(result));
  graph.add_node("only", "Conv", {x, w}, {y});
  graph.outputs = {y};
  const auto path = fresh_folder(name) / (name + ".onnx");
  write_onnx(path, graph);
  return path;
}

std::filesystem::path array(const std::string& name, const Tensor& tensor) {
  const auto path = fresh_folder(name) / "a.npy";
  write_npy(path, tensor);
  return path;
}

TEST(BadInput, LabelsThatCannotBeRight) {
  const std::string run = "run " + demo_files().bundle.string() + " --input " + demo_files().images.string();
  expect_failure(run + " --labels " + array("ten", Tensor(ElementType::kI64, {10})).string(), 1,
                 {"a.npy': 10 labels for 8 samples"});
  expect_failure(run + " --labels " + array("hot", Tensor(ElementType::kI64, {8, 10})).string(), 1,
                 {"an array 8x10 is not one number per sample"});
  const auto classes = array("class", Tensor::of<int64_t>({8}, {0, 1, 2, 3, 10, 5, 6, 7}));
  expect_failure(run + " --labels " + classes.string(), 1, {"10 of sample 4 is not a class label in 0..9"});
  EXPECT_EQ(command(run + " --input-count 4 --labels " + classes.string()).exit_code, 0);
  // Nothing is written by a command that fails.
  const auto output = fresh_folder("labels") / "q.onnx";
  expect_failure("quantize " + demo_files().model.string() + " --calibration " +
                     demo_files().images.string() + " --labels " + classes.string() + " -o " +
                     output.string(),
                 1, {"10 of sample 4"});
  EXPECT_FALSE(std::filesystem::exists(output));
}

TEST(BadInput, ChannelsLast) {
  const auto model = convolution_model("channels", 2, "y");
  const auto images = array("nhwc", Tensor(ElementType::kF32, {4, 8, 8, 3}));
  expect_failure("run " + model.string() + " --input " + images.string(), 1,
                 {"(array 4x8x8x3) as the model wants (1x3x8x8), but in other axes; transpose"});
}

TEST(BadInput, NothingToQuantize) {
  const auto model = convolution_model("volume", 3, "y");
  const auto images = array("volumes", Tensor(ElementType::kF32, {2, 3, 8, 8, 8}));
  const auto output = fresh_folder("volume_q") / "q.onnx";
  expect_failure(
      "quantize " + model.string() + " --calibration " + images.string() + " -o " + output.string(), 2,
      {"volume.onnx' contains nothing that can be quantised (operators: Conv)"});
  EXPECT_FALSE(std::filesystem::exists(output));
}

TEST(BadInput, ABundleWhereAModelIsWanted) {
  for (const std::string verb : {"inspect ", "optimize ", "compile --hardware overlay-16x16 "}) {
    expect_failure(verb + demo_files().bundle.string(), 1, {"m.twb': is a compiled bundle"});
  }
}

TEST(BadInput, CompareWithAnotherModel) {
  // The same input and another computation: of the bundle's tensors only the input is known.
  const auto model = convolution_model("one", 2, "y"), other = convolution_model("other", 2, "z");
  Tensor pixels(ElementType::kF32, {1, 3, 8, 8});
  for (int64_t i = 0; i < pixels.size(); ++i) pixels.set_number(i, double(i % 11) / 11);
  const auto images = array("pixels", pixels);
  const auto folder = fresh_folder("compare");
  const std::string q = (folder / "q.onnx").string(), bundle = (folder / "b.twb").string();
  ASSERT_EQ(
      command("quantize " + model.string() + " --calibration " + images.string() + " -o " + q).exit_code, 0);
  ASSERT_EQ(command("compile " + q + " --hardware overlay-16x16 -o " + bundle).exit_code, 0);
  EXPECT_EQ(command("compare " + model.string() + " " + bundle + " --input " + images.string()).exit_code, 0);
  expect_failure("compare " + other.string() + " " + bundle + " --input " + images.string(), 1,
                 {"no tensor of the bundle is known in the float model"});
  // Fractional scales on the plain instruction set: all on the host, so there is no program to write.
  const auto raw = folder / "raw";
  expect_failure("compile " + q + " --hardware vta-default --emit-raw " + raw.string(), 2,
                 {"no layer runs on the overlay: there is no program to write"});
  expect_failure("compile " + q + " --hardware overlay-16x16 --json --emit-assembly -", 1,
                 {"both print to standard output"});
}

// A layer that no tile of a small overlay holds goes to the host, with its reason; the others stay.
TEST(BadInput, ALayerTooLargeForTheOverlay) {
  const auto model = convolution_model("large_kernel", 2, "y", 11);
  Tensor pixels(ElementType::kF32, {2, 3, 16, 16});
  for (int64_t i = 0; i < pixels.size(); ++i) pixels.set_number(i, double(i % 13) / 13);
  const auto images = array("large", pixels);
  const auto folder = fresh_folder("large_out");
  const std::string q = (folder / "q.onnx").string(), bundle = (folder / "b.twb").string();
  ASSERT_EQ(
      command("quantize " + model.string() + " --calibration " + images.string() + " -o " + q).exit_code, 0);
  const CommandResult compiled = command("compile " + q + " --hardware overlay-tiny -o " + bundle);
  EXPECT_EQ(compiled.exit_code, 0) << compiled.output;
  EXPECT_NE(compiled.output.find("its smallest tile does not fit: WGT scratchpad needs 121 elements of 64"),
            std::string::npos)
      << compiled.output;
  ASSERT_EQ(command("compile " + q + " --hardware overlay-16x16 -o " + bundle).exit_code, 0);
  const CommandResult moved =
      command("run " + bundle + " --hardware overlay-tiny --verify --input " + images.string());
  EXPECT_EQ(moved.exit_code, 0) << moved.output;
}

TEST(BadInput, FoldersThatCannotBe) {
  const std::string model = demo_files().model.string();
  expect_failure("optimize " + model + " --dump-passes " + model, 1, {"would overwrite what model reads"});
  expect_failure("optimize " + model + " --dump-passes /etc/passwd", 1, {"'/etc/passwd' is not a folder"});
  expect_failure("optimize " + model + " --dump-passes /proc/nowhere", 1,
                 {"cannot create folder '/proc/nowhere'"});
}

TEST(BadInput, SynthesisOfTheImpossible) {
  const std::string folder = fresh_folder("synthesis").string();
  expect_failure("synth overlay-tiny --device xc7z999 -o " + folder, 1,
                 {"'xc7z999' is neither a device preset nor a file",
                  "known presets: f1-vu9p, ice40-hx8k, ice40-up5k, lfe5u-85f, xc7z010, xc7z020"});
  expect_failure("synth overlay-9000 --device xc7z020 -o " + folder, 1,
                 {"'overlay-9000' is neither an overlay preset nor a file"});
  expect_failure("synth vta-default --device ice40-hx8k -o " + folder, 3,
                 {"device 'ice40-hx8k' (BRAM)", "4864 Kb", "128 Kb", "take a larger device"});
  expect_failure("synth overlay-tiny --rtl-only", 1, {"-o FOLDER"});
  // Without -o nothing stays behind.
  const auto temporary = fresh_folder("synthesis_temporary");
  const CommandResult none =
      command("synth vta-default --device ice40-hx8k", "TMPDIR=" + temporary.string() + " ");
  EXPECT_EQ(none.exit_code, 3) << none.output;
  EXPECT_TRUE(std::filesystem::is_empty(temporary));
  expect_failure("synth overlay-tiny -o " + folder, 1, {"--device"});
  expect_failure("synth overlay-tiny --device xc7z020 --clock 0 -o " + folder, 1, {"--clock"});
}

// The first and the last number of a range are taken, their neighbours outside are not.
TEST(BadInput, NumbersAtTheEndsOfTheirRanges) {
  struct Option {
    const char* name;
    int64_t least, most;
  };
  for (const Option& option : {Option{"explore --candidates", 1, int64_t{1} << 40},
                               {"explore --trials", 0, int64_t{1} << 20},
                               {"place --evaluations", 1, int64_t{1} << 40},
                               {"place train --episodes", 1, int64_t{1} << 40},
                               {"place train --ii", 1, 64},
                               {"place bench --episodes", 1, int64_t{1} << 40},
                               {"place bench --seeds", 1, 1000}}) {
    const auto in_range = [&](int64_t number) {
      const CommandResult result = command(fmt::format("{} {}", option.name, number));
      EXPECT_EQ(result.exit_code, 1) << result.output;  // for want of what is required, if nothing else
      return result.output.find("is not an integer, ") == std::string::npos;
    };
    EXPECT_FALSE(in_range(option.least - 1)) << option.name;
    EXPECT_TRUE(in_range(option.least)) << option.name;
    EXPECT_TRUE(in_range(option.most)) << option.name;
    EXPECT_FALSE(in_range(option.most + 1)) << option.name;
  }
}

TEST(BadInput, CommandLine) {
  const std::string run = "run " + demo_files().bundle.string() + " --input " + demo_files().images.string();
  expect_failure(run + " --input-count -3", 1, {"--input-count"});
  for (const char* scale : {"0", "nan", "inf", "x"}) {
    expect_failure(run + " --input-scale " + scale, 1, {"--input-scale"});
  }
  expect_failure("inspect a.onnx --fill-weights -1", 1, {"'-1' is not a finite number above 0"});
  expect_failure("", 1, {});
  expect_failure("frobnicate", 1, {});
  expect_failure("inspect a.onnx --shape batch", 1, {"'batch' is not name=N"});
  const std::string quantize = "quantize " + demo_files().model.string() + " -o q.onnx";
  expect_failure(quantize, 1, {"no calibration inputs"});
  expect_failure(quantize + " --number-type q10.21", 1, {"there is no number type 'q10.21'"});
  expect_failure(quantize + " --number-type q10.22 --weight-bits 4", 1, {"fixed point has 32 bits"});
  expect_failure("quantize " + demo_files().quantised.string() + "x -o q.onnx --number-type q10.22", 1, {});
}

}  // namespace
}  // namespace tilewright

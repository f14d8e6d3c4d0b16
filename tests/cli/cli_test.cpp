// Each verb does what the README says, on the demo network.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <regex>

#include "command.h"
#include "tilewright/base/file.h"
#include "tilewright/frontend/onnx/onnx_reader.h"
#include "tilewright/frontend/onnx/onnx_writer.h"
#include "tilewright/overlay/referee/raw_program.h"
#include "tilewright/tensor/npy.h"

namespace tilewright {
namespace {

TEST(Cli, EveryVerbHelpsWithAnExample) {
  for (const char* verb : {"inspect", "optimize", "quantize", "compile", "run", "report", "explain", "decode",
                           "compare", "exec", "synth", "doctor"}) {
    const CommandResult result = command(std::string(verb) + " --help");
    EXPECT_EQ(result.exit_code, 0) << verb;
    EXPECT_TRUE(contains(result, std::string("Example:\n  tilewright ") + verb)) << result.output;
  }
}

TEST(Cli, SynthWritesTheConfiguredSources) {
  const auto folder = fresh_folder("rtl");
  const CommandResult result = command("synth overlay-ice40 --rtl-only -o " + folder.string());
  EXPECT_EQ(result.exit_code, 0) << result.output;
  EXPECT_TRUE(contains(result, "source files of 'overlay-ice40'")) << result.output;
  const std::string package = read_text_file(folder / "overlay_config.sv");
  EXPECT_NE(package.find("localparam int BLOCK_IN = 4;"), std::string::npos);
  EXPECT_TRUE(std::filesystem::exists(folder / "tilewright_overlay.sv"));
  const std::string registers = read_text_file(folder / "registers.rdl");
  EXPECT_NE(registers.find("addrmap tilewright_overlay_registers {"), std::string::npos);
  EXPECT_NE(registers.find("} HW_WIDE @ 0x118;"), std::string::npos) << registers;
}

TEST(Cli, InspectCountsTheDemoNetwork) {
  const CommandResult result = command("inspect " + demo_files().model.string());
  EXPECT_EQ(result.exit_code, 0);
  EXPECT_TRUE(contains(result, "2293000 MACs, 431080 parameters (1724320 bytes), 2.29 operations per byte"))
      << result.output;
  EXPECT_TRUE(std::regex_search(result.output, std::regex("\ndense1 +Gemm +f32\\[1x500\\] +400000 +400500 +"
                                                          "1607200 +0\\.50\n")))
      << result.output;
  EXPECT_EQ(command("inspect --json " + demo_files().model.string()).output.front(), '{');
}

// What --text prints is a model again: the same table and the same text.
TEST(Cli, InspectPrintsAModelAsText) {
  const std::string model = demo_files().model.string();
  const auto file = fresh_folder("inspect_text") / "lenet.graph";
  const CommandResult text = command("inspect --text " + model);
  ASSERT_EQ(text.exit_code, 0) << text.output;
  EXPECT_TRUE(text.output.starts_with("graph \""));
  write_text_file(file, text.output);
  EXPECT_EQ(command("inspect --text " + file.string()).output, text.output);
  EXPECT_EQ(command("inspect " + file.string()).output, command("inspect " + model).output);
  write_text_file(
      file, "graph \"g\"\ninput %0 \"x\": f32[2]\nnode \"n\" Relu(%0) -> (%1 \"y\": f32[3])\noutput %1\n");
  const CommandResult wrong = command("inspect " + file.string());
  EXPECT_EQ(wrong.exit_code, 1);
  EXPECT_TRUE(contains(wrong, "lenet.graph")) << wrong.output;
}

TEST(Cli, InspectKeepsBothEndsOfLongNames) {
  Graph graph;
  graph.name = "long";
  const ValueId x = graph.add_input("x", ElementType::kF32, {1, 3});
  const ValueId y = graph.add_value("y", ElementType::kF32, {1, 3});
  graph.add_node("begins_like_this_and_goes_on_until_it_ends_like_that", "Relu", {x}, {y});
  graph.outputs = {y};
  const auto folder = fresh_folder("long_name");
  write_onnx(folder / "m.onnx", graph);
  const CommandResult result = command("inspect " + (folder / "m.onnx").string());
  EXPECT_TRUE(contains(result, "\nbegins_like_thi.._ends_like_that Relu ")) << result.output;
}

TEST(Cli, OptimizeWritesEveryStageAsAValidModel) {
  const auto folder = fresh_folder("passes");
  const CommandResult result =
      command("optimize " + demo_files().model.string() + " -o " + (folder / "o.onnx").string() +
              " --dump-passes " + (folder / "passes").string());
  EXPECT_EQ(result.exit_code, 0) << result.output;
  int stages = 0;
  for (const auto& entry : std::filesystem::directory_iterator(folder / "passes")) {
    if (entry.path().extension() != ".onnx") continue;  // the manifest
    EXPECT_NO_THROW(read_onnx(entry.path())) << entry.path();
    ++stages;
  }
  EXPECT_GT(stages, 5);
  EXPECT_NO_THROW(read_onnx(folder / "o.onnx"));
}

TEST(Cli, BothEnginesGiveTheSameBits) {
  const auto folder = fresh_folder("run");
  for (const char* engine : {"functional", "host"}) {
    const CommandResult result =
        command("run " + demo_files().bundle.string() + " --input " + demo_files().images.string() +
                " --engine " + engine + " --verify --output " + (folder / engine).string());
    EXPECT_EQ(result.exit_code, 0) << result.output;
    EXPECT_TRUE(contains(result, "all 8 outputs are bit-identical to the integer reference"))
        << result.output;
  }
  const Tensor functional = read_npy(folder / "functional");
  EXPECT_EQ(functional.shape(), (Shape{8, 10}));
  EXPECT_TRUE(functional.identical(read_npy(folder / "host")));
}

TEST(Cli, ABundleRunsOnOtherOverlays) {
  for (const char* hardware : {"overlay-8x8", "overlay-32x32", "overlay-tiny", "vta-default"}) {
    const CommandResult result = command("run " + demo_files().bundle.string() + " --input " +
                                         demo_files().images.string() + " --verify --hardware " + hardware);
    EXPECT_EQ(result.exit_code, 0) << result.output;
    EXPECT_TRUE(contains(result, "all 8 outputs are bit-identical")) << result.output;
  }
}

TEST(Cli, RunTakesAnOnnxFileOnTheHost) {
  const CommandResult result = command("run " + demo_files().model.string() + " --engine host --input " +
                                       demo_files().images.string());
  EXPECT_EQ(result.exit_code, 0) << result.output;
}

// Fixed point needs no calibration; the file that it writes runs on the host.
TEST(Cli, FixedPointIsWrittenAndRuns) {
  const DemoFiles& files = demo_files();
  const std::string fixed = (fresh_folder("fixed") / "m.fixed.onnx").string();
  const std::string write = "quantize " + files.model.string() + " --number-type q10.22 -o " + fixed;
  CommandResult result = command(write);
  EXPECT_EQ(result.exit_code, 0) << result.output;
  EXPECT_TRUE(contains(result, "Q10.22: ")) << result.output;
  EXPECT_TRUE(contains(result, "with 100.00% of ")) << result.output;
  result = command(write + " --calibration " + files.images.string());
  EXPECT_TRUE(contains(result, "8 samples, 8 (100.00%) with the same answer")) << result.output;
  EXPECT_TRUE(contains(result, "results saturate; no sum wraps")) << result.output;
  result = command("inspect " + fixed);
  EXPECT_TRUE(contains(result, "FixedConv")) << result.output;
  result = command("run " + fixed + " --engine host --input " + files.images.string());
  EXPECT_EQ(result.exit_code, 0) << result.output;
}

// A model that ends in ArgMax gives class numbers, which are not to be taken for scores.
TEST(Cli, RunScoresAModelThatEndsInArgMax) {
  Graph graph;
  graph.name = "classes";
  const ValueId x = graph.add_input("x", ElementType::kF32, {1, 3});
  const ValueId y = graph.add_value("y", ElementType::kI64, {1});
  Node& node = graph.add_node("largest", "ArgMax", {x}, {y});
  node.attributes["axis"] = int64_t{1};
  node.attributes["keepdims"] = int64_t{0};
  graph.outputs = {y};
  const auto folder = fresh_folder("argmax");
  write_onnx(folder / "m.onnx", graph);
  write_npy(folder / "x.npy", Tensor::of<float>({4, 3}, {0, 1, 0, 0, 0, 1, 1, 0, 0, 0, 1, 0}));
  write_npy(folder / "l.npy", Tensor::of<int64_t>({4}, {1, 2, 0, 0}));
  const CommandResult result =
      command("run " + (folder / "m.onnx").string() + " --engine host --input " +
              (folder / "x.npy").string() + " --labels " + (folder / "l.npy").string());
  EXPECT_EQ(result.exit_code, 0);
  EXPECT_TRUE(contains(result, "top-1 accuracy 75.00 % (3 of 4)")) << result.output;
}

// Two samples at a time, whose scores or class numbers come one after the other.
TEST(Cli, RunScoresEverySampleOfABatch) {
  const auto folder = fresh_folder("batch");
  write_npy(folder / "x.npy", Tensor::of<float>({4, 3}, {0, 1, 0, 0, 0, 1, 1, 0, 0, 0, 1, 0}));
  write_npy(folder / "l.npy", Tensor::of<int64_t>({4}, {1, 2, 0, 0}));
  for (const bool classes : {false, true}) {
    Graph graph;
    graph.name = "batch";
    const ValueId x = graph.add_input("x", ElementType::kF32, {2, 3});
    const ValueId y = classes ? graph.add_value("y", ElementType::kI64, {2})
                              : graph.add_value("y", ElementType::kF32, {2, 3});
    Node& node = graph.add_node("last", classes ? "ArgMax" : "Relu", {x}, {y});
    if (classes) node.attributes = {{"axis", int64_t{1}}, {"keepdims", int64_t{0}}};
    graph.outputs = {y};
    write_onnx(folder / "m.onnx", graph);
    const CommandResult result =
        command("run " + (folder / "m.onnx").string() + " --input " + (folder / "x.npy").string() +
                " --labels " + (folder / "l.npy").string());
    EXPECT_EQ(result.exit_code, 0);
    EXPECT_TRUE(contains(result, "top-1 accuracy 75.00 % (3 of 4)")) << result.output;
  }
}

TEST(Cli, CompareFindsNoDivergenceInAGoodModel) {
  const CommandResult result =
      command("compare " + demo_files().model.string() + " " + demo_files().bundle.string() + " --input " +
              demo_files().images.string());
  EXPECT_EQ(result.exit_code, 0) << result.output;
  EXPECT_TRUE(contains(result, "no tensor diverges")) << result.output;
  EXPECT_TRUE(contains(result, "\nscores ")) << "the model's output is compared too\n" << result.output;
}

TEST(Cli, RawProgramsAndAssemblyComeOutOfCompile) {
  const auto folder = fresh_folder("raw");
  const CommandResult result =
      command("compile " + demo_files().quantised.string() + " --hardware overlay-16x16 --emit-raw " +
              (folder / "raw").string() + " --emit-assembly " + (folder / "program.txt").string());
  ASSERT_EQ(result.exit_code, 0) << result.output;
  EXPECT_NE(read_text_file(folder / "program.txt").find(".instructions"), std::string::npos);
  const CommandResult executed = command("exec --check " + (folder / "raw/program.yaml").string());
  EXPECT_EQ(executed.exit_code, 0) << executed.output;
  EXPECT_TRUE(std::filesystem::exists(folder / "raw/output_0.bin"));

  // Without one of its tokens the program is refused, with the instructions that wait.
  overlay::RawProgram program = overlay::read_raw_program(folder / "raw/program.yaml");
  constexpr std::byte kPushNext{1 << 6};
  bool damaged = false;
  const uint64_t size = uint64_t(program.hardware.instruction_bytes());
  for (overlay::RawImage& image : program.load) {
    for (uint64_t i = 0; i < program.instruction_count && !damaged; ++i) {
      const uint64_t at = program.instruction_address + i * size - image.address;
      if (at >= image.bytes.size()) continue;
      damaged = (image.bytes[at] & kPushNext) != std::byte{0};
      image.bytes[at] &= ~kPushNext;
    }
  }
  ASSERT_TRUE(damaged);
  write_raw_program(folder / "damaged", program);
  const CommandResult refused = command("exec --check " + (folder / "damaged/program.yaml").string());
  EXPECT_EQ(refused.exit_code, 1) << refused.output;
  EXPECT_TRUE(contains(refused, "deadlock: the ")) << refused.output;
}

TEST(Cli, DoctorNamesWhatIsThere) {
  const CommandResult result = command("doctor");
  EXPECT_EQ(result.exit_code, 0);
  EXPECT_TRUE(contains(result, "ONNX reader")) << result.output;
  EXPECT_TRUE(std::regex_search(result.output, std::regex("XGBoost +built in, [0-9]+\\.[0-9]+\\.[0-9]+")))
      << result.output;
}

TEST(Cli, DoctorLooksForProgramsThatRun) {
  namespace fs = std::filesystem;
  const fs::path folder = fresh_folder("doctor");
  write_text_file(folder / "yosys", "#!/bin/sh\n");
  write_text_file(folder / "verilator", "#!/bin/sh\n");
  fs::permissions(folder / "yosys", fs::perms::owner_exec, fs::perm_options::add);
  const CommandResult result = command("doctor", "PATH=/nowhere:" + folder.string() + " ");
  EXPECT_TRUE(contains(result, "  ok       yosys            " + (folder / "yosys").string() + "\n"))
      << result.output;
  EXPECT_TRUE(std::regex_search(result.output,
                                std::regex("  missing  verilator +gives .*; apt-get install verilator\n")))
      << result.output;
}

TEST(Cli, StudyRulesShowsWhatIsLeftOfAllCombinations) {
  const CommandResult ice40 = command("study rules --device ice40-hx8k");
  EXPECT_EQ(ice40.exit_code, 0) << ice40.output;
  EXPECT_TRUE(contains(ice40, "| all combinations |  | 6912000 | 6912 | 12960 | 6.19e+14 |")) << ice40.output;
  EXPECT_TRUE(contains(ice40, "| 238 | 7 | 10 | 4.16e+03 |")) << ice40.output;
  const CommandResult xc7 = command("study rules --device xc7z020 --json");
  EXPECT_EQ(xc7.exit_code, 0) << xc7.output;
  const nlohmann::json steps = nlohmann::json::parse(xc7.output)["items"];
  EXPECT_EQ(steps.front()["rule"], "all combinations");
  EXPECT_EQ(steps.back()["place_and_route"], 1);
  EXPECT_LT(steps.back()["candidates"], steps.front()["candidates"]);
  EXPECT_TRUE(contains(command("study rules --help"), "study rules --device ice40-hx8k"));
  EXPECT_EQ(command("study rules --device nothing").exit_code, 1);
}

}  // namespace
}  // namespace tilewright

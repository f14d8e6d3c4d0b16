// TensorFlow files on the command line: cut, counted, quantised and run.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "command.h"
#include "support/frontend/graphdef_builder_testing.h"
#include "support/frontend/saved_model_testing.h"
#include "tilewright/base/file.h"
#include "tilewright/base/random.h"
#include "tilewright/tensor/npy.h"

namespace tilewright {
namespace {

using namespace graphdef_testing;

#define EXPECT_MENTIONS(text, part) EXPECT_NE(std::string(text).find(part), std::string::npos) << text

std::vector<float> drawn(size_t count, uint64_t seed) {
  LcgStream stream(seed);
  std::vector<float> values(count);
  for (float& value : values) value = stream.next() - 0.5f;
  return values;
}

// Sound in, three scores and a class out.
std::filesystem::path small_model(const std::filesystem::path& folder) {
  GraphDefText graph;
  graph.placeholder("sound", {}, kString).node("features", "Listen", {"sound"});
  graph.ints("image", {4}, {-1, 6, 6, 2}).node("map", "Reshape", {"features", "image"});
  graph.floats("kernel", {3, 3, 2, 4}, drawn(72, 1)).floats("scale", {4}, {1, 2, 0.5f, 1.5f});
  graph.node("conv", "Conv2D", {"map", "kernel"},
             string_attribute("padding", "SAME") + ints_attribute("strides", {1, 2, 2, 1}));
  graph.node("scaled", "Mul", {"conv", "scale"}).node("relu", "Relu", {"scaled"});
  graph.ints("axes", {2}, {1, 2}).node("mean", "Mean", {"relu", "axes"});
  graph.floats("weights", {4, 3}, drawn(12, 2)).node("scores", "MatMul", {"mean", "weights"});
  graph.ints("axis", {}, {1}).node("class", "ArgMax", {"scores", "axis"});
  write_file(folder / "small.pb", graph.build());
  return folder / "small.pb";
}

TEST(CliTensorflow, AGraphIsCutCountedQuantisedAndRun) {
  const auto folder = fresh_folder("tensorflow");
  const std::string model = small_model(folder).string(), cut = model + " --feed features=1x72";
  const CommandResult whole = command("inspect " + model);
  EXPECT_EQ(whole.exit_code, 2) << whole.output;
  EXPECT_MENTIONS(whole.output, "node 'features' (Listen): operator is not supported; cut the graph there");
  EXPECT_MENTIONS(whole.output, "node 'sound' (Placeholder): is an input of DT_STRING");
  const CommandResult inspected = command("inspect " + cut);
  EXPECT_EQ(inspected.exit_code, 0) << inspected.output;
  EXPECT_MENTIONS(inspected.output, "input   features f32[1x72]");
  EXPECT_MENTIONS(inspected.output, "output  scores f32[1x3]");
  EXPECT_MENTIONS(command("inspect " + cut + " --keep-argmax").output, "output  class i64[1]");
  EXPECT_MENTIONS(command("inspect " + cut + " --output-node relu").output, "output  relu f32[1x3x3x4]");
  EXPECT_NE(command("inspect " + model + " --feed features=1xa").exit_code, 0);

  const CommandResult table = command("optimize --table " + cut);
  EXPECT_EQ(table.exit_code, 0) << table.output;
  EXPECT_MENTIONS(table.output, "normalisation folded");
  EXPECT_MENTIONS(table.output, "1 x Conv 3x3 stride 2");
  const std::string text = command("optimize --table --json " + cut).output;
  const auto json = nlohmann::json::parse(text.substr(text.find("{\n")));
  EXPECT_EQ(json["stages"][0]["nodes"], 15);
  EXPECT_EQ(json["stages"].back()["scales"], 0);
  EXPECT_EQ(json["fused_operators"]["Gemm"], 1);

  const std::vector<float> samples = drawn(72 * 8, 3);
  write_npy(folder / "x.npy", Tensor(Shape{8, 72}, std::span<const float>(samples)));
  const std::string input = " --input " + (folder / "x.npy").string();
  EXPECT_EQ(command("run " + cut + input + " --output " + (folder / "y.npy").string()).exit_code, 0);
  EXPECT_EQ(read_npy(folder / "y.npy").size(), 24);
  const std::string quantised = (folder / "q.onnx").string();
  const CommandResult written =
      command("quantize " + cut + " --calibration " + (folder / "x.npy").string() + " -o " + quantised);
  EXPECT_EQ(written.exit_code, 0) << written.output;
  EXPECT_EQ(command("run " + quantised + input).exit_code, 0);
}

// Every verb that takes a model takes the folder.
TEST(CliTensorflow, ASavedModelIsItsFolder) {
  const auto folder = fresh_folder("saved_model");
  GraphDefText graph;
  graph.placeholder("x", {-1, 6, 6, 2}).floats("kernel", {3, 3, 2, 4}, drawn(72, 1));
  graph.floats("bias", {4}, drawn(4, 2)).floats("weights", {4, 3}, drawn(12, 3));
  graph.node("conv", "Conv2D", {"x", "kernel"},
             string_attribute("padding", "SAME") + ints_attribute("strides", {1, 2, 2, 1}));
  graph.node("biased", "BiasAdd", {"conv", "bias"}).node("relu", "Relu", {"biased"});
  graph.ints("axes", {2}, {1, 2}).node("mean", "Mean", {"relu", "axes"});
  graph.node("scores", "MatMul", {"mean", "weights"});
  const std::string saved = (folder / "saved").string(), frozen = (folder / "frozen.pb").string();
  write_file(frozen, graph.build());
  saved_model_testing::saved_model_of(graph.build(), {"scores"},
                                      {.style = saved_model_testing::VariableStyle::kFunctions, .shards = 2})
      .write(saved);
  const CommandResult inspected = command("inspect " + saved);
  EXPECT_EQ(inspected.exit_code, 0) << inspected.output;
  EXPECT_MENTIONS(inspected.output, "input   in_x f32[1x6x6x2]");
  EXPECT_MENTIONS(inspected.output, "output  out_scores f32[1x3]");
  EXPECT_EQ(command("inspect " + saved + " --signature serving_default").output, inspected.output);
  const CommandResult unknown = command("inspect " + saved + " --signature train");
  EXPECT_EQ(unknown.exit_code, 1);
  EXPECT_MENTIONS(unknown.output, "has no signature 'train'; its signatures: serving_default");

  const std::vector<float> samples = drawn(72 * 8, 3);
  write_npy(folder / "x.npy", Tensor(Shape{8, 6, 6, 2}, std::span<const float>(samples)));
  const std::string x = (folder / "x.npy").string(), out = (folder / "out.npy").string();
  EXPECT_EQ(command("run " + saved + " --input " + x + " --output " + out).exit_code, 0);
  const Tensor scores = read_npy(out);
  EXPECT_EQ(command("run " + frozen + " --input " + x + " --output " + out).exit_code, 0);
  EXPECT_TRUE(scores.identical(read_npy(out)));
  const std::string quantised = (folder / "q.onnx").string();
  const CommandResult written = command("quantize " + saved + " --calibration " + x + " -o " + quantised);
  EXPECT_EQ(written.exit_code, 0) << written.output;
  for (const char* verb : {"optimize --table ", "map --hardware eyeriss-256 "})
    EXPECT_EQ(command(verb + saved).exit_code, 0) << verb;

  std::filesystem::remove(folder / "saved/variables/variables.data-00001-of-00002");
  const CommandResult missing = command("run " + saved + " --input " + x);
  EXPECT_EQ(missing.exit_code, 1);
  EXPECT_MENTIONS(missing.output, "node 'bias' (VarHandleOp): file '" + saved +
                                      "/variables/variables.data-00001-of-00002' is missing");
}

TEST(CliTensorflow, ATruncatedFileIsNamed) {
  const auto folder = fresh_folder("tensorflow_half");
  const auto model = small_model(folder);
  std::vector<std::byte> bytes = read_file(model);
  bytes.resize(bytes.size() / 2);
  write_file(model, bytes);
  const CommandResult result = command("inspect " + model.string());
  EXPECT_EQ(result.exit_code, 1);
  EXPECT_MENTIONS(result.output, "small.pb': is a damaged or truncated GraphDef");
}

}  // namespace
}  // namespace tilewright

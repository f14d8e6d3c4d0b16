#include "tilewright/flow/targets.h"

#include <gtest/gtest.h>

#include <functional>
#include <set>
#include <span>

#include "tilewright/base/file.h"
#include "tilewright/base/temporary_folder.h"
#include "tilewright/flow/design/design_folder.h"
#include "tilewright/flow/model/container.h"
#include "tilewright/flow/target/target_names.h"
#include "tilewright/frontend/onnx/onnx_writer.h"
#include "tilewright/tensor/npy.h"

namespace tilewright {
namespace {

std::string error_of(const std::function<void()>& action) {
  try {
    action();
  } catch (const Error& error) {
    return error.what();
  }
  return "no error";
}

TEST(Targets, HaveNamesOfTheirOwnAndWhatEveryOneNeeds) {
  std::set<std::string> names;
  for (const Target* target : targets()) {
    EXPECT_TRUE(names.insert(target->name).second) << target->name;
    const bool runs = target->run != nullptr;
    EXPECT_TRUE(runs || target->refusals != nullptr) << target->name;
    EXPECT_EQ(target->artifact.empty(), !runs) << target->name;
    EXPECT_EQ(target->engines.empty(), !runs) << target->name;
    EXPECT_EQ(target->recognizes != nullptr, runs) << target->name;
    EXPECT_EQ(target->made_by.empty(), !runs || target->name == kHost) << target->name;
  }
  EXPECT_TRUE(names.contains(kOverlay));
  EXPECT_EQ(targets().back()->name, kHost);
  EXPECT_EQ(engine_names(), (std::vector<std::string>{"functional", "host", "cycle", "rtl", "fabric"}));
}

TEST(Targets, TellTheirFilesByContent) {
  const TemporaryFolder folder(std::filesystem::temp_directory_path(), "targets");
  const std::filesystem::path bundle = folder.path() / "bundle.json", design = folder.path() / "design",
                              model = folder.path() / "model.twb";
  write_file(bundle, format_container({}));
  std::filesystem::create_directory(design);
  write_text_file(design / kDesignModelFile, "");
  EXPECT_EQ(target_of(design).name, kHost);  // half of a design
  write_text_file(design / kDesignAllocationFile, "");
  write_text_file(model, "no bundle");
  EXPECT_EQ(target_of(bundle).name, kOverlay);
  EXPECT_EQ(target_of(design).name, "design");
  EXPECT_EQ(target_of(model).name, kHost);
  EXPECT_EQ(target_of(folder.path() / "absent").name, kHost);
  const std::filesystem::path source = TILEWRIGHT_SOURCE_DIR;
  EXPECT_EQ(target_of(source / "models/cgra/distance.json").name, kHost);  // a graph, not mapped yet
}

TEST(Targets, AnEngineOfAnotherTargetIsRefusedWithTheWayToIt) {
  RunRequest request;
  request.model.path = "model.onnx";
  request.engine.name = "fabric";
  EXPECT_EQ(
      error_of([&] { run(request); }),
      "'model.onnx' is not a mapped program; the fabric runs what `tilewright place -o mapped.json` writes");
  request.engine.name = "cycle";
  EXPECT_EQ(error_of([&] { run(request); }),
            "--engine cycle does not apply to a model, which the host runs; leave it out, or compile the "
            "model for an "
            "overlay first");
}

TEST(Targets, AccuracyIsOfTheClassesThatWereFound) {
  const TemporaryFolder folder(std::filesystem::temp_directory_path(), "targets");
  RunRequest request;
  request.labels = folder.path() / "labels.npy";
  const std::vector<int8_t> labels = {1, 0, 2};
  write_file(request.labels, format_npy(Tensor(Shape{3}, std::span<const int8_t>(labels))));
  RunReport report;
  report.outputs.emplace_back("scores", Tensor(ElementType::kF32, {3, 4}));
  report.classes = {1, 0, 3};
  const RunAccuracy accuracy = run_accuracy(report, request);
  EXPECT_EQ(accuracy.right, 2);
  EXPECT_EQ(accuracy.count, 3);
  report.classes.clear();
  report.outputs[0].second = Tensor(ElementType::kF32, {3, 0});
  EXPECT_EQ(error_of([&] { run_accuracy(report, request); }),
            "--labels: the first output has shape 3x0, which has no elements; leave it out");
}

// A dense layer of weights that are drawn, and a Softmax, which only the host has.
std::filesystem::path write_model(const std::filesystem::path& folder) {
  Graph graph;
  const ValueId x = graph.add_input("x", ElementType::kF32, {1, 32});
  const std::vector<float> weights(32 * 16, 0.25f);
  const ValueId w = graph.add_constant("w", Tensor(Shape{32, 16}, std::span<const float>(weights)));
  const ValueId y = graph.add_value("y", ElementType::kF32, {1, 16});
  graph.add_node("dense", "MatMul", {x, w}, {y});
  const ValueId z = graph.add_value("z", ElementType::kF32, {1, 16});
  graph.add_node("softmax", "Softmax", {y}, {z});
  graph.outputs = {z};
  write_onnx(folder / "model.onnx", graph);
  return folder / "model.onnx";
}

TEST(Targets, EveryMachineSaysWhichNodesItTakesAndWhyNotTheOthers) {
  const TemporaryFolder folder(std::filesystem::temp_directory_path(), "targets");
  SharedFolders folders;
  folders.hardware = std::filesystem::path(TILEWRIGHT_SOURCE_DIR) / "hardware";
  const ModelFile model{.path = write_model(folder.path())};
  const Answer overlay = taken_by(model, "overlay=overlay-16x16", folders);
  EXPECT_NE(overlay.text.find("can run on overlay-16x16 (overlay), with 100.00 % of the MACs"),
            std::string::npos)
      << overlay.text;
  EXPECT_NE(overlay.text.find("(Softmax)"), std::string::npos) << overlay.text;
  EXPECT_NE(overlay.json.find("\"machine\": \"overlay-16x16\""), std::string::npos) << overlay.json;
  for (const char* machine : {"design=xc7z020", "array=eyeriss-256"}) {
    EXPECT_NE(taken_by(model, machine, folders).text.find("with 100.00 % of the MACs"), std::string::npos)
        << machine;
  }
  EXPECT_EQ(error_of([&] { taken_by(model, "overlay-16x16", folders); }),
            "'overlay-16x16' names no machine of a target; write TARGET=MACHINE with one of the targets "
            "overlay, design, array");
  EXPECT_NE(error_of([&] { taken_by(model, "array=absent", folders); }), "no error");
}

TEST(Targets, SynthesisTakesAMachineWhereThereIsNoDesign) {
  SynthesisRequest request;
  request.folders.hardware = std::filesystem::path(TILEWRIGHT_SOURCE_DIR) / "hardware";
  request.hardware = "overlay-ice40";
  EXPECT_EQ(error_of([&] { synthesize(request); }), "no device is given; --device NAME, or --rtl-only");
}

}  // namespace
}  // namespace tilewright

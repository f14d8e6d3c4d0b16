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
    EXPECT_FALSE(target->artifact.empty()) << target->name;
    EXPECT_FALSE(target->engines.empty()) << target->name;
    EXPECT_NE(target->recognizes, nullptr) << target->name;
    EXPECT_NE(target->run, nullptr) << target->name;
    EXPECT_EQ(target->made_by.empty(), target->name == kHost) << target->name;
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
  EXPECT_EQ(error_of([&] { run(request); }), "no input data; give an array with --input");
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

TEST(Targets, SynthesisTakesAMachineWhereThereIsNoDesign) {
  SynthesisRequest request;
  request.folders.hardware = std::filesystem::path(TILEWRIGHT_SOURCE_DIR) / "hardware";
  request.hardware = "overlay-ice40";
  EXPECT_EQ(error_of([&] { synthesize(request); }), "no device is given; --device NAME, or --rtl-only");
}

}  // namespace
}  // namespace tilewright

// TensorFlow models of others as SavedModels with their variables beside them.
#include <gtest/gtest.h>

#include "support/frontend/saved_model_testing.h"
#include "support/outside_testing.h"
#include "tilewright/base/file.h"
#include "tilewright/base/temporary_folder.h"
#include "tilewright/flow/model/load_model.h"
#include "tilewright/graph/lcg_weights.h"
#include "tilewright/host/executor.h"

namespace tilewright {
namespace {

using namespace saved_model_testing;

Tensor drawn_input(const Graph& graph) {
  LcgStream stream(1);
  return lcg_input(ElementType::kF32, graph.value(graph.inputs[0]).shape, stream);
}

TEST(SavedModels, FrozenModelsOfOthersComputeTheSameWithVariables) {
  const auto file = outside_models() / "tf_lenet/lenet.pb";
  const Graph expected = load_model(file);
  const Tensor input = drawn_input(expected);
  for (const VariableStyle style :
       {VariableStyle::kReferences, VariableStyle::kResources, VariableStyle::kFunctions}) {
    SCOPED_TRACE(int(style));
    const TemporaryFolder folder(testing::TempDir(), "saved_lenet");
    saved_model_of(read_file(file), {expected.value(expected.outputs[0]).name}, {.style = style, .shards = 2})
        .write(folder.path());
    EXPECT_TRUE(run(load_model(folder.path()), {input})[0].identical(run(expected, {input})[0]));
  }
}

// A SavedModel that TensorFlow wrote: 2034 nodes, whose own RestoreV2 names the tensors of its 267 variables.
TEST(SavedModels, TheOfficialResNet50FindsItsVariables) {
  const auto file = outside_models() / "tf_resnet50_official/saved_model.pb";
  const std::vector<std::byte> model = read_file(file);
  const DrawnVariables drawn = draw_variables(model, 4);
  const TemporaryFolder folder(testing::TempDir(), "saved_resnet50");
  write_file(folder.path() / "saved_model.pb", model);
  drawn.variables.write(folder.path());
  write_text_file(folder.path() / "frozen.pb", drawn.frozen);
  const Graph read = load_model(folder.path()), frozen = load_model(folder.path() / "frozen.pb");
  const Tensor input = drawn_input(read);
  EXPECT_TRUE(run(read, {input})[0].identical(run(frozen, {input})[0]));
}

}  // namespace
}  // namespace tilewright

// A network computes the same, bit for bit, whether its weights are constants of a GraphDef or variables of a
// SavedModel, in every way that TensorFlow stores them.
#include <gtest/gtest.h>

#include "model/models_tensorflow/graphdef_twin.h"
#include "support/frontend/saved_model_testing.h"
#include "tilewright/base/temporary_folder.h"
#include "tilewright/frontend/tensorflow/tensorflow_reader.h"
#include "tilewright/host/executor.h"
#include "zoo/seeded.h"
#include "zoo/zoo.h"

namespace tilewright {
namespace {

using namespace saved_model_testing;

class SavedTwins : public testing::TestWithParam<const char*> {};

TEST_P(SavedTwins, ComputeTheSame) {
  const zoo::Network& network = zoo::network(GetParam());
  const Graph graph = network.build(network.small);
  const std::vector<std::byte> frozen = graphdef_twin(graph);
  const Graph expected = parse_tensorflow(frozen);
  const Tensor image = channels_last(zoo::seeded_input(graph));
  const std::vector<Tensor> scores = run(expected, {image});
  for (const VariableStyle style :
       {VariableStyle::kReferences, VariableStyle::kResources, VariableStyle::kFunctions}) {
    for (const bool restores : {true, false}) {
      SCOPED_TRACE(testing::Message() << "style " << int(style) << ", restores " << restores);
      const TemporaryFolder folder(testing::TempDir(), "saved_model");
      saved_model_of(frozen, {expected.value(expected.outputs[0]).name},
                     {.style = style, .shards = restores ? 3 : 1, .restores = restores})
          .write(folder.path());
      const Graph saved = read_tensorflow(folder.path());
      EXPECT_EQ(saved.value(saved.inputs[0]).name, "in_" + expected.value(expected.inputs[0]).name);
      EXPECT_EQ(saved.value(saved.outputs[0]).name, "out_" + expected.value(expected.outputs[0]).name);
      EXPECT_TRUE(run(saved, {image})[0].identical(scores[0]));
      // The file alone finds what is beside it.
      EXPECT_EQ(read_tensorflow(folder.path() / "saved_model.pb").nodes.size(), saved.nodes.size());
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Zoo, SavedTwins, testing::Values("resnet18", "mobilenet_v1", "djinn_asr"));

}  // namespace
}  // namespace tilewright

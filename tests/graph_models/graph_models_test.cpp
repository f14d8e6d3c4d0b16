// Real models through the graph module: what the reader makes passes the verifier, shape inference from
// nothing finds the same shapes, the text form gives back the same bits, and the multiply-accumulates are
// those known of the networks.
#include <gtest/gtest.h>

#include <filesystem>

#include "outside.h"
#include "tilewright/base/random.h"
#include "tilewright/frontend/onnx/onnx_reader.h"
#include "tilewright/graph/shape_inference.h"
#include "tilewright/graph/statistics.h"
#include "tilewright/graph/text.h"
#include "tilewright/graph/verifier.h"

namespace tilewright {
namespace {

namespace fs = std::filesystem;

const fs::path kModels = outside_models();

std::vector<fs::path> standard_models() {
  std::vector<fs::path> files;
  for (const char* folder :
       {"dory_frontnet", "onnx_from_tflite", "onnx_light_topologies", "onnx_mnist8", "onnx_seeded",
        "onnx_shape_only", "onnx_squeezenet10", "onnx_super_resolution10", "onnx_ultraface"}) {
    if (!fs::exists(kModels / folder)) continue;
    for (const auto& entry : fs::directory_iterator(kModels / folder)) {
      if (entry.path().extension() == ".onnx" && entry.path().filename() != "fsrcnn_int8_dtype.onnx") {
        files.push_back(entry.path());
      }
    }
  }
  std::sort(files.begin(), files.end());
  return files;
}

Graph read(const fs::path& file) {
  OnnxOptions options;
  options.allow_missing_weights = true;
  options.dimensions["batch_size"] = 1;
  Diagnostics warnings;
  return read_onnx(file, options, &warnings);
}

std::string text_of(const Diagnostics& diagnostics) {
  std::string text;
  for (const Diagnostic& problem : diagnostics.errors()) text += to_string(problem) + "\n";
  return text;
}

// Equal in every value; the text form covers the rest, and is compared as text.
bool same_values(const Graph& a, const Graph& b) {
  if (a.values.size() != b.values.size()) return false;
  for (size_t id = 0; id < a.values.size(); ++id) {
    const Value &x = a.values[id], &y = b.values[id];
    if (x.name != y.name || x.type != y.type || x.shape != y.shape ||
        x.constant.has_value() != y.constant.has_value()) {
      return false;
    }
    if (x.constant && !x.constant->identical(*y.constant)) return false;
  }
  return true;
}

TEST(GraphModels, VerifyInferPrintAndParse) {
  const std::vector<fs::path> files = standard_models();
  if (files.empty()) GTEST_SKIP() << "no shared models in " << kModels;
  for (const fs::path& file : files) {
    SCOPED_TRACE(file.string());
    const Graph graph = read(file);
    Diagnostics diagnostics;
    verify(graph, diagnostics);
    EXPECT_TRUE(diagnostics.ok()) << text_of(diagnostics);

    Graph blank = graph;
    for (Node& node : blank.nodes) {
      for (ValueId id : node.outputs) {
        if (id == kNoValue) continue;
        blank.value(id).type = ElementType::kF32;
        blank.value(id).shape = {};
      }
    }
    infer_shapes(blank, diagnostics);
    EXPECT_TRUE(diagnostics.ok()) << text_of(diagnostics);
    EXPECT_TRUE(same_values(blank, graph));

    const std::string text = print(graph);
    const Graph back = parse_graph(text);
    EXPECT_TRUE(same_values(back, graph));
    EXPECT_EQ(print(back) == text, true);
  }
  std::cout << files.size() << " models\n";
}

TEST(GraphModels, MultiplyAccumulatesAreTheKnownOnes) {
  const auto macs = [](const char* file) { return statistics(read(kModels / file)).total.macs; };
  if (!fs::exists(kModels / "onnx_shape_only" / "resnet18_noweights.onnx"))
    GTEST_SKIP() << "no shared models";
  // torchvision's ResNet-18 at 224 x 224: 1.814 G in the convolutions, 512 x 1000 in the last layer.
  EXPECT_EQ(macs("onnx_shape_only/resnet18_noweights.onnx"), 1814073344);
  EXPECT_EQ(macs("onnx_shape_only/mobilenetv2_noweights.onnx"), 300774272);
}

// A third of all changes break something; none may do more than give diagnostics.
TEST(GraphModels, DamagedGraphsGiveDiagnosticsOnly) {
  const fs::path file = kModels / "onnx_from_tflite" / "ic_resnet8_qdq.onnx";
  if (!fs::exists(file)) GTEST_SKIP() << file << " is missing";
  const Graph sound = read(file);
  const uint64_t seed = 21;
  Random random(seed);
  int broken = 0;
  for (int round = 0; round < 1500; ++round) {
    Graph graph = sound;
    Node& node = graph.nodes[size_t(random.between(0, int64_t(graph.nodes.size()) - 1))];
    const auto any = [&] { return ValueId(random.between(-2, int64_t(graph.values.size()))); };
    switch (random.between(0, 6)) {
      case 0:
        if (!node.inputs.empty())
          node.inputs[size_t(random.between(0, int64_t(node.inputs.size()) - 1))] = any();
        break;
      case 1:
        if (!node.outputs.empty()) node.outputs[0] = any();
        break;
      case 2:
        node.op = all_operators()[size_t(random.between(0, int64_t(all_operators().size()) - 1))].name;
        break;
      case 3:
        for (auto& [name, value] : node.attributes) {
          if (auto* list = std::get_if<std::vector<int64_t>>(&value); list != nullptr && !list->empty()) {
            (*list)[0] = random.chance(0.5) ? int64_t(random.next()) : random.between(-2, 4);
          } else if (auto* number = std::get_if<int64_t>(&value)) {
            *number = random.chance(0.5) ? int64_t(random.next()) : random.between(-2, 4);
          }
        }
        break;
      case 4: {
        Value& value = graph.values[size_t(random.between(0, int64_t(graph.values.size()) - 1))];
        if (value.shape.rank() > 0)
          value.shape[0] = random.chance(0.5) ? int64_t(random.next()) : random.between(-2, 9);
        break;
      }
      case 5:
        node.inputs.push_back(any());
        break;
      default:
        std::swap(graph.nodes.front(), node);
    }
    Diagnostics found;
    verify(graph, found);
    Diagnostics inferred;
    infer_shapes(graph, inferred);
    statistics(graph);
    broken += !found.ok();
    for (const Diagnostics* list : {&found, &inferred}) {
      for (const Diagnostic& problem : list->errors()) {
        ASSERT_NE(problem.kind, ErrorKind::kInternal)
            << to_string(problem) << " seed " << seed << " round " << round;
        ASSERT_FALSE(problem.where.empty()) << problem.message;
      }
    }
  }
  EXPECT_GT(broken, 700);
}

}  // namespace
}  // namespace tilewright

// resnet50_graph: the nodes of TensorFlow's official ResNet-50 v1 (a SavedModel without weights) from the
// file to the fused graph, its arithmetic intensity, and its softmax with drawn weights against the stored
// reference.
//
// Beside it the variant of the paper (Hadjis and Olukotun, FPL 2019: stride in the 1x1 convolutions), read
// from a GraphDef written here with dropout, Switch and Merge, and seven spellings of batch normalisation.
//
// Intensity is MACs per byte over f32 activations and weights (src/tilewright/transform/fusion_groups.h): the
// folded graph with fused operators against the frozen graph, every operator on its own. intensity_gain is at
// the batch of 64 that the file declares, intensity_gain_batch_1 at one image, where weights are half of what
// the fused graph moves; activation_gain leaves weights out.
#include <fmt/format.h>

#include <chrono>
#include <cmath>
#include <cstdio>
#include <filesystem>
#include <string>

#include "model/models_tensorflow/graphdef_twin.h"
#include "support/outside_testing.h"
#include "tilewright/flow/model/graph_table.h"
#include "tilewright/graph/lcg_weights.h"
#include "tilewright/host/executor.h"
#include "tilewright/tensor/npy.h"
#include "zoo/zoo.h"

namespace {

using namespace tilewright;

const std::filesystem::path kFolder = outside_models() / "tf_resnet50_official";
constexpr double kGain = 3;
constexpr int64_t kDeclaredBatch = 64;

double softmax_error(const Graph& graph) {
  LcgStream stream(1);
  const Tensor input = lcg_input(ElementType::kF32, graph.value(graph.inputs[0]).shape, stream);
  const Tensor found = run(optimize(graph), {input})[0];
  const Tensor stored = read_npy(kFolder / "resnet50.lcg.softmax.ref.npy");
  double worst = found.size() == stored.size() ? 0 : INFINITY;
  for (int64_t i = 0; i < found.size() && i < stored.size(); ++i) {
    worst = std::max(worst, std::abs(found.number_at(i) - stored.number_at(i)));
  }
  return worst;
}

int count_of(const GraphTable& table, const std::string& name) {
  const auto found = table.fused_operators.find(name);
  return found == table.fused_operators.end() ? 0 : found->second;
}

// The fields of the figure's fused operators; `prefix` tells the variants apart.
std::string fused_fields(const GraphTable& table, const std::string& prefix) {
  return fmt::format(
      "\"{0}conv_7x7\": {1}, \"{0}conv_1x1\": {2}, \"{0}conv_1x1_stride_2\": {3}, \"{0}conv_3x3\": {4}, "
      "\"{0}conv_3x3_stride_2\": {5}, \"{0}fully_connected\": {6}, \"{0}adds_fused\": {7}, \"{0}adds_left\": "
      "{8}",
      prefix, count_of(table, "Conv 7x7 stride 2"),
      count_of(table, "Conv 1x1 stride 1") + count_of(table, "Conv 1x1 stride 2"),
      count_of(table, "Conv 1x1 stride 2"),
      count_of(table, "Conv 3x3 stride 1") + count_of(table, "Conv 3x3 stride 2"),
      count_of(table, "Conv 3x3 stride 2"), count_of(table, "Gemm"), count_of(table, "Add in a layer"),
      count_of(table, "Add"));
}

std::string node_fields(const GraphTable& table, const std::string& prefix) {
  std::string text;
  for (const GraphTableRow& row : table.rows) {
    std::string stage = row.stage;
    for (char& c : stage) c = c == ' ' ? '_' : c;
    text += fmt::format("\"{}nodes_{}\": {}, ", prefix, stage, row.nodes);
  }
  const GraphTableRow& last = table.rows.back();
  return text + fmt::format(
                    "\"{0}random_left\": {1}, \"{0}moving_averages_left\": {2}, \"{0}rsqrts_left\": {3}, "
                    "\"{0}scales_left\": {4}",
                    prefix, last.random, last.moving_averages, last.rsqrts + last.normalizations,
                    last.scales);
}

int measure() {
  LoadOptions options;
  options.fill_gain = kGain;
  TfStages stages;
  const auto begin = std::chrono::steady_clock::now();
  const Graph official = load_model(kFolder / "saved_model.pb", options, nullptr, &stages);
  const GraphTable table = graph_table(official, &stages);
  const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - begin;
  fmt::print("official ResNet-50 v1, batch 1\n{}\n", to_string(table));
  options.dimensions["input.0"] = kDeclaredBatch;
  const GraphTable batch = graph_table(kFolder / "saved_model.pb", options);
  fmt::print("batch of {}: {:.2f} MACs per byte frozen, {:.2f} folded and fused\n\n", kDeclaredBatch,
             batch.frozen_unfused, batch.final_fused);
  TfStages twin_stages;
  const Graph twin = parse_tensorflow(graphdef_twin(zoo::resnet50({})), {}, nullptr, &twin_stages);
  const GraphTable paper = graph_table(twin, &twin_stages);
  fmt::print("the paper's variant, as a GraphDef with training nodes\n{}\n", to_string(paper));
  const double error = softmax_error(official);
  fmt::print(
      "{{\"figure\": \"resnet50_graph\", {}, {}, \"intensity_gain\": {:.3f}, \"intensity_gain_batch_1\": "
      "{:.3f}, \"gain_from_constants_folded\": {:.3f}, \"activation_gain\": {:.3f}, \"softmax_max_error\": "
      "{:.3g}, \"import_and_table_s\": {:.2f}, "
      "{}, {}, "
      "\"paper_variant_intensity_gain_batch_1\": {:.3f}, \"paper_variant_gain_from_constants_folded\": "
      "{:.3f}, \"paper_variant_activation_gain\": {:.3f}}}\n",
      node_fields(table, ""), fused_fields(table, ""), batch.intensity_gain(), table.intensity_gain(),
      table.gain_from_constants_folded(), table.activation_gain(), error, seconds.count(),
      node_fields(paper, "paper_variant_"), fused_fields(paper, "paper_variant_"), paper.intensity_gain(),
      paper.gain_from_constants_folded(), paper.activation_gain());
  return error <= 1e-4 && stages.reachable.nodes > 0 && count_of(table, "Gemm") > 0 ? 0 : 1;
}

}  // namespace

int main() {
  try {
    return measure();
  } catch (const Error& error) {
    std::fprintf(stderr, "resnet50_graph: %s\n", error.what());
    return 1;
  }
}

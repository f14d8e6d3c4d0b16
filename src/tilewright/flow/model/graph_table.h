// The effect of reading and simplifying a model on its graph, stage by stage: the table that the paper on
// pipelines from TensorFlow graphs (Hadjis and Olukotun, FPL 2019) gives for ResNet-50.
// docs/reference/tensorflow.md says what every row and column counts.
#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "tilewright/flow/model/load_model.h"
#include "tilewright/transform/pipeline.h"

namespace tilewright {

struct GraphTableRow {
  std::string stage;
  int nodes = 0;      // operators and constants, as TensorFlow counts nodes
  int operators = 0;  // without constants
  int random = 0, moving_averages = 0, normalizations = 0, rsqrts = 0, scales = 0;
  // What hardware for this graph would need besides its layers: the paper's columns.
  bool needs_rsqrt() const { return normalizations + rsqrts > 0; }
  bool needs_scale() const { return normalizations + scales > 0; }
};

struct GraphTable {
  std::vector<GraphTableRow> rows;
  // Multiply-accumulates per byte (transform/pipeline.h): every operator of the frozen graph on its own, of
  // the one with constants folded, and the fusion groups of the final one.
  int64_t macs = 0;
  double frozen_unfused = 0, constants_folded_unfused = 0, final_unfused = 0, final_fused = 0;
  double intensity_gain() const { return frozen_unfused == 0 ? 0 : final_fused / frozen_unfused; }
  // From the graph whose normalisation is a factor and a summand, the second row of the paper's Table I.
  double gain_from_constants_folded() const {
    return constants_folded_unfused == 0 ? 0 : final_fused / constants_folded_unfused;
  }
  // intensity_gain for activations alone: fusion cannot save weights.
  int64_t frozen_activation_bytes = 0, final_activation_bytes = 0;
  double activation_gain() const {
    return final_activation_bytes == 0 ? 0 : double(frozen_activation_bytes) / double(final_activation_bytes);
  }
  // "Conv 3x3 stride 2", "Gemm", "Add in a layer", ... and how many there are in the final graph.
  std::map<std::string, int> fused_operators;
};

// The table of a model file. Errors: those of load_model.
GraphTable graph_table(const std::filesystem::path& path, const LoadOptions& options = {},
                       Diagnostics* warnings = nullptr);
// The same, where shapes and structure are enough: weights may be absent.
GraphTable graph_table(const ModelFile& file);
// The same of a graph that was read already, with what was counted then; without that, the first row is the
// graph as it is.
GraphTable graph_table(const Graph& graph, const TfStages* stages = nullptr);
std::string to_string(const GraphTable& table);
std::string to_json(const GraphTable& table);  // ends with a newline

}  // namespace tilewright

// What the three figures of learned placement share: problems of the Streaming Engine, processor time.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "cpu_time.h"
#include "support/outside_testing.h"
#include "tilewright/base/file.h"
#include "tilewright/cgra/graph/graph_file.h"
#include "tilewright/cgra/graph/kernel_file.h"
#include "tilewright/cgra/learn/instance.h"

namespace tilewright::cgra {

inline MappingProblem streaming_problem(DataflowGraph graph, int ii) {
  MappingProblem problem;
  problem.graph = std::move(graph);
  problem.ii = ii;
  problem.fabric = find_fabric("streaming-engine", TILEWRIGHT_SOURCE_DIR "/hardware");
  problem.rules = usual_rules(problem.fabric);
  return problem;
}

inline MappingProblem inverse_transform(int ii) {
  return streaming_problem(read_graph_file(TILEWRIGHT_SOURCE_DIR "/models/cgra/ifft.json").graph, ii);
}

// A synthetic graph; its recorded optimum goes to `optimum`, which no mapper sees.
inline MappingProblem synthetic_problem(const std::string& name, int& optimum) {
  SyntheticFile file =
      read_synthetic_file(outside_models().string() + "/cgra_graphs/se_random/" + name + ".json");
  optimum = file.recorded.makespan.value();
  return streaming_problem(std::move(file.graph), file.ii);
}

inline std::vector<std::string> split_part(const std::string& part) {
  return nlohmann::json::parse(read_text_file(TILEWRIGHT_SOURCE_DIR "/models/cgra/transfer_split.json"))
      .at(part)
      .get<std::vector<std::string>>();
}

inline PlacementInstance instance_of(const MappingProblem& problem) {
  return compile_instance(compile_model(problem), PlacementOrder::kLongestTail);
}

}  // namespace tilewright::cgra

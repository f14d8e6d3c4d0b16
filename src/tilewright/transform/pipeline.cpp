// The table of the passes, in the order of one round. Rounds repeat until the operators and the names of
// their values stay the same; the result of each pass is verified.
#include "tilewright/transform/pipeline.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "tilewright/base/error.h"
#include "tilewright/graph/inference/statistics.h"
#include "tilewright/graph/inference/verifier.h"
#include "tilewright/transform/fold/fold_batch_norm.h"
#include "tilewright/transform/fold/fold_constants.h"
#include "tilewright/transform/fold/fold_focus.h"
#include "tilewright/transform/fold/fold_input_affine.h"
#include "tilewright/transform/fold/fold_pads.h"
#include "tilewright/transform/fusion_groups.h"
#include "tilewright/transform/normalize/cancel_transposes.h"
#include "tilewright/transform/normalize/form_depth_to_space.h"
#include "tilewright/transform/normalize/form_gemm.h"
#include "tilewright/transform/normalize/form_norms.h"
#include "tilewright/transform/normalize/form_rotary.h"
#include "tilewright/transform/normalize/merge_clips.h"
#include "tilewright/transform/normalize/merge_duplicates.h"
#include "tilewright/transform/normalize/normalize_pooling.h"
#include "tilewright/transform/normalize/normalize_reshapes.h"
#include "tilewright/transform/normalize/normalize_sums.h"
#include "tilewright/transform/normalize/remove_no_ops.h"

namespace tilewright {
namespace {

struct Pass {
  const char* name;
  Graph (*run)(Graph);
};

constexpr Pass kPasses[] = {
    {"remove_dead",
     [](Graph graph) {
       graph.remove_dead();
       return graph;
     }},
    {"fold_constants", [](Graph graph) { return fold_constants(std::move(graph)); }},
    {"remove_no_ops", remove_no_ops},
    {"normalize_sums", normalize_sums},
    {"merge_clips", merge_clips},
    {"form_norms", form_norms},
    {"form_rotary", form_rotary},
    {"form_gemm", form_gemm},
    {"normalize_pooling", normalize_pooling},
    {"form_depth_to_space", form_depth_to_space},
    {"cancel_transposes", cancel_transposes},
    {"fold_pads", fold_pads},
    {"fold_batch_norm", fold_batch_norm},
    {"fold_input_affine", fold_input_affine},
    {"fold_focus", fold_focus},
    {"normalize_reshapes", normalize_reshapes},
    {"merge_duplicates", merge_duplicates},
};
constexpr int kMostRounds = 8;  // a round that changes nothing is the last; two or three are usual

// The operators and the names of their values, in order. A constant that changes is a new value with a new
// name.
std::string outline(const Graph& graph) {
  std::string text;
  for (const Node& node : graph.nodes) {
    text += node.op;
    for (const ValueId id : node.inputs) text += id == kNoValue ? "," : "," + graph.value(id).name;
    for (const ValueId id : node.outputs) text += id == kNoValue ? ">" : ">" + graph.value(id).name;
    text += "\n";
  }
  return text;
}

// A graph that is illegal after a pass is the fault of that pass, not of the caller.
void expect_legal(const Graph& graph) {
  Diagnostics diagnostics;
  verify(graph, diagnostics);
  if (!diagnostics.ok()) throw Error(ErrorKind::kInternal, to_string(diagnostics.errors().front()));
}

std::string describe(const Intensity& intensity) {
  return fmt::format("{} MACs, {:.2f} MACs/byte unfused, {:.2f} fused", intensity.macs, intensity.unfused(),
                     intensity.fused());
}

// "fused: 7 nodes in 4 groups: 1 x Conv + Relu, 1 x Conv + Relu + MaxPool".
std::string describe_groups(const PassReport& report) {
  int groups = 0;
  std::string list;
  for (const auto& [name, count] : report.groups) {
    groups += count;
    if (name.find(" + ") == std::string::npos) continue;
    list += fmt::format("{} {} x {}", list.empty() ? ":" : ",", count, name);
  }
  return fmt::format("fused:  {} nodes in {} groups{}\n", report.nodes_after, groups, list);
}

using AfterPass = std::function<void(const std::string& pass, const Graph&)>;

// All passes (names empty) or those named, until a round changes nothing.
Graph run_rounds(Graph graph, const std::vector<std::string>& names, std::vector<PassStep>& steps,
                 const AfterPass& after_pass) {
  std::string before = outline(graph);
  for (int round = 1; round <= kMostRounds; ++round) {
    for (const Pass& pass : kPasses) {
      if (!names.empty() && std::find(names.begin(), names.end(), pass.name) == names.end()) continue;
      const int nodes_before = int(graph.nodes.size());
      graph = with_context(fmt::format("pass '{}'", pass.name), [&] {
        Graph result = pass.run(std::move(graph));
        expect_legal(result);
        return result;
      });
      steps.push_back({pass.name, round, nodes_before, int(graph.nodes.size())});
      if (after_pass) after_pass(pass.name, graph);
    }
    std::string after = outline(graph);
    if (after == before) break;
    before = std::move(after);
  }
  return graph;
}

void expect_given_is_legal(const Graph& graph) {
  Diagnostics diagnostics;
  verify(graph, diagnostics);
  diagnostics.raise_if_any("before the first pass");
}

}  // namespace

Intensity measure_intensity(const Graph& graph) {
  Intensity intensity;
  for (const Node& node : graph.nodes) intensity.macs += multiply_accumulates(graph, node);
  const GroupTraffic alone = traffic(graph, unfused_groups(graph)),
                     fused = traffic(graph, fusion_groups(graph));
  intensity.unfused_bytes = alone.bytes();
  intensity.fused_bytes = fused.bytes();
  intensity.unfused_activation_bytes = alone.activations;
  intensity.fused_activation_bytes = fused.activations;
  return intensity;
}

std::string to_string(const PassReport& report) {
  std::string text;
  for (const PassStep& step : report.steps) {
    if (step.nodes_before == step.nodes_after) continue;
    text += fmt::format("{:<20} {:>5} -> {:<5} nodes\n", step.pass, step.nodes_before, step.nodes_after);
  }
  text += fmt::format("{:<20} {:>5} -> {:<5} nodes\n", "total", report.nodes_before, report.nodes_after);
  text += "before: " + describe(report.before) + "\nafter:  " + describe(report.after) + "\n";
  text += describe_groups(report);
  return text;
}

Graph optimize(Graph graph, PassReport* report,
               const std::function<void(const std::string& pass, const Graph&)>& after_pass) {
  PassReport own;
  own.nodes_before = int(graph.nodes.size());
  expect_given_is_legal(graph);
  if (report != nullptr) own.before = measure_intensity(graph);
  graph = run_rounds(std::move(graph), {}, own.steps, after_pass);
  own.nodes_after = int(graph.nodes.size());
  if (report != nullptr) {
    own.after = measure_intensity(graph);
    for (const FusionGroup& group : fusion_groups(graph)) ++own.groups[pattern(graph, group)];
    *report = std::move(own);
  }
  return graph;
}

Graph run_passes(Graph graph, const std::vector<std::string>& names) {
  const std::vector<std::string> all = pass_names();
  for (const std::string& name : names) {
    TILEWRIGHT_CHECK(std::find(all.begin(), all.end(), name) != all.end(), "no such pass: " + name);
  }
  expect_given_is_legal(graph);
  std::vector<PassStep> steps;
  return names.empty() ? graph : run_rounds(std::move(graph), names, steps, {});
}

std::vector<std::string> pass_names() {
  std::vector<std::string> names;
  for (const Pass& pass : kPasses) names.push_back(pass.name);
  return names;
}

}  // namespace tilewright

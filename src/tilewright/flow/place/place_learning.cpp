// The trainer's library needs libtorch and hundreds of libraries behind it: it is loaded by the verb that
// trains and by nothing else.
#include "tilewright/flow/place/place_learning.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <utility>

#include "tilewright/base/confined_path.h"
#include "tilewright/base/file.h"
#include "tilewright/base/json.h"
#include "tilewright/base/shared_library.h"
#include "tilewright/cgra/graph/graph_file.h"
#include "tilewright/cgra/graph/kernel_file.h"

namespace tilewright {
namespace {

namespace fs = std::filesystem;

std::vector<fs::path> graph_files(const PlaceTrainingRequest& request) {
  std::vector<fs::path> files;
  if (!request.split.empty()) {
    const nlohmann::json split = parse_json(read_text_file(request.split), request.split.string());
    if (!split.is_object() || !split.contains("train") || !split["train"].is_array())
      throw Error(ErrorKind::kInvalidInput, request.split.string() + " has no list \"train\"");
    for (const auto& name : split["train"]) {
      if (!name.is_string())
        throw Error(ErrorKind::kInvalidInput,
                    request.split.string() + ": \"train\" holds " + name.dump() + ", which is not a name");
      files.push_back(confined_path(request.graphs, name.get<std::string>() + ".json"));
    }
    return files;
  }
  std::error_code failed;
  for (const fs::directory_entry& entry : fs::directory_iterator(request.graphs, failed)) {
    const std::string kind = entry.path().extension().string();
    if (kind == ".json" || kind == ".dot" || kind == ".gv") files.push_back(entry.path());
  }
  std::sort(files.begin(), files.end());
  return files;
}

bool is_synthetic(const fs::path& path) {
  const auto file = nlohmann::json::parse(read_text_file(path), nullptr, false);
  return file.is_object() && file.contains("same_tile_groups");
}

}  // namespace

// Never unloaded: libtorch does not survive it.
cgra::PolicyTrainer* load_placement_trainer(const fs::path& library) {
  const SharedLibrary trainer(library, "it is built where libtorch is installed (scripts/install-deps test)",
                              SharedLibrary::Unload::kNever);
  return trainer.symbol<cgra::PolicyTrainer* (*)()>("tilewright_policy_trainer")();
}

cgra::MappingProblem read_placement_problem(const fs::path& path, const Fabric& fabric, int ii) {
  cgra::MappingProblem problem;
  problem.fabric = fabric;
  problem.rules = cgra::usual_rules(fabric);
  problem.ii = ii;
  if (is_synthetic(path)) {
    cgra::SyntheticFile file = cgra::read_synthetic_file(path);
    problem.graph = std::move(file.graph);
    problem.ii = file.ii;
  } else {
    problem.graph = cgra::read_graph_file(path, fabric.operands).graph;
  }
  if (problem.ii < 1)
    throw Error(ErrorKind::kInvalidInput, path.string() + " says no II", "give one with --ii");
  Diagnostics diagnostics;
  problem.verify(diagnostics);
  diagnostics.raise_if_any(path.string());
  return problem;
}

cgra::TrainingResult train_placement(const PlaceTrainingRequest& request,
                                     const cgra::TrainingWatcher& watcher) {
  Diagnostics diagnostics;
  std::vector<cgra::PlacementInstance> instances;
  for (const fs::path& file : graph_files(request)) {
    try {
      instances.push_back(cgra::compile_instance(
          cgra::compile_model(read_placement_problem(file, request.fabric, request.ii)),
          cgra::PlacementOrder::kLongestTail));
    } catch (const Error& error) {
      for (const Diagnostic& diagnostic : error.diagnostics()) diagnostics.add(diagnostic);
    }
  }
  diagnostics.raise_if_any();
  if (instances.empty()) throw Error(ErrorKind::kInvalidInput, "no graphs in " + request.graphs.string());
  return load_placement_trainer(request.library)(instances, {}, request.options, watcher);
}

}  // namespace tilewright

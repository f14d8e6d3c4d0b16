// `place bench`: experiments whose tables, plots and numbers go to one folder.
#include "tilewright/flow/place/place_bench.h"

#include <algorithm>
#include <ostream>

#include "tilewright/base/file.h"
#include "tilewright/base/folder_writer.h"
#include "tilewright/cli/options/model_input.h"
#include "tilewright/cli/options/progress_line.h"
#include "tilewright/cli/options/verbs.h"
#include "tilewright/flow/place/place_curves.h"
#include "tilewright/flow/place/place_learning.h"
#include "tilewright/flow/place/place_question.h"

namespace tilewright::cli {
namespace {

// Everything wrong with any of the files in one run.
std::vector<BenchGraph> read_graphs(const PlaceBenchOptions& options) {
  const Fabric fabric = find_fabric(options.fabric, shared_folders().hardware);
  Diagnostics diagnostics;
  std::vector<BenchGraph> graphs;
  for (const std::string& path : options.graphs) {
    try {
      const std::string name = std::filesystem::path(path).stem().string();
      const auto same = [&](const BenchGraph& graph) { return graph.name == name; };
      if (std::any_of(graphs.begin(), graphs.end(), same))
        throw Error(ErrorKind::kInvalidInput, "two graphs are named " + name, "rename one of the files");
      graphs.push_back({name, read_placement_problem(path, fabric, options.ii)});
    } catch (const Error& error) {
      for (const Diagnostic& diagnostic : error.diagnostics()) diagnostics.add(diagnostic);
    }
  }
  diagnostics.raise_if_any();
  return graphs;
}

void compare_methods(const PlaceBenchOptions& options, std::ostream& out) {
  PlaceBenchRequest request{.graphs = read_graphs(options),
                            .policy = named_policy(options.policy, shared_folders())};
  request.processor_seconds = options.time_s;
  request.seeds = options.seeds;
  const PlaceBenchReport report = with_progress("comparing mappers", [&] { return bench_methods(request); });
  FolderWriter folder(options.output, "place bench");
  write_text_file(folder.path() / "methods.csv", bench_csv(report));
  write_text_file(folder.path() / "methods.json", bench_json(report));
  write_text_file(folder.path() / "methods.svg", bench_picture(report));
  folder.commit();
  out << (options.json ? bench_json(report) : bench_text(report));
}

void draw_curves(const PlaceBenchOptions& options, std::ostream& out) {
  const PlaceCurvesRequest request{.graphs = read_graphs(options),
                                   .trainer = load_placement_trainer(training_library()),
                                   .episodes = options.episodes,
                                   .seeds = options.seeds};
  const std::vector<CurveRun> runs =
      with_progress("drawing learning curves", [&] { return learning_curves(request); });
  FolderWriter folder(options.output, "place bench");
  write_text_file(folder.path() / "curves.csv", curves_csv(runs));
  write_text_file(folder.path() / "curves.json", curves_json(runs));
  for (const CurveComparison& comparison : curve_comparisons())
    write_text_file(folder.path() / ("curves_" + comparison.name + ".svg"), curves_picture(runs, comparison));
  folder.commit();
  out << (options.json ? curves_json(runs) : curves_text(runs));
}

}  // namespace

void place_bench(const PlaceBenchOptions& options, std::ostream& out) {
  check_folder_target(options.output, "place bench");
  if (options.experiment == "curves") {
    draw_curves(options, out);
  } else {
    compare_methods(options, out);
  }
}

}  // namespace tilewright::cli

// The command lines of `place`, `place train` and `place bench`.
#include <ostream>

#include "tilewright/cli/options/command_limits.h"
#include "tilewright/cli/options/common_options.h"
#include "tilewright/cli/options/file_options.h"
#include "tilewright/cli/options/page_files.h"
#include "tilewright/cli/options/verb_options.h"
#include "tilewright/cli/options/word_checks.h"
#include "tilewright/flow/place/place.h"

namespace tilewright::cli {
namespace {

std::vector<std::string> method_names() {
  std::vector<std::string> names;
  for (const PlaceMethod& method : place_methods()) names.push_back(method.name);
  names.emplace_back("rl");
  return names;
}

void add_train(CLI::App& place, PlaceTrainOptions& options, std::ostream& out) {
  Verb* verb =
      add_verb(place, "train", "Train a policy for --method rl on a folder of graphs (needs libtorch)",
               "place train --graphs graphs/ --fabric streaming-engine --ii 4 -o policy.json");
  reads(verb->add_option("--graphs", options.graphs, "Folder of graphs: JSON or GraphViz"))->required();
  reads(verb->add_option("--split", options.split, "JSON file whose list \"train\" names the graphs to use"));
  reads(verb->add_option("--fabric", options.fabric, "As in place"));
  verb->add_option("--ii", options.ii, "II of graphs whose file states none")->check(between(1, 64));
  verb->add_option("--episodes", options.episodes, "Placements to learn from, over all graphs")
      ->check(between(int64_t{1}, int64_t{1} << 40));
  verb->add_option("--seed", options.seed, "Seed of weights and sampling");
  writes(verb->add_option("-o,--output", options.output, "JSON file for the policy"))->required();
  add_json(verb, options.json);
  verb->callback([&options, &out] { place_train(options, out); });
}

void add_bench(CLI::App& place, PlaceBenchOptions& options, std::ostream& out) {
  Verb* verb =
      add_verb(place, "bench",
               "Compare the mappers at equal evaluations and equal processor time, or draw the policy's "
               "learning curves: table, CSV, JSON, plots",
               "place bench models/cgra/ifft.json --fabric streaming-engine --ii 6 -o compared/");
  reads(verb->add_option("graphs", options.graphs, "Graphs: JSON or GraphViz"))->required();
  reads(verb->add_option("--fabric", options.fabric, "As in place"));
  verb->add_option("--ii", options.ii, "II of graphs whose file states none")->check(between(1, 64));
  verb->add_option("--experiment", options.experiment,
                   "methods, or curves: masks, rewards and networks in training (needs libtorch)")
      ->check(one_of({"methods", "curves"}));
  verb->add_option("--episodes", options.episodes, "Placements per training run of curves")
      ->check(between(int64_t{1}, int64_t{1} << 40));
  verb->add_option("--seeds", options.seeds, "Runs of each randomised method")->check(between(1, 1000));
  verb->add_option_function<std::string>(
          "--time", [&options](const std::string& text) { options.time_s = seconds_of("--time", text); },
          "For methods: processor time per graph, method and seed (default 100ms)")
      ->type_name("TIME");
  reads(verb->add_option("--policy", options.policy, "As in place"));
  replaces_folder(verb->add_option("-o,--output", options.output, "Folder for CSV, JSON and SVG"))
      ->required();
  add_json(verb, options.json);
  verb->refuse({"--episodes"}, "without --experiment curves",
               [&options] { return options.experiment != "curves"; });
  verb->refuse({"--time", "--policy"}, "with --experiment curves",
               [&options] { return options.experiment == "curves"; });
  verb->callback([&options, &out] { place_bench(options, out); });
}

}  // namespace

CLI::App* add_place(CLI::App& app, PlaceVerbs& verbs, std::ostream& out) {
  PlaceVerbOptions& options = verbs.place;
  Verb* verb = add_verb(app, "place",
                        "Map a dataflow graph onto a coarse-grained array in space and time: the "
                        "shortest schedule with a proof, or why there is none",
                        "place models/cgra/ifft.json --fabric streaming-engine --ii auto -o mapped.json");
  reads(verb->add_option("graph", options.graph,
                         "Graph: JSON (docs/reference/cgra_graphs.md) or GraphViz (.dot)"));
  verb->add_option("--expr", options.expression,
                   "Arithmetic instead of a file, e.g. \"d = (x-x0)*(x-x0); s = s + a[i]\"");
  reads(verb->add_option(
      "--fabric", options.fabric,
      "Fabric: a preset's name, mesh-RxC, torus-RxC, hycube-RxC, line-N, ring-N, or a YAML file"));
  verb->add_option("--ii", options.ii,
                   "Clocks between iterations: N, FIRST..LAST, or auto (front of II and makespan)");
  verb->add_option("--method", options.method, "Mapper")->check(one_of(method_names()));
  reads(verb->add_option("--policy", options.policy,
                         "Policy file of --method rl (default: one trained on synthetic graphs)"));
  verb->add_option("--samples", options.samples, "Placements to sample from the policy")
      ->check(between(1, 1 << 24));
  verb->add_option("--beam", options.beam, "Use a beam search of this width instead of samples")
      ->check(between(0, 1 << 16));
  verb->add_option("--objective", options.objective,
                   "What to minimise: makespan, or ii and then makespan (for arrays whose links take no "
                   "clock; with routes)")
      ->check(one_of({"makespan", "ii"}));
  verb->add_option("--delay", options.delay,
                   "How long values may wait: none, N clocks per unit of distance, or unbounded");
  verb->add_option("--starters", options.starters,
                   "Which starting operations must sit on different tiles (default: as the fabric says)")
      ->check(one_of({"off", "roots", "flows"}));
  verb->add_option("--fix", options.fixed, "Put a node on a tile, at a clock; may be repeated")
      ->type_name("NODE=TILE[@CLOCK]");
  CLI::Option* routed =
      verb->add_flag("--routed", options.routed,
                     "Only mappings with routes for all values (links, pass-through, delay registers), "
                     "however long that takes; by default, if no routes are found in 20 s, places without "
                     "routes are returned and reported as such");
  verb->add_flag("--places-only", options.places_only,
                 "Do not search for routes; 'run' then has to find them")
      ->excludes(routed);
  add_limits(verb, options.limits, "--time",
             "Stop after this time, reading and routing included, with the best mapping so far and what is "
             "proven about it");
  verb->add_option("--evaluations", options.evaluations,
                   "Stop after this many decoded placements or solver calls")
      ->check(between(int64_t{1}, int64_t{1} << 40));
  verb->add_option("--seed", options.seed, "Random seed");
  writes(verb->add_option("-o,--output", options.output,
                          "JSON file for the mapped program ('run' executes it)"));
  writes(
      verb->add_option("--configuration", options.configuration,
                       "JSON file for the device configuration: spoke RAM, instruction RAM, tile memories"));
  writes(verb->add_option("--svg", options.svg, "Picture: tiles and slots, routes, time line"));
  add_page(verb, options.page);
  replaces_folder(
      verb->add_option("--proof", options.proof_folder,
                       "Folder for the formula (.cnf) and the checked proof (.drat) of every proven point"));
  add_threads(verb, options.threads);
  add_json(verb, options.json);
  verb->refuse({"--policy", "--samples", "--beam"}, "without --method rl",
               [&options] { return options.method != "rl"; });
  verb->refuse({"--samples"}, "with --beam", [&options] { return options.beam > 0; });
  verb->refuse({"--proof"}, "without --method exact", [&options] { return options.method != "exact"; });
  add_train(*verb, verbs.train, out);
  add_bench(*verb, verbs.bench, out);
  verb->callback([verb, &options, &out] {
    if (verb->get_subcommands().empty()) place(options, out);
  });
  return verb;
}

}  // namespace tilewright::cli

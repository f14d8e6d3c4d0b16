// The command lines of `place`, `place train` and `place bench`.
#include <ostream>

#include "tilewright/cli/options/command_limits.h"
#include "tilewright/cli/options/file_options.h"
#include "tilewright/cli/options/verb_options.h"
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
  CLI::App* verb =
      add_verb(place, "train", "Train a policy for --method rl on a folder of graphs (needs libtorch)",
               "place train --graphs graphs/ --fabric streaming-engine --ii 4 -o policy.json");
  reads(verb->add_option("--graphs", options.graphs, "Folder of graphs: JSON or GraphViz"))->required();
  reads(verb->add_option("--split", options.split, "JSON file whose list \"train\" names the graphs to use"));
  reads(verb->add_option("--fabric", options.fabric, "As in place"));
  verb->add_option("--ii", options.ii, "II of graphs whose file states none")->check(CLI::Range(1, 64));
  verb->add_option("--episodes", options.episodes, "Placements to learn from, over all graphs")
      ->check(CLI::Range(int64_t{1}, int64_t{1} << 40));
  verb->add_option("--seed", options.seed, "Seed of weights and sampling");
  writes(verb->add_option("-o,--output", options.output, "JSON file for the policy"))->required();
  verb->callback([&options, &out] { place_train(options, out); });
}

void add_bench(CLI::App& place, PlaceBenchOptions& options, std::ostream& out) {
  CLI::App* verb =
      add_verb(place, "bench",
               "Compare the mappers at equal evaluations and equal processor time, or draw the policy's "
               "learning curves: table, CSV, JSON, plots",
               "place bench models/cgra/ifft.json --fabric streaming-engine --ii 6 -o compared/");
  reads(verb->add_option("graphs", options.graphs, "Graphs: JSON or GraphViz"))->required();
  reads(verb->add_option("--fabric", options.fabric, "As in place"));
  verb->add_option("--ii", options.ii, "II of graphs whose file states none")->check(CLI::Range(1, 64));
  verb->add_option("--experiment", options.experiment,
                   "methods, or curves: masks, rewards and networks in training (needs libtorch)")
      ->check(CLI::IsMember({"methods", "curves"}));
  verb->add_option("--episodes", options.episodes, "Placements per training run of curves")
      ->check(CLI::Range(int64_t{1}, int64_t{1} << 40));
  verb->add_option("--seeds", options.seeds, "Runs of each randomised method")->check(CLI::Range(1, 1000));
  verb->add_option_function<std::string>(
          "--time", [&options](const std::string& text) { options.time_s = seconds_of("--time", text); },
          "For methods: processor time per graph, method and seed (default 100ms)")
      ->type_name("TIME");
  reads(verb->add_option("--policy", options.policy, "As in place"));
  replaces_folder(verb->add_option("-o,--output", options.output, "Folder for CSV, JSON and SVG"))
      ->required();
  verb->add_flag("--json", options.json, "Print machine-readable JSON");
  verb->callback([&options, &out] { place_bench(options, out); });
}

}  // namespace

void add_place(CLI::App& app, PlaceVerbs& verbs, std::ostream& out) {
  PlaceVerbOptions& options = verbs.place;
  CLI::App* verb = add_verb(app, "place",
                            "Map a dataflow graph onto a coarse-grained array in space and time: the "
                            "shortest schedule with a proof, or why there is none",
                            "place models/cgra/ifft.json --fabric streaming-engine --ii auto -o mapped.json");
  reads(
      verb->add_option("graph", options.graph, "Graph: JSON (docs/cgra/cgra_graphs.md) or GraphViz (.dot)"));
  verb->add_option("--expr", options.expression,
                   "Arithmetic instead of a file, e.g. \"d = (x-x0)*(x-x0); s = s + a[i]\"");
  reads(verb->add_option(
      "--fabric", options.fabric,
      "Fabric: a preset's name, mesh-RxC, torus-RxC, hycube-RxC, line-N, ring-N, or a YAML file"));
  verb->add_option("--ii", options.ii,
                   "Clocks between iterations: N, FIRST..LAST, or auto (front of II and makespan)");
  verb->add_option("--method", options.method, "Mapper")->check(CLI::IsMember(method_names()));
  reads(verb->add_option("--policy", options.policy,
                         "Policy file of --method rl (default: one trained on synthetic graphs)"));
  verb->add_option("--samples", options.samples, "Placements to sample from the policy")
      ->check(CLI::Range(1, 1 << 24));
  verb->add_option("--beam", options.beam, "Use a beam search of this width instead of samples")
      ->check(CLI::Range(0, 1 << 16));
  verb->add_option("--objective", options.objective,
                   "What to minimise: makespan, or ii and then makespan (for arrays whose links take no "
                   "clock; with routes)")
      ->check(CLI::IsMember({"makespan", "ii"}));
  verb->add_option("--delay", options.delay,
                   "How long values may wait: none, N clocks per unit of distance, or unbounded");
  verb->add_option("--starters", options.starters,
                   "Which starting operations must sit on different tiles (default: as the fabric says)")
      ->check(CLI::IsMember({"off", "roots", "flows"}));
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
      ->check(CLI::Range(int64_t{1}, int64_t{1} << 40));
  verb->add_option("--seed", options.seed, "Random seed");
  writes(verb->add_option("-o,--output", options.output,
                          "JSON file for the mapped program ('run' executes it)"));
  writes(
      verb->add_option("--configuration", options.configuration,
                       "JSON file for the device configuration: spoke RAM, instruction RAM, tile memories"));
  writes(verb->add_option("--svg", options.svg, "Picture: tiles and slots, routes, time line"));
  replaces_folder(
      verb->add_option("--proof", options.proof_folder,
                       "Folder for the formula (.cnf) and the checked proof (.drat) of every proven point"));
  verb->add_option("--threads", options.threads, "Number of threads")->check(CLI::Range(1, 1024));
  verb->add_flag("--json", options.json, "Print machine-readable JSON");
  add_train(*verb, verbs.train, out);
  add_bench(*verb, verbs.bench, out);
  verb->callback([verb, &options, &out] {
    if (verb->get_subcommands().empty()) place(options, out);
  });
}

}  // namespace tilewright::cli

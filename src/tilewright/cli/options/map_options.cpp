// The command line of `map`.
#include <ostream>

#include "tilewright/cli/options/command_limits.h"
#include "tilewright/cli/options/common_options.h"
#include "tilewright/cli/options/file_options.h"
#include "tilewright/cli/options/page_files.h"
#include "tilewright/cli/options/verb_options.h"
#include "tilewright/cli/options/word_checks.h"

namespace tilewright::cli {

CLI::App* add_map(CLI::App& app, MapOptions& map_options, std::ostream& out) {
  Verb* verb = add_verb(
      app, "map",
      "Map a model onto a spatial array: mappings of least energy or latency per layer, proven optimal",
      "map alexnet.onnx --hardware eyeriss-256 --dataflow all --equal-area --batch 16");
  add_model(verb, map_options.model, "ONNX, TensorFlow or TFLite file, or SavedModel folder (or --workload)",
            false);
  reads(verb->add_option("--workload", map_options.workload,
                         "YAML file of one or more layers, instead of a model"));
  reads(verb->add_option("--hardware", map_options.hardware, "Array: a preset's name or a YAML file"));
  reads(verb->add_option(
      "--dataflow", map_options.dataflow,
      "rs, ws, os_a, os_b, os_c, nlr (several with commas), all, or a YAML file of a dataflow or "
      "of mapspace constraints; default: free"));
  reads(verb->add_option("--mapping", map_options.mapping,
                         "Evaluate the mappings of this file instead of searching"));
  reads(verb->add_option(
            "--timeloop", map_options.timeloop,
            "Timeloop files (architecture, energy table, problem, constraints, mapping) instead of our own"))
      ->expected(1, 64);
  verb->add_option("--batch", map_options.batch, "Batch size (default: the model's)")
      ->check(between(int64_t{1}, int64_t{1} << 20));
  verb->add_flag("--equal-area", map_options.equal_area, "Give every dataflow storage of the same area");
  verb->add_option("--objective", map_options.objective, "What to minimise: energy, latency or edp")
      ->check(one_of({"energy", "latency", "edp"}));
  verb->add_option("--max-cycles", map_options.max_cycles,
                   "Only mappings that take at most this many cycles per layer")
      ->check(at_least(int64_t{1}));
  add_limits(verb, map_options.limits, "--time",
             "Stop after this time for the whole command, reading included; layers not proven by then are "
             "marked (default: until proven, which may take hours)");
  verb->add_option("--rules", map_options.rules,
                   "How accesses are charged: physical (default), timeloop (default with --timeloop), or "
                   "study (default with "
                   "a dataflow's name)")
      ->check(one_of({"physical", "timeloop", "study"}));
  verb->add_flag("--imperfect", map_options.imperfect,
                 "Also search tiles that do not divide the layer's sizes");
  writes(verb->add_option("--plot", map_options.plot, "SVG of stacked bars (with --pareto: of the front)"));
  add_page(verb, map_options.page);
  writes(verb->add_option("--csv", map_options.csv, "CSV of all results, a line per layer and dataflow"));
  reads(verb->add_option("--compare", map_options.baseline,
                         "Print ratios to an earlier report written with --json"));
  verb->add_flag("--pareto", map_options.pareto, "Front of energy against latency of the whole model");
  verb->add_option("--pareto-buffer", map_options.pareto_buffer,
                   "Fronts of energy, latency and words of this level of the array, of every layer")
      ->type_name("LEVEL");
  verb->add_flag(
      "--simulate", map_options.simulate,
      "Run the mappings of --dataflow rs-chip on the simulated chip of --hardware eyeriss-chip, cycle "
      "by cycle");
  verb->add_flag("--union", map_options.unions,
                 "What an array gains from supporting two or three of the dataflows");
  verb->add_flag("--fuse", map_options.fuse,
                 "Keep tiles on chip between the layers of a chain; reports the gain");
  verb->add_option("--cache", map_options.cache, "Folder in which mappings are kept for later runs");
  writes(
      verb->add_option("-o,--output", map_options.output, "YAML file for the mappings (--mapping reads it)"));
  verb->add_flag("--mappings", map_options.show_mappings, "Print the mapping of every distinct layer");
  add_threads(verb, map_options.threads);
  add_json(verb, map_options.json);
  verb->refuse({"--imperfect", "--max-cycles", "--objective", "--cache"},
               "with --mapping, which searches nothing",
               [&map_options] { return !map_options.mapping.empty(); });
  verb->callback([&map_options, &out] { map(map_options, out); });
  return verb;
}

}  // namespace tilewright::cli

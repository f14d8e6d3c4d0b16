// The command lines of `explore` and of the verbs of `study`.
#include <limits>
#include <ostream>

#include "tilewright/cli/options/command_limits.h"
#include "tilewright/cli/options/common_options.h"
#include "tilewright/cli/options/file_options.h"
#include "tilewright/cli/options/fleet_options.h"
#include "tilewright/cli/options/page_files.h"
#include "tilewright/cli/options/verb_options.h"
#include "tilewright/cli/options/word_checks.h"

namespace tilewright::cli {

CLI::App* add_explore(CLI::App& app, ExploreOptions& options, std::ostream& out) {
  Verb* verb = add_verb(app, "explore",
                        "Explore overlays and schedules together for a network on a device: the front of "
                        "latency against area; continues the study in the folder",
                        "explore resnet18.onnx --device xc7z020 --precision 8,4 --budget 2h -o study/");
  reads(
      verb->add_option("model", options.model.path,
                       "ONNX, TensorFlow or TFLite file, or SavedModel folder, or a bundle (.twb) of 8 bits"))
      ->required();
  verb->add_option("--fill-weights", options.model.fill_gain,
                   "Fill a model without weights with pseudo-random weights of this gain")
      ->check(number_check("a number above 0", [](double x) { return x > 0; }));
  reads(
      verb->add_option("--device", options.device, "FPGA: a preset's name (hardware/devices) or a YAML file"))
      ->required();
  verb->add_option("--precision", options.precision, "Operand widths in bits: any of 8,4,2,1")
      ->delimiter(',')
      ->check(one_of({"8", "4", "2", "1"}));
  add_limits(verb, options.limits, "--budget,--time",
             "Time for all precisions together, reading included (default: until every candidate is tuned or "
             "excluded)");
  verb->add_option("-o,--output", options.output, "Folder of the study")->required();
  verb->add_option("--trials", options.trials, "Schedules per layer and candidate; 0: default schedules")
      ->check(between(int64_t{0}, int64_t{1} << 20));
  verb->add_option("--candidates", options.candidates, "Tune at most this many candidates per precision")
      ->check(between(int64_t{1}, int64_t{1} << 40));
  reads(verb->add_option(
      "--memory", options.memory,
      "ideal, fixed[:LATENCY[:INTERVAL[:EFFICIENCY]]], ddr, or a YAML file (default: the device's)"));
  verb->add_option("--seed", options.seed, "Random seed")
      ->check(between(uint64_t{0}, uint64_t(std::numeric_limits<int64_t>::max())));
  add_fleet(verb, options.fleet);
  add_page(verb, options.page);
  verb->add_flag("--changed-only", options.changed_only,
                 "Only retune those candidates of the study whose RTL has changed since");
  add_json(verb, options.json);
  verb->refuse({"--candidates"}, "with --changed-only", [&options] { return options.changed_only; });
  verb->callback([&options, &out] { explore(options, out); });
  return verb;
}

CLI::App* add_study(CLI::App& app, StudyVerbs& verbs, std::ostream& out) {
  CLI::App* study = app.add_subcommand("study", "What explorations and implementations have found");
  study->require_subcommand(1);
  Verb* verb = add_verb(*study, "show", "Fronts, what was excluded, and what it cost", "study show study/");
  reads(verb->add_option("study", verbs.show.path, "Folder of an exploration"))->required();
  add_page(verb, verbs.show.page);
  add_json(verb, verbs.show.json);
  verb->callback([&verbs, &out] { study_show(verbs.show, out); });

  verb =
      add_verb(*study, "front", "Draw the fronts of latency against area", "study front study/ -o front.svg");
  reads(verb->add_option("study", verbs.front.path, "Folder of an exploration"))->required();
  writes(verb->add_option("-o,--output", verbs.front.output, "SVG file"))->required();
  add_json(verb, verbs.front.json);
  verb->callback([&verbs, &out] { study_front(verbs.front, out); });

  verb = add_verb(*study, "importance",
                  "How well results can be predicted from design choices, and which choice matters at which "
                  "precision",
                  "study importance study/ --target fmax,lut,bram,dsp,gops --html page.html");
  reads(verb->add_option("data", verbs.importance.path,
                         "Folder of an exploration, or a file of implementation data"))
      ->required();
  verb->add_option("--target", verbs.importance.targets,
                   "What to predict: gops, fmax, lut, ff, dsp, bram (default: all that the data support)")
      ->delimiter(',');
  verb->add_option("--seed", verbs.importance.seed, "Seed of the splits");
  add_page(verb, verbs.importance.page);
  add_json(verb, verbs.importance.json);
  verb->callback([&verbs, &out] { study_importance(verbs.importance, out); });

  verb = add_verb(*study, "rules",
                  "Which overlay implementations can be sampled for a device: how many knob combinations "
                  "each rule leaves, and why",
                  "study rules --device ice40-hx8k");
  reads(verb->add_option(
            "--device", verbs.rules.device,
            "FPGA: a preset's name (hardware/devices) or a YAML file; the rules depend on its family"))
      ->required();
  add_json(verb, verbs.rules.json);
  verb->callback([&verbs, &out] { study_rules(verbs.rules, out); });
  return study;
}

}  // namespace tilewright::cli

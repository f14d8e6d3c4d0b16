// The command lines of the verbs that compile for overlays, run and time what was compiled.
#include <ostream>

#include "tilewright/cli/options/command_limits.h"
#include "tilewright/cli/options/common_options.h"
#include "tilewright/cli/options/file_options.h"
#include "tilewright/cli/options/fleet_options.h"
#include "tilewright/cli/options/page_files.h"
#include "tilewright/cli/options/verb_options.h"
#include "tilewright/cli/options/word_checks.h"
#include "tilewright/flow/targets.h"

namespace tilewright::cli {

CLI::App* add_compile(CLI::App& app, CompileOptions& options, std::ostream& out) {
  Verb* verb = add_verb(app, "compile", "Compile a quantised model for an overlay into a bundle",
                        "compile q.onnx --hardware overlay-16x16 -o model.twb");
  add_model(verb, options.model);
  reads(verb->add_option("--hardware", options.hardware, "Overlay: a preset's name or a YAML file"))
      ->required();
  writes(verb->add_option("-o,--output", options.output, "Bundle to write (.twb)"));
  writes(verb->add_option("--emit-assembly", options.assembly,
                          "Write the program as text to this file (- prints it)"));
  replaces_folder(verb->add_option("--emit-raw", options.raw_folder,
                                   "Folder for raw images and a program.yaml for 'exec'"));
  add_states(verb, options.states);
  verb->add_flag("--decode", options.decode,
                 "A language model for 'decode': its window becomes a program for one token at any position, "
                 "with the keys and values of those before it in accelerator memory");
  reads(verb->add_option("--records", options.records,
                         "Database of records, or records as text (.jsonl, .jsonl.gz): layers get the best "
                         "schedule in these or in the project's own records; may be repeated"));
  verb->add_flag("--no-records", options.no_records, "Only default schedules");
  reads(verb->add_option(
      "--memory", options.memory,
      "Memory model with which the records were measured: ideal, fixed[:LATENCY[:INTERVAL]], ddr, or a YAML "
      "file (default: fixed)"));
  add_json(verb, options.json);
  verb->refuse({"--memory"}, "with --no-records", [&options] { return options.no_records; });
  verb->callback([&options, &out] { compile(options, out); });
  return verb;
}

CLI::App* add_run(CLI::App& app, RunOptions& options, std::ostream& out) {
  Verb* verb =
      add_verb(app, "run", "Run a bundle, a generated design, or a model on the host engine on input data",
               "run model.twb --input x.npy --output y.npy --engine functional");
  add_model(verb, options.model,
            "Bundle (.twb), folder of a generated design, mapped program (.json), or model file");
  add_data(verb, options.input, "--input", "Inputs");
  add_preprocess(verb, options.preprocess, {&options.input}, "--input");
  writes(verb->add_option("-o,--output", options.output,
                          "File for the outputs: .npz for all of them, or .npy, with .1.npy, .2.npy, ... for "
                          "further ones"));
  reads(
      verb->add_option("--labels", options.labels, "Class labels; prints the top-1 accuracy (.npy or idx)"));
  writes(verb->add_option(
      "--state", options.state,
      "Bundle with states: file (.npz) that they are taken from, if it exists, and written to; "
      "each input is the next call"));
  add_engine(verb, options.engine, engine_names());
  add_energy(verb, options.engine);
  reads(verb->add_option("--hardware", options.hardware,
                         "Run a bundle on another overlay: a preset's name or a YAML file"));
  verb->add_flag("--verify", options.verify, "Compare every output bit for bit with the integer reference");
  add_threads(verb, options.threads);
  add_json(verb, options.json);
  verb->callback([&options, &out] { run(options, out); });
  return verb;
}

CLI::App* add_decode(CLI::App& app, DecodeOptions& options, std::ostream& out) {
  Verb* verb = add_verb(app, "decode", "Continue a text with a language model, token by token",
                        "decode lm.twb --prompt \"In the beginning\" --tokens 64 --engine cycle");
  reads(verb->add_option("bundle", options.bundle, "Bundle of 'compile --decode' (.twb)"))->required();
  CLI::Option* prompt = verb->add_option("--prompt", options.prompt,
                                         "The text to continue, of a network whose tokens are bytes");
  verb->add_option("--prompt-tokens", options.prompt_tokens, "Instead: the numbers of its tokens, as 1,2,3")
      ->delimiter(',')
      ->excludes(prompt);
  verb->add_option("--tokens", options.tokens, "Tokens to add")->check(at_least(int64_t{1}));
  verb->add_option("--temperature", options.temperature,
                   "Draw tokens by their share, sharpened below 1; 0: always the likeliest")
      ->check(number_check("a number from 0 up", [](double value) { return value >= 0; }));
  verb->add_option("--top", options.top, "Draw from that many likeliest tokens; 0: from all")
      ->check(at_least(int64_t{0}));
  verb->add_option("--seed", options.seed, "Of what is drawn");
  verb->refuse({"--top", "--seed"}, "without --temperature", [&options] { return options.temperature == 0; });
  add_engine(verb, options.engine, {"functional", "host", "cycle", "rtl"});
  reads(verb->add_option("--hardware", options.hardware,
                         "Another overlay than the bundle's: a preset's name or a YAML file"));
  verb->add_flag("--verify", options.verify,
                 "Compare the logits of every step, and the caches, bit for bit with the integer reference");
  add_json(verb, options.json);
  verb->callback([&options, &out] { decode(options, out); });
  return verb;
}

CLI::App* add_compare(CLI::App& app, CompareOptions& options, std::ostream& out) {
  Verb* verb = add_verb(app, "compare",
                        "Find the first tensor of a bundle that diverges from the float model, and why: "
                        "range, rounding or layout",
                        "compare model.onnx model.twb --input x.npy");
  add_model(verb, options.model, "Float model: ONNX, TensorFlow or TFLite file, or SavedModel folder");
  reads(verb->add_option("bundle", options.bundle, "Bundle (.twb)"))->required();
  add_data(verb, options.input, "--input", "Input");
  add_preprocess(verb, options.preprocess, {&options.input}, "--input");
  verb->add_option("--threshold", options.threshold_db,
                   "Signal-to-noise ratio in dB below which a tensor diverges")
      ->check(number_check("a finite number", [](double) { return true; }));
  add_json(verb, options.json);
  verb->callback([&options, &out] { compare(options, out); });
  return verb;
}

CLI::App* add_report(CLI::App& app, ReportOptions& options, std::ostream& out) {
  Verb* verb =
      add_verb(app, "report",
               "Cycles of a bundle, layer by layer: share of peak, bytes, ideal, roofline (cycle simulator)",
               "report model.twb --memory ddr --svg roofline.svg");
  add_timing(verb, options.timing);
  writes(verb->add_option("--svg", options.svg, "Write the roofline plot to this file"));
  add_page(verb, options.page);
  verb->callback([&options, &out] { report(options, out); });
  return verb;
}

CLI::App* add_explain(CLI::App& app, ExplainVerbOptions& options, std::ostream& out) {
  Verb* verb = add_verb(
      app, "explain",
      "What bounds each layer of a bundle, and which changes help; each change is tried and measured",
      "explain model.twb --threads 2");
  add_timing(verb, options.timing);
  add_page(verb, options.page);
  verb->add_flag("--no-trials", options.no_trials, "Only say what bounds each layer");
  add_threads(verb, options.threads);
  verb->callback([&options, &out] { explain(options, out); });
  return verb;
}

CLI::App* add_exec(CLI::App& app, ExecOptions& options, std::ostream& out) {
  Verb* verb =
      add_verb(app, "exec", "Execute a raw program: images at stated DRAM addresses", "exec program.yaml");
  reads(verb->add_option("program", options.program, "program.yaml"))->required();
  verb->add_flag("--check", options.check,
                 "First check for hazards: races, missing tokens, unportable instructions");
  verb->add_flag("--allow-outside", options.allow_outside,
                 "Let the program read and overwrite files outside its folder");
  verb->add_option_function<std::string>(
          "--time", [&options](const std::string& text) { options.time_s = seconds_of("--time", text); },
          "Stop a check or run that takes longer than this (default: 10m)")
      ->type_name("TIME");
  add_engine(verb, options.engine, {"functional", "cycle", "rtl"});
  add_json(verb, options.json);
  verb->callback([&options, &out] { exec(options, out); });
  return verb;
}

CLI::App* add_tune(CLI::App& app, TuneOptions& options, std::ostream& out) {
  Verb* verb =
      add_verb(app, "tune",
               "Search for a faster schedule for every layer of a bundle, measured on the cycle simulator; "
               "never makes it slower",
               "tune model.twb --trials 1000 --search gbt --threads 2 --records tune.db -o tuned.twb");
  add_timing(verb, options.timing);
  verb->add_option("--search", options.search,
                   "gbt (boosted trees choose what to measure), treegru, evolution, annealing, random")
      ->check(one_of({"gbt", "treegru", "evolution", "annealing", "random"}));
  verb->add_option("--trials", options.trials, "Schedules measured per distinct layer")
      ->check(between(int64_t{1}, int64_t{1} << 30));
  verb->add_option("--batch", options.batch, "Trials between two training steps of the model")
      ->check(between(1, 100000));
  verb->add_option("--seed", options.seed, "Of the search");
  verb->add_option("--layer", options.layers, "Only this layer; may be repeated");
  reads(verb->add_option("--records", options.records,
                         "Database of trials: known trials are not measured again, new ones are added"));
  writes(verb->add_option("-o,--output", options.output, "Write the tuned bundle to this file"));
  add_page(verb, options.page);
  add_limits(verb, options.limits, "--time",
             "Stop after this time, reading included, with the best schedules found by then (default: until "
             "all trials are made)");
  add_fleet(verb, options.fleet);
  add_threads(verb, options.threads);
  verb->refuse({"--batch"}, "without --search gbt or treegru",
               [&options] { return options.search != "gbt" && options.search != "treegru"; });
  verb->refuse({"--jobs"}, "without --executor local or slurm",
               [&options] { return options.fleet.executor == "threads"; });
  verb->refuse({"--threads"}, "without --executor threads",
               [&options] { return options.fleet.executor != "threads"; });
  verb->callback([&options, &out] { tune(options, out); });
  return verb;
}

}  // namespace tilewright::cli

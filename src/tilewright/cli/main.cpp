// The command line: options of every verb, and the mapping of errors to exit codes.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <exception>
#include <iostream>
#include <limits>
#include <new>

#include "tilewright/base/error.h"
#include "tilewright/cli/options/command_limits.h"
#include "tilewright/cli/options/file_options.h"
#include "tilewright/cli/options/fleet_options.h"
#include "tilewright/cli/options/plain_stream.h"
#include "tilewright/cli/options/verb_options.h"
#include "tilewright/cli/options/verbs.h"
#include "tilewright/flow/targets.h"

namespace tilewright::cli {
namespace {

// "1x49x10".
bool parse_shape(const std::string& text, Shape& shape) {
  std::vector<int64_t> dims;
  for (size_t at = 0; at <= text.size();) {
    const size_t end = std::min(text.find('x', at), text.size());
    int64_t size = 0;
    if (!CLI::detail::lexical_cast(text.substr(at, end - at), size) || size < 1) return false;
    dims.push_back(size);
    at = end + 1;
  }
  shape = Shape(std::move(dims));
  return true;
}

// Where a TensorFlow graph is cut.
void add_cuts(CLI::App* verb, ModelOptions& model) {
  verb->add_option_function<std::vector<std::string>>(
          "--feed",
          [&model](const std::vector<std::string>& feeds) {
            for (const std::string& feed : feeds) {
              const size_t equals = feed.find('=');
              Shape shape;
              if (equals != std::string::npos && !parse_shape(feed.substr(equals + 1), shape)) {
                throw CLI::ValidationError("--feed", "'" + feed + "' is not NODE or NODE=1x...");
              }
              model.feeds[feed.substr(0, equals)] = shape;
            }
          },
          "TensorFlow: make a node an input, with its shape if the file does not state it; may be repeated")
      ->type_name("NODE[=SHAPE]");
  verb->add_option("--output-node", model.output_nodes,
                   "TensorFlow: a node whose value is an output; may be repeated")
      ->type_name("NODE");
  verb->add_flag("--keep-argmax", model.keep_arg_max,
                 "TensorFlow: keep a final ArgMax instead of returning the scores it reads");
}

void add_model(CLI::App* verb, ModelOptions& model,
               const std::string& what = "ONNX, TensorFlow or TFLite file", bool required = true) {
  reads(verb->add_option("model", model.path, what))->required(required);
  verb->add_option_function<std::vector<std::string>>(
          "--shape",
          [&model](const std::vector<std::string>& bindings) {
            for (const std::string& binding : bindings) {
              const size_t equals = binding.find('=');
              int64_t size = 0;
              if (equals == std::string::npos ||
                  !CLI::detail::lexical_cast(binding.substr(equals + 1), size) || size < 0) {
                throw CLI::ValidationError("--shape", "'" + binding + "' is not name=N");
              }
              model.dimensions[binding.substr(0, equals)] = size;
            }
          },
          "Bind a symbolic dimension, name=N; may be repeated")
      ->type_name("NAME=N");
  verb->add_option(
          "--fill-weights", model.fill_gain,
          "Fill a model without weights with reference pseudo-random weights of variance GAIN/fan-in")
      ->check(number_check("a finite number above 0", [](double x) { return x > 0; }));
  add_cuts(verb, model);
}

void add_data(CLI::App* verb, DataOptions& data, const std::string& flag, const std::string& description) {
  reads(verb->add_option(flag, data.path, description + " (.npy or idx, samples along axis 0)"));
  verb->add_option(flag + "-count", data.count, "Use only the first N samples")
      ->check(CLI::Range(int64_t{0}, std::numeric_limits<int64_t>::max()));
  verb->add_option(flag + "-scale", data.scale, "First multiply the values by this, e.g. 0.00392156862745098")
      ->check(number_check("a finite number other than 0", [](double x) { return x != 0; }));
}

void add_common(CLI::App* verb, bool& json, int* threads = nullptr) {
  verb->add_flag("--json", json, "Print machine-readable JSON");
  if (threads) verb->add_option("--threads", *threads, "Number of threads")->check(CLI::Range(1, 1024));
}

void add_timing(CLI::App* verb, TimingOptions& timing) {
  reads(verb->add_option("bundle", timing.bundle, "Bundle (.twb)"))->required();
  reads(verb->add_option("--hardware", timing.hardware,
                         "Time the bundle on another overlay: a preset's name or a YAML file"));
  reads(verb->add_option("--memory", timing.memory,
                         "ideal, fixed[:LATENCY[:INTERVAL]], ddr, or a YAML file (default: fixed)"));
  verb->add_flag("--json", timing.json, "Print machine-readable JSON");
}

void add_engine(CLI::App* verb, TimedEngineOptions& engine, const std::vector<std::string>& engines) {
  const bool fabric = std::find(engines.begin(), engines.end(), "fabric") != engines.end();
  verb->add_option("--engine", engine.engine,
                   std::string("What runs overlay programs: functional (no timing), cycle (simulated "
                               "cycles), rtl (the hardware itself, Verilated)") +
                       (fabric ? "; fabric: what runs mapped programs, clock by clock" : ""))
      ->check(CLI::IsMember(engines));
  reads(verb->add_option(
      "--memory", engine.memory,
      "Memory of the timed engines: ideal, fixed[:LATENCY[:INTERVAL]] (default), ddr, or a YAML file"));
  verb->add_flag("--counters", engine.counters, "Show how many cycles every module spent on what");
  writes(verb->add_option("--trace", engine.trace,
                          "Write a trace for Chrome and Perfetto (.json; cycle engine)"));
  writes(verb->add_option("--wave", engine.wave, "Write the waveforms of all signals (.fst; rtl engine)"));
  verb->add_option("--rtl-cache", engine.rtl_cache,
                   "Folder for compiled RTL models (default: the user's cache)");
}

void add_map(CLI::App& app, MapOptions& map_options, std::ostream& out) {
  CLI::App* verb = add_verb(
      app, "map",
      "Map a model onto a spatial array: mappings of least energy or latency per layer, proven optimal",
      "map alexnet.onnx --hardware eyeriss-256 --dataflow all --equal-area --batch 16");
  add_model(verb, map_options.model, "ONNX, TensorFlow or TFLite file (or --workload)", false);
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
      ->check(CLI::Range(int64_t{1}, int64_t{1} << 20));
  verb->add_flag("--equal-area", map_options.equal_area, "Give every dataflow storage of the same area");
  verb->add_option("--objective", map_options.objective, "What to minimise: energy, latency or edp")
      ->check(CLI::IsMember({"energy", "latency", "edp"}));
  verb->add_option("--max-cycles", map_options.max_cycles,
                   "Only mappings that take at most this many cycles per layer")
      ->check(CLI::Range(int64_t{1}, std::numeric_limits<int64_t>::max()));
  add_limits(verb, map_options.limits, "--time",
             "Stop after this time for the whole command, reading included; layers not proven by then are "
             "marked (default: until proven, which may take hours)");
  verb->add_option("--rules", map_options.rules,
                   "How accesses are charged: physical (default), timeloop (default with --timeloop), or "
                   "study (default with "
                   "a dataflow's name)")
      ->check(CLI::IsMember({"physical", "timeloop", "study"}));
  verb->add_flag("--imperfect", map_options.imperfect,
                 "Also search tiles that do not divide the layer's sizes");
  writes(verb->add_option("--plot", map_options.plot, "SVG of stacked bars (with --pareto: of the front)"));
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
  add_common(verb, map_options.json, &map_options.threads);
  verb->callback([&map_options, &out] { map(map_options, out); });
}

void add_tune(CLI::App& app, TuneOptions& options, std::ostream& out) {
  CLI::App* verb =
      add_verb(app, "tune",
               "Search for a faster schedule for every layer of a bundle, measured on the cycle simulator; "
               "never makes it slower",
               "tune model.twb --trials 1000 --search gbt --threads 2 --records tune.db -o tuned.twb");
  add_timing(verb, options.timing);
  verb->add_option("--search", options.search,
                   "gbt (boosted trees choose what to measure), treegru, evolution, annealing, random")
      ->check(CLI::IsMember({"gbt", "treegru", "evolution", "annealing", "random"}));
  verb->add_option("--trials", options.trials, "Schedules measured per distinct layer")
      ->check(CLI::Range(int64_t{1}, int64_t{1} << 30));
  verb->add_option("--batch", options.batch, "Trials between two training steps of the model")
      ->check(CLI::Range(1, 100000));
  verb->add_option("--seed", options.seed, "Of the search");
  verb->add_option("--layer", options.layers, "Only this layer; may be repeated");
  reads(verb->add_option("--records", options.records,
                         "Database of trials: known trials are not measured again, new ones are added"));
  writes(verb->add_option("-o,--output", options.output, "Write the tuned bundle to this file"));
  writes(verb->add_option("--page", options.page, "Write curves, roofline and table as an HTML page"));
  add_limits(verb, options.limits, "--time",
             "Stop after this time, reading included, with the best schedules found by then (default: until "
             "all trials are made)");
  add_fleet(verb, options.fleet);
  verb->add_option("--threads", options.threads, "Number of threads")->check(CLI::Range(1, 1024));
  verb->callback([&options, &out] { tune(options, out); });
}

void add_generate(CLI::App& app, GenerateOptions& options, std::ostream& out) {
  CLI::App* verb =
      add_verb(app, "generate",
               "Generate an FPGA design for one network: Verilog, memories, host program, testbench, report",
               "generate lenet.pb --device xc7z020 --clock 100 --number-type q10.22 -o design/");
  add_model(verb, options.model, "ONNX, TensorFlow or TFLite file");
  reads(
      verb->add_option("--device", options.device, "FPGA: a preset's name (hardware/devices) or a YAML file"))
      ->required();
  replaces_folder(
      verb->add_option("-o,--output", options.output,
                       "Folder of the design; an earlier design is replaced, files added to it stay"))
      ->required();
  verb->add_option("--clock", options.clock_mhz, "Clock of the design in MHz (default: the device's)")
      ->check(number_check("a number of MHz above 0 and at most 10000",
                           [](double x) { return x > 0 && x <= 10000; }));
  verb->add_option("--objective", options.objective,
                   "What to minimise: cycles of one image, or cycles between images")
      ->check(CLI::IsMember({"latency", "throughput"}));
  verb->add_option(
          "--budget", options.budget,
          "Resources that the design may use, instead of the whole device: dsp=N,bram=N,uram=N,lut=N,ff=N,"
          "multipliers=N,channels=N")
      ->type_name("NAME=N,...");
  verb->add_option("--number-type", options.number_type,
                   "int8 (float models need --calibration), or 32-bit fixed point such as q10.22");
  verb->add_option("--weight-bits", options.weight_bits, "Bits of a weight")->check(CLI::Range(1, 8));
  verb->add_option("--activation-bits", options.activation_bits, "Bits of an activation")
      ->check(CLI::Range(1, 8));
  add_data(verb, options.calibration, "--calibration", "Calibration inputs of a float model");
  verb->add_option("--form", options.form,
                   "A stage for every layer, engines that layers share, or the better of both")
      ->check(CLI::IsMember({"auto", "streaming", "processors"}));
  reads(
      verb->add_option("--allocation", options.allocation,
                       "Use the allocation in this file (allocation.yaml of a design) instead of searching"));
  reads(verb->add_option(
      "--memory", options.memory,
      "Memory of the simulation: ideal, fixed[:LATENCY[:INTERVAL[:EFFICIENCY]]], ddr, or a YAML "
      "file (default: the device's)"));
  verb->add_flag("--no-simulate", options.no_simulate, "Only estimate the cycles");
  add_limits(verb, options.limits, "--time",
             "Stop after this time, reading included; a design not simulated by then is written with "
             "estimated cycles");
  verb->add_flag("--explain", options.explain,
                 "Say which layer got which multipliers and why, and what bounds each layer");
  add_common(verb, options.json, &options.threads);
  verb->callback([&options, &out] { generate(options, out); });
}

void add_synth(CLI::App& app, SynthOptions& options, std::ostream& out) {
  CLI::App* verb = add_verb(
      app, "synth",
      "Synthesise an overlay (resources, fit, clock rate, for iCE40 a bitstream), or a generated design "
      "(Yosys' counts beside the estimates)",
      "synth overlay-ice40 --device ice40-hx8k -o build/ice40");
  reads(verb->add_option("hardware", options.hardware,
                         "Overlay (a preset's name or a YAML file), or the folder of a generated design"))
      ->required();
  reads(verb->add_option(
      "--device", options.device,
      "FPGA: a preset's name (hardware/devices) or a YAML file (default: the design's own)"));
  verb->add_option("-o,--output", options.output,
                   "Folder for sources, netlist, bitstream and report.json (default: none for an overlay, "
                   "synthesis/ in the folder of a design)");
  verb->add_option("--clock", options.clock_mhz, "Target clock in MHz (default: the overlay's)")
      ->check(number_check("a number of MHz above 0 and at most 10000",
                           [](double x) { return x > 0 && x <= 10000; }));
  verb->add_option("--seed", options.seed, "Seed of the placer")->check(CLI::Range(0, 1 << 30));
  verb->add_option("--timeout", options.timeout_s, "Time limit of each tool in seconds")
      ->check(number_check("a number of seconds above 0", [](double x) { return x > 0; }));
  verb->add_flag("--no-dsp", options.no_dsp, "Build multipliers from look-up tables");
  verb->add_flag("--allow-misfit", options.allow_misfit,
                 "Report a design that does not fit instead of refusing it");
  verb->add_flag("--rtl-only", options.rtl_only, "Only write the configured sources");
  add_common(verb, options.json);
  verb->callback([&options, &out] { synth(options, out); });
}

void add_inspect(CLI::App& app, InspectOptions& options, std::ostream& out) {
  CLI::App* verb = add_verb(
      app, "inspect", "Operators, shapes, MACs, parameters, arithmetic intensity; every problem at once",
      "inspect models/lenet-fashion/lenet_fashion.onnx");
  add_model(verb, options.model);
  verb->add_option("--on", options.machine,
                   "Say which nodes a machine takes and why not the others: overlay=NAME, design=DEVICE or "
                   "array=NAME, a preset or a file; a float model is quantised on random inputs")
      ->type_name("TARGET=NAME");
  verb->add_flag(
      "--text", options.text,
      "Print the graph in the text form of docs/model/graph.md, constants included; every verb reads it");
  add_common(verb, options.json);
  verb->callback([&options, &out] { inspect(options, out); });
}

void add_optimize(CLI::App& app, OptimizeOptions& options, std::ostream& out) {
  CLI::App* verb = add_verb(app, "optimize", "Simplify a float model; every stage is a valid .onnx file",
                            "optimize model.onnx -o optimized.onnx --dump-passes passes/");
  add_model(verb, options.model);
  writes(verb->add_option("-o,--output", options.output, "ONNX file to write"));
  replaces_folder(
      verb->add_option("--dump-passes", options.dump_folder, "Folder for the model after each pass"));
  verb->add_flag("--table", options.table,
                 "Show what remains of the graph after reading, folding and fusing, stage by stage");
  add_common(verb, options.json, &options.threads);
  verb->callback([&options, &out] { optimize(options, out); });
}

void add_quantize(CLI::App& app, QuantizeVerbOptions& options, std::ostream& out) {
  CLI::App* verb =
      add_verb(app, "quantize",
               "Quantise a float model: 8-bit weights and activations (QDQ form, calibrated) or fixed point",
               "quantize model.onnx --calibration images.npy -o q.onnx");
  add_model(verb, options.model);
  add_data(verb, options.calibration, "--calibration", "Calibration inputs");
  add_data(verb, options.evaluation, "--evaluate",
           "Inputs of the accuracy report (default: the calibration inputs)");
  reads(verb->add_option("--labels", options.labels, "Class labels of the evaluation inputs (.npy or idx)"));
  writes(verb->add_option("-o,--output", options.output, "ONNX file to write"))->required();
  verb->add_option("--number-type", options.number_type,
                   "int8, or 32-bit fixed point such as q10.22, which needs no calibration inputs");
  verb->add_option("--scales", options.scales, "real (wide instruction set) or power-of-two (plain VTA)")
      ->check(CLI::IsMember({"real", "power-of-two"}));
  verb->add_option("--method", options.method, "How activation ranges are chosen")
      ->check(CLI::IsMember({"squared-error", "min-max", "percentile", "kl"}));
  verb->add_flag("--per-tensor", options.per_tensor,
                 "One weight scale per tensor instead of one per channel");
  verb->add_option("--weight-bits", options.weight_bits, "Bits of a weight")->check(CLI::Range(1, 8));
  verb->add_option("--activation-bits", options.activation_bits, "Bits of an activation")
      ->check(CLI::Range(1, 8));
  add_common(verb, options.json, &options.threads);
  verb->callback([&options, &out] { quantize(options, out); });
}

void add_compile(CLI::App& app, CompileOptions& options, std::ostream& out) {
  CLI::App* verb = add_verb(app, "compile", "Compile a quantised model for an overlay into a bundle",
                            "compile q.onnx --hardware overlay-16x16 -o model.twb");
  add_model(verb, options.model);
  reads(verb->add_option("--hardware", options.hardware, "Overlay: a preset's name or a YAML file"))
      ->required();
  writes(verb->add_option("-o,--output", options.output, "Bundle to write (.twb)"));
  writes(verb->add_option("--emit-assembly", options.assembly,
                          "Write the program as text to this file (- prints it)"));
  replaces_folder(verb->add_option("--emit-raw", options.raw_folder,
                                   "Folder for raw images and a program.yaml for 'exec'"));
  reads(verb->add_option("--records", options.records,
                         "Database of records, or records as text (.jsonl, .jsonl.gz): layers get the best "
                         "schedule in these or in the project's own records; may be repeated"));
  verb->add_flag("--no-records", options.no_records, "Only default schedules");
  reads(verb->add_option(
      "--memory", options.memory,
      "Memory model with which the records were measured: ideal, fixed[:LATENCY[:INTERVAL]], ddr, or a YAML "
      "file (default: fixed)"));
  add_common(verb, options.json, &options.threads);
  verb->callback([&options, &out] { compile(options, out); });
}

void add_run(CLI::App& app, RunOptions& options, std::ostream& out) {
  CLI::App* verb =
      add_verb(app, "run", "Run a bundle, a generated design, or a model on the host engine on input data",
               "run model.twb --input x.npy --output y.npy --engine functional");
  add_model(verb, options.model,
            "Bundle (.twb), folder of a generated design, mapped program (.json), or model file");
  add_data(verb, options.input, "--input", "Inputs");
  writes(verb->add_option("--output", options.output,
                          "File for the outputs (.npy); further outputs get .1.npy, .2.npy, ..."));
  reads(
      verb->add_option("--labels", options.labels, "Class labels; prints the top-1 accuracy (.npy or idx)"));
  add_engine(verb, options.engine, engine_names());
  reads(verb->add_option("--hardware", options.hardware,
                         "Run a bundle on another overlay: a preset's name or a YAML file"));
  verb->add_flag("--verify", options.verify, "Compare every output bit for bit with the integer reference");
  add_common(verb, options.json, &options.threads);
  verb->callback([&options, &out] { run(options, out); });
}

void add_compare(CLI::App& app, CompareOptions& options, std::ostream& out) {
  CLI::App* verb = add_verb(app, "compare",
                            "Find the first tensor of a bundle that diverges from the float model, and why: "
                            "range, rounding or layout",
                            "compare model.onnx model.twb --input x.npy");
  add_model(verb, options.model, "Float model: ONNX, TensorFlow or TFLite file");
  reads(verb->add_option("bundle", options.bundle, "Bundle (.twb)"))->required();
  add_data(verb, options.input, "--input", "Input");
  verb->add_option("--threshold", options.threshold_db,
                   "Signal-to-noise ratio in dB below which a tensor diverges")
      ->check(number_check("a finite number", [](double) { return true; }));
  add_common(verb, options.json, &options.threads);
  verb->callback([&options, &out] { compare(options, out); });
}

void add_report(CLI::App& app, ReportOptions& options, std::ostream& out) {
  CLI::App* verb =
      add_verb(app, "report",
               "Cycles of a bundle, layer by layer: share of peak, bytes, ideal, roofline (cycle simulator)",
               "report model.twb --memory ddr --svg roofline.svg");
  add_timing(verb, options.timing);
  writes(verb->add_option("--svg", options.svg, "Write the roofline plot to this file"));
  verb->callback([&options, &out] { report(options, out); });
}

void add_explain(CLI::App& app, ExplainVerbOptions& options, std::ostream& out) {
  CLI::App* verb = add_verb(
      app, "explain",
      "What bounds each layer of a bundle, and which changes help; each change is tried and measured",
      "explain model.twb --threads 2");
  add_timing(verb, options.timing);
  verb->add_flag("--no-trials", options.no_trials, "Only say what bounds each layer");
  verb->add_option("--threads", options.threads, "Number of threads")->check(CLI::Range(1, 1024));
  verb->callback([&options, &out] { explain(options, out); });
}

void add_exec(CLI::App& app, ExecOptions& options, std::ostream& out) {
  CLI::App* verb =
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
  add_common(verb, options.json);
  verb->callback([&options, &out] { exec(options, out); });
}

void add_doctor(CLI::App& app, DoctorOptions& options, std::ostream& out) {
  CLI::App* verb =
      add_verb(app, "doctor", "What is installed, and what each missing part would enable", "doctor");
  add_common(verb, options.json);
  verb->callback([&options, &out] { doctor(options, out); });
}

int parse_and_run(int argc, char** argv) {
  CLI::App app(
      "Tilewright: from a trained network to a verified accelerator and the program that runs on it");
  app.require_subcommand(1);
  app.set_version_flag("--version", std::string(TILEWRIGHT_VERSION));
  std::ostream& out = std::cout;
  InspectOptions inspect_options;
  add_inspect(app, inspect_options, out);
  OptimizeOptions optimize_options;
  add_optimize(app, optimize_options, out);
  QuantizeVerbOptions quantize_options;
  add_quantize(app, quantize_options, out);
  MapOptions map_options;
  add_map(app, map_options, out);
  PlaceVerbs place_verbs;
  add_place(app, place_verbs, out);
  CompileOptions compile_options;
  add_compile(app, compile_options, out);
  RunOptions run_options;
  add_run(app, run_options, out);
  CompareOptions compare_options;
  add_compare(app, compare_options, out);
  ReportOptions report_options;
  add_report(app, report_options, out);
  ExplainVerbOptions explain_options;
  add_explain(app, explain_options, out);
  TuneOptions tune_options;
  add_tune(app, tune_options, out);
  ExecOptions exec_options;
  add_exec(app, exec_options, out);
  GenerateOptions generate_options;
  add_generate(app, generate_options, out);
  SynthOptions synth_options;
  add_synth(app, synth_options, out);
  RecordsOptions records_options;
  add_records(app, records_options, out);
  ExploreOptions explore_options;
  add_explore(app, explore_options, out);
  StudyVerbs study_verbs;
  add_study(app, study_verbs, out);
  DoctorOptions doctor_options;
  add_doctor(app, doctor_options, out);

  WorkerVerbOptions worker_options;
  int exit_code = 0;
  add_worker(app, worker_options, exit_code);

  try {
    app.parse(argc, argv);
    out.flush();
    if (!out) throw Error(ErrorKind::kInvalidInput, "cannot write to standard output");
    return exit_code;
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? 0 : int(ErrorKind::kInvalidInput);
  }
}

}  // namespace
}  // namespace tilewright::cli

int main(int argc, char** argv) {
  const tilewright::cli::PlainStream plain_output(std::cout), plain_errors(std::cerr);
  try {
    return tilewright::cli::parse_and_run(argc, argv);
  } catch (const tilewright::Error& error) {
    std::cerr << "tilewright: " << error.what() << "\n";
    return int(error.kind());
  } catch (const tilewright::Expired&) {
    std::cerr << "tilewright: the time or memory limit was reached before there was a result\n";
    return int(tilewright::ErrorKind::kInfeasible);
  } catch (const std::bad_alloc&) {
    std::cerr << "tilewright: out of memory\n";
    return int(tilewright::ErrorKind::kInvalidInput);
  } catch (const std::exception& error) {
    std::cerr << "tilewright: internal error: " << error.what() << "; please report this as a bug\n";
    return int(tilewright::ErrorKind::kInternal);
  }
}

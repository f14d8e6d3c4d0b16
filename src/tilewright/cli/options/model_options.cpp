// The command lines of the verbs that read and change models.
#include <ostream>

#include "tilewright/cli/options/command_limits.h"
#include "tilewright/cli/options/common_options.h"
#include "tilewright/cli/options/file_options.h"
#include "tilewright/cli/options/verb_options.h"
#include "tilewright/cli/options/word_checks.h"

namespace tilewright::cli {

CLI::App* add_inspect(CLI::App& app, InspectOptions& options, std::ostream& out) {
  Verb* verb = add_verb(app, "inspect",
                        "Operators, shapes, MACs, parameters, arithmetic intensity; every problem at once",
                        "inspect models/lenet-fashion/lenet_fashion.onnx");
  add_model(verb, options.model);
  verb->add_option("--on", options.machine,
                   "Say which nodes a machine takes and why not the others: overlay=NAME, design=DEVICE or "
                   "array=NAME, a preset or a file; a float model is quantised on random inputs")
      ->type_name("TARGET=NAME");
  verb->add_flag("--text", options.text,
                 "Print the graph in the text form of docs/design/model/graph.md, constants included; every "
                 "verb reads it");
  add_json(verb, options.json);
  verb->refuse({"--json", "--on"}, "with --text", [&options] { return options.text; });
  verb->callback([&options, &out] { inspect(options, out); });
  return verb;
}

CLI::App* add_optimize(CLI::App& app, OptimizeOptions& options, std::ostream& out) {
  Verb* verb = add_verb(app, "optimize", "Simplify a float model; every stage is a valid .onnx file",
                        "optimize model.onnx -o optimized.onnx --dump-passes passes/");
  add_model(verb, options.model);
  writes(verb->add_option("-o,--output", options.output, "ONNX file to write"));
  replaces_folder(
      verb->add_option("--dump-passes", options.dump_folder, "Folder for the model after each pass"));
  verb->add_flag("--table", options.table,
                 "Show what remains of the graph after reading, folding and fusing, stage by stage");
  add_json(verb, options.json);
  verb->refuse({"--output", "--dump-passes"}, "with --table", [&options] { return options.table; });
  verb->callback([&options, &out] { optimize(options, out); });
  return verb;
}

CLI::App* add_quantize(CLI::App& app, QuantizeVerbOptions& options, std::ostream& out) {
  Verb* verb =
      add_verb(app, "quantize",
               "Quantise a float model: 8-bit weights and activations (QDQ form, calibrated) or fixed point",
               "quantize model.onnx --calibration images.npy -o q.onnx");
  add_model(verb, options.model);
  add_data(verb, options.calibration, "--calibration", "Calibration inputs");
  add_data(verb, options.evaluation, "--evaluate",
           "Inputs of the accuracy report (default: the calibration inputs)");
  add_preprocess(verb, options.preprocess, {&options.calibration, &options.evaluation},
                 "--calibration or --evaluate");
  reads(verb->add_option("--labels", options.labels, "Class labels of the evaluation inputs (.npy or idx)"));
  writes(verb->add_option("-o,--output", options.output, "ONNX file to write"))->required();
  add_states(verb, options.states);
  verb->add_option("--number-type", options.number_type,
                   "int8, or 32-bit fixed point such as q10.22, which needs no calibration inputs");
  verb->add_option("--format", options.format,
                   "How the file says it: qdq (QuantizeLinear, DequantizeLinear) or qonnx (Quant)")
      ->check(one_of({"qdq", "qonnx"}));
  verb->add_option("--scales", options.scales, "real (wide instruction set) or power-of-two (plain VTA)")
      ->check(one_of({"real", "power-of-two"}));
  verb->add_option("--method", options.method,
                   "How activation ranges are chosen; best tries several, with and without corrections, and "
                   "keeps what leaves the least noise")
      ->check(one_of({"best", "layer-error", "squared-error", "min-max", "percentile", "kl"}));
  verb->add_option(
      "--corrections", options.corrections,
      "What lowers the error beyond ranges: some of bias (mean errors go into the biases), "
      "rounding (of weights, by the outputs' error), equalize (factors between layers), separated "
      "by commas, or none");
  verb->add_flag("--per-tensor", options.per_tensor,
                 "One weight scale per tensor instead of one per channel");
  verb->add_flag("--symmetric", options.symmetric,
                 "Zero points of activations are 0, as FINN and hls4ml want them");
  verb->add_flag(
      "--integer-borders", options.integer_borders,
      "The file takes and gives 8-bit integers, whose scales are printed: no conversions in the model");
  verb->add_option("--weight-bits", options.weight_bits, "Bits of a weight")->check(between(1, 8));
  verb->add_option("--activation-bits", options.activation_bits, "Bits of an activation")
      ->check(between(1, 8));
  verb->add_option("--weight-group", options.weight_group,
                   "Consecutive weights of an output that share a factor, for example 32 with 4 bits "
                   "(default: whole channels)")
      ->check(at_least<int64_t>(2));
  verb->add_option(
      "--mixed", options.mixed,
      "Bits that the weights of a layer may have, for example 4,8; with 16 among them, activations "
      "may have 16. Chosen layer by layer, within --target-db or --mean-bits");
  verb->add_option("--target-db", options.target_db,
                   "For --mixed: least signal to noise of the outputs, in dB, on the calibration inputs");
  verb->add_option("--mean-bits", options.mean_bits, "For --mixed: most bits of a weight, on average");
  verb->add_option(
          "--keep-float", options.keep_float,
          "Leave a node in float, on the host, as 'speech_features/*' leaves all whose names begin so; "
          "may be repeated")
      ->type_name("NODE");
  add_threads(verb, options.threads);
  add_json(verb, options.json);
  verb->refuse({"--weight-bits", "--scales"}, "with --mixed", [&options] { return !options.mixed.empty(); });
  verb->refuse({"--target-db", "--mean-bits"}, "without --mixed",
               [&options] { return options.mixed.empty(); });
  verb->refuse({"--mean-bits"}, "with --target-db", [&options] { return options.target_db != 0; });
  verb->refuse({"--mixed", "--weight-group", "--keep-float", "--format", "--scales", "--method",
                "--corrections", "--per-tensor", "--symmetric", "--integer-borders"},
               "with a fixed-point --number-type", [&options] { return options.number_type != "int8"; });
  verb->refuse({"--labels"}, "without --calibration or --evaluate",
               [&options] { return options.calibration.files.empty() && options.evaluation.files.empty(); });
  verb->callback([&options, &out] { quantize(options, out); });
  return verb;
}

}  // namespace tilewright::cli

// The command lines of `generate` and `synth`.
#include <ostream>

#include "tilewright/cli/options/command_limits.h"
#include "tilewright/cli/options/common_options.h"
#include "tilewright/cli/options/file_options.h"
#include "tilewright/cli/options/page_files.h"
#include "tilewright/cli/options/verb_options.h"
#include "tilewright/cli/options/word_checks.h"

namespace tilewright::cli {

namespace {

void add_precision(Verb* verb, GenerateOptions& options) {
  verb->add_option(
          "--bits-for", options.bits_for,
          "Choose the bits of each layer with the least loss for a budget: shares of what 8 bits need "
          "(lut=0.5,bram=0.5) or counts (lut=20000), of lut, ff, dsp, bram, uram, cycles")
      ->type_name("NAME=N,...");
  verb->add_option("--widths", options.widths,
                   "For --bits-for: bits that weights and activations may have (default: 2,3,4,5,6,7,8)")
      ->type_name("N,...");
  reads(verb->add_option("--labels", options.labels,
                         "For --bits-for: class labels of the calibration inputs (.npy or idx; default: the "
                         "float model's answers)"));
  verb->add_option("--fine-tune", options.fine_tune_seconds,
                   "For --bits-for: train the weights at the chosen bits on the calibration inputs for up to "
                   "so many seconds; kept only where the answers get better (0: not at all)")
      ->check(
          number_check("a number of seconds from 0 to 1000000", [](double x) { return x >= 0 && x <= 1e6; }));
  writes(verb->add_option("--quantized", options.quantized,
                          "For --bits-for: ONNX file for the quantised model"));
  verb->add_option("--format", options.format,
                   "Of that file: qdq (QuantizeLinear, DequantizeLinear) or qonnx (Quant)")
      ->check(one_of({"qdq", "qonnx"}));
}

void refuse_contradictions(Verb* verb, GenerateOptions& options) {
  verb->refuse({"--memory"}, "with --no-simulate", [&options] { return options.no_simulate; });
  verb->refuse({"--form", "--objective"}, "with --allocation",
               [&options] { return !options.allocation.empty(); });
  verb->refuse({"--widths", "--labels", "--fine-tune", "--quantized"}, "without --bits-for",
               [&options] { return options.bits_for.empty(); });
  verb->refuse({"--format"}, "without --quantized", [&options] { return options.quantized.empty(); });
  verb->refuse({"--weight-bits", "--activation-bits", "--allocation", "--form"}, "with --bits-for",
               [&options] { return !options.bits_for.empty(); });
  verb->refuse({"--bits-for"}, "with a fixed-point --number-type",
               [&options] { return options.number_type != "int8"; });
  verb->refuse({"--allocation", "--budget", "--objective", "--memory", "--no-simulate", "--explain", "--html",
                "--data"},
               "with --form constant", [&options] { return options.form == "constant"; });
}

}  // namespace

CLI::App* add_generate(CLI::App& app, GenerateOptions& options, std::ostream& out) {
  Verb* verb = add_verb(app, "generate",
                        "Generate an FPGA design for one network: Verilog, memories, testbench, drivers in "
                        "C++ and Python, scripts "
                        "for Vivado and FuseSoC, report",
                        "generate lenet.pb --device xc7z020 --clock 100 --number-type q10.22 -o design/");
  add_model(verb, options.model, "ONNX, TensorFlow or TFLite file, or SavedModel folder");
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
      ->check(one_of({"latency", "throughput"}));
  verb->add_option(
          "--budget", options.budget,
          "Resources that the design may use, instead of the whole device: dsp=N,bram=N,uram=N,lut=N,ff=N,"
          "multipliers=N,channels=N")
      ->type_name("NAME=N,...");
  verb->add_option("--number-type", options.number_type,
                   "int8 (float models need --calibration), or 32-bit fixed point such as q10.22");
  verb->add_option("--weight-bits", options.weight_bits, "Bits of a weight")->check(between(1, 8));
  verb->add_option("--activation-bits", options.activation_bits, "Bits of an activation")
      ->check(between(1, 8));
  add_data(verb, options.calibration, "--calibration", "Calibration inputs of a float model");
  add_preprocess(verb, options.preprocess, {&options.calibration}, "--calibration");
  add_precision(verb, options);
  verb->add_option(
          "--form", options.form,
          "A stage for every layer, engines that layers share, or the better of both; constant: weights "
          "as wires, for chains of dense layers, one result per cycle")
      ->check(one_of({"auto", "streaming", "processors", "constant"}));
  reads(
      verb->add_option("--allocation", options.allocation,
                       "Use the allocation in this file (allocation.yaml of a design) instead of searching"));
  reads(verb->add_option(
      "--memory", options.memory,
      "Memory of the simulation: ideal, fixed[:LATENCY[:INTERVAL[:EFFICIENCY]]], ddr, or a YAML "
      "file (default: the device's)"));
  add_page(verb, options.page);
  verb->add_flag("--no-simulate", options.no_simulate, "Only estimate the cycles");
  add_limits(verb, options.limits, "--time",
             "Stop after this time, reading included; a design not simulated by then is written with "
             "estimated cycles");
  verb->add_flag("--explain", options.explain,
                 "Say which layer got which multipliers and why, and what bounds each layer");
  add_threads(verb, options.threads);
  add_json(verb, options.json);
  refuse_contradictions(verb, options);
  verb->callback([&options, &out] { generate(options, out); });
  return verb;
}

CLI::App* add_synth(CLI::App& app, SynthOptions& options, std::ostream& out) {
  Verb* verb = add_verb(
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
  verb->add_option("--seed", options.seed, "Seed of the placer")->check(between(0, 1 << 30));
  verb->add_option("--timeout", options.timeout_s, "Time limit of each tool in seconds")
      ->check(number_check("a number of seconds above 0", [](double x) { return x > 0; }));
  verb->add_flag("--no-dsp", options.no_dsp, "Build multipliers from look-up tables");
  verb->add_flag("--allow-misfit", options.allow_misfit,
                 "Report a design that does not fit instead of refusing it");
  verb->add_flag("--rtl-only", options.rtl_only, "Only write the configured sources");
  add_json(verb, options.json);
  verb->refuse({"--device", "--clock", "--seed", "--timeout", "--no-dsp", "--allow-misfit"},
               "with --rtl-only", [&options] { return options.rtl_only; });
  verb->callback([&options, &out] { synth(options, out); });
  return verb;
}

}  // namespace tilewright::cli

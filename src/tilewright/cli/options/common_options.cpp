// Groups of options that several verbs share.
#include "tilewright/cli/options/common_options.h"

#include <algorithm>
#include <thread>

#include "tilewright/cli/options/file_options.h"
#include "tilewright/cli/options/verb_options.h"
#include "tilewright/cli/options/word_checks.h"

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
  verb->add_option("--signature", model.signature,
                   "SavedModel: the signature that states inputs and outputs (default: serving_default)")
      ->type_name("NAME");
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
                   "ONNX, TensorFlow: a node (or value) to end with; what only other outputs need is not "
                   "read; may be repeated")
      ->type_name("NODE");
  verb->add_flag("--keep-argmax", model.keep_arg_max,
                 "TensorFlow: keep a final ArgMax instead of returning the scores it reads");
}

}  // namespace

void add_model(CLI::App* verb, ModelOptions& model, const std::string& what, bool required) {
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
  verb->add_flag("--tflite-kernels", model.tflite_kernels,
                 "TFLite: round as its built-in kernels and TFLite Micro do (default: as its runtime does)");
  add_cuts(verb, model);
}

void add_data(Verb* verb, DataOptions& data, const std::string& flag, const std::string& description) {
  reads_samples(verb->add_option(
                    flag, data.files,
                    description +
                        ": arrays (.npy, idx, .npz with a member for each input), pictures (PNG, JPEG), "
                        "sounds (WAV), or a folder of these; NAME=FILE for one of several inputs, repeated"))
      ->type_name("[NAME=]FILE")
      ->allow_extra_args(false);
  verb->add_option(flag + "-count", data.count, "Use only the first N samples")->check(at_least(int64_t{0}));
  verb->add_option(flag + "-scale", data.scale, "First multiply the values by this, e.g. 0.00392156862745098")
      ->check(number_check("a finite number other than 0", [](double x) { return x != 0; }));
  verb->refuse({flag + "-count", flag + "-scale"}, "without " + flag, [&data] { return data.files.empty(); });
}

void add_preprocess(Verb* verb, std::string& preprocess, const std::vector<const DataOptions*>& data,
                    const std::string& flags) {
  reads(verb->add_option(
            "--preprocess", preprocess,
            "What is done to pictures (colour, resize, crop, layout), sounds (rate, channel, length) and the "
            "values of both (scale, mean, std), as in resize=256,crop=224,scale=1/255, or a YAML file of the "
            "same fields (docs/guides/samples.md)"))
      ->type_name("FIELD=VALUE,...");
  verb->refuse({"--preprocess"}, "without " + flags, [data] {
    return std::all_of(data.begin(), data.end(), [](const DataOptions* d) { return d->files.empty(); });
  });
}

void add_states(Verb* verb, StateOptions& states) {
  verb->add_option_function<std::vector<std::string>>(
          "--state",
          [&states](const std::vector<std::string>& pairs) {
            for (const std::string& pair : pairs) {
              const size_t equals = pair.find('=');
              if (equals == std::string::npos || equals == 0 || equals + 1 == pair.size()) {
                throw CLI::ValidationError("--state", "'" + pair + "' is not INPUT=OUTPUT");
              }
              states.emplace_back(pair.substr(0, equals), pair.substr(equals + 1));
            }
          },
          "Recurrent state: what the output gives, the input takes at the next call, at first zeros (without "
          "the option: an input NAME and an output NAME.next); may be repeated")
      ->type_name("INPUT=OUTPUT");
}

void add_json(CLI::App* verb, bool& json) {
  verb->add_flag("--json", json, "Print one JSON document (tilewright schema answer), errors included");
}

void add_threads(CLI::App* verb, int& threads) {
  threads = int(std::max(1u, std::thread::hardware_concurrency()));
  verb->add_option("--threads", threads, "Number of threads (default: the cores)")->check(between(1, 1024));
}

void add_timing(CLI::App* verb, TimingOptions& timing) {
  reads(verb->add_option("bundle", timing.bundle, "Bundle (.twb)"))->required();
  reads(verb->add_option("--hardware", timing.hardware,
                         "Time the bundle on another overlay: a preset's name or a YAML file"));
  reads(verb->add_option("--memory", timing.memory,
                         "ideal, fixed[:LATENCY[:INTERVAL]], ddr, or a YAML file (default: fixed)"));
  add_json(verb, timing.json);
}

void add_engine(Verb* verb, TimedEngineOptions& engine, const std::vector<std::string>& engines) {
  const bool fabric = std::find(engines.begin(), engines.end(), "fabric") != engines.end();
  verb->add_option("--engine", engine.engine,
                   std::string("What runs overlay programs: functional (no timing), cycle (simulated "
                               "cycles), rtl (the hardware itself, Verilated)") +
                       (fabric ? "; fabric: what runs mapped programs, clock by clock" : ""))
      ->check(one_of(engines));
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

void add_energy(Verb* verb, TimedEngineOptions& engine) {
  CLI::Option* const energy = verb->add_flag(
      "--energy", engine.energy,
      "Show what switched and its energy by a model, per layer and module (rtl engine; slower)");
  verb->add_option("--energy-costs", engine.energy_costs,
                   "Of that model, in pJ per bit (default: toggle=0.05,memory=0.16,dram=20)")
      ->needs(energy);
}

}  // namespace tilewright::cli

// The verbs of the command: one options struct and one function each. A function prints to the stream it is
// given and reports failure by throwing Error, whose kind is the exit code.
#pragma once

#include <cstdint>
#include <functional>
#include <iosfwd>
#include <map>
#include <string>
#include <vector>

#include "tilewright/report/page.h"
#include "tilewright/tensor/shape.h"

namespace tilewright::cli {

// What ends a verb before it is done (command_limits.h); 0: --time none, --memory-limit the usual one.
struct LimitOptions {
  double time_s = 0;
  int64_t memory_bytes = 0;
};

// The report as a page; empty: none. `origin`: what the command was, and what it reads.
struct PageOptions {
  std::string html, data;
  std::function<PageOrigin()> origin = [] { return PageOrigin(); };
};

// How a model file is read.
struct ModelOptions {
  std::string path;
  std::map<std::string, int64_t> dimensions;  // --shape name=N
  double fill_gain = 0;                       // --fill-weights GAIN; 0: weights must be there
  bool tflite_kernels = false;                // --tflite-kernels
  std::string signature;                      // --signature NAME
  std::map<std::string, Shape> feeds;         // --feed NODE[=1x490]
  std::vector<std::string> output_nodes;      // --output-node NODE
  bool keep_arg_max = false;                  // --keep-argmax
};

// Samples: files or folders, for several inputs as NAME=FILE; arrays are multiplied by `scale` when the model
// wants floats.
struct DataOptions {
  std::vector<std::string> files;
  int64_t count = 0;  // first samples only; 0: all
  double scale = 1.0;
};

struct InspectOptions {
  ModelOptions model;
  std::string machine;  // TARGET=NAME: what it takes of the model
  bool json = false, text = false;
};
void inspect(const InspectOptions& options, std::ostream& out);

struct OptimizeOptions {
  ModelOptions model;
  std::string output, dump_folder;
  bool table = false;  // --table: what every stage leaves of the graph
  bool json = false;
};
void optimize(const OptimizeOptions& options, std::ostream& out);

using StateOptions = std::vector<std::pair<std::string, std::string>>;  // --state INPUT=OUTPUT

struct QuantizeVerbOptions {
  ModelOptions model;
  StateOptions states;
  DataOptions calibration, evaluation;
  std::string preprocess;
  std::string labels, output;
  std::string number_type = "int8", format = "qdq", scales = "real", method = "best",
              corrections = "bias,rounding", mixed;
  std::vector<std::string> keep_float;
  bool per_tensor = false, symmetric = false, integer_borders = false;
  int weight_bits = 8, activation_bits = 8;
  int64_t weight_group = 0;             // 0: not given
  double target_db = 0, mean_bits = 0;  // 0: not given
  int threads = 1;
  bool json = false;
};
void quantize(const QuantizeVerbOptions& options, std::ostream& out);

struct MapOptions {
  ModelOptions model;  // or a workload file
  std::string workload, hardware, mapping, dataflow;
  std::vector<std::string> timeloop;  // Timeloop files instead of our own
  int64_t batch = 0;                  // 0: the model's
  bool equal_area = false, imperfect = false;
  std::string objective = "energy", rules;
  int64_t max_cycles = 0;  // 0: no limit
  LimitOptions limits;
  int threads = 1;
  std::string plot, csv, baseline, cache, output;
  std::string pareto_buffer;  // a level
  bool pareto = false, unions = false, fuse = false, simulate = false, show_mappings = false;
  PageOptions page;
  bool json = false;
};
void map(const MapOptions& options, std::ostream& out);

struct PlaceVerbOptions {
  std::string graph, expression;  // one of them
  std::string fabric;
  std::string ii = "auto";  // or N, or FIRST..LAST
  std::string method = "exact", objective = "makespan";
  std::string policy;  // of the method rl; empty: the one that comes with the command
  int samples = 64, beam = 0;
  std::string delay = "unbounded";  // or none, or clocks per unit of distance
  std::string starters;             // off, roots or flows; empty: the fabric's reading
  std::vector<std::string> fixed;   // NODE=TILE[@TIME]
  bool routed = false, places_only = false;
  LimitOptions limits;
  int64_t evaluations = 0;  // 0: the method's default
  uint64_t seed = 0;
  int threads = 1;
  std::string output, svg, configuration, proof_folder;
  PageOptions page;
  bool json = false;
};
void place(const PlaceVerbOptions& options, std::ostream& out);

struct PlaceTrainOptions {
  std::string graphs, split, output;
  std::string fabric = "streaming-engine";
  int ii = 0;  // of graphs whose file says none
  int64_t episodes = 45000;
  uint64_t seed = 0;
  bool json = false;
};
void place_train(const PlaceTrainOptions& options, std::ostream& out);

struct PlaceBenchOptions {
  std::vector<std::string> graphs;
  std::string fabric = "streaming-engine";
  int ii = 0;                          // of graphs whose file says none
  std::string experiment = "methods";  // or curves
  int seeds = 5;
  int64_t episodes = 5000;  // of curves
  double time_s = 0.1;      // processor time per graph, method and seed
  std::string policy;       // empty: the one that comes with the command
  std::string output;       // folder
  bool json = false;
};
void place_bench(const PlaceBenchOptions& options, std::ostream& out);

struct PlaceVerbs {
  PlaceVerbOptions place;
  PlaceTrainOptions train;
  PlaceBenchOptions bench;
};

struct CompileOptions {
  ModelOptions model;
  StateOptions states;
  std::string hardware, output, assembly, raw_folder;
  std::vector<std::string> records;  // databases or texts, besides the records that come with the command
  std::string memory = "fixed";      // that the records were measured behind
  bool no_records = false;
  bool decode = false;  // one token in a run
  bool json = false;
};
void compile(const CompileOptions& options, std::ostream& out);

// What executes overlay programs.
struct TimedEngineOptions {
  std::string engine = "functional";  // cycle, rtl; for a bundle also host
  std::string memory;                 // of the timed engines
  std::string trace, wave, rtl_cache;
  bool counters = false, energy = false;
  std::string energy_costs;
};

struct RunOptions {
  ModelOptions model;  // a bundle, the folder of a design, a mapped program, or a model file
  DataOptions input;
  std::string preprocess, output, labels;
  std::string state;  // file
  TimedEngineOptions engine;
  std::string hardware;  // another overlay than the one the bundle was compiled for
  bool verify = false;
  int threads = 1;
  bool json = false;
};
void run(const RunOptions& options, std::ostream& out);

struct DecodeOptions {
  std::string bundle, prompt;
  std::vector<int64_t> prompt_tokens;
  int64_t tokens = 64;
  double temperature = 0;
  int64_t top = 0;
  uint64_t seed = 1;
  TimedEngineOptions engine;
  std::string hardware;
  bool verify = false, json = false;
};
void decode(const DecodeOptions& options, std::ostream& out);

struct CompareOptions {
  ModelOptions model;
  std::string bundle;
  DataOptions input;
  std::string preprocess;
  double threshold_db = 20;  // signal-to-noise ratio below which a tensor counts as diverging
  bool json = false;
};
void compare(const CompareOptions& options, std::ostream& out);

// What both verbs that time a bundle take.
struct TimingOptions {
  std::string bundle;
  std::string hardware;          // another overlay than the one the bundle was compiled for
  std::string memory = "fixed";  // of find_memory_model
  bool json = false;
};

struct ReportOptions {
  TimingOptions timing;
  std::string svg;  // file for the roofline plot
  PageOptions page;
};
void report(const ReportOptions& options, std::ostream& out);

struct ExplainVerbOptions {
  TimingOptions timing;
  bool no_trials = false;  // only what bounds each layer
  PageOptions page;
  int threads = 1;
};
void explain(const ExplainVerbOptions& options, std::ostream& out);

// Where measurements run (fleet_options.h).
struct FleetOptions {
  std::string executor = "threads";  // local, slurm
  int jobs = 2;
  std::string folder, partition;
};

struct TuneOptions {
  TimingOptions timing;
  std::string search = "gbt", output, records;
  PageOptions page;
  int64_t trials = 1000;  // per distinct layer
  int batch = 32;
  uint64_t seed = 1;
  std::vector<std::string> layers;
  FleetOptions fleet;
  LimitOptions limits;
  int threads = 1;
};
void tune(const TuneOptions& options, std::ostream& out);

struct ExecOptions {
  std::string program;
  TimedEngineOptions engine;
  bool check = false;          // for hazards first; its errors stop the run
  bool allow_outside = false;  // files that lie outside of the program's folder
  double time_s = 600;         // of check and run
  bool json = false;
};
void exec(const ExecOptions& options, std::ostream& out);

struct SynthOptions {
  std::string hardware;  // an overlay, or the folder of a generated design
  std::string device, output;
  double clock_mhz = 0;  // 0: the description's
  int seed = 1;
  double timeout_s = 3600;
  bool rtl_only = false, no_dsp = false, allow_misfit = false;
  bool json = false;
};
void synth(const SynthOptions& options, std::ostream& out);

struct GenerateOptions {
  ModelOptions model;
  std::string device, budget, output;
  double clock_mhz = 0;  // 0: the device's
  std::string objective = "latency", form = "auto";
  std::string number_type = "int8";
  int weight_bits = 8, activation_bits = 8;
  DataOptions calibration;
  std::string preprocess;
  std::string bits_for, widths, labels, quantized, format = "qdq";
  double fine_tune_seconds = 60;  // 0: not at all
  std::string allocation;         // file that replaces the search
  std::string memory;             // of the simulation; empty: the device's
  bool explain = false, no_simulate = false;
  PageOptions page;  // besides report.html of the folder
  LimitOptions limits;
  int threads = 1;
  bool json = false;
};
void generate(const GenerateOptions& options, std::ostream& out);

// What the verbs of `records` take; each uses some of it.
struct RecordsOptions {
  std::string database;            // or the damaged file, or one to read
  std::vector<std::string> files;  // that records come from
  std::string output = "-";
  std::string workload, hardware;  // of best: a part of its text; an overlay
  std::string memory = "fixed";    // of that overlay
  bool best = false;               // of export: only the best of each layer and machine
  bool json = false;
};
void records_best(const RecordsOptions& options, std::ostream& out);
void records_export(const RecordsOptions& options, std::ostream& out);
void records_import(const RecordsOptions& options, std::ostream& out);
void records_merge(const RecordsOptions& options, std::ostream& out);
void records_stats(const RecordsOptions& options, std::ostream& out);
void records_recover(const RecordsOptions& options, std::ostream& out);

struct ExploreOptions {
  ModelOptions model;  // a bundle of 8-bit operands, or a model file
  std::string device, output;
  std::vector<int> precision = {8, 4, 2, 1};
  LimitOptions limits;     // time: of all precisions together
  int64_t trials = 24;     // schedules per layer and candidate
  int64_t candidates = 0;  // per operand width; 0: no limit
  std::string memory;      // empty: the device's
  uint64_t seed = 1;
  FleetOptions fleet;
  PageOptions page;  // besides page.html of the folder
  bool changed_only = false;
  bool json = false;
};
void explore(const ExploreOptions& options, std::ostream& out);

struct StudyOptions {
  std::string path;  // folder of an exploration; of importance also a file of implementation data
  std::vector<std::string> targets;  // empty: all that the data can teach
  std::string output;                // SVG of the front
  PageOptions page;                  // of show and importance
  uint64_t seed = 1;
  bool json = false;
};
struct RulesOptions {
  std::string device;
  bool json = false;
};
struct StudyVerbs {
  StudyOptions show, importance, front;
  RulesOptions rules;
};
void study_show(const StudyOptions& options, std::ostream& out);
void study_importance(const StudyOptions& options, std::ostream& out);
void study_front(const StudyOptions& options, std::ostream& out);
void study_rules(const RulesOptions& options, std::ostream& out);

struct WorkerVerbOptions {
  std::string folder;
  std::vector<std::string> jobs;  // ids; empty: those on standard input
  int attempt = 1;
};
// Returns the exit code, by which an executor knows how a job ended.
int worker(const WorkerVerbOptions& options);

struct SchemaOptions {
  std::string name;  // empty: all names
  bool json = false;
};
void schema(const SchemaOptions& options, std::ostream& out);

struct DemoOptions {
  std::string data;  // empty: where Debian's package has it
  std::string output = "tilewright-demo";
  int64_t images = 10000;
  int threads = 1;
  bool json = false;
};
void demo(const DemoOptions& options, std::ostream& out);

struct DoctorOptions {
  bool json = false;
};
void doctor(const DoctorOptions& options, std::ostream& out);

}  // namespace tilewright::cli

// The four networks of MLPerf Tiny in 8 bits on parts of its FPGA submissions and on smaller ones: cycles of
// an image, cycles between images, what Yosys counts of the whole design, and images through its Verilog,
// compared bit for bit with the integer evaluation and cycle for cycle with the simulation.
//
//   mlperf_tiny [--only NETWORK] [--device DEVICE] [--images N (2)] [--folder F] [--timeout S (1800)]
//               [--no-areas] [--no-verilog]
//
// Areas are kept in --folder, so that a stopped run goes on where it was. A design that Yosys does not finish
// within --timeout counts as the sum of its components.
#include <cstring>
#include <map>

#include "design_areas.h"
#include "generated_designs.h"
#include "support/outside_testing.h"
#include "tilewright/base/random.h"
#include "tilewright/flow/model/hardware_form.h"
#include "tilewright/flow/model/load_model.h"

using namespace tilewright;

namespace {

struct Benchmark {
  const char *name, *file;
  std::map<std::string, int64_t> bounds;  // by device: cycles between images
};
const Benchmark kBenchmarks[] = {
    {"image_classification", "ic_resnet8_int8.tflite", {{"xczu3eg", 16'600}, {"xc7z020", 30'000}}},
    {"keyword_spotting", "kws_dscnn_int8.tflite", {{"xc7z020", 8'314}}},
    {"visual_wake_words", "vww_mobilenet_int8.tflite", {{"xc7z020", 20'737}}},
    {"anomaly_detection", "ad_autoencoder_int8.tflite", {{"xc7z020", 634}}},
};
constexpr const char* kDevices[] = {"xc7z010", "xc7z020", "xczu3eg"};

struct Options {
  std::string only, device, folder = "mlperf-tiny-areas";
  size_t images = 2;
  double timeout_s = 1800;
  bool areas = true, verilog = true;
};

Options parse(int argc, char** argv) {
  Options options;
  for (int i = 1; i < argc; ++i) {
    const auto is = [&](const char* name) { return std::strcmp(argv[i], name) == 0; };
    if (is("--no-areas")) options.areas = false;
    if (is("--no-verilog")) options.verilog = false;
    if (i + 1 == argc) continue;
    if (is("--only")) options.only = argv[i + 1];
    if (is("--device")) options.device = argv[i + 1];
    if (is("--folder")) options.folder = argv[i + 1];
    if (is("--images")) options.images = std::stoul(argv[i + 1]);
    if (is("--timeout")) options.timeout_s = std::stod(argv[i + 1]);
  }
  return options;
}

std::vector<std::vector<int32_t>> drawn_images(const pipeline::Network& network, size_t count) {
  const pipeline::NetworkTensor& input = network.tensors[size_t(network.input)];
  Random random(7);
  std::vector<std::vector<int32_t>> images(count, std::vector<int32_t>(size_t(input.shape.elements())));
  for (auto& image : images) {
    for (int32_t& value : image) value = int32_t(random.between(-128, 127));
  }
  return images;
}

class Run {
 public:
  explicit Run(const Options& options)
      : options_(options), areas_(options.folder, {options.timeout_s, options.timeout_s}) {}

  void all() {
    for (const Benchmark& benchmark : kBenchmarks) {
      if (!options_.only.empty() && options_.only != benchmark.name) continue;
      const Graph graph =
          hardware_form(load_model(outside_models() / "tflite_mlperf_tiny" / benchmark.file), {}, {}, 2);
      for (const char* device : kDevices) {
        if (options_.device.empty() || options_.device == device) one(benchmark, graph, device);
      }
    }
  }

  int finish() const {
    std::printf("{\"figure\": \"mlperf_tiny\"%s, \"mismatches\": %lld, \"bounds_missed\": %lld}\n",
                json_.c_str(), (long long)mismatches_, (long long)missed_);
    return mismatches_ == 0 && missed_ == 0 ? 0 : 1;
  }

 private:
  // The design for latency gives the cycles, the one for throughput all else.
  void one(const Benchmark& benchmark, const Graph& graph, const char* device) {
    const GeneratedDesign quick = figures::generate_for(graph, device, "", pipeline::Objective::kLatency);
    const GeneratedDesign dense = figures::generate_for(graph, device, "", pipeline::Objective::kThroughput);
    const int64_t interval = dense.report.interval();
    const auto bound = benchmark.bounds.find(device);
    const bool held = bound == benchmark.bounds.end() || interval <= bound->second;
    missed_ += held ? 0 : 1;
    const std::string where = fmt::format("{}_{}", benchmark.name, device);
    add(where + "_cycles", int64_t(quick.simulation->cycles));
    add(where + "_interval", interval);
    fmt::print("{} on {}: {} cycles, one every {} ({}){}\n", benchmark.name, device, quick.simulation->cycles,
               interval, dense.allocated.allocation.streaming ? "stages" : "processors",
               held ? "" : fmt::format(", ABOVE {}", bound->second));
    if (options_.verilog) verilog(dense, device);
    if (options_.areas) areas(where, dense, device);
    std::fflush(stdout);
  }

  void verilog(const GeneratedDesign& design, const char* device) {
    const auto rtl = figures::run_verilog(design, figures::memory_of(device, ""),
                                          drawn_images(design.network, options_.images));
    mismatches_ += rtl.mismatches + (rtl.cycles_equal ? 0 : 1);
    fmt::print("  Verilog: {} images, {} mismatches, {} cycles, {} the simulation's\n", rtl.images,
               rtl.mismatches, rtl.cycles, rtl.cycles_equal ? "equal to" : "NOT");
  }

  void areas(const std::string& where, const GeneratedDesign& design, const char* device) {
    const synthesis::DeviceFamily family = figures::device(device).family;
    const synthesis::Resources& estimate = design.allocated.estimate.resources;
    const std::string identity = where + pipeline::print_allocation(design.allocated.allocation);
    std::optional<DesignArea> area = areas_.whole(identity, design.design, estimate, family);
    if (!area) area = areas_.sum(design.design, family, false);
    const synthesis::Resources& counted = area->counted;
    add(where + "_lut", counted.lut);
    add(where + "_ff", counted.ff);
    add(where + "_dsp", counted.dsp);
    add(where + "_bram", counted.bram);
    fmt::print("  Yosys, {}: {} LUT (estimated {}), {} FF ({}), {} DSP ({}), {} BRAM ({})\n",
               area->whole ? "whole" : "sum of components", counted.lut, estimate.lut, counted.ff,
               estimate.ff, counted.dsp, estimate.dsp, counted.bram, estimate.bram);
  }

  void add(const std::string& field, int64_t value) { json_ += fmt::format(", \"{}\": {}", field, value); }

  const Options options_;
  DesignAreas areas_;
  std::string json_;
  int64_t mismatches_ = 0, missed_ = 0;
};

}  // namespace

int main(int argc, char** argv) try {
  Run run(parse(argc, argv));
  run.all();
  return run.finish();
} catch (const std::exception& error) {
  std::fprintf(stderr, "mlperf_tiny: %s\n", error.what());
  return 1;
}

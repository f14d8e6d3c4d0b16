// Two ways to bring windows to an array, on the 1x1 and 3x3 layers of ResNet sizes, at equal performance
// (1 ms for 1x1, 2 ms for 3x3 at 125 MHz), in int8 (two products per block) and, for the
// outermost sizes, Q10.22:
//   channel-major  a word holds PI channels of a pixel; taps come one after another, each pixel is read again
//                  for every tap and every block of outputs;
//   row-major      a word holds few channels; line memories give all taps of a window at once, each pixel is
//                  read once per block of outputs.
// Resources are Yosys' (UltraScale+), each component alone and added up; arrays of many columns from two of
// few, exact because columns are instances of one module. Input on chip (processors), and for streaming the
// feeder that keeps rows only. The finish is the same in both and left out.
//   data_formats [FOLDER]
#include <fmt/format.h>

#include <cstdio>
#include <map>
#include <mutex>
#include <nlohmann/json.hpp>

#include "tilewright/base/error.h"
#include "tilewright/base/file.h"
#include "tilewright/base/parallel.h"
#include "tilewright/netlist/verilog.h"
#include "tilewright/pipeline/component/component.h"
#include "tilewright/pipeline/component/sliding_window.h"
#include "tilewright/pipeline/component/tensor_reader.h"
#include "tilewright/pipeline/component/weight_ring.h"
#include "tilewright/pipeline/verilog/design_sources.h"
#include "tilewright/synthesis/tool.h"
#include "tilewright/synthesis/yosys.h"

using namespace tilewright;
using namespace tilewright::pipeline;
using netlist::Parameters;
using nlohmann::ordered_json;
using synthesis::Resources;

namespace {

constexpr int64_t kBeat = 512;  // bits of a DRAM channel

struct Layer {
  int64_t size, channels, kernel;
};
constexpr Layer kLayers[] = {{56, 64, 1}, {28, 128, 1}, {14, 256, 1}, {7, 512, 1},
                             {56, 64, 3}, {28, 128, 3}, {14, 256, 3}, {7, 512, 3}};

// One of the two ways: a word of pi channels, po outputs; row-major: all taps at once.
struct Format {
  const char* name;
  bool row_major;
  int64_t pi, po;
};

Format format_of(const Layer& layer, bool row_major) {
  if (layer.kernel == 1) {
    return row_major ? Format{"row-major", true, 2, 64} : Format{"channel-major", false, 8, 16};
  }
  return row_major ? Format{"row-major", true, 1, 64} : Format{"channel-major", false, 8, 64};
}

Resources& operator+=(Resources& sum, const Resources& part) {
  sum.lut += part.lut;
  sum.ff += part.ff;
  sum.carry += part.carry;
  sum.dsp += part.dsp;
  sum.bram += part.bram;
  sum.uram += part.uram;
  return sum;
}

class Synthesiser {
 public:
  explicit Synthesiser(std::filesystem::path folder) : folder_(std::move(folder)) {}

  // A component alone, every port a port of the top.
  Resources component(const std::string& name, const Parameters& parameters,
                      const MemoryImages& images = {}) {
    netlist::Netlist design;
    design.top = "alone";
    netlist::Module top("alone");
    std::map<std::string, netlist::NetId> connections;
    for (const ComponentPort& port : component_type(name)->ports(parameters)) {
      connections[port.port.name] = top.add_port(port.port.name, port.port.direction, port.port.width);
    }
    top.add_instance("unit", name, parameters, connections);
    design.modules.push_back(std::move(top));
    std::string key = netlist::to_verilog(design, component_library());
    for (const auto& [file, image] : images) key += image.to_hex();
    synthesis::YosysJob job;
    {
      const std::lock_guard lock(mutex_);
      if (const auto known = known_.find(key); known != known_.end()) return known->second;
      job.folder = folder_ / std::to_string(jobs_++);
    }
    job.family = synthesis::DeviceFamily::kXcup;
    job.top = "alone";
    job.sources = write_sources(design, images, job.folder, TILEWRIGHT_SOURCE_DIR "/rtl");
    const synthesis::YosysResult result = synthesis::run_yosys(job);
    const std::lock_guard lock(mutex_);
    return known_[key] = result.count.resources;
  }

  // An array of po columns, from arrays of two and of four.
  Resources array(int64_t bits, bool fixed, int64_t pi, int64_t po) {
    const auto columns = [&](int64_t count) {
      return component("mac_array", {{"AW", bits},
                                     {"WW", bits},
                                     {"PI", pi},
                                     {"PO", count},
                                     {"ACC", int64_t{fixed ? 64 : 32}},
                                     {"MULTIPLY", std::string(fixed ? "dsp" : "pair")}});
    };
    const Resources two = columns(2), four = columns(4);
    const auto at = [po](int64_t a, int64_t b) { return b + (b - a) * (po - 4) / 2; };
    return {at(two.lut, four.lut), at(two.ff, four.ff),     at(two.carry, four.carry),
            at(two.dsp, four.dsp), at(two.bram, four.bram), 0};
  }

 private:
  std::filesystem::path folder_;
  std::mutex mutex_;
  int jobs_ = 0;
  std::map<std::string, Resources> known_;
};

ordered_json to_json(const Resources& r) {
  return {{"lut", r.lut}, {"ff", r.ff}, {"dsp", r.dsp}, {"bram18", r.bram}};
}

// Reads the tensor from its memory: for each block of outputs window by window, or once.
Resources reader(Synthesiser& yosys, const Layer& layer, const Format& format, int64_t bits) {
  const int64_t blocks = layer.channels / format.pi, words = layer.size * layer.size * blocks;
  const int64_t taps_side = format.row_major ? 1 : layer.kernel;
  TensorReaderRow row;
  row.outer = layer.channels / format.po;
  row.row_step = layer.size * blocks;
  row.column_step = blocks;
  row.rows = row.columns = row.in_rows = row.in_columns = layer.size;
  row.kernel_rows = row.kernel_columns = taps_side;
  row.blocks = blocks;
  row.first_y = row.first_x = -(taps_side / 2);
  row.base = row.first_y * row.row_step + row.first_x * row.column_step;
  int64_t address_bits = 1;
  while ((int64_t{1} << address_bits) < words) ++address_bits;
  return yosys.component("tensor_reader",
                         {{"AW", bits},
                          {"PI", format.pi},
                          {"UNITS", int64_t{1}},
                          {"A", address_bits},
                          {"PROGRESS", int64_t{1}},
                          {"TASKS", int64_t{1}},
                          {"TABLE", std::string("rows")},
                          {"QUEUE", int64_t{5}}},
                         {{"rows", encode(std::vector<TensorReaderRow>{row}, int(bits), 1)}});
}

Resources window(Synthesiser& yosys, const Layer& layer, const Format& format, int64_t bits) {
  const int64_t blocks = layer.channels / format.pi;
  SlidingWindowRow row;
  row.rows = row.columns = row.out_rows = row.out_columns = layer.size;
  row.blocks = blocks;
  row.top = row.left = layer.kernel / 2;
  Parameters parameters = {{"AW", bits},
                           {"PI", format.pi},
                           {"KH", layer.kernel},
                           {"KW", layer.kernel},
                           {"MAX_WORDS", layer.size * blocks},
                           {"MAX_CB", blocks},
                           {"TASKS", int64_t{1}},
                           {"TABLE", std::string("rows")},
                           {"REPEAT", int64_t{1}},
                           {"KIND", std::string("block")}};
  return yosys.component("sliding_window", parameters,
                         {{"rows", encode(std::vector<SlidingWindowRow>{row}, parameters)}});
}

// The ring that keeps the rows of a channel-major window in a streaming design.
Resources row_ring(Synthesiser& yosys, const Layer& layer, const Format& format, int64_t bits) {
  return yosys.component("line_window", {{"AW", bits},
                                         {"PI", format.pi},
                                         {"H", layer.size},
                                         {"W", layer.size},
                                         {"CB", layer.channels / format.pi},
                                         {"KH", layer.kernel},
                                         {"KW", layer.kernel},
                                         {"SH", int64_t{1}},
                                         {"SW", int64_t{1}},
                                         {"PT", layer.kernel / 2},
                                         {"PL", layer.kernel / 2},
                                         {"HO", layer.size},
                                         {"WO", layer.size},
                                         {"OB", layer.channels / format.po},
                                         {"PAD", int64_t{0}},
                                         {"LANES", int64_t{0}},
                                         {"ROWS", layer.kernel},
                                         {"KIND", std::string("block")}});
}

Resources weights(Synthesiser& yosys, const Layer& layer, const Format& format, int64_t bits) {
  const int64_t taps = layer.kernel * layer.kernel;
  const int64_t at_once = format.row_major ? taps : 1;
  WeightRingRow row;
  row.outer = layer.channels / format.po;
  row.repeats = layer.size * layer.size;
  row.words = taps / at_once * layer.channels / format.pi;
  return yosys.component("weight_ring",
                         {{"WIDTH", format.po * format.pi * at_once * bits},
                          {"DEPTH", row.words},
                          {"BEAT", kBeat},
                          {"TASKS", int64_t{1}},
                          {"TABLE", std::string("rows")},
                          {"KIND", std::string("block")}},
                         {{"rows", encode(std::vector<WeightRingRow>{row})}});
}

ordered_json measure(Synthesiser& yosys, const Layer& layer, bool fixed, bool row_major) {
  const Format format = format_of(layer, row_major);
  const int64_t bits = fixed ? 32 : 8, taps = layer.kernel * layer.kernel;
  const int64_t blocks = layer.channels / format.pi, outer = layer.channels / format.po;
  const int64_t words = layer.size * layer.size * blocks;
  const int64_t at_once = row_major ? taps : 1;
  int64_t cycles = words * outer * taps / at_once;
  if (row_major && taps > 1) cycles += blocks * (layer.size + 1);  // until the first window is whole
  const Resources memory = yosys.component("tensor_memory", {{"WIDTH", format.pi * bits},
                                                             {"PARTS", int64_t{1}},
                                                             {"WORDS", words},
                                                             {"READERS", int64_t{1}},
                                                             {"WRITERS", int64_t{1}},
                                                             {"KIND", std::string("block")}});
  Resources feeder = reader(yosys, layer, format, bits);
  Resources rows;  // streaming
  if (taps > 1) {
    const Resources lines =
        row_major ? window(yosys, layer, format, bits) : row_ring(yosys, layer, format, bits);
    rows = lines;
    if (row_major) feeder += lines;
  }
  const Resources ring = weights(yosys, layer, format, bits);
  const Resources array = yosys.array(bits, fixed, format.pi * at_once, format.po);
  Resources total = memory;
  for (const Resources& part : {feeder, ring, array}) total += part;
  std::printf(
      "%2lldx%-2lld %3lld %lldx%lld %-6s %-13s %7lld cycles %5lld bits/cycle  bram18 %4lld = %4lld + %3lld + "
      "%4lld"
      "  lut %6lld  dsp %4lld  rows alone: bram18 %3lld lut %5lld\n",
      (long long)layer.size, (long long)layer.size, (long long)layer.channels, (long long)layer.kernel,
      (long long)layer.kernel, fixed ? "q10.22" : "int8", format.name, (long long)cycles,
      (long long)(format.po * format.pi * at_once * bits), (long long)total.bram, (long long)memory.bram,
      (long long)feeder.bram, (long long)ring.bram, (long long)total.lut, (long long)total.dsp,
      (long long)rows.bram, (long long)rows.lut);
  std::fflush(stdout);
  ordered_json row{{"size", layer.size},
                   {"channels", layer.channels},
                   {"kernel", layer.kernel},
                   {"number", fixed ? "q10.22" : "int8"},
                   {"format", format.name},
                   {"cycles", cycles},
                   {"products", format.po * format.pi * at_once},
                   {"weight_bits_per_cycle", format.po * format.pi * at_once * bits},
                   {"activation_reads", words * outer * taps / at_once},
                   {"activation_word_bits", format.pi * bits}};
  row["total"] = to_json(total);
  row["activation_memory"] = to_json(memory);
  row["feeder"] = to_json(feeder);
  row["weight_ring"] = to_json(ring);
  row["array"] = to_json(array);
  if (taps > 1) row["streaming_rows"] = to_json(rows);
  return row;
}

}  // namespace

int main(int argc, char** argv) {
  try {
    const std::filesystem::path folder =
        argc > 1 ? argv[1] : std::filesystem::temp_directory_path() / "tilewright_data_formats";
    const std::string missing = synthesis::missing_tools({"yosys"});
    if (!missing.empty()) throw Error(ErrorKind::kUnsupported, missing);
    Synthesiser yosys(folder);
    ordered_json figure{{"figure", "data_formats"}, {"sum_by_module", true}};
    struct Case {
      Layer layer;
      bool fixed;
    };
    std::vector<Case> cases;
    for (const Layer& layer : kLayers) cases.push_back({layer, false});
    for (const Layer& layer : kLayers) {
      if (layer.size == 56 || layer.size == 7) cases.push_back({layer, true});
    }
    std::vector<ordered_json> rows(cases.size() * 2);
    // Yosys has one thread. Neighbours share components, so each thread takes a run of rows.
    parallel_for(2, int64_t(rows.size()), [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) {
        rows[size_t(i)] = measure(yosys, cases[size_t(i / 2)].layer, cases[size_t(i / 2)].fixed, i % 2 != 0);
      }
    });
    // The larger over the smaller number of block memories, all and without weights, per kernel.
    std::map<int64_t, double> worst_memory, worst_feeding;
    bool in_time = true;
    for (size_t i = 0; i < rows.size(); i += 2) {
      double bram[2], feeding[2];
      const int64_t kernel = cases[i / 2].layer.kernel;
      for (int way = 0; way < 2; ++way) {
        const ordered_json& row = rows[i + size_t(way)];
        bram[way] = row["total"]["bram18"].get<double>();
        feeding[way] = bram[way] - row["weight_ring"]["bram18"].get<double>();
        in_time = in_time && row["cycles"].get<int64_t>() <= (kernel == 1 ? 125000 : 250000);
      }
      const auto ratio = [](const double* two) {
        return std::max(two[0], two[1]) / std::min(two[0], two[1]);
      };
      worst_memory[kernel] = std::max(worst_memory[kernel], ratio(bram));
      worst_feeding[kernel] = std::max(worst_feeding[kernel], ratio(feeding));
    }
    figure["rows"] = rows;
    for (const int64_t kernel : {1, 3}) {
      const std::string name = fmt::format("{}x{}", kernel, kernel);
      figure["worst_memory_ratio_" + name] = worst_memory[kernel];
      figure["worst_memory_ratio_without_weights_" + name] = worst_feeding[kernel];
    }
    figure["in_time"] = in_time;
    std::printf("%s\n", figure.dump().c_str());
    return in_time ? 0 : 1;
  } catch (const Error& error) {
    std::fprintf(stderr, "data_formats: %s\n", error.what());
    return 1;
  }
}

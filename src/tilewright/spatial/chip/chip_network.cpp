// The study's rows run down the filter's columns S, the chip's down its rows R: so a layer is simulated with
// rows and columns exchanged, which changes nothing about its work.
#include "tilewright/spatial/chip/chip_network.h"

#include <fmt/format.h>

#include <map>
#include <nlohmann/json.hpp>
#include <sstream>

#include "tilewright/base/json.h"
#include "tilewright/report/number_text.h"
#include "tilewright/report/text_table.h"
#include "tilewright/spatial/taxonomy/layer_shape.h"

namespace tilewright {
namespace {

// From "m=96 n=1 ..".
RowStationaryMapping chip_mapping(const std::string& variables) {
  std::map<std::string, int64_t> values;
  std::istringstream words(variables);
  for (std::string word; words >> word;) {
    const size_t equals = word.find('=');
    values[word.substr(0, equals)] = std::stoll(word.substr(equals + 1));
  }
  for (const char* name : {"m", "n", "f", "p", "q", "r", "t"}) {
    if (values.contains(name)) continue;
    throw Error(ErrorKind::kInvalidInput,
                fmt::format("the dataflow has no variable '{}', which the chip's mappings have", name),
                "use dataflows/rs-chip.yaml");
  }
  return {values["m"], values["n"], values["f"], values["p"], values["q"], values["r"], values["t"]};
}

RowStationaryLayer chip_layer(const study::LayerShape& shape) {
  return {shape.name, shape.G, shape.N, shape.C, shape.M, shape.W, shape.H, shape.S, shape.R, shape.U};
}

ChipLayerTime time_shape(const RowStationaryChip& chip, const Workload& workload, const LayerCost& cost) {
  ChipLayerTime result;
  const RowStationaryMapping mapping = chip_mapping(cost.variables);
  try {
    result.time = time_layer(chip, chip_layer(study::layer_shape(workload)), mapping);
  } catch (const Error& error) {
    result.reason = error.diagnostics().front().message;
  }
  return result;
}

double multiplying(const ArrayTime& time) {
  return double(time.pe_cycles.multiply) / double(time.pe_cycles.total());
}

}  // namespace

ChipTimes simulate_on_chip(const NetworkReport& report, const DataflowRun& run, const RowStationaryChip& chip,
                           const Deadline& deadline) {
  ChipTimes times{chip, {}};
  for (size_t shape = 0; shape < report.network.shapes.size(); ++shape) {
    const LayerCost& cost = run.costs[shape];
    if (!cost.has_cost()) {
      times.shapes.push_back({{}, cost.reason});
    } else if (deadline.over()) {
      times.shapes.push_back({{}, "the time was used up before its simulation"});
    } else {
      times.shapes.push_back(time_shape(chip, report.network.shapes[shape], cost));
    }
  }
  return times;
}

std::string chip_times_text(const ChipTimes& times, const NetworkReport& report, const DataflowRun& run) {
  TextTable table({"layer", ">cycles", ">time", ">multiplying", ">of the model's cycles"});
  std::string notes;
  int64_t cycles = 0;
  int missing = 0;
  for (const NetworkLayer& layer : report.network.layers) {
    const ChipLayerTime& shape = times.shapes[size_t(layer.shape)];
    const std::string name = shortened_middle(layer.name, 24);
    if (!shape.time) {
      ++missing;
      notes += fmt::format("note: {}: {}\n", name, shape.reason);
      continue;
    }
    const ArrayTime& time = *shape.time;
    cycles += time.cycles;
    table.row({name, std::to_string(time.cycles), time_text(double(time.cycles), times.chip.clock_mhz),
               fmt::format("{:.1f} %", 100 * multiplying(time)),
               fmt::format("{:.3f}", double(time.cycles) / report.cost(run, layer).cycles)});
  }
  table.rule();
  table.row({missing == 0 ? "all" : fmt::format("all but {}", missing), std::to_string(cycles),
             time_text(double(cycles), times.chip.clock_mhz)});
  return fmt::format("Simulated on '{}', cycle by cycle, without DRAM transfers\n", times.chip.name) +
         table.to_string() + notes;
}

std::string chip_times_json(const ChipTimes& times, const NetworkReport& report) {
  using Json = nlohmann::ordered_json;
  Json layers = Json::array();
  for (const NetworkLayer& layer : report.network.layers) {
    const ChipLayerTime& shape = times.shapes[size_t(layer.shape)];
    Json entry = {{"name", layer.name}};
    if (shape.time) {
      entry["cycles"] = shape.time->cycles;
      entry["ideal_cycles"] = shape.time->ideal_cycles;
      entry["passes"] = shape.time->passes;
      entry["milliseconds"] = shape.time->milliseconds(times.chip);
      entry["multiplying"] = multiplying(*shape.time);
    } else {
      entry["reason"] = shape.reason;
    }
    layers.push_back(std::move(entry));
  }
  return json_text(Json{{"chip", times.chip.name}, {"layers", std::move(layers)}});
}

}  // namespace tilewright

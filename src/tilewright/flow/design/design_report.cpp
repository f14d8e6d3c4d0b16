// Layers come from the allocation and its estimate, bars from the simulation: a task has its lane from the
// end of the task before it. Without a simulation the bars stand where the estimate puts them.
#include "tilewright/flow/design/design_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "tilewright/base/integer_math.h"
#include "tilewright/graph/inference/statistics.h"
#include "tilewright/pipeline/design/layer_geometry.h"
#include "tilewright/pipeline/design/shapes.h"
#include "tilewright/pipeline/estimate/estimate_cycles.h"

namespace tilewright {
namespace {

using pipeline::Allocation;
using pipeline::Network;

std::string number_type(const Network& network) {
  if (network.number == NumberType::kFixed) {
    return fmt::format("q{}.{}", 32 - network.fraction, network.fraction);
  }
  int widest = 1;
  for (const pipeline::Layer& layer : network.layers) {
    if (!layer.weights.empty()) widest = std::max(widest, layer.weight_bits);
  }
  return fmt::format("int{}, weights of {} bits", pipeline::element_bits(network), widest);
}

DesignLayer describe_layer(const Network& network, const Allocation& allocation,
                           const pipeline::Estimate& estimate, size_t index) {
  const pipeline::Layer& layer = network.layers[index];
  const pipeline::LayerAllocation& own = allocation.layers[index];
  const pipeline::LayerEstimate& cost = estimate.layers[index];
  const pipeline::LayerGeometry g = pipeline::layer_geometry(network, allocation, index);
  DesignLayer result;
  result.name = layer.name;
  result.kind = pipeline::kind_name(layer.kind);
  result.place = allocation.streaming ? "stage" : allocation.engines[size_t(own.engine)].name;
  result.array =
      g.lanes ? fmt::format("{} lanes", g.shape.pi) : fmt::format("{} x {}", g.shape.pi, g.shape.po);
  if (g.row_major) result.array += fmt::format(", {} taps", g.window.rows * g.window.columns);
  result.macs = layer.macs;
  result.multipliers = layer.kind == pipeline::LayerKind::kMaxPool ? 0 : g.products_per_beat();
  if (result.multipliers > 0) {
    const pipeline::Multiplier made =
        g.lanes ? pipeline::lane_multiplier(layer, g.shape) : g.shape.multiplier;
    result.array += fmt::format(", {}", pipeline::multiplier_text(made));
  }
  result.work_cycles = cost.compute_cycles;
  result.cycles = cost.cycles;
  result.bound = cost.bound;
  result.fetch_cycles = cost.fetch_cycles;
  if (!allocation.weights_on_chip && !layer.weights.empty() && !g.lanes) {
    const int bits = pipeline::engine_weight_bits(network, allocation, own.engine);
    result.weight_bytes = pipeline::stored_weight_bits(g, bits) / 8;
  }
  result.input_fifo = own.input_fifo;
  result.residual_fifo = own.residual_fifo;
  return result;
}

// The lane of a name; new ones are appended.
int lane_of(DesignReport& report, const std::string& name) {
  const auto found = std::find(report.lanes.begin(), report.lanes.end(), name);
  if (found != report.lanes.end()) return int(found - report.lanes.begin());
  report.lanes.push_back(name);
  return int(report.lanes.size()) - 1;
}

void take_tasks(DesignReport& report, const pipeline::Design& design, const Network& network,
                const std::vector<uint64_t>& ends) {
  std::map<int, int64_t> free;  // by lane: when its last task ended
  for (size_t t = 0; t < design.tasks.size() && t < ends.size(); ++t) {
    const pipeline::Task& task = design.tasks[t];
    DesignBar bar;
    const bool stage = design.streaming && task.layer >= 0;
    bar.lane = lane_of(report, stage ? report.layers[size_t(task.layer)].name : task.engine);
    bar.layer = task.layer;
    bar.first_row = task.first_row;
    bar.rows = task.rows;
    bar.end = int64_t(ends[t]);
    bar.begin = std::min(free[bar.lane], bar.end);
    bar.work = bar.end - bar.begin;
    if (task.layer >= 0) {
      const pipeline::Layer& layer = network.layers[size_t(task.layer)];
      const int64_t rows = std::max<int64_t>(1, network.tensors[size_t(layer.output)].shape.rows);
      const int64_t own = ceil_div(report.layers[size_t(task.layer)].work_cycles * task.rows, rows);
      bar.work = std::min(bar.work, own);
    }
    free[bar.lane] = bar.end;
    report.bars.push_back(bar);
  }
}

void take_estimate(DesignReport& report) {
  int64_t now = 0;
  for (size_t l = 0; l < report.layers.size(); ++l) {
    const DesignLayer& layer = report.layers[l];
    DesignBar bar;
    bar.lane = lane_of(report, report.streaming ? layer.name : layer.place);
    bar.layer = int(l);
    bar.begin = now;
    bar.end = now += layer.cycles;
    if (report.streaming) bar.begin = std::max<int64_t>(0, std::min(bar.begin, bar.end - layer.work_cycles));
    bar.work = std::min(layer.work_cycles, bar.end - bar.begin);
    report.bars.push_back(bar);
  }
}

void take_simulation(DesignReport& report, const pipeline::SimulationResult& simulation, int64_t interval) {
  report.simulated_cycles = int64_t(simulation.cycles);
  report.simulated_interval = interval;
  report.read_beats = int64_t(simulation.read_beats);
  report.write_beats = int64_t(simulation.write_beats);
  for (DesignQueue& queue : report.queues) {
    const auto level = simulation.fifo_level.find(queue.name);
    if (level != simulation.fifo_level.end()) queue.level = level->second;
  }
}

}  // namespace

double DesignReport::share_of_peak() const {
  return multipliers == 0 || interval() == 0 ? 0 : double(macs) / (double(multipliers) * double(interval()));
}

DesignReport design_report(const Network& network, const Allocation& allocation,
                           const pipeline::Design& design, const pipeline::Estimate& estimate,
                           const pipeline::Budget& budget, const Device* device,
                           const pipeline::SimulationResult* simulation, int64_t interval) {
  DesignReport report;
  report.network = network.name;
  report.device = device ? device->name : synthesis::family_name(budget.family);
  report.number_type = number_type(network);
  report.streaming = allocation.streaming;
  report.clock_mhz = allocation.clock_mhz;
  report.port_bytes = allocation.port_bytes;
  report.channels = allocation.weight_channels;
  report.macs = network.macs();
  report.multipliers = design.multipliers;
  for (size_t l = 0; l < network.layers.size(); ++l) {
    report.layers.push_back(describe_layer(network, allocation, estimate, l));
  }
  for (const Graph* part : {&network.before, &network.behind}) {
    for (const Node& node : part->nodes) {
      if (multiply_accumulates(*part, node) > 0) report.host_layers.push_back({node.name, node.op});
    }
  }
  if (network.graph_products > 0) {
    report.share_of_products = double(network.hardware_products) / double(network.graph_products);
  }
  for (const Diagnostic& reason : network.left_out) report.left_out.push_back(to_string(reason));
  report.estimated_cycles = estimate.latency_cycles;
  report.estimated_interval = estimate.interval_cycles;
  const int64_t read = design.input.bytes + int64_t(design.weights.size());
  report.dram_bytes = read + design.output.bytes;
  report.one_way_bytes = std::max(read, design.output.bytes);
  const synthesis::Resources &need = estimate.resources, &limit = budget.resources;
  const synthesis::Resources& has = device ? device->has : limit;
  const pipeline::AreaErrors& errors = pipeline::error_band(budget.family);
  const auto known = [&](const pipeline::ErrorBand& band) {
    return errors.components == 0 ? -1 : band.nine_of_ten_percent;
  };
  const double blocks = known(errors.blocks);
  report.needs = {{"LUT", need.lut, limit.lut, has.lut, known(errors.lut)},
                  {"FF", need.ff, limit.ff, has.ff, known(errors.ff)},
                  {"DSP", need.dsp, limit.dsp, has.dsp, blocks},
                  {"BRAM", need.bram, limit.bram, has.bram, blocks},
                  {"URAM", need.uram, limit.uram, has.uram, blocks}};
  if (budget.multipliers > 0) {
    report.needs.push_back({"multipliers", design.multipliers, budget.multipliers, budget.multipliers});
  }
  const netlist::Module* top = design.netlist.module(design.netlist.top);
  TILEWRIGHT_CHECK(top != nullptr, "a design without a top module");
  for (const netlist::Instance& instance : top->instances) {
    if (instance.module != "stream_fifo") continue;
    report.queues.push_back({instance.name, netlist::integer(instance.parameters, "DEPTH"), -1});
  }
  if (simulation) take_simulation(report, *simulation, interval);
  for (DesignLayer& layer : report.layers) {
    // A layer of an engine may hide behind the one before it, but has the engine for its own work.
    const int64_t time = allocation.streaming ? report.interval() : layer.own_cycles();
    if (layer.multipliers == 0 || time == 0) continue;
    layer.share_of_peak = std::min(1.0, double(layer.macs) / (double(layer.multipliers) * double(time)));
  }
  if (simulation && simulation->task_end.size() >= design.tasks.size() && !design.tasks.empty()) {
    take_tasks(report, design, network, simulation->task_end);
  } else {
    take_estimate(report);
  }
  return report;
}

}  // namespace tilewright

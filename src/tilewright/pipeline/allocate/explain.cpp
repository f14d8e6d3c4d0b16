// The account of an allocation: resources against the budget, then which layer got which multipliers and what
// they do.
#include <fmt/format.h>

#include <algorithm>

#include "tilewright/base/integer_math.h"
#include "tilewright/pipeline/allocate/allocate_search.h"
#include "tilewright/pipeline/design/layer_geometry.h"
#include "tilewright/pipeline/design/shapes.h"

namespace tilewright::pipeline {
namespace {

const char* multiplier_name(const ArrayShape& shape) {
  switch (products_per_block(shape.multiplier)) {
    case 2:
      return ", two per DSP block";
    case 3:
      return ", three per DSP block";
    case 4:
      return ", four per DSP block";
    default:
      return shape.multiplier == Multiplier::kLut ? ", of look-up tables" : "";
  }
}

std::string header(const Network& network, const Budget& budget, const AllocationResult& result) {
  const Estimate& e = result.estimate;
  const double clock = result.allocation.clock_mhz;
  std::string text = fmt::format(
      "{}: {}, {} of the network's {} layers; {} multipliers\n", network.name,
      result.allocation.streaming ? "streaming, one stage per layer" : "processors, layers share engines",
      result.proven_optimal ? "proven best among divisors of the channels" : "best found",
      network.layers.size(), e.multipliers);
  text +=
      fmt::format("latency {} cycles ({:.3f} ms at {} MHz), {} cycles between images ({:.1f} per second)\n",
                  e.latency_cycles, double(e.latency_cycles) / clock / 1e3, clock, e.interval_cycles,
                  clock * 1e6 / double(std::max<int64_t>(1, e.interval_cycles)));
  const double busy = double(network.macs()) / double(std::max<int64_t>(1, e.interval_cycles)) /
                      double(std::max<int64_t>(1, e.multipliers));
  text += fmt::format("multipliers busy {:.1f}%, {} bytes of memory traffic per image\n", 100 * busy,
                      e.dram_bytes);
  const synthesis::Resources &need = e.resources, &have = budget.resources;
  for (const auto& [name, n, h] : {std::tuple{"LUT", need.lut, have.lut},
                                   {"FF", need.ff, have.ff},
                                   {"DSP", need.dsp, have.dsp},
                                   {"BRAM18", need.bram, have.bram},
                                   {"URAM", need.uram, have.uram}}) {
    text += fmt::format("  {:<7}{:>9} of {:>9}", name, n, h);
    text += h > 0 ? fmt::format("  {:5.1f}%\n", 100 * double(n) / double(h)) : "\n";
  }
  return text;
}

std::string why(const LayerEstimate& layer, const LayerGeometry& g) {
  const std::string bound = layer.bound;
  if (bound == "weights") return "waits for weights from memory";
  if (bound == "input") return "waits for its input";
  if (bound == "window") return "reads more words than it computes windows";
  if (bound == "finish") return fmt::format("{} results per cycle", g.shape.pf);
  if (bound == "memory") return "reads of its two operands meet in one memory";
  const int64_t channels = g.lanes ? g.output.channels : g.input.channels;
  const int64_t padded = ceil_div(channels, g.shape.pi) * g.shape.pi;
  const int64_t outputs = g.lanes ? g.output.channels : ceil_div(g.output.channels, g.shape.po) * g.shape.po;
  if (padded * outputs > channels * g.output.channels) {
    return fmt::format("its products; {:.0f}% of them are padding of channels",
                       100 - 100 * double(channels * g.output.channels) / double(padded * outputs));
  }
  return "its products";
}

std::string engines(const Network& network, const AllocationResult& result) {
  std::string text;
  for (size_t e = 0; e < result.allocation.engines.size(); ++e) {
    const EngineAllocation& engine = result.allocation.engines[e];
    const int64_t taps = engine.shape.feeder == Feeder::kRowMajor ? engine.taps_y * engine.taps_x : 1;
    int64_t layers = 0, cycles = 0, macs = 0;
    for (size_t i = 0; i < network.layers.size(); ++i) {
      if (result.allocation.layers[i].engine != int(e)) continue;
      ++layers;
      macs += network.layers[i].macs;
      cycles += result.estimate.layers[i].compute_cycles;
    }
    const int64_t products = taps * engine.shape.pi * (engine.lanes ? 1 : engine.shape.po);
    text += fmt::format(
        "engine '{}': {} multipliers ({} channels in, {} out per cycle{}{}), {} results per cycle; {} "
        "layers, "
        "{} cycles of work, {:.0f}% of its products needed\n",
        engine.name, products, engine.shape.pi, engine.shape.po,
        taps > 1 ? fmt::format(", {} x {} taps", engine.taps_y, engine.taps_x) : "",
        multiplier_name(engine.shape), engine.shape.pf, layers, cycles,
        100 * double(macs) / double(std::max<int64_t>(1, products * cycles)));
  }
  return text;
}

}  // namespace

std::string explain(const Network& network, const Budget& budget, const AllocationResult& result) {
  const Allocation& a = result.allocation;
  std::string text = header(network, budget, result);
  if (!a.streaming) text += engines(network, result);
  text += fmt::format("{:<28}{:>10}{:>16}{:>12}{:>12}  {}\n", "layer", "products",
                      a.streaming ? "in x out x fin" : "engine", "work", "adds", "bound by");
  for (size_t i = 0; i < network.layers.size(); ++i) {
    const LayerGeometry g = layer_geometry(network, a, i);
    const LayerEstimate& layer = result.estimate.layers[i];
    const std::string place = a.streaming ? fmt::format("{}x{}x{}", g.shape.pi, g.shape.po, g.shape.pf)
                                          : a.engines[size_t(a.layers[i].engine)].name;
    text += fmt::format("{:<28}{:>10}{:>16}{:>12}{:>12}  {}\n", network.layers[i].name.substr(0, 27),
                        g.products_per_beat(), place, layer.compute_cycles, layer.cycles, why(layer, g));
  }
  return text;
}

}  // namespace tilewright::pipeline

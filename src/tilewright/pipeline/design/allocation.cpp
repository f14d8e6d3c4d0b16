// The YAML form of an allocation. Fields that only one of the two shapes uses are written when that shape is
// chosen or when they differ from their defaults, so that every allocation reads back equal.
#include "tilewright/pipeline/design/allocation.h"

#include <fmt/format.h>

#include <array>
#include <utility>

#include "tilewright/base/yaml.h"
#include "tilewright/pipeline/design/shapes.h"

namespace tilewright::pipeline {
namespace {

constexpr int64_t kMost = int64_t{1} << 40;

template <typename Value>
using Names = std::vector<std::pair<const char*, Value>>;

const Names<Multiplier>& multipliers() {
  static const Names<Multiplier> names = [] {
    Names<Multiplier> list;
    for (const Multiplier multiplier : kMultipliers)
      list.emplace_back(multiplier_text(multiplier), multiplier);
    return list;
  }();
  return names;
}

const Names<Feeder>& feeders() {
  static const Names<Feeder> names = {{"channel_major", Feeder::kChannelMajor},
                                      {"row_major", Feeder::kRowMajor}};
  return names;
}

const Names<netlist::MemoryKind>& memory_kinds() {
  using netlist::MemoryKind;
  static const Names<MemoryKind> names = {{"registers", MemoryKind::kRegisters},
                                          {"lutram", MemoryKind::kLutRam},
                                          {"block", MemoryKind::kBlockRam},
                                          {"ultra", MemoryKind::kUltraRam}};
  return names;
}

const Names<bool>& shapes() {
  static const Names<bool> names = {{"streaming", true}, {"processors", false}};
  return names;
}

const Names<bool>& weight_places() {
  static const Names<bool> names = {{"on_chip", true}, {"dram", false}};
  return names;
}

template <typename Value>
const char* name_of(const Names<Value>& names, Value value) {
  for (const auto& [name, known] : names) {
    if (known == value) return name;
  }
  TILEWRIGHT_CHECK(false, "a value without a name");
}

template <typename Value>
Value read_choice(YamlMap& map, const std::string& key, const Names<Value>& names, Value fallback) {
  const std::string text = map.text(key, name_of(names, fallback));
  std::string known;
  for (const auto& [name, value] : names) {
    if (text == name) return value;
    known += (known.empty() ? "" : ", ") + std::string(name);
  }
  map.error(key, "'" + text + "' is none of " + known, "choose one of them");
  return fallback;
}

ArrayShape read_shape(YamlMap& map) {
  ArrayShape shape;
  shape.pi = map.integer("pi", 1, 65536, 1);
  shape.po = map.integer("po", 1, 65536, 1);
  shape.pf = map.integer("pf", 1, 65536, 1);
  shape.multiplier = read_choice(map, "multiplier", multipliers(), Multiplier::kDsp);
  shape.feeder = read_choice(map, "feeder", feeders(), Feeder::kChannelMajor);
  return shape;
}

EngineAllocation read_engine(YamlMap& map) {
  EngineAllocation engine;
  engine.name = map.text("name");
  engine.lanes = map.boolean("lanes", false);
  engine.shape = read_shape(map);
  engine.taps_y = map.integer("taps_y", 1, 255, 1);
  engine.taps_x = map.integer("taps_x", 1, 255, 1);
  return engine;
}

LayerAllocation read_layer(YamlMap& map) {
  LayerAllocation layer;
  layer.layer = map.text("layer");
  layer.stage = read_shape(map);
  layer.engine = int(map.integer("engine", 0, 255, 0));
  layer.band_rows = map.integer("band_rows", 0, 65535, 0);
  layer.unroll = map.boolean("unroll", false);
  layer.input_fifo = map.integer("input_fifo", 0, kMost, 0);
  layer.residual_fifo = map.integer("residual_fifo", 0, kMost, 0);
  return layer;
}

// One `read` per entry of the list `key`.
template <typename Item, typename Read>
std::vector<Item> read_list(YamlMap& map, const std::string& key, const std::string& source_name,
                            Diagnostics& diagnostics, Read&& read) {
  std::vector<Item> items;
  const YAML::Node list = map.child(key);
  if (!list.IsDefined()) return items;
  if (!list.IsSequence()) {
    map.error(key, "a list is expected");
    return items;
  }
  for (const YAML::Node& node : list) {
    YamlMap item(node, source_name, diagnostics);
    items.push_back(read(item));
    item.finish();
  }
  return items;
}

std::vector<int> read_units(YamlMap& map) {
  std::vector<int> units;
  const YAML::Node list = map.child("tensor_unit");
  if (!list.IsDefined()) return units;
  if (!list.IsSequence()) {
    map.error("tensor_unit", "a list of unit numbers is expected", "one per tensor of the network");
    return units;
  }
  for (const YAML::Node& node : list) {
    int unit = 0;
    if (!YAML::convert<int>::decode(node, unit) || unit < 0 || unit > 15) {
      map.error("tensor_unit",
                fmt::format("'{}' is not a unit in 0..15", node.IsScalar() ? node.Scalar() : "..."));
    }
    units.push_back(unit);
  }
  return units;
}

std::string quoted(const std::string& text) {
  std::string result = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') {
      result += '\\';
      result += c;
    } else if (uint8_t(c) < 0x20 || c == 0x7f) {
      result += fmt::format("\\x{:02x}", uint8_t(c));
    } else {
      result += c;
    }
  }
  return result + "\"";
}

std::string print_shape(const ArrayShape& shape) {
  return fmt::format("pi: {}, po: {}, pf: {}, multiplier: {}, feeder: {}", shape.pi, shape.po, shape.pf,
                     name_of(multipliers(), shape.multiplier), name_of(feeders(), shape.feeder));
}

std::string print_engine(const EngineAllocation& engine) {
  return fmt::format("  - {{name: {}, lanes: {}, {}, taps_y: {}, taps_x: {}}}\n", quoted(engine.name),
                     engine.lanes, print_shape(engine.shape), engine.taps_y, engine.taps_x);
}

std::string print_layer(const LayerAllocation& layer, bool streaming) {
  std::string text = "  - {layer: " + quoted(layer.layer);
  if (streaming || layer.stage != ArrayShape{}) text += ", " + print_shape(layer.stage);
  const auto field = [&](const char* name, int64_t value, bool always) {
    if (always || value != 0) text += fmt::format(", {}: {}", name, value);
  };
  field("engine", layer.engine, !streaming);
  field("band_rows", layer.band_rows, !streaming);
  if (layer.unroll) text += ", unroll: true";
  field("input_fifo", layer.input_fifo, streaming);
  field("residual_fifo", layer.residual_fifo, false);
  return text + "}\n";
}

}  // namespace

Allocation parse_allocation(const std::string& text, const std::string& source_name) {
  Diagnostics diagnostics;
  YamlMap map(parse_yaml(text, source_name), source_name, diagnostics);
  const std::string kind = map.text("kind", "allocation");
  if (kind != "allocation") map.error("kind", "'" + kind + "' is not 'allocation'");
  Allocation allocation;
  if (!map.has("shape")) map.error("shape", "missing field", "streaming or processors");
  allocation.streaming = read_choice(map, "shape", shapes(), false);
  allocation.clock_mhz = map.number("clock_mhz", 0.001, 10000, 100);
  allocation.port_bytes = map.integer("port_bytes", 1, 128, 8);
  allocation.max_burst_beats = map.integer("max_burst_beats", 1, 256, 64);
  allocation.weights_on_chip = read_choice(map, "weights", weight_places(), true);
  allocation.weight_channels = map.integer("weight_channels", 1, 16, 1);
  allocation.ring_words = map.integer("ring_words", 0, kMost, 0);
  allocation.tensor_memory =
      read_choice(map, "tensor_memory", memory_kinds(), netlist::MemoryKind::kBlockRam);
  allocation.weight_memory =
      read_choice(map, "weight_memory", memory_kinds(), netlist::MemoryKind::kBlockRam);
  allocation.units = map.integer("units", 1, 16, 1);
  allocation.tight_memory = map.boolean("tight_memory", false);
  allocation.finish_multiplier = read_choice(map, "finish_multiplier", multipliers(), Multiplier::kDsp);
  allocation.tensor_unit = read_units(map);
  allocation.engines = read_list<EngineAllocation>(map, "engines", source_name, diagnostics, read_engine);
  if (!map.has("layers")) map.error("layers", "missing field", "one entry per layer of the network");
  allocation.layers = read_list<LayerAllocation>(map, "layers", source_name, diagnostics, read_layer);
  map.finish();
  diagnostics.raise_if_any();
  return allocation;
}

std::string print_allocation(const Allocation& allocation) {
  std::string text =
      "# Which hardware each layer gets; docs/design/pipeline/pipeline.md says what the fields mean.\n";
  text += fmt::format("kind: allocation\nshape: {}\nclock_mhz: {}\nport_bytes: {}\nmax_burst_beats: {}\n",
                      name_of(shapes(), allocation.streaming), allocation.clock_mhz, allocation.port_bytes,
                      allocation.max_burst_beats);
  text += fmt::format("weights: {}\nweight_channels: {}\nring_words: {}\n",
                      name_of(weight_places(), allocation.weights_on_chip), allocation.weight_channels,
                      allocation.ring_words);
  text += fmt::format("tensor_memory: {}\nweight_memory: {}\nunits: {}\n",
                      name_of(memory_kinds(), allocation.tensor_memory),
                      name_of(memory_kinds(), allocation.weight_memory), allocation.units);
  if (!allocation.tensor_unit.empty()) {
    text += fmt::format("tensor_unit: [{}]\n", fmt::join(allocation.tensor_unit, ", "));
  }
  if (allocation.tight_memory) text += "tight_memory: true\n";
  if (allocation.finish_multiplier != Multiplier::kDsp) {
    text += fmt::format("finish_multiplier: {}\n", name_of(multipliers(), allocation.finish_multiplier));
  }
  if (!allocation.engines.empty()) text += "engines:\n";
  for (const EngineAllocation& engine : allocation.engines) text += print_engine(engine);
  text += allocation.layers.empty() ? "layers: []\n" : "layers:\n";
  for (const LayerAllocation& layer : allocation.layers) text += print_layer(layer, allocation.streaming);
  return text;
}

}  // namespace tilewright::pipeline

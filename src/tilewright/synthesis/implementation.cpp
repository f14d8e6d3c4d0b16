// The JSON form names every field, so that lines of different versions of this struct can be told apart.
#include "tilewright/synthesis/implementation.h"

#include <fmt/format.h>

#include <array>
#include <nlohmann/json.hpp>
#include <utility>

#include "tilewright/base/json.h"

namespace tilewright::synthesis {
namespace {

constexpr std::array<std::pair<LutMapper, const char*>, 4> kMappers{{{LutMapper::kUsual, "usual"},
                                                                     {LutMapper::kAbc, "abc"},
                                                                     {LutMapper::kAbc2, "abc2"},
                                                                     {LutMapper::kAbc9, "abc9"}}};
constexpr std::array<std::pair<Placer, const char*>, 2> kPlacers{
    {{Placer::kHeap, "heap"}, {Placer::kAnnealing, "sa"}}};
constexpr std::array<std::pair<Router, const char*>, 2> kRouters{
    {{Router::kRouter1, "router1"}, {Router::kRouter2, "router2"}}};

template <typename Table, typename Value>
const char* name_in(const Table& table, Value value) {
  for (const auto& entry : table) {
    if (entry.first == value) return entry.second;
  }
  return "";
}

template <typename Table, typename Value>
Value value_in(const Table& table, JsonMap& map, const char* key, Value fallback) {
  const std::string text = map.text(key, name_in(table, fallback));
  std::string known;
  for (const auto& entry : table) {
    if (text == entry.second) return entry.first;
    known += (known.empty() ? "" : ", ") + std::string(entry.second);
  }
  map.error(key, "'" + text + "' is none of them", known);
  return fallback;
}

double number(JsonMap& map, const char* key, double fallback) {
  const nlohmann::json* child = map.child(key);
  if (child == nullptr) return fallback;
  if (child->is_number()) return child->get<double>();
  map.error(key, "is not a number");
  return fallback;
}

}  // namespace

void ImplementationOptions::verify(DeviceFamily family, Diagnostics& diagnostics) const {
  const auto error = [&](bool wrong, const char* field, std::string message, const char* hint) {
    if (!wrong) return;
    diagnostics.error(ErrorKind::kInvalidInput, "implementation", field, std::move(message), hint);
  };
  const bool ice40 = family == DeviceFamily::kIce40, ecp5 = family == DeviceFamily::kEcp5;
  const auto positive = [&](const char* field, double value, double low, double high) {
    error(!(value >= low && value <= high), field, fmt::format("{} is not in {}..{}", value, low, high),
          "take a value in this range");
  };
  positive("synthesis_mhz", synthesis_mhz, 0, 10000);
  positive("place_mhz", place_mhz, 0.1, 10000);
  positive("heap_alpha", heap_alpha, 1e-3, 10);
  positive("heap_beta", heap_beta, 0.1, 1);
  positive("heap_criticality_exponent", heap_criticality_exponent, 0, 20);
  positive("heap_timing_weight", heap_timing_weight, 0, 1000);
  positive("least_enabled", least_enabled, 0, 1000);
  positive("seed", seed, 0, 2147483647);
  const bool abc9 = mapper == LutMapper::kAbc9 || (mapper == LutMapper::kUsual && ice40);
  error(synthesis_mhz != 0 && !abc9, "synthesis_mhz", "only ABC9 takes a delay target",
        "use mapper abc9, or 0");
  error(retime && abc9, "retime", "ABC9 does not retime", "use mapper abc");
  error(mapper == LutMapper::kAbc2 && !ice40 && !ecp5, "mapper", "abc2 exists only for iCE40 and ECP5",
        "use abc or abc9");
  error(!clock_enables && !ice40 && !ecp5, "clock_enables", "this family's flow always uses them",
        "use true");
  error(least_enabled != 0 && (!ice40 || !clock_enables), "least_enabled",
        "exists only for iCE40 with clock enables", "use 0");
  error(!table_memory && ice40, "table_memory", "an iCE40 has none", "use true");
}

std::string print_implementation(const ImplementationOptions& o) {
  return nlohmann::ordered_json{{"synthesis_mhz", o.synthesis_mhz},
                                {"flatten", o.flatten},
                                {"mapper", name_in(kMappers, o.mapper)},
                                {"map_registers", o.map_registers},
                                {"retime", o.retime},
                                {"carry_chains", o.carry_chains},
                                {"clock_enables", o.clock_enables},
                                {"least_enabled", o.least_enabled},
                                {"dsp", o.dsp},
                                {"block_memory", o.block_memory},
                                {"table_memory", o.table_memory},
                                {"place_mhz", o.place_mhz},
                                {"placer", name_in(kPlacers, o.placer)},
                                {"heap_alpha", o.heap_alpha},
                                {"heap_beta", o.heap_beta},
                                {"heap_criticality_exponent", o.heap_criticality_exponent},
                                {"heap_timing_weight", o.heap_timing_weight},
                                {"router", name_in(kRouters, o.router)},
                                {"timing_ripup", o.timing_ripup},
                                {"seed", o.seed}}
      .dump();
}

ImplementationOptions parse_implementation(const std::string& json, const std::string& source_name) {
  const nlohmann::json value = parse_json(json, source_name);
  Diagnostics diagnostics;
  JsonMap map(value, source_name, diagnostics);
  ImplementationOptions o;
  o.synthesis_mhz = number(map, "synthesis_mhz", o.synthesis_mhz);
  o.flatten = map.boolean("flatten", o.flatten);
  o.mapper = value_in(kMappers, map, "mapper", o.mapper);
  o.map_registers = map.boolean("map_registers", o.map_registers);
  o.retime = map.boolean("retime", o.retime);
  o.carry_chains = map.boolean("carry_chains", o.carry_chains);
  o.clock_enables = map.boolean("clock_enables", o.clock_enables);
  o.least_enabled = int(map.integer("least_enabled", 0, 1000, o.least_enabled));
  o.dsp = map.boolean("dsp", o.dsp);
  o.block_memory = map.boolean("block_memory", o.block_memory);
  o.table_memory = map.boolean("table_memory", o.table_memory);
  o.place_mhz = number(map, "place_mhz", o.place_mhz);
  o.placer = value_in(kPlacers, map, "placer", o.placer);
  o.heap_alpha = number(map, "heap_alpha", o.heap_alpha);
  o.heap_beta = number(map, "heap_beta", o.heap_beta);
  o.heap_criticality_exponent =
      int(map.integer("heap_criticality_exponent", 0, 20, o.heap_criticality_exponent));
  o.heap_timing_weight = int(map.integer("heap_timing_weight", 0, 1000, o.heap_timing_weight));
  o.router = value_in(kRouters, map, "router", o.router);
  o.timing_ripup = map.boolean("timing_ripup", o.timing_ripup);
  o.seed = int(map.integer("seed", 0, 2147483647, o.seed));
  map.finish();
  diagnostics.raise_if_any();
  return o;
}

}  // namespace tilewright::synthesis

// Everything is printed per input, so that runs over few and over many inputs compare.
#include "tilewright/flow/target/energy_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "tilewright/base/json.h"
#include "tilewright/report/number_text.h"
#include "tilewright/report/text_table.h"

namespace tilewright {
namespace {

void add_row(std::vector<EnergyRow>& rows, const std::string& name, const Activity& activity) {
  auto row = std::ranges::find(rows, name, &EnergyRow::name);
  if (row == rows.end()) row = rows.insert(rows.end(), {name, {}});
  row->activity += activity;
}

std::string table(const EnergyReport& report, const std::string& title, const std::vector<EnergyRow>& rows) {
  const double inputs = double(std::max<int64_t>(1, report.inputs)),
               all = report.costs.picojoules(report.total());
  TextTable text({title, ">toggled bits", ">on-chip memory bits", ">DRAM bits", ">energy", ">share"});
  const auto line = [&](const EnergyRow& row) {
    const Activity& a = row.activity;
    const double energy = report.costs.picojoules(a);
    const auto count = [&](uint64_t bits) {
      return bits == 0 ? "" : fmt::format("{:.0f}", double(bits) / inputs);
    };
    text.row({row.name, count(a.toggled_bits), count(a.memory_bits), count(a.dram_bits),
              energy_text(energy / inputs, "pj"), all == 0 ? "" : percent_text(energy / all)});
  };
  for (const EnergyRow& row : rows) {
    if (row.activity != Activity{}) line(row);
  }
  text.rule();
  line({"all", report.total()});
  return text.to_string();
}

nlohmann::json rows_json(const EnergyReport& report, const std::vector<EnergyRow>& rows) {
  nlohmann::json all = nlohmann::json::array();
  for (const EnergyRow& row : rows) {
    all.push_back({{"name", row.name},
                   {"toggled_bits", row.activity.toggled_bits},
                   {"memory_bits", row.activity.memory_bits},
                   {"dram_bits", row.activity.dram_bits},
                   {"pj", report.costs.picojoules(row.activity)}});
  }
  return all;
}

}  // namespace

void EnergyReport::add_layer(const std::string& name, const Activity& activity) {
  add_row(layers, name, activity);
}
void EnergyReport::add_module(const std::string& name, const Activity& activity) {
  add_row(modules, name, activity);
}

Activity EnergyReport::total() const {
  Activity sum;
  for (const EnergyRow& row : layers) sum += row.activity;
  return sum;
}

std::string to_string(const EnergyReport& report) {
  const EnergyCosts& costs = report.costs;
  return fmt::format(
      "energy per input by a model, from the bits that switch in the simulated Verilog:\n"
      "{} pJ per toggled bit, {} per bit of an on-chip memory, {} per bit of DRAM; leakage and clocks are "
      "not in it\n"
      "{}\n{}",
      costs.toggle_pj, costs.memory_pj, costs.dram_pj, table(report, "layer", report.layers),
      table(report, "module", report.modules));
}

std::string to_json(const EnergyReport& report) {
  const nlohmann::json json = {
      {"inputs", report.inputs},
      {"pj_per_bit",
       {{"toggle", report.costs.toggle_pj},
        {"memory", report.costs.memory_pj},
        {"dram", report.costs.dram_pj}}},
      {"pj_per_input", report.costs.picojoules(report.total()) / double(std::max<int64_t>(1, report.inputs))},
      {"layers", rows_json(report, report.layers)},
      {"modules", rows_json(report, report.modules)}};
  return json_text(json);
}

}  // namespace tilewright

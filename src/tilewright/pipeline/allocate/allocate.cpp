// Both shapes are searched, the better one is taken. What is short is said for the allocation that comes
// nearest to the budget.
#include "tilewright/pipeline/allocate/allocate.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <map>

#include "tilewright/pipeline/allocate/allocate_search.h"

namespace tilewright::pipeline {

Budget device_budget(const Device& device) {
  Budget budget;
  budget.family = device.family;
  budget.resources = device.has;
  if (device.memory) {
    budget.port_bytes = device.memory->port_bytes;
    budget.channels = device.memory->channels;
    budget.port = {device.memory->latency_cycles, int(device.memory->efficiency_percent)};
  }
  if (device.clock_mhz > 0) budget.clock_mhz = device.clock_mhz;
  return budget;
}

void apply_budget(Budget& budget, const std::string& text) {
  const std::map<std::string, int64_t*> fields = {
      {"lut", &budget.resources.lut},   {"ff", &budget.resources.ff},
      {"dsp", &budget.resources.dsp},   {"bram", &budget.resources.bram},
      {"uram", &budget.resources.uram}, {"multipliers", &budget.multipliers},
      {"channels", &budget.channels}};
  Diagnostics diagnostics;
  for (size_t at = 0; at < text.size();) {
    const size_t end = std::min(text.find(',', at), text.size());
    const std::string item = text.substr(at, end - at);
    at = end + 1;
    const size_t equals = item.find('=');
    const std::string name = item.substr(0, equals),
                      value = equals == std::string::npos ? "" : item.substr(equals + 1);
    const auto field = fields.find(name);
    int64_t number = 0;
    const auto [stop, failed] = std::from_chars(value.data(), value.data() + value.size(), number);
    if (field == fields.end()) {
      diagnostics.error(ErrorKind::kInvalidInput, "budget", name, "is no resource",
                        "one of bram, channels, dsp, ff, lut, multipliers, uram");
    } else if (failed != std::errc{} || stop != value.data() + value.size() || number < 0 ||
               (name == "channels" && number < 1)) {
      diagnostics.error(ErrorKind::kInvalidInput, "budget", name, "'" + value + "' is no count",
                        "e.g. dsp=220");
    } else {
      *field->second = number;
    }
  }
  diagnostics.raise_if_any();
}

std::vector<Shortage> Judge::shortages(const Estimate& estimate) const {
  const synthesis::Resources &need = estimate.resources, &have = budget_.resources;
  std::vector<Shortage> all = {{"LUT", need.lut, have.lut},
                               {"FF", need.ff, have.ff},
                               {"DSP", need.dsp, have.dsp},
                               {"BRAM", need.bram, have.bram},
                               {"URAM", need.uram, have.uram}};
  if (budget_.multipliers > 0) all.push_back({"multipliers", estimate.multipliers, budget_.multipliers});
  std::erase_if(all, [](const Shortage& s) { return s.need <= s.have; });
  return all;
}

double Judge::pressure(const synthesis::Resources& need, int64_t multipliers) const {
  const synthesis::Resources& have = budget_.resources;
  double most = 0;
  const auto share = [&](int64_t n, int64_t h) {
    most = std::max(most, n <= 0 ? 0 : double(n) / std::max(0.5, double(h)));
  };
  share(need.lut, have.lut);
  share(need.ff, have.ff);
  share(need.dsp, have.dsp);
  share(need.bram, have.bram);
  share(need.uram, have.uram);
  if (budget_.multipliers > 0) share(multipliers, budget_.multipliers);
  return most;
}

bool Judge::better(const Estimate& a, const Estimate& b) const {
  const double pressure_a = pressure(a), pressure_b = pressure(b);
  if ((pressure_a <= 1) != (pressure_b <= 1)) return pressure_a <= 1;
  if (pressure_a > 1) return pressure_a < pressure_b;
  if (cycles(a) != cycles(b)) return cycles(a) < cycles(b);
  return pressure_a < pressure_b;
}

std::vector<int64_t> divisors(int64_t n) {
  std::vector<int64_t> small, large;
  for (int64_t d = 1; d * d <= n; ++d) {
    if (n % d != 0) continue;
    small.push_back(d);
    if (d != n / d) large.push_back(n / d);
  }
  small.insert(small.end(), large.rbegin(), large.rend());
  return small;
}

namespace {

[[noreturn]] void report_infeasible(const Network& network, const Judge& judge, const Candidate& nearest) {
  Diagnostics diagnostics;
  const synthesis::Resources& need = nearest.estimate.resources;
  const std::string enough =
      fmt::format("lut={},ff={},dsp={},bram={},uram={}", need.lut, need.ff, need.dsp, need.bram, need.uram) +
      (judge.budget().multipliers > 0 ? fmt::format(",multipliers={}", nearest.estimate.multipliers) : "");
  for (const Shortage& item : judge.shortages(nearest.estimate)) {
    diagnostics.error(ErrorKind::kInfeasible, "network '" + network.name + "'", item.resource,
                      fmt::format("the smallest design needs {}, the budget has {}: {} too few", item.need,
                                  item.have, item.need - item.have),
                      "the smallest budget that would do: " + enough);
  }
  diagnostics.raise_if_any();
  throw Error(ErrorKind::kInternal, "an allocation over its budget without a shortage");
}

}  // namespace

AllocationResult allocate(const Network& network, const Budget& budget, Objective objective,
                          const AllocateOptions& options) {
  if (!(options.logic_share > 0 && options.logic_share <= 1)) {
    throw Error(ErrorKind::kInvalidInput,
                fmt::format("logic_share {} is not above 0 and at most 1", options.logic_share));
  }
  if (network.layers.empty()) {
    throw Error(ErrorKind::kInvalidInput, "network '" + network.name + "' has no layers to allocate");
  }
  Budget planned = budget;
  planned.resources.lut = int64_t(double(budget.resources.lut) * options.logic_share);
  planned.resources.ff = int64_t(double(budget.resources.ff) * options.logic_share);
  const Judge judge(planned, objective);
  const Estimator estimator(network, budget.family, budget.port);
  ShapeSearch stages, processors;
  if (options.streaming) stages = search_stages(network, estimator, judge, options);
  if (options.processors) processors = search_processors(network, estimator, judge, options);
  const bool take_stages =
      stages.best && (!processors.best || !judge.better(processors.best->estimate, stages.best->estimate));
  const ShapeSearch& chosen = take_stages ? stages : processors;
  if (!chosen.best) {
    throw Error(ErrorKind::kInvalidInput, "no shape to allocate: allow streaming or processors");
  }
  if (!judge.fits(chosen.best->estimate)) report_infeasible(network, judge, *chosen.best);
  AllocationResult result;
  result.allocation = chosen.best->allocation;
  result.estimate = estimator(result.allocation);
  result.proven_optimal = chosen.proven;
  result.evaluated = stages.evaluated + processors.evaluated;
  result.explanation = explain(network, budget, result);
  return result;
}

}  // namespace tilewright::pipeline

// Sums over a network, and numbers as people read them.
#include "tilewright/spatial/network/network_report.h"

#include <fmt/format.h>

#include <cmath>

namespace tilewright {

const char* name(LayerStatus status) {
  switch (status) {
    case LayerStatus::kProven:
      return "optimal";
    case LayerStatus::kStopped:
      return "stopped";
    case LayerStatus::kEvaluated:
      return "evaluated";
    case LayerStatus::kInfeasible:
      return "infeasible";
    case LayerStatus::kUnsupported:
      return "unsupported";
  }
  return "";
}

RunTotals NetworkReport::totals(const DataflowRun& run) const {
  RunTotals sum;
  sum.parts.resize(run.places.size());
  for (const NetworkLayer& layer : network.layers) {
    const LayerCost& c = cost(run, layer);
    if (!c.has_cost()) {
      ++sum.missing;
      sum.proven = false;
      continue;
    }
    ++sum.layers;
    sum.energy += c.energy;
    sum.arithmetic_energy += c.arithmetic_energy;
    sum.cycles += c.cycles;
    sum.lower_bound += c.lower_bound;
    sum.macs += network.workload(layer).operation_count();
    sum.proven = sum.proven && c.status == LayerStatus::kProven;
    for (size_t p = 0; p < c.parts.size(); ++p) {
      for (size_t r = 0; r < size_t(kDataRoles); ++r) sum.parts[p][r] += c.parts[p][r];
    }
  }
  return sum;
}

double NetworkReport::role_energy(const std::vector<std::array<double, kDataRoles>>& parts, DataRole role) {
  double sum = 0;
  for (const auto& part : parts) sum += part[size_t(role)];
  return sum;
}

namespace {

// Four significant digits with the prefix that leaves one to three before the point.
std::string with_prefix(double value, int exponent3) {
  constexpr const char* kPrefixes[] = {"f", "p", "n", "u", "m", "", "k", "M", "G", "T", "P", "E"};
  constexpr int kUnity = 5, kLast = 11;
  int step = kUnity + exponent3;
  if (value == 0 || !std::isfinite(value)) return fmt::format("{} ", value);
  // 999.95 would print as 1000.
  while (std::abs(value) >= 999.95 && step < kLast) value /= 1000, ++step;
  while (std::abs(value) < 0.99995 && step > 0) value *= 1000, --step;
  const double size = std::abs(value);
  const int digits = size < 9.9995 ? 3 : size < 99.995 ? 2 : 1;
  return fmt::format("{:.{}f} {}", value, digits, kPrefixes[step]);
}

}  // namespace

std::string scaled_number(double value) {
  std::string text = std::abs(value) >= 1 && std::abs(value) < 1000 && value == std::floor(value)
                         ? fmt::format("{:.0f} ", value)
                         : with_prefix(value, 0);
  if (text.back() == ' ') text.pop_back();
  return text;
}

std::string energy_text(double value, const std::string& unit) {
  if (unit == "fj") return with_prefix(value, -5) + "J";
  if (unit == "pj") return with_prefix(value, -4) + "J";
  if (unit == "nj") return with_prefix(value, -3) + "J";
  if (unit == "uj") return with_prefix(value, -2) + "J";
  return scaled_number(value);
}

std::string batch_text(const NetworkReport& report) {
  return report.batch > 0 ? fmt::format("batch {}", report.batch) : "batches of several sizes";
}

std::string time_text(double cycles, double clock_mhz) {
  if (clock_mhz <= 0) return "";
  return with_prefix(cycles / clock_mhz, -2) + "s";
}

}  // namespace tilewright

// The front and the choice as text and as JSON.
#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "tilewright/base/json.h"
#include "tilewright/flow/design/precision_search.h"

namespace tilewright {
namespace {

int64_t measured_cycles(const PrecisionSearchResult& result, const PrecisionPoint& point) {
  return result.latency ? point.estimate.latency_cycles : point.estimate.interval_cycles;
}

double mean_bits_of(const std::vector<int>& bits) {
  double sum = 0;
  for (const int b : bits) sum += b;
  return bits.empty() ? 0 : sum / double(bits.size());
}

// With trained weights, a point of the same bits is another one.
bool same_point(const PrecisionPoint& a, const PrecisionPoint& b) {
  return a.bits == b.bits && a.right == b.right && a.output_db == b.output_db;
}

std::string measured_line(const PrecisionSearchResult& result, const PrecisionPoint& point) {
  const synthesis::Resources& need = point.estimate.resources;
  const double share = 100.0 * double(need.*result.resource) /
                       double(std::max<int64_t>(1, result.reference.estimate.resources.*result.resource));
  return fmt::format("{:>8} {:>8} {:>6} {:>6} {:>9} {:>9} {:>9.1f} {:>7.1f} {:>9.2f} % {:>7.1f}{}\n",
                     need.*result.resource, fmt::format("{:.1f} %", share), need.dsp, need.bram,
                     measured_cycles(result, point), point.weight_bytes, mean_bits_of(point.bits.weights),
                     mean_bits_of(point.bits.activations), 100 * point.accuracy(), point.output_db,
                     same_point(result.chosen, point) ? "  chosen" : "");
}

nlohmann::json measured_json(const PrecisionSearchResult& result, const PrecisionPoint& point) {
  const synthesis::Resources& need = point.estimate.resources;
  return {{"weight_bits", point.bits.weights},
          {"activation_bits", point.bits.activations},
          {"lut", need.lut},
          {"ff", need.ff},
          {"dsp", need.dsp},
          {"bram", need.bram},
          {"uram", need.uram},
          {"cycles", measured_cycles(result, point)},
          {"weight_bytes", point.weight_bytes},
          {"accuracy", point.accuracy()},
          {"output_db", point.output_db}};
}

std::string training_text(const PrecisionSearchResult& result) {
  const PrecisionTraining& training = result.training;
  if (!training.problem.empty()) return fmt::format("weights were not trained: {}\n", training.problem);
  if (training.trained == 0) return "";
  if (!training.kept)
    return fmt::format("weights trained at the bits of {} choices: none got better\n", training.trained);
  return fmt::format("weights trained at the bits of {} choices; chosen, trained ({:.2f} % right before):\n",
                     training.trained, 100 * training.before.accuracy()) +
         measured_line(result, result.chosen);
}

}  // namespace

PrecisionPoints precision_points(const PrecisionSearchResult& result) {
  PrecisionPoints told{
      resource_text(result.resource), result.limits.resources.*result.resource, result.reference.samples, {}};
  std::vector<PrecisionPoint> all = result.front;
  for (const PrecisionPoint* other : {&result.chosen, &result.reference}) {
    const bool there = std::any_of(all.begin(), all.end(),
                                   [&](const PrecisionPoint& point) { return same_point(point, *other); });
    if (!there) all.push_back(*other);
  }
  for (const PrecisionPoint& point : all) {
    told.points.push_back({point.estimate.resources.*result.resource, point.accuracy(), point.output_db,
                           mean_bits_of(point.bits.weights), same_point(result.chosen, point),
                           point.bits == result.reference.bits});
  }
  return told;
}

std::string to_string(const PrecisionSearchResult& result) {
  const char* const resource = resource_text(result.resource);
  std::string text = fmt::format(
      "bits for at most {} {} and {} cycles; answers of {} samples that nothing was fitted to, against {}\n",
      result.limits.resources.*result.resource, resource, result.limits.cycles, result.reference.samples,
      result.labelled ? fmt::format("their labels (float: {:.2f} %)",
                                    100.0 * double(result.float_right) /
                                        double(std::max<int64_t>(1, result.reference.samples)))
                      : "the float network's");
  text += fmt::format("{:>8} {:>8} {:>6} {:>6} {:>9} {:>9} {:>9} {:>7} {:>11} {:>7}\n", resource, "of 8 b",
                      "DSP", "BRAM", "cycles", "weights B", "mean bits", "values", "right", "dB");
  for (const PrecisionPoint& point : result.front) text += measured_line(result, point);
  text += "8 bits everywhere:\n" + measured_line(result, result.reference);
  text += training_text(result);
  text += fmt::format("{} choices measured\n\n{:<40} {:>10} {:>5}\n", result.measured, "weights of", "number",
                      "bits");
  for (size_t i = 0; i < result.layer_names.size(); ++i) {
    text += fmt::format("{:<40} {:>10} {:>5}\n", result.layer_names[i], result.layer_weights[i],
                        result.chosen.bits.weights[i]);
  }
  text += fmt::format("{:<40} {:>10} {:>5}\n", "values", "", "bits");
  for (size_t i = 0; i < result.class_names.size(); ++i)
    text +=
        fmt::format("{:<40} {:>10} {:>5}\n", result.class_names[i], "", result.chosen.bits.activations[i]);
  return text;
}

std::string to_json(const PrecisionSearchResult& result) {
  nlohmann::json json = {{"resource", resource_text(result.resource)},
                         {"limit", result.limits.resources.*result.resource},
                         {"cycle_limit", result.limits.cycles},
                         {"samples", result.reference.samples},
                         {"labelled", result.labelled},
                         {"float_right", result.float_right},
                         {"layers", result.layer_names},
                         {"values", result.class_names},
                         {"reference", measured_json(result, result.reference)},
                         {"chosen", measured_json(result, result.chosen)},
                         {"measured", result.measured}};
  json["training"] = {{"problem", result.training.problem},
                      {"trained", result.training.trained},
                      {"kept", result.training.kept},
                      {"before", measured_json(result, result.training.before)}};
  json["front"] = nlohmann::json::array();
  for (const PrecisionPoint& point : result.front) json["front"].push_back(measured_json(result, point));
  return json_text(json, 2);
}

}  // namespace tilewright

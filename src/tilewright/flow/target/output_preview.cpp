// A class vector is a first output with two or more numbers per input, all along one axis.
#include "tilewright/flow/target/output_preview.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <numeric>

#include "tilewright/base/json.h"

namespace tilewright {
namespace {

constexpr int64_t kInputs = 5, kClasses = 3, kValues = 8;

bool is_class_vector(const Shape& shape, int64_t per_input) {
  int64_t longest = 1;
  for (int d = 1; d < shape.rank(); ++d) longest = std::max(longest, shape[d]);
  return per_input >= 2 && longest == per_input;
}

// JSON has no infinite numbers.
nlohmann::json number_json(const Tensor& tensor, int64_t index) {
  if (is_integer(tensor.type())) return tensor.integer_at(index);
  const double value = tensor.number_at(index);
  return std::isfinite(value) ? nlohmann::json(value) : nlohmann::json(fmt::format("{}", value));
}

std::string number_text(const Tensor& tensor, int64_t index) {
  if (is_integer(tensor.type())) return std::to_string(tensor.integer_at(index));
  return fmt::format("{:.4g}", tensor.number_at(index));
}

std::string label_text(const std::vector<int64_t>& labels, size_t input, int64_t found) {
  if (input >= labels.size()) return "";
  return fmt::format("; label {}{}", labels[input], labels[input] == found ? "" : ", wrong");
}

// The best classes of one input, the largest score first.
std::vector<int64_t> best_classes(const Tensor& scores, int64_t input, int64_t per_input) {
  std::vector<int64_t> order(size_t(per_input), 0);
  std::iota(order.begin(), order.end(), 0);
  const auto score = [&](int64_t k) {
    const double value = scores.number_at(input * per_input + k);
    return std::isnan(value) ? -HUGE_VAL : value;
  };
  const int64_t count = std::min(kClasses, per_input);
  std::partial_sort(order.begin(), order.begin() + count, order.end(),
                    [&](int64_t a, int64_t b) { return score(a) != score(b) ? score(a) > score(b) : a < b; });
  order.resize(size_t(count));
  return order;
}

void add_classes(const RunReport& report, const std::vector<int64_t>& labels, std::string& text,
                 nlohmann::json& json) {
  const Tensor& scores = report.outputs[0].second;
  const auto inputs = int64_t(report.classes.size()), per_input = scores.size() / inputs;
  for (int64_t i = 0; i < std::min(inputs, kInputs); ++i) {
    std::string line;
    nlohmann::json classes = nlohmann::json::array();
    for (const int64_t k : best_classes(scores, i, per_input)) {
      line += fmt::format("{}{} ({})", line.empty() ? "" : ", ", k, number_text(scores, i * per_input + k));
      classes.push_back({{"class", k}, {"score", number_json(scores, i * per_input + k)}});
    }
    text += fmt::format("input {}: class {}{}\n", i, line,
                        label_text(labels, size_t(i), report.classes[size_t(i)]));
    json["top"].push_back(std::move(classes));
  }
  if (inputs > kInputs) text += fmt::format("... and {} more inputs\n", inputs - kInputs);
}

void add_values(const std::string& name, const Tensor& tensor, std::string& text) {
  const int64_t shown = std::min(tensor.size(), kValues);
  std::string values;
  for (int64_t i = 0; i < shown; ++i) values += (i > 0 ? ", " : "") + number_text(tensor, i);
  text += fmt::format("{}: {} = {}{}\n", name, to_string(tensor.type(), tensor.shape()), values,
                      shown < tensor.size() ? ", ..." : "");
}

}  // namespace

Answer output_preview(const RunReport& report, const std::vector<int64_t>& labels) {
  std::string text;
  nlohmann::json json = {{"outputs", nlohmann::json::array()}};
  for (const auto& [name, tensor] : report.outputs) {
    nlohmann::json first = nlohmann::json::array();
    for (int64_t i = 0; i < std::min(tensor.size(), kValues); ++i) first.push_back(number_json(tensor, i));
    json["outputs"].push_back(
        {{"name", name}, {"type", to_string(tensor.type(), tensor.shape())}, {"first", std::move(first)}});
  }
  const bool classes = !report.classes.empty() && !report.outputs.empty() &&
                       is_class_vector(report.outputs[0].second.shape(),
                                       report.outputs[0].second.size() / int64_t(report.classes.size()));
  if (classes) add_classes(report, labels, text, json);
  for (size_t o = classes ? 1 : 0; o < report.outputs.size(); ++o)
    add_values(report.outputs[o].first, report.outputs[o].second, text);
  return {text, json_text(json, 2) + "\n"};
}

}  // namespace tilewright

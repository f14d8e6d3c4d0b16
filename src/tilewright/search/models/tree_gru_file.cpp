// Weights of a TreeGRU as a file: JSON, whose shortest decimal numbers give back the same floats.
#include <fmt/format.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "tilewright/base/file.h"
#include "tilewright/base/json.h"
#include "tilewright/search/models/tree_gru.h"

namespace tilewright {
namespace {

constexpr int64_t kMostFeatures = 4096;

std::vector<float> read_floats(JsonMap& map, const std::string& key, size_t count) {
  std::vector<float> values;
  const nlohmann::json* list = map.list(key);
  if (list == nullptr) {
    if (!map.has(key)) map.error(key, "is missing");
    return values;
  }
  for (const nlohmann::json& value : *list) {
    if (!value.is_number() || !std::isfinite(value.get<float>())) {
      map.error(key, "holds something that is not a number");
      return values;
    }
    values.push_back(value.get<float>());
  }
  if (values.size() != count) map.error(key, fmt::format("has {} numbers, not {}", values.size(), count));
  return values;
}

}  // namespace

TreeGruWeights TreeGruWeights::load(const std::filesystem::path& path) {
  const nlohmann::json document = parse_json(read_text_file(path, size_t{1} << 26), path.string());
  Diagnostics problems;
  JsonMap map(document, path.string(), problems);
  TreeGruWeights weights;
  weights.features = map.integer("features", 1, kMostFeatures);
  weights.globals = map.integer("globals", 0, kMostFeatures);
  map.integer("hidden", kHidden, kHidden);
  problems.raise_if_any();
  weights.mean = read_floats(map, "mean", weights.inputs());
  weights.scale = read_floats(map, "scale", weights.inputs());
  weights.parameters = read_floats(map, "parameters", weights.size());
  map.finish();
  problems.raise_if_any();
  return weights;
}

void TreeGruWeights::save(const std::filesystem::path& path) const {
  const nlohmann::json document = {{"features", features}, {"globals", globals}, {"hidden", kHidden},
                                   {"mean", mean},         {"scale", scale},     {"parameters", parameters}};
  write_text_file(path, document.dump() + "\n");
}

}  // namespace tilewright

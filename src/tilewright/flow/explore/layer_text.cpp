// The JSON keeps small records as arrays by position (tap grids, sources, folds). Weights are written as type
// and shape alone and come back as zeros; sizes and indices are checked after parsing.
#include "tilewright/flow/explore/layer_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <vector>

#include "tilewright/base/error.h"
#include "tilewright/base/json.h"

namespace tilewright {
namespace {

using Json = nlohmann::json;
using overlay::ChannelPattern;
using overlay::InputFold;
using overlay::LayerSource;
using overlay::OverlayLayer;
using overlay::OverlayLayerKind;
using overlay::Phase;
using overlay::TapGrid;

constexpr const char* kKinds[] = {"matrix", "maximum", "product"};  // OverlayLayerKind
constexpr const char* kPatterns[] = {"dense", "grouped", "diagonal", "shared"};
constexpr const char* kPairs[] = {"product", "larger", "smaller", "sum"};  // OverlayLayer::Pair

Json print_phase(const Phase& phase) {
  Json grids = Json::array();
  for (const TapGrid& g : phase.grids) {
    grids.push_back({g.source, g.pass, g.ny, g.nx, g.dy, g.dx, g.dy_step, g.dx_step, g.weight,
                     g.weight_step_y, g.weight_step_x});
  }
  return {{"out", {phase.out_y, phase.out_x}}, {"grids", std::move(grids)}};
}

Json print_output(const LayerFinish& output) {
  Json scales = Json::array();
  for (const Requantization& r : output.scale) scales.push_back({r.multiplier, r.shift});
  return {{"bias", output.bias},
          {"scales", std::move(scales)},
          {"zero_point", output.zero_point},
          {"clip", {output.clip_low, output.clip_high}},
          {"bipolar", output.bipolar}};
}

Json print_fold(const InputFold& f) {
  return {f.fold_y,   f.fold_x,   f.step_y,   f.step_x, f.sample_y, f.sample_x,
          f.origin_y, f.origin_x, f.channels, f.height, f.width,    f.pad_value};
}

InputFold parse_fold(const Json& v) {
  return {v.at(0), v.at(1), v.at(2), v.at(3), v.at(4),  v.at(5),
          v.at(6), v.at(7), v.at(8), v.at(9), v.at(10), v.at(11)};
}

Phase parse_phase(const Json& value) {
  Phase phase{value.at("out").at(0), value.at("out").at(1), {}};
  for (const Json& g : value.at("grids")) {
    phase.grids.push_back(
        {g.at(0), g.at(1), g.at(2), g.at(3), g.at(4), g.at(5), g.at(6), g.at(7), g.at(8), g.at(9), g.at(10)});
  }
  return phase;
}

LayerFinish parse_output(const Json& value) {
  LayerFinish output;
  output.bias = value.at("bias").get<std::vector<int32_t>>();
  for (const Json& r : value.at("scales")) output.scale.push_back({r.at(0), r.at(1)});
  output.zero_point = value.at("zero_point");
  output.clip_low = value.at("clip").at(0);
  output.clip_high = value.at("clip").at(1);
  output.bipolar = value.at("bipolar");
  return output;
}

Tensor zero_weights(const Json& value) {
  const std::string type = value.at("type");
  const std::optional<ElementType> element = parse_element_type(type);
  if (!element) throw Error(ErrorKind::kInvalidInput, fmt::format("no element type is called '{}'", type));
  return Tensor(*element, Shape(value.at("shape").get<std::vector<int64_t>>()));
}

OverlayLayer parse_fields(const Json& v) {
  OverlayLayer layer;
  layer.name = v.at("name");
  layer.op = v.at("op");
  const auto kind = std::find(std::begin(kKinds), std::end(kKinds), v.at("kind").get<std::string>());
  if (kind == std::end(kKinds)) throw Error(ErrorKind::kInvalidInput, "no such kind");
  layer.kind = OverlayLayerKind(kind - kKinds);
  const auto pattern =
      std::find(std::begin(kPatterns), std::end(kPatterns), v.at("pattern").get<std::string>());
  if (pattern == std::end(kPatterns)) throw Error(ErrorKind::kInvalidInput, "no such pattern");
  layer.pattern = ChannelPattern(pattern - kPatterns);
  if (v.contains("pair")) {
    const auto pair = std::find(std::begin(kPairs), std::end(kPairs), v.at("pair").get<std::string>());
    if (pair == std::end(kPairs)) throw Error(ErrorKind::kInvalidInput, "no such pair");
    layer.pair = OverlayLayer::Pair(pair - kPairs);
  }
  layer.batch = v.at("batch");
  layer.out_channels = v.at("out").at(0);
  layer.out_height = v.at("out").at(1);
  layer.out_width = v.at("out").at(2);
  for (const Json& s : v.at("sources")) {
    LayerSource source{kNoValue, s.at(0), s.at(1), s.at(2), s.at(3)};
    if (s.size() == 6) {  // of 16-bit activations
      source.plane = s.at(4);
      source.planes = s.at(5);
    } else if (s.size() > 4) {  // of a product
      source.zero_point = s.at(4);
      source.one_position = s.at(5) != 0;
      source.one_channel = s.at(6) != 0;
    }
    layer.sources.push_back(source);
  }
  layer.in_step_y = v.at("steps").at(0);
  layer.in_step_x = v.at("steps").at(1);
  layer.out_step_y = v.at("steps").at(2);
  layer.out_step_x = v.at("steps").at(3);
  layer.pad_value = v.at("padding");
  for (const Json& phase : v.at("phases")) layer.phases.push_back(parse_phase(phase));
  layer.group_inputs = v.at("groups").at(0);
  layer.group_outputs = v.at("groups").at(1);
  layer.pass_shift = v.at("pass_shift");
  layer.weight_bits = v.at("weight_bits");
  layer.input_magnitude = v.at("input_magnitude");
  layer.weights = zero_weights(v.at("weights"));
  layer.weight_positions = v.at("weight_positions");
  layer.weight_planes = v.at("weight_planes");
  layer.weight_magnitude = v.at("weight_magnitude").get<std::vector<int64_t>>();
  layer.diagonal = v.at("diagonal").get<std::vector<int8_t>>();
  layer.output = parse_output(v.at("output"));
  layer.foldable = v.at("foldable");
  if (!v.at("fold").is_null()) layer.fold = parse_fold(v.at("fold"));
  layer.macs = v.at("macs");
  if (v.contains("planes_out")) {
    layer.out_plane = v.at("planes_out").at(0);
    layer.result_channels = v.at("planes_out").at(1);
  }
  return layer;
}

// What code that reads layers takes for granted.
void check(const OverlayLayer& layer) {
  const auto fail = [](const char* what) { throw Error(ErrorKind::kInvalidInput, what); };
  if (std::min({layer.batch, layer.out_channels, layer.out_height, layer.out_width}) < 1 ||
      std::min({layer.in_step_y, layer.in_step_x, layer.out_step_y, layer.out_step_x}) < 1) {
    fail("a size below 1");
  }
  if (layer.sources.empty() || layer.phases.empty()) fail("no source, or no phase");
  for (const LayerSource& source : layer.sources) {
    if (std::min({source.channels, source.height, source.width}) < 1) fail("a source of size below 1");
    if (source.planes < 1 || source.planes > 2 || source.plane < 0 || source.plane >= source.planes)
      fail("a source of no plane");
  }
  if (layer.out_plane != 0 && (layer.out_plane < layer.result_channels || layer.result_channels < 1 ||
                               layer.out_channels != 2 * layer.out_plane)) {
    fail("planes of other sizes than the result");
  }
  const size_t channels = size_t(layer.out_channels), scales = layer.output.scale.size();
  const bool of_two = layer.kind == OverlayLayerKind::kProduct, sum = layer.pair == OverlayLayer::Pair::kSum;
  if (of_two ? layer.sources.size() != 2 : layer.pair != OverlayLayer::Pair::kProduct)
    fail("a pair of sources that are not two");
  if ((layer.kind == OverlayLayerKind::kMatrix || sum) &&
      (layer.output.bias.size() != channels || (scales != 1 && scales != channels))) {
    fail("biases or scales are not as many as output channels");
  }
  for (const Phase& phase : layer.phases) {
    for (const TapGrid& grid : phase.grids) {
      if (grid.source < 0 || size_t(grid.source) >= layer.sources.size()) fail("a tap of no source");
    }
  }
}

}  // namespace

std::string print_layer(const OverlayLayer& layer) {
  Json phases = Json::array(), sources = Json::array();
  for (const Phase& phase : layer.phases) phases.push_back(print_phase(phase));
  for (const LayerSource& s : layer.sources) {
    sources.push_back(Json::array({s.channels, s.height, s.width, s.bipolar}));
    if (s.planes > 1) {
      sources.back().push_back(s.plane);
      sources.back().push_back(s.planes);
    }
    if (layer.kind != OverlayLayerKind::kProduct) continue;
    for (const int value : {s.zero_point, int(s.one_position), int(s.one_channel)})
      sources.back().push_back(value);
  }
  const std::vector<int64_t>& weights = layer.weights.shape().dims();
  Json value = {{"name", layer.name},
                {"op", layer.op},
                {"kind", kKinds[int(layer.kind)]},
                {"pattern", kPatterns[int(layer.pattern)]},
                {"batch", layer.batch},
                {"out", {layer.out_channels, layer.out_height, layer.out_width}},
                {"sources", std::move(sources)},
                {"steps", {layer.in_step_y, layer.in_step_x, layer.out_step_y, layer.out_step_x}},
                {"padding", layer.pad_value},
                {"phases", std::move(phases)},
                {"groups", {layer.group_inputs, layer.group_outputs}},
                {"pass_shift", layer.pass_shift},
                {"weight_bits", layer.weight_bits},
                {"input_magnitude", layer.input_magnitude},
                {"weights", {{"type", name(layer.weights.type())}, {"shape", weights}}},
                {"weight_positions", layer.weight_positions},
                {"weight_planes", layer.weight_planes},
                {"weight_magnitude", layer.weight_magnitude},
                {"diagonal", layer.diagonal},
                {"output", print_output(layer.output)},
                {"foldable", layer.foldable},
                {"fold", layer.fold ? print_fold(*layer.fold) : Json()},
                {"macs", layer.macs}};
  if (layer.pair != OverlayLayer::Pair::kProduct) value["pair"] = kPairs[int(layer.pair)];
  if (layer.out_plane > 0) value["planes_out"] = {layer.out_plane, layer.result_channels};
  return json_text(value);
}

OverlayLayer parse_layer(const std::string& text, const std::string& source_name) {
  return with_context(source_name, [&] {
    try {
      OverlayLayer layer = parse_fields(parse_json(text, "the text"));
      check(layer);
      return layer;
    } catch (const Json::exception& error) {
      throw Error(ErrorKind::kInvalidInput, fmt::format("no layer: {}", error.what()));
    }
  });
}

}  // namespace tilewright

// A layer is a matrix unit whose rows are scaled and biased so that the element is its high bits, clipped.
// The clips stand behind the unit's last registers, before the next unit's first sums.
#include "tilewright/pipeline/constant/constant_network.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <map>
#include <utility>

#include "tilewright/base/error.h"
#include "tilewright/pipeline/constant/matrix_unit.h"
#include "tilewright/pipeline/constant/signed_digits.h"
#include "tilewright/pipeline/constant/step_scale.h"

namespace tilewright::pipeline {
namespace {

using netlist::Direction;
using netlist::NetId;
using netlist::Operation;

// Why a layer is no matrix of constants; empty if it is one.
std::string obstacle(const Network& network, const Layer& layer) {
  const TensorShape& in = network.tensors[size_t(layer.input)].shape;
  const TensorShape& out = network.tensors[size_t(layer.output)].shape;
  const LayerWindow& window = layer.window;
  if (network.number != NumberType::kInteger) return "its numbers are wide fixed point";
  if (layer.kind != LayerKind::kConvolution)
    return fmt::format("it is no product of all channels ({})", kind_name(layer.kind));
  if (out.rows != 1 || out.columns != 1 || window.rows != in.rows || window.columns != in.columns ||
      window.top != 0 || window.left != 0) {
    return "its window does not see the whole input at once";
  }
  if (layer.add) return "it adds or multiplies another tensor";
  if (layer.lookup) return "its activation is a table";
  for (const int tensor : {layer.input, layer.output}) {
    if (network.tensors[size_t(tensor)].part) return "its tensor is a part of another one";
  }
  return "";
}

void check_layers(const Network& network) {
  Diagnostics refusals;
  int tensor = network.input;
  for (const Layer& layer : network.layers) {
    std::string why = obstacle(network, layer);
    if (why.empty() && layer.input != tensor) why = "it does not follow the layer before it alone";
    if (!why.empty()) {
      refusals.error(ErrorKind::kUnsupported, fmt::format("layer '{}'", layer.name), "constant weights", why,
                     "constant weights take a chain of dense layers; use --form auto");
    }
    tensor = layer.output;
  }
  refusals.raise_if_any();
}

// A layer as a matrix, and what is made of its rows.
struct MatrixLayer {
  ConstantMatrix matrix;
  std::vector<StepScale> scales;
};

// Elements that mean -1 and +1 arrive as bits: twice the weight, less the weight.
MatrixLayer matrix_layer(const Network& network, const Layer& layer, const std::vector<NumberRange>& inputs) {
  MatrixLayer result;
  ConstantMatrix& matrix = result.matrix;
  matrix.columns = int(inputs.size());
  matrix.rows = int(network.tensors[size_t(layer.output)].shape.channels);
  matrix.weights = layer.weights;
  matrix.offsets.assign(size_t(matrix.rows), 0);
  for (int row = 0; row < matrix.rows; ++row) {
    matrix.offsets[size_t(row)] = layer.finish.bias[size_t(row)];
    for (int column = 0; column < matrix.columns; ++column) {
      if (!network.tensors[size_t(layer.input)].bipolar) break;
      int32_t& weight = matrix.weights[size_t(row) * size_t(matrix.columns) + size_t(column)];
      matrix.offsets[size_t(row)] -= weight;
      weight *= 2;
    }
  }
  const LayerFinish& finish = layer.finish;
  for (int row = 0; row < matrix.rows; ++row) {
    const NumberRange sums = row_range(matrix, row, inputs);
    if (sums.low < INT32_MIN || sums.high > INT32_MAX) {
      throw Error(ErrorKind::kUnsupported,
                  fmt::format("layer '{}': sums of channel {} leave 32 bits", layer.name, row),
                  "use narrower activations or weights");
    }
    const Requantization& scale = finish.scale_of(row);
    const auto element = [&](int64_t sum) {
      return clip(scaled(int32_t(sum), scale) + finish.zero_point, finish.clip_low, finish.clip_high);
    };
    result.scales.push_back(with_context(fmt::format("layer '{}', channel {}", layer.name, row), [&] {
      return fit_steps(element, sums, decode_scale(scale), finish.zero_point);
    }));
  }
  for (int row = 0; row < matrix.rows; ++row) {
    const StepScale& scale = result.scales[size_t(row)];
    matrix.factors.push_back(scale.factor);
    matrix.offsets[size_t(row)] = matrix.offsets[size_t(row)] * scale.factor + scale.offset;
    if (scale.low != scale.high) continue;
    for (int column = 0; column < matrix.columns; ++column) {  // nothing depends on the inputs
      matrix.weights[size_t(row) * size_t(matrix.columns) + size_t(column)] = 0;
    }
    matrix.offsets[size_t(row)] = scale.low * (int64_t{1} << scale.shift);
  }
  return result;
}

class NetworkWriter {
 public:
  NetworkWriter(const Network& network, const ConstantNetworkOptions& options)
      : network_(network), options_(options), top_(options.name) {
    TILEWRIGHT_CHECK(options.levels > 0, "no levels between registers");
  }

  ConstantNetwork write() {
    check_layers(network_);
    enable_ = top_.add_port("enable", Direction::kInput, 1);
    const NetId in_valid = top_.add_port("in_valid", Direction::kInput, 1);
    const NetworkTensor& input = network_.tensors[size_t(network_.input)];
    const int64_t half = int64_t{1} << (input.bits - 1);
    const NumberRange range = input.bipolar ? NumberRange{0, 1} : NumberRange{-half, half - 1};
    for (int64_t i = 0; i < input.shape.elements(); ++i) {
      nets_.push_back(top_.add_port(fmt::format("in{}", i), Direction::kInput, range_bits(range)));
      ranges_.push_back(range);
    }
    for (size_t i = 0; i < network_.layers.size(); ++i) add_layer(i);
    ++result_.latency;  // the last elements' registers
    const NetId out_valid = top_.add_port("out_valid", Direction::kOutput, 1);
    const NetId valid = top_.add_net("valid", 1);
    top_.pipelines.push_back({"valid_delay", result_.latency, 1, enable_, in_valid, valid});
    top_.connect(out_valid, valid);
    for (size_t i = 0; i < nets_.size(); ++i) {
      const int width = range_bits(ranges_[i]);
      const NetId q = top_.add_net(fmt::format("result{}", i), width);
      top_.registers.push_back({q, nets_[i], enable_, 0});
      top_.connect(top_.add_port(fmt::format("out{}", i), Direction::kOutput, width), q);
    }
    result_.outputs = ranges_;
    result_.design.top = options_.name;
    result_.design.modules.push_back(std::move(top_));
    return std::move(result_);
  }

 private:
  MatrixSolveOptions solve_options(const Layer& layer) const {
    MatrixSolveOptions solve = options_.solve;
    size_t all = 0;
    for (const Layer& one : network_.layers) all += one.weights.size();
    solve.cpu_seconds *= double(layer.weights.size()) / double(std::max<size_t>(all, 1));
    return solve;
  }

  void add_layer(size_t index) {
    const Layer& layer = network_.layers[index];
    const MatrixLayer rows = matrix_layer(network_, layer, ranges_);
    const SolvedMatrix solved = with_context(fmt::format("layer '{}'", layer.name), [&] {
      return solve_matrix(rows.matrix, ranges_, solve_options(layer));
    });
    MatrixUnitOptions unit_options;
    unit_options.name = fmt::format("{}_layer{}", options_.name, index);
    unit_options.levels = options_.levels;
    const MatrixUnit unit = make_matrix_unit(solved.graph, unit_options);
    std::map<std::string, NetId> pins = {{"enable", enable_}};
    for (size_t i = 0; i < nets_.size(); ++i) pins[fmt::format("in{}", i)] = nets_[i];
    std::vector<NetId> sums;
    for (size_t i = 0; i < solved.graph.outputs.size(); ++i) {
      const int bits = solved.graph.outputs[i].bits();
      sums.push_back(top_.add_net(fmt::format("layer{}_sum{}", index, i), bits));
      pins[fmt::format("out{}", i)] = sums.back();
    }
    top_.add_instance(layer.name, unit.module.name, {}, std::move(pins));
    result_.design.modules.push_back(unit.module);
    result_.latency += unit.latency;
    describe(layer, rows, solved, unit.latency);
    nets_.clear(), ranges_.clear();
    for (size_t i = 0; i < sums.size(); ++i) {
      const StepScale& scale = rows.scales[i];
      nets_.push_back(element_of(sums[i], solved.graph.outputs[i].range, scale));
      ranges_.push_back({scale.low, scale.high});
    }
  }

  void describe(const Layer& layer, const MatrixLayer& rows, const SolvedMatrix& solved, int latency) {
    ConstantLayer& line = result_.layers.emplace_back();
    line.name = layer.name;
    line.rows = rows.matrix.rows, line.columns = rows.matrix.columns;
    line.nonzero = int64_t(layer.weights.size()) - std::count(layer.weights.begin(), layer.weights.end(), 0);
    line.luts = solved.graph.luts();
    for (const StepScale& scale : rows.scales) line.scale_digits += digit_count(scale.factor) - 1;
    line.depth = solved.graph.depth(), line.latency = latency;
    line.bound = solved.bound, line.search = solved.search, line.cpu_seconds = solved.cpu_seconds;
  }

  int width_of(NetId net) const { return top_.nets[size_t(net)].width; }
  NetId constant(int width, int64_t value) {
    return top_.add_constant(width, uint64_t(value) & ((uint64_t{1} << width) - 1));
  }
  NetId slice(NetId net, int low, int width) {
    if (low == 0 && width == width_of(net)) return net;
    return top_.add_assign(Operation::kSlice, {net}, width, uint64_t(low));
  }
  NetId reduce(Operation operation, NetId net) {
    return width_of(net) == 1 ? net : top_.add_assign(operation, {net}, 1);
  }
  NetId inverse(NetId net) { return top_.add_assign(Operation::kNot, {net}, width_of(net)); }
  NetId both(NetId a, NetId b) { return top_.add_assign(Operation::kAnd, {a, b}, 1); }

  // The bits above the shift, between low and high.
  NetId element_of(NetId sum, const NumberRange& sums, const StepScale& scale) {
    const NumberRange element{scale.low, scale.high};
    const int width = range_bits(element);
    if (scale.low == scale.high) return constant(width, scale.low);
    const NumberRange values{sums.low >> scale.shift, sums.high >> scale.shift};
    const int value_bits = range_bits(values);
    const NetId value = slice(sum, std::min(scale.shift, width_of(sum) - value_bits), value_bits);
    const bool has_sign = values.low < 0;
    if (scale.dip != 0) {
      const NumberRange dipped{sums.low - scale.dip, sums.high};
      const int wide = range_bits(dipped);
      const NetId upper = resized(sum, wide, sums.low < 0);
      const NetId lower = top_.add_assign(Operation::kSubtract, {upper, constant(wide, scale.dip)}, wide);
      StepScale one_line = scale;
      one_line.dip = 0;
      return element_of(
          top_.add_assign(Operation::kMux, {above(value, has_sign, scale.turn), upper, lower}, wide), dipped,
          one_line);
    }
    NetId result = resized(value, width, has_sign);
    if (values.low < scale.low) {
      result = top_.add_assign(
          Operation::kMux, {below(value, has_sign, scale.low), constant(width, scale.low), result}, width);
    }
    if (values.high > scale.high) {
      result = top_.add_assign(
          Operation::kMux, {above(value, has_sign, scale.high), constant(width, scale.high), result}, width);
    }
    return result;
  }

  NetId resized(NetId value, int width, bool has_sign) {
    if (width <= width_of(value)) return slice(value, 0, width);
    return top_.add_assign(has_sign ? Operation::kSignExtend : Operation::kZeroExtend, {value}, width);
  }
  // Whether a number is below `low`, or above `high`. Ends beside powers of two are told by the bits above
  // them.
  NetId below(NetId value, bool has_sign, int64_t low) {
    if (!has_sign) return top_.add_assign(Operation::kLess, {value, constant(width_of(value), low)}, 1);
    const int width = width_of(value), bits = std::bit_width(uint64_t(-low)) - 1;
    const NetId sign = slice(value, width - 1, 1);
    if (low == 0) return sign;
    if (low < 0 && (-low & (-low - 1)) == 0 && width - 1 > bits) {
      return both(sign, inverse(reduce(Operation::kReduceAnd, slice(value, bits, width - 1 - bits))));
    }
    return top_.add_assign(Operation::kLessSigned, {value, constant(width, low)}, 1);
  }
  NetId above(NetId value, bool has_sign, int64_t high) {
    const int width = width_of(value), top = has_sign ? width - 1 : width;
    const int bits = high >= 0 ? std::bit_width(uint64_t(high)) : 0;
    if (high >= 0 && (high & (high + 1)) == 0 && top > bits) {
      const NetId over = reduce(Operation::kReduceOr, slice(value, bits, top - bits));
      return has_sign ? both(over, inverse(slice(value, width - 1, 1))) : over;
    }
    return top_.add_assign(has_sign ? Operation::kLessSigned : Operation::kLess,
                           {constant(width, high), value}, 1);
  }

  const Network& network_;
  const ConstantNetworkOptions& options_;
  netlist::Module top_;
  ConstantNetwork result_;
  NetId enable_ = netlist::kNoNet;
  std::vector<NetId> nets_;  // of the tensor at hand
  std::vector<NumberRange> ranges_;
};

}  // namespace

int64_t ConstantNetwork::luts() const {
  int64_t total = 0;
  for (const ConstantLayer& layer : layers) total += layer.luts;
  return total;
}

ConstantNetwork build_constant_network(const Network& network, const ConstantNetworkOptions& options) {
  return NetworkWriter(network, options).write();
}

}  // namespace tilewright::pipeline

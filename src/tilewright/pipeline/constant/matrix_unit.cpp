// Sums are written so that Yosys makes exactly the carry chain that the graph counts on. An operand's own
// bits reach no further than they do, so high bits that one operand has alone pass. Subtraction keeps the
// minuend at the chain's data input, and a subtrahend filled up with ones has no complement above its bits. A
// constant bit below the lowest one keeps single-use sums from being merged into sums of three, which Yosys
// builds of compressors: 49 k instead of 47 k tables for 64 x 64 weights of 8 bits.
#include "tilewright/pipeline/constant/matrix_unit.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <utility>
#include <vector>

#include "tilewright/base/error.h"
#include "tilewright/base/integer_math.h"

namespace tilewright::pipeline {
namespace {

using netlist::Direction;
using netlist::kNoNet;
using netlist::NetId;
using netlist::Operation;

class UnitWriter {
 public:
  UnitWriter(const AdderGraph& graph, const MatrixUnitOptions& options)
      : graph_(graph), levels_(options.levels), module_(options.name) {
    TILEWRIGHT_CHECK(options.levels >= 0, "a negative number of levels");
    stages_ = levels_ == 0 ? 0 : int(std::max<int64_t>(1, ceil_div(graph.depth(), levels_)));
  }

  MatrixUnit write() {
    if (stages_ > 0) enable_ = module_.add_port("enable", Direction::kInput, 1);
    for (size_t i = 0; i < graph_.inputs.size(); ++i) {
      ports_.push_back(
          module_.add_port(fmt::format("in{}", i), Direction::kInput, graph_.inputs[i].port_bits));
    }
    for (const GraphOutput& output : graph_.outputs) {
      outs_.push_back(
          module_.add_port(fmt::format("out{}", outs_.size()), Direction::kOutput, output.bits()));
    }
    node_nets_.resize(graph_.inputs.size() + graph_.sums.size());
    for (size_t i = 0; i < graph_.inputs.size(); ++i) {
      if (graph_.inputs[i].width > 0) place(i, 0, input_field(i));
    }
    for (size_t i = 0; i < graph_.sums.size(); ++i) {
      const GraphSum& sum = graph_.sums[i];
      const int stage = stage_of(sum.depth);
      place(graph_.inputs.size() + i, stage, add_sum(sum, stage, fmt::format("sum{}", i)));
    }
    for (size_t i = 0; i < graph_.outputs.size(); ++i) add_output(i);
    return {std::move(module_), stages_};
  }

 private:
  struct StagedNet {
    int first_stage = 0;
    std::vector<NetId> nets;  // from that stage on
  };

  // The row of registers that sums of this depth stand before.
  int stage_of(int depth) const { return levels_ == 0 || depth == 0 ? 0 : (depth - 1) / levels_; }
  void place(size_t node, int stage, NetId net) { node_nets_[node] = {stage, {net}}; }

  // Names are unique by construction, so the module need not look for them.
  NetId new_net(const std::string& name, int width) {
    module_.nets.push_back({name, width});
    return NetId(module_.nets.size() - 1);
  }
  NetId assign(Operation operation, std::vector<NetId> operands, int width, uint64_t value = 0,
               const std::string& name = {}) {
    const NetId result = new_net(name.empty() ? fmt::format("part{}", ++parts_) : name, width);
    module_.assigns.push_back({result, operation, std::move(operands), value});
    return result;
  }
  NetId constant(int width, uint64_t value) {
    NetId& known = constants_.try_emplace({width, value}, kNoNet).first->second;
    if (known == kNoNet) {
      known = assign(Operation::kConstant, {}, width, value, fmt::format("constant_{}_{:x}", width, value));
    }
    return known;
  }
  static uint64_t ones(int width) { return (uint64_t{1} << width) - 1; }
  int width_of(NetId net) const { return module_.nets[size_t(net)].width; }
  NetId inverse(NetId net) { return assign(Operation::kNot, {net}, width_of(net)); }
  // Bits [low, low + width) of a net.
  NetId slice(NetId net, int low, int width) {
    if (low == 0 && width == width_of(net)) return net;
    return assign(Operation::kSlice, {net}, width, uint64_t(low));
  }
  // The parts that exist, highest first, side by side.
  NetId join(std::vector<NetId> parts, const std::string& name = {}) {
    std::erase(parts, kNoNet);
    int width = 0;
    for (const NetId part : parts) width += width_of(part);
    if (parts.size() == 1 && name.empty()) return parts[0];
    return assign(Operation::kConcatenate, std::move(parts), width, 0, name);
  }
  NetId fill(int width, bool one) { return width > 0 ? constant(width, one ? ones(width) : 0) : kNoNet; }
  NetId delay(NetId net, const std::string& name) {
    const NetId q = new_net(name, width_of(net));
    module_.registers.push_back({q, net, enable_, 0});
    return q;
  }

  NetId at_stage(int node, int stage) {
    StagedNet& staged = node_nets_[size_t(node)];
    TILEWRIGHT_CHECK(!staged.nets.empty() && stage >= staged.first_stage, "an operand after its sum");
    while (staged.first_stage + int(staged.nets.size()) <= stage) {
      const int next = staged.first_stage + int(staged.nets.size());
      staged.nets.push_back(delay(staged.nets.back(), fmt::format("node{}_{}", node, next)));
    }
    return staged.nets[size_t(stage - staged.first_stage)];
  }

  NetId input_field(size_t i) {
    const GraphInput& input = graph_.inputs[i];
    if (!input.flipped) return slice(ports_[i], 0, input.width);
    const NetId sign = inverse(slice(ports_[i], input.width - 1, 1));
    return join({sign, input.width > 1 ? slice(ports_[i], 0, input.width - 1) : kNoNet});
  }

  // Bits [low, low + width) of a net that begins at `shift`, filled up at the top.
  NetId window(NetId net, int shift, int low, int width, bool fill_ones) {
    const int cut = low - shift, have = std::min(width_of(net) - cut, width);
    return join({fill(width - have, fill_ones), slice(net, cut, have)});
  }

  NetId add_sum(const GraphSum& sum, int stage, const std::string& name) {
    const NetId a = at_stage(sum.a, stage), b = at_stage(sum.b, stage);
    const bool b_low = sum.shift_b < sum.shift_a;
    const int low = std::max(sum.shift_a, sum.shift_b);
    if (sum.overlap == 0) {
      const NetId own = sum.subtract ? inverse(b) : b;
      const int gap = low - width_of(b_low ? b : a);
      const NetId whole = join({b_low ? a : own, fill(gap, false), b_low ? own : a});
      return slice(whole, 0, sum.width);
    }
    const int width = sum.width - low;
    const NetId below = constant(1, 0);
    const NetId chain_a = join({window(a, sum.shift_a, low, width, false), below});
    const NetId chain_b = join({window(b, sum.shift_b, low, width, sum.subtract),
                                sum.subtract && !sum.carry ? constant(1, 1) : below});
    const NetId chain =
        assign(sum.subtract ? Operation::kSubtract : Operation::kAdd, {chain_a, chain_b}, width + 1);
    const NetId high = slice(chain, 1, width);
    if (low == 0) return high;
    const NetId alone = slice(b_low ? b : a, 0, low);
    return join({high, b_low && sum.subtract ? inverse(alone) : alone}, name);
  }

  void add_output(size_t i) {
    const GraphOutput& output = graph_.outputs[i];
    const int bits = output.bits(), width = bits - output.shift;
    int depth = 0;
    NetId value = kNoNet;
    if (output.node < 0) {
      value = constant(bits, uint64_t(output.offset) & ones(bits));
    } else {
      TILEWRIGHT_CHECK(width > 0, "an output without its node");
      depth = graph_.number(output.node).depth + (output.is_sum() ? 1 : 0);
      value = window(at_stage(output.node, stage_of(depth)), 0, 0, width, false);
      if (output.is_sum()) {
        const NetId offset = constant(width, uint64_t(output.offset >> output.shift) & ones(width));
        value = output.negated ? assign(Operation::kSubtract, {offset, value}, width)
                               : assign(Operation::kAdd, {value, offset}, width);
      }
      if (output.shift > 0) {
        value = join({value, constant(output.shift, uint64_t(output.offset) & ones(output.shift))});
      }
    }
    for (int stage = stage_of(depth); stage < stages_; ++stage) {
      value = delay(value, fmt::format("out{}_{}", i, stage));
    }
    module_.connect(outs_[i], value);
  }

  const AdderGraph& graph_;
  const int levels_;
  int stages_ = 0;
  netlist::Module module_;
  NetId enable_ = kNoNet;
  std::vector<NetId> ports_, outs_;
  std::vector<StagedNet> node_nets_;
  std::map<std::pair<int, uint64_t>, NetId> constants_;
  int parts_ = 0;
};

}  // namespace

MatrixUnit make_matrix_unit(const AdderGraph& graph, const MatrixUnitOptions& options) {
  return UnitWriter(graph, options).write();
}

}  // namespace tilewright::pipeline

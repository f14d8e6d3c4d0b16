// Addresses are followed through the operations over numbers mod 2^32, as the fabric computes them; where two
// of them meet is a linear congruence in the distance of the threads.
#include "tilewright/cgra/graph/meeting_stores.h"

#include <algorithm>
#include <bit>
#include <map>
#include <optional>
#include <span>

namespace tilewright::cgra {
namespace {

// slope * thread + offset, mod 2^32.
struct Line {
  uint32_t slope = 0, offset = 0;
};
using MaybeLine = std::optional<Line>;

MaybeLine line_product(const Line& a, const Line& b) {
  if (b.slope == 0) return Line{a.slope * b.offset, a.offset * b.offset};
  if (a.slope == 0) return line_product(b, a);
  return {};
}

// Of two operands; nothing where the result is no line.
MaybeLine combined(Opcode op, const Line& a, const Line& b) {
  switch (op) {
    case Opcode::kAdd:
      return Line{a.slope + b.slope, a.offset + b.offset};
    case Opcode::kSubtract:
      return Line{a.slope - b.slope, a.offset - b.offset};
    case Opcode::kMultiply:
      return line_product(a, b);
    case Opcode::kShiftLeft:
      return b.slope == 0 ? line_product(a, {0, 1u << (b.offset & 31)}) : MaybeLine{};
    default:
      return {};
  }
}

MaybeLine combined(Opcode op, std::span<const MaybeLine> operands) {
  if (operands.empty() || !operands[0]) return {};
  if (op == Opcode::kCopy) return operands[0];
  if (op == Opcode::kNegate) return combined(Opcode::kSubtract, Line{}, *operands[0]);
  MaybeLine value = operands[0];
  if (operands.size() < 2) return {};
  for (const MaybeLine& next : operands.subspan(1))
    value = value && next ? combined(op, *value, *next) : MaybeLine{};
  return value;
}

class Addresses {
 public:
  explicit Addresses(const DataflowGraph& graph) : graph_(graph), values_(graph.nodes.size()) {
    for (const int node : topological_order(graph)) values_[size_t(node)] = value(graph.nodes[size_t(node)]);
  }

  // Where a store or output writes.
  MaybeLine address(const DataflowNode& node) const {
    const bool counts = node.op == Opcode::kOutput || node.operands.size() < 2;
    MaybeLine sum = Line{counts ? 1u : 0u, 0};
    for (size_t i = 1; i < node.operands.size() && sum; ++i) {
      const MaybeLine next = operand(node.operands[i]);
      sum = next ? combined(Opcode::kAdd, *sum, *next) : MaybeLine{};
    }
    return sum;
  }

 private:
  MaybeLine operand(const Operand& operand) const {
    switch (operand.kind) {
      case OperandKind::kConstant:
        return Line{0, uint32_t(operand.value)};
      case OperandKind::kThread:
        return Line{1, 0};
      case OperandKind::kNode:
        return operand.distance == 0 ? values_[size_t(operand.index)] : MaybeLine{};
      case OperandKind::kVariable:
        break;
    }
    return {};
  }

  MaybeLine value(const DataflowNode& node) const {
    std::vector<MaybeLine> operands;
    for (const Operand& given : node.operands) operands.push_back(operand(given));
    if (!node.then) return combined(node.op, operands);
    if (operands.size() != 3) return {};
    const MaybeLine both[] = {combined(node.op, std::span(operands).first(2)), operands[2]};
    return combined(*node.then, both);
  }

  const DataflowGraph& graph_;
  std::vector<MaybeLine> values_;
};

// The inverse of an odd number mod 2^32: each step doubles the bits that are right.
uint32_t inverse(uint32_t odd) {
  uint32_t found = odd;
  for (int i = 0; i < 4; ++i) found *= 2 - odd * found;
  return found;
}

constexpr StorePair kAnywhere{0, 0, true, 1, 1};

// Meeting: a.slope * s + a.offset = b.slope * t + b.offset mod 2^32, for threads s of the first and t of the
// second.
std::optional<StorePair> meeting(const Line& a, const Line& b) {
  const uint32_t gap = b.offset - a.offset;
  const auto divides = [gap](uint32_t number) {  // whether some multiple of it is the gap
    return number == 0 ? gap == 0 : std::countr_zero(number) <= std::countr_zero(gap);
  };
  if (a.slope != b.slope) {
    if (!divides(a.slope) && !divides(b.slope)) return {};
    return kAnywhere;
  }
  if (!divides(a.slope)) return {};
  // slope * (s - t) = gap: one solution mod 2^32 / (the power of two in the slope).
  const int twos = a.slope == 0 ? 32 : std::countr_zero(a.slope);
  const int64_t period = int64_t{1} << (32 - twos);
  const int64_t distance = twos == 32 ? 0 : int64_t((gap >> twos) * inverse(a.slope >> twos)) & (period - 1);
  return StorePair{0, 0, distance == 0, distance == 0 ? period : distance, period - distance};
}

}  // namespace

std::vector<StorePair> meeting_stores(const DataflowGraph& graph) {
  std::map<int, std::vector<int>> stores;  // by array
  for (size_t node = 0; node < graph.nodes.size(); ++node) {
    const DataflowNode& given = graph.nodes[node];
    if ((given.op == Opcode::kStore || given.op == Opcode::kOutput) && given.array >= 0)
      stores[given.array].push_back(int(node));
  }
  std::erase_if(stores, [](const auto& entry) { return entry.second.size() < 2; });
  if (stores.empty()) return {};
  const Addresses addresses(graph);
  std::vector<StorePair> pairs;
  for (const auto& [array, nodes] : stores) {
    std::vector<MaybeLine> lines;
    for (const int node : nodes) lines.push_back(addresses.address(graph.nodes[size_t(node)]));
    for (size_t second = 1; second < nodes.size(); ++second) {
      for (size_t first = 0; first < second; ++first) {
        std::optional<StorePair> pair = kAnywhere;
        if (lines[first] && lines[second]) pair = meeting(*lines[first], *lines[second]);
        if (!pair) continue;
        pair->first = nodes[first];
        pair->second = nodes[second];
        pairs.push_back(*pair);
      }
    }
  }
  std::sort(pairs.begin(), pairs.end(), [](const StorePair& a, const StorePair& b) {
    return std::pair(a.first, a.second) < std::pair(b.first, b.second);
  });
  return pairs;
}

std::vector<uint8_t> waiting_flows(const DataflowGraph& graph) {
  const std::vector<int> flow = graph.flows();
  std::vector<uint8_t> read(graph.variables.size(), 0);
  std::vector<uint8_t> waits(flow.empty() ? 0 : size_t(*std::max_element(flow.begin(), flow.end())) + 1, 0);
  for (size_t node = 0; node < graph.nodes.size(); ++node) {
    for (const Operand& operand : graph.nodes[node].operands) {
      if (operand.kind != OperandKind::kVariable || !graph.variables[size_t(operand.index)].table.empty())
        continue;
      read[size_t(operand.index)] = 1;
      waits[size_t(flow[node])] = 1;
    }
  }
  for (size_t node = 0; node < graph.nodes.size(); ++node) {
    const int sends = graph.nodes[node].sends;
    if (sends >= 0 && read[size_t(sends)]) waits[size_t(flow[node])] = 1;
  }
  return waits;
}

}  // namespace tilewright::cgra

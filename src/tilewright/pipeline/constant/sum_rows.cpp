// Every pair among the shallowest and narrowest terms is compared before each sum.
#include "tilewright/pipeline/constant/sum_rows.h"

#include <algorithm>
#include <limits>
#include <tuple>

namespace tilewright::pipeline {
namespace {

constexpr size_t kWindow = 48;

struct Choice {
  size_t first = 0, second = 1;
};

Choice choose_pair(const GraphBuilder& builder, const std::vector<ShiftedNode>& terms, size_t window,
                   int depth) {
  const auto load = [](int levels) { return int64_t{1} << levels; };
  int64_t loads = 0;
  for (const ShiftedNode& term : terms) loads += load(builder.number(term.node).depth);
  Choice best;
  std::tuple<int, int, int> least{std::numeric_limits<int>::max(), 0, 0};
  for (size_t i = 0; i < window; ++i) {
    const GraphNumber& a = builder.number(terms[i].node);
    for (size_t j = i + 1; j < window; ++j) {
      const GraphNumber& b = builder.number(terms[j].node);
      const GraphSum sum = builder.plan(terms[i], terms[j]).sum;
      if (loads - load(a.depth) - load(b.depth) + load(sum.depth) > load(depth)) continue;
      const int growth = sum.luts() + sum.width - a.width - b.width;
      const std::tuple<int, int, int> cost{growth, sum.luts(), sum.depth};
      if (cost < least) least = cost, best = {i, j};
    }
  }
  return best;
}

}  // namespace

std::optional<ShiftedNode> sum_terms(GraphBuilder& builder, std::vector<ShiftedNode> terms, int depth,
                                     const CpuLimit& limit) {
  if (terms.empty()) return std::nullopt;
  const auto key = [&](const ShiftedNode& term) {
    const GraphNumber& number = builder.number(term.node);
    return std::tuple{number.depth, number.width, term.shift, term.node, term.negative};
  };
  while (terms.size() > 1) {
    std::sort(terms.begin(), terms.end(),
              [&](const ShiftedNode& a, const ShiftedNode& b) { return key(a) < key(b); });
    const size_t window = limit.over() ? 2 : std::min(kWindow, terms.size());
    const Choice choice = choose_pair(builder, terms, window, depth);
    terms[choice.first] = builder.join(terms[choice.first], terms[choice.second]);
    terms.erase(terms.begin() + std::ptrdiff_t(choice.second));
  }
  return terms.front();
}

}  // namespace tilewright::pipeline

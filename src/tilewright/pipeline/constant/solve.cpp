// Rows that are zero, repeated, negated or shifted are taken out first, so searches see rows that differ.
#include "tilewright/pipeline/constant/solve.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cstdlib>
#include <map>
#include <optional>

#include "tilewright/base/error.h"
#include "tilewright/pipeline/constant/cpu_limit.h"
#include "tilewright/pipeline/constant/row_terms.h"
#include "tilewright/pipeline/constant/row_tree.h"
#include "tilewright/pipeline/constant/sum_rows.h"

namespace tilewright::pipeline {
namespace {

constexpr int32_t kMostWeight = 1 << 15;
constexpr int64_t kMostInput = int64_t{1} << 47, kMostSum = int64_t{1} << 56;

void check_matrix(const ConstantMatrix& matrix, const std::vector<NumberRange>& ranges) {
  const auto refuse = [](ErrorKind kind, const std::string& message, const std::string& hint) {
    throw Error(kind, "constant matrix: " + message, hint);
  };
  if (matrix.rows < 1 || matrix.columns < 1 ||
      matrix.weights.size() != size_t(matrix.rows) * size_t(matrix.columns)) {
    refuse(ErrorKind::kInvalidInput,
           fmt::format("{} weights for {} x {}", matrix.weights.size(), matrix.rows, matrix.columns),
           "give one weight for each row and column, and at least one of both");
  }
  for (const std::vector<int64_t>& numbers : {matrix.factors, matrix.offsets}) {
    if (!numbers.empty() && numbers.size() != size_t(matrix.rows)) {
      refuse(ErrorKind::kInvalidInput,
             fmt::format("{} factors or offsets for {} rows", numbers.size(), matrix.rows),
             "give one for each row");
    }
  }
  if (ranges.size() != size_t(matrix.columns)) {
    refuse(ErrorKind::kInvalidInput, fmt::format("{} ranges for {} columns", ranges.size(), matrix.columns),
           "give one range per input");
  }
  for (size_t i = 0; i < ranges.size(); ++i) {
    if (ranges[i].low > ranges[i].high || std::abs(ranges[i].low) >= kMostInput ||
        std::abs(ranges[i].high) >= kMostInput) {
      refuse(ErrorKind::kInvalidInput, fmt::format("input {} in [{}, {}]", i, ranges[i].low, ranges[i].high),
             "give the least value first, both of less than 48 bits");
    }
  }
  for (int row = 0; row < matrix.rows; ++row) {
    double most = 0;
    const int64_t factor = matrix.factor(row);
    if (factor < 1) {
      refuse(ErrorKind::kInvalidInput, fmt::format("factor {} of row {}", factor, row),
             "give factors from 1 on");
    }
    for (int column = 0; column < matrix.columns; ++column) {
      const int32_t weight = matrix.at(row, column);
      if (weight > kMostWeight || weight < -kMostWeight) {
        refuse(ErrorKind::kUnsupported, fmt::format("weight {} of row {}", weight, row),
               "use weights of at most 16 bits");
      }
      const NumberRange& range = ranges[size_t(column)];
      most += std::abs(double(weight)) * double(std::max(std::abs(range.low), std::abs(range.high)));
    }
    most = most * double(factor) + std::abs(double(matrix.offset(row)));
    if (most >= double(kMostSum)) {
      refuse(ErrorKind::kUnsupported, fmt::format("sums of row {} have more than 57 bits", row),
             "use narrower inputs or weights");
    }
  }
}

// What a row of the matrix is of one of the distinct rows, and what constant inputs and its offset add to it.
struct RowUse {
  int row = -1;  // -1: none
  int shift = 0;
  bool negative = false;
  int64_t factor = 1;  // odd
  int64_t constant = 0;
};

struct DistinctRows {
  ConstantMatrix matrix;
  std::vector<RowUse> uses;
  bool scaled = false;  // some have factors
};

DistinctRows distinct_rows(const ConstantMatrix& matrix, const std::vector<NumberRange>& ranges) {
  DistinctRows result;
  result.matrix.columns = matrix.columns;
  std::map<std::vector<int32_t>, int> known;
  for (int row = 0; row < matrix.rows; ++row) {
    std::vector<int32_t> weights(size_t(matrix.columns), 0);
    RowUse use;
    uint32_t bits = 0;
    int32_t first = 0;
    for (int column = 0; column < matrix.columns; ++column) {
      const int32_t weight = matrix.at(row, column);
      const NumberRange& range = ranges[size_t(column)];
      if (range.low == range.high) {
        use.constant += weight * range.low;
        continue;
      }
      weights[size_t(column)] = weight;
      bits |= uint32_t(weight);
      if (first == 0) first = weight;
    }
    const int even = std::countr_zero(uint64_t(matrix.factor(row)));
    use.factor = matrix.factor(row) >> even;
    use.constant = use.constant * matrix.factor(row) + matrix.offset(row);
    if (bits != 0) {
      use.shift = std::countr_zero(bits);
      use.negative = first < 0;
      for (int32_t& weight : weights) weight = (use.negative ? -weight : weight) >> use.shift;
      const auto [found, added] = known.try_emplace(weights, result.matrix.rows);
      use.row = found->second;
      if (added) {
        ++result.matrix.rows;
        result.matrix.weights.insert(result.matrix.weights.end(), weights.begin(), weights.end());
      }
      use.shift += even;
    }
    result.scaled = result.scaled || use.factor != 1;
    result.uses.push_back(use);
  }
  return result;
}

struct Search {
  std::string name;
  SharingRule rule;
  int tree_levels = 0;
};

Search nth_search(int attempt) {
  static const Search kFixed[] = {{"bits", {}},
                                  {"power 1.5", {.power = 1.5}},
                                  {"power 2", {.power = 2}},
                                  {"tree of rows", {.power = 2}, 3},
                                  {"power 1.2", {.power = 1.2}},
                                  {"power 2.5", {.power = 2.5}},
                                  {"non-adjacent form", {.all_digits = false}}};
  if (attempt < int(std::size(kFixed))) return kFixed[attempt];
  Search search{fmt::format("chance {}", attempt), {.power = 2, .noise = 0.03}};
  search.rule.seed = uint64_t(attempt);
  if (attempt % 2 == 0) search.rule.power = 1.5;
  return search;
}

constexpr int kSpareDepth = 3, kMostDepth = 40;

// The least depth at which the rows of a tree can be summed.
int least_depth(const RowTree& tree) {
  int depth = 0;
  for (int row = 0; row < tree.differences.rows; ++row) {
    int64_t digits = 0;
    for (int column = 0; column < tree.differences.columns; ++column) {
      digits += digit_count(tree.differences.at(row, column));
    }
    const RowOrigin& origin = tree.origins[size_t(row)];
    const int own = std::bit_width(uint64_t(std::max<int64_t>(digits, 1) - 1));
    // A parent that ends one level above leaves half of the load.
    depth = std::max(depth, own + origin.height + (origin.parent < 0 ? 0 : 1));
  }
  return depth;
}

// The distinct rows, each one term.
std::vector<std::optional<ShiftedNode>> build_rows(GraphBuilder& builder, const RowTree& tree,
                                                   const SharingRule& rule, int depth, bool read_again,
                                                   const CpuLimit& limit) {
  std::vector<int64_t> loads;
  for (const RowOrigin& origin : tree.origins) {
    const int64_t parent =
        origin.parent < 0 ? 0 : int64_t{1} << (depth - tree.origins[size_t(origin.parent)].height);
    loads.push_back((int64_t{1} << (depth - origin.height)) - parent);
  }
  RowTerms shared(builder, tree.differences, rule, std::move(loads));
  shared.share(limit);
  std::vector<std::optional<ShiftedNode>> results(tree.origins.size());
  for (const int row : tree.order) {
    std::vector<ShiftedNode> terms = shared.terms(row);
    const RowOrigin& origin = tree.origins[size_t(row)];
    if (origin.parent >= 0) {
      ShiftedNode parent = *results[size_t(origin.parent)];
      parent.negative = parent.negative != origin.negative;
      terms.push_back(parent);
    }
    const int first = builder.nodes();
    results[size_t(row)] = sum_terms(builder, std::move(terms), depth - origin.height, limit);
    builder.forget_forms(first, read_again || origin.height > 0 ? results[size_t(row)]->node : -1);
  }
  return results;
}

// The row times an odd factor, as shallow as can be.
ShiftedNode scaled_row(GraphBuilder& builder, const ShiftedNode& row, int64_t factor, const CpuLimit& limit) {
  std::vector<ShiftedNode> terms;
  for_each_digit(factor, [&](const Digit& digit) {
    terms.push_back({row.node, row.shift + digit.shift, row.negative != digit.negative});
  });
  const int depth = builder.number(row.node).depth + std::bit_width(terms.size() - 1);
  return *sum_terms(builder, std::move(terms), depth, limit);
}

AdderGraph build_graph(const ConstantMatrix& matrix, const std::vector<NumberRange>& ranges,
                       const DistinctRows& distinct, const RowTree& tree, const SharingRule& rule, int depth,
                       const CpuLimit& limit) {
  GraphBuilder builder(ranges);
  const std::vector<std::optional<ShiftedNode>> rows =
      build_rows(builder, tree, rule, depth, distinct.scaled, limit);
  AdderGraph& graph = builder.graph();
  for (int row = 0; row < matrix.rows; ++row) {
    const RowUse& use = distinct.uses[size_t(row)];
    GraphOutput output;
    output.range = row_range(matrix, row, ranges);
    output.offset = use.constant;
    if (use.row >= 0) {
      const ShiftedNode term = scaled_row(builder, *rows[size_t(use.row)], use.factor, limit);
      output.node = term.node;
      output.shift = term.shift + use.shift;
      output.negated = term.negative != use.negative;
      const int64_t bias = graph.number(term.node).bias << output.shift;
      output.offset += output.negated ? bias : -bias;
    }
    graph.outputs.push_back(output);
  }
  return std::move(graph);
}

}  // namespace

SolvedMatrix solve_matrix(const ConstantMatrix& matrix, const std::vector<NumberRange>& ranges,
                          const MatrixSolveOptions& options) {
  const CpuLimit limit(options.cpu_seconds);
  check_matrix(matrix, ranges);
  const DistinctRows distinct = distinct_rows(matrix, ranges);
  const int least = least_depth(make_row_tree(distinct.matrix, ranges, 0));
  const int depth = options.depth == 0 ? least + kSpareDepth : std::clamp(options.depth, least, kMostDepth);
  SolvedMatrix solved;
  solved.bound = lower_bound(distinct.matrix, ranges);
  int64_t fewest = 0;
  double longest = 0;  // of the searches so far: one that would not end in time is not begun
  for (int attempt = 0; attempt < std::max(1, options.attempts); ++attempt) {
    if (attempt > 0 && (distinct.matrix.rows == 0 || limit.used() + longest > options.cpu_seconds)) break;
    const Search search = nth_search(attempt);
    const RowTree tree = make_row_tree(distinct.matrix, ranges, search.tree_levels);
    if (search.tree_levels > 0 && least_depth(tree) > depth) continue;
    const double start = limit.used();
    AdderGraph graph = build_graph(matrix, ranges, distinct, tree, search.rule, depth, limit);
    ++solved.attempts;
    longest = std::max(longest, limit.used() - start);
    const int64_t luts = graph.luts();
    if (solved.attempts > 1 && luts >= fewest) continue;
    fewest = luts;
    solved.graph = std::move(graph);
    solved.search = search.name;
  }
  solved.cpu_seconds = limit.used();
  return solved;
}

}  // namespace tilewright::pipeline

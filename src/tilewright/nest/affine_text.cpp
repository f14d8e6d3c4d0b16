// A hand-written parser of
//   index = ["-"] term {("+" | "-") term},  term = factor ["*" factor],  factor = INTEGER | NAME
// with spaces anywhere between tokens, and its inverse. Numbers are limited to 2^40.
#include "tilewright/nest/affine_text.h"

#include <fmt/format.h>

#include <optional>

#include "tilewright/base/expression/expression_text.h"

namespace tilewright {
namespace {

constexpr int64_t kMostCoefficient = int64_t{1} << 40;

// A term's factor: a number or a dimension.
struct Factor {
  int64_t number = 1;
  std::optional<int> dimension;
};

Factor affine_factor(ExpressionText& text, const Workload& workload) {
  Factor factor;
  if (is_name(text.token())) {
    const std::string name(text.take());
    factor.dimension = workload.find_dimension(name);
    if (!factor.dimension) text.fail(fmt::format("there is no dimension '{}'", name));
    return factor;
  }
  const auto number = text.take_number<int64_t>();
  if (!number || *number > kMostCoefficient || *number < -kMostCoefficient)
    text.fail("a dimension or an integer up to 2^40 is expected");
  factor.number = *number;
  return factor;
}

void affine_term(ExpressionText& text, const Workload& workload, int64_t sign, Rank& rank) {
  const Factor first = affine_factor(text, workload);
  const bool product = text.take("*");
  const Factor second = product ? affine_factor(text, workload) : Factor{};
  if (first.dimension && second.dimension) text.fail("a product of two dimensions is not affine");
  if (product && !first.dimension && !second.dimension) text.fail("one factor of a product is a dimension");
  if (first.dimension || second.dimension) {
    rank.terms.push_back({first.dimension ? *first.dimension : *second.dimension,
                          sign * (first.dimension ? second.number : first.number)});
    return;
  }
  rank.offset += sign * first.number;
  if (rank.offset > kMostCoefficient || rank.offset < -kMostCoefficient)
    text.fail("the offset is beyond 2^40");
}

}  // namespace

bool parse_affine(const std::string& text, const Workload& workload, Rank& rank, std::string& problem) {
  rank.offset = 0;
  rank.terms.clear();
  ExpressionText tokens(text);
  try {
    for (int64_t sign = tokens.take("-") ? -1 : 1; sign != 0;) {
      affine_term(tokens, workload, sign, rank);
      sign = tokens.take("+") ? 1 : tokens.take("-") ? -1 : 0;
    }
    tokens.expect_end();
  } catch (const ExpressionProblem& found) {
    problem = found.message;
    return false;
  }
  return true;
}

std::string print_affine(const Rank& rank, const Workload& workload) {
  std::string text;
  for (const ProjectionTerm& term : rank.terms) {
    const std::string& name = workload.dimensions[size_t(term.dimension)].name;
    const int64_t magnitude = term.coefficient < 0 ? -term.coefficient : term.coefficient;
    if (term.coefficient < 0) {
      text += text.empty() ? "-" : " - ";
    } else if (!text.empty()) {
      text += " + ";
    }
    text += magnitude == 1 ? name : fmt::format("{}*{}", magnitude, name);
  }
  if (rank.offset == 0 && !text.empty()) return text;
  if (text.empty()) return fmt::format("{}", rank.offset);
  return text +
         fmt::format(" {} {}", rank.offset < 0 ? '-' : '+', rank.offset < 0 ? -rank.offset : rank.offset);
}

}  // namespace tilewright

// Parameters are resolved in rounds: each round evaluates those whose names all have values, so that order
// in the file does not matter. What is left when a round adds nothing has an unknown name or is a cycle.
#include "tilewright/hardware/array_parameters.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <set>
#include <utility>
#include <vector>

#include "tilewright/base/expression/expression_parser.h"

namespace tilewright {
namespace {

constexpr int kMostDepth = 64;
constexpr int kMostNodes = 100'000;

struct Arithmetic {
  std::string_view sign;
  int strength;
};
constexpr Arithmetic kArithmetic[] = {{"+", 0}, {"-", 0}, {"*", 1}, {"/", 1}};

class Evaluator : ExpressionParser<double, Arithmetic> {
 public:
  Evaluator(std::string_view text, const std::map<std::string, double>& names)
      : ExpressionParser(text, kArithmetic), names_(names) {}

  double run() {
    const double value = expression();
    text_.expect_end();
    if (!std::isfinite(value)) text_.fail("the value is not finite");
    return value;
  }

 private:
  double apply(const Arithmetic& op, double left, double right) override {
    switch (op.sign[0]) {
      case '+':
        return left + right;
      case '-':
        return left - right;
      case '*':
        return left * right;
    }
    if (right == 0) text_.fail("division by zero");
    return left / right;
  }
  double apply_sign(char, double operand) override { return -operand; }
  double name(std::string_view name) override {
    const auto found = names_.find(std::string(name));
    if (found == names_.end()) text_.fail_at(name, fmt::format("there is no parameter '{}'", name));
    return found->second;
  }
  std::optional<double> number() override { return text_.take_number<double>(); }

  const std::map<std::string, double>& names_;
};

std::vector<std::string> names_in(const std::string& text) {
  std::vector<std::string> names;
  for (size_t i = 0; i < text.size();) {
    if (is_digit(text[i]) || text[i] == '.') {
      // A number with its exponent: the e of 1e3 is no name.
      while (i < text.size() && (is_digit(text[i]) || text[i] == '.' || is_name_start(text[i]))) ++i;
    } else if (is_name_start(text[i])) {
      const size_t begin = i;
      while (i < text.size() && (is_name_start(text[i]) || is_digit(text[i]))) ++i;
      names.push_back(text.substr(begin, i - begin));
    } else {
      ++i;
    }
  }
  return names;
}

std::string number_text(double value) {
  return std::abs(value) < 0x1p53 && value == std::floor(value) ? fmt::format("{}", int64_t(value))
                                                                : fmt::format("{}", value);
}

}  // namespace

std::optional<double> evaluate_expression(const std::string& text, const std::map<std::string, double>& names,
                                          std::string& problem) {
  try {
    return Evaluator(text, names).run();
  } catch (const ExpressionProblem& found) {
    problem = found.message;
    return std::nullopt;
  }
}

// The parameters that have no value yet.
struct ArrayParameters::Resolver {
  std::map<std::string, YAML::Node> open;

  // The cycle that following first open dependencies from `start` ends in.
  std::vector<std::string> cycle_from(const std::string& start) const {
    std::vector<std::string> path{start};
    while (true) {
      const std::vector<std::string> names = names_in(open.at(path.back()).Scalar());
      const auto next = std::find_if(names.begin(), names.end(),
                                     [&](const std::string& name) { return open.count(name) != 0; });
      TILEWRIGHT_CHECK(next != names.end(), "an open parameter waits for none");
      const auto seen = std::find(path.begin(), path.end(), *next);
      if (seen != path.end()) return {seen, path.end()};
      path.push_back(*next);
    }
  }
};

ArrayParameters::ArrayParameters(const YAML::Node& node, std::string source_name, Diagnostics& diagnostics)
    : source_name_(std::move(source_name)) {
  if (!node.IsDefined()) return;
  const auto fail = [&](const YAML::Node& place, const std::string& name, const std::string& message) {
    diagnostics.error(ErrorKind::kInvalidInput, location(place), name, message);
  };
  if (!node.IsMap()) {
    fail(node, "parameters", "a map of 'name: number' lines is expected");
    return;
  }
  Resolver resolver;
  for (const auto& entry : node) {
    const std::string name = entry.first.IsScalar() ? entry.first.Scalar() : "...";
    if (!is_name(name)) {
      fail(entry.first, name, "a parameter's name has letters, digits and underscores");
    } else if (!entry.second.IsScalar()) {
      fail(entry.first, name, "a number or an expression is expected");
    } else if (!resolver.open.emplace(name, entry.second).second) {
      fail(entry.first, name, "a second parameter of this name");
    }
  }
  for (bool progress = true; progress;) {
    progress = false;
    for (auto entry = resolver.open.begin(); entry != resolver.open.end();) {
      const std::vector<std::string> names = names_in(entry->second.Scalar());
      const bool ready = std::none_of(names.begin(), names.end(), [&](const std::string& name) {
        return resolver.open.count(name) != 0;
      });
      if (!ready) {
        ++entry;
        continue;
      }
      std::string problem;
      const std::optional<double> value = evaluate_expression(entry->second.Scalar(), values_, problem);
      if (!value) fail(entry->second, entry->first, problem);
      // One that failed counts as 1 from here on: what uses it need not fail again.
      values_[entry->first] = value.value_or(1);
      entry = resolver.open.erase(entry);
      progress = true;
    }
  }
  std::set<std::string> told;
  for (const auto& entry : resolver.open) {
    values_[entry.first] = 1;
    if (told.count(entry.first)) continue;
    const std::vector<std::string> cycle = resolver.cycle_from(entry.first);
    told.insert(cycle.begin(), cycle.end());
    fail(
        entry.second, entry.first,
        fmt::format("has no value, its definition is a cycle: {} -> {}", fmt::join(cycle, " -> "), cycle[0]));
  }
}

std::string ArrayParameters::location(const YAML::Node& node) const {
  return node.Mark().is_null() ? source_name_ : fmt::format("{}:{}", source_name_, node.Mark().line + 1);
}

void ArrayParameters::substitute(YAML::Node node, Diagnostics& diagnostics) const {
  if (values_.empty()) return;
  int budget = kMostNodes;
  substitute_below(std::move(node), 0, budget, diagnostics);
}

void ArrayParameters::substitute_below(YAML::Node node, int depth, int& budget,
                                       Diagnostics& diagnostics) const {
  if (depth > kMostDepth || --budget == 0) {
    diagnostics.error(ErrorKind::kInvalidInput, location(node), "", "nested too deeply, or too many values");
    budget = std::min(budget, 0);
  }
  if (depth > kMostDepth || budget <= 0) return;
  if (node.IsSequence()) {
    for (YAML::Node item : node) substitute_below(item, depth + 1, budget, diagnostics);
  } else if (node.IsMap()) {
    static const std::set<std::string> kTexts{"name", "curve", "may_keep", "must_keep"};
    for (const auto& entry : node) {
      if (entry.first.IsScalar() && kTexts.count(entry.first.Scalar())) continue;
      substitute_below(entry.second, depth + 1, budget, diagnostics);
    }
  } else if (node.IsScalar()) {
    const std::vector<std::string> names = names_in(node.Scalar());
    if (std::none_of(names.begin(), names.end(),
                     [&](const std::string& name) { return values_.count(name) != 0; })) {
      return;
    }
    std::string problem;
    const std::optional<double> value = evaluate_expression(node.Scalar(), values_, problem);
    if (!value) diagnostics.error(ErrorKind::kInvalidInput, location(node), node.Scalar(), problem);
    node = number_text(value.value_or(1));
  }
}

}  // namespace tilewright

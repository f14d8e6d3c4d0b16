// Random expressions with several stores to one array, an evaluator of their text that shares nothing with
// the graphs they become (statement by statement, iteration by iteration), and the whole way of `place` and
// `run`.
#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "tilewright/base/random.h"
#include "tilewright/cgra/graph/expression.h"
#include "tilewright/flow/place/fabric_run.h"
#include "tilewright/flow/place/place.h"

namespace tilewright::store_programs {

struct Term {
  enum class Kind { kNumber, kName, kElement, kOperation };
  Kind kind = Kind::kNumber;
  int32_t number = 0;
  std::string name;         // of a name or an array; of an operation: its sign
  std::vector<Term> parts;  // operands; of an element: its index
};

struct Line {
  std::string target;
  std::vector<Term> index;  // one: a store
  Term value;
};

struct Program {
  std::vector<Line> lines;
  std::map<std::string, int32_t> first;  // what the first iteration reads
};

class Maker {
 public:
  explicit Maker(Random& random) : random_(random) {}

  Program run() {
    Program program;
    const int64_t arrays = random_.between(1, 2), stores = random_.between(2, 4);
    for (int64_t made = 0; made < stores;) {
      if (random_.chance(0.3)) {
        program.lines.push_back(assignment(program));
        continue;
      }
      const std::string array = random_.between(1, arrays) == 1 ? "y" : "z";
      program.lines.push_back({array, {address()}, value(2)});
      ++made;
    }
    return program;
  }

 private:
  Term number(int64_t low, int64_t high) {
    return {Term::Kind::kNumber, int32_t(random_.between(low, high)), {}, {}};
  }
  static Term name(const std::string& text) { return {Term::Kind::kName, 0, text, {}}; }
  static Term apply(const std::string& sign, Term a, Term b) {
    return {Term::Kind::kOperation, 0, sign, {std::move(a), std::move(b)}};
  }

  Line assignment(Program& program) {
    if (random_.chance(0.3)) {
      if (random_.chance(0.5)) program.first["s"] = int32_t(random_.between(-9, 9));
      if (names_.empty() || names_.back() != "s") names_.push_back("s");
      return {"s", {}, apply("+", name("s"), value(1))};
    }
    Line line{fmt::format("t{}", random_.between(0, 2)), {}, value(2)};
    names_.push_back(line.target);
    return line;
  }

  // Most are lines in the iteration; the others may be anything.
  Term address() {
    const Term i = name("i");
    switch (random_.between(0, 9)) {
      case 0:
      case 1:
      case 2:
        return i;
      case 3:
      case 4:
        return apply(random_.chance(0.5) ? "+" : "-", i, number(0, 5));
      case 5:
        return apply("+", apply("*", number(2, 4), i), number(-2, 5));
      case 6:
        return number(0, 3);
      case 7:
        return apply("-", number(0, 20), i);
      case 8:
        return apply("&", value(1), number(1, 7));
      default:
        return apply("%", apply("+", i, number(0, 3)), number(2, 5));
    }
  }

  Term leaf() {
    switch (random_.between(0, 7)) {
      case 0:
        return number(-100, 100);
      case 1:
      case 2:
        return name("i");
      case 3:
        return random_.chance(0.3) ? name("a") : name("i");
      case 4:
        return names_.empty() ? name("i")
                              : name(names_[size_t(random_.between(0, int64_t(names_.size()) - 1))]);
      default: {
        const std::string array = random_.chance(0.02) ? "y" : random_.chance(0.8) ? "x" : "w";
        Term index = random_.chance(0.7) ? name("i") : apply("+", name("i"), number(0, 3));
        return {Term::Kind::kElement, 0, array, {std::move(index)}};
      }
    }
  }

  Term value(int depth) {
    if (depth == 0 || random_.chance(0.2)) return leaf();
    static const std::vector<std::string> signs = {"+", "-",  "*",  "&",  "|", "^",
                                                   "<", "==", "<<", ">>", "%", "/"};
    const std::string& sign =
        signs[size_t(random_.between(0, random_.chance(0.7) ? 2 : int64_t(signs.size()) - 1))];
    return apply(sign, value(depth - 1), value(depth - 1));
  }

  Random& random_;
  std::vector<std::string> names_;  // that have been assigned
};

inline std::string text(const Term& term) {
  switch (term.kind) {
    case Term::Kind::kNumber:
      return term.number < 0 ? fmt::format("(0 - {})", -int64_t{term.number})
                             : fmt::format("{}", term.number);
    case Term::Kind::kName:
      return term.name;
    case Term::Kind::kElement:
      return fmt::format("{}[{}]", term.name, text(term.parts[0]));
    case Term::Kind::kOperation:
      break;
  }
  return fmt::format("({} {} {})", text(term.parts[0]), term.name, text(term.parts[1]));
}

inline std::string text(const Program& program) {
  std::string made;
  for (const auto& [name, value] : program.first) made += fmt::format("{} := {}; ", name, value);
  for (const Line& line : program.lines) {
    const std::string index = line.index.empty() ? "" : fmt::format("[{}]", text(line.index[0]));
    made += fmt::format("{}{} = {}; ", line.target, index, text(line.value));
  }
  return made;
}

using Data = std::map<std::string, std::vector<int32_t>>;          // by name; 0 outside
using Stored = std::map<std::string, std::map<int32_t, int32_t>>;  // by array, index

class Direct {
 public:
  Direct(const Program& program, const Data& data) : program_(program), data_(data), names_(program.first) {}

  Stored run(int iterations) {
    for (iteration_ = 0; iteration_ < iterations; ++iteration_) {
      for (const Line& line : program_.lines) {
        const int32_t value = this->value(line.value);
        if (line.index.empty()) {
          names_[line.target] = value;
        } else {
          stored_[line.target][this->value(line.index[0])] = value;
        }
      }
    }
    return stored_;
  }

 private:
  int32_t given(const std::string& name, int32_t place) const {
    const std::vector<int32_t>& values = data_.at(name);
    return place >= 0 && size_t(place) < values.size() ? values[size_t(place)] : 0;
  }

  int32_t value(const Term& term) const {
    switch (term.kind) {
      case Term::Kind::kNumber:
        return term.number;
      case Term::Kind::kName: {
        if (term.name == "i") return iteration_;
        if (term.name == "a") return given("a", iteration_);
        const auto found = names_.find(term.name);
        return found == names_.end() ? 0 : found->second;
      }
      case Term::Kind::kElement:
        return given(term.name, value(term.parts[0]));
      case Term::Kind::kOperation:
        break;
    }
    return applied(term.name, value(term.parts[0]), value(term.parts[1]));
  }

  static int32_t applied(const std::string& sign, int32_t a, int32_t b) {
    const int64_t wide_a = a, wide_b = b;
    if (sign == "+") return int32_t(wide_a + wide_b);
    if (sign == "-") return int32_t(wide_a - wide_b);
    if (sign == "*") return int32_t(wide_a * wide_b);
    if (sign == "&") return a & b;
    if (sign == "|") return a | b;
    if (sign == "^") return a ^ b;
    if (sign == "<") return a < b;
    if (sign == "==") return a == b;
    if (sign == "<<") return int32_t(wide_a << (b & 31));
    if (sign == ">>") return a >> (b & 31);
    if (b == 0) return 0;
    return int32_t(sign == "%" ? wide_a % wide_b : wide_a / wide_b);
  }

  const Program& program_;
  const Data& data_;
  std::map<std::string, int32_t> names_;
  Stored stored_;
  int iteration_ = 0;
};

struct Outcome {
  bool wrong = false;
  std::string refused;  // why; empty: it ran
  std::string problem;  // of a wrong one
};

inline PlaceRequest request_of(const std::string& text, const Fabric& fabric, int ii, double seconds) {
  PlaceRequest request;
  request.problem.fabric = fabric;
  Diagnostics diagnostics;
  const cgra::ExpressionOptions form{.tile_memories = fabric.tile_memories > 0,
                                     .asynchronous = fabric.memory_interfaces > 0,
                                     .fuse = fabric.operands >= 3};
  request.problem.graph = cgra::parse_expression(text, "expression", form, diagnostics);
  diagnostics.raise_if_any();
  request.problem.rules = cgra::usual_rules(fabric);
  request.iis = {ii};
  request.method = place_methods().front();
  request.options.limits.seconds = seconds;
  return request;
}

// A row per iteration; columns as program_inputs names them.
inline Tensor input_of(const cgra::DataflowGraph& graph, const Data& data, int rows) {
  const std::vector<std::string> names = program_inputs(graph);
  Tensor input(ElementType::kI32, Shape{rows, int64_t(names.size())});
  for (size_t column = 0; column < names.size(); ++column) {
    std::string name = names[column].substr(names[column].find(' ') + 1);
    if (name.starts_with("a_")) name = "a";  // an address reads the argument apart
    for (int row = 0; row < rows; ++row)
      input.set_integer(int64_t(row) * int64_t(names.size()) + int64_t(column), data.at(name)[size_t(row)]);
  }
  return input;
}

inline std::string difference(const Stored& expected, const FabricRun& run) {
  for (const auto& [array, elements] : expected) {
    const auto found = std::find_if(run.outputs.begin(), run.outputs.end(),
                                    [&](const auto& output) { return output.first == array; });
    if (found == run.outputs.end()) return fmt::format("no array {}", array);
    int64_t inside = 0;
    for (const auto& [index, value] : elements) {
      if (index < 0 || index >= 1 << 24) continue;
      inside = std::max<int64_t>(inside, index + 1);
      const int64_t got = index < found->second.size() ? found->second.integer_at(index) : 0;
      if (got != value) return fmt::format("{}[{}]: {} instead of {}", array, index, got, value);
    }
    if (found->second.size() != inside)
      return fmt::format("{} has {} elements instead of {}", array, found->second.size(), inside);
  }
  return run.check.wrong > 0 ? "the run says: " + run.check.first : "";
}

// Placed, printed, read back, run, and held against the direct evaluation.
inline Outcome run_program(const Program& program, const Fabric& fabric, int ii, int iterations,
                           Random& random, double seconds) {
  Data data;
  for (const char* name : {"x", "w", "y", "a"}) {
    for (int i = 0; i < iterations; ++i) data[name].push_back(int32_t(random.between(-1000, 1000)));
  }
  try {
    const PlaceRequest request = request_of(text(program), fabric, ii, seconds);
    const PlaceReport report = place(request);
    if (report.best < 0) {
      const PlacePoint& point = report.points.back();
      const std::string why = point.result.conflict ? point.result.conflict->text : point.note;
      return {.refused = why.empty() ? "no mapping found" : why};
    }
    const cgra::MappedProgram mapped = cgra::parse_mapped_program(
        print_mapped_program(mapped_program(request, report.points[size_t(report.best)])), "mapped.json");
    const cgra::DataflowGraph& graph = mapped.problem.graph;
    std::optional<Tensor> input;
    if (!program_inputs(graph).empty()) input = input_of(graph, data, iterations);
    const FabricRun run = run_on_fabric(mapped, input, iterations);
    Direct direct(program, data);
    const std::string problem = difference(direct.run(iterations), run);
    return {.wrong = !problem.empty(), .problem = problem};
  } catch (const Error& error) {
    if (error.kind() == ErrorKind::kInternal) return {.wrong = true, .problem = error.what()};
    return {.refused = error.what()};
  }
}

}  // namespace tilewright::store_programs

// What a reader throws joins the other problems, so that one run tells all of them.
#include "tilewright/flow/place/place_question.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <optional>

#include "tilewright/base/words/nearest_word.h"
#include "tilewright/cgra/graph/expression.h"
#include "tilewright/cgra/graph/graph_file.h"
#include "tilewright/flow/model/choice.h"

namespace tilewright {
namespace {

using cgra::GraphFile;

std::optional<int> whole_number(const std::string& text) {
  int value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || value < 0) return {};
  return value;
}

void wrong(Diagnostics& diagnostics, const char* option, std::string message, std::string hint) {
  diagnostics.error(ErrorKind::kInvalidInput, option, "", std::move(message), std::move(hint));
}

// What a reader throws joins the other problems.
template <typename Body>
void collect(Diagnostics& diagnostics, const Body& body) {
  try {
    body();
  } catch (const Error& error) {
    for (const Diagnostic& diagnostic : error.diagnostics()) diagnostics.add(diagnostic);
  }
}

// Without a fabric only the text itself can be wrong.
GraphFile read_graph(const PlaceQuestion& question, const Fabric& fabric, bool fabric_known,
                     Diagnostics& diagnostics) {
  if (question.graph.empty() == question.expression.empty()) {
    wrong(diagnostics, "graph", "give a file or --expr, one of them",
          "tilewright place --help shows an example");
    return {};
  }
  if (!question.graph.empty()) return cgra::read_graph_file(question.graph, fabric.operands, diagnostics);
  const cgra::ExpressionOptions form{.tile_memories = fabric.tile_memories > 0,
                                     .asynchronous = fabric.memory_interfaces > 0,
                                     .fuse = fabric.operands >= 3};
  GraphFile file;
  const size_t before = diagnostics.errors().size();
  file.graph = cgra::parse_expression(question.expression, "expression", form, diagnostics);
  if (fabric_known && diagnostics.errors().size() == before) file.graph.verify(fabric.operands, diagnostics);
  return file;
}

std::vector<int> read_iis(const PlaceQuestion& question, Diagnostics& diagnostics) {
  if (question.ii == "auto") return {};
  const size_t dots = question.ii.find("..");
  const std::optional<int> first = whole_number(question.ii.substr(0, dots));
  const std::optional<int> last =
      dots == std::string::npos ? first : whole_number(question.ii.substr(dots + 2));
  if (!first || !last || *first < 1 || *last < *first || *last > *first + 1000) {
    wrong(diagnostics, "--ii", fmt::format("'{}' is not an II", question.ii), "N, FIRST..LAST or auto");
    return {};
  }
  std::vector<int> iis;
  for (int ii = *first; ii <= *last; ++ii) iis.push_back(ii);
  return iis;
}

void read_delay(const PlaceQuestion& question, cgra::Rules& rules, Diagnostics& diagnostics) {
  if (question.delay == "unbounded") return;
  rules.delay = question.delay == "none" ? cgra::Delay::kNone : cgra::Delay::kBounded;
  if (question.delay == "none") return;
  const std::optional<int> clocks = whole_number(question.delay);
  if (!clocks || *clocks > 1 << 16) {
    wrong(diagnostics, "--delay", fmt::format("'{}' is not a delay", question.delay),
          "none, a number of clocks, or unbounded");
  }
  rules.delay_per_hop = clocks.value_or(1);
}

// NODE=TILE[@CLOCK]; over what the graph's file fixes.
void read_fixed(const PlaceQuestion& question, cgra::MappingProblem& problem, Diagnostics& diagnostics) {
  const size_t count = problem.graph.nodes.size();
  for (const std::string& text : question.fixed) {
    const size_t equals = text.rfind('='), at = text.find('@', equals == std::string::npos ? 0 : equals);
    const std::string name = text.substr(0, equals);
    const auto node = std::find_if(problem.graph.nodes.begin(), problem.graph.nodes.end(),
                                   [&](const cgra::DataflowNode& n) { return n.name == name; });
    const std::optional<int> tile =
        equals == std::string::npos
            ? std::nullopt
            : whole_number(
                  text.substr(equals + 1, at == std::string::npos ? std::string::npos : at - equals - 1));
    const std::optional<int> time =
        at == std::string::npos ? std::nullopt : whole_number(text.substr(at + 1));
    if (!tile || (at != std::string::npos && !time)) {
      wrong(diagnostics, "--fix", fmt::format("'{}' is not NODE=TILE or NODE=TILE@CLOCK", text),
            "numbers count from 0");
      continue;
    }
    if (node == problem.graph.nodes.end()) {
      if (count > 0)
        wrong(diagnostics, "--fix", fmt::format("the graph has no node '{}'", name),
              "names are in the graph's file");
      continue;
    }
    const size_t index = size_t(node - problem.graph.nodes.begin());
    problem.fixed_tiles.resize(count);
    problem.fixed_tiles[index] = tile;
    if (!time) continue;
    problem.fixed_times.resize(count);
    problem.fixed_times[index] = time;
  }
}

PlaceMethod read_method(const PlaceQuestion& question) {
  std::vector<std::string> names;
  for (const PlaceMethod& method : place_methods()) {
    if (method.name == question.method) return method;
    names.push_back(method.name);
  }
  names.emplace_back("rl");
  if (question.method != "rl") {
    throw Error(ErrorKind::kInvalidInput, "there is no method '" + question.method + "'",
                words_hint(question.method, names, "choose one of"));
  }
  return named_policy(question.policy, question.folders,
                      {.samples = question.samples, .beam = question.beam});
}

}  // namespace

PlaceRequest place_request(const PlaceQuestion& question) {
  Diagnostics diagnostics;
  PlaceRequest request;
  cgra::MappingProblem& problem = request.problem;
  bool fabric_known = false;
  collect(diagnostics, [&] {
    if (question.fabric.empty())
      throw Error(ErrorKind::kInvalidInput, "no fabric given", "name one with --fabric");
    problem.fabric = find_fabric(question.fabric, question.folders.hardware);
    fabric_known = true;
  });
  collect(diagnostics, [&] {
    GraphFile file = read_graph(question, problem.fabric, fabric_known, diagnostics);
    problem.graph = std::move(file.graph);
    problem.fixed_tiles = std::move(file.fixed_tiles);
    problem.fixed_times = std::move(file.fixed_times);
  });
  collect(diagnostics, [&] { request.method = read_method(question); });
  request.iis = read_iis(question, diagnostics);
  problem.rules = cgra::usual_rules(problem.fabric);
  problem.rules.routed = question.routed;
  if (!question.starters.empty()) {
    problem.rules.starters_apart = choose<StarterRule>(
        "starters", question.starters,
        {{"off", StarterRule::kOff}, {"roots", StarterRule::kRoots}, {"flows", StarterRule::kFlows}},
        diagnostics);
  }
  read_delay(question, problem.rules, diagnostics);
  read_fixed(question, problem, diagnostics);
  request.objective = choose<PlaceObjective>(
      "objective", question.objective, {{"makespan", PlaceObjective::kMakespan}, {"ii", PlaceObjective::kIi}},
      diagnostics);
  // The parts have been checked; their fit can be, once they are sound.
  problem.ii = request.iis.empty() ? 1 : request.iis.front();
  if (diagnostics.ok() && fabric_known) problem.verify(diagnostics);
  diagnostics.raise_if_any();
  request.options.seed = question.seed;
  request.options.threads = question.threads;
  request.proof_folder = question.proof_folder;
  request.wants_routes = !question.places_only;
  if (question.evaluations > 0) request.options.limits.evaluations = question.evaluations;
  return request;
}

PlaceMethod named_policy(const std::string& policy, const SharedFolders& folders,
                         const cgra::PolicySearchOptions& search) {
  return policy_method(policy.empty() ? folders.models / "cgra/policy.json" : std::filesystem::path(policy),
                       search);
}

}  // namespace tilewright

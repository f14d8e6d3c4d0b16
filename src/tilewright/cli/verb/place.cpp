// `place`: everything wrong with graph, fabric and options is told in one run.
#include "tilewright/flow/place/place.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <optional>
#include <ostream>

#include "tilewright/base/file.h"
#include "tilewright/cgra/graph/expression.h"
#include "tilewright/cgra/graph/graph_file.h"
#include "tilewright/cli/options/command_limits.h"
#include "tilewright/cli/options/model_input.h"
#include "tilewright/cli/options/verbs.h"
#include "tilewright/flow/place/fabric_run.h"

namespace tilewright::cli {
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

GraphFile read_graph(const PlaceVerbOptions& options, const Fabric& fabric, Diagnostics& diagnostics) {
  if (options.graph.empty() == options.expression.empty()) {
    wrong(diagnostics, "graph", "give a file or --expr, one of them",
          "tilewright place --help shows an example");
    return {};
  }
  if (!options.graph.empty()) return cgra::read_graph_file(options.graph, fabric.operands, diagnostics);
  const cgra::ExpressionOptions form{.tile_memories = fabric.tile_memories > 0,
                                     .asynchronous = fabric.memory_interfaces > 0,
                                     .fuse = fabric.operands >= 3};
  GraphFile file;
  const size_t before = diagnostics.errors().size();
  file.graph = cgra::parse_expression(options.expression, "expression", form, diagnostics);
  if (diagnostics.errors().size() == before) file.graph.verify(fabric.operands, diagnostics);
  return file;
}

std::vector<int> read_iis(const PlaceVerbOptions& options, Diagnostics& diagnostics) {
  if (options.ii == "auto") return {};
  const size_t dots = options.ii.find("..");
  const std::optional<int> first = whole_number(options.ii.substr(0, dots));
  const std::optional<int> last =
      dots == std::string::npos ? first : whole_number(options.ii.substr(dots + 2));
  if (!first || !last || *first < 1 || *last < *first || *last > *first + 1000) {
    wrong(diagnostics, "--ii", fmt::format("'{}' is not an II", options.ii), "N, FIRST..LAST or auto");
    return {};
  }
  std::vector<int> iis;
  for (int ii = *first; ii <= *last; ++ii) iis.push_back(ii);
  return iis;
}

void read_delay(const PlaceVerbOptions& options, cgra::Rules& rules, Diagnostics& diagnostics) {
  if (options.delay == "unbounded") return;
  rules.delay = options.delay == "none" ? cgra::Delay::kNone : cgra::Delay::kBounded;
  if (options.delay == "none") return;
  const std::optional<int> clocks = whole_number(options.delay);
  if (!clocks || *clocks > 1 << 16) {
    wrong(diagnostics, "--delay", fmt::format("'{}' is not a delay", options.delay),
          "none, a number of clocks, or unbounded");
  }
  rules.delay_per_hop = clocks.value_or(1);
}

// NODE=TILE[@CLOCK]; over what the graph's file fixes.
void read_fixed(const PlaceVerbOptions& options, cgra::MappingProblem& problem, Diagnostics& diagnostics) {
  const size_t count = problem.graph.nodes.size();
  for (const std::string& text : options.fixed) {
    const size_t equals = text.rfind('='), at = text.find('@', equals == std::string::npos ? 0 : equals);
    const std::string name = text.substr(0, equals);
    const auto node = std::find_if(problem.graph.nodes.begin(), problem.graph.nodes.end(),
                                   [&](const cgra::Node& n) { return n.name == name; });
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

PlaceMethod read_method(const PlaceVerbOptions& options) {
  for (const PlaceMethod& method : place_methods()) {
    if (method.name == options.method) return method;
  }
  const std::filesystem::path own = shared_folder("models") / "cgra/policy.json";
  return policy_method(options.policy.empty() ? own : std::filesystem::path(options.policy),
                       {.samples = options.samples, .beam = options.beam});
}

PlaceRequest read_request(const PlaceVerbOptions& options) {
  Diagnostics diagnostics;
  PlaceRequest request;
  cgra::MappingProblem& problem = request.problem;
  bool fabric_known = false;
  collect(diagnostics, [&] {
    if (options.fabric.empty())
      throw Error(ErrorKind::kInvalidInput, "no fabric given", "name one with --fabric");
    problem.fabric = find_fabric(options.fabric, shared_folder("hardware"));
    fabric_known = true;
  });
  collect(diagnostics, [&] {
    GraphFile file = read_graph(options, problem.fabric, diagnostics);
    problem.graph = std::move(file.graph);
    problem.fixed_tiles = std::move(file.fixed_tiles);
    problem.fixed_times = std::move(file.fixed_times);
  });
  collect(diagnostics, [&] { request.method = read_method(options); });
  request.iis = read_iis(options, diagnostics);
  problem.rules = cgra::usual_rules(problem.fabric);
  problem.rules.routed = options.routed;
  if (!options.starters.empty()) {
    problem.rules.starters_apart = options.starters == "off"     ? StarterRule::kOff
                                   : options.starters == "roots" ? StarterRule::kRoots
                                                                 : StarterRule::kFlows;
  }
  read_delay(options, problem.rules, diagnostics);
  read_fixed(options, problem, diagnostics);
  // The parts have been checked; their fit can be, once they are sound.
  problem.ii = request.iis.empty() ? 1 : request.iis.front();
  if (diagnostics.ok() && fabric_known) problem.verify(diagnostics);
  diagnostics.raise_if_any();
  request.objective = options.objective == "ii" ? PlaceObjective::kIi : PlaceObjective::kMakespan;
  request.options.seed = options.seed;
  request.options.threads = options.threads;
  request.proof_folder = options.proof_folder;
  request.wants_routes = !options.places_only;
  if (options.evaluations > 0) request.options.limits.evaluations = options.evaluations;
  return request;
}

// What there is has been printed; the exit code says that there is no mapping.
[[noreturn]] void fail_without_placement(const PlaceReport& report) {
  bool proven = true;
  std::string reason;
  for (const PlacePoint& point : report.points) {
    proven = proven && point.result.status == SearchStatus::kInfeasible;
    reason = point.result.conflict ? point.result.conflict->text : point.note;
  }
  throw Error(ErrorKind::kInfeasible,
              proven ? "no mapping exists" : "no mapping found, but it is not proven that none exists",
              reason);
}

}  // namespace

void place(const PlaceVerbOptions& options, std::ostream& out) {
  const CommandLimits limits(options.limits);
  PlaceRequest request = read_request(options);
  request.options.limits.deadline = &limits.deadline();
  const PlaceReport report = tilewright::place(request);
  if (report.best >= 0) {
    const cgra::MappedProgram program = mapped_program(request, report.points[size_t(report.best)]);
    if (!options.output.empty()) write_text_file(options.output, print_mapped_program(program));
    if (!options.svg.empty()) write_text_file(options.svg, place_picture(program));
    if (!options.configuration.empty())
      write_text_file(options.configuration, print_configuration(device_configuration(program)));
  }
  out << (options.json ? place_json(request, report)
                       : place_text(request, report) + limits.note(report.ending));
  if (report.best < 0) fail_without_placement(report);
}

}  // namespace tilewright::cli

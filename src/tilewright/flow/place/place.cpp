// The loop over II ends where a larger one cannot be shorter: when the critical path is reached, or when II
// is as long as the schedule, so that no two threads overlap.
#include "tilewright/flow/place/place.h"

#include <fmt/format.h>

#include <algorithm>

#include "tilewright/base/folder_writer.h"
#include "tilewright/cgra/exact/exact_mapper.h"
#include "tilewright/cgra/exact/ii_front.h"
#include "tilewright/cgra/exact/map_large.h"
#include "tilewright/cgra/exact/refutation.h"
#include "tilewright/cgra/heuristic/branch_and_bound.h"
#include "tilewright/cgra/heuristic/sampling_mappers.h"
#include "tilewright/cgra/kernel/map_kernel.h"
#include "tilewright/cgra/problem/store_order.h"
#include "tilewright/cgra/route/route_places.h"
#include "tilewright/search/deadline.h"

namespace tilewright {
namespace {

using cgra::MappingProblem;
using cgra::MappingResult;

// Looking for routes that nobody demanded takes at most this long.
constexpr double kRoutingSeconds = 20;

// Mappers know nothing of the order of stores: it is made here, or the mapping is dropped with the reason.
void keep_store_order(const MappingProblem& problem, PlacePoint& point) {
  MappingResult& result = point.result;
  if (cgra::order_stores(problem, *result.mapping)) {
    const int makespan = makespan_cycles(*result.mapping, problem.fabric.operation_latency_cycles);
    if (makespan > result.makespan && result.status == SearchStatus::kOptimal)
      result.status = SearchStatus::kFeasible;
    result.makespan = makespan;
    return;
  }
  point.note = cgra::check_store_order(problem, *result.mapping).front().text;
  result.mapping.reset();
  result.status = SearchStatus::kStopped;
}

// Adds routes to a mapping of places, or says why there are none.
void add_routes(const MappingProblem& problem, const Deadline& deadline, PlacePoint& point) {
  cgra::GraphMapping& mapping = *point.result.mapping;
  MappingProblem routed = problem;
  routed.rules.routed = true;
  if (mapping.routes.empty()) {
    const Deadline part(kRoutingSeconds, &deadline);
    cgra::RoutingResult found = cgra::route_places(routed, mapping, {.deadline = &part});
    if (found.status != SearchStatus::kFeasible) {
      point.note =
          found.status == SearchStatus::kInfeasible
              ? fmt::format("these places have no routes ({} values conflict)", found.core_edges.size())
              : "no routes between these places were found in time";
      return;
    }
    mapping.routes = std::move(found.routes);
  }
  point.routed = cgra::check_mapping(routed, mapping).empty();
}

// A longer schedule with routes in place of the shortest one, which has none.
void reroute(const PlaceRequest& request, MappingProblem problem, const Deadline& deadline,
             PlacePoint& point) {
  problem.rules.routed = true;
  cgra::GraphMapperOptions options = request.options;
  options.limits.seconds = kRoutingSeconds;
  options.limits.deadline = &deadline;
  if (deadline.over()) return;
  MappingResult found = request.method.map(problem, options);
  if (!found.mapping) {
    point.note = found.status == SearchStatus::kInfeasible
                     ? "no places at this II have routes"
                     : point.note + ", and no others were found in time";
    return;
  }
  PlacePoint other{.ii = point.ii, .result = std::move(found)};
  keep_store_order(problem, other);
  if (!other.result.mapping) {
    point.note += ", and in others stores are out of order: " + other.note;
    return;
  }
  found = std::move(other.result);
  point.note = fmt::format("the shortest places take {} clocks and have no routes", point.result.makespan);
  found.lower_bound = std::max(found.lower_bound, point.result.lower_bound);
  found.seconds += point.result.seconds;
  found.counts += point.result.counts;
  point.result = std::move(found);
  add_routes(problem, deadline, point);
}

PlacePoint map_at(const PlaceRequest& request, MappingProblem problem, int ii, const Deadline& deadline) {
  PlacePoint point{.ii = ii};
  problem.ii = ii;
  const bool asked = problem.rules.routed;
  const bool wanted = !asked && request.wants_routes;
  if (!request.method.routes) problem.rules.routed = false;
  cgra::GraphMapperOptions options = request.options;
  options.limits.deadline = &deadline;
  // Where routes are still to be found, half of the time is for them.
  options.limits.seconds = wanted ? std::max(1e-6, deadline.left() / 2) : Deadline::kNoLimit;
  point.result = request.method.map(problem, options);
  if (point.result.mapping) keep_store_order(problem, point);
  if (!point.result.mapping) return point;
  if (asked || wanted) add_routes(problem, deadline, point);
  if (asked && !point.routed) {
    // The shortest places bound the routed tier; another mapping may still have routes.
    point.result.mapping.reset();
    point.result.status = SearchStatus::kStopped;
    return point;
  }
  if (wanted && !point.routed && request.method.routes) reroute(request, problem, deadline, point);
  TILEWRIGHT_CHECK(cgra::check_mapping(problem, *point.result.mapping).empty(), "a mapper broke a rule");
  return point;
}

void mark_front(PlaceReport& report) {
  int shortest = 0;
  for (size_t i = 0; i < report.points.size(); ++i) {
    PlacePoint& point = report.points[i];
    if (!point.result.mapping) continue;
    point.on_front = report.best < 0 || point.result.makespan < shortest;
    if (!point.on_front) continue;
    report.best = int(i);
    shortest = point.result.makespan;
  }
}

PlaceReport place_at_each(const PlaceRequest& request) {
  PlaceReport report;
  const Deadline deadline(request.options.limits.seconds, request.options.limits.deadline);
  bool settled = true;  // whether more time would change nothing
  // An II may use half of what is left: a longer one may be easier.
  const auto map = [&](const MappingProblem& problem, bool last) {
    if (deadline.over()) {
      settled = false;
      return MappingResult{};
    }
    const Deadline share(last ? Deadline::kNoLimit : deadline.left() / 2, &deadline);
    report.points.push_back(map_at(request, problem, problem.ii, share));
    const MappingResult& result = report.points.back().result;
    const bool proven = result.status == SearchStatus::kOptimal || result.status == SearchStatus::kInfeasible;
    if (!proven && result.ending != Ending::kNone) report.ending = result.ending;
    settled = settled && proven;
    return result;
  };
  if (request.iis.empty()) {
    const int last = request.problem.fabric.max_ii;
    const cgra::Mapper mapper = [&](const MappingProblem& problem, const cgra::GraphMapperOptions&) {
      return map(problem, problem.ii == last);
    };
    settled = cgra::find_ii_front(request.problem, mapper, 1, last, request.options).proven;
  }
  MappingProblem problem = request.problem;
  for (const int ii : request.iis) {
    problem.ii = ii;
    map(problem, ii == request.iis.back());
  }
  if (deadline.over() && !settled) report.ending = deadline.ending();
  if (report.points.empty()) {  // no time for any
    report.points.push_back({.ii = request.iis.empty() ? 1 : request.iis.front()});
    report.points.back().result.ending = report.ending;
  }
  mark_front(report);
  return report;
}

constexpr const char* kProofMaker = "place";

// Each answer "no mapping of fewer clocks" (or none at all) solved once more from nothing, its proof checked.
void prove(const PlaceRequest& request, const std::filesystem::path& proof_folder, PlacePoint& point) {
  const bool impossible = point.result.status == SearchStatus::kInfeasible;
  if (!impossible && point.result.status != SearchStatus::kOptimal) return;
  MappingProblem problem = request.problem;
  problem.ii = point.ii;
  problem.rules.routed = false;
  cgra::RefutationOptions options;
  options.limits.deadline = request.options.limits.deadline;
  const cgra::Refutation refuted =
      cgra::refute(problem, impossible ? cgra::kAnyLength : point.result.makespan - 1, proof_folder, options);
  const bool accepted = refuted.answer == cgra::Satisfiable::kNo && refuted.check.proven;
  point.proof = accepted ? fmt::format("{} ({} bytes, accepted)", refuted.proof.filename().string(),
                                       refuted.proof_bytes)
                : request.problem.rules.routed || (point.routed && !impossible) ? "none in the placement tier"
                                                                                : "not proven again";
}

// The kernel mapper refutes or maps II after II itself.
PlaceReport place_at_least_ii(const PlaceRequest& request) {
  cgra::KernelOptions options{.deadline = request.options.limits.deadline, .seed = request.options.seed};
  if (request.options.limits.timed()) options.seconds = request.options.limits.seconds;
  if (!request.iis.empty()) options.most_ii = *std::max_element(request.iis.begin(), request.iis.end());
  const cgra::KernelResult found = cgra::map_kernel(request.problem, options);
  PlaceReport report;
  report.ending = found.ending;
  for (int ii = 1; ii < found.bound.value(); ++ii) {
    PlacePoint point{.ii = ii, .note = found.bound.reason};
    point.result.status = SearchStatus::kInfeasible;
    report.points.push_back(std::move(point));
  }
  for (const cgra::RefutedIi& refuted : found.refuted) {
    PlacePoint point{.ii = refuted.ii, .note = refuted.argument};
    point.result.status = SearchStatus::kInfeasible;
    report.points.push_back(std::move(point));
  }
  PlacePoint point{.ii = found.mapping ? found.mapping->ii : std::max(1, found.least_ii)};
  point.result.status = found.mapping && found.least_makespan == found.makespan && found.makespan > 0
                            ? SearchStatus::kOptimal
                        : found.mapping ? SearchStatus::kFeasible
                                        : found.status;
  point.result.mapping = found.mapping;
  point.result.makespan = found.makespan;
  point.result.lower_bound = found.least_makespan;
  point.result.counts = found.counts;
  point.result.seconds = found.seconds;
  if (found.mapping && found.mapping->ii > found.least_ii)
    point.note = fmt::format("whether an II of {} suffices is open", found.least_ii);
  if (found.mapping) {
    MappingProblem problem = request.problem;
    problem.ii = point.ii;
    keep_store_order(problem, point);
    const Deadline deadline(Deadline::kNoLimit, request.options.limits.deadline);
    if (point.result.mapping) add_routes(problem, deadline, point);
    if (!point.routed) {
      point.result.mapping.reset();
      point.result.status = SearchStatus::kStopped;
    }
  }
  if (found.mapping || found.status == SearchStatus::kStopped) report.points.push_back(std::move(point));
  mark_front(report);
  return report;
}

}  // namespace

const std::vector<PlaceMethod>& place_methods() {
  static const std::vector<PlaceMethod> methods = {
      {"exact", "the shortest schedule with its proof, or why there is none (satisfiability)",
       cgra::map_exact, true},
      {"branch-and-bound", "the same by a tree search, for small graphs", cgra::map_branch_and_bound, false},
      {"large", "annealing with a proven bound, for graphs past exact reach", cgra::map_large, false},
      {"annealing", "simulated annealing over places", cgra::map_annealing, true},
      {"evolution", "islands of evolving places", cgra::map_evolution, true},
      {"random", "the best of random places", cgra::map_random, true},
      {"list", "list scheduling, without search", cgra::map_list, true},
  };
  return methods;
}

PlaceMethod policy_method(const std::filesystem::path& policy, const cgra::PolicySearchOptions& search) {
  const auto map = [weights = cgra::read_policy(policy), search](const MappingProblem& problem,
                                                                 const cgra::GraphMapperOptions& options) {
    return cgra::map_with_policy(weights, problem, options, search);
  };
  return {"rl", "a trained policy", map, true};
}

PlaceReport place(const PlaceRequest& request) {
  if (!request.proof_folder.empty()) check_folder_target(request.proof_folder, kProofMaker);
  const auto [least, most] = std::minmax_element(request.iis.begin(), request.iis.end());
  MappingProblem problem = request.problem;
  for (const int ii : request.iis.empty() ? std::vector{1} : std::vector{*least, *most}) {
    problem.ii = ii;
    Diagnostics diagnostics;
    problem.verify(diagnostics);
    diagnostics.raise_if_any();
  }
  if (request.objective == PlaceObjective::kIi) return place_at_least_ii(request);
  PlaceReport report = place_at_each(request);
  if (request.proof_folder.empty()) return report;
  FolderWriter folder(request.proof_folder, kProofMaker);
  for (PlacePoint& point : report.points) {
    try {
      prove(request, folder.path(), point);
    } catch (const Error& error) {  // a mapping is not lost for want of a file with its proof
      if (error.kind() == ErrorKind::kInternal) throw;
      point.proof = fmt::format("none: {}", error.what());
    }
  }
  folder.commit();
  return report;
}

cgra::MappedProgram mapped_program(const PlaceRequest& request, const PlacePoint& point) {
  cgra::MappedProgram program{.problem = request.problem,
                              .mapping = point.result.mapping.value(),
                              .lower_bound_cycles = point.result.lower_bound};
  program.problem.ii = point.ii;
  program.problem.rules.routed = point.routed;
  if (!point.routed) program.mapping.routes.clear();
  return program;
}

}  // namespace tilewright

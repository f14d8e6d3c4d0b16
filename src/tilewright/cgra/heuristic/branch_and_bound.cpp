// The tree: level i places the i-th node of a topological order, longest tail first. Children are all tiles
// and all free slots: with free waits and no loops a start more than II - 1 clocks after the earliest is
// never needed, since an earlier one has the same slot. Elsewhere all clocks up to the best known schedule
// are tried.
//
// Bound: every open node starts no earlier than its placed operands allow on its best tile, later nodes
// follow by operation latencies. Symmetry: where the fabric looks the same from both ends, the first node
// stays in one half.
#include "tilewright/cgra/heuristic/branch_and_bound.h"

#include <algorithm>
#include <limits>

#include "tilewright/cgra/heuristic/list_schedule.h"
#include "tilewright/search/branch_and_bound.h"

namespace tilewright::cgra {
namespace {

class PlacementTree {
 public:
  using Value = int;
  using Solution = std::vector<Place>;
  struct Node {
    std::vector<Place> places;  // of the first nodes of the order
  };

  // `last_makespan`: no longer schedule is looked at where clocks are not limited by slots.
  PlacementTree(const PlacementDecoder& decoder, bool slots_suffice, int last_makespan)
      : model_(decoder.model()),
        decoder_(decoder),
        slots_suffice_(slots_suffice),
        last_makespan_(last_makespan) {
    order_ = model_.topological;
    std::stable_sort(order_.begin(), order_.end(), [&](int a, int b) {
      return decoder.tail_cycles()[size_t(a)] > decoder.tail_cycles()[size_t(b)];
    });
    symmetric_ = is_symmetric();
  }

  template <typename Sink>
  void roots(Sink& sink) const {
    sink.branch(bound(PlacementState(model_)), [] { return Node{}; });
  }

  template <typename Sink>
  void expand(const Node& node, Sink& sink) const {
    PlacementState state(model_);
    for (size_t i = 0; i < node.places.size(); ++i)
      state.place(order_[i], node.places[i].tile, node.places[i].time);
    const int next = order_[node.places.size()];
    const int tail = decoder_.tail_cycles()[size_t(next)];
    const int tiles = node.places.empty() && symmetric_ ? (model_.tiles + 1) / 2 : model_.tiles;
    for (int tile = 0; tile < tiles; ++tile) {
      const int first = state.earliest(next, tile);
      const int end = slots_suffice_ ? first + model_.ii : std::numeric_limits<int>::max();
      for (int time = first; time != PlacementState::kNever && time < end;
           time = state.earliest(next, tile, time + 1)) {
        if (sink.prunes(time + tail) || (!slots_suffice_ && time + tail > last_makespan_)) break;
        child(node, state, next, {tile, time}, sink);
      }
    }
  }

 private:
  template <typename Sink>
  void child(const Node& node, PlacementState& state, int next, Place place, Sink& sink) const {
    model_.check();  // there may be many of one node, and the bound takes a while
    state.place(next, place.tile, place.time);
    const auto extended = [&] {
      Node made = node;
      made.places.push_back(place);
      return made;
    };
    if (state.placed_count() == model_.nodes) {
      sink.leaf(state.makespan(), [&] { return state.places(); });
    } else {
      sink.branch(bound(state), extended);
    }
    state.undo();
  }

  // The start of an open node on its best tile, its placed operands alone; 0 without any.
  int start_bound(const PlacementState& state, int node) const {
    const auto& incoming = model_.incoming[size_t(node)];
    if (std::none_of(incoming.begin(), incoming.end(),
                     [&](int id) { return state.placed(model_.edges[size_t(id)].from); })) {
      return 0;
    }
    int best = std::numeric_limits<int>::max() / 2;
    for (int tile = 0; tile < model_.tiles; ++tile) {
      if (state.blocked(node, tile) || (state.unit_tile(node) >= 0 && state.unit_tile(node) != tile))
        continue;
      int start = 0;
      for (const int id : incoming) {
        const Edge& edge = model_.edges[size_t(id)];
        const Place from = state.places()[size_t(edge.from)];
        if (from.time >= 0)
          start = std::max(start, from.time + model_.least_gap(from.tile, tile) - edge.distance * model_.ii);
      }
      best = std::min(best, start);
    }
    return best;
  }

  int bound(const PlacementState& state) const {
    std::vector<int> start(size_t(model_.nodes), 0);
    int longest = state.makespan();
    for (const int node : model_.topological) {
      if (state.placed(node)) continue;
      int at = start_bound(state, node);
      for (const int id : model_.incoming[size_t(node)]) {
        const Edge& edge = model_.edges[size_t(id)];
        if (edge.distance == 0 && !state.placed(edge.from))
          at = std::max(at, start[size_t(edge.from)] + model_.latency_cycles);
      }
      start[size_t(node)] = at;
      longest = std::max(longest, at + decoder_.tail_cycles()[size_t(node)]);
    }
    return longest;
  }

  bool is_symmetric() const {
    const int last = model_.tiles - 1;
    for (int a = 0; a <= last; ++a) {
      for (int b = 0; b <= last; ++b) {
        if (model_.transfer[size_t(a)][size_t(b)] != model_.transfer[size_t(last - a)][size_t(last - b)])
          return false;
      }
      for (int node = 0; node < model_.nodes; ++node) {
        if (model_.allowed[size_t(node)][size_t(a)] != model_.allowed[size_t(node)][size_t(last - a)])
          return false;
      }
    }
    return true;
  }

  const PlacementModel& model_;
  const PlacementDecoder& decoder_;
  bool slots_suffice_ = true, symmetric_ = false;
  int last_makespan_ = 0;
  std::vector<int> order_;
};

void search_tree(const MappingProblem& problem, const GraphMapperOptions& options, const Deadline& deadline,
                 MappingResult& result) {
  const PlacementModel model = compile_model(problem, &deadline);
  const PlacementDecoder decoder(model);
  const bool loops =
      std::any_of(model.edges.begin(), model.edges.end(), [](const Edge& e) { return e.distance > 0; });
  const bool timed =
      std::any_of(model.fixed_time.begin(), model.fixed_time.end(), [](int time) { return time >= 0; });
  const bool slots_suffice = !loops && !timed && model.rules.delay == Delay::kUnbounded;
  BranchAndBoundOptions<std::vector<Place>, int> search;
  search.threads = options.threads;
  search.limits = options.limits;
  search.limits.deadline = &deadline;
  int last_makespan = 0;
  if (const auto schedule = list_schedule(decoder)) {
    const GraphMapping mapping{.ii = model.ii, .places = schedule->places, .routes = {}};
    last_makespan = makespan_cycles(mapping, model.latency_cycles);
    search.start = {schedule->places, last_makespan};
  } else {  // a schedule that places one node after the other, each a whole II and the longest way later
    const int way = *std::max_element(model.transfer.front().begin(), model.transfer.front().end());
    last_makespan = model.nodes * (model.latency_cycles + way + model.ii);
  }
  const auto found = branch_and_bound(PlacementTree(decoder, slots_suffice, last_makespan), search);
  result.status =
      found.status == SearchStatus::kInfeasible && !slots_suffice ? SearchStatus::kStopped : found.status;
  result.counts = found.end.counts;
  result.curve = found.curve;
  result.lower_bound = found.end.bound.value_or(0);
  if (found.best) {
    result.mapping = GraphMapping{.ii = model.ii, .places = *found.best, .routes = {}};
    result.makespan = makespan_cycles(*result.mapping, model.latency_cycles);
  }
}

}  // namespace

MappingResult map_branch_and_bound(const MappingProblem& problem, const GraphMapperOptions& options) {
  Diagnostics diagnostics;
  problem.verify(diagnostics);
  diagnostics.raise_if_any();
  const Deadline deadline(options.limits.seconds, options.limits.deadline);
  MappingResult result;
  finishes(deadline, [&] { search_tree(problem, options, deadline, result); });
  drop_if_invalid(problem, result);
  result.seconds = deadline.seconds();
  result.ending = deadline.ending();
  return result;
}

}  // namespace tilewright::cgra

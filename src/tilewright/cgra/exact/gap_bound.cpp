// Parts by dynamic programming: nodes in topological order; for each v its ancestors u from the nearest, as
// long as the nodes between them are few. A part is solved only if its arc could lengthen the longest path to
// v: if even the trivial schedule of the part (everything one after the other) would not, it is left out.
#include "tilewright/cgra/exact/gap_bound.h"

#include <algorithm>
#include <functional>
#include <limits>
#include <map>
#include <set>
#include <utility>

#include "tilewright/cgra/problem/model.h"
#include "tilewright/cgra/problem/sub_problem.h"
#include "tilewright/search/deadline.h"

namespace tilewright::cgra {
namespace {

struct Arc {
  int from = 0, to = 0, gap = 0;
};

constexpr int kNoNode = -1;

class GapBounder {
 public:
  GapBounder(const MappingProblem& problem, const Mapper& exact, const GapBoundOptions& options)
      : problem_(problem),
        exact_(exact),
        options_(options),
        model_(compile_model(problem)),
        deadline_(options.seconds, options.deadline) {
    next_.resize(size_t(model_.nodes));
    for (const Edge& edge : model_.edges) {
      if (edge.distance == 0) next_[size_t(edge.from)].push_back(edge.to);
    }
    position_.resize(size_t(model_.nodes));
    for (size_t i = 0; i < model_.topological.size(); ++i) position_[size_t(model_.topological[i])] = int(i);
  }

  GapBound run() {
    add_up();
    for (const int nodes : options_.part_nodes) {
      // Parts that could matter: not much of the longest path is slack where they lie.
      slack_ = 4 * model_.latency_cycles;
      for (size_t i = model_.topological.size(); i-- > 0;) parts_from(model_.topological[i], nodes);
      add_up();
    }
    return std::move(bound_);
  }

 private:
  using Matrix = std::vector<std::vector<int>>;  // by position in topological order; kNoNode: no way

  // Least transfer time, over all tiles of u and v, of the worst of `count` tiles on the way from u to v; by
  // count.
  std::vector<int> room_table() const {
    std::vector<int> least(size_t(model_.tiles) + 1, std::numeric_limits<int>::max());
    least[0] = 0;
    std::vector<int> ways(size_t(model_.tiles));
    for (int a = 0; a < model_.tiles; ++a) {
      if (options_.deadline) options_.deadline->check();
      for (int b = 0; b < model_.tiles; ++b) {
        for (int x = 0; x < model_.tiles; ++x) {
          ways[size_t(x)] = model_.transfer[size_t(a)][size_t(x)] + model_.transfer[size_t(x)][size_t(b)];
        }
        std::sort(ways.begin(), ways.end());
        for (int x = 0; x < model_.tiles; ++x)
          least[size_t(x) + 1] = std::min(least[size_t(x) + 1], ways[size_t(x)]);
      }
    }
    return least;
  }

  // Longest chains in operation latencies alone: transfer times are added to these, not to gaps that hold
  // some already.
  Matrix latency_chains() const {
    Matrix chain(size_t(model_.nodes), std::vector<int>(size_t(model_.nodes), kNoNode));
    for (int u = model_.nodes - 1; u >= 0; --u) {
      std::vector<int>& row = chain[size_t(u)];
      for (const int to : next_[size_t(model_.topological[size_t(u)])]) {
        const size_t first = size_t(position_[size_t(to)]);
        row[first] = std::max(row[first], model_.latency_cycles);
        for (size_t v = first + 1; v < row.size(); ++v) {
          if (chain[first][v] != kNoNode) row[v] = std::max(row[v], model_.latency_cycles + chain[first][v]);
        }
      }
    }
    return chain;
  }

  // The longest of u's chains to v that pass through nodes for which there is no nearer room; kNoNode without
  // any.
  int room_gap(const Matrix& chain, size_t u, size_t v, const std::vector<int>& room,
               std::vector<int>& chains) const {
    chains.clear();
    for (size_t e = u + 1; e < v; ++e) {
      if (chain[u][e] != kNoNode && chain[e][v] != kNoNode) chains.push_back(chain[u][e] + chain[e][v]);
    }
    std::sort(chains.begin(), chains.end(), std::greater<>());
    int gap = kNoNode;
    for (size_t k = 0; k < chains.size(); ++k) {  // k + 1 nodes, and u and v need slots too
      const size_t tiles = std::min((k + 3 + size_t(model_.ii) - 1) / size_t(model_.ii), room.size() - 1);
      gap = std::max(gap, chains[k] + room[tiles]);
    }
    return gap;
  }

  // All pairs: gaps from the last node to the first, so that those of inner pairs are final when they are
  // added up.
  void add_up() {
    const int nodes = model_.nodes;
    const std::vector<int> room = room_table();
    const Matrix chain = latency_chains();
    gap_ = chain;
    for (const Arc& arc : arcs_) {
      int& entry = gap_[size_t(position_[size_t(arc.from)])][size_t(position_[size_t(arc.to)])];
      entry = std::max(entry, arc.gap);
    }
    std::vector<int> chains;
    for (size_t u = size_t(nodes); u-- > 0;) {
      if (options_.deadline) options_.deadline->check();
      for (size_t v = u + 1; v < size_t(nodes); ++v) {
        int& entry = gap_[u][v];
        if (entry == kNoNode) continue;
        for (size_t e = u + 1; e < v; ++e) {
          if (gap_[u][e] != kNoNode && gap_[e][v] != kNoNode)
            entry = std::max(entry, gap_[u][e] + gap_[e][v]);
        }
        entry = std::max(entry, room_gap(chain, u, v, room, chains));
      }
    }
    bound_.release.assign(size_t(nodes), 0);
    bound_.tail_cycles.assign(size_t(nodes), model_.latency_cycles);
    bound_.makespan = model_.latency_cycles;
    for (int u = 0; u < nodes; ++u) {
      for (int v = u + 1; v < nodes; ++v) {
        const int between = gap_[size_t(u)][size_t(v)];
        if (between == kNoNode) continue;
        int& release = bound_.release[size_t(model_.topological[size_t(v)])];
        int& tail = bound_.tail_cycles[size_t(model_.topological[size_t(u)])];
        release = std::max(release, between);
        tail = std::max(tail, between + model_.latency_cycles);
        bound_.makespan = std::max(bound_.makespan, between + model_.latency_cycles);
      }
    }
  }

  // The nodes on ways between two positions, in topological order, both included.
  std::vector<int> between(size_t from, size_t to) const {
    std::vector<int> part;
    for (size_t e = from; e <= to; ++e) {
      const bool inner = gap_[from][e] != kNoNode && gap_[e][to] != kNoNode;
      if (inner || e == from || e == to) part.push_back(model_.topological[e]);
    }
    return part;
  }

  // Arcs from u to the ends of parts of at most `most_nodes`, where they say more than the gaps known so far.
  void parts_from(int u, int most_nodes) {
    const size_t from = size_t(position_[size_t(u)]);
    for (size_t v = from + 1; v < size_t(model_.nodes); ++v) {
      const int known = gap_[from][v], end = model_.topological[v];
      if (known == kNoNode) continue;
      const int path = bound_.release[size_t(u)] + known + bound_.tail_cycles[size_t(end)];
      if (path + slack_ < bound_.makespan) continue;
      if (deadline_.over()) return;
      const std::vector<int> part = between(from, v);
      if (part.size() < 3 || int(part.size()) > most_nodes || !solved_.insert({from, v}).second) continue;
      const int gap = solve(part);
      if (gap <= known) continue;
      gap_[from][v] = gap;
      arcs_.push_back({u, end, gap});
      ++bound_.improved;
    }
  }

  // Least start(last) - start(first) of the part alone.
  int solve(const std::vector<int>& part) {
    MappingProblem small = sub_problem(problem_, part, false);
    small.fixed_times.clear();  // only distances in time count
    GraphMapperOptions limits;
    limits.limits.seconds = options_.part_seconds;
    limits.limits.deadline = &deadline_;
    ++bound_.parts;
    return exact_(small, limits).lower_bound - model_.latency_cycles;
  }

  const MappingProblem& problem_;
  const Mapper& exact_;
  GapBoundOptions options_;
  PlacementModel model_;
  Deadline deadline_;
  std::vector<std::vector<int>> next_;
  std::vector<int> position_;
  std::vector<Arc> arcs_;  // of solved parts
  Matrix gap_;
  std::set<std::pair<size_t, size_t>> solved_;
  int slack_ = 0;
  GapBound bound_;
};

}  // namespace

GapBound gap_bound(const MappingProblem& problem, const Mapper& exact, const GapBoundOptions& options) {
  return GapBounder(problem, exact, options).run();
}

}  // namespace tilewright::cgra

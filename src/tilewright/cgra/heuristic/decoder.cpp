// List scheduling with wishes. The order of ranks is kept only among nodes whose operands are placed, so that
// every order decodes; a wish that a rule forbids moves to the nearest tile that takes the node.
#include "tilewright/cgra/heuristic/decoder.h"

#include <algorithm>
#include <functional>
#include <numeric>
#include <utility>

namespace tilewright::cgra {
namespace {

// The ready node of lowest rank is at the front of a heap.
using Ready = std::vector<std::pair<int, int>>;

void push(Ready& ready, int rank, int node) {
  ready.emplace_back(rank, node);
  std::push_heap(ready.begin(), ready.end(), std::greater<>());
}

int pop(Ready& ready) {
  std::pop_heap(ready.begin(), ready.end(), std::greater<>());
  const int node = ready.back().second;
  ready.pop_back();
  return node;
}

}  // namespace

PlacementDecoder::PlacementDecoder(const PlacementModel& model)
    : model_(&model), waiting_(size_t(model.nodes), 0), tail_(size_t(model.nodes), model.latency_cycles) {
  for (const Edge& edge : model.edges) waiting_[size_t(edge.to)] += edge.distance == 0;
  for (size_t i = model.topological.size(); i-- > 0;) {
    const int node = model.topological[i];
    for (const int id : model.outgoing[size_t(node)]) {
      const Edge& edge = model.edges[size_t(id)];
      if (edge.distance != 0) continue;
      tail_[size_t(node)] = std::max(tail_[size_t(node)], model.latency_cycles + tail_[size_t(edge.to)]);
    }
  }
  for (int tile = 0; tile < model.tiles; ++tile) {
    model.check();
    std::vector<int16_t> order(size_t(model.tiles));
    std::iota(order.begin(), order.end(), int16_t(0));
    const std::vector<int>& way = model.transfer[size_t(tile)];
    std::stable_sort(order.begin(), order.end(),
                     [&](int a, int b) { return way[size_t(a)] < way[size_t(b)]; });
    std::swap(*std::find(order.begin(), order.end(), int16_t(tile)), order.front());
    nearest_.push_back(std::move(order));
  }
}

std::optional<std::vector<Place>> PlacementDecoder::decode(const PlacementGenes& genes) const {
  PlacementState state(*model_);
  std::vector<int> waiting = waiting_;
  Ready ready;
  ready.reserve(size_t(model_->nodes));
  for (int node = 0; node < model_->nodes; ++node) {
    if (waiting[size_t(node)] == 0) push(ready, genes.rank[size_t(node)], node);
  }
  while (!ready.empty()) {
    const int node = pop(ready);
    const int wish = genes.tile[size_t(model_->unit[size_t(node)])];
    int time = PlacementState::kNever;
    for (const int16_t tile : nearest_[size_t(wish)]) {
      time = state.earliest(node, tile);
      if (time == PlacementState::kNever) continue;
      state.place(node, tile, time);
      break;
    }
    if (time == PlacementState::kNever) return {};
    for (const int id : model_->outgoing[size_t(node)]) {
      const Edge& edge = model_->edges[size_t(id)];
      if (edge.distance == 0 && --waiting[size_t(edge.to)] == 0)
        push(ready, genes.rank[size_t(edge.to)], edge.to);
    }
  }
  return state.places();
}

std::optional<PlacementSpace::Value> PlacementSpace::cost(const Solution& genes) const {
  const auto places = decoder.decode(genes);
  if (!places) return {};
  Value value;
  for (const Place& place : *places) {
    value.primary = std::max(value.primary, place.time + decoder.model().latency_cycles);
    value.secondary += place.time;
  }
  return value;
}

PlacementGenes PlacementSpace::sample(Random& random) const {
  const PlacementModel& model = decoder.model();
  PlacementGenes genes;
  for (size_t unit = 0; unit < model.units.size(); ++unit) {
    genes.tile.push_back(int16_t(random.between(0, model.tiles - 1)));
  }
  // Longest tails first, with noise of about one operation.
  const int longest = *std::max_element(decoder.tail_cycles().begin(), decoder.tail_cycles().end());
  for (int node = 0; node < model.nodes; ++node) {
    const int noise = int(random.between(0, 2 * model.latency_cycles));
    genes.rank.push_back(int16_t(longest - decoder.tail_cycles()[size_t(node)] + noise));
  }
  return genes;
}

int PlacementSpace::critical_node(const PlacementGenes& genes, Random& random) const {
  const PlacementModel& model = decoder.model();
  const auto places = decoder.decode(genes);
  if (!places) return int(random.between(0, model.nodes - 1));
  const auto start = [&](int node) { return (*places)[size_t(node)].time; };
  int node = 0;
  for (int other = 1; other < model.nodes; ++other) {
    if (start(other) > start(node)) node = other;
  }
  std::vector<int> chain{node};
  for (bool more = true; more;) {
    more = false;
    int latest = 0, latest_arrival = -1;
    for (const int id : model.incoming[size_t(node)]) {
      const Edge& edge = model.edges[size_t(id)];
      const int arrival =
          start(edge.from) + model.latency_cycles +
          model.transfer[size_t((*places)[size_t(edge.from)].tile)][size_t((*places)[size_t(node)].tile)] -
          edge.distance * model.ii;
      if (edge.distance == 0 && arrival > latest_arrival) {
        latest_arrival = arrival;
        latest = edge.from;
        more = true;
      }
    }
    if (more) chain.push_back(node = latest);
  }
  return chain[size_t(random.between(0, int64_t(chain.size()) - 1))];
}

PlacementGenes PlacementSpace::neighbour(PlacementGenes genes, Random& random) const {
  const PlacementModel& model = decoder.model();
  const auto any_unit = [&] { return size_t(random.between(0, int64_t(model.units.size()) - 1)); };
  if (random.chance(0.5)) {
    const size_t node = size_t(critical_node(genes, random));
    if (random.chance(0.3)) {
      const int64_t reach = 4 * model.latency_cycles;
      genes.rank[node] =
          int16_t(std::clamp<int64_t>(genes.rank[node] - random.between(1, reach), -30000, 30000));
      return genes;
    }
    const auto& incoming = model.incoming[node];
    int16_t& tile = genes.tile[size_t(model.unit[node])];
    if (!incoming.empty() && random.chance(0.6)) {
      const Edge& edge =
          model.edges[size_t(incoming[size_t(random.between(0, int64_t(incoming.size()) - 1))])];
      tile = genes.tile[size_t(model.unit[size_t(edge.from)])];
    }
    tile = decoder.nearest(tile)[size_t(random.between(0, std::min(6, model.tiles - 1)))];
    return genes;
  }
  const double kind = random.uniform();
  if (kind < 0.45) {  // a step to one of the nearest tiles
    int16_t& tile = genes.tile[any_unit()];
    tile = decoder.nearest(tile)[size_t(random.between(0, std::min(4, model.tiles - 1)))];
  } else if (kind < 0.65) {  // beside a neighbour in the graph
    if (model.edges.empty()) return genes;
    const Edge& edge = model.edges[size_t(random.between(0, int64_t(model.edges.size()) - 1))];
    const auto unit = [&](int node) { return size_t(model.unit[size_t(node)]); };
    const bool forward = random.chance(0.5);
    const int16_t there = genes.tile[unit(forward ? edge.from : edge.to)];
    genes.tile[unit(forward ? edge.to : edge.from)] =
        decoder.nearest(there)[size_t(random.between(0, std::min(2, model.tiles - 1)))];
  } else if (kind < 0.75) {
    genes.tile[any_unit()] = int16_t(random.between(0, model.tiles - 1));
  } else if (kind < 0.85) {
    std::swap(genes.tile[any_unit()], genes.tile[any_unit()]);
  } else {
    const size_t node = size_t(random.between(0, model.nodes - 1));
    const int64_t reach = 2 * model.latency_cycles;
    genes.rank[node] =
        int16_t(std::clamp<int64_t>(genes.rank[node] + random.between(-reach, reach), -30000, 30000));
  }
  return genes;
}

PlacementGenes PlacementSpace::crossover(const PlacementGenes& a, const PlacementGenes& b,
                                         Random& random) const {
  PlacementGenes child = a;
  const PlacementModel& model = decoder.model();
  // A piece of b that is near in topological order, so that neighbours travel together.
  const int64_t from = random.between(0, model.nodes - 1), to = random.between(from, model.nodes - 1);
  for (int64_t i = from; i <= to; ++i) {
    const size_t node = size_t(model.topological[size_t(i)]);
    child.tile[size_t(model.unit[node])] = b.tile[size_t(model.unit[node])];
    child.rank[node] = b.rank[node];
  }
  return child;
}

}  // namespace tilewright::cgra

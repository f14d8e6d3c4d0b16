// Small problems with known optima for the tests of this module: knapsack, quadratic assignment,
// two-objective knapsack, each as a tree; a travelling salesman and an integer Rastrigin function as spaces.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <numeric>
#include <optional>
#include <vector>

#include "tilewright/base/random.h"
#include "tilewright/search/objective.h"

namespace tilewright {

// Minimises (-profit, weight) of at most 64 items; items are tried in the order of profit per weight.
// `bound_error` makes every bound too high by so much (a seeded bug).
struct Knapsack {
  using Value = Lexicographic<int64_t, int64_t>;
  using Solution = uint64_t;  // bit i: item i is taken
  struct Node {
    int next = 0;
    int64_t profit = 0;
    int64_t weight = 0;
    uint64_t taken = 0;
  };
  std::vector<int64_t> profits, weights;
  int64_t capacity = 0;
  int64_t bound_error = 0;

  static Knapsack random(int items, uint64_t seed) {
    Random r(seed);
    Knapsack k;
    std::vector<std::pair<int64_t, int64_t>> all;
    for (int i = 0; i < items; ++i) all.emplace_back(r.between(1, 40), r.between(1, 40));
    std::sort(all.begin(), all.end(),
              [](const auto& a, const auto& b) { return a.first * b.second > b.first * a.second; });
    for (const auto& [profit, weight] : all) {
      k.profits.push_back(profit);
      k.weights.push_back(weight);
      k.capacity += weight;
    }
    k.capacity /= 2;
    return k;
  }
  int items() const { return int(profits.size()); }

  // Dantzig's bound: whole items, then a fraction of the next one, rounded up.
  Value bound(const Node& node) const {
    int64_t room = capacity - node.weight, profit = node.profit;
    for (int i = node.next; i < items(); ++i) {
      if (weights[size_t(i)] > room) {
        profit += (profits[size_t(i)] * room + weights[size_t(i)] - 1) / weights[size_t(i)];
        break;
      }
      room -= weights[size_t(i)];
      profit += profits[size_t(i)];
    }
    return {-profit + bound_error, node.weight};
  }
  template <typename Sink>
  void add(const Node& node, Sink& sink) const {
    if (node.weight > capacity) return;
    if (node.next == items()) {
      sink.leaf({-node.profit, node.weight}, [&] { return node.taken; });
    } else {
      sink.branch(bound(node), [&] { return node; });
    }
  }
  template <typename Sink>
  void roots(Sink& sink) const {
    add(Node{}, sink);
  }
  template <typename Sink>
  void expand(const Node& node, Sink& sink) const {
    Node child = node;
    ++child.next;
    add(child, sink);
    child.profit += profits[size_t(node.next)];
    child.weight += weights[size_t(node.next)];
    child.taken |= uint64_t(1) << node.next;
    add(child, sink);
  }
  std::optional<Value> brute_force() const {
    std::optional<Value> best;
    for (uint64_t set = 0; set < uint64_t(1) << items(); ++set) {
      Value value{};
      for (int i = 0; i < items(); ++i) {
        if (!(set >> i & 1)) continue;
        value.primary -= profits[size_t(i)];
        value.secondary += weights[size_t(i)];
      }
      if (value.secondary <= capacity && (!best || value < *best)) best = value;
    }
    return best;
  }
};

// Facilities to locations, minimising sum of flow * distance; the bound is the cost of the placed pairs.
// `dominance` declares two locations alike when every distance of theirs agrees.
struct Assignment {
  static constexpr int kMost = 9;
  using Value = int64_t;
  using Solution = std::array<int8_t, kMost>;
  struct Node {
    Solution place{};
    int8_t placed = 0;
    int64_t cost = 0;
  };
  int size = 0;
  std::array<std::array<int64_t, kMost>, kMost> flow{}, distance{};

  static Assignment random(int size, uint64_t seed) {
    Random r(seed);
    Assignment a;
    a.size = size;
    for (int i = 0; i < size; ++i) {
      for (int j = 0; j < size; ++j) {
        a.flow[size_t(i)][size_t(j)] = r.between(0, 9);
        a.distance[size_t(i)][size_t(j)] = i == j ? 0 : r.between(1, 9);
      }
    }
    return a;
  }
  int64_t added(const Node& node, int location) const {
    const size_t facility = size_t(node.placed);
    int64_t cost = 0;
    for (size_t other = 0; other < facility; ++other) {
      const size_t there = size_t(node.place[other]);
      cost += flow[facility][other] * distance[size_t(location)][there] +
              flow[other][facility] * distance[there][size_t(location)];
    }
    return cost;
  }
  template <typename Sink>
  void roots(Sink& sink) const {
    sink.branch(0, [] { return Node{}; });
  }
  template <typename Sink>
  void expand(const Node& node, Sink& sink) const {
    for (int location = 0; location < size; ++location) {
      const auto end = node.place.begin() + node.placed;
      if (std::find(node.place.begin(), end, int8_t(location)) != end) continue;
      Node child = node;
      child.cost += added(node, location);
      child.place[size_t(child.placed++)] = int8_t(location);
      if (child.placed == size) {
        sink.leaf(child.cost, [&] { return child.place; });
      } else {
        sink.branch(child.cost, [&] { return child; });
      }
    }
  }
  int64_t brute_force() const {
    std::array<int, kMost> place{};
    std::iota(place.begin(), place.end(), 0);
    int64_t best = INT64_MAX;
    do {
      int64_t cost = 0;
      for (int i = 0; i < size; ++i) {
        for (int j = 0; j < size; ++j) {
          cost += flow[size_t(i)][size_t(j)] * distance[size_t(place[size_t(i)])][size_t(place[size_t(j)])];
        }
      }
      best = std::min(best, cost);
    } while (std::next_permutation(place.begin(), place.begin() + size));
    return best;
  }
};

// Closed tours of 8 cities on a grid; solutions are permutations.
struct Tour {
  static constexpr int kCities = 8;
  using Value = int64_t;
  using Solution = std::array<int8_t, kCities>;
  std::array<std::array<int64_t, kCities>, kCities> distance{};

  static Tour random(uint64_t seed) {
    Random r(seed);
    Tour t;
    for (int i = 0; i < kCities; ++i) {
      for (int j = 0; j < i; ++j) {
        t.distance[size_t(i)][size_t(j)] = t.distance[size_t(j)][size_t(i)] = r.between(1, 1000);
      }
    }
    return t;
  }
  Solution sample(Random& r) const {
    Solution s{};
    std::iota(s.begin(), s.end(), int8_t(0));
    for (size_t i = kCities; i > 1; --i) std::swap(s[i - 1], s[size_t(r.between(0, int64_t(i) - 1))]);
    return s;
  }
  Solution neighbour(Solution s, Random& r) const {
    const int64_t a = r.between(0, kCities - 1), b = r.between(0, kCities - 1);
    std::reverse(s.begin() + std::min(a, b), s.begin() + std::max(a, b) + 1);
    return s;
  }
  // A prefix of `a`, the rest in the order of `b`.
  Solution crossover(const Solution& a, const Solution& b, Random& r) const {
    Solution s = a;
    auto end = s.begin() + r.between(0, kCities);
    for (int8_t city : b) {
      if (std::find(s.begin(), end, city) == end) *end++ = city;
    }
    return s;
  }
  std::optional<Value> cost(const Solution& s) const {
    Value sum = 0;
    for (size_t i = 0; i < kCities; ++i) sum += distance[size_t(s[i])][size_t(s[(i + 1) % kCities])];
    return sum;
  }
  Value brute_force() const {
    Solution s{};
    std::iota(s.begin(), s.end(), int8_t(0));
    Value best = *cost(s);
    while (std::next_permutation(s.begin() + 1, s.end())) best = std::min(best, *cost(s));
    return best;
  }
};

// sum x^2 - 10 cos(2 pi x / 5) + 10 over six integers in -60..60, least (0) at the origin, with a local
// minimum near every multiple of 5; points with an odd sum are invalid.
struct Rastrigin {
  using Value = double;
  using Solution = std::array<int, 6>;
  Solution sample(Random& r) const {
    Solution s{};
    for (int& x : s) x = int(r.between(-60, 60));
    return s;
  }
  Solution neighbour(Solution s, Random& r) const {
    for (int changes = int(r.between(1, 2)); changes-- > 0;) {
      int& x = s[size_t(r.between(0, 5))];
      x = std::clamp(x + int(r.between(-5, 5)), -60, 60);
    }
    return s;
  }
  Solution crossover(const Solution& a, const Solution& b, Random& r) const {
    Solution s = a;
    for (size_t i = 0; i < s.size(); ++i) {
      if (r.chance(0.5)) s[i] = b[i];
    }
    return s;
  }
  std::optional<Value> cost(const Solution& s) const {
    if (std::accumulate(s.begin(), s.end(), 0) % 2 != 0) return std::nullopt;
    double sum = 0;
    for (int x : s) sum += double(x) * x + 10 - 10 * std::cos(2 * 3.14159265358979 * x / 5);
    return sum;
  }
};

}  // namespace tilewright

// The set of mutually non-dominated points of two, three or more objectives, all minimised. Points are kept
// in lexicographic order; with two objectives the second one then falls along the front, so that one binary
// search decides dominance. With more a scan of the points with a smaller first objective decides it.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <utility>
#include <vector>

#include "tilewright/search/objective.h"

namespace tilewright {

template <typename T, size_t N, typename Payload>
class ParetoFront {
  static_assert(N >= 2);

 public:
  using Point = std::array<T, N>;
  struct Member {
    Point point{};
    Payload payload{};
  };

  const std::vector<Member>& members() const { return members_; }
  bool empty() const { return members_.empty(); }
  size_t size() const { return members_.size(); }

  // Whether a member is at most `point` in every objective, so that `point` and all above it add nothing.
  bool covers(const Point& point) const {
    if constexpr (N == 2) {
      const auto above =
          std::upper_bound(members_.begin(), members_.end(), point[0],
                           [](const T& x, const Member& member) { return x < member.point[0]; });
      return above != members_.begin() && !(point[1] < std::prev(above)->point[1]);
    } else {
      for (const Member& member : members_) {
        if (point[0] < member.point[0]) return false;
        if (bounds_from_below(member.point, point)) return true;
      }
      return false;
    }
  }

  // Adds `point` unless a member covers it, and drops the members that it covers. Of several payloads of one
  // point the first stays. `make` gives the payload and is called only when the point enters. Returns whether
  // it did.
  template <typename Make>
  bool insert(const Point& point, Make&& make) {
    if (covers(point)) return false;
    const auto place = std::lower_bound(members_.begin(), members_.end(), point, before);
    const auto dead = std::remove_if(
        place, members_.end(), [&](const Member& member) { return bounds_from_below(point, member.point); });
    const size_t at = size_t(place - members_.begin());
    members_.erase(dead, members_.end());
    members_.insert(members_.begin() + std::ptrdiff_t(at), Member{point, make()});
    return true;
  }

  // Inserts every member of `other`. Returns whether one entered.
  bool merge(ParetoFront&& other) {
    bool entered = false;
    for (Member& member : other.members_) {
      entered |= insert(member.point, [&]() -> Payload&& { return std::move(member.payload); });
    }
    other.members_.clear();
    return entered;
  }

  // Area (two objectives) or volume (three) that the front dominates below `reference`; points that are not
  // below it in every objective count nothing.
  double hypervolume(const Point& reference) const requires(N == 2 || N == 3) {
    std::vector<std::array<double, N>> points;
    for (const Member& member : members_) {
      std::array<double, N> point{};
      for (size_t i = 0; i < N; ++i) point[i] = as_double(reference[i]) - as_double(member.point[i]);
      if (std::all_of(point.begin(), point.end(), [](double edge) { return edge > 0; }))
        points.push_back(point);
    }
    if constexpr (N == 2) {
      return area(std::move(points));
    } else {
      return volume(std::move(points));
    }
  }

 private:
  static bool before(const Member& member, const Point& point) { return member.point < point; }

  // Union of the rectangles [0, a] x [0, b].
  static double area(std::vector<std::array<double, 2>> edges) {
    std::sort(edges.begin(), edges.end(), std::greater<>());
    double sum = 0, height = 0;
    for (const std::array<double, 2>& edge : edges) {
      if (edge[1] <= height) continue;
      sum += edge[0] * (edge[1] - height);
      height = edge[1];
    }
    return sum;
  }

  // Slabs between successive third edges, each with the area of the boxes that reach it.
  static double volume(std::vector<std::array<double, 3>> edges) {
    std::sort(edges.begin(), edges.end(),
              [](const std::array<double, 3>& a, const std::array<double, 3>& b) { return a[2] > b[2]; });
    double sum = 0;
    std::vector<std::array<double, 2>> reached;
    for (size_t i = 0; i < edges.size(); ++i) {
      reached.push_back({edges[i][0], edges[i][1]});
      sum += (edges[i][2] - (i + 1 < edges.size() ? edges[i + 1][2] : 0)) * area(reached);
    }
    return sum;
  }

  std::vector<Member> members_;
};

}  // namespace tilewright

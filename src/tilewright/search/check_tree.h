// Checks the promises of a tree problem against the enumeration of its whole tree: every bound is at most
// every leaf below it, and every dominated child is no better than the one that dominates it.
#pragma once

#include <algorithm>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "tilewright/base/error.h"
#include "tilewright/search/objective.h"
#include "tilewright/search/tree_search.h"

namespace tilewright {

template <typename Value>
struct TreeCheck {
  int64_t nodes = 0;
  int64_t leaves = 0;
  std::optional<Value> best;  // least leaf; least of each objective for arrays
};

template <TreeProblem Problem>
class TreeChecker {
 public:
  using Node = typename Problem::Node;
  using Value = typename Problem::Value;

  explicit TreeChecker(const Problem& problem) : problem_(problem) {}

  TreeCheck<Value> run() {
    Children children;
    problem_.roots(children);
    check_.best = least_below(children, 1);
    check_.leaves += children.leaves;
    return check_;
  }

 private:
  struct Child {
    Value bound;
    Node node;
    std::optional<Value> least;
  };
  struct Children {
    std::vector<Child> nodes;
    std::optional<Value> least_leaf;
    int64_t leaves = 0;

    bool prunes(const Value&) { return false; }
    template <typename Make>
    void branch(const Value& bound, Make&& make) {
      nodes.push_back(Child{bound, make(), {}});
    }
    template <typename Make>
    void leaf(const Value& value, Make&&) {
      ++leaves;
      least_leaf = least(least_leaf, value);
    }
  };

  static std::optional<Value> least(const std::optional<Value>& a, const std::optional<Value>& b) {
    if (!a || !b) return a ? a : b;
    return lower(*a, *b);
  }

  std::optional<Value> least_below(Children& children, int depth) {
    std::optional<Value> below = children.least_leaf;
    for (Child& child : children.nodes) {
      ++check_.nodes;
      Children next;
      problem_.expand(child.node, next);
      check_.leaves += next.leaves;
      child.least = least_below(next, depth + 1);
      below = least(below, child.least);
      if (child.least && !bounds_from_below(child.bound, *child.least)) fail_bound(child, depth);
    }
    if constexpr (HasDominance<Problem>) check_dominance(children.nodes, depth);
    return below;
  }

  void check_dominance(std::vector<Child>& nodes, int depth) const {
    std::stable_sort(nodes.begin(), nodes.end(),
                     [](const Child& a, const Child& b) { return a.bound < b.bound; });
    for (size_t j = 1; j < nodes.size(); ++j) {
      for (size_t i = 0; i < j; ++i) {
        if (!nodes[j].least || !problem_.dominates(nodes[i].node, nodes[j].node)) continue;
        TILEWRIGHT_CHECK(
            nodes[i].least && bounds_from_below(*nodes[i].least, *nodes[j].least),
            "a child at depth " + std::to_string(depth) + " is dominated by one with worse leaves");
      }
    }
  }

  [[noreturn]] static void fail_bound(const Child& child, int depth) {
    std::string message =
        "the bound of a node at depth " + std::to_string(depth) + " is above a leaf below it";
    if constexpr (requires { as_double(child.bound); }) {
      message += ": bound " + std::to_string(as_double(child.bound)) + ", leaf " +
                 std::to_string(as_double(*child.least));
    }
    throw Error(ErrorKind::kInternal, message);
  }

  const Problem& problem_;
  TreeCheck<Value> check_;
};

// Visits every node of the tree. Throws an Error (internal) at the first broken promise.
template <TreeProblem Problem>
TreeCheck<typename Problem::Value> check_tree(const Problem& problem) {
  return TreeChecker<Problem>(problem).run();
}

}  // namespace tilewright

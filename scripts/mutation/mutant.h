// What a mutated source is compiled with: each mutant is a call that computes what the source says, or, when
// the mutant with its number is switched on, something else. Nothing here includes the project.
#pragma once

#include <algorithm>
#include <cmath>
#include <concepts>
#include <initializer_list>
#include <type_traits>

namespace mutation {

extern int active;              // the mutant switched on, or -1
extern unsigned char* reached;  // by number: 1 once the mutant was evaluated

[[gnu::always_inline]] inline bool on(int id) {
  *const_cast<volatile unsigned char*>(reached + id) = 1;
  return active == id;
}

#define MUTATION_COMPARISON(name, op, other)                                \
  template <class A, class B>                                               \
  [[gnu::always_inline]] inline bool name(int id, const A& a, const B& b) { \
    return on(id) ? bool(a other b) : bool(a op b);                         \
  }
MUTATION_COMPARISON(less, <, <=)
MUTATION_COMPARISON(less_equal, <=, <)
MUTATION_COMPARISON(greater, >, >=)
MUTATION_COMPARISON(greater_equal, >=, >)
MUTATION_COMPARISON(equal, ==, !=)
MUTATION_COMPARISON(not_equal, !=, ==)
#undef MUTATION_COMPARISON

// The type of the whole stays that of the source.
#define MUTATION_ARITHMETIC(name, op, other)                                                  \
  template <class A, class B>                                                                 \
  [[gnu::always_inline]] inline auto name(int id, const A& a, const B& b)->decltype(a op b) { \
    if (on(id)) return static_cast<decltype(a op b)>(other);                                  \
    return a op b;                                                                            \
  }
MUTATION_ARITHMETIC(sum_without_right, +, a)
MUTATION_ARITHMETIC(sum_without_left, +, b)
MUTATION_ARITHMETIC(difference_without_right, -, a)
MUTATION_ARITHMETIC(product_without_right, *, a)
MUTATION_ARITHMETIC(product_without_left, *, b)
MUTATION_ARITHMETIC(swapped_difference, -, b - a)
MUTATION_ARITHMETIC(swapped_quotient, /, b / a)
#undef MUTATION_ARITHMETIC

// Integers only: the quotient, rounded up.
template <std::integral A, std::integral B>
[[gnu::always_inline]] inline auto quotient(int id, const A& a, const B& b) -> decltype(a / b) {
  if (a % b == 0) return a / b;  // not reached: it changes nothing
  return on(id) ? a / b + 1 : a / b;
}

[[gnu::always_inline]] inline int number(int id, int value) { return on(id) ? value + 1 : value; }
template <class A>
[[gnu::always_inline]] inline bool opposite(int id, const A& a) {
  return on(id) ? static_cast<bool>(a) : !static_cast<bool>(a);
}
// What is added by += or -=.
template <class A>
requires(!std::is_pointer_v<std::decay_t<A>>)
    [[gnu::always_inline]] inline std::decay_t<A> term(int id, const A& a) {
  if (on(id)) return std::decay_t<A>{};
  return a;
}

// The first of two arguments that a mutant swaps; either keeps what kind of value it is.
template <class A>
[[gnu::always_inline]] inline A& one_of(int id, A& a, A& b) {
  return on(id) ? b : a;
}
template <class A>
[[gnu::always_inline]] inline const A& one_of(int id, const A& a, const A& b) {
  return on(id) ? b : a;
}

template <class A>
const A& min(int id, const A& a, const A& b) {
  return on(id) ? std::max(a, b) : std::min(a, b);
}
template <class A>
const A& max(int id, const A& a, const A& b) {
  return on(id) ? std::min(a, b) : std::max(a, b);
}
template <class A>
A min(int id, std::initializer_list<A> list) {
  return on(id) ? std::max(list) : std::min(list);
}
template <class A>
A max(int id, std::initializer_list<A> list) {
  return on(id) ? std::min(list) : std::max(list);
}
template <class... A>
auto min_element(int id, A... a) {
  return on(id) ? std::max_element(a...) : std::min_element(a...);
}
template <class... A>
auto max_element(int id, A... a) {
  return on(id) ? std::min_element(a...) : std::max_element(a...);
}

#define MUTATION_ROUNDING(name, other)                            \
  template <class A>                                              \
  auto name(int id, A a) {                                        \
    return on(id) ? decltype(std::name(a))(other) : std::name(a); \
  }
MUTATION_ROUNDING(ceil, std::floor(a))
MUTATION_ROUNDING(floor, std::ceil(a))
MUTATION_ROUNDING(trunc, std::floor(a))
MUTATION_ROUNDING(round, std::floor(a))
MUTATION_ROUNDING(nearbyint, std::floor(a))
MUTATION_ROUNDING(lround, std::floor(a))
MUTATION_ROUNDING(llround, std::floor(a))
#undef MUTATION_ROUNDING

// A rounded division or shift of the project, computed by `whole`, without its rounding.
template <class Whole, class A, class B>
auto division(int id, Whole whole, A a, B b) {
  return on(id) ? decltype(whole(a, b))(a / b) : whole(a, b);
}
template <class Whole, class A, class B>
auto shift(int id, Whole whole, A a, B b) {
  return on(id) ? decltype(whole(a, b))(a >> b) : whole(a, b);
}

}  // namespace mutation

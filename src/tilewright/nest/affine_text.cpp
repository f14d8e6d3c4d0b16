// A hand-written parser of
//   index = ["-"] term {("+" | "-") term},  term = factor ["*" factor],  factor = INTEGER | NAME
// with spaces anywhere between tokens, and its inverse. Numbers are limited to 2^40.
#include "tilewright/nest/affine_text.h"

#include <fmt/format.h>

#include <charconv>
#include <optional>

namespace tilewright {
namespace {

constexpr int64_t kMostCoefficient = int64_t{1} << 40;

bool name_start(char c) { return c == '_' || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }
bool digit(char c) { return c >= '0' && c <= '9'; }

// A term's factor: a number or a dimension.
struct Factor {
  int64_t number = 1;
  std::optional<int> dimension;
};

class AffineParser {
 public:
  AffineParser(std::string_view text, const Workload& workload) : text_(text), workload_(workload) {}

  bool run(Rank& rank, std::string& problem) {
    int64_t sign = accept('-') ? -1 : 1;
    do {
      term(sign, rank);
      if (accept('+')) {
        sign = 1;
      } else if (accept('-')) {
        sign = -1;
      } else {
        sign = 0;
      }
    } while (sign != 0 && problem_.empty());
    if (problem_.empty() && at_ != text_.size()) fail(fmt::format("'{}' is not expected", text_[at_]));
    problem = problem_;
    return problem_.empty();
  }

 private:
  void fail(std::string problem) {
    if (problem_.empty()) problem_ = std::move(problem);
  }
  void skip() {
    while (at_ < text_.size() && text_[at_] == ' ') ++at_;
  }
  bool accept(char c) {
    skip();
    if (at_ == text_.size() || text_[at_] != c) return false;
    ++at_;
    return true;
  }

  Factor factor() {
    skip();
    Factor factor;
    const size_t begin = at_;
    if (at_ < text_.size() && name_start(text_[at_])) {
      while (at_ < text_.size() && (name_start(text_[at_]) || digit(text_[at_]))) ++at_;
      const std::string name(text_.substr(begin, at_ - begin));
      factor.dimension = workload_.find_dimension(name);
      if (!factor.dimension) fail(fmt::format("there is no dimension '{}'", name));
      return factor;
    }
    const auto [end, error] = std::from_chars(text_.data() + at_, text_.data() + text_.size(), factor.number);
    if (error != std::errc() || factor.number > kMostCoefficient || factor.number < -kMostCoefficient) {
      fail("a dimension or an integer up to 2^40 is expected");
    } else {
      at_ = size_t(end - text_.data());
    }
    return factor;
  }

  void term(int64_t sign, Rank& rank) {
    const Factor first = factor();
    if (!problem_.empty()) return;
    Factor second;
    const bool product = accept('*');
    if (product) second = factor();
    if (!problem_.empty()) return;
    if (first.dimension && second.dimension) return fail("a product of two dimensions is not affine");
    if (product && !first.dimension && !second.dimension)
      return fail("one factor of a product is a dimension");
    if (first.dimension || second.dimension) {
      rank.terms.push_back({first.dimension ? *first.dimension : *second.dimension,
                            sign * (first.dimension ? second.number : first.number)});
      return;
    }
    rank.offset += sign * first.number;
    if (rank.offset > kMostCoefficient || rank.offset < -kMostCoefficient) fail("the offset is beyond 2^40");
  }

  std::string_view text_;
  const Workload& workload_;
  size_t at_ = 0;
  std::string problem_;
};

}  // namespace

bool is_index_name(const std::string& name) {
  if (name.empty() || !name_start(name[0])) return false;
  for (const char c : name) {
    if (!name_start(c) && !digit(c)) return false;
  }
  return true;
}

bool parse_affine(const std::string& text, const Workload& workload, Rank& rank, std::string& problem) {
  rank.offset = 0;
  rank.terms.clear();
  return AffineParser(text, workload).run(rank, problem);
}

std::string print_affine(const Rank& rank, const Workload& workload) {
  std::string text;
  for (const ProjectionTerm& term : rank.terms) {
    const std::string& name = workload.dimensions[size_t(term.dimension)].name;
    const int64_t magnitude = term.coefficient < 0 ? -term.coefficient : term.coefficient;
    if (term.coefficient < 0) {
      text += text.empty() ? "-" : " - ";
    } else if (!text.empty()) {
      text += " + ";
    }
    text += magnitude == 1 ? name : fmt::format("{}*{}", magnitude, name);
  }
  if (rank.offset == 0 && !text.empty()) return text;
  if (text.empty()) return fmt::format("{}", rank.offset);
  return text +
         fmt::format(" {} {}", rank.offset < 0 ? '-' : '+', rank.offset < 0 ? -rank.offset : rank.offset);
}

}  // namespace tilewright

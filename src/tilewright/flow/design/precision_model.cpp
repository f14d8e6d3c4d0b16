// Bits of weights and of classes are variables. A stage reads the bits of its weights, its input and its
// output; losses read one each. What is limited besides the resource in question is given prices: a front
// over one priced sum is exact and quick, and several prices find what the limits leave.
#include <algorithm>
#include <cmath>
#include <map>

#include "tilewright/base/parallel.h"
#include "tilewright/flow/design/precision_search.h"
#include "tilewright/pipeline/allocate/width_options.h"
#include "tilewright/pipeline/estimate/resource_model.h"

namespace tilewright {
namespace {

using pipeline::StageWidths;
using synthesis::Resources;
using pipeline::operator+;

constexpr int64_t Resources::*kModelled[] = {&Resources::lut, &Resources::dsp, &Resources::bram,
                                             &Resources::ff};
// Of all other resources, each as a share of its limit, beside the share of the resource in question.
constexpr double kPrices[] = {0, 0.02, 0.05, 0.1, 0.15, 0.2, 0.3, 0.4, 0.6, 0.8, 1.2, 1.6};
// What the search for a design can still save of the others.
constexpr double kSlack = 1.05;

double priced(const Resources& need, const Resources& limits, int64_t Resources::*resource, double price) {
  double sum = 0;
  for (const auto own : kModelled) {
    const double share = double(need.*own) / double(std::max<int64_t>(1, limits.*own));
    sum += own == resource ? share : price * share;
  }
  return sum;
}

bool within_limits(const Resources& need, const Resources& limits) {
  return std::all_of(std::begin(kModelled), std::end(kModelled),
                     [&](auto own) { return double(need.*own) <= kSlack * double(limits.*own); });
}

}  // namespace

PrecisionModel::PrecisionModel(PrecisionStudy& study, const pipeline::Budget& budget,
                               const std::vector<double>& stage_cycles, const std::vector<int>& widths,
                               int threads)
    : study_(study), widths_(widths) {
  const pipeline::Network network = study.network(study.uniform(8));
  const int layers = int(study.layers());
  const auto variable_of_class = [&](int tensor) {
    const int own = study.class_of()[size_t(tensor)];
    return own < 0 ? -1 : layers + own;
  };
  stages_.resize(network.layers.size());
  parallel_for(threads, int64_t(network.layers.size()), [&](int64_t begin, int64_t end) {
    pipeline::WidthOptions options(network, budget, stage_cycles);
    for (int64_t l = begin; l < end; ++l) {
      const pipeline::Layer& layer = network.layers[size_t(l)];
      // -1: 8 bits, which are not chosen.
      const int weights = study.layer_of()[size_t(l)], input = variable_of_class(layer.input),
                output = variable_of_class(layer.output);
      Stage& stage = stages_[size_t(l)];
      for (const int v : {weights, input, output}) {
        const bool known =
            std::find(stage.variables.begin(), stage.variables.end(), v) != stage.variables.end();
        if (v >= 0 && !known) stage.variables.push_back(v);
      }
      const double cells = std::pow(double(widths_.size()), double(stage.variables.size()));
      for (size_t cell = 0; cell < size_t(std::llround(cells)); ++cell) {
        std::map<int, int> bits = {{-1, 8}};
        size_t rest = cell;
        for (const int v : stage.variables) {
          bits[v] = widths_[rest % widths_.size()];
          rest /= widths_.size();
        }
        stage.needs.push_back(
            options.needs(size_t(l), StageWidths{bits.at(weights), bits.at(input), bits.at(output)}));
      }
    }
  });
  frame_ = pipeline::WidthOptions(network, budget, stage_cycles).frame();
}

// A narrower number is not taken to be better than a wider one.
void PrecisionModel::measure(const PrecisionBits& around, int steps) {
  if (around == around_ && steps == steps_) return;
  around_ = around, steps_ = steps;
  losses_.clear();
  const double base = noise_share(study_.output_db(around));
  const auto index_of = [&](int bits) {
    return int(std::find(widths_.begin(), widths_.end(), bits) - widths_.begin());
  };
  const auto measure_all = [&](std::vector<int> PrecisionBits::*numbers) {
    for (size_t i = 0; i < (around.*numbers).size(); ++i) {
      std::vector<std::optional<double>> own(widths_.size());
      const int bits = (around.*numbers)[i], at = index_of(bits);
      std::optional<double> most;
      for (int w = int(widths_.size()) - 1; w >= 0; --w) {
        // One step up, `steps` down.
        if (w > at + 1 || w < at - steps) continue;
        PrecisionBits trial = around;
        (trial.*numbers)[i] = widths_[size_t(w)];
        const double loss = w == at ? 0 : noise_share(study_.output_db(trial)) - base;
        most = std::max(most.value_or(loss), loss);
        own[size_t(w)] = most;
      }
      losses_.push_back(own);
    }
  };
  measure_all(&PrecisionBits::weights);
  measure_all(&PrecisionBits::activations);
}

std::vector<PrecisionModel::Choice> PrecisionModel::front(const Resources& limits,
                                                          int64_t Resources::*resource,
                                                          const Deadline* deadline) const {
  std::vector<Choice> all;
  for (const double price : kPrices) {
    SeparableProblem problem;
    problem.limits = {kSlack * (1 + price * double(std::size(kModelled) - 1))};
    problem.limits[0] -= priced(frame_, limits, resource, price);
    for (const Stage& stage : stages_) {
      SeparableProblem::Term term;
      term.variables = stage.variables;
      for (const std::vector<Resources>& needs : stage.needs) {
        term.options.emplace_back();
        for (const Resources& need : needs)
          term.options.back().push_back({0, {priced(need, limits, resource, price), 0, 0, 0}});
      }
      problem.terms.push_back(term);
    }
    for (const std::vector<std::optional<double>>& own : losses_) {
      SeparableProblem::Term term;
      term.variables = {int(problem.values.size())};
      for (const std::optional<double>& loss : own) {
        term.options.emplace_back();
        if (loss) term.options.back().push_back({*loss, {}});
      }
      problem.values.push_back(int(widths_.size()));
      problem.terms.push_back(term);
    }
    for (const SeparableSolution& solution : solve_separable(problem, 1000, deadline).solutions) {
      Choice choice = choice_of(solution);
      if (!within_limits(choice.need, limits)) continue;
      all.push_back(std::move(choice));
    }
  }
  std::stable_sort(all.begin(), all.end(), [&](const Choice& a, const Choice& b) {
    return a.loss != b.loss ? a.loss < b.loss : a.need.*resource < b.need.*resource;
  });
  std::vector<Choice> front;
  for (Choice& choice : all) {
    if (front.empty() || choice.need.*resource < front.back().need.*resource)
      front.push_back(std::move(choice));
  }
  return front;
}

PrecisionModel::Choice PrecisionModel::choice_of(const SeparableSolution& solution) const {
  Choice choice;
  choice.loss = solution.loss;
  choice.need = frame_;
  for (size_t s = 0; s < stages_.size(); ++s) {
    size_t cell = 0, stride = 1;
    for (const int v : stages_[s].variables) {
      cell += stride * size_t(solution.values[size_t(v)]);
      stride *= widths_.size();
    }
    choice.need = choice.need + stages_[s].needs[cell][size_t(solution.options[s])];
  }
  for (size_t v = 0; v < solution.values.size(); ++v) {
    (v < study_.layers() ? choice.bits.weights : choice.bits.activations)
        .push_back(widths_[size_t(solution.values[v])]);
  }
  return choice;
}

}  // namespace tilewright

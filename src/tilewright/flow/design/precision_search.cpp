// What the model promises is measured, and what designs need more than it says moves the next step.
#include "tilewright/flow/design/precision_search.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <map>

#include "tilewright/base/error.h"
#include "tilewright/base/words/named_values.h"
#include "tilewright/base/words/nearest_word.h"
#include "tilewright/pipeline/allocate/stage_options.h"

namespace tilewright {
namespace {

using synthesis::Resources;

struct NamedResource {
  const char* name;
  const char* text;
  int64_t Resources::*value;
};
constexpr NamedResource kResources[] = {{"lut", "LUT", &Resources::lut},
                                        {"ff", "FF", &Resources::ff},
                                        {"dsp", "DSP", &Resources::dsp},
                                        {"bram", "BRAM", &Resources::bram},
                                        {"uram", "URAM", &Resources::uram}};
constexpr int kApproaches = 8;          // to the limit
constexpr size_t kTrained = 3;          // points
constexpr double kNearTheLimit = 1.25;  // what needs at most so much more is searched again within it

struct NamedLimit {
  std::string name;
  double value = 0;
};

std::vector<NamedLimit> named_limits(const std::string& text) {
  std::vector<NamedLimit> limits;
  Diagnostics problems;
  for (const auto& [name, value] : named_values(text)) {
    double number = 0;
    const auto [stop, failed] = std::from_chars(value.data(), value.data() + value.size(), number);
    const bool known =
        name == "cycles" || std::any_of(std::begin(kResources), std::end(kResources),
                                        [&](const NamedResource& resource) { return name == resource.name; });
    if (!known) {
      problems.error(ErrorKind::kInvalidInput, "bits for a budget", name, "is no resource",
                     words_hint(name, {"bram", "cycles", "dsp", "ff", "lut", "uram"}, "choose one of"));
    } else if (failed != std::errc{} || stop != value.data() + value.size() || !(number > 0) ||
               number > 1e15 || (number > 1 && number != std::floor(number))) {
      problems.error(ErrorKind::kInvalidInput, "bits for a budget", name,
                     "'" + value + "' is neither a share of at most 1 nor a count",
                     "a share of what 8 bits need (lut=0.5), or a count (lut=20000)");
    } else {
      limits.push_back({name, number});
    }
  }
  if (limits.empty() && problems.ok()) {
    problems.error(ErrorKind::kInvalidInput, "bits for a budget", "", "nothing is limited",
                   "for example lut=0.5");
  }
  problems.raise_if_any();
  return limits;
}

int64_t limit_of(double value, int64_t reference) {
  return value <= 1 ? int64_t(std::floor(value * double(reference))) : int64_t(value);
}

// A limit that `need` keeps: a share of what 8 bits need, or a count where it is more than that.
std::string limit_text(int64_t need, int64_t eight) {
  const double share = std::ceil(100 * double(need) / double(std::max<int64_t>(1, eight))) / 100;
  return share <= 1 ? fmt::format("{:.2f}", share) : fmt::format("{}", need);
}

bool more_right(const PrecisionPoint& a, const PrecisionPoint& b) {
  return a.right != b.right ? a.right > b.right : a.output_db > b.output_db;
}

// Training moves weights away from the float network's: with less precise outputs, what it gains has to be
// above the noise of so many samples. One answer of 256 more was 67 of 10,000 others fewer.
bool clearly_more_right(const PrecisionPoint& trained, const PrecisionPoint& plain) {
  if (trained.output_db >= plain.output_db) return more_right(trained, plain);
  const int64_t wrong = trained.samples - trained.right + plain.samples - plain.right;
  return double(trained.right - plain.right) > std::sqrt(double(wrong) / 2);
}

class PrecisionSearcher {
 public:
  PrecisionSearcher(const Graph& float_graph, const PrecisionSearchRequest& request)
      : request_(request), study_(float_graph, request.study) {}

  PrecisionSearchResult run() {
    result_.resource = request_.study.sparing;
    result_.layer_names = study_.layer_names();
    result_.class_names = study_.class_names();
    result_.layer_weights = study_.layer_weights();
    result_.latency = request_.study.objective == pipeline::Objective::kLatency;
    result_.labelled = !request_.study.labels.empty();
    result_.float_right = study_.float_right();
    result_.reference = study_.reference();
    result_.reference_cycles = study_.cycles(result_.reference.estimate);
    result_.limits = precision_limits(request_.limits, result_.reference.estimate, result_.reference_cycles);
    add(result_.reference);
    PrecisionModel model(study_, request_.study.budget, stage_cycles(), request_.widths,
                         request_.study.options.threads);
    model.measure(result_.reference.bits, int(request_.widths.size()));
    const std::vector<PrecisionModel::Choice> whole = front_of(model);
    if (!whole.empty()) descend(model, whole);
    choose();
    return std::move(result_);
  }

 private:
  const Resources& reference() const { return result_.reference.estimate.resources; }
  int64_t limit() const { return result_.limits.resources.*result_.resource; }

  // A stage may take as long as in the design of 8 bits or, for throughput, as the slowest one there; less
  // where fewer cycles are asked for.
  std::vector<double> stage_cycles() {
    const double share =
        std::min(1.0, double(result_.limits.cycles) / double(std::max<int64_t>(1, result_.reference_cycles)));
    const pipeline::Network network = study_.network(result_.reference.bits);
    std::vector<double> cycles;
    for (size_t l = 0; l < network.layers.size(); ++l) {
      const pipeline::LayerGeometry geometry =
          pipeline::layer_geometry(network, result_.reference.allocation, l);
      const double own = pipeline::stage_timing(geometry).pace;
      cycles.push_back(share * (result_.latency ? own : double(result_.reference.estimate.interval_cycles)));
    }
    return cycles;
  }

  // The front goes on to what 8 bits need.
  Resources searched() const {
    Resources limits = result_.limits.resources;
    limits.*result_.resource = std::max(limit(), reference().*result_.resource);
    return limits;
  }

  bool within(const PrecisionPoint& point) const {
    const Resources& need = point.estimate.resources;
    return study_.cycles(point.estimate) <= result_.limits.cycles &&
           std::all_of(std::begin(kResources), std::end(kResources), [&](const NamedResource& resource) {
             return need.*resource.value <= result_.limits.resources.*resource.value;
           });
  }

  void add(PrecisionPoint point) {
    ++result_.measured;
    measured_.push_back(std::move(point));
  }

  // nullptr: the budget holds no design for it, or it was measured before and is there.
  const PrecisionPoint* measure(const PrecisionBits& bits) {
    for (const PrecisionPoint& known : measured_) {
      if (known.bits == bits) return &known;
    }
    std::optional<PrecisionPoint> point = design_of(study_.quantize(bits), bits);
    if (!point) return nullptr;
    add(std::move(*point));
    return &measured_.back();
  }

  // nullopt: the budget holds none. What just misses the limits is searched again within them alone.
  std::optional<PrecisionPoint> design_of(const Graph& quantized, const PrecisionBits& bits) {
    std::optional<PrecisionPoint> point = design_within(searched(), quantized, bits);
    const bool near = point && !within(*point) &&
                      double(point->estimate.resources.*result_.resource) <= kNearTheLimit * double(limit());
    if (!near) return point;
    std::optional<PrecisionPoint> tight = design_within(result_.limits.resources, quantized, bits);
    return tight && within(*tight) ? tight : point;
  }

  std::optional<PrecisionPoint> design_within(const Resources& resources, const Graph& quantized,
                                              const PrecisionBits& bits) {
    pipeline::Budget budget = request_.study.budget;
    budget.resources = resources;
    try {
      return study_.point_of(quantized, bits, budget, result_.limits.cycles);
    } catch (const Error& error) {
      if (error.kind() != ErrorKind::kInfeasible) throw;
      return std::nullopt;
    }
  }

  std::vector<PrecisionModel::Choice> front_of(const PrecisionModel& model) const {
    return model.front(searched(), result_.resource, request_.study.deadline);
  }

  // The first that needs at most so much; none: nullptr.
  const PrecisionModel::Choice* best_within(const std::vector<PrecisionModel::Choice>& front,
                                            double need) const {
    for (const PrecisionModel::Choice& choice : front) {
      if (double(choice.need.*result_.resource) <= need) return &choice;
    }
    return nullptr;
  }

  // The better of what the model says around `from` and what it says around 8 bits.
  std::optional<PrecisionModel::Choice> step(PrecisionModel& model, const PrecisionBits& from,
                                             const std::vector<PrecisionModel::Choice>& whole, double need) {
    model.measure(from, 2);
    const std::vector<PrecisionModel::Choice> near = front_of(model);
    std::optional<PrecisionModel::Choice> best;
    double best_db = 0;
    for (const auto* front : {&near, &whole}) {
      const PrecisionModel::Choice* const choice = best_within(*front, need);
      if (choice == nullptr) continue;
      const double db = study_.output_db(choice->bits);
      if (!best || db > best_db) best = *choice, best_db = db;
    }
    return best;
  }

  void descend(PrecisionModel& model, const std::vector<PrecisionModel::Choice>& whole) {
    // Of designs to the sum of their stages.
    double ratio =
        double(reference().*result_.resource) / std::max(1.0, double(whole.front().need.*result_.resource));
    const double least_need = double(whole.back().need.*result_.resource);
    PrecisionBits from = result_.reference.bits;
    for (const double wanted : targets(ratio * least_need)) {
      const bool at_limit = wanted == double(limit());
      PrecisionBits best = from;
      double best_db = -1e9, need = wanted / ratio;
      double held = 0, exceeded = 0;  // the model's needs of what kept the limit and what did not; 0: none
      bool at_least = false;  // what is out of the model's reach is tried with the least it knows, once
      for (int i = 0; i < (at_limit ? kApproaches : 1); ++i) {
        if (need < least_need) {
          if (at_least) break;
          need = least_need, at_least = true;
        }
        const std::optional<PrecisionModel::Choice> choice = step(model, best, whole, need);
        if (!choice) break;
        const double own = double(choice->need.*result_.resource);
        const PrecisionPoint* const point = measure(choice->bits);
        const bool over = point == nullptr || (at_limit && !within(*point));
        if (point != nullptr)
          ratio = double(point->estimate.resources.*result_.resource) / std::max(1.0, own);
        if (over) {
          exceeded = exceeded == 0 ? own : std::min(exceeded, own);
        } else {
          held = std::max(held, own);
          if (point->output_db > best_db) best = choice->bits, best_db = point->output_db;
        }
        double next = wanted / ratio;
        if (held > 0 && exceeded > 0) {
          if (exceeded - held < 0.01 * exceeded) break;
          // Not the middle: what was held before is chosen again where nothing lies between.
          next = held + 0.7 * (exceeded - held);
          if (i > 0 && std::abs(next - need) < 0.003 * need) next = held + 0.95 * (exceeded - held);
        } else if (over) {
          next = 0.99 * std::min(next, own);
        } else if (std::abs(next - need) < 0.003 * need) {
          break;
        }
        need = next;
      }
      from = best;
    }
  }

  // From much to little, the limit among them.
  std::vector<double> targets(double least) const {
    const double most = double(reference().*result_.resource);
    std::vector<double> list = {double(limit())};
    for (int64_t i = 1; i < request_.points; ++i)
      list.push_back(most + (least - most) * double(i) / double(request_.points - 1));
    std::sort(list.rbegin(), list.rend());
    return list;
  }

  void choose() {
    std::stable_sort(measured_.begin(), measured_.end(),
                     [&](const PrecisionPoint& a, const PrecisionPoint& b) {
                       return a.estimate.resources.*result_.resource < b.estimate.resources.*result_.resource;
                     });
    std::vector<const PrecisionPoint*> kept;
    for (const PrecisionPoint& point : measured_) {
      if (within(point)) kept.push_back(&point);
      const bool fast = study_.cycles(point.estimate) <= result_.limits.cycles;
      if (fast && (result_.front.empty() || more_right(point, result_.front.back())))
        result_.front.push_back(point);
    }
    if (kept.empty()) report_out_of_reach();
    std::stable_sort(kept.begin(), kept.end(),
                     [](const PrecisionPoint* a, const PrecisionPoint* b) { return more_right(*a, *b); });
    result_.chosen = *kept.front();
    result_.training.before = result_.chosen;
    result_.quantized = study_.quantize(result_.chosen.bits, &result_.report);
    if (request_.fine_tune) train(kept);
  }

  // The design is made for the trained weights: their sums may have other widths.
  void train(std::vector<const PrecisionPoint*> points) {
    PrecisionTraining& told = result_.training;
    told.problem = study_.fine_tuning_problem();
    if (!told.problem.empty()) return;
    points.resize(std::min(points.size(), kTrained));
    const Deadline all(request_.fine_tune->seconds);
    // There is a choice already: the end of the whole work ends training alone.
    finishes(all, [&] {
      for (size_t i = 0; i < points.size(); ++i)
        train_at(points[i]->bits, all.left() / double(points.size() - i));
    });
  }

  void train_at(const PrecisionBits& bits, double seconds) {
    FineTuneOptions options = *request_.fine_tune;
    options.seconds = seconds;
    const Graph trained = study_.fine_tune(bits, options);
    ++result_.training.trained;
    const std::optional<PrecisionPoint> point = design_of(trained, bits);
    if (!point || !within(*point)) return;
    const bool better = result_.training.kept ? more_right(*point, result_.chosen)
                                              : clearly_more_right(*point, result_.chosen);
    if (!better) return;
    result_.chosen = *point;
    result_.quantized = trained;
    study_.quantize(bits, &result_.report);
    result_.training.kept = true;
  }

  [[noreturn]] void report_out_of_reach() const {
    const PrecisionPoint* nearest = nullptr;
    double least = 0;
    for (const PrecisionPoint& point : measured_) {
      double over =
          double(study_.cycles(point.estimate)) / double(std::max<int64_t>(1, result_.limits.cycles));
      for (const NamedResource& resource : kResources) {
        over = std::max(over, double(point.estimate.resources.*resource.value) /
                                  std::max(0.5, double(result_.limits.resources.*resource.value)));
      }
      if (nearest == nullptr || over < least) nearest = &point, least = over;
    }
    Diagnostics problems;
    const auto check = [&](const char* name, int64_t need, int64_t limit, int64_t eight) {
      if (need <= limit) return;
      problems.error(
          ErrorKind::kInfeasible, "bits for a budget", name,
          fmt::format("the nearest of {} choices needs {}, the limit is {}; 8 bits need {}", result_.measured,
                      need, limit, eight),
          fmt::format("allow {}={}, narrower --widths or more cycles", name, limit_text(need, eight)));
    };
    for (const NamedResource& resource : kResources) {
      check(resource.name, nearest->estimate.resources.*resource.value,
            result_.limits.resources.*resource.value, reference().*resource.value);
    }
    check("cycles", study_.cycles(nearest->estimate), result_.limits.cycles, result_.reference_cycles);
    problems.raise_if_any();
    throw Error(ErrorKind::kInfeasible, "no choice of bits keeps the limits");
  }

  const PrecisionSearchRequest& request_;
  PrecisionStudy study_;
  PrecisionSearchResult result_;
  std::vector<PrecisionPoint> measured_;
};

}  // namespace

PrecisionLimits precision_limits(const std::string& text, const pipeline::Estimate& reference,
                                 int64_t reference_cycles) {
  PrecisionLimits limits{reference.resources, reference_cycles};
  for (const NamedLimit& named : named_limits(text)) {
    if (named.name == "cycles") limits.cycles = std::max<int64_t>(1, limit_of(named.value, reference_cycles));
    for (const NamedResource& resource : kResources) {
      if (named.name != resource.name) continue;
      limits.resources.*resource.value = limit_of(named.value, reference.resources.*resource.value);
    }
  }
  return limits;
}

int64_t Resources::*spared_resource(const std::string& text) {
  for (const NamedLimit& named : named_limits(text)) {
    for (const NamedResource& resource : kResources) {
      if (named.name == resource.name && resource.value != &Resources::uram) return resource.value;
    }
  }
  return &Resources::lut;
}

const char* resource_text(int64_t Resources::*resource) {
  for (const NamedResource& known : kResources) {
    if (known.value == resource) return known.text;
  }
  return "";
}

PrecisionSearchResult search_precision(const Graph& float_graph, const PrecisionSearchRequest& request) {
  PrecisionSearchResult result;
  const Deadline deadline(Deadline::kNoLimit, request.study.deadline);
  if (!finishes(deadline, [&] { result = PrecisionSearcher(float_graph, request).run(); })) {
    throw Error(ErrorKind::kInfeasible, "the time or memory limit was reached before bits were chosen",
                "give it more");
  }
  return result;
}

}  // namespace tilewright

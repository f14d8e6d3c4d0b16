// Each change follows the mean gradient of a batch, which is cut into fixed pieces that lanes take: sums are
// the same with any number of threads. What the network should answer on a changed sample, the float network
// says.
#include "tilewright/quantize/finetune/fine_tune.h"

#include <algorithm>
#include <cmath>
#include <mutex>
#include <numbers>
#include <numeric>

#include "tilewright/base/error.h"
#include "tilewright/base/parallel.h"
#include "tilewright/quantize/calibrate/calibration.h"
#include "tilewright/quantize/finetune/distillation_loss.h"
#include "tilewright/quantize/finetune/latent_numbers.h"
#include "tilewright/quantize/finetune/sample_variation.h"
#include "tilewright/quantize/finetune/trained_network.h"

namespace tilewright {
namespace {

constexpr int64_t kPiece = 4;  // runs that are computed together

std::vector<NodeId> nodes_of(const RoundedNetwork& network) {
  std::vector<NodeId> nodes;
  for (const RoundedLayer& layer : network.layers) nodes.push_back(layer.node);
  return nodes;
}

std::vector<bool> biased_of(const RoundedNetwork& network) {
  std::vector<bool> biased;
  for (const RoundedLayer& layer : network.layers) biased.push_back(!layer.bias.empty());
  return biased;
}

std::vector<RoundedValue> values_of(const RoundedNetwork& network) {
  std::vector<RoundedValue> values;
  for (size_t g = 0; g < network.groups.size(); ++g) {
    const RoundedGroup& group = network.groups[g];
    const auto zero = float(group.quantization.zero_point);
    const RoundingBounds bounds{float(group.form.lowest()) - zero, float(group.form.highest()) - zero};
    for (const ValueId value : group.values) values.push_back({value, int(g), bounds});
  }
  return values;
}

// Weights and biases as the float network has them.
std::vector<Numbers> float_numbers(const Graph& graph, const RoundedNetwork& network) {
  std::vector<Numbers> numbers;
  for (const RoundedLayer& layer : network.layers) {
    const Node& node = graph.nodes[size_t(layer.node)];
    numbers.push_back(graph.constant_input(node, 1)->to_floats());
    const Tensor* const bias = graph.constant_input(node, 2);
    Numbers own(layer.bias.size(), 0.0f);
    for (size_t o = 0; bias != nullptr && o < own.size(); ++o)
      own[o] = float(bias->number_at(bias->size() == 1 ? 0 : int64_t(o)));
    numbers.push_back(std::move(own));
  }
  return numbers;
}

class FineTuner {
 public:
  FineTuner(const Graph& graph, const RoundedNetwork& network, const std::vector<Tensor>& samples,
            const std::vector<int64_t>& labels, const FineTuneOptions& options, const Deadline* deadline)
      : options_(options),
        deadline_(options.seconds, deadline),
        watch_(deadline),
        student_(graph, nodes_of(network), biased_of(network), values_of(network)),
        teacher_(graph, nodes_of(network), biased_of(network), {}),
        teacher_numbers_(float_numbers(graph, network)),
        latent_(graph, network),
        labels_(labels),
        random_(options.seed) {
    if (!student_.problem().empty()) throw Error(ErrorKind::kInvalidInput, student_.problem());
    const SampleInputs inputs(graph, samples);
    for (int64_t run = 0; run < inputs.runs(); ++run) {
      const std::vector<Tensor> own = inputs.inputs(run);
      const auto numbers = own.at(0).data<float>();
      runs_.emplace_back(numbers.begin(), numbers.end());
    }
    if (!labels.empty() && int64_t(labels.size()) < int64_t(runs_.size()) * student_.rows())
      throw Error(ErrorKind::kInvalidInput, "there are fewer labels than samples");
    picture_ = is_picture(student_.input_shape());
  }

  FineTuneResult run() {
    FineTuneResult result;
    result.loss_before = mean_loss();
    const int64_t steps = std::max<int64_t>(1, options_.runs / options_.batch);
    for (; result.steps < steps; ++result.steps) {
      watch_.check();
      const double done =
          std::max(double(result.steps) / double(steps), deadline_.seconds() / deadline_.limit());
      if (done >= 1) break;
      step(options_.rate * 0.5 * (1 + std::cos(std::numbers::pi * done)));
    }
    result.loss_after = mean_loss();
    result.network = latent_.rounded();
    return result;
  }

 private:
  struct Example {
    Numbers input, wanted;
  };
  // What one lane works in.
  struct Lane {
    TrainingPass student, teacher;
    Numbers wanted, gradient;
  };

  Numbers wanted_of(size_t run) const {
    if (labels_.empty()) return {};
    Numbers wanted(size_t(student_.rows() * student_.classes()), 0.0f);
    for (int64_t row = 0; row < student_.rows(); ++row) {
      const int64_t label = labels_[run * size_t(student_.rows()) + size_t(row)];
      if (label >= 0 && label < student_.classes()) wanted[size_t(row * student_.classes() + label)] = 1;
    }
    return wanted;
  }

  size_t next_run() {
    if (next_ == order_.size()) {
      order_.resize(runs_.size());
      std::iota(order_.begin(), order_.end(), size_t{0});
      for (size_t i = order_.size(); i > 1; --i)
        std::swap(order_[i - 1], order_[size_t(random_.between(0, int64_t(i) - 1))]);
      next_ = 0;
    }
    return order_[next_++];
  }

  Example varied_example(size_t run) {
    Example example{runs_[run], wanted_of(run)};
    if (picture_ && options_.shift) shift_picture(runs_[run], student_.input_shape(), random_, example.input);
    return example;
  }

  Example next_example() {
    Example example = varied_example(next_run());
    if (!options_.blend || random_.chance(0.5)) return example;
    const Example other = varied_example(size_t(random_.between(0, int64_t(runs_.size()) - 1)));
    const auto share = float(0.5 + 0.5 * random_.uniform());
    const auto blend = [&](Numbers& into, const Numbers& with) {
      for (size_t i = 0; i < into.size(); ++i) into[i] = share * into[i] + (1 - share) * with[i];
    };
    blend(example.input, other.input);
    blend(example.wanted, other.wanted);
    return example;
  }

  std::unique_ptr<Lane> take_lane() {
    const std::lock_guard lock(mutex_);
    if (idle_.empty()) return std::make_unique<Lane>();
    std::unique_ptr<Lane> lane = std::move(idle_.back());
    idle_.pop_back();
    return lane;
  }
  void give_back(std::unique_ptr<Lane> lane) {
    const std::lock_guard lock(mutex_);
    idle_.push_back(std::move(lane));
  }

  // Sum over the examples; gradients, where wanted, are added to.
  double loss_of(std::span<const Example> examples, Lane& lane, std::vector<Numbers>* gradients) const {
    const auto runs = int64_t(examples.size());
    lane.wanted.clear();
    for (auto* const pass : {&lane.student, &lane.teacher}) {
      const TrainedNetwork& network = pass == &lane.student ? student_ : teacher_;
      network.prepare(*pass, runs);
      Numbers& input = network.input(*pass);
      for (size_t i = 0; i < examples.size(); ++i)
        std::copy(examples[i].input.begin(), examples[i].input.end(),
                  input.begin() + std::ptrdiff_t(i * examples[i].input.size()));
    }
    for (const Example& example : examples)
      lane.wanted.insert(lane.wanted.end(), example.wanted.begin(), example.wanted.end());
    lane.student.trained = &latent_.used();
    lane.student.trained_gradients = gradients;
    lane.teacher.trained = &teacher_numbers_;
    student_.forwards(lane.student);
    teacher_.forwards(lane.teacher);
    const double loss =
        distillation_loss(student_.scores(lane.student), teacher_.scores(lane.teacher), lane.wanted,
                          student_.classes(), {options_.temperature, options_.label_share}, lane.gradient);
    if (gradients != nullptr) student_.backwards(lane.student, lane.gradient);
    return loss;
  }

  void step(double rate) {
    std::vector<Example> examples;
    for (int64_t i = 0; i < options_.batch; ++i) examples.push_back(next_example());
    const int64_t pieces = (options_.batch + kPiece - 1) / kPiece;
    gradients_.resize(size_t(pieces));
    parallel_for(options_.threads, pieces, [&](int64_t begin, int64_t end) {
      std::unique_ptr<Lane> lane = take_lane();
      for (int64_t piece = begin; piece < end; ++piece) {
        std::vector<Numbers>& own = gradients_[size_t(piece)];
        own.resize(latent_.used().size());
        for (size_t i = 0; i < own.size(); ++i) own[i].assign(latent_.used()[i].size(), 0.0f);
        loss_of(piece_of(examples, piece), *lane, &own);
      }
      give_back(std::move(lane));
    });
    for (size_t piece = 1; piece < gradients_.size(); ++piece) {
      for (size_t i = 0; i < gradients_[0].size(); ++i) {
        for (size_t k = 0; k < gradients_[0][i].size(); ++k) gradients_[0][i][k] += gradients_[piece][i][k];
      }
    }
    latent_.move(gradients_[0], rate);
  }

  static std::span<const Example> piece_of(const std::vector<Example>& examples, int64_t piece) {
    const auto first = size_t(piece * kPiece);
    return std::span(examples).subspan(first, std::min(size_t(kPiece), examples.size() - first));
  }

  double mean_loss() {
    std::vector<Example> examples;
    for (size_t run = 0; run < runs_.size(); ++run) examples.push_back({runs_[run], wanted_of(run)});
    const int64_t pieces = (int64_t(examples.size()) + kPiece - 1) / kPiece;
    std::vector<double> losses(size_t(pieces), 0.0);
    parallel_for(options_.threads, pieces, [&](int64_t begin, int64_t end) {
      std::unique_ptr<Lane> lane = take_lane();
      for (int64_t piece = begin; piece < end; ++piece)
        losses[size_t(piece)] = loss_of(piece_of(examples, piece), *lane, nullptr);
      give_back(std::move(lane));
    });
    return std::accumulate(losses.begin(), losses.end(), 0.0) / double(examples.size());
  }

  const FineTuneOptions options_;
  const Deadline deadline_;
  DeadlineWatch watch_;
  const TrainedNetwork student_, teacher_;
  const std::vector<Numbers> teacher_numbers_;
  LatentNumbers latent_;
  const std::vector<int64_t> labels_;
  std::vector<Numbers> runs_;
  bool picture_ = false;
  Random random_;
  std::vector<size_t> order_;
  size_t next_ = 0;
  std::vector<std::vector<Numbers>> gradients_;  // by piece of a batch
  std::mutex mutex_;
  std::vector<std::unique_ptr<Lane>> idle_;
};

}  // namespace

std::string fine_tuning_problem(const Graph& graph, const RoundedNetwork& network) {
  return TrainedNetwork(graph, nodes_of(network), biased_of(network), values_of(network)).problem();
}

FineTuneResult fine_tune(const Graph& graph, const RoundedNetwork& network,
                         const std::vector<Tensor>& samples, const std::vector<int64_t>& labels,
                         const FineTuneOptions& options, const Deadline* deadline) {
  return FineTuner(graph, network, samples, labels, options, deadline).run();
}

}  // namespace tilewright

// One update: episodes of every graph in turn by the fused forward pass, advantages, a few epochs of clipped
// policy gradient over minibatches with the imitation of elites beside it.
#include "tilewright/cgra_training/policy_trainer.h"

#include <algorithm>
#include <ctime>
#include <numeric>
#include <utility>

#include "tilewright/cgra_training/torch_policy.h"

namespace tilewright::cgra {
namespace {

double thread_seconds() {
  timespec time{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return double(time.tv_sec) + 1e-9 * double(time.tv_nsec);
}

torch::Tensor tensor_of(const std::vector<float>& values, std::vector<int64_t> shape) {
  return torch::from_blob(const_cast<float*>(values.data()), shape).clone();
}

torch::Tensor tensor_of(const std::vector<int64_t>& values) {
  return torch::from_blob(const_cast<int64_t*>(values.data()), {int64_t(values.size())}, torch::kLong)
      .clone();
}

DecisionTensors decision_tensors(const Experience& experience, int64_t nodes) {
  const int64_t size = int64_t(experience.size()), rows = experience.rows;
  DecisionTensors made;
  made.features = tensor_of(experience.features, {size, rows, kActionFeatures});
  made.valid = tensor_of(experience.valid, {size, rows});
  made.state = tensor_of(experience.state, {size, kStateFeatures});
  std::vector<int64_t> graph_node(experience.size());
  for (size_t i = 0; i < graph_node.size(); ++i)
    graph_node[i] = experience.instance[i] * nodes + experience.node[i];
  made.graph_node = tensor_of(graph_node);
  made.row = tensor_of(experience.row);
  made.log_probability = tensor_of(experience.log_probability, {size});
  return made;
}

DecisionTensors select(const DecisionTensors& from, const torch::Tensor& index) {
  DecisionTensors made;
  made.features = from.features.index_select(0, index);
  made.valid = from.valid.index_select(0, index);
  made.state = from.state.index_select(0, index);
  made.graph_node = from.graph_node.index_select(0, index);
  made.row = from.row.index_select(0, index);
  made.log_probability = from.log_probability.index_select(0, index);
  if (from.advantage.defined()) {
    made.advantage = from.advantage.index_select(0, index);
    made.returns = from.returns.index_select(0, index);
  }
  return made;
}

// What the network reads of two batches.
DecisionTensors joined(const DecisionTensors& a, const DecisionTensors& b) {
  DecisionTensors made;
  made.features = torch::cat({a.features, b.features});
  made.valid = torch::cat({a.valid, b.valid});
  made.state = torch::cat({a.state, b.state});
  made.graph_node = torch::cat({a.graph_node, b.graph_node});
  return made;
}

// The best distinct episodes of one graph.
struct Elites {
  std::vector<Experience> episodes;  // of one episode each, shortest first

  void offer(const Experience& experience, const Episode& episode, int most) {
    if (!episode.complete || most <= 0) return;
    const auto makespan = [](const Experience& e) { return e.episodes.front().makespan; };
    if (int(episodes.size()) == most && makespan(episodes.back()) <= episode.makespan) return;
    for (const Experience& other : episodes) {
      if (other.episodes.front().places == episode.places) return;
    }
    Experience one;
    one.append(experience, episode);
    const auto after = std::find_if(episodes.begin(), episodes.end(),
                                    [&](const Experience& e) { return makespan(e) > episode.makespan; });
    episodes.insert(after, std::move(one));
    if (int(episodes.size()) > most) episodes.pop_back();
  }
};

// What carries anything from one node of the graph to another.
constexpr int kBetweenNodes[] = {kOperands0,  kConsumers0, kMates0,  kOperands1,
                                 kConsumers1, kMates1,     kAttended};

PolicyWeights first_weights(const TrainingOptions& options) {
  PolicyWeights weights = options.start ? *options.start : random_policy(options.seed);
  if (options.form == PolicyForm::kGraph) return weights;
  for (const int tensor : kBetweenNodes)
    std::fill(weights.tensors[size_t(tensor)].begin(), weights.tensors[size_t(tensor)].end(), 0.0f);
  return weights;
}

class Training {
 public:
  Training(const std::vector<PlacementInstance>& instances, const EnvironmentOptions& environment,
           const TrainingOptions& options)
      : instances_(instances),
        options_(options),
        random_(options.seed + 1),
        policy_(first_weights(options)),
        optimizer_(policy_.parameters(), torch::optim::AdamOptions(options.learning_rate).eps(1e-5)),
        graphs_(graph_tensors(instances)),
        elites_(instances.size()) {
    if (options.form == PolicyForm::kNoGraph) {
      for (const int tensor : kBetweenNodes) policy_.parameters()[size_t(tensor)].requires_grad_(false);
    }
    for (const PlacementInstance& instance : instances) environments_.emplace_back(instance, environment);
    result_.best.resize(instances.size());
    result_.best_makespan.resize(instances.size(), 0);
    result_.episodes_to_best.resize(instances.size(), 0);
  }

  TrainingResult run(const TrainingWatcher& watcher) {
    const double start = thread_seconds();
    while (episodes_ < options_.episodes) {
      result_.weights = policy_.weights();
      play();
      const double share = double(episodes_) / double(options_.episodes);
      const auto between = [&](double first, double last) { return first + share * (last - first); };
      for (auto& group : optimizer_.param_groups()) {
        static_cast<torch::optim::AdamOptions&>(group.options())
            .lr(between(options_.learning_rate, options_.last_learning_rate));
      }
      learn(between(options_.entropy, options_.last_entropy));
      point_.seconds = thread_seconds() - start;
      result_.curve.push_back(point_);
      if (watcher && !watcher(point_)) break;
    }
    result_.weights = policy_.weights();
    return std::move(result_);
  }

 private:
  void play() {
    experience_.clear();
    std::vector<EncodedGraph> encoded(instances_.size());
    double sum = 0;
    int complete = 0, played = 0;
    const int wanted =
        std::max(options_.episodes_per_update, options_.episodes_per_graph * int(instances_.size()));
    for (; played < wanted && episodes_ < options_.episodes; ++played) {
      const size_t at = next_++ % instances_.size();
      if (encoded[at].context.empty()) encoded[at] = encode_graph(result_.weights, instances_[at]);
      play_episode(result_.weights, encoded[at], int(at), 1, environments_[at], random_, experience_);
      ++episodes_;
      const Episode& episode = experience_.episodes.back();
      if (!episode.complete) continue;
      ++complete;
      sum += double(episode.makespan) / instances_[at].bound;
      elites_[at].offer(experience_, episode, options_.elites);
      if (result_.best_makespan[at] != 0 && result_.best_makespan[at] <= episode.makespan) continue;
      result_.best_makespan[at] = episode.makespan;
      result_.best[at] = episode.places;
      result_.episodes_to_best[at] = episodes_;
    }
    point_.episodes = episodes_;
    point_.steps += experience_.steps;
    point_.mean_makespan = complete == 0 ? 0 : sum / complete;
    point_.complete = double(complete) / played;
    point_.best_makespan = 0;
    for (size_t i = 0; i < instances_.size(); ++i)
      point_.best_makespan +=
          double(result_.best_makespan[i]) / instances_[i].bound / double(instances_.size());
  }

  // The decisions of one elite of every graph that was played.
  std::optional<DecisionTensors> elite_decisions() {
    Experience all;
    for (const Elites& elites : elites_) {
      if (elites.episodes.empty()) continue;
      const auto pick = size_t(random_.between(0, int64_t(elites.episodes.size()) - 1));
      all.append(elites.episodes[pick], elites.episodes[pick].episodes.front());
    }
    if (all.size() == 0) return {};
    return decision_tensors(all, graphs_.nodes);
  }

  torch::Tensor draw(int64_t size) {
    std::vector<int64_t> order(size_t(size), 0);
    std::iota(order.begin(), order.end(), 0);
    for (size_t i = order.size(); i-- > 1;)
      std::swap(order[i], order[size_t(random_.between(0, int64_t(i)))]);
    return tensor_of(order);
  }

  void learn(double entropy_weight) {
    if (experience_.size() < 2) return;
    DecisionTensors all = decision_tensors(experience_, graphs_.nodes);
    const Advantages estimate = estimate_advantages(experience_, options_.lambda);
    const int64_t size = int64_t(experience_.size());
    all.advantage = tensor_of(estimate.advantage, {size});
    all.advantage = (all.advantage - all.advantage.mean()) / (all.advantage.std() + 1e-6);
    all.returns = tensor_of(estimate.returns, {size});
    double entropy = 0;
    int batches = 0;
    for (int epoch = 0; epoch < options_.epochs; ++epoch) {
      const torch::Tensor order = draw(size);
      const int64_t parts = std::max<int64_t>(1, (size + options_.minibatch / 2) / options_.minibatch);
      for (int64_t part = 0; part < parts; ++part, ++batches) {
        const int64_t from = part * size / parts, to = (part + 1) * size / parts;
        entropy += improve(select(all, order.narrow(0, from, to - from)), entropy_weight);
      }
    }
    point_.entropy = entropy / batches;
  }

  double improve(const DecisionTensors& batch, double entropy_weight) {
    const auto elite = options_.imitation > 0 ? elite_decisions() : std::nullopt;
    const PolicyHeads both = policy_.forward(graphs_, elite ? joined(batch, *elite) : batch);
    const int64_t own = batch.row.size(0);
    const torch::Tensor log_probabilities = both.log_probabilities.narrow(0, 0, own);
    const torch::Tensor chosen = log_probabilities.gather(1, batch.row.unsqueeze(1)).squeeze(1);
    const torch::Tensor ratio = (chosen - batch.log_probability).exp();
    const torch::Tensor gain = torch::min(
        ratio * batch.advantage, ratio.clamp(1 - options_.clip, 1 + options_.clip) * batch.advantage);
    const torch::Tensor entropy = -(log_probabilities.exp() * log_probabilities * batch.valid).sum(1).mean();
    const torch::Tensor error = (both.value.narrow(0, 0, own) - batch.returns).pow(2).mean();
    torch::Tensor loss = -gain.mean() - entropy_weight * entropy + options_.value_weight * error;
    if (elite) {
      const torch::Tensor shown = both.log_probabilities.narrow(0, own, elite->row.size(0));
      loss = loss - options_.imitation * shown.gather(1, elite->row.unsqueeze(1)).mean();
    }
    optimizer_.zero_grad();
    loss.backward();
    torch::nn::utils::clip_grad_norm_(policy_.parameters(), options_.most_gradient);
    optimizer_.step();
    return entropy.item<double>();
  }

  const std::vector<PlacementInstance>& instances_;
  TrainingOptions options_;
  Random random_;
  TorchPolicy policy_;
  torch::optim::Adam optimizer_;
  GraphTensors graphs_;
  std::vector<PlacementEnvironment> environments_;
  std::vector<Elites> elites_;
  Experience experience_;
  TrainingPoint point_;
  TrainingResult result_;
  int64_t episodes_ = 0;
  size_t next_ = 0;
};

}  // namespace

Replayed replay(const PolicyWeights& weights, const std::vector<PlacementInstance>& instances,
                const Experience& experience) {
  const torch::NoGradGuard no_gradients;
  const GraphTensors graphs = graph_tensors(instances);
  const DecisionTensors decisions = decision_tensors(experience, graphs.nodes);
  const PolicyHeads heads = TorchPolicy(weights).forward(graphs, decisions);
  const torch::Tensor chosen =
      heads.log_probabilities.gather(1, decisions.row.unsqueeze(1)).squeeze(1).contiguous();
  const torch::Tensor value = heads.value.contiguous();
  const auto copied = [](const torch::Tensor& tensor) {
    return std::vector<float>(tensor.data_ptr<float>(), tensor.data_ptr<float>() + tensor.numel());
  };
  return {copied(chosen), copied(value)};
}

TrainingResult train_policy(const std::vector<PlacementInstance>& instances,
                            const EnvironmentOptions& environment, const TrainingOptions& options,
                            const TrainingWatcher& watcher) {
  torch::set_num_threads(1);
  return Training(instances, environment, options).run(watcher);
}

}  // namespace tilewright::cgra

tilewright::cgra::PolicyTrainer* tilewright_policy_trainer() { return &tilewright::cgra::train_policy; }

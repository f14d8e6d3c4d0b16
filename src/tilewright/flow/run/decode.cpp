// The prompt is run token by token as well: what its tokens leave in the caches is all that it is for.
#include "tilewright/flow/run/decode.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <nlohmann/json.hpp>
#include <numeric>
#include <set>

#include "tilewright/base/json.h"
#include "tilewright/flow/run/overlay_engine.h"
#include "tilewright/flow/run/overlay_target.h"
#include "tilewright/search/deadline.h"

namespace tilewright {
namespace {

constexpr const char* kPosition = "position";
constexpr int64_t kByteVocabulary = 256;

[[noreturn]] void refuse_text(const std::string& message, const std::string& hint = "") {
  throw Error(ErrorKind::kInvalidInput, message, hint);
}

// The input that is neither a state nor the position; kNoValue: not exactly one.
ValueId token_input(const Bundle& bundle) {
  ValueId found = kNoValue;
  for (const ValueId id : bundle.graph.inputs) {
    const std::string& name = bundle.graph.value(id).name;
    const bool state = std::ranges::find(bundle.states, name, &StatePair::input) != bundle.states.end();
    if (state || name == kPosition) continue;
    if (found != kNoValue) return kNoValue;
    found = id;
  }
  return found;
}

// How many tokens a text may have, and how many there are to choose from: rows of the caches, and of the
// table that the token picks from.
int64_t cache_rows(const Graph& graph) {
  int64_t rows = INT64_MAX;
  for (const Node& node : graph.nodes) {
    if (node.is_tilewright("QCacheUpdate")) rows = std::min(rows, graph.value(node.input(0)).shape[0]);
  }
  return rows;
}

int64_t vocabulary_of(const Graph& graph, ValueId token) {
  const Shape& logits = graph.value(graph.outputs[0]).shape;
  int64_t count = logits[logits.rank() - 1];
  for (const Node& node : graph.nodes) {
    if (node.is("Gather") && node.input(1) == token)
      count = std::min(count, graph.value(node.input(0)).shape[int(node.int_or("axis", 0))]);
  }
  return count;
}

struct TextLimits {
  int64_t positions = 0, vocabulary = 0;
};

TextLimits limits_of(const Bundle& bundle) {
  if (!decodes(bundle))
    refuse_text("the bundle runs no token after token: it keeps no keys and values",
                "make one with 'tilewright compile --decode'");
  return {cache_rows(bundle.graph), vocabulary_of(bundle.graph, token_input(bundle))};
}

// "'q' (byte 7 of the prompt)".
std::string place_of(int64_t token, size_t at, bool bytes) {
  if (!bytes) return fmt::format("token {} (number {} of the prompt)", token, at + 1);
  return token >= 32 && token < 127 ? fmt::format("'{}' (byte {} of the prompt)", char(token), at + 1)
                                    : fmt::format("byte 0x{:02x} (byte {} of the prompt)", token, at + 1);
}

std::vector<int64_t> prompt_of(const DecodeRequest& request, const TextLimits& limits) {
  std::vector<int64_t> prompt = request.prompt_tokens;
  const bool bytes = request.prompt.has_value();
  if (bytes && !prompt.empty())
    refuse_text("the prompt is given twice", "give a text or its tokens, not both");
  if (bytes && limits.vocabulary > kByteVocabulary) {
    refuse_text(fmt::format("the network's {} tokens are not bytes", limits.vocabulary),
                "give the numbers that its tokenizer makes of the text, as in --prompt-tokens 17,4");
  }
  if (bytes) {
    for (const char c : *request.prompt) prompt.push_back(int64_t(uint8_t(c)));
  }
  if (prompt.empty())
    refuse_text("there is no prompt", "give at least one token: --prompt TEXT, or --prompt-tokens 17,4");
  Diagnostics problems;
  std::set<int64_t> named;
  for (size_t i = 0; i < prompt.size(); ++i) {
    const bool known = prompt[i] >= 0 && prompt[i] < limits.vocabulary;
    if (known || !named.insert(prompt[i]).second) continue;
    problems.error(ErrorKind::kInvalidInput, "the prompt", "",
                   fmt::format("{} is outside the vocabulary of {} tokens", place_of(prompt[i], i, bytes),
                               limits.vocabulary),
                   "leave it out, or take a network that knows it");
  }
  problems.raise_if_any();
  if (request.tokens < 0) refuse_text(fmt::format("{} tokens cannot be added", request.tokens));
  // The last token is chosen, not run.
  const int64_t runs = int64_t(prompt.size()) + std::max<int64_t>(request.tokens - 1, 0);
  if (runs > limits.positions) {
    const int64_t given = std::ssize(prompt), most = limits.positions - given + 1;
    const std::string longer = "compile a network with a longer window";
    refuse_text(
        fmt::format(
            "the text needs {} positions ({} for the prompt, {} behind it: the last token needs none), "
            "the bundle has {}",
            runs, given, runs - given, limits.positions),
        most > 0 ? fmt::format("add at most {}, or {}", most, longer)
                 : fmt::format("shorten the prompt to {} tokens, or {}", limits.positions, longer));
  }
  return prompt;
}

bool same_bits(const std::vector<float>& a, const std::vector<float>& b) {
  return a.size() == b.size() && std::equal(a.begin(), a.end(), b.begin(), [](float x, float y) {
           return std::bit_cast<uint32_t>(x) == std::bit_cast<uint32_t>(y);
         });
}

// Nothing where the end of the deadline came first.
std::optional<std::vector<float>> step_until(const Deadline* deadline, Decoder& decoder, int64_t token) {
  try {
    return decoder.step(token);
  } catch (const Error& error) {
    const bool ended = deadline != nullptr && deadline->expired() && decoder.position() > 0;
    if (!ended || error.kind() != ErrorKind::kInfeasible) throw;
    return {};
  }
}

}  // namespace

bool decodes(const Bundle& bundle) {
  const Graph& graph = bundle.graph;
  const bool has_position = std::ranges::any_of(graph.inputs, [&](ValueId id) {
    return graph.value(id).name == kPosition && graph.value(id).type == ElementType::kI64;
  });
  return has_position && token_input(bundle) != kNoValue && cache_rows(graph) != INT64_MAX &&
         !graph.outputs.empty() && graph.value(graph.outputs[0]).type == ElementType::kF32;
}

Decoder::Decoder(const Bundle& bundle, std::shared_ptr<const Engine> engine,
                 const overlay::ProgramEngineOptions& overlay_engine)
    : graph_(engine->graph()), states_(graph_, bundle.states), session_(engine, overlay_engine) {
  const TextLimits limits = limits_of(bundle);
  capacity_ = limits.positions;
  vocabulary_ = limits.vocabulary;
}

std::vector<float> Decoder::step(int64_t token) {
  if (token < 0 || token >= vocabulary_)
    refuse_text(fmt::format("token {} is outside the vocabulary of {} tokens", token, vocabulary_));
  if (position_ >= capacity_)
    refuse_text(fmt::format("position {} is beyond the {} tokens of the caches", position_, capacity_));
  std::vector<Tensor> given;
  for (const ValueId id : graph_.inputs) {
    const Value& value = graph_.value(id);
    if (std::ranges::find(states_.pairs(), value.name, &StatePair::input) != states_.pairs().end()) continue;
    given.emplace_back(value.type, value.shape);
    given.back().set_integer(0, value.name == kPosition ? position_ : token);
  }
  std::vector<Tensor> outputs = session_.run(states_.inputs(std::move(given)));
  // The first run has filled what lies in accelerator memory with zeros; there it stays.
  for (size_t o = 0; o < outputs.size(); ++o)
    if (session_.has_cache(graph_.outputs[o])) outputs[o] = Tensor();
  states_.advance(outputs);
  ++position_;
  const Shape& shape = outputs[0].shape();
  const auto logits = outputs[0].data<float>().last(size_t(shape[shape.rank() - 1]));
  return {logits.begin(), logits.end()};
}

std::vector<Tensor> Decoder::caches() const {
  std::vector<Tensor> result = states_.values();
  for (size_t s = 0; s < result.size(); ++s) {
    for (const ValueId output : graph_.outputs) {
      if (graph_.value(output).name != states_.pairs()[s].output) continue;
      if (std::optional<Tensor> there = session_.cache(output)) result[s] = std::move(*there);
    }
  }
  return result;
}

int64_t choose_token(const std::vector<float>& logits, double temperature, int64_t top, Random& random) {
  std::vector<int64_t> order(logits.size());
  std::iota(order.begin(), order.end(), 0);
  const auto likelier = [&](int64_t a, int64_t b) { return logits[size_t(a)] > logits[size_t(b)]; };
  if (temperature <= 0) return *std::min_element(order.begin(), order.end(), likelier);
  std::stable_sort(order.begin(), order.end(), likelier);
  if (top > 0 && top < std::ssize(order)) order.resize(size_t(top));
  std::vector<double> shares;
  for (const int64_t token : order)
    shares.push_back(
        std::exp((double(logits[size_t(token)]) - double(logits[size_t(order[0])])) / temperature));
  double left = random.uniform() * std::accumulate(shares.begin(), shares.end(), 0.0);
  for (size_t i = 0; i < order.size(); ++i)
    if ((left -= shares[i]) < 0) return order[i];
  return order.back();
}

DecodeReport decode(const DecodeRequest& request) {
  check_engine(overlay_target(), request.engine.name);
  return decode(PreparedBundle(read_bundle(request.bundle, request.hardware, request.folders)), request);
}

DecodeReport decode(const PreparedBundle& prepared, const DecodeRequest& request) {
  check_engine(overlay_target(), request.engine.name);
  const Bundle& bundle = prepared.bundle();
  DecodeReport report;
  report.prompt = prompt_of(request, limits_of(bundle));
  const bool host = request.engine.name == kHost;
  Decoder decoder(bundle, prepared.engine(host ? Execution::kOnHost : Execution::kAsPlaced),
                  program_engine_options(request.engine, request.folders));
  std::optional<Decoder> reference;
  if (request.verify) reference.emplace(bundle, prepared.engine(Execution::kOnHost));
  Random random(request.seed);
  const int64_t count = std::ssize(report.prompt) + std::max<int64_t>(request.tokens - 1, 0);
  std::vector<uint64_t> cycles;  // of each step
  std::vector<int64_t> text = report.prompt;
  const Deadline* const deadline = request.engine.deadline;
  bool caches_known = true;  // not where a step was cut
  const auto ended = [&] { return deadline != nullptr && deadline->expired(); };
  for (int64_t at = 0; at < count && !ended(); ++at) {
    const uint64_t before = decoder.session().cycles().cycles;
    const int64_t token = text[size_t(at)];
    const std::optional<std::vector<float>> logits = step_until(deadline, decoder, token);
    if (!logits) {
      caches_known = false;
      break;
    }
    if (reference) report.mismatches += !same_bits(*logits, reference->step(token));
    cycles.push_back(decoder.session().cycles().cycles - before);
    if (at + 1 >= std::ssize(report.prompt) && std::ssize(report.added) < request.tokens) {
      report.added.push_back(choose_token(*logits, request.temperature, request.top, random));
      text.push_back(report.added.back());
    }
    if (request.progress) request.progress(at + 1, count);
  }
  if (cycles.empty() && ended()) throw Expired();
  if (reference && caches_known) {
    const std::vector<Tensor> expected = reference->caches(), found = decoder.caches();
    for (size_t i = 0; i < found.size(); ++i) report.mismatches += !found[i].identical(expected[i]);
  }
  const bool bytes = decoder.vocabulary() <= kByteVocabulary;
  for (const int64_t token : report.added)
    if (bytes) report.text += char(token);

  nlohmann::json json{{"engine", request.engine.name},
                      {"prompt_tokens", report.prompt.size()},
                      {"tokens", report.added},
                      {"positions", decoder.capacity()}};
  if (bytes) json["text"] = report.text;
  std::string& lines = report.answer.text;
  if (bytes)
    lines = (request.prompt ? *request.prompt : "") + report.text + "\n";
  else
    for (const int64_t token : report.added) lines += fmt::format("{}\n", token);
  const uint64_t total = std::accumulate(cycles.begin(), cycles.end(), uint64_t{0});
  if (request.engine.is_timed() && total == 0) {
    lines += "no layer of the bundle runs on the overlay: there are no cycles\n";
  } else if (request.engine.is_timed()) {
    const double per_token = double(total) / double(cycles.size());
    const double rate = bundle.hardware.clock_mhz * 1e6 / per_token;
    json["cycles"] = cycles;
    json["tokens_per_s"] = rate;
    lines += fmt::format("{:.0f} cycles per token on the overlay: {:.1f} tokens per second at {} MHz\n",
                         per_token, rate, bundle.hardware.clock_mhz);
  }
  if (ended()) lines += "note: the run was interrupted; these are the tokens until then\n";
  if (request.verify) {
    json["mismatches"] = report.mismatches;
    lines += report.mismatches == 0
                 ? fmt::format("verified: the logits of {} steps and {} caches equal the integer reference\n",
                               cycles.size(), caches_known ? bundle.states.size() : 0)
                 : "";
    if (report.mismatches > 0)
      report.disagreement.emplace(
          ErrorKind::kInternal,
          fmt::format("{} steps or caches differ from the integer reference", report.mismatches));
  }
  report.answer.json = json_text(json, 2) + "\n";
  return report;
}

}  // namespace tilewright

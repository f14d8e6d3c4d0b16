// The report as front.json and as text.
#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "tilewright/base/error.h"
#include "tilewright/base/file.h"
#include "tilewright/base/json.h"
#include "tilewright/flow/explore/exploration.h"

namespace tilewright {
namespace {

using Json = nlohmann::json;

constexpr size_t kShownMembers = 12;

Json candidate_json(const ExploredCandidate& c) {
  return {{"point", c.point},
          {"hardware", c.hardware},
          {"values", c.values},
          {"cycles", c.cycles},
          {"latency_s", c.latency_s},
          {"bound_s", c.bound_s},
          {"utilisation", c.utilisation},
          {"clock_mhz", c.clock_mhz},
          {"peak_gops", c.peak_gops},
          {"lut", c.lut},
          {"ff", c.ff},
          {"dsp", c.dsp},
          {"bram", c.bram},
          {"on_front", c.on_front}};
}

ExploredCandidate read_candidate(const Json& j) {
  ExploredCandidate c;
  c.point = j.at("point").get<KnobSpace::Point>();
  c.hardware = j.at("hardware").get<std::string>();
  c.values = j.at("values").get<std::vector<int64_t>>();
  c.cycles = j.at("cycles").get<int64_t>();
  c.latency_s = j.at("latency_s").get<double>();
  c.bound_s = j.at("bound_s").get<double>();
  c.utilisation = j.at("utilisation").get<double>();
  c.clock_mhz = j.at("clock_mhz").get<double>();
  c.peak_gops = j.at("peak_gops").get<double>();
  c.lut = j.at("lut").get<int64_t>();
  c.ff = j.at("ff").get<int64_t>();
  c.dsp = j.at("dsp").get<int64_t>();
  c.bram = j.at("bram").get<int64_t>();
  c.on_front = j.at("on_front").get<bool>();
  return c;
}

Json roofline_json(const CandidateRoofline& roofline) {
  Json layers = Json::array();
  for (const OperatingPoint& layer : roofline.layers) {
    layers.push_back({{"name", layer.name},
                      {"macs", layer.macs},
                      {"cycles", layer.cycles},
                      {"before_cycles", layer.before_cycles},
                      {"bytes", layer.bytes},
                      {"before_bytes", layer.before_bytes}});
  }
  return {{"hardware", roofline.hardware},
          {"macs_per_cycle", roofline.macs_per_cycle},
          {"bytes_per_cycle", roofline.bytes_per_cycle},
          {"clock_mhz", roofline.clock_mhz},
          {"layers", layers}};
}

CandidateRoofline read_roofline(const Json& j) {
  CandidateRoofline roofline;
  roofline.hardware = j.at("hardware").get<std::string>();
  roofline.macs_per_cycle = j.at("macs_per_cycle").get<double>();
  roofline.bytes_per_cycle = j.at("bytes_per_cycle").get<double>();
  roofline.clock_mhz = j.at("clock_mhz").get<double>();
  for (const Json& layer : j.at("layers")) {
    roofline.layers.push_back({layer.at("name").get<std::string>(), layer.at("macs").get<int64_t>(),
                               layer.at("cycles").get<int64_t>(), layer.at("before_cycles").get<int64_t>(),
                               layer.at("bytes").get<double>(), layer.at("before_bytes").get<double>()});
  }
  return roofline;
}

Json width_json(const WidthReport& w) {
  Json candidates = Json::array();
  for (const ExploredCandidate& c : w.candidates) candidates.push_back(candidate_json(c));
  return {{"operand_bits", w.operand_bits},
          {"knobs", w.knobs},
          {"importance", w.importance},
          {"points", w.points},
          {"valid", w.valid},
          {"fitting", w.fitting},
          {"evaluated", w.evaluated},
          {"failed", w.failed},
          {"known", w.known},
          {"alive", w.alive},
          {"pruned", w.pruned},
          {"trials", w.trials},
          {"macs", w.macs},
          {"seconds", w.seconds},
          {"worker_s", w.worker_s},
          {"exhausted", w.exhausted},
          {"failure", w.failure},
          {"work_saved", w.work_saved()},
          {"best_so_far_s", w.best_so_far_s},
          {"fastest", roofline_json(w.fastest)},
          {"left_out", w.left_out},
          {"candidates", candidates}};
}

WidthReport read_width(const Json& j) {
  WidthReport w;
  w.operand_bits = j.at("operand_bits").get<int>();
  w.knobs = j.at("knobs").get<std::vector<std::string>>();
  w.importance = j.at("importance").get<std::vector<double>>();
  w.points = j.at("points").get<int64_t>();
  w.valid = j.at("valid").get<int64_t>();
  w.fitting = j.at("fitting").get<int64_t>();
  w.evaluated = j.at("evaluated").get<int64_t>();
  w.failed = j.at("failed").get<int64_t>();
  w.known = j.at("known").get<int64_t>();
  w.alive = j.at("alive").get<int64_t>();
  w.pruned = j.at("pruned").get<int64_t>();
  w.trials = j.at("trials").get<int64_t>();
  w.macs = j.at("macs").get<int64_t>();
  w.seconds = j.at("seconds").get<double>();
  w.worker_s = j.at("worker_s").get<double>();
  w.exhausted = j.at("exhausted").get<bool>();
  w.failure = j.value("failure", "");  // older reports have none
  w.best_so_far_s = j.at("best_so_far_s").get<std::vector<double>>();
  w.fastest = read_roofline(j.at("fastest"));
  w.left_out = j.at("left_out").get<std::vector<std::string>>();
  for (const Json& c : j.at("candidates")) w.candidates.push_back(read_candidate(c));
  return w;
}

// At most kShownMembers of the front, evenly spread, its ends included.
std::vector<const ExploredCandidate*> shown_members(const WidthReport& w) {
  std::vector<const ExploredCandidate*> front, shown;
  for (const ExploredCandidate& c : w.candidates) {
    if (c.on_front) front.push_back(&c);
  }
  if (front.size() <= kShownMembers) return front;
  for (size_t i = 0; i < kShownMembers; ++i) {
    shown.push_back(front[i * (front.size() - 1) / (kShownMembers - 1)]);
  }
  return shown;
}

}  // namespace

std::string to_json(const ExplorationReport& report) {
  Json widths = Json::array();
  for (const WidthReport& w : report.widths) widths.push_back(width_json(w));
  return json_text(Json{{"model", report.model},
                        {"device", report.device},
                        {"clock_is", "estimated"},
                        {"clock_error", report.clock_error},
                        {"widths", widths}},
                   1);
}

ExplorationReport read_exploration(const std::filesystem::path& folder) {
  const std::filesystem::path file = folder / "front.json";
  if (!std::filesystem::exists(file)) {
    throw Error(ErrorKind::kInvalidInput, fmt::format("'{}' holds no study", folder.string()),
                "'tilewright explore ... -o FOLDER' makes one");
  }
  try {
    const Json value = parse_json(read_text_file(file), file.string());
    ExplorationReport report;
    report.model = value.at("model").get<std::string>();
    report.device = value.at("device").get<std::string>();
    report.clock_error = value.at("clock_error").get<double>();
    for (const Json& w : value.at("widths")) report.widths.push_back(read_width(w));
    return report;
  } catch (const Json::exception& error) {
    throw Error(ErrorKind::kInvalidInput, fmt::format("'{}' is damaged: {}", file.string(), error.what()),
                "run 'tilewright explore' on the folder again: it is rewritten from the candidates");
  }
}

std::string to_string(const ExplorationReport& report) {
  std::string text = fmt::format("{} on {}; areas are modelled, clocks estimated (within {:.0f} %)\n",
                                 report.model, report.device, 100 * report.clock_error);
  for (const WidthReport& w : report.widths) {
    // While candidates are left, nobody knows what they will cost.
    const std::string saved =
        w.alive > 0 ? "" : fmt::format("{:.1f} % of the work saved, ", 100 * w.work_saved());
    text += fmt::format(
        "\nw{0}a{0}: {1} candidates, {2} fit; {3} tuned ({4} from before, {5} failed), {6} excluded by their "
        "bound, {7} left{8}; {9}{10:.0f} s\n",
        w.operand_bits, w.valid, w.fitting, w.evaluated, w.known, w.failed, w.pruned, w.alive,
        w.exhausted ? " (the front is complete)" : "", saved, w.seconds);
    if (w.candidates.empty()) {
      if (!w.failure.empty()) text += "  no front: " + w.failure + "\n";
      continue;
    }
    text += "  latency ms   bound   GOPS  MHz    LUT     FF  DSP BRAM  of device  overlay\n";
    for (const ExploredCandidate* c : shown_members(w)) {
      text += fmt::format("  {:>10.3f} {:>6.1f}% {:>6.1f} {:>4.0f} {:>6} {:>6} {:>4} {:>4} {:>9.1f}%  {}\n",
                          1e3 * c->latency_s, 100 * c->bound_s / c->latency_s,
                          2e-9 * double(w.macs) / c->latency_s, c->clock_mhz, c->lut, c->ff, c->dsp, c->bram,
                          100 * c->utilisation, c->hardware);
    }
    if (!w.left_out.empty()) {
      text += fmt::format("  not part of it: {} nodes ({})\n", w.left_out.size(), w.left_out[0]);
    }
  }
  return text;
}

}  // namespace tilewright

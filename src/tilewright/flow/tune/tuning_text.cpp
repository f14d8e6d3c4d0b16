// A tuning as text and JSON. The sum row counts every layer as if run alone; the line below it times the
// whole network, where layers overlap.
#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "tilewright/base/json.h"
#include "tilewright/flow/tune/tuning.h"
#include "tilewright/report/number_text.h"
#include "tilewright/report/text_table.h"

namespace tilewright {
namespace {

nlohmann::json tuned_layer_json(const TunedLayer& layer) {
  const TuningProgress& end = layer.result.end;
  return {{"layers", layer.names},
          {"op", layer.op},
          {"macs", layer.macs},
          {"bound_cycles", layer.bound_cycles},
          {"before", {{"cycles", layer.before_cycles}, {"schedule", overlay::print_schedule(layer.before)}}},
          {"after", {{"cycles", layer.after_cycles}, {"schedule", overlay::print_schedule(layer.after)}}},
          {"trials", end.trials},
          {"failed", end.failed},
          {"from_records", end.cached},
          {"pruned", end.pruned},
          {"exhausted", layer.result.exhausted},
          {"seconds", end.seconds}};
}

}  // namespace

std::string to_string(const NetworkTuning& tuning) {
  TextTable table({"layer", ">times", "operator", ">trials", ">of records", ">pruned", ">before", ">after",
                   ">faster", ">bound", ">of bound", "schedule"});
  double before = 0, after = 0, bound = 0;
  int64_t trials = 0, cached = 0, pruned = 0;
  for (const TunedLayer& layer : tuning.layers) {
    const TuningProgress& end = layer.result.end;
    const double count = double(layer.count());
    before += count * layer.before_cycles;
    after += count * layer.after_cycles;
    bound += count * layer.bound_cycles;
    trials += end.trials;
    cached += end.cached;
    pruned += end.pruned;
    table.row({shortened_middle(layer.names.front(), 28), fmt::format("{}", layer.count()), layer.op,
               fmt::format("{}{}", end.trials, layer.result.exhausted ? " (all)" : ""),
               fmt::format("{}", end.cached), fmt::format("{}", end.pruned),
               fmt::format("{:.0f}", layer.before_cycles), fmt::format("{:.0f}", layer.after_cycles),
               fmt::format("{:.3f}x", layer.before_cycles / layer.after_cycles),
               fmt::format("{:.0f}", layer.bound_cycles),
               percent_text(layer.bound_cycles / layer.after_cycles),
               layer.after == layer.before ? "as before" : overlay::print_schedule(layer.after)});
  }
  table.rule();
  table.row({"all, alone", "", fmt::format("{} shapes", tuning.layers.size()), fmt::format("{}", trials),
             fmt::format("{}", cached), fmt::format("{}", pruned), fmt::format("{:.0f}", before),
             fmt::format("{:.0f}", after), fmt::format("{:.3f}x", before / after),
             fmt::format("{:.0f}", bound), percent_text(bound / after), ""});
  std::string text = table.to_string();
  const double was = double(tuning.before.cycles()), is = double(tuning.after.cycles());
  text +=
      fmt::format("the network on {}: {:.0f} cycles before, {:.0f} after ({:.3f}x), {} of peak\n",
                  tuning.after.hardware.name, was, is, was / is, percent_text(tuning.after.share_of_peak()));
  text +=
      fmt::format("{} trials in {:.1f} s, {} of them known from records\n", trials, tuning.seconds, cached);
  return text;
}

std::string tuning_json(const NetworkTuning& tuning) {
  nlohmann::json layers = nlohmann::json::array();
  for (const TunedLayer& layer : tuning.layers) layers.push_back(tuned_layer_json(layer));
  return json_text(nlohmann::json{{"network", tuning.after.network},
                                  {"hardware", tuning.after.hardware.name},
                                  {"before_cycles", tuning.before.cycles()},
                                  {"after_cycles", tuning.after.cycles()},
                                  {"share_of_peak", tuning.after.share_of_peak()},
                                  {"seconds", tuning.seconds},
                                  {"layers", layers}},
                   2) +
         "\n";
}

}  // namespace tilewright

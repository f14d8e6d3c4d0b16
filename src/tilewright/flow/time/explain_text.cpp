// The explanation as text: a row per layer with its causes and the two best changes, then the changes of the
// hardware by the cycles that they save.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "tilewright/flow/time/explain.h"
#include "tilewright/report/text_table.h"

namespace tilewright {
namespace {

constexpr size_t kChangesShown = 2;

double share(double part, double whole) { return whole == 0 ? 0 : part / whole; }

// Empty for 0.
std::string percent_or_blank(double part) { return part == 0 ? "" : fmt::format("{:.1f}%", 100 * part); }

// "rows 14 -> 7: -12.3%".
std::string change_text(const Explanation& explanation, const Trial& trial, size_t layer) {
  const double cycles = double(explanation.base.layers[layer].cycles());
  const std::string& detail = trial.details.empty() ? trial.change : trial.details[layer];
  return fmt::format("{}: -{:.1f}%", detail, 100 * double(explanation.saved(trial, layer)) / cycles);
}

std::vector<std::string> causes(const std::array<uint64_t, overlay::kCycleCauses>& caused, double cycles) {
  std::vector<std::string> cells;
  for (const uint64_t part : caused) {
    const double percent_or_blank = 100 * share(double(part), cycles);
    cells.push_back(part == 0 ? "" : fmt::format("{:.1f}", percent_or_blank));
  }
  return cells;
}

std::string hardware_table(const Explanation& explanation) {
  std::vector<const Trial*> trials;
  for (const Trial& trial : explanation.trials) {
    if (trial.of_hardware) trials.push_back(&trial);
  }
  std::stable_sort(trials.begin(), trials.end(), [&](const Trial* a, const Trial* b) {
    return explanation.saved(*a) > explanation.saved(*b);
  });
  const double cycles = double(explanation.base.cycles());
  TextTable table({"change of the hardware", ">cycles saved", ">of all", "note"});
  for (const Trial* trial : trials) {
    if (!trial->refused.empty()) {
      table.row({trial->change, "", "", "not possible: " + trial->refused});
      continue;
    }
    const int64_t saved = explanation.saved(*trial);
    const auto moved = std::count(trial->cycles.begin(), trial->cycles.end(), Trial::kNotTried);
    table.row({trial->change, fmt::format("{}", saved),
               fmt::format("{:.1f}%", 100 * share(double(saved), cycles)),
               moved == 0 ? "" : fmt::format("{} layers leave the overlay and are not counted", moved)});
  }
  return trials.empty() ? "" : table.to_string();
}

}  // namespace

std::string to_string(const Explanation& explanation) {
  const NetworkTiming& base = explanation.base;
  std::vector<std::string> headers{"layer", ">cycles", ">of peak", ">fill", "bound by"};
  for (size_t c = 0; c < overlay::kCycleCauses; ++c) {
    headers.push_back(std::string(">") + overlay::name(overlay::CycleCause(c)) + " %");
  }
  headers.push_back("what helps, as measured");
  TextTable table(headers);
  for (size_t l = 0; l < base.layers.size(); ++l) {
    const overlay::LayerTiming& layer = base.layers[l];
    const double cycles = double(layer.cycles());
    std::vector<std::string> cells{shortened_middle(layer.name, 28), fmt::format("{}", layer.cycles()),
                                   percent_or_blank(share(base.limits.ideal_cycles(layer.macs), cycles)),
                                   percent_or_blank(base.array_fill(layer)), name(layer.bound())};
    for (std::string& cell : causes(layer.caused, cycles)) cells.push_back(std::move(cell));
    std::string helps;
    for (const Trial* trial : explanation.best(l, kChangesShown)) {
      helps += (helps.empty() ? "" : "; ") + change_text(explanation, *trial, l);
    }
    cells.push_back(helps);
    table.row(std::move(cells));
  }
  table.rule();
  std::vector<std::string> total{"all", fmt::format("{}", base.cycles()),
                                 percent_or_blank(base.share_of_peak()), "", ""};
  for (std::string& cell : causes(base.caused(), double(base.cycles()))) total.push_back(std::move(cell));
  table.row(std::move(total));
  std::string text = fmt::format("{} on {}: the share of every cause in each layer's time\n", base.network,
                                 base.hardware.name);
  text += table.to_string();
  const bool schedules = std::any_of(explanation.trials.begin(), explanation.trials.end(),
                                     [](const Trial& trial) { return !trial.of_hardware; });
  if (schedules) {
    const int64_t saved = explanation.saved_by_schedules();
    text += fmt::format("the best neighbouring schedule of every layer saves {} cycles, {:.1f}%\n", saved,
                        100 * share(double(saved), double(base.cycles())));
  }
  return text + hardware_table(explanation);
}

}  // namespace tilewright

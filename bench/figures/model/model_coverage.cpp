// model_coverage: every model file of a folder through compile (overlay-16x16) and generate (f1-vu9p): what
// is refused, how many nodes stay on the host and their share of the estimated time or of the products. Float
// models are quantised on seeded data, graphs without weights filled, symbolic dimensions bound to 1.
//
// usage: model_coverage [FOLDER]    (default: the models of the shared folder)
#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <optional>
#include <set>

#include "pipeline/generated_designs.h"
#include "support/outside_testing.h"
#include "tilewright/flow/design/design_report.h"
#include "tilewright/flow/model/hardware_form.h"
#include "tilewright/flow/model/load_model.h"
#include "tilewright/flow/run/layer_table.h"
#include "zoo/seeded.h"

namespace {

using namespace tilewright;

struct Totals {
  int networks = 0, not_read = 0, compile_refused = 0, generate_refused = 0;
  std::vector<double> host_time_shares, product_shares;
};

std::string first_line(const std::string& text) {
  return text.substr(0, std::min<size_t>(text.find('\n'), 150));
}

std::optional<Graph> read(const std::filesystem::path& path, std::string& problem) {
  for (const double gain : {0.0, 2.0}) {
    LoadOptions options;
    options.fill_gain = gain;
    const bool named = path.extension() == ".onnx";  // other formats number the axes of their inputs
    for (const char* name : {"N", "n", "batch", "batch_size", "unk__616", "unk__618"}) {
      if (named) options.dimensions[name] = 1;
    }
    try {
      return load_model(path, options);
    } catch (const Error& error) {
      problem = error.what();
    }
  }
  return std::nullopt;
}

void on_overlay(const Graph& integer, Totals& totals) {
  const OverlayHardware hardware =
      find_overlay_hardware("overlay-16x16", std::filesystem::path(TILEWRIGHT_SOURCE_DIR) / "hardware");
  try {
    const LayerTable table = layer_table(compile(integer, hardware));
    totals.host_time_shares.push_back(table.host_time_share());
    std::set<std::string> host;
    for (const LayerRow& row : table.rows) {
      if (row.on_host()) host.insert(row.op);
    }
    std::string operators;
    for (const std::string& op : host) operators += (operators.empty() ? "" : " ") + op;
    std::printf("  compile:  %4zu nodes, %3d on the host with %4.1f %% of %.3f ms%s%s\n", table.rows.size(),
                table.host.nodes, 100 * table.host_time_share(), 1e3 * table.total_seconds(),
                operators.empty() ? "" : ": ", operators.c_str());
  } catch (const Error& error) {
    ++totals.compile_refused;
    std::printf("  compile:  refused: %s\n", first_line(error.what()).c_str());
  }
}

void as_hardware(const Graph& integer, Totals& totals) {
  try {
    const GeneratedDesign generated = figures::generate_for(integer, "f1-vu9p", "");
    totals.product_shares.push_back(generated.report.share_of_products);
    std::printf("  generate: %s, %5.1f %% of the products, %zu nodes in the way%s%s\n",
                generated.allocated.allocation.streaming ? "stages" : "processors",
                100 * generated.report.share_of_products, generated.report.left_out.size(),
                generated.report.left_out.empty() ? "" : ": ",
                generated.report.left_out.empty() ? "" : first_line(generated.report.left_out[0]).c_str());
  } catch (const Error& error) {
    ++totals.generate_refused;
    std::printf("  generate: refused: %s\n", first_line(error.what()).c_str());
  }
}

void cover(const std::filesystem::path& path, Totals& totals) {
  ++totals.networks;
  std::printf("%s\n", path.filename().c_str());
  std::string problem;
  const std::optional<Graph> graph = read(path, problem);
  if (!graph) {
    ++totals.not_read;
    std::printf("  not read: %s\n", first_line(problem).c_str());
    return;
  }
  try {
    const Graph integer = hardware_form(*graph, {}, zoo::seeded_inputs(*graph), 2, Recipe::kQuickest);
    on_overlay(integer, totals);
    as_hardware(integer, totals);
  } catch (const Error& error) {
    ++totals.compile_refused;
    ++totals.generate_refused;
    std::printf("  quantise: refused: %s\n", first_line(error.what()).c_str());
  }
  std::fflush(stdout);
}

double median(std::vector<double> values) {
  if (values.empty()) return 0;
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

}  // namespace

int main(int argc, char** argv) try {
  const std::filesystem::path folder = argc > 1 ? std::filesystem::path(argv[1]) : outside_models();
  std::vector<std::filesystem::path> files;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(folder)) {
    const std::filesystem::path& path = entry.path();
    const std::string stem = path.stem().string();  // stored inputs and outputs have the same ending
    const bool reference = stem.find("output_") != std::string::npos || stem.starts_with("input_");
    if (!reference &&
        (path.extension() == ".onnx" || path.extension() == ".tflite" || path.extension() == ".pb"))
      files.push_back(path);
  }
  std::sort(files.begin(), files.end());
  Totals totals;
  for (const std::filesystem::path& path : files) cover(path, totals);
  std::printf(
      "{\"figure\": \"model_coverage\", \"networks\": %d, \"not_read\": %d, \"compile_refused\": %d, "
      "\"generate_refused\": %d, \"median_host_time_share\": %.4f, \"median_product_share\": %.4f}\n",
      totals.networks, totals.not_read, totals.compile_refused, totals.generate_refused,
      median(totals.host_time_shares), median(totals.product_shares));
  return totals.networks > 0 ? 0 : 1;
} catch (const std::exception& error) {
  std::fprintf(stderr, "model_coverage: %s\n", error.what());
  return 1;
}

// pipeline_calibration_fit: the weights of the resource model from measured components.
//
//   pipeline_calibration_fit MEASURED [OUTPUT]
//
// Per form of component - arrays and finishes per family too, as families' blocks take up different logic
// around them - least squares with weights that are not negative, of errors relative to
// 20 cells more than were counted, over three quarters of the runs; the others (held_out, by a hash of the
// configuration) judge the result. Prints the errors of both per form, and the worst; OUTPUT becomes
// resource_coefficients.cpp (then to be formatted).
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <map>
#include <numeric>
#include <string>
#include <vector>

#include "calibration/least_squares.h"
#include "support/pipeline/measured_runs_testing.h"
#include "tilewright/base/file.h"
#include "tilewright/pipeline/estimate/resource_features.h"
#include "tilewright/pipeline/estimate/resource_model.h"

namespace {

using namespace tilewright;
using namespace tilewright::pipeline;

constexpr double kFewCells = 20;  // an error of some cells is none
constexpr double kCounts = 50;    // errors are those of components of at least so many cells

struct Sample {
  std::vector<double> features;
  double count = 0;
  bool held_out = false;
  const MeasuredRun* run = nullptr;
};

struct Errors {
  std::vector<double> percent;  // absolute, sorted
  double worst = 0;
  const MeasuredRun* worst_run = nullptr;

  void add(double error, const MeasuredRun* run) {
    percent.insert(std::upper_bound(percent.begin(), percent.end(), std::abs(error)), std::abs(error));
    if (std::abs(error) < std::abs(worst)) return;
    worst = error;
    worst_run = run;
  }
  double quantile(double share) const {
    return percent.empty() ? 0 : percent[size_t(share * double(percent.size() - 1) + 0.5)];
  }
};

constexpr size_t kFamilies = 4;
constexpr size_t kOwnRuns = 10;  // of a form, that its own weights take

// Forms around whose blocks the families have different logic. Tables of four inputs make everything other.
bool differs(const std::string& form, synthesis::DeviceFamily a, synthesis::DeviceFamily b) {
  if (a == b) return false;
  using synthesis::DeviceFamily;
  const auto narrow = [](DeviceFamily family) {
    return family == DeviceFamily::kEcp5 || family == DeviceFamily::kIce40;
  };
  return narrow(a) || narrow(b) || form == "mac_array" || form == "mac_array_packed" ||
         form == "lane_array" || form == "finish";
}

std::vector<double> fitted(const std::vector<Sample>& samples) {
  std::vector<LeastSquaresRow> rows;
  for (const Sample& sample : samples) {
    if (sample.held_out) continue;
    rows.push_back({sample.features, sample.count, 1 / std::pow(sample.count + kFewCells, 2)});
  }
  return rows.empty() ? std::vector<double>{} : nonnegative_least_squares(rows);
}

double error_percent(const Sample& sample, const std::vector<double>& weights) {
  const double estimate = std::inner_product(weights.begin(), weights.end(), sample.features.begin(), 0.0);
  return 100 * (std::round(estimate) - sample.count) / std::max(1.0, sample.count);
}

// All forms of one family and one kind of cell.
class Fit {
 public:
  void add(const std::string& form, Sample sample) { samples_[form].push_back(std::move(sample)); }

  // `other`: another family's, for forms with too few runs of their own; nullptr: none.
  void solve(const char* what, synthesis::DeviceFamily family, const Fit* other) {
    Scale all;
    for (const std::string& form : modelled_forms()) {
      // Arrays of packed products are like no other form.
      if (other != nullptr && form != "mac_array_packed") all += scale(form, *other);
    }
    for (const std::string& form : modelled_forms()) {
      weights_[form] = fitted(samples_[form]);
      if (other != nullptr) take_where_few(form, *other, all);
      if (weights_[form].empty()) {
        fmt::print("{:<16} {:<9} no runs\n", form, what);
        continue;
      }
      Errors used, kept;
      for (const Sample& sample : samples_[form]) {
        if (sample.count < kCounts) continue;
        const double error = error_percent(sample, weights_[form]);
        (sample.held_out ? kept : used).add(error, sample.run);
        if (sample.held_out && sample.run->family == family) held_out.add(error, sample.run);
      }
      print_line(form, what, used, kept);
    }
  }
  const std::vector<double>& weights(const std::string& form) { return weights_[form]; }

  Errors held_out;  // of this family's components

 private:
  static void print_line(const std::string& form, const char* what, const Errors& used, const Errors& kept) {
    fmt::print(
        "{:<16} {:<9} {:>3} runs, median {:>5.1f} %, worst {:>+6.1f} %; held out {:>2}, median {:>5.1f} %, "
        "worst "
        "{:>+6.1f} % {}\n",
        form, what, used.percent.size(), used.quantile(0.5), used.worst, kept.percent.size(),
        kept.quantile(0.5), kept.worst, std::abs(kept.worst) > 20 ? kept.worst_run->configuration : "");
    if (std::abs(used.worst) > 25) fmt::print("    {}\n", used.worst_run->configuration);
  }

  // What runs count over what another family's weights say of them.
  struct Scale {
    double counted = 0, estimated = 0;
    double factor() const { return estimated > 0 ? counted / estimated : 1; }
    void operator+=(const Scale& more) { counted += more.counted, estimated += more.estimated; }
  };
  Scale scale(const std::string& form, const Fit& other) {
    Scale result;
    const std::vector<double>& weights = other.weights_.at(form);
    for (const Sample& sample : samples_[form]) {
      if (sample.held_out || weights.empty()) continue;
      result +=
          {sample.count, std::inner_product(weights.begin(), weights.end(), sample.features.begin(), 0.0)};
    }
    return result;
  }

  // Too few runs, or none with a feature: the other family's weights, scaled.
  void take_where_few(const std::string& form, const Fit& other, const Scale& all) {
    const std::vector<Sample>& samples = samples_[form];
    const Scale own = scale(form, other);
    std::vector<double> weights = other.weights_.at(form);
    for (size_t k = 0; k < weights.size(); ++k) {
      weights[k] *= own.estimated > 0 ? own.factor() : all.factor();
      const bool seen = std::any_of(samples.begin(), samples.end(), [&](const Sample& sample) {
        return !sample.held_out && sample.features[k] != 0;
      });
      if (samples.size() >= kOwnRuns && seen) weights[k] = weights_[form][k];
    }
    weights_[form] = std::move(weights);
  }

  std::map<std::string, std::vector<Sample>> samples_;
  std::map<std::string, std::vector<double>> weights_;
};

std::string list(const std::vector<double>& weights) {
  std::string text = "{";
  for (size_t i = 0; i < weights.size(); ++i) {
    text += fmt::format("{}{:.4g}", i == 0 ? "" : ", ", weights[i]);
  }
  return text + "}";
}

void print_band(const char* what, const Errors& e) {
  if (e.percent.empty()) return;
  fmt::print("{}: {} held out: median {:.1f} %, nine of ten within {:.1f} %, worst {:+.1f} % ({})\n", what,
             e.percent.size(), e.quantile(0.5), e.quantile(0.9), e.worst, e.worst_run->configuration);
}

std::string band(const Errors& e) {
  return fmt::format("{{{:.1f}, {:.1f}, {:.1f}}}", e.quantile(0.5), e.quantile(0.9), std::abs(e.worst));
}

struct Family {
  synthesis::DeviceFamily family;
  Fit lut, ff;
  Errors blocks;
  int64_t held_out = 0;

  void add_blocks(const ResourceFeatures& f, const MeasuredRun& run) {
    for (const auto& [estimate, count] :
         {std::pair{f.dsp, run.counted.dsp}, {f.bram, run.counted.bram}, {f.uram, run.counted.uram}}) {
      if (estimate == count && count == 0) continue;
      const double error = 100 * double(estimate - count) / double(std::max<int64_t>(1, count));
      if (estimate != count) {
        fmt::print("blocks: estimated {}, counted {}: {}\n", estimate, count, run.configuration);
      }
      if (pipeline::held_out(run)) blocks.add(error, &run);
    }
  }
};

std::string coefficient_source(Family (&families)[kFamilies], size_t runs) {
  std::string text = fmt::format(
      "// Written by pipeline_calibration_fit from the {} Yosys runs of "
      "bench/pipeline_calibration/measured.txt:\n"
      "// least squares per form of component, features in the order of component/NAME.cpp.\n"
      "#include <map>\n\n#include \"tilewright/pipeline/estimate/estimate.h\"\n"
      "#include \"tilewright/pipeline/estimate/resource_model.h\"\n\n"
      "namespace tilewright::pipeline {{\n\n"
      "const ResourceCoefficients& resource_coefficients(const std::string& form,\n"
      "                                                  synthesis::DeviceFamily family) {{\n"
      "  struct Families {{ ResourceCoefficients xc7, xcup, ecp5, ice40; }};\n"
      "  static const std::map<std::string, Families> table = {{\n",
      runs);
  for (const std::string& form : modelled_forms()) {
    text += fmt::format("      {{\"{}\",\n {{", form);
    for (Family& one : families) {
      text += fmt::format("{{{},\n {}}},\n", list(one.lut.weights(form)), list(one.ff.weights(form)));
    }
    text += "}},\n";
  }
  text +=
      "  };\n  static const ResourceCoefficients none;\n  const auto found = table.find(form);\n"
      "  if (found == table.end()) return none;\n"
      "  switch (family) {\n"
      "    case synthesis::DeviceFamily::kXc7:\n      return found->second.xc7;\n"
      "    case synthesis::DeviceFamily::kXcup:\n      return found->second.xcup;\n"
      "    case synthesis::DeviceFamily::kEcp5:\n      return found->second.ecp5;\n"
      "    case synthesis::DeviceFamily::kIce40:\n      return found->second.ice40;\n  }\n  return "
      "none;\n}\n\n"
      "const AreaErrors& error_band(synthesis::DeviceFamily family) {\n";
  const char* const names[] = {"xc7", "xcup", "ecp5", "ice40"};
  for (size_t i = 0; i < kFamilies; ++i) {
    Family& one = families[i];
    text += fmt::format("  static const AreaErrors {} = {{{}, {}, {}, {}}};\n", names[i], one.held_out,
                        band(one.lut.held_out), band(one.ff.held_out), band(one.blocks));
  }
  return text +
         "  static const AreaErrors none;\n"
         "  switch (family) {\n"
         "    case synthesis::DeviceFamily::kXc7:\n      return xc7;\n"
         "    case synthesis::DeviceFamily::kXcup:\n      return xcup;\n"
         "    case synthesis::DeviceFamily::kEcp5:\n      return ecp5;\n"
         "    case synthesis::DeviceFamily::kIce40:\n      return ice40;\n  }\n  return none;\n}\n\n"
         "}  // namespace tilewright::pipeline\n";
}

int run(const std::string& measured, const std::string& output) {
  const std::vector<MeasuredRun> runs = read_measured_runs(measured);
  Family families[kFamilies] = {{synthesis::DeviceFamily::kXc7, {}, {}, {}, 0},
                                {synthesis::DeviceFamily::kXcup, {}, {}, {}, 0},
                                {synthesis::DeviceFamily::kEcp5, {}, {}, {}, 0},
                                {synthesis::DeviceFamily::kIce40, {}, {}, {}, 0}};
  for (const MeasuredRun& one : runs) {
    // Contents that are the same in every word vanish; the sizes do not say so.
    if (one.component == "rom_walker" && one.counted.lut <= 1) continue;
    const ResourceFeatures f = resource_features(one.component, one.parameters, one.family);
    const bool held = held_out(one);
    for (Family& target : families) {
      if (target.family == one.family) {
        target.held_out += held ? 1 : 0;
        target.add_blocks(f, one);
      } else if (differs(f.form, target.family, one.family)) {
        continue;
      }
      target.lut.add(f.form, {f.lut, double(one.counted.lut), held, &one});
      target.ff.add(f.form, {f.ff, double(one.counted.ff), held, &one});
    }
  }
  for (Family& one : families) {
    const std::string name = synthesis::family_name(one.family);
    // Registers stay outside of ECP5's blocks, as of UltraScale+'s.
    Family* const other = one.family == synthesis::DeviceFamily::kEcp5    ? &families[1]
                          : one.family == synthesis::DeviceFamily::kIce40 ? &families[2]
                                                                          : nullptr;
    one.lut.solve((name + " LUT").c_str(), one.family, other ? &other->lut : nullptr);
    one.ff.solve((name + " FF").c_str(), one.family, other ? &other->ff : nullptr);
  }
  for (Family& one : families) {
    const std::string name = synthesis::family_name(one.family);
    print_band((name + " LUT").c_str(), one.lut.held_out);
    print_band((name + " FF").c_str(), one.ff.held_out);
    print_band((name + " blocks").c_str(), one.blocks);
  }
  fmt::print("{} runs\n", runs.size());
  if (!output.empty()) write_text_file(output, coefficient_source(families, runs.size()));
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2 && argc != 3) {
    std::fprintf(stderr, "usage: pipeline_calibration_fit MEASURED [OUTPUT]\n");
    return 1;
  }
  try {
    return run(argv[1], argc == 3 ? argv[2] : "");
  } catch (const tilewright::Error& error) {
    std::fprintf(stderr, "pipeline_calibration_fit: %s\n", error.what());
    return 1;
  }
}

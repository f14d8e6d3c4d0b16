// A rank has 1 + the sum of (size - 1) * |coefficient| coordinates, over its terms; negative coefficients
// shift its origin, so that coordinates start at 0. A problem that states no shape, or names cnn-layer, gets
// that of a convolution. Inputs and weights are told apart by their names.
#include "tilewright/spatial/timeloop/problem.h"

#include <fmt/format.h>

#include <algorithm>

#include "tilewright/base/plain_text.h"

namespace tilewright::timeloop {
namespace {

constexpr int64_t kMost = int64_t{1} << 40;

// The shape that older files name, or leave out, instead of stating it.
constexpr const char* kLayerShape = R"(
name: cnn_layer
dimensions: [R, S, P, Q, C, K, N]
coefficients:
- {name: Wstride, default: 1}
- {name: Hstride, default: 1}
- {name: Wdilation, default: 1}
- {name: Hdilation, default: 1}
data_spaces:
- {name: Weights, projection: [[[C]], [[K]], [[R]], [[S]]]}
- {name: Inputs, projection: [[[N]], [[C]], [[R, Wdilation], [P, Wstride]], [[S, Hdilation], [Q, Hstride]]]}
- {name: Outputs, projection: [[[N]], [[K]], [[Q]], [[P]]], read_write: true}
)";

bool contains_any(const std::string& name, std::initializer_list<const char*> parts) {
  const std::string lower = lower_case(name);
  return std::any_of(parts.begin(), parts.end(),
                     [&](const char* part) { return lower.find(part) != std::string::npos; });
}

class ProblemReader {
 public:
  ProblemReader(const Source& problem, Report& report) : problem_(problem), report_(report) {}

  std::optional<Workload> read() {
    const size_t before = report_.diagnostics().errors().size();
    if (!problem_.is_map()) {
      report_.invalid(problem_, "problem", "a map is expected");
      return {};
    }
    const Source stated_shape = child(problem_, "shape");
    const bool named = !stated_shape || stated_shape.is_text();
    if (named && stated_shape && stated_shape.text() != "cnn-layer" && stated_shape.text() != "cnn_layer") {
      report_.unsupported(stated_shape, "shape",
                          fmt::format("the shape '{}' is not known", stated_shape.text()),
                          "state its dimensions and data_spaces");
      return {};
    }
    const Source shape = named ? Source(YAML::Load(kLayerShape), problem_.file) : stated_shape;
    if (!shape.is_map()) {
      report_.invalid(problem_, "shape", "a problem needs a shape");
      return {};
    }
    report_.only_keys(shape, {"name", "dimensions", "coefficients", "data_spaces", "version"});
    const Source stated = child(problem_, "instance");
    instance_ = stated ? stated : problem_;
    if (stated) report_.only_keys(problem_, {"shape", "instance", "version", "name"});
    if (!instance_.is_map()) {
      report_.invalid(instance_, "instance", "a map of sizes is expected");
      return {};
    }
    workload_.name = child(shape, "name").text();
    if (workload_.name.empty()) workload_.name = "problem";
    dimensions(shape);
    coefficients(shape);
    unused_sizes();
    data_spaces(shape);
    if (report_.diagnostics().errors().size() != before) return {};
    Diagnostics rules;
    workload_.verify(rules);
    for (const Diagnostic& d : rules.errors()) {
      report_.diagnostics().error(d.kind, problem_.where(), d.op, d.where + ": " + d.message, d.hint);
    }
    if (!rules.ok()) return {};
    return std::move(workload_);
  }

 private:
  void dimensions(const Source& shape) {
    const std::vector<std::string> names = report_.words(child(shape, "dimensions"), "dimensions");
    if (names.empty()) report_.invalid(shape, "dimensions", "a list of names is expected");
    for (const std::string& name : names) {
      if (!child(instance_, name)) {
        report_.invalid(instance_, name, "the instance gives no size of this dimension");
      }
      workload_.dimensions.push_back({name, report_.integer(instance_, name, 1, kMost, 1)});
    }
  }

  void coefficients(const Source& shape) {
    for (const Source& item : items(child(shape, "coefficients"))) {
      const std::string name = child(item, "name").text();
      const int64_t standard = report_.integer(item, "default", -kMost, kMost, 1);
      coefficients_[name] = report_.integer(instance_, name, -kMost, kMost, standard);
    }
  }

  void unused_sizes() {
    for (const auto& entry : instance_.node) {
      const std::string key = entry.first.IsScalar() ? entry.first.Scalar() : "...";
      const Source value = instance_.with(entry.second);
      if (key == "<<" || key == "shape" || key == "name" || key == "version" || key == "instance") continue;
      if (workload_.find_dimension(key) || coefficients_.count(key)) continue;
      if (key == "densities") {
        const bool empty = !value || (entry.second.size() == 0 && !value.is_text());
        if (!empty) report_.unsupported(value, key, "sparse data are not modelled", "remove the densities");
        continue;
      }
      report_.note(value, key, "is neither a dimension nor a coefficient of the shape: not used");
    }
  }

  std::optional<ProjectionTerm> term(const Source& source) {
    const std::vector<Source> parts = items(source);
    if (parts.empty() || parts.size() > 2 || !parts[0].is_text()) {
      report_.invalid(source, "projection", "a term is [dimension] or [dimension, coefficient]");
      return {};
    }
    const auto dimension = workload_.find_dimension(parts[0].text());
    if (!dimension) {
      report_.invalid(source, "projection", fmt::format("the shape has no dimension '{}'", parts[0].text()));
      return {};
    }
    ProjectionTerm result{*dimension, 1};
    if (parts.size() == 2) {
      const auto named = coefficients_.find(parts[1].text());
      if (named != coefficients_.end()) {
        result.coefficient = named->second;
      } else if (!parts[1].is_text() || !YAML::convert<int64_t>::decode(parts[1].node, result.coefficient) ||
                 result.coefficient < -kMost || result.coefficient > kMost) {
        report_.invalid(
            source, "projection",
            fmt::format("'{}' is neither a coefficient of the shape nor an integer", parts[1].text()));
        return {};
      }
    }
    return result;
  }

  Rank rank(const std::string& name, const Source& terms) {
    Rank result;
    result.name = name;
    if (!terms.is_list()) report_.invalid(terms, "projection", "a rank is a list of terms");
    int64_t last = 0;
    for (const Source& item : items(terms)) {
      const std::optional<ProjectionTerm> one = term(item);
      if (!one) continue;
      result.terms.push_back(*one);
      const Dimension& dimension = workload_.dimensions[size_t(one->dimension)];
      if (result.name.empty()) result.name = dimension.name;
      if (one->coefficient == 0) continue;
      const int64_t magnitude = std::abs(one->coefficient);
      const int64_t span = dimension.size - 1 > kMost / magnitude ? kMost : (dimension.size - 1) * magnitude;
      // Negative steps begin at the far end.
      if (one->coefficient < 0) result.offset += span;
      last = std::min(kMost, last + span);
    }
    result.size = std::min(kMost, last + 1);
    return result;
  }

  void data_spaces(const Source& shape) {
    const Source list = child(shape, "data_spaces");
    if (!list.is_list()) return report_.invalid(shape, "data_spaces", "a list of data spaces is expected");
    std::vector<DataSpace> inputs;
    std::optional<DataSpace> output;
    for (const Source& item : items(list)) {
      if (!item.is_map()) {
        report_.invalid(item, "data_spaces", "a map with name and projection is expected");
        continue;
      }
      report_.only_keys(item, {"name", "projection", "read_write"});
      DataSpace space;
      space.bits = 16;
      space.name = child(item, "name").text();
      const Source read_write = child(item, "read_write");
      if (read_write && !YAML::convert<bool>::decode(read_write.node, space.is_output)) {
        report_.invalid(read_write, "read_write", "true or false is expected");
      }
      const Source projection = child(item, "projection");
      if (projection.is_map()) {
        for (const auto& entry : projection.node) {
          space.ranks.push_back(
              rank(entry.first.IsScalar() ? entry.first.Scalar() : "", projection.with(entry.second)));
        }
      } else if (projection.is_list()) {
        for (const Source& terms : items(projection)) space.ranks.push_back(rank("", terms));
      } else {
        report_.invalid(item, "projection", "a list of ranks is expected");
      }
      if (!space.is_output) {
        inputs.push_back(std::move(space));
      } else if (output) {
        report_.unsupported(item, "read_write", "a second data space that is written",
                            "one output per problem");
      } else {
        output = std::move(space);
      }
    }
    if (!output) return report_.invalid(list, "read_write", "no data space is written (read_write: true)");
    put_in_order(list, std::move(inputs), std::move(*output));
  }

  // Weights by their name, else the second of the data spaces that are read.
  void put_in_order(const Source& list, std::vector<DataSpace> inputs, DataSpace output) {
    if (inputs.size() != 2) {
      return report_.unsupported(list, "data_spaces", fmt::format("{} data spaces are read", inputs.size()),
                                 "two operands and one result are supported");
    }
    const auto is_weight = [](const DataSpace& s) {
      return contains_any(s.name, {"weight", "filter", "kernel"});
    };
    const auto is_input = [](const DataSpace& s) {
      return contains_any(s.name, {"input", "ifmap", "activation"});
    };
    if ((is_weight(inputs[0]) && !is_weight(inputs[1])) || (is_input(inputs[1]) && !is_input(inputs[0]))) {
      std::swap(inputs[0], inputs[1]);
    }
    workload_.data_spaces = {std::move(inputs[0]), std::move(inputs[1]), std::move(output)};
  }

  Source problem_, instance_;
  Report& report_;
  Workload workload_;
  std::map<std::string, int64_t> coefficients_;
};

}  // namespace

std::optional<Workload> read_problem(const Source& problem, Report& report) {
  return ProblemReader(problem, report).read();
}

}  // namespace tilewright::timeloop

// Shorthands go through the builders of workload.h, so that they mean exactly what a model's layer means.
#include "tilewright/nest/workload_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

#include "tilewright/base/expression/expression_text.h"
#include "tilewright/base/file.h"
#include "tilewright/base/yaml.h"
#include "tilewright/nest/affine_text.h"

namespace tilewright {
namespace {

constexpr int64_t kMostSize = int64_t{1} << 40;
constexpr const char* kOperatorNames[] = {"convolution", "depthwise", "transposed_convolution",
                                          "dense",       "matmul",    "dimensions"};

class WorkloadReader {
 public:
  WorkloadReader(YAML::Node node, std::string source_name, Diagnostics& diagnostics)
      : source_(std::move(source_name)), node_(node), diagnostics_(diagnostics) {}

  Workload read() {
    const size_t before = diagnostics_.errors().size();
    const bool is_map = node_.IsMap();  // asked before YamlMap puts an empty map in its place
    YamlMap map(node_, source_, diagnostics_);
    if (!is_map) return {};
    const std::string name = map.text("name", std::filesystem::path(source_).stem().string());
    int stated = 0;
    std::string list;
    for (const char* op : kOperatorNames) {
      if (map.has(op)) ++stated;
      list += (list.empty() ? "" : ", ") + std::string(op);
    }
    Workload workload;
    if (stated != 1) {
      map.error("name", fmt::format("workload '{}' has {} operators, there must be one", name, stated), list);
      return workload;
    }
    if (map.has("dimensions")) {
      workload = general(map);
      workload.name = name;
      map.finish();
      if (diagnostics_.errors().size() == before) verify(workload);
      return workload;
    }
    const WorkloadBits bits = read_bits(map);
    try {
      workload = shorthand(map, name, bits, before);
    } catch (const Error& error) {
      for (const Diagnostic& d : error.diagnostics()) add_with_line(d);
    }
    return workload;
  }

 private:
  YamlMap nested(YamlMap& map, const std::string& key) {
    const YAML::Node child = map.child(key);
    return YamlMap(child.IsDefined() ? child : YAML::Node(YAML::NodeType::Map), source_, diagnostics_);
  }

  void verify(const Workload& workload) {
    Diagnostics own;
    workload.verify(own);
    for (const Diagnostic& d : own.errors()) add_with_line(d);
  }

  void add_with_line(Diagnostic d) {
    const std::string line =
        node_.Mark().is_null() ? source_ : fmt::format("{}:{}", source_, node_.Mark().line + 1);
    d.where = d.where.empty() ? line : fmt::format("{}, {}", line, d.where);
    diagnostics_.add(std::move(d));
  }

  WorkloadBits read_bits(YamlMap& map) {
    WorkloadBits bits;
    YamlMap fields = nested(map, "bits");
    bits.input = int(fields.integer("input", 1, 64, bits.input));
    bits.weight = int(fields.integer("weight", 1, 64, bits.weight));
    bits.output = int(fields.integer("output", 1, 64, bits.output));
    fields.finish();
    return bits;
  }

  Workload shorthand(YamlMap& map, const std::string& name, const WorkloadBits& bits, size_t before) {
    const auto size = [&](YamlMap& fields, const char* key, std::optional<int64_t> fallback = {}) {
      return fields.integer(key, 1, kMostSize, fallback);
    };
    if (map.has("matmul")) {
      YamlMap fields = nested(map, "matmul");
      const int64_t batch = size(fields, "batch", 1), m = size(fields, "m"), n = size(fields, "n"),
                    k = size(fields, "k");
      const bool shared = fields.boolean("shared_weight", false);
      if (!finished(map, fields, before)) return {};
      return batched_matmul_workload(name, batch, m, n, k, shared, bits);
    }
    if (map.has("dense")) {
      YamlMap fields = nested(map, "dense");
      const int64_t batch = size(fields, "batch", 1), inputs = size(fields, "inputs"),
                    outputs = size(fields, "outputs");
      if (!finished(map, fields, before)) return {};
      return dense_workload(name, batch, inputs, outputs, bits);
    }
    const bool transposed = map.has("transposed_convolution"), depthwise = map.has("depthwise");
    YamlMap fields = nested(map, transposed  ? "transposed_convolution"
                                 : depthwise ? "depthwise"
                                             : "convolution");
    ConvShape shape;
    shape.batch = size(fields, "batch", 1);
    shape.input_channels = size(fields, depthwise ? "channels" : "input_channels");
    int64_t multiplier = 1;
    if (depthwise) {
      multiplier = size(fields, "multiplier", 1);
    } else {
      shape.output_channels = size(fields, "output_channels");
      shape.group = size(fields, "group", 1);
    }
    window(fields, transposed, before, shape.height, shape.width);
    if (!finished(map, fields, before)) return {};
    if (transposed) return conv2d_transpose_workload(name, shape, bits);
    return depthwise ? depthwise_workload(name, shape, multiplier, bits) : conv2d_workload(name, shape, bits);
  }

  bool finished(YamlMap& map, YamlMap& fields, size_t before) {
    fields.finish();
    map.finish();
    return diagnostics_.errors().size() == before;
  }

  // One number for both axes, or a list of `count`.
  std::vector<int64_t> numbers(YamlMap& fields, const std::string& key, int64_t low, size_t count,
                               std::optional<int64_t> fallback) {
    const YAML::Node node = fields.child(key);
    if (!node.IsDefined() || node.IsScalar()) {
      return std::vector<int64_t>(count, fields.integer(key, low, kMostSize, fallback));
    }
    std::vector<int64_t> values;
    bool good = node.IsSequence() && (node.size() == count || node.size() == 2);
    for (size_t i = 0; good && i < node.size(); ++i) {
      int64_t value = 0;
      good = YAML::convert<int64_t>::decode(node[i], value) && value >= low && value <= kMostSize;
      values.push_back(value);
    }
    if (!good) {
      fields.error(key, fmt::format("one number or {} of them, {} or more, are expected",
                                    count == 4 ? "two or four" : "two", low));
      return std::vector<int64_t>(count, low);
    }
    if (values.size() < count) values.insert(values.end(), {values[0], values[1]});
    return values;
  }

  void window(YamlMap& fields, bool transposed, size_t before, WindowAxis& height, WindowAxis& width) {
    const bool by_output = fields.has("output") && !fields.has("input");
    const std::vector<int64_t> size = numbers(fields, by_output ? "output" : "input", 1, 2, {});
    const std::vector<int64_t> kernel = numbers(fields, "kernel", 1, 2, {});
    const std::vector<int64_t> stride = numbers(fields, "stride", 1, 2, 1);
    const std::vector<int64_t> dilation = numbers(fields, "dilation", 1, 2, 1);
    const std::vector<int64_t> pad = numbers(fields, "pad", 0, 4, 0);
    if (diagnostics_.errors().size() != before) return;
    for (size_t axis = 0; axis < 2; ++axis) {
      WindowAxis& w = axis == 0 ? height : width;
      w = {size[axis], kernel[axis], stride[axis], dilation[axis], pad[axis], pad[axis + 2], 1};
      if (w.kernel > kMostSize / w.dilation || size[axis] > kMostSize / w.stride) {
        fields.error("kernel", "the window reaches beyond 2^40");
        return;
      }
      const int64_t pads = w.pad_begin + w.pad_end;
      // The larger of the two sizes of an axis, from the smaller one and the other way round.
      const int64_t spread = (size[axis] - 1) * w.stride + w.effective_kernel() - pads;
      const int64_t slack = size[axis] + pads - w.effective_kernel();
      const int64_t other = transposed == by_output ? (slack < 0 ? 0 : slack / w.stride + 1) : spread;
      if (other < 1) {
        fields.error("kernel", fmt::format("a window of {} does not fit {} with padding {}",
                                           w.effective_kernel(), size[axis], pads));
        return;
      }
      w.output = by_output ? size[axis] : other;
      w.input = by_output ? other : size[axis];
    }
  }

  Workload general(YamlMap& map) {
    Workload workload;
    const YAML::Node dimensions = map.child("dimensions");
    if (!dimensions.IsMap()) {
      map.error("dimensions", "a map of 'name: size' lines is expected");
      return workload;
    }
    YamlMap sizes(dimensions, source_, diagnostics_);
    for (const auto& entry : dimensions) {
      const std::string name = entry.first.IsScalar() ? entry.first.Scalar() : "...";
      if (!is_name(name)) {
        sizes.error(name, "a dimension's name has letters, digits and underscores");
      } else if (workload.find_dimension(name)) {
        sizes.error(name, "a second dimension of this name");
      } else {
        workload.dimensions.push_back({name, sizes.integer(name, 1, kMostSize)});
      }
    }
    const YAML::Node spaces = map.child("data_spaces");
    if (!spaces.IsDefined() || !spaces.IsSequence()) {
      map.error("data_spaces", "a list of data spaces is expected");
      return workload;
    }
    for (const YAML::Node& space : spaces) {
      YamlMap fields(space, source_, diagnostics_);
      workload.data_spaces.push_back(data_space(fields, workload));
      fields.finish();
    }
    return workload;
  }

  DataSpace data_space(YamlMap& fields, const Workload& workload) {
    DataSpace space;
    space.name = fields.text("name");
    space.is_output = fields.boolean("output", false);
    space.bits = int(fields.integer("bits", 1, 64, space.is_output ? 32 : 8));
    const YAML::Node ranks = fields.child("ranks");
    if (!ranks.IsDefined() || !ranks.IsSequence()) {
      fields.error("ranks", "a list of ranks is expected, [] for a single value");
      return space;
    }
    for (const YAML::Node& rank : ranks) {
      if (rank.IsScalar()) {
        YAML::Node map(YAML::NodeType::Map);
        map["index"] = rank;
        YamlMap one(map, source_, diagnostics_);
        space.ranks.push_back(read_rank(one, workload));
      } else {
        YamlMap one(rank, source_, diagnostics_);
        space.ranks.push_back(read_rank(one, workload));
        one.finish();
      }
    }
    return space;
  }

  // {name, size, index}; without a size the indices have no padding at the end, without a name the index is
  // the name.
  Rank read_rank(YamlMap& fields, const Workload& workload) {
    Rank rank;
    const std::string index = fields.text("index");
    rank.name = fields.text("name", index);
    std::string problem;
    if (!parse_affine(index, workload, rank, problem)) {
      if (!index.empty()) fields.error("index", problem);
      fields.integer("size", 1, kMostSize, 1);
      return rank;
    }
    int64_t last = rank.offset;
    for (const ProjectionTerm& term : rank.terms) {
      const int64_t most = workload.dimensions[size_t(term.dimension)].size - 1;
      if (term.coefficient > 0)
        last += std::min(kMostSize, most) * std::min(term.coefficient, kMostSize / (most + 1));
    }
    rank.size = fields.integer("size", 1, kMostSize, std::clamp<int64_t>(last + 1, 1, kMostSize));
    return rank;
  }

  std::string source_;
  YAML::Node node_;
  Diagnostics& diagnostics_;
};

}  // namespace

std::vector<Workload> parse_workloads(const std::string& text, const std::string& source_name) {
  const YAML::Node root = parse_yaml(text, source_name);
  Diagnostics diagnostics;
  std::vector<Workload> workloads;
  if (root.IsSequence()) {
    for (const YAML::Node& node : root) {
      workloads.push_back(WorkloadReader(node, source_name, diagnostics).read());
    }
  } else {
    workloads.push_back(WorkloadReader(root, source_name, diagnostics).read());
  }
  diagnostics.raise_if_any();
  return workloads;
}

std::vector<Workload> read_workloads(const std::filesystem::path& path) {
  return parse_workloads(read_text_file(path, size_t{1} << 22), path.string());
}

std::string print_workload(const Workload& workload) {
  std::string text = fmt::format("name: {}\ndimensions:\n", yaml_quoted(workload.name));
  for (const Dimension& d : workload.dimensions) text += fmt::format("  {}: {}\n", d.name, d.size);
  text += "data_spaces:\n";
  for (const DataSpace& space : workload.data_spaces) {
    text += fmt::format("- name: {}\n  bits: {}\n", yaml_quoted(space.name), space.bits);
    if (space.is_output) text += "  output: true\n";
    text += space.ranks.empty() ? "  ranks: []\n" : "  ranks:\n";
    for (const Rank& rank : space.ranks) {
      text += fmt::format("  - {{name: {}, size: {}, index: {}}}\n", yaml_quoted(rank.name), rank.size,
                          print_affine(rank, workload));
    }
  }
  return text;
}

}  // namespace tilewright

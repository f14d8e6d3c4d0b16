// Permutations list the innermost loop first. A factor of 0 (or -1) is what the other factors of the
// dimension leave. Of a spatial directive the first `split` dimensions of the permutation lie along x, the
// others along y.
#include "tilewright/spatial/timeloop/directives.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>

#include "tilewright/base/integer_math.h"
#include "tilewright/base/plain_text.h"

namespace tilewright::timeloop {
namespace {

constexpr int64_t kMostFactor = int64_t{1} << 40;
constexpr int64_t kResidue = -1;

struct StatedFactor {
  int dimension = 0;
  int64_t factor = 1;  // kResidue: what is left
};

// Reads the fields of directives in terms of one workload.
class FieldReader {
 public:
  FieldReader(const Workload& workload, Report& report) : workload_(workload), report_(report) {}

  // "N1 P1", "N=1,P=1" or a list of such.
  std::vector<StatedFactor> factors(const Source& body) {
    const Source source = child(body, "factors");
    std::vector<StatedFactor> result;
    for (const std::string& word : report_.words(source, "factors")) {
      if (word.find_first_of("<>") != std::string::npos) {
        report_.unsupported(source, "factors", fmt::format("'{}' is a range of factors", word),
                            "fix the factor or leave it free");
        continue;
      }
      const std::optional<StatedFactor> one = factor(word);
      if (!one) {
        report_.invalid(source, "factors",
                        fmt::format("'{}' is not a dimension of the problem with a factor", word));
      } else if (std::any_of(result.begin(), result.end(),
                             [&](const StatedFactor& f) { return f.dimension == one->dimension; })) {
        report_.invalid(
            source, "factors",
            fmt::format("a second factor of {}", workload_.dimensions[size_t(one->dimension)].name));
      } else {
        result.push_back(*one);
      }
    }
    return result;
  }

  // Dimensions, innermost first.
  std::vector<int> permutation(const Source& body) {
    const Source source = child(body, "permutation");
    std::vector<int> result;
    for (const std::string& word : report_.words(source, "permutation")) {
      if (word.find('*') != std::string::npos) {
        report_.unsupported(source, "permutation", "a permutation with '*'", "name the innermost loops only");
        return {};
      }
      for (const std::string& name : dimension_names(word)) {
        const auto dimension = workload_.find_dimension(name);
        if (!dimension) {
          report_.invalid(source, "permutation", fmt::format("the problem has no dimension '{}'", name));
        } else if (std::find(result.begin(), result.end(), *dimension) != result.end()) {
          report_.invalid(source, "permutation", fmt::format("dimension {} is listed twice", name));
        } else {
          result.push_back(*dimension);
        }
      }
    }
    return result;
  }

  // Bits per data space.
  uint32_t spaces(const Source& body, const std::string& key) {
    uint32_t bits = 0;
    const Source source = child(body, key);
    for (const std::string& name : report_.words(source, key)) {
      const auto space = workload_.find_data_space(name);
      if (space) {
        bits |= 1u << *space;
      } else {
        report_.invalid(source, key, fmt::format("the problem has no data space '{}'", name));
      }
    }
    return bits;
  }

  // How many dimensions of the permutation lie along x; nothing when it is not stated.
  std::optional<int> split(const Source& body) {
    if (!child(body, "split")) return {};
    return int(report_.integer(body, "split", 0, 1 << 20, 0));
  }

 private:
  std::optional<StatedFactor> factor(const std::string& word) const {
    const size_t equals = word.find('=');
    // Without '=' the longest name with a number after it: names may end in digits.
    for (int d = 0, best = -1;; ++d) {
      if (d == workload_.dimension_count()) return best < 0 ? std::nullopt : number(word, best, equals);
      const std::string& name = workload_.dimensions[size_t(d)].name;
      const bool fits = equals == std::string::npos
                            ? word.starts_with(name) && number(word, d, equals).has_value()
                            : word.substr(0, equals) == name;
      if (fits && (best < 0 || name.size() > workload_.dimensions[size_t(best)].name.size())) best = d;
    }
  }

  std::optional<StatedFactor> number(const std::string& word, int dimension, size_t equals) const {
    const size_t begin =
        equals == std::string::npos ? workload_.dimensions[size_t(dimension)].name.size() : equals + 1;
    int64_t value = 0;
    const char* end = word.data() + word.size();
    const auto [stop, error] = std::from_chars(word.data() + begin, end, value);
    if (error != std::errc() || stop != end || value < -1 || value > kMostFactor) return {};
    return StatedFactor{dimension, value <= 0 ? kResidue : value};
  }

  // "NPQ" names three dimensions, unless one has that name.
  std::vector<std::string> dimension_names(const std::string& word) const {
    if (workload_.find_dimension(word)) return {word};
    std::vector<std::string> names;
    for (const char c : word) names.push_back(std::string(1, c));
    return names;
  }

  const Workload& workload_;
  Report& report_;
};

// Along which axis a dimension may be unrolled.
enum class AxisChoice { kX, kY, kEither };

AxisChoice axis_of(int dimension, const std::vector<int>& permutation, std::optional<int> split,
                   int dimensions, int64_t fanout_x, int64_t fanout_y) {
  if (fanout_y == 1) return AxisChoice::kX;
  if (fanout_x == 1) return AxisChoice::kY;
  if (!split) return AxisChoice::kEither;
  const auto found = std::find(permutation.begin(), permutation.end(), dimension);
  if (found != permutation.end())
    return found - permutation.begin() < *split ? AxisChoice::kX : AxisChoice::kY;
  // Dimensions that are not listed follow in an order that is not stated.
  if (*split <= int(permutation.size())) return AxisChoice::kY;
  return *split >= dimensions ? AxisChoice::kX : AxisChoice::kEither;
}

class Constrainer {
 public:
  Constrainer(Mapspace& mapspace, Report& report)
      : mapspace_(mapspace), report_(report), fields_(mapspace.workload, report) {}

  void apply(const Directive& directive) {
    LevelConstraints& level = mapspace_.constraints[size_t(directive.level)];
    switch (directive.kind) {
      case DirectiveKind::kTemporal: {
        report_.only_keys(directive.body, {"target", "type", "factors", "permutation"});
        for (const StatedFactor& f : fields_.factors(directive.body)) fix(level.temporal, f, directive.body);
        const std::vector<int> order = fields_.permutation(directive.body);
        if (!level.innermost.empty() && !order.empty() && order != level.innermost) {
          report_.invalid(directive.body, "permutation", "contradicts another constraint of this level");
        }
        if (!order.empty()) level.innermost = order;
        return;
      }
      case DirectiveKind::kSpatial:
        report_.only_keys(directive.body, {"target", "type", "factors", "permutation", "split"});
        return spatial(directive, level);
      case DirectiveKind::kKeeps: {
        report_.only_keys(directive.body, {"target", "type", "keep", "bypass", "keep_only", "bypass_only"});
        const uint32_t all = (1u << mapspace_.workload.data_space_count()) - 1u;
        level.must_keep |= fields_.spaces(directive.body, "keep");
        level.must_bypass |= fields_.spaces(directive.body, "bypass");
        if (child(directive.body, "keep_only")) {
          const uint32_t kept = fields_.spaces(directive.body, "keep_only");
          level.must_keep |= kept;
          level.must_bypass |= all & ~kept;
        }
        if (child(directive.body, "bypass_only")) {
          const uint32_t bypassed = fields_.spaces(directive.body, "bypass_only");
          level.must_bypass |= bypassed;
          level.must_keep |= all & ~bypassed;
        }
        return;
      }
    }
  }

  // The factors that stand for what is left.
  void fill_residues() {
    for (int d = 0; d < mapspace_.workload.dimension_count(); ++d) {
      const Dimension& dimension = mapspace_.workload.dimensions[size_t(d)];
      int64_t* residue = nullptr;
      int64_t left = dimension.size;
      bool divides = true, several = false;
      for (LevelConstraints& level : mapspace_.constraints) {
        for (std::vector<int64_t>* list : {&level.temporal, &level.spatial_x, &level.spatial_y}) {
          if (list->empty() || (*list)[size_t(d)] == kFree) continue;
          int64_t& factor = (*list)[size_t(d)];
          if (factor == kResidue) {
            several = several || residue != nullptr;
            if (residue != nullptr) factor = 1;
            if (residue == nullptr) residue = &factor;
          } else {
            divides = divides && left % factor == 0;
            left = ceil_div(left, factor);
          }
        }
      }
      if (residue == nullptr) continue;
      *residue = left;
      if (several) {
        report_.invalid(section_, dimension.name, "two factors stand for what is left of this dimension");
      }
      if (!divides && !mapspace_.imperfect) {
        report_.invalid(section_, dimension.name,
                        fmt::format("the fixed factors do not divide its size {}", dimension.size));
      }
    }
  }

  void set_section(const Source& section) { section_ = section; }

 private:
  void fix(std::vector<int64_t>& factors, const StatedFactor& stated, const Source& body) {
    if (factors.empty()) factors.resize(mapspace_.workload.dimensions.size(), kFree);
    int64_t& factor = factors[size_t(stated.dimension)];
    if (factor != kFree && factor != stated.factor) {
      report_.invalid(body, "factors",
                      fmt::format("the factor of {} contradicts another constraint of this level",
                                  mapspace_.workload.dimensions[size_t(stated.dimension)].name));
    }
    factor = stated.factor;
  }

  void spatial(const Directive& directive, LevelConstraints& level) {
    const ArrayLevel& machine = mapspace_.hardware.levels[size_t(directive.level)];
    const std::vector<int> order = fields_.permutation(directive.body);
    const std::optional<int> split = fields_.split(directive.body);
    const int dimensions = mapspace_.workload.dimension_count();
    std::vector<int64_t> stated(size_t(dimensions), kFree);
    for (const StatedFactor& f : fields_.factors(directive.body)) stated[size_t(f.dimension)] = f.factor;
    for (int d = 0; d < dimensions; ++d) {
      const int64_t factor = stated[size_t(d)];
      const AxisChoice axis = axis_of(d, order, split, dimensions, machine.fanout_x, machine.fanout_y);
      if (axis != AxisChoice::kEither) {
        const bool along_x = axis == AxisChoice::kX;
        if (factor != kFree) fix(along_x ? level.spatial_x : level.spatial_y, {d, factor}, directive.body);
        fix(along_x ? level.spatial_y : level.spatial_x, {d, 1}, directive.body);
      } else if (factor == 1) {
        fix(level.spatial_x, {d, 1}, directive.body);
        fix(level.spatial_y, {d, 1}, directive.body);
      } else if (factor != kFree) {
        report_.unsupported(
            directive.body, "factors",
            fmt::format("the factor of {} on either axis", mapspace_.workload.dimensions[size_t(d)].name),
            "say with permutation and split which axis it lies on");
      }
    }
  }

  Mapspace& mapspace_;
  Report& report_;
  FieldReader fields_;
  Source section_;
};

std::optional<DirectiveKind> kind_of(const std::string& type) {
  const std::string lower = lower_case(type);
  if (lower == "temporal") return DirectiveKind::kTemporal;
  if (lower == "spatial") return DirectiveKind::kSpatial;
  for (const char* name : {"bypass", "bypassing", "datatype", "dataspace"}) {
    if (lower == name) return DirectiveKind::kKeeps;
  }
  return {};
}

class MappingReader {
 public:
  MappingReader(const Workload& workload, const Architecture& architecture, Report& report)
      : workload_(workload), hardware_(architecture.hardware), report_(report), fields_(workload, report) {}

  Mapping read(const Source& section, const std::vector<Directive>& directives) {
    const size_t dimensions = workload_.dimensions.size();
    slots_.assign(hardware_.levels.size() * 3, std::vector<int64_t>(dimensions, 1));
    orders_.assign(hardware_.levels.size(), {});
    for (const ArrayLevel& level : hardware_.levels) {
      MappingLevel mapped;
      mapped.name = level.name;
      mapped.keeps = 0;
      for (int space = 0; space < workload_.data_space_count(); ++space) {
        const int role = workload_.data_spaces[size_t(space)].is_output ? 2 : space == 1 ? 1 : 0;
        if (level.may_keep >> role & 1u) mapped.keeps |= 1u << space;
      }
      mapping_.levels.push_back(mapped);
    }
    for (const Directive& directive : directives) apply(directive);
    fill_residues(section);
    for (size_t l = 0; l < hardware_.levels.size(); ++l) write_loops(l);
    return std::move(mapping_);
  }

 private:
  enum Slot { kTemporalSlot, kXSlot, kYSlot };
  std::vector<int64_t>& slot(int level, Slot kind) { return slots_[size_t(level) * 3 + kind]; }

  void apply(const Directive& directive) {
    const Source& body = directive.body;
    report_.only_keys(body, {"target", "type", "factors", "permutation", "split", "keep", "bypass", "name"});
    if (directive.kind == DirectiveKind::kKeeps) {
      uint32_t& keeps = mapping_.levels[size_t(directive.level)].keeps;
      const uint32_t keep = fields_.spaces(body, "keep"), bypass = fields_.spaces(body, "bypass");
      if ((keep & bypass) != 0) report_.invalid(body, "keep", "a data space is kept and bypassed");
      keeps = (keeps | keep) & ~bypass;
      return;
    }
    const std::vector<int> order = fields_.permutation(body);
    const ArrayLevel& machine = hardware_.levels[size_t(directive.level)];
    // Without a split everything lies along x, as in Timeloop.
    const int split = fields_.split(body).value_or(workload_.dimension_count());
    for (const StatedFactor& f : fields_.factors(body)) {
      Slot kind = kTemporalSlot;
      if (directive.kind == DirectiveKind::kSpatial) {
        const AxisChoice axis = axis_of(f.dimension, order, split, workload_.dimension_count(),
                                        machine.fanout_x, machine.fanout_y);
        kind = axis == AxisChoice::kY ? kYSlot : kXSlot;
        if (axis == AxisChoice::kEither && f.factor != 1) {
          report_.unsupported(body, "permutation", "lists too few dimensions to say which axis is meant");
        }
      }
      int64_t& factor = slot(directive.level, kind)[size_t(f.dimension)];
      if (factor != 1) report_.invalid(body, "factors", "a second directive of this kind for the level");
      factor = f.factor;
    }
    if (directive.kind == DirectiveKind::kTemporal) orders_[size_t(directive.level)] = order;
  }

  void fill_residues(const Source& section) {
    for (size_t d = 0; d < workload_.dimensions.size(); ++d) {
      const Dimension& dimension = workload_.dimensions[d];
      int64_t left = dimension.size;
      int64_t* residue = nullptr;
      for (std::vector<int64_t>& factors : slots_) {
        if (factors[d] != kResidue) {
          left = ceil_div(left, factors[d]);
        } else if (residue != nullptr) {
          report_.invalid(section, dimension.name, "two factors stand for what is left of this dimension");
          factors[d] = 1;
        } else {
          residue = &factors[d];
        }
      }
      if (residue != nullptr) *residue = left;
    }
  }

  void write_loops(size_t l) {
    MappingLevel& level = mapping_.levels[l];
    std::vector<int> order = orders_[l];
    for (int d = 0; d < workload_.dimension_count(); ++d) {
      if (std::find(order.begin(), order.end(), d) == order.end()) order.push_back(d);
    }
    for (auto d = order.rbegin(); d != order.rend(); ++d) {
      const int64_t factor = slot(int(l), kTemporalSlot)[size_t(*d)];
      if (factor > 1) level.temporal.push_back({*d, factor});
    }
    for (const auto& [kind, axis] : {std::pair{kYSlot, SpatialAxis::kY}, {kXSlot, SpatialAxis::kX}}) {
      for (int d = 0; d < workload_.dimension_count(); ++d) {
        const int64_t factor = slot(int(l), kind)[size_t(d)];
        if (factor > 1) level.spatial.push_back({d, factor, axis});
      }
    }
  }

  const Workload& workload_;
  const ArrayHardware& hardware_;
  Report& report_;
  FieldReader fields_;
  Mapping mapping_;
  std::vector<std::vector<int64_t>> slots_;  // level * 3 + kind, then dimension
  std::vector<std::vector<int>> orders_;
};

}  // namespace

std::vector<Directive> read_directives(const Source& section, const Architecture& architecture,
                                       Report& report) {
  Source list = section;
  if (section.is_map()) {
    report.only_keys(section, {"targets", "constraints", "mapping", "template", "version"});
    list = Source{};
    for (const char* key : {"targets", "constraints", "mapping"}) {
      if (!list && child(section, key)) list = child(section, key);
    }
  }
  std::vector<Directive> directives;
  if (list && !list.is_list()) report.invalid(list, "targets", "a list of directives is expected");
  for (const Source& item : items(list)) {
    if (!item.is_map()) {
      report.invalid(item, "targets", "a map with target and type is expected");
      continue;
    }
    const std::string name = child(item, "target").text(), type = child(item, "type").text();
    const std::optional<DirectiveKind> kind = kind_of(type);
    const auto target = architecture.targets.find(name);
    if (target == architecture.targets.end()) {
      std::string known;
      for (const auto& [other, place] : architecture.targets) known += (known.empty() ? "" : ", ") + other;
      report.invalid(item, "target", fmt::format("the architecture has no memory '{}'", name),
                     "targets: " + known);
    } else if (!kind) {
      report.unsupported(item, "type", fmt::format("a directive of type '{}'", type),
                         "temporal, spatial, bypass and dataspace are supported");
    } else if (target->second.fanout_only && *kind != DirectiveKind::kSpatial) {
      report.unsupported(item, "type",
                         fmt::format("'{}' is a container: it has spatial directives only", name));
    } else {
      directives.push_back({target->second.level, *kind, item});
    }
  }
  return directives;
}

void constrain(Mapspace& mapspace, const std::vector<Directive>& directives,
               const std::vector<int>& without_loops, Report& report) {
  mapspace.constraints.assign(mapspace.hardware.levels.size(), LevelConstraints{});
  for (LevelConstraints& level : mapspace.constraints) level.one_axis_per_dimension = true;
  for (const int level : without_loops) {
    mapspace.constraints[size_t(level)].temporal.assign(mapspace.workload.dimensions.size(), 1);
  }
  Constrainer constrainer(mapspace, report);
  for (const Directive& directive : directives) {
    constrainer.set_section(directive.body);
    constrainer.apply(directive);
  }
  constrainer.fill_residues();
}

Mapping read_mapping(const Source& section, const Workload& workload, const Architecture& architecture,
                     Report& report) {
  const std::vector<Directive> directives = read_directives(section, architecture, report);
  return MappingReader(workload, architecture, report).read(section, directives);
}

}  // namespace tilewright::timeloop

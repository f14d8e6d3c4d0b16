// yaml-cpp parses a document twice: first into events, which are checked for nesting, size and what aliases
// unfold to, and only then into nodes.
#include "tilewright/base/yaml.h"

#include <fmt/format.h>
#include <yaml-cpp/eventhandler.h>

#include <algorithm>
#include <sstream>
#include <unordered_map>
#include <utility>
#include <vector>

#include "tilewright/base/fields/field_recorder.h"
#include "tilewright/base/file.h"
#include "tilewright/base/words/nearest_word.h"

namespace tilewright {
namespace {

constexpr int kDeepestNode = 64;
constexpr size_t kMostNodes = size_t{1} << 20;

// Looks at a document before nodes are made of it. An alias shares the node that its anchor names: readers
// see a tree, so what counts is the tree that aliases unfold to, which doubles with every line of "b: &b [*a,
// *a]"; and a node that contains itself would have no end and is never freed.
class DocumentCheck final : public YAML::EventHandler {
 public:
  explicit DocumentCheck(const std::string& source_name) : source_name_(source_name) {}

  void OnDocumentStart(const YAML::Mark&) override {}
  void OnDocumentEnd() override {}
  void OnNull(const YAML::Mark& mark, YAML::anchor_t anchor) override { add_leaf(mark, anchor); }
  void OnScalar(const YAML::Mark& mark, const std::string&, YAML::anchor_t anchor,
                const std::string&) override {
    add_leaf(mark, anchor);
  }
  void OnAlias(const YAML::Mark& mark, YAML::anchor_t anchor) override {
    const auto found = complete_.find(anchor);
    if (found == complete_.end()) fail(mark, "an alias inside the node that it refers to", "write it out");
    add(mark, found->second);
  }
  void OnSequenceStart(const YAML::Mark& mark, const std::string&, YAML::anchor_t anchor,
                       YAML::EmitterStyle::value) override {
    begin(mark, anchor);
  }
  void OnSequenceEnd() override { end(); }
  void OnMapStart(const YAML::Mark& mark, const std::string&, YAML::anchor_t anchor,
                  YAML::EmitterStyle::value) override {
    begin(mark, anchor);
  }
  void OnMapEnd() override { end(); }

 private:
  struct Size {
    size_t nodes;
    int height;
  };
  struct Open {
    YAML::anchor_t anchor;
    size_t before;  // nodes
    int height = 1;
  };

  [[noreturn]] void fail(const YAML::Mark& mark, const std::string& what, const std::string& hint) const {
    throw Error(ErrorKind::kInvalidInput,
                fmt::format("{}:{}:{}: {}", source_name_, mark.line + 1, mark.column + 1, what), hint);
  }
  void add(const YAML::Mark& mark, const Size& size) {
    nodes_ += size.nodes;
    if (nodes_ > kMostNodes)
      fail(mark, fmt::format("more than {} values, aliases expanded", kMostNodes), "split the file");
    if (int(open_.size()) + size.height > kDeepestNode)
      fail(mark, fmt::format("nested deeper than {}", kDeepestNode), "");
    if (!open_.empty()) open_.back().height = std::max(open_.back().height, 1 + size.height);
  }
  void add_leaf(const YAML::Mark& mark, YAML::anchor_t anchor) {
    add(mark, {1, 0});
    complete_[anchor] = {1, 0};
  }
  void begin(const YAML::Mark& mark, YAML::anchor_t anchor) {
    add(mark, {1, 1});
    open_.push_back({anchor, nodes_ - 1});
    complete_.erase(anchor);
  }
  void end() {
    const Open closed = open_.back();
    open_.pop_back();
    complete_[closed.anchor] = {nodes_ - closed.before, closed.height};
    if (!open_.empty()) open_.back().height = std::max(open_.back().height, 1 + closed.height);
  }

  const std::string& source_name_;
  size_t nodes_ = 0;
  std::vector<Open> open_;
  std::unordered_map<YAML::anchor_t, Size> complete_;
};

// Maps begin at different places of the text. Those that no text made have none.
FieldRecorder::MapId map_id(const YAML::Node& map) {
  return map.Mark().is_null() ? 0 : FieldRecorder::MapId(map.Mark().pos) + 1;
}

void record_places(const YAML::Node& node, FieldRecorder::Place& place, FieldRecorder& recorder) {
  if (node.IsMap()) recorder.place(map_id(node), place);
  size_t index = 0;
  for (const auto& entry : node) {
    if (node.IsMap() && !entry.first.IsScalar()) continue;
    place.push_back(node.IsMap() ? entry.first.Scalar() : std::to_string(index++));
    record_places(node.IsMap() ? entry.second : YAML::Node(entry), place, recorder);
    place.pop_back();
  }
}

void record_document(const YAML::Node& node) {
  FieldRecorder* const recorder = FieldRecorder::active();
  if (recorder == nullptr || !recorder->opens_document()) return;
  FieldRecorder::Place place;
  record_places(node, place, *recorder);
}

void record_field(const YAML::Node& map, const std::string& name, const RecordedField& field) {
  if (FieldRecorder* const recorder = FieldRecorder::active()) recorder->field(map_id(map), name, field);
}

}  // namespace

YAML::Node parse_yaml(const std::string& text, const std::string& source_name) {
  try {
    std::istringstream stream(text);
    DocumentCheck check(source_name);
    YAML::Parser(stream).HandleNextDocument(check);
    YAML::Node document = YAML::Load(text);
    record_document(document);
    return document;
  } catch (const YAML::Exception& e) {
    throw Error(ErrorKind::kInvalidInput,
                fmt::format("{}:{}:{}: {}", source_name, e.mark.line + 1, e.mark.column + 1, e.msg),
                "this is no YAML there or shortly before");
  }
}

YAML::Node read_yaml_file(const std::filesystem::path& path) {
  return parse_yaml(read_text_file(path, size_t{1} << 24), path.string());
}

std::string yaml_quoted(const std::string& text) {
  YAML::Emitter emitter;
  emitter << YAML::DoubleQuoted << text;
  return emitter.c_str();
}

YamlMap::YamlMap(YAML::Node node, std::string where, Diagnostics& diagnostics)
    : node_(std::move(node)), where_(std::move(where)), diagnostics_(diagnostics) {
  if (!node_.IsDefined() || !node_.IsMap()) {
    diagnostics_.error(ErrorKind::kInvalidInput, location(node_), "",
                       "a map of 'field: value' lines is expected");
    node_.reset(YAML::Node(YAML::NodeType::Map));  // an assignment would change the document
  } else if (FieldRecorder* const recorder = FieldRecorder::active()) {
    recorder->visit(map_id(node_));
  }
}

std::string YamlMap::location(const YAML::Node& node) const {
  if (!node.IsDefined() || node.Mark().is_null()) return where_;
  return fmt::format("{}:{}", where_, node.Mark().line + 1);
}

bool YamlMap::has(const std::string& key) const { return std::as_const(node_)[key].IsDefined(); }

YAML::Node YamlMap::child(const std::string& key) {
  known_.insert(key);
  record_field(node_, key, {});
  return has(key) ? node_[key] : YAML::Node(YAML::NodeType::Undefined);
}

void YamlMap::error(const std::string& key, const std::string& message, const std::string& hint) {
  diagnostics_.error(ErrorKind::kInvalidInput, location(has(key) ? node_[key] : node_), key, message, hint);
}

int64_t YamlMap::integer(const std::string& key, int64_t low, int64_t high, std::optional<int64_t> fallback) {
  known_.insert(key);
  record_field(node_, key, {FieldKind::kInteger, double(low), double(high), !fallback});
  if (!has(key)) {
    if (!fallback) error(key, "missing field", fmt::format("give an integer in {}..{}", low, high));
    return fallback.value_or(low);
  }
  int64_t value = 0;
  if (!YAML::convert<int64_t>::decode(node_[key], value) || value < low || value > high) {
    error(key, fmt::format("'{}' is not an integer in {}..{}",
                           node_[key].IsScalar() ? node_[key].Scalar() : "...", low, high));
    return fallback.value_or(low);
  }
  return value;
}

double YamlMap::number(const std::string& key, double low, double high, std::optional<double> fallback) {
  known_.insert(key);
  record_field(node_, key, {FieldKind::kNumber, low, high, !fallback});
  if (!has(key)) {
    if (!fallback) error(key, "missing field", fmt::format("give a number in {}..{}", low, high));
    return fallback.value_or(low);
  }
  double value = 0;
  if (!YAML::convert<double>::decode(node_[key], value) || !(value >= low && value <= high)) {
    error(key, fmt::format("'{}' is not a number in {}..{}",
                           node_[key].IsScalar() ? node_[key].Scalar() : "...", low, high));
    return fallback.value_or(low);
  }
  return value;
}

std::string YamlMap::text(const std::string& key, std::optional<std::string> fallback) {
  known_.insert(key);
  record_field(node_, key, {FieldKind::kText, 0, 0, !fallback});
  if (!has(key)) {
    if (!fallback) error(key, "missing field", "give a text");
    return fallback.value_or("");
  }
  if (!node_[key].IsScalar()) {
    error(key, "a string is expected");
    return fallback.value_or("");
  }
  return node_[key].Scalar();
}

bool YamlMap::boolean(const std::string& key, std::optional<bool> fallback) {
  known_.insert(key);
  record_field(node_, key, {FieldKind::kBoolean, 0, 0, !fallback});
  bool value = fallback.value_or(false);
  if (!has(key)) {
    if (!fallback) error(key, "missing field", "give true or false");
  } else if (!YAML::convert<bool>::decode(node_[key], value)) {
    error(key, "true or false is expected");
  }
  return value;
}

void YamlMap::finish() {
  if (FieldRecorder* const recorder = FieldRecorder::active()) recorder->close(map_id(node_));
  std::set<std::string> seen;
  for (const auto& entry : node_) {
    const std::string key = entry.first.IsScalar() ? entry.first.Scalar() : "...";
    if (!seen.insert(key).second)
      diagnostics_.error(ErrorKind::kInvalidInput, location(entry.first), key, "it is given twice",
                         "leave one out");
    if (known_.count(key)) continue;
    diagnostics_.error(ErrorKind::kInvalidInput, location(entry.first), key, "unknown field",
                       words_hint(key, {known_.begin(), known_.end()}, "known fields"));
  }
}

}  // namespace tilewright

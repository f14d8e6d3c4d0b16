// Variants replace one value of a specimen. One that the reader takes shows that the type is right; one that
// it refuses may still show that it looks into a map there. What is found is written under a place in the
// format: keys of maps that a reader closes or asks by name, "*" for the keys of other maps, "[]" for
// elements of lists.
#include "tilewright/flow/schema/document_schema.h"

#include <cmath>
#include <limits>
#include <map>
#include <nlohmann/json.hpp>
#include <set>

#include "tilewright/base/error.h"
#include "tilewright/base/fields/field_recorder.h"
#include "tilewright/base/json.h"
#include "tilewright/base/yaml.h"

namespace tilewright {
namespace {

using Json = nlohmann::json;
using Schema = nlohmann::ordered_json;
using Place = FieldRecorder::Place;

constexpr const char* kAnyKey = "*";
constexpr const char* kElement = "[]";

Json scalar_json(const YAML::Node& node) {
  const std::string& text = node.Scalar();
  if (node.Tag() == "!") return text;  // in quotes
  int64_t integer = 0;
  double number = 0;
  bool truth = false;
  if (YAML::convert<int64_t>::decode(node, integer)) return integer;
  if (YAML::convert<double>::decode(node, number) && std::isfinite(number)) return number;
  if ((text == "true" || text == "false") && YAML::convert<bool>::decode(node, truth)) return truth;
  return text;
}

Json node_json(const YAML::Node& node) {
  if (node.IsScalar()) return scalar_json(node);
  if (node.IsSequence()) {
    Json list = Json::array();
    for (const auto& element : node) list.push_back(node_json(element));
    return list;
  }
  if (!node.IsMap()) return nullptr;
  Json map = Json::object();
  for (const auto& entry : node) map[entry.first.Scalar()] = node_json(entry.second);
  return map;
}

const char* type_of(const Json& value) {
  if (value.is_number_integer()) return "integer";
  if (value.is_number()) return "number";
  return value.type_name();  // object, array, string, boolean, null
}

const Json* value_at(const Json& document, const Place& place) {
  const Json* at = &document;
  for (const std::string& step : place) {
    if (at->is_array() && std::stoul(step) < at->size()) {
      at = &(*at)[std::stoul(step)];
    } else if (at->is_object() && at->contains(step)) {
      at = &(*at)[step];
    } else {
      return nullptr;
    }
  }
  return at;
}

// The document with another value at a place whose parent exists.
Json replaced(Json document, const Place& place, const Json& value) {
  Json* at = &document;
  for (const std::string& step : place) at = at->is_array() ? &(*at)[std::stoul(step)] : &(*at)[step];
  *at = value;
  return document;
}

class SchemaFinder {
 public:
  SchemaFinder(const DocumentReader& read, const std::vector<std::string>& specimens) : read_(read) {
    for (const std::string& specimen : specimens) {
      plain_texts_ = plain_texts_ || !specimen.starts_with('{');
      const Json document = document_json(specimen);
      if (!learn(document)) read_(specimen);  // says why
    }
    // Every round may find maps, whose fields the next one tries.
    for (bool found = true; found;) found = try_fields();
  }
  Schema schema() const { return schema_at({}); }

 private:
  struct Map {
    std::map<std::string, RecordedField> fields;
    bool closed = false;
    Json document;  // one that has it
    Place place;    // where
  };

  // Whether the reader takes the document; what it asked for is kept in any case.
  bool learn(const Json& document) {
    FieldRecorder recorder;
    bool taken = true;
    try {
      read_(json_text(document));
    } catch (const Error&) {
      taken = false;
    }
    for (const auto& [place, recorded] : recorder.maps())
      keep(general(document, place, recorder), place, recorded, document);
    if (taken) observe(document, {}, recorder);
    return taken;
  }

  void keep(const Place& where, const Place& place, const RecordedMap& recorded, const Json& document) {
    const auto [at, fresh] = maps_.emplace(where, Map{recorded.fields, recorded.closed, document, place});
    types_[where].insert("object");
    if (fresh) return;
    Map& map = at->second;
    map.closed = map.closed && recorded.closed;
    for (auto& [name, field] : map.fields) field.required = field.required && recorded.fields.count(name) > 0;
    for (const auto& [name, field] : recorded.fields) {
      const auto [known, added] = map.fields.emplace(name, field);
      if (added) {
        known->second.required = false;
      } else {
        merge(known->second, field);
      }
    }
  }

  static void merge(RecordedField& field, const RecordedField& other) {
    field.required = field.required && other.required;
    if (field.kind == other.kind) {
      field.low = std::min(field.low, other.low);
      field.high = std::max(field.high, other.high);
    } else if (field.kind != FieldKind::kRaw) {
      field.kind = FieldKind::kRaw;  // readers of variants disagree: seen types count
    }
  }

  // The place in the format of a place in a document.
  static Place general(const Json& document, const Place& place, const FieldRecorder& recorder) {
    Place result, at;
    const Json* value = &document;
    for (const std::string& step : place) {
      const bool asked = recorder.maps().count(at) > 0;
      result.push_back(value->is_array() ? kElement : asked ? step : kAnyKey);
      at.push_back(step);
      value = value_at(document, at);
    }
    return result;
  }

  void observe(const Json& value, const Place& place, const FieldRecorder& recorder,
               const Json* root = nullptr) {
    const Json& document = root ? *root : value;
    types_[general(document, place, recorder)].insert(type_of(value));
    if (!value.is_structured()) return;
    for (const auto& [name, child] : value.items()) {
      Place inner = place;
      inner.push_back(name);
      observe(child, inner, recorder, &document);
    }
  }

  // Values of all types, and close relatives of the one that is there, which a limit may take.
  static std::vector<Json> variants(const Json* present) {
    std::vector<Json> values = {true,
                                1,
                                2.5,
                                "text",
                                Json::array(),
                                Json::object(),
                                Json::array({Json::object()}),
                                Json::array({1}),
                                Json::array({"text"})};
    if (present != nullptr && present->is_number()) {
      values.push_back(present->get<double>() + 0.5);
      values.push_back(present->get<double>() * 0.75);
      values.push_back(std::to_string(present->get<double>()));
    }
    if (present != nullptr && present->is_array() && !present->empty()) {
      values.push_back(present->front());
    } else if (present != nullptr && !present->is_structured()) {
      values.push_back(Json::array({*present}));
      values.push_back(Json::array({*present, *present}));
    }
    return values;
  }

  // Tries the fields that the reader looks into by itself, each once. True: there were some.
  bool try_fields() {
    struct Field {
      Json document;
      Place place, general;
    };
    std::vector<Field> todo;
    for (const auto& [where, map] : maps_) {
      for (const auto& [name, field] : map.fields) {
        Place general = where;
        general.push_back(name);
        if (field.kind != FieldKind::kRaw || !tried_.insert(general).second) continue;
        Place place = map.place;
        place.push_back(name);
        todo.push_back({map.document, place, general});
      }
    }
    for (const auto& [document, place, general] : todo) {
      bool any = true;
      for (const Json& value : variants(value_at(document, place)))
        any = learn(replaced(document, place, value)) && any;
      if (any) ignored_.insert(general);
    }
    return !todo.empty();
  }

  Schema schema_at(const Place& place) const {
    Schema options = Schema::array();
    const auto found = types_.find(place);
    if (found == types_.end()) return Schema::object();
    if (ignored_.count(place) > 0) return Schema::object();
    std::set<std::string> scalars = found->second;
    if (plain_texts_ && scalars.count("string") > 0) scalars.insert({"number", "boolean"});
    if (scalars.erase("object") > 0) options.push_back(object_schema(place));
    if (scalars.erase("array") > 0) {
      Place element = place;
      element.push_back(kElement);
      options.push_back({{"type", "array"}, {"items", schema_at(element)}});
    }
    if (scalars.count("number") > 0) scalars.erase("integer");
    if (scalars.size() == 1) options.push_back({{"type", *scalars.begin()}});
    if (scalars.size() > 1) options.push_back({{"type", scalars}});
    if (options.size() == 1) return options[0];
    return {{"anyOf", options}};
  }

  Schema object_schema(const Place& place) const {
    const auto found = maps_.find(place);
    Schema schema = {{"type", "object"}};
    Place inner = place;
    inner.emplace_back();
    if (found == maps_.end()) {
      inner.back() = kAnyKey;
      schema["additionalProperties"] = schema_at(inner);
      return schema;
    }
    Schema required = Schema::array();
    schema["properties"] = Schema::object();
    for (const auto& [name, field] : found->second.fields) {
      inner.back() = name;
      schema["properties"][name] = field_schema(field, inner);
      if (field.required) required.push_back(name);
    }
    if (!required.empty()) schema["required"] = required;
    if (found->second.closed) schema["additionalProperties"] = false;
    return schema;
  }

  Schema field_schema(const RecordedField& field, const Place& place) const {
    const Schema asked = asked_schema(field, place);
    const std::set<std::string> others = other_types(asked, place);
    if (others.empty()) return asked;
    return {{"anyOf", {asked, {{"type", others}}}}};
  }

  // Scalars that the reader took where it asks for another type: it has worked them out (expressions).
  std::set<std::string> other_types(const Schema& asked, const Place& place) const {
    const auto seen = types_.find(place);
    const bool number =
        asked.value("type", Schema()) == "number" || asked.value("type", Schema()) == "integer";
    if (seen == types_.end() || (!number && asked.value("type", Schema()) != "boolean")) return {};
    std::set<std::string> others = seen->second;
    for (const char* covered : {"object", "array", "integer"}) others.erase(covered);
    others.erase(number ? "number" : "boolean");
    return others;
  }

  Schema asked_schema(const RecordedField& field, const Place& place) const {
    constexpr double kLimit = 1e15;  // beyond are the ends of types
    Schema schema;
    switch (field.kind) {
      case FieldKind::kRaw:
        return schema_at(place);
      case FieldKind::kBoolean:
        return {{"type", "boolean"}};
      case FieldKind::kText:
        return text_schema();
      case FieldKind::kInteger:
        schema["type"] = "integer";
        break;
      case FieldKind::kNumber:
        schema["type"] = "number";
        break;
    }
    if (std::abs(field.low) < kLimit) schema["minimum"] = number_json(field.low);
    if (std::abs(field.high) < kLimit) schema["maximum"] = number_json(field.high);
    return schema;
  }

  static Schema number_json(double value) {
    return value == std::floor(value) ? Schema(int64_t(value)) : Schema(value);
  }

  Schema text_schema() const {
    if (!plain_texts_) return {{"type", "string"}};
    return {{"type", {"boolean", "number", "string"}}};
  }

  const DocumentReader& read_;
  std::map<Place, Map> maps_;
  std::map<Place, std::set<std::string>> types_;
  std::set<Place> tried_;
  std::set<Place> ignored_;   // the reader takes anything there
  bool plain_texts_ = false;  // in YAML a plain 8 is a text, too, for who asks for one
};

}  // namespace

nlohmann::json document_json(const std::string& text) { return node_json(parse_yaml(text, "specimen")); }

nlohmann::ordered_json document_schema(const DocumentReader& read,
                                       const std::vector<std::string>& specimens) {
  return SchemaFinder(read, specimens).schema();
}

}  // namespace tilewright

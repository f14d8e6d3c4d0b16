// Variants replace one value of a specimen. One that the reader takes shows that the type is right; one that
// it refuses may still show that it looks into a map there. What is found is written under a place in the
// format: keys of maps that a reader closes or asks by name, "*" for the keys of other maps, "[]" for
// elements of lists.
#include "tilewright/flow/schema/document_schema.h"

#include <fmt/format.h>

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

using Document = nlohmann::ordered_json;  // readers may mind the order of a map's entries
using Schema = nlohmann::ordered_json;
using Place = FieldRecorder::Place;

constexpr const char* kAnyKey = "*";
constexpr const char* kElement = "[]";

Document scalar_json(const YAML::Node& node) {
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

Document node_json(const YAML::Node& node) {
  if (node.IsScalar()) return scalar_json(node);
  if (node.IsSequence()) {
    Document list = Document::array();
    for (const auto& element : node) list.push_back(node_json(element));
    return list;
  }
  if (!node.IsMap()) return nullptr;
  Document map = Document::object();
  for (const auto& entry : node) map[entry.first.Scalar()] = node_json(entry.second);
  return map;
}

const char* type_of(const Document& value) {
  if (value.is_number_integer()) return "integer";
  if (value.is_number()) return "number";
  return value.type_name();  // object, array, string, boolean, null
}

const Document* value_at(const Document& document, const Place& place) {
  const Document* at = &document;
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
Document replaced(Document document, const Place& place, const Document& value) {
  Document* at = &document;
  for (const std::string& step : place) at = at->is_array() ? &(*at)[std::stoul(step)] : &(*at)[step];
  *at = value;
  return document;
}

class SchemaFinder {
 public:
  SchemaFinder(const DocumentReader& read, const std::vector<std::string>& specimens) : read_(read) {
    for (const std::string& specimen : specimens) {
      plain_texts_ = plain_texts_ || !specimen.starts_with('{');
      const Document document = document_json(specimen);
      if (learn(document)) continue;
      read_(specimen);  // says why
      throw Error(ErrorKind::kInternal, "a specimen is refused as JSON:\n" + specimen);
    }
    // Every round may find maps, whose fields the next one tries.
    for (bool found = true; found;) found = try_fields();
  }
  Schema schema() const { return schema_at({}); }

 private:
  struct Map {
    std::map<std::string, RecordedField> fields;
    bool closed = false;
    Document document;  // one that has it
    Place place;        // where
  };
  struct Seen {
    Document document;
    Place place;
  };

  // Whether the reader takes the document; what it asked for is kept in any case.
  bool learn(const Document& document) {
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

  void keep(const Place& where, const Place& place, const RecordedMap& recorded, const Document& document) {
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
  static Place general(const Document& document, const Place& place, const FieldRecorder& recorder) {
    Place result, at;
    const Document* value = &document;
    for (const std::string& step : place) {
      const bool asked = recorder.maps().count(at) > 0;
      result.push_back(value->is_array() ? kElement : asked ? step : kAnyKey);
      at.push_back(step);
      value = value_at(document, at);
    }
    return result;
  }

  void observe(const Document& value, const Place& place, const FieldRecorder& recorder,
               const Document* root = nullptr) {
    const Document& document = root ? *root : value;
    const Place where = general(document, place, recorder);
    types_[where].insert(type_of(value));
    if (!value.is_structured()) {
      if (!place.empty()) seen_.try_emplace(where, Seen{document, place});
      return;
    }
    for (const auto& [name, child] : value.items()) {
      Place inner = place;
      inner.push_back(name);
      observe(child, inner, recorder, &document);
    }
  }

  // Values of all types, and close relatives of the one that is there, which a limit may take.
  static std::vector<Document> variants(const Document* present) {
    std::vector<Document> values = {true,
                                    1,
                                    2.5,
                                    "text",
                                    Document::array(),
                                    Document::object(),
                                    Document::array({Document::object()}),
                                    Document::array({1}),
                                    Document::array({"text"})};
    if (present != nullptr && present->is_number()) {
      values.push_back(present->get<double>() + 0.5);
      values.push_back(present->get<double>() * 0.75);
      values.push_back(fmt::format("{}*1", present->get<double>()));  // where expressions stand
    }
    if (present != nullptr && present->is_array() && !present->empty()) {
      values.push_back(present->front());
    } else if (present != nullptr && !present->is_structured()) {
      values.push_back(Document::array({*present}));
      values.push_back(Document::array({*present, *present}));
    }
    return values;
  }

  bool asked_for(const Place& field) const {
    const auto map = maps_.find(Place(field.begin(), field.end() - 1));
    return map != maps_.end() && map->second.fields.count(field.back()) > 0;
  }

  bool ignored(Place place) const {
    while (!place.empty() && ignored_.count(place) == 0) place.pop_back();
    return !place.empty();
  }

  // Scalars in maps and lists that the reader walks through by itself, which are not tried yet.
  std::vector<std::pair<Place, Seen>> walked_scalars() {
    std::vector<std::pair<Place, Seen>> found;
    for (const auto& [general, seen] : seen_) {
      if (!asked_for(general) && !ignored(general) && tried_.insert(general).second)
        found.push_back({general, seen});
    }
    return found;
  }

  // Tries the fields that the reader looks into by itself, each once. True: there were some.
  bool try_fields() {
    std::vector<std::pair<Place, Seen>> todo;
    for (const auto& [where, map] : maps_) {
      for (const auto& [name, field] : map.fields) {
        Place general = where;
        general.push_back(name);
        if (field.kind != FieldKind::kRaw || !tried_.insert(general).second) continue;
        Place place = map.place;
        place.push_back(name);
        todo.push_back({general, {map.document, place}});
      }
    }
    if (todo.empty()) todo = walked_scalars();
    for (const auto& [general, seen] : todo) {
      bool any = true;
      for (const Document& value : variants(value_at(seen.document, seen.place)))
        any = learn(replaced(seen.document, seen.place, value)) && any;
      if (any) ignored_.insert(general);
    }
    return !todo.empty();
  }

  Schema schema_at(const Place& place) const {
    Schema options = Schema::array();
    const auto found = types_.find(place);
    if (found == types_.end()) return Schema::object();
    if (ignored(place)) return Schema::object();
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
    return {{"anyOf", {asked, {{"type", others.size() == 1 ? Schema(*others.begin()) : Schema(others)}}}}};
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
  std::map<Place, Seen> seen_;  // a scalar of each place
  std::set<Place> tried_;
  std::set<Place> ignored_;   // the reader takes anything there
  bool plain_texts_ = false;  // in YAML a plain 8 is a text, too, for who asks for one
};

}  // namespace

nlohmann::ordered_json document_json(const std::string& text) {
  return node_json(parse_yaml(text, "specimen"));
}

nlohmann::ordered_json document_schema(const DocumentReader& read,
                                       const std::vector<std::string>& specimens) {
  return SchemaFinder(read, specimens).schema();
}

}  // namespace tilewright

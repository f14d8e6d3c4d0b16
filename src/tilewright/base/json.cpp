// nlohmann/json parses; a callback on its events refuses deep nesting, too many values and repeated keys
// while the document is read. The library's byte offset of a syntax error becomes a line and a column.
#include "tilewright/base/json.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <vector>

#include "tilewright/base/fields/field_recorder.h"
#include "tilewright/base/words/nearest_word.h"

namespace tilewright {
namespace {

constexpr int kDeepest = 64;
constexpr size_t kMostValues = size_t{1} << 24;

std::string short_text(const nlohmann::json& value) {
  constexpr size_t kLongest = 40;
  if (value.is_structured()) return "...";
  const std::string text = value.dump(-1, ' ', true, nlohmann::json::error_handler_t::replace);
  return text.size() <= kLongest ? text : text.substr(0, kLongest) + "...";
}

// The members of an object stay where they are when the document is moved.
FieldRecorder::MapId json_map_id(const nlohmann::json& object) {
  return reinterpret_cast<FieldRecorder::MapId>(object.get_ptr<const nlohmann::json::object_t*>());
}

void record_json_places(const nlohmann::json& value, FieldRecorder::Place& place, FieldRecorder& recorder) {
  if (!value.is_structured()) return;
  if (value.is_object()) recorder.place(json_map_id(value), place);
  for (const auto& [name, child] : value.items()) {
    place.push_back(name);
    record_json_places(child, place, recorder);
    place.pop_back();
  }
}

void record_json_document(const nlohmann::json& document) {
  FieldRecorder* const recorder = FieldRecorder::active();
  if (recorder == nullptr || !recorder->opens_document()) return;
  FieldRecorder::Place place;
  record_json_places(document, place, *recorder);
}

void record_json_field(const nlohmann::json* object, const std::string& name, const RecordedField& field) {
  FieldRecorder* const recorder = FieldRecorder::active();
  if (recorder != nullptr && object != nullptr) recorder->field(json_map_id(*object), name, field);
}

}  // namespace

std::string json_text(const nlohmann::json& value, int indent) {
  return value.dump(indent, ' ', false, nlohmann::json::error_handler_t::replace);
}

std::string json_text(const nlohmann::ordered_json& value, int indent) {
  return value.dump(indent, ' ', false, nlohmann::ordered_json::error_handler_t::replace);
}

std::string json_quoted(const std::string& text) { return json_text(nlohmann::json(text)); }

std::string ascii_json_quoted(const std::string& text) {
  return nlohmann::json(text).dump(-1, ' ', true, nlohmann::json::error_handler_t::replace);
}

nlohmann::json parse_json(const std::string& text, const std::string& source_name) {
  using json = nlohmann::json;
  std::vector<std::set<std::string>> keys;
  size_t values = 0;  // ends of lists and objects count, too
  const auto watch = [&](int depth, json::parse_event_t event, json& value) {
    if (depth > kDeepest) {
      throw Error(ErrorKind::kInvalidInput, fmt::format("{}: nested deeper than {}", source_name, kDeepest));
    }
    if (event != json::parse_event_t::key && ++values > kMostValues) {
      throw Error(ErrorKind::kInvalidInput, fmt::format("{}: more than {} values", source_name, kMostValues),
                  "split the file");
    }
    if (event == json::parse_event_t::object_start) keys.emplace_back();
    if (event == json::parse_event_t::object_end && !keys.empty()) keys.pop_back();
    if (event == json::parse_event_t::key && !keys.empty() &&
        !keys.back().insert(value.get<std::string>()).second) {
      throw Error(ErrorKind::kInvalidInput, fmt::format("{}: the field {} is given twice in one object",
                                                        source_name, short_text(value)));
    }
    return true;
  };
  try {
    json document = json::parse(text, watch);
    record_json_document(document);
    return document;
  } catch (const json::parse_error& error) {
    const size_t at = std::min(error.byte == 0 ? 0 : error.byte - 1, text.size());
    const auto line = 1 + std::count(text.begin(), text.begin() + std::ptrdiff_t(at), '\n');
    const size_t start = at == 0 ? std::string::npos : text.rfind('\n', at - 1);
    const size_t column = start == std::string::npos ? at + 1 : at - start;
    throw Error(ErrorKind::kInvalidInput, fmt::format("{}:{}:{}: no JSON", source_name, line, column),
                "a syntax error there or shortly before");
  } catch (const json::exception&) {
    throw Error(ErrorKind::kInvalidInput, fmt::format("{}: a number out of range", source_name));
  }
}

std::optional<int64_t> json_integer(const nlohmann::json& value, int64_t low, int64_t high) {
  if (!value.is_number_integer()) return {};
  if (value.is_number_unsigned() && value.get<uint64_t>() > uint64_t(INT64_MAX)) return {};
  const auto number = value.get<int64_t>();
  if (number < low || number > high) return {};
  return number;
}

JsonMap::JsonMap(const nlohmann::json& value, std::string where, Diagnostics& diagnostics)
    : where_(std::move(where)), diagnostics_(diagnostics) {
  if (value.is_object()) {
    object_ = &value;
    if (FieldRecorder* const recorder = FieldRecorder::active()) recorder->visit(json_map_id(value));
  } else {
    diagnostics_.error(ErrorKind::kInvalidInput, where_, "", "an object {...} is expected",
                       "put the fields in braces");
  }
}

bool JsonMap::has(const std::string& key) const { return object_ && object_->contains(key); }

const nlohmann::json* JsonMap::child(const std::string& key) {
  known_.insert(key);
  record_json_field(object_, key, {});
  return has(key) ? &(*object_)[key] : nullptr;
}

void JsonMap::error(const std::string& key, const std::string& message, const std::string& hint) {
  diagnostics_.error(ErrorKind::kInvalidInput, where_, key, message, hint);
}

const nlohmann::json* JsonMap::list(const std::string& key) {
  const nlohmann::json* value = child(key);
  if (!value || value->is_array()) return value;
  error(key, fmt::format("{} is not a list [...]", short_text(*value)));
  return nullptr;
}

int64_t JsonMap::integer(const std::string& key, int64_t low, int64_t high, std::optional<int64_t> fallback) {
  record_json_field(object_, key, {FieldKind::kInteger, double(low), double(high), !fallback});
  const nlohmann::json* value = child(key);
  if (!value) {
    if (!fallback) error(key, "missing field", fmt::format("give an integer in {}..{}", low, high));
    return fallback.value_or(low);
  }
  const std::optional<int64_t> number = json_integer(*value, low, high);
  if (!number) error(key, fmt::format("{} is not an integer in {}..{}", short_text(*value), low, high));
  return number.value_or(fallback.value_or(low));
}

std::string JsonMap::text(const std::string& key, std::optional<std::string> fallback) {
  record_json_field(object_, key, {FieldKind::kText, 0, 0, !fallback});
  const nlohmann::json* value = child(key);
  if (!value) {
    if (!fallback) error(key, "missing field", "give a text");
    return fallback.value_or("");
  }
  if (value->is_string()) return value->get<std::string>();
  error(key, fmt::format("{} is not a string", short_text(*value)));
  return fallback.value_or("");
}

bool JsonMap::boolean(const std::string& key, std::optional<bool> fallback) {
  record_json_field(object_, key, {FieldKind::kBoolean, 0, 0, !fallback});
  const nlohmann::json* value = child(key);
  if (!value) {
    if (!fallback) error(key, "missing field", "give true or false");
    return fallback.value_or(false);
  }
  if (value->is_boolean()) return value->get<bool>();
  error(key, "true or false is expected");
  return fallback.value_or(false);
}

void JsonMap::finish() {
  if (!object_) return;
  if (FieldRecorder* const recorder = FieldRecorder::active()) recorder->close(json_map_id(*object_));
  for (const auto& entry : object_->items()) {
    if (known_.count(entry.key())) continue;
    diagnostics_.error(ErrorKind::kInvalidInput, where_, entry.key(), "unknown field",
                       words_hint(entry.key(), {known_.begin(), known_.end()}, "known fields"));
  }
}

}  // namespace tilewright

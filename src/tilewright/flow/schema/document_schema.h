// JSON Schemas of file formats, found by asking the formats' readers.
#pragma once

#include <functional>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

namespace tilewright {

// Reads a document and throws an Error if it is wrong; the result does not matter.
using DocumentReader = std::function<void(const std::string& text)>;

// The schema (draft 2020-12, without $schema and title) of the documents that `read` takes. It starts from
// `specimens`, texts that `read` takes (YAML or JSON), and learns the rest by reading variants of them: the
// fields, their types and ranges are those that the reader asks for (base/fields), what the reader looks into
// by itself has the types that it was seen to take, and a map is closed where the reader closes it. Rules
// beyond that (names of things, sums, powers of two) are not part of it. Errors: a specimen that is refused.
nlohmann::ordered_json document_schema(const DocumentReader& read, const std::vector<std::string>& specimens);

// A YAML or JSON text as JSON: plain scalars have the types of YAML's core schema.
nlohmann::ordered_json document_json(const std::string& text);

}  // namespace tilewright

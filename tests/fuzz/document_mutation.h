// Seeded damage to YAML and JSON documents that knows their structure: values that are exchanged, left out,
// repeated, named by anchors and put in by aliases (into themselves, too), and nested.
#pragma once

#include <string>

#include "tilewright/base/random.h"

namespace tilewright {

enum class DocumentDamage {
  kValue,      // another value in place of one: extreme, of another type, very long
  kLine,       // a line left out, repeated, moved or pushed in
  kNesting,    // a value in lists or maps, up to thousands deep
  kAliases,    // anchors and aliases (in JSON: a field twice)
  kExpansion,  // aliases that double with every line
  kBytes,      // any byte
};
inline constexpr int kDocumentDamages = 6;
const char* name(DocumentDamage damage);

// A damaged copy.
std::string damage_document(const std::string& text, DocumentDamage damage, Random& random);

}  // namespace tilewright

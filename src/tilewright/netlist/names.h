// Legal Verilog identifiers for the names of a netlist.
#pragma once

#include <set>
#include <string>
#include <vector>

namespace tilewright::netlist {

// A keyword of SystemVerilog, or of C++ where tools that translate to C++ warn about it.
bool reserved_word(const std::string& name);
// Letters, digits and _, no digit at the front, not reserved.
bool legal_identifier(const std::string& name);

// Letters, digits and single _ of `name`, at most `longest` of them, none of _ at the ends: a part of an
// identifier that says what it is for.
std::string identifier_part(const std::string& name, size_t longest);

// An identifier for each of `names`, in their order, different from each other and from `taken`: a legal name
// that is free stays as it is, whatever stands before it; the others have odd characters replaced by _ and
// get a number where that is taken.
std::vector<std::string> legal_names(const std::vector<std::string>& names,
                                     const std::set<std::string>& taken = {});

}  // namespace tilewright::netlist

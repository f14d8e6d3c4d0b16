// First the modules one by one; the search for loops needs nets and instances to be right, so it comes last
// and only then.
#include "tilewright/netlist/verifier.h"

#include <fmt/format.h>

#include <map>
#include <set>

#include "tilewright/netlist/combinational.h"
#include "tilewright/netlist/module_verifier.h"

namespace tilewright::netlist {
namespace {

void verify_names(const Netlist& design, Diagnostics& diagnostics) {
  std::set<std::string> names;
  for (const Module& module : design.modules) {
    if (module.name.empty() || !names.insert(module.name).second) {
      diagnostics.error(ErrorKind::kInvalidInput, fmt::format("module '{}'", module.name), "",
                        module.name.empty() ? "a module without a name" : "two modules have this name",
                        "give each module a name of its own");
    }
  }
  if (design.module(design.top) == nullptr) {
    diagnostics.error(ErrorKind::kInvalidInput, fmt::format("module '{}'", design.top), "",
                      "the top is not among the modules", "add it, or name another top");
  }
}

// Follows instances from `module`; a module met again on the way down contains itself.
void verify_containment(const Netlist& design, const Module& module, std::set<std::string>& above,
                        std::set<std::string>& finished, Diagnostics& diagnostics) {
  above.insert(module.name);
  for (const Instance& instance : module.instances) {
    const Module* const inner = design.module(instance.module);
    if (inner == nullptr || finished.contains(inner->name)) continue;
    if (above.contains(inner->name)) {
      diagnostics.error(ErrorKind::kInvalidInput, fmt::format("module '{}'", inner->name),
                        fmt::format("instance '{}'", instance.name), "the module contains itself",
                        "remove the instance");
    } else {
      verify_containment(design, *inner, above, finished, diagnostics);
    }
  }
  above.erase(module.name);
  finished.insert(module.name);
}

void verify_loops(const Netlist& design, const Library& library, Diagnostics& diagnostics) {
  const CombinationalPaths paths(design, library);
  for (const Module& module : design.modules) {
    std::string text;
    for (const NetId net : paths.loop(module)) {
      text += fmt::format("{}'{}'", text.empty() ? "" : " -> ", module.nets[size_t(net)].name);
    }
    if (text.empty()) continue;
    diagnostics.error(ErrorKind::kInvalidInput, fmt::format("module '{}'", module.name), "",
                      "a combinational loop: " + text, "put a register into it");
  }
}

}  // namespace

void verify(const Netlist& design, const Library& library, Diagnostics& diagnostics) {
  Diagnostics own;
  verify_names(design, own);
  std::set<std::string> finished;
  for (const Module& module : design.modules) {
    std::set<std::string> above;
    if (!finished.contains(module.name)) verify_containment(design, module, above, finished, own);
    verify_module(design, library, module, own);
  }
  if (own.ok()) verify_loops(design, library, own);
  for (const Diagnostic& diagnostic : own.errors()) diagnostics.add(diagnostic);
}

void require_verified(const Netlist& design, const Library& library, const std::string& what) {
  Diagnostics found, bugs;
  verify(design, library, found);
  for (Diagnostic diagnostic : found.errors()) {
    diagnostic.kind = ErrorKind::kInternal;
    diagnostic.hint = "please report this as a bug of Tilewright";
    bugs.add(std::move(diagnostic));
  }
  bugs.raise_if_any(what);
}

}  // namespace tilewright::netlist

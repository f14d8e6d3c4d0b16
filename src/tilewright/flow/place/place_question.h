// The request of `place` in plain words, and its translation.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "tilewright/flow/place/place.h"
#include "tilewright/flow/target/shared_folders.h"

namespace tilewright {

struct PlaceQuestion {
  std::string graph, expression;  // a file, or an expression: one of them
  std::string fabric;             // a preset's name or a file
  std::string ii = "auto";        // or N, or FIRST..LAST
  std::string method = "exact", objective = "makespan";
  std::string policy;  // of the method rl; empty: the policy that comes with Tilewright
  int samples = 64, beam = 0;
  std::string delay = "unbounded";  // or none, or clocks per unit of distance
  std::string starters;             // off, roots or flows; empty: the fabric's reading
  std::vector<std::string> fixed;   // NODE=TILE[@TIME]
  bool routed = false, places_only = false;
  int64_t evaluations = 0;  // 0: the method's default
  uint64_t seed = 0;
  int threads = 1;
  std::filesystem::path proof_folder;  // empty: no proofs
  SharedFolders folders;
};

// Errors: all errors in graph, fabric and words, collected.
PlaceRequest place_request(const PlaceQuestion& question);

// The policy in a file, by default the file that comes with Tilewright. Errors: those of
// policy_method.
PlaceMethod named_policy(const std::string& policy, const SharedFolders& folders,
                         const cgra::PolicySearchOptions& search = {});

}  // namespace tilewright

// The overlay as a target: bundles of its programs and of what stays on the host.
#pragma once

#include <memory>
#include <mutex>

#include "tilewright/flow/run/engine.h"
#include "tilewright/flow/target/target.h"

namespace tilewright {

const Target& overlay_target();

// A bundle and its engines, each made when it is first needed and kept: for many runs of one bundle. Threads
// may share it.
class PreparedBundle {
 public:
  explicit PreparedBundle(Bundle bundle) : bundle_(std::move(bundle)) {}

  const Bundle& bundle() const { return bundle_; }
  // Errors: those of Engine.
  std::shared_ptr<const Engine> engine(Execution execution) const;

 private:
  const Bundle bundle_;
  mutable std::mutex mutex_;
  mutable std::shared_ptr<const Engine> as_placed_, on_host_;
};

// As the target's run, whatever file request.model names; request.hardware is not read.
RunReport run_bundle(const PreparedBundle& prepared, const RunRequest& request);

}  // namespace tilewright

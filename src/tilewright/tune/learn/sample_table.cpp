// Selections of rows and of columns, and the check that everything has the same number of rows. NaN is how a
// table says that there is no result.
#include "tilewright/tune/learn/sample_table.h"

#include <fmt/format.h>

#include <cmath>

#include "tilewright/base/error.h"

namespace tilewright::tune {

std::vector<size_t> SampleTable::rows_with(const std::string& target, int precision) const {
  const auto found = targets.find(target);
  if (found == targets.end()) {
    std::string known;
    for (const auto& entry : targets) known += (known.empty() ? "" : ", ") + entry.first;
    throw Error(ErrorKind::kInvalidInput, fmt::format("the data has no target '{}'", target),
                "it has " + (known.empty() ? "none" : known));
  }
  std::vector<size_t> result;
  for (size_t i = 0; i < samples(); ++i) {
    if (std::isnan(found->second[i]) || (precision != 0 && precisions[i] != precision)) continue;
    result.push_back(i);
  }
  return result;
}

SampleTable SampleTable::choices() const {
  SampleTable table = *this;
  const size_t kept = features.size() - derived;
  table.derived = 0;
  table.features.resize(kept);
  table.rows.clear();
  for (size_t i = 0; i < samples(); ++i) {
    const auto first = rows.begin() + std::ptrdiff_t(i * features.size());
    table.rows.insert(table.rows.end(), first, first + std::ptrdiff_t(kept));
  }
  return table;
}

void SampleTable::verify() const {
  Diagnostics problems;
  const auto refuse = [&](const std::string& field, const std::string& message) {
    problems.error(ErrorKind::kInvalidInput, "table of samples", field, message);
  };
  if (features.size() <= derived) refuse("features", "there are none, or none that was chosen");
  if (rows.size() != samples() * features.size()) {
    refuse("rows", fmt::format("{} values are not {} rows of {}", rows.size(), samples(), features.size()));
  }
  if (precisions.size() != samples()) refuse("precisions", "another number than rows");
  for (const auto& entry : targets) {
    if (entry.second.size() != samples()) refuse(entry.first, "another number of values than rows");
    for (const double value : entry.second) {
      if (std::isnan(value) || (std::isfinite(value) && value >= 0)) continue;
      refuse(entry.first, fmt::format("{} is negative or not finite", value));
      break;
    }
  }
  problems.raise_if_any();
}

}  // namespace tilewright::tune

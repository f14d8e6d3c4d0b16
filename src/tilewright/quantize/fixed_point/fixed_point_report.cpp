// The report of fixed_point_lowering.h: its sums, and its text, which is a summary line, the warnings and a
// table of the operators that stay in float, each with the reason.
#include <fmt/format.h>

#include <algorithm>

#include "tilewright/quantize/fixed_point/fixed_point_lowering.h"

namespace tilewright {

int64_t FixedPointReport::total_macs() const {
  int64_t sum = 0;
  for (const FixedPointRecord& record : records) sum += record.macs;
  return sum;
}

int64_t FixedPointReport::fixed_macs() const {
  int64_t sum = 0;
  for (const FixedPointRecord& record : records) sum += record.fixed_op.empty() ? 0 : record.macs;
  return sum;
}

double FixedPointReport::fixed_mac_share() const {
  const int64_t total = total_macs();
  return total == 0 ? 1.0 : double(fixed_macs()) / double(total);
}

std::string to_string(const FixedPointReport& report) {
  const auto fixed = std::count_if(report.records.begin(), report.records.end(),
                                   [](const FixedPointRecord& record) { return !record.fixed_op.empty(); });
  std::string text =
      fmt::format("Q{}.{}: {} of {} operators in fixed point, with {:.2f}% of {} multiply-accumulates\n",
                  32 - report.fraction, report.fraction, fixed, report.records.size(),
                  100 * report.fixed_mac_share(), report.total_macs());
  for (const std::string& warning : report.warnings) text += fmt::format("warning: {}\n", warning);
  if (size_t(fixed) == report.records.size()) return text;
  size_t name_width = 4, op_width = 8;
  for (const FixedPointRecord& record : report.records) {
    if (!record.fixed_op.empty()) continue;
    name_width = std::max(name_width, record.node.size());
    op_width = std::max(op_width, record.op.size());
  }
  text += fmt::format("{:{}}  {:{}}  why it stays in float\n", "node", name_width, "operator", op_width);
  for (const FixedPointRecord& record : report.records) {
    if (!record.fixed_op.empty()) continue;
    text += fmt::format("{:{}}  {:{}}  {}\n", record.node, name_width, record.op, op_width, record.reason);
  }
  return text;
}

}  // namespace tilewright

// The report of integerize.h: its sums, and its text, which is a summary line and a table of the operators
// that stay in float, each with the reason.
#include <fmt/format.h>

#include <algorithm>

#include "tilewright/quantize/integerize/integerize.h"

namespace tilewright {

int64_t IntegerizeReport::total_macs() const {
  int64_t sum = 0;
  for (const IntegerizeRecord& record : records) sum += record.macs;
  return sum;
}

int64_t IntegerizeReport::integer_macs() const {
  int64_t sum = 0;
  for (const IntegerizeRecord& record : records) sum += record.integer_op.empty() ? 0 : record.macs;
  return sum;
}

double IntegerizeReport::integer_mac_share() const {
  const int64_t total = total_macs();
  return total == 0 ? 1.0 : double(integer_macs()) / double(total);
}

std::string to_string(const IntegerizeReport& report) {
  const auto integer = std::count_if(report.records.begin(), report.records.end(),
                                     [](const auto& record) { return !record.integer_op.empty(); });
  std::string text =
      fmt::format("{} of {} operators are integer, with {:.2f}% of {} multiply-accumulates\n", integer,
                  report.records.size(), 100 * report.integer_mac_share(), report.total_macs());
  if (size_t(integer) == report.records.size()) return text;
  size_t name_width = 4, op_width = 8;
  for (const IntegerizeRecord& record : report.records) {
    if (!record.integer_op.empty()) continue;
    name_width = std::max(name_width, record.node.size());
    op_width = std::max(op_width, record.op.size());
  }
  text += fmt::format("{:{}}  {:{}}  why it stays in float\n", "node", name_width, "operator", op_width);
  for (const IntegerizeRecord& record : report.records) {
    if (!record.integer_op.empty()) continue;
    text += fmt::format("{:{}}  {:{}}  {}\n", record.node, name_width, record.op, op_width, record.reason);
  }
  return text;
}

}  // namespace tilewright

// Two drawings under one heading. Above, what repeats: a cell per tile and slot, with the links that values
// take in that slot. Below, one thread: a row per tile, bars for operations, lines for the values on their
// way (flat where a value waits).
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>

#include "tilewright/flow/place/place.h"
#include "tilewright/report/svg.h"
#include "tilewright/report/text_table.h"

namespace tilewright {
namespace {

constexpr double kLeft = 70, kTop = 70, kCellWidth = 92, kCellHeight = 44, kRow = 34, kGap = 70;
constexpr std::array kFlowColours = {"#a6cee3", "#b2df8a", "#fdbf6f", "#cab2d6",
                                     "#fb9a99", "#ffff99", "#d9d9d9"};
constexpr std::array kWayColours = {"#1f78b4", "#33a02c", "#e31a1c", "#ff7f00",
                                    "#6a3d9a", "#b15928", "#555555"};

class Picture {
 public:
  explicit Picture(const cgra::MappedProgram& program)
      : program_(program), edges_(program.problem.graph.edges()), flow_(program.problem.graph.flows()) {
    for (const cgra::Place& place : program.mapping.places) use(place.tile);
    for (const cgra::Route& route : program.mapping.routes) {
      for (const cgra::RouteStep& step : route) use(step.tile);
    }
    int column = 0;
    for (auto& [tile, position] : columns_) position = column++;
  }

  std::string document() {
    const cgra::MappingProblem& problem = program_.problem;
    const int latency = problem.fabric.operation_latency_cycles;
    const int end = cgra::makespan_cycles(program_.mapping, latency);
    const std::string title =
        fmt::format("{} on {}: II {}, {} clocks", problem.graph.name, problem.fabric.name, problem.ii, end);
    drawing_.text(kLeft, 28, title, {.size = 16, .bold = true});
    grid();
    timeline_top_ = kTop + problem.ii * kCellHeight + kGap;
    timeline(end);
    const double width =
        kLeft + std::max(double(columns_.size()) * kCellWidth, (last_clock(end) + 1) * clock_width()) + 20;
    return drawing_.document(width, timeline_top_ + double(columns_.size()) * kRow + 50, title);
  }

 private:
  void use(int tile) { columns_.emplace(tile, 0); }
  const std::string& name(int node) const { return program_.problem.graph.nodes[size_t(node)].name; }
  const char* colour(int node) const {
    return kFlowColours[size_t(flow_[size_t(node)]) % kFlowColours.size()];
  }
  const char* way_colour(int node) const { return kWayColours[size_t(node) % kWayColours.size()]; }
  double cell_x(int tile) const { return kLeft + columns_.at(tile) * kCellWidth; }
  double row_y(int tile) const { return timeline_top_ + columns_.at(tile) * kRow + kRow / 2; }
  // Room for a name in every bar.
  double clock_width() const {
    return std::max(30.0, 60.0 / program_.problem.fabric.operation_latency_cycles);
  }
  std::string tile_name(int tile) const {
    const Fabric& fabric = program_.problem.fabric;
    return fabric.rows == 1 ? std::to_string(tile)
                            : fmt::format("{} ({},{})", tile, tile / fabric.columns, tile % fabric.columns);
  }
  double last_clock(int end) const {
    int last = end;
    for (const cgra::Route& route : program_.mapping.routes) {
      if (!route.empty()) last = std::max(last, route.back().clock);
    }
    return last;
  }
  void grid();
  void timeline(int end);
  void way(size_t edge);

  const cgra::MappedProgram& program_;
  std::vector<cgra::Edge> edges_;
  std::vector<int> flow_;
  std::map<int, int> columns_;  // tile -> column
  double timeline_top_ = 0;
  SvgDrawing drawing_;
};

void Picture::grid() {
  const int ii = program_.problem.ii;
  for (const auto& [tile, column] : columns_) {
    drawing_.text(cell_x(tile) + kCellWidth / 2, kTop - 8, "tile " + tile_name(tile),
                  {.size = 11, .anchor = SvgAnchor::kMiddle});
    for (int slot = 0; slot < ii; ++slot)
      drawing_.rectangle(cell_x(tile) + 2, kTop + slot * kCellHeight + 2, kCellWidth - 4, kCellHeight - 4,
                         "#f3f3f3");
  }
  for (int slot = 0; slot < ii; ++slot)
    drawing_.text(kLeft - 8, kTop + (slot + 0.6) * kCellHeight, fmt::format("slot {}", slot),
                  {.size = 11, .anchor = SvgAnchor::kEnd});
  for (size_t node = 0; node < program_.mapping.places.size(); ++node) {
    const cgra::Place& place = program_.mapping.places[node];
    const double x = cell_x(place.tile), y = kTop + place.time % ii * kCellHeight;
    drawing_.rectangle(x + 2, y + 2, kCellWidth - 4, kCellHeight - 4, colour(int(node)),
                       fmt::format("{} at clock {}", name(int(node)), place.time));
    drawing_.text(x + kCellWidth / 2, y + 17, shortened_middle(name(int(node)), 13),
                  {.size = 11, .anchor = SvgAnchor::kMiddle});
  }
  for (size_t i = 0; i < program_.mapping.routes.size(); ++i) {
    const cgra::Route& route = program_.mapping.routes[i];
    for (size_t step = 1; step < route.size(); ++step) {
      const cgra::RouteStep &a = route[step - 1], &b = route[step];
      if (a.tile == b.tile) continue;
      const int slot = (a.clock % ii + ii) % ii;
      const double y = kTop + (slot + 1) * kCellHeight - 8 - 3.0 * (edges_[i].from % 3);
      const double inset = b.tile > a.tile ? 0.75 : 0.25;
      drawing_.line(cell_x(a.tile) + inset * kCellWidth, y, cell_x(b.tile) + (1 - inset) * kCellWidth, y,
                    way_colour(edges_[i].from), 1.5);
      drawing_.circle(cell_x(b.tile) + (1 - inset) * kCellWidth, y, 2.5, way_colour(edges_[i].from),
                      fmt::format("{}: tile {} to {}, slot {}", name(edges_[i].from), a.tile, b.tile, slot));
    }
  }
}

void Picture::timeline(int end) {
  const double last = last_clock(end);
  for (int clock = 0; clock <= int(last); ++clock) {
    const double x = kLeft + clock * clock_width();
    const bool begins = clock % program_.problem.ii == 0;
    drawing_.line(x, timeline_top_, x, timeline_top_ + double(columns_.size()) * kRow,
                  begins ? "#bbbbbb" : "#eeeeee");
    if (last <= 60 || clock % 5 == 0)
      drawing_.text(x, timeline_top_ - 6, std::to_string(clock), {.size = 10, .anchor = SvgAnchor::kMiddle});
  }
  for (const auto& [tile, column] : columns_)
    drawing_.text(kLeft - 8, row_y(tile) + 4, "tile " + tile_name(tile),
                  {.size = 10, .anchor = SvgAnchor::kEnd});
  const double length = program_.problem.fabric.operation_latency_cycles * clock_width();
  for (size_t node = 0; node < program_.mapping.places.size(); ++node) {
    const cgra::Place& place = program_.mapping.places[node];
    const double x = kLeft + place.time * clock_width(), y = row_y(place.tile) - kRow / 2 + 4;
    drawing_.rectangle(x + 1, y, length - 2, kRow - 12, colour(int(node)),
                       fmt::format("{}: clocks {} to {}", name(int(node)), place.time,
                                   place.time + program_.problem.fabric.operation_latency_cycles));
    drawing_.text(x + length / 2, y + 15,
                  shortened_middle(name(int(node)), size_t(std::max(3.0, length / 7))),
                  {.size = 10, .anchor = SvgAnchor::kMiddle});
  }
  for (size_t edge = 0; edge < edges_.size(); ++edge) way(edge);
}

// Without a route: a straight, dashed line from where the value appears to where it is used.
void Picture::way(size_t edge) {
  // Below the bars, so that a waiting value crosses no name.
  const double below = kRow / 2 - 1 - 2 * (edges_[edge].from % 3);
  const auto at = [&](int tile, int clock) {
    return std::pair{kLeft + clock * clock_width(), row_y(tile) + below};
  };
  const char* paint = way_colour(edges_[edge].from);
  if (edge < program_.mapping.routes.size()) {
    std::vector<std::pair<double, double>> points;
    for (const cgra::RouteStep& step : program_.mapping.routes[edge])
      points.push_back(at(step.tile, step.clock));
    drawing_.polyline(points, paint, 1.5);
    return;
  }
  const cgra::MappingProblem& problem = program_.problem;
  const cgra::Place &from = program_.mapping.places[size_t(edges_[edge].from)],
                    &to = program_.mapping.places[size_t(edges_[edge].to)];
  const auto [x1, y1] = at(from.tile, from.time + problem.fabric.operation_latency_cycles);
  const auto [x2, y2] = at(to.tile, to.time + edges_[edge].distance * problem.ii);
  drawing_.line(x1, y1, x2, y2, paint, 1, true);
}

}  // namespace

std::string place_picture(const cgra::MappedProgram& program) { return Picture(program).document(); }

}  // namespace tilewright

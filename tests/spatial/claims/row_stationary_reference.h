// What the row-stationary papers report for AlexNet, and what an exact search of their formulas gives where
// they report a plot: IEEE Micro Top Picks 2017 (TP), ISCA 2016, JSSC 2017. Shared by the claim tests and
// bench/figures/row_stationary_figures.
#pragma once

#include <array>
#include <string>
#include <vector>

#include "tilewright/spatial/taxonomy/layer_shape.h"

namespace tilewright::claims {

inline constexpr size_t kConvLayers = 5, kLayers = 8;

// ISCA Table II, `batch` images: five convolutions, three dense layers.
inline std::vector<study::LayerShape> alexnet(int64_t batch) {
  return {study::square_layer("CONV1", 1, batch, 227, 11, 3, 96, 4),
          study::square_layer("CONV2", 2, batch, 31, 5, 48, 128, 1),
          study::square_layer("CONV3", 1, batch, 15, 3, 256, 384, 1),
          study::square_layer("CONV4", 2, batch, 15, 3, 192, 192, 1),
          study::square_layer("CONV5", 2, batch, 15, 3, 192, 128, 1),
          study::square_layer("FC1", 1, batch, 6, 6, 256, 4096, 1),
          study::square_layer("FC2", 1, batch, 1, 1, 4096, 4096, 1),
          study::square_layer("FC3", 1, batch, 1, 1, 4096, 1000, 1)};
}

inline constexpr std::array<int64_t, kLayers> kMacsPerImage = {105415200, 223948800, 149520384, 112140288,
                                                               74760192,  37748736,  16777216,  4096000};

// Storage of equal area, KiB; ISCA Fig. 7b for 256 PEs. In the order of taxonomy_names().
struct StorageRow {
  int64_t pes;
  std::array<double, 6> buffer_kib;
};
inline constexpr StorageRow kBuffers[] = {{256, {334.3, 243.9, 303.8, 334.3, 338.3, 128.0}},
                                          {512, {668.5, 487.8, 607.7, 668.5, 676.7, 256.0}},
                                          {1024, {1337.1, 975.7, 1215.3, 1337.1, 1353.4, 512.0}}};
inline constexpr std::array<double, 6> kPlottedBufferKib = {334.26, 243.92, 303.84, 334.26, 338.34, 128.00};
inline constexpr std::array<double, 6> kTotalKib256 = {334.8, 268.4, 306.3, 334.8, 338.3, 256.0};
inline constexpr std::array<double, 6> kBufferBytes256 = {342286.9, 249772.8, 311127.7,
                                                          342286.9, 346458.2, 131070};
inline constexpr std::array<int64_t, 6> kRegisterFileBytes = {2, 98, 10, 2, 0, 512};
inline constexpr double kArea256 = 4400087.0;  // um2

// Energy per MAC at 256 PEs and 16 images, in units of one MAC: with the ALU, by level, by data type (both
// without the ALU), and DRAM words per MAC.
struct EnergyRow {
  const char* dataflow;
  double total;
  std::array<double, 4> by_level;  // DRAM, buffer, array, RF
  std::array<double, 3> by_type;   // pixels, weights, psums
  double dram_words;
};
inline constexpr EnergyRow kConvEnergy[] = {
    {"ws", 11.5829, {3.9357, 1.9789, 3.6682, 1.0000}, {5.6967, 1.0438, 3.8424}, 0.019679},
    {"osa", 8.5316, {0.7429, 0.7907, 4.0000, 1.9980}, {3.2465, 2.0918, 2.1933}, 0.003715},
    {"osb", 8.7135, {1.2602, 0.4552, 4.0000, 1.9980}, {3.2504, 2.2697, 2.1933}, 0.006301},
    {"osc", 10.5268, {2.6736, 0.8552, 4.0000, 1.9980}, {4.7043, 2.6292, 2.1933}, 0.013368},
    {"nlr", 12.9927, {0.6152, 7.5883, 3.7892, 0.0000}, {2.5262, 6.2292, 3.2374}, 0.003076},
    {"rs", 6.0272, {0.8320, 0.0986, 0.1901, 3.9066}, {1.4427, 1.3341, 2.2504}, 0.004160}};
inline constexpr EnergyRow kDenseEnergy[] = {
    {"ws", 40.0677, {31.8089, 2.7109, 3.5479, 1.0000}, {21.2775, 13.5000, 4.2902}, 0.159044},
    {"osa", 42.4778, {27.0122, 8.4659, 4.0000, 1.9997}, {22.4809, 16.9659, 2.0310}, 0.135061},
    {"osb", 33.7313, {23.9239, 2.8077, 4.0000, 1.9997}, {13.7343, 16.9659, 2.0310}, 0.119619},
    {"osc", 32.2646, {22.7326, 2.5324, 4.0000, 1.9997}, {12.5085, 16.7251, 2.0310}, 0.113663},
    {"nlr", 24.9940, {12.9366, 7.1999, 3.8575, 0.0000}, {2.7520, 18.5000, 2.7421}, 0.064683},
    {"rs", 17.9494, {12.6362, 0.0736, 0.3921, 3.8476}, {1.2581, 13.6250, 2.0663}, 0.063181}};
inline constexpr std::array<double, 6> kConvRatios = {1.922, 1.416, 1.446, 1.747, 2.156, 1};
inline constexpr std::array<double, 6> kDenseRatios = {2.232, 2.367, 1.879, 1.798, 1.392, 1};

// Bars as digitised from the vector figures of TP, normalised to the RS total; rows in the order of
// taxonomy_names().
inline constexpr double kFigure10a[6][6] = {  // ALU, DRAM, buffer, array, RF, total
    {.168, .650, .331, .605, .168, 1.923}, {.168, .123, .129, .661, .336, 1.418},
    {.168, .207, .073, .667, .331, 1.446}, {.168, .443, .140, .661, .336, 1.749},
    {.168, .101, 1.261, .628, 0, 2.158},   {.168, .135, .017, .034, .645, .998}};
inline constexpr double kFigure10b[6][3] = {  // pixels, weights, psums
    {1.003, .224, .695}, {.594, .404, .420},  {.594, .432, .420},
    {.835, .493, .420},  {.482, 1.082, .594}, {.297, .275, .432}};
inline constexpr double kFigure11[6][3] = {{1.204, .770, .257}, {1.271, .966, .128}, {.782, .966, .134},
                                           {.715, .954, .128},  {.171, 1.051, .171}, {.092, .776, .134}};

// RS, 256 PEs, 16 images: energy of each layer in 1e9 MACs (ISCA Fig. 10).
struct LayerEnergyRow {
  const char* layer;
  double alu;
  std::array<double, 4> by_level;
  std::array<int64_t, 7> mapping;  // one optimal m, n, f, p, q, r, t
  double active_pes;
};
inline constexpr LayerEnergyRow kRowStationaryLayers[] = {
    {"CONV1", 1.6866, {2.1898, 0.1503, 0.3754, 6.4399}, {96, 2, 5, 20, 1, 1, 4}, 220},
    {"CONV2", 3.5832, {2.2230, 0.2921, 0.5828, 14.1236}, {65, 2, 16, 6, 7, 1, 3}, 240},
    {"CONV3", 2.3923, {1.8370, 0.2962, 0.4700, 9.3387}, {78, 4, 13, 10, 7, 2, 3}, 234},
    {"CONV4", 1.7942, {1.5679, 0.1785, 0.3601, 7.0274}, {64, 4, 13, 9, 8, 3, 2}, 234},
    {"CONV5", 1.1962, {1.0453, 0.1328, 0.2369, 4.6849}, {75, 4, 13, 9, 8, 2, 3}, 234},
    {"FC1", 0.6040, {7.6218, 0.0447, 0.2392, 2.3152}, {3807, 16, 1, 18, 2, 4, 10}, 240},
    {"FC2", 0.2684, {3.3947, 0.0193, 0.1034, 1.0402}, {3839, 16, 1, 14, 16, 16, 16}, 256},
    {"FC3", 0.0655, {0.8355, 0.0050, 0.0251, 0.2534}, {1000, 16, 1, 15, 15, 15, 17}, 255}};

// The chip at 4 images (JSSC Tables III and V, ISSCC poster); alexnet_on_chip.h holds the rest.
struct ChipDramRow {
  double input_zeros;           // share of zeros among a layer's inputs, padding included
  double compressed_megabytes;  // DRAM traffic with run-length coding, of 10^6 bytes
  bool pooled;                  // a max pool follows
};
inline constexpr ChipDramRow kChipDram[kConvLayers] = {{0.0001, 4.95, true},
                                                       {0.387, 3.99, true},
                                                       {0.725, 3.00, false},
                                                       {0.793, 2.13, false},
                                                       {0.776, 1.35, true}};
// JSSC Table III as printed, in the order of the dataflow's variables m, n, f, p, q, r, t.
inline constexpr std::array<int64_t, 7> kTableThree[kConvLayers] = {{96, 1, 7, 16, 1, 1, 2},
                                                                    {64, 1, 27, 16, 2, 1, 1},
                                                                    {64, 4, 13, 16, 4, 1, 4},
                                                                    {64, 4, 13, 16, 3, 2, 2},
                                                                    {64, 4, 13, 16, 3, 2, 2}};
// How far those lie above the optimum under the chip's limits, percent of the energy with the ALU: with both
// objectives counting array psums once; and as published, with tiles that divide and p a multiple of 4.
inline constexpr double kAboveOptimum[kConvLayers] = {1.0, 1.5, 2.2, 0.9, 0.8};
inline constexpr double kAboveDividingOptimum[kConvLayers] = {0.7, 0.4, 2.1, 0.8, 0.8};

}  // namespace tilewright::claims

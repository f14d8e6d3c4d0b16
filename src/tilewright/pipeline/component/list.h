// The components, each defined in the .cpp file of its name; component.cpp makes a table of them.
#pragma once

#include "tilewright/pipeline/component/component.h"

namespace tilewright::pipeline {

extern const ComponentType kControl, kDmaRead, kDmaWrite, kFinish, kLaneArray, kLineWindow, kMacArray,
    kReadShare, kRomWalker, kSlidingWindow, kStreamFifo, kStreamFork, kStreamFrame, kStreamJoin, kStreamWidth,
    kTensorMemory, kTensorReader, kTensorWriter, kWeightRing;

}  // namespace tilewright::pipeline

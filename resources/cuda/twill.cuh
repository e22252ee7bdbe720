// Runtime of exported kernels. The same role bodies compile for the GPU (nvcc, sm_90a) and, with -DTWILL_MOCK, for the
// CPU, where every role is a thread, barriers have their real phases, copies arrive late and matrix operations finish
// late, so that deadlocks, races and wrong values show without a GPU.
#pragma once
#include <cstddef>
#include <cstdint>

#ifdef TWILL_MOCK
#include "twill/mock_base.hpp"
#else
#include "twill/device_base.cuh"
#endif
#include "twill/math.hpp"
#include "twill/layout.hpp"
#include "twill/views.hpp"
#ifdef TWILL_MOCK
#include "twill/mock_sync.hpp"
#include "twill/mock_tile.hpp"
#include "twill/mock_memory.hpp"
#include "twill/mock_async.hpp"
#else
#include "twill/device_sync.cuh"
#include "twill/device_tile.cuh"
#include "twill/device_memory.cuh"
#include "twill/device_tma.cuh"
#include "twill/device_wgmma.cuh"
#endif
#include "twill/marks.hpp"

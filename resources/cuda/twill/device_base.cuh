// Element types and the place of a thread in its role.
#pragma once
#include <cuda.h>
#include <cuda/ptx>
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_fp8.h>
#include <cuda_runtime.h>

#define TW_CALL __device__ __forceinline__
#define TW_BOTH __host__ __device__ constexpr
#define TW_FN [&]
#define TW_UNROLL _Pragma("unroll")

namespace tw {
namespace px = cuda::ptx;

using f16 = __half;
using bf16 = __nv_bfloat16;
using e4m3 = __nv_fp8_e4m3;
using e5m2 = __nv_fp8_e5m2;
struct tf32 {  // a float whose low 13 bits the tensor core ignores
  float value;
};
using Map = CUtensorMap;

// `to<T>(x)`: the conversion of arith.truncf, extf, sitofp, fptosi, trunci, extsi (extui: from an unsigned type).
template <class D, class S> TW_CALL D to(S x) {
  if constexpr (sizeof(S) == sizeof(D) && __is_same(S, D)) {
    return x;
  } else if constexpr (__is_same(S, f16)) {
    return to<D>(__half2float(x));
  } else if constexpr (__is_same(S, bf16)) {
    return to<D>(__bfloat162float(x));
  } else if constexpr (__is_same(S, e4m3) || __is_same(S, e5m2)) {
    return to<D>(static_cast<float>(x));
  } else if constexpr (__is_same(D, f16)) {
    return __float2half_rn(static_cast<float>(x));
  } else if constexpr (__is_same(D, bf16)) {
    return __float2bfloat16_rn(static_cast<float>(x));
  } else if constexpr (__is_same(D, e4m3) || __is_same(D, e5m2)) {
    return D(static_cast<float>(x));
  } else {
    return static_cast<D>(x);
  }
}

// What stands where no code could be made: stops the kernel.
TW_CALL void trap(const char*) { __trap(); }

// The threads of a role: `Warps` warps from thread `First` of the block; `Barrier`: its named barrier (1 to 15).
template <int First, int Warps, int Barrier> struct Group {
  static constexpr int first = First, warps = Warps, threads = 32 * Warps, barrier = Barrier;
  static TW_CALL int thread() { return static_cast<int>(threadIdx.x) - First; }
  static TW_CALL int lane() { return static_cast<int>(threadIdx.x) % 32; }
  static TW_CALL int warp() { return Warps == 1 ? 0 : __shfl_sync(0xffffffffu, thread() / 32, 0); }
};

// The number as something new, so that what is made of it is made where it is used: the many addresses and descriptors
// of a tile would be kept from one iteration of a loop to the next, in registers that tiles need.
TW_CALL uint32_t made_here(uint32_t x) {
  asm volatile("" : "+r"(x));
  return x;
}

template <int Axis> TW_CALL int program_id() { return Axis == 0 ? blockIdx.x : Axis == 1 ? blockIdx.y : blockIdx.z; }
template <int Axis> TW_CALL int num_programs() { return Axis == 0 ? gridDim.x : Axis == 1 ? gridDim.y : gridDim.z; }
}  // namespace tw

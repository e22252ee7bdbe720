// Host side: tensor maps. Links with the runtime library alone (no -lcuda).
#pragma once
#include <cudaTypedefs.h>

#include <cstdio>
#include <cstdlib>

namespace tw {
#define TW_CHECK(x)                                                                                          \
  do {                                                                                                       \
    const cudaError_t e_ = (x);                                                                              \
    if (e_ != cudaSuccess) {                                                                                 \
      std::fprintf(stderr, "%s:%d: %s: %s\n", __FILE__, __LINE__, #x, cudaGetErrorString(e_));               \
      std::exit(1);                                                                                          \
    }                                                                                                        \
  } while (0)

template <class T> struct MapType;
template <> struct MapType<f16> { static constexpr auto value = CU_TENSOR_MAP_DATA_TYPE_FLOAT16; };
template <> struct MapType<bf16> { static constexpr auto value = CU_TENSOR_MAP_DATA_TYPE_BFLOAT16; };
template <> struct MapType<float> { static constexpr auto value = CU_TENSOR_MAP_DATA_TYPE_FLOAT32; };
template <> struct MapType<tf32> { static constexpr auto value = CU_TENSOR_MAP_DATA_TYPE_FLOAT32; };
template <> struct MapType<int32_t> { static constexpr auto value = CU_TENSOR_MAP_DATA_TYPE_INT32; };
template <> struct MapType<int8_t> { static constexpr auto value = CU_TENSOR_MAP_DATA_TYPE_UINT8; };
template <> struct MapType<uint8_t> { static constexpr auto value = CU_TENSOR_MAP_DATA_TYPE_UINT8; };
template <> struct MapType<e4m3> { static constexpr auto value = CU_TENSOR_MAP_DATA_TYPE_UINT8; };
template <> struct MapType<e5m2> { static constexpr auto value = CU_TENSOR_MAP_DATA_TYPE_UINT8; };

// A row-major tensor of `R` dimensions, outermost first; strides in elements, the last is 1. `box`: lines and columns of
// one copy (the last two dimensions; 1 in the others), columns * sizeof(T) at most the swizzle width.
// Driver API, cuTensorMapEncodeTiled: base 16-byte aligned, strides multiples of 16 bytes, box dimensions up to 256.
template <class T, int R>
Map make_map(const void* base, const int64_t (&shape)[R], const int64_t (&strides)[R], const int (&box)[R], int swizzle) {
  static const auto encode = [] {
    void* f = nullptr;
    cudaDriverEntryPointQueryResult found;
    TW_CHECK(cudaGetDriverEntryPointByVersion("cuTensorMapEncodeTiled", &f, 12000, cudaEnableDefault, &found));
    if (found != cudaDriverEntryPointSuccess) {
      std::fprintf(stderr, "the driver has no cuTensorMapEncodeTiled\n");
      std::exit(1);
    }
    return reinterpret_cast<PFN_cuTensorMapEncodeTiled_v12000>(f);
  }();
  cuuint64_t dims[R], bytes[R];
  cuuint32_t boxes[R], steps[R];
  for (int i = 0; i < R; i++) {
    dims[i] = static_cast<cuuint64_t>(shape[R - 1 - i]);
    boxes[i] = static_cast<cuuint32_t>(box[R - 1 - i]);
    steps[i] = 1;
    if (i > 0) bytes[i - 1] = static_cast<cuuint64_t>(strides[R - 1 - i]) * sizeof(T);
  }
  const auto mode = swizzle == 128  ? CU_TENSOR_MAP_SWIZZLE_128B
                    : swizzle == 64 ? CU_TENSOR_MAP_SWIZZLE_64B
                    : swizzle == 32 ? CU_TENSOR_MAP_SWIZZLE_32B
                                    : CU_TENSOR_MAP_SWIZZLE_NONE;
  Map m;
  const CUresult r = encode(&m, MapType<T>::value, R, const_cast<void*>(base), dims, bytes, boxes, steps, CU_TENSOR_MAP_INTERLEAVE_NONE,
                            mode, CU_TENSOR_MAP_L2_PROMOTION_L2_256B, CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);
  if (r != CUDA_SUCCESS) {
    std::fprintf(stderr, "cuTensorMapEncodeTiled: error %d\n", static_cast<int>(r));
    std::exit(1);
  }
  return m;
}
}  // namespace tw

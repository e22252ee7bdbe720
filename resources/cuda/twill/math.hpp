// The `math` and `arith` functions of the vocabulary that are no C++ operators, on float. Approximate ones are the
// instructions that Triton uses: ex2.approx.ftz, lg2.approx, rsqrt.approx.
#pragma once
#ifdef TWILL_MOCK
#include <cmath>
#endif

namespace tw {
#ifdef TWILL_MOCK
inline float exp2(float x) { return ::exp2f(x); }
inline float log2(float x) { return ::log2f(x); }
inline float rsqrt(float x) { return 1.0f / ::sqrtf(x); }
inline float fast_div(float a, float b) { return a / b; }
#else
TW_CALL float exp2(float x) {
  float y;
  asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x));
  return y;
}
TW_CALL float log2(float x) {
  float y;
  asm("lg2.approx.f32 %0, %1;" : "=f"(y) : "f"(x));
  return y;
}
TW_CALL float rsqrt(float x) {
  float y;
  asm("rsqrt.approx.f32 %0, %1;" : "=f"(y) : "f"(x));
  return y;
}
TW_CALL float fast_div(float a, float b) { return __fdividef(a, b); }
#endif
TW_CALL float exp(float x) { return tw::exp2(x * 1.44269504088896341f); }
TW_CALL float log(float x) { return tw::log2(x) * 0.693147180559945309f; }
TW_CALL float sqrt(float x) { return ::sqrtf(x); }
TW_CALL float erf(float x) { return ::erff(x); }
TW_CALL float cos(float x) { return ::cosf(x); }
TW_CALL float sin(float x) { return ::sinf(x); }
TW_CALL float tanh(float x) { return ::tanhf(x); }
TW_CALL float floor(float x) { return ::floorf(x); }
TW_CALL float ceil(float x) { return ::ceilf(x); }
TW_CALL float abs(float x) { return ::fabsf(x); }
TW_CALL float fma(float a, float b, float c) { return ::fmaf(a, b, c); }
// arith.maxnumf, minnumf: the other operand where one is NaN.
TW_CALL float maxnum(float a, float b) { return ::fmaxf(a, b); }
TW_CALL float minnum(float a, float b) { return ::fminf(a, b); }
// arith.maximumf, minimumf: NaN where one is NaN.
TW_CALL float maximum(float a, float b) { return a != a ? a : b != b ? b : ::fmaxf(a, b); }
TW_CALL float minimum(float a, float b) { return a != a ? a : b != b ? b : ::fminf(a, b); }
template <class T> TW_CALL T max_of(T a, T b) { return a < b ? b : a; }
template <class T> TW_CALL T min_of(T a, T b) { return b < a ? b : a; }
// arith.ceildivsi, floordivsi.
template <class T> TW_CALL T ceil_div(T a, T b) { return a / b + ((a % b != 0) && ((a < 0) == (b < 0)) ? 1 : 0); }
template <class T> TW_CALL T floor_div(T a, T b) { return a / b - ((a % b != 0) && ((a < 0) != (b < 0)) ? 1 : 0); }
}  // namespace tw

// CPU stand-in for element types and for the place of a role.
#pragma once
#include <cmath>
#include <cstring>
#include <limits>
#include <type_traits>

#define TW_CALL inline
#define TW_BOTH constexpr
#define TW_FN [&]
#define TW_UNROLL

namespace tw {
// A small float of `E` exponent and `M` mantissa bits. `Finite`: no infinity (e4m3). `Saturate`: too large values become
// the largest one, as fp8 conversions do.
template <class Bits, int E, int M, bool Finite, bool Saturate> struct Small {
  Bits bits;
  static constexpr int bias = (1 << (E - 1)) - 1;
  static constexpr Bits sign = Bits(1) << (E + M), nan = Bits((1 << (E + M)) - 1);
  static constexpr Bits infinity = Bits(((1 << E) - 1) << M), largest = Finite ? nan - 1 : infinity - 1;

  static Small of(float x) {
    Small s{};
    const Bits negative = std::signbit(x) ? sign : Bits(0);
    const double a = std::fabs(double(x));
    if (std::isnan(x)) {
      s.bits = nan;
    } else if (a == 0) {
      s.bits = negative;
    } else {
      int e = std::isinf(x) ? 1024 : std::ilogb(a);
      if (e < 1 - bias) e = 1 - bias;
      double r = std::isinf(x) ? 0 : std::nearbyint(std::ldexp(a, M - e));
      if (r == std::ldexp(1.0, M + 1)) r /= 2, e++;
      const double value = std::isinf(x) ? HUGE_VAL : std::ldexp(r, e - M);
      if (value > largest_value()) {
        s.bits = Bits(negative | (Saturate ? largest : Finite ? nan : infinity));
      } else if (r < std::ldexp(1.0, M)) {
        s.bits = Bits(negative | Bits(r));
      } else {
        s.bits = Bits(negative | Bits(((e + bias) << M) + int(r - std::ldexp(1.0, M))));
      }
    }
    return s;
  }
  static double largest_value() { return Small{largest}.positive(); }
  double positive() const {
    const int e = bits >> M & ((1 << E) - 1), m = bits & ((1 << M) - 1);
    return e ? std::ldexp(double(m + (1 << M)), e - bias - M) : std::ldexp(double(m), 1 - bias - M);
  }
  float value() const {
    const Bits magnitude = bits & Bits(~sign);
    if (Finite ? magnitude == nan : magnitude > infinity) return std::numeric_limits<float>::quiet_NaN();
    const float a = !Finite && magnitude == infinity ? std::numeric_limits<float>::infinity() : float(positive());
    return bits & sign ? -a : a;
  }
};
using f16 = Small<uint16_t, 5, 10, false, false>;
using bf16 = Small<uint16_t, 8, 7, false, false>;
using e4m3 = Small<uint8_t, 4, 3, true, true>;
using e5m2 = Small<uint8_t, 5, 2, false, true>;
struct tf32 {
  float value;
};

template <class T> struct is_small : std::false_type {};
template <class B, int E, int M, bool F, bool S> struct is_small<Small<B, E, M, F, S>> : std::true_type {};

template <class D, class S> D to(S x) {
  if constexpr (std::is_same_v<S, D>) {
    return x;
  } else if constexpr (is_small<S>::value) {
    return to<D>(x.value());
  } else if constexpr (is_small<D>::value) {
    return D::of(static_cast<float>(x));
  } else {
    return static_cast<D>(x);
  }
}
template <class D, class S> D bits_as(S s) {
  static_assert(sizeof(D) == sizeof(S), "same size");
  D d;
  std::memcpy(&d, &s, sizeof(D));
  return d;
}

// What an operand of a matrix operation is worth.
template <class T> float operand_value(T x) {
  if constexpr (std::is_same_v<T, tf32> || std::is_same_v<T, float>) {  // the tensor core ignores the low 13 bits
    return bits_as<float>(bits_as<uint32_t>(x) & 0xffffe000u);
  } else {
    return to<float>(x);
  }
}

template <int First, int Warps, int Barrier> struct Group {
  static constexpr int first = First, warps = Warps, threads = 32 * Warps, barrier = Barrier;
};
}  // namespace tw

// The test program of an export: reads cases from a batch file, runs the kernel on each, compares its outputs with the
// expected ones, times it, and prints one line of JSON for each case.
//   program [--batch FILE] [--time RUNS] [--seed N] [--seeds COUNT] [--trace FILE]
// --trace, where it was built with -DTWILL_TRACE: the marks of the first case's first block (twill.marks/1).
// Exit code 0 if all outputs are right, 1 if not, 3 for a bad file.
#pragma once
#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <map>
#include <memory>
#include <sstream>
#include <string>
#include <vector>

#ifndef TWILL_MOCK
#include "twill/host.cuh"
#endif

namespace twd {
[[noreturn]] inline void give_up(const std::string& why) {
  std::fprintf(stderr, "%s\n", why.c_str());
  std::exit(3);
}

// An array of a case; `elements` of memory, of which a tensor of `shape` and `strides` may be a part. `expected`: what it
// must hold afterwards, as doubles (none: not compared; NaN: anything).
struct Array {
  std::string element;
  int64_t elements = 0;
  int size = 0;  // bytes of an element
  std::vector<int64_t> shape, strides;
  std::vector<unsigned char> given;
  std::vector<double> expected;
  double bound = 0;  // of the relative error by Frobenius norms
  unsigned char* memory = nullptr;
};

inline int mantissa_bits(const std::string& e) {
  return e == "f32" ? 23 : e == "f16" ? 10 : e == "bf16" ? 7 : e == "f8E4M3FN" ? 3 : e == "f8E5M2" ? 2 : 52;
}
inline int least_exponent(const std::string& e) {
  return e == "f16" || e == "f8E5M2" ? -14 : e == "f8E4M3FN" ? -6 : e == "f64" ? -1022 : -126;
}

// The number that bits of an element are.
inline double decode(const std::string& e, const unsigned char* at) {
  const auto read = [at](auto value) {
    std::memcpy(&value, at, sizeof(value));
    return value;
  };
  if (e == "f32") return read(float{});
  if (e == "f64") return read(double{});
  if (e == "i8" || e == "i1") return read(int8_t{});
  if (e == "i16") return read(int16_t{});
  if (e == "i32") return read(int32_t{});
  if (e == "i64") return static_cast<double>(read(int64_t{}));
  const int m = mantissa_bits(e), total = e == "f16" || e == "bf16" ? 16 : 8, x = total - 1 - m;
  const unsigned bits = total == 16 ? read(uint16_t{}) : read(uint8_t{});
  const unsigned exponent = bits >> m & ((1u << x) - 1), fraction = bits & ((1u << m) - 1);
  const bool top = exponent == (1u << x) - 1;
  double value = exponent ? std::ldexp(1.0 + std::ldexp(double(fraction), -m), int(exponent) - (1 << (x - 1)) + 1)
                          : std::ldexp(double(fraction), least_exponent(e) - m);
  if (e == "f8E4M3FN" ? top && fraction == 7 : top) value = e != "f8E4M3FN" && !fraction ? HUGE_VAL : NAN;
  return bits >> (total - 1) ? -value : value;
}

struct Case {
  std::string name;
  int grid[3] = {1, 1, 1};
  double flops = 0, peak = 0;  // peak: of one SM in a cycle
  std::map<std::string, double> numbers;
  std::map<std::string, Array> arrays;

  const Array& array(const std::string& of) const {
    const auto found = arrays.find(of);
    if (found == arrays.end()) give_up("case " + name + " has no array " + of);
    return found->second;
  }
  void give(const std::string& to, void* memory, const int64_t* sizes) {
    Array& a = arrays[to];
    a.memory = static_cast<unsigned char*>(memory);
    a.shape.assign(sizes, sizes + 2);
    a.strides.assign(sizes + 2, sizes + 4);
  }
  template <class T> T* pointer(const std::string& of) const { return reinterpret_cast<T*>(array(of).memory); }
  double number(const std::string& of) const {
    const auto found = numbers.find(of);
    if (found == numbers.end()) give_up("case " + name + " has no number " + of);
    return found->second;
  }
  int64_t size(const std::string& of, int at) const { return array(of).shape.at(static_cast<std::size_t>(at)); }
  int64_t stride(const std::string& of, int at) const { return array(of).strides.at(static_cast<std::size_t>(at)); }
  template <class T> tw::Map map(const std::string& of, int lines, int columns, int swizzle) const {
    const int64_t sizes[] = {size(of, 0), size(of, 1)}, strides_[] = {stride(of, 0), stride(of, 1)};
    const int box[] = {lines, columns};
    return tw::make_map<T>(array(of).memory, sizes, strides_, box, swizzle);
  }
};

// Reproducible numbers in [-scale, scale) where a case gives no data.
inline void fill(Array& a, double scale, uint64_t seed) {
  a.given.resize(static_cast<std::size_t>(a.elements) * static_cast<std::size_t>(a.size));
  uint64_t state = seed * 0x9e3779b97f4a7c15ull + 1;
  for (int64_t i = 0; i < a.elements; i++) {
    state = state * 6364136223846793005ull + 1442695040888963407ull;
    const float v = static_cast<float>((static_cast<double>(state >> 40) / (1 << 23) - 1.0) * scale);
    uint32_t bits;
    std::memcpy(&bits, &v, 4);
    unsigned char* to = &a.given[static_cast<std::size_t>(i * a.size)];
    if (a.element == "f32") {
      std::memcpy(to, &v, 4);
    } else if (a.element == "bf16") {
      const uint16_t h = static_cast<uint16_t>(bits >> 16);
      std::memcpy(to, &h, 2);
    } else if (a.element == "f16" || a.element[0] == 'f') {  // truncated; too small ones become 0
      const int m = mantissa_bits(a.element), low = least_exponent(a.element);
      const int e = static_cast<int>(bits >> 23 & 255) - 127;
      const int bias = 1 - low;
      const uint32_t code = (e < low ? 0 : static_cast<uint32_t>(e + bias) << m | (bits & 0x7fffff) >> (23 - m)) |
                            bits >> 31 << (8 * a.size - 1);
      std::memcpy(to, &code, static_cast<std::size_t>(a.size));
    } else {
      const int64_t whole = static_cast<int64_t>(v);
      std::memcpy(to, &whole, static_cast<std::size_t>(a.size));
    }
  }
}

// The file: a line "twill.batch/1 BYTES", a header of that many bytes, then data. Lines of the header:
//   case NAME X Y Z | flops F PEAK | number NAME VALUE | array NAME ELEMENT BYTES ELEMENTS RANK SHAPE... STRIDES...
//   given OFFSET | fill SCALE SEED | poison | expect OFFSET BOUND     (of the array before)
// Offsets count from the end of the header.
inline std::vector<Case> read_batch(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) give_up("cannot read " + path);
  std::string schema;
  std::size_t header_bytes = 0;
  file >> schema >> header_bytes;
  file.get();
  if (schema != "twill.batch/1" || header_bytes > (1u << 26)) give_up(path + " is no batch file");
  std::string header(header_bytes, ' ');
  file.read(header.data(), static_cast<std::streamsize>(header_bytes));
  const std::streamoff data = file.tellg();
  const auto load = [&](int64_t offset, void* to, std::size_t bytes) {
    file.seekg(data + offset);
    file.read(static_cast<char*>(to), static_cast<std::streamsize>(bytes));
    if (!file) give_up(path + " ends too early");
  };
  std::vector<Case> cases;
  Array* last = nullptr;
  std::istringstream lines(header);
  for (std::string line; std::getline(lines, line);) {
    std::istringstream words(line);
    std::string kind, name;
    words >> kind;
    if (kind == "case") {
      Case& c = cases.emplace_back();
      words >> c.name >> c.grid[0] >> c.grid[1] >> c.grid[2];
    } else if (cases.empty()) {
      give_up(path + ": a line before the first case");
    } else if (kind == "flops") {
      words >> cases.back().flops >> cases.back().peak;
    } else if (kind == "number") {
      std::string text;
      words >> name >> text;
      cases.back().numbers[name] = std::strtod(text.c_str(), nullptr);
    } else if (kind == "array") {
      int rank = 0;
      words >> name;
      last = &cases.back().arrays[name];
      words >> last->element >> last->size >> last->elements >> rank;
      for (int i = 0; i < 2 * rank; i++) {
        int64_t n = 0;
        words >> n;
        (i < rank ? last->shape : last->strides).push_back(n);
      }
    } else if (!last) {
      give_up(path + ": no array before '" + kind + "'");
    } else if (kind == "given") {
      int64_t offset = 0;
      words >> offset;
      last->given.resize(static_cast<std::size_t>(last->elements) * static_cast<std::size_t>(last->size));
      load(offset, last->given.data(), last->given.size());
    } else if (kind == "fill") {
      double scale = 0;
      uint64_t seed = 0;
      words >> scale >> seed;
      fill(*last, scale, seed);
    } else if (kind == "expect") {
      int64_t offset = 0;
      words >> offset >> last->bound;
      last->expected.resize(static_cast<std::size_t>(last->elements));
      load(offset, last->expected.data(), 8 * last->expected.size());
    } else if (kind != "poison") {
      give_up(path + ": unknown line '" + kind + "'");
    }
    if (words.fail()) give_up(path + ": bad line '" + line + "'");
  }
  return cases;
}

struct Difference {
  double relative = 0;  // error by Frobenius norms
  double ulps = 0;      // the worst element, in units in its last place, beyond what `bound` allows an element of mean size
  bool ok = false;
};
constexpr double most_ulps = 4;
// Right are outputs whose relative error by Frobenius norms is at most `bound`, and none of whose elements is further off
// than `bound` times their root mean square and four units in its last place. Integers must be the same.
inline Difference compare(const Array& a, const std::vector<unsigned char>& found) {
  Difference d;
  double error = 0, norm = 0, count = 0;
  for (const double e : a.expected)
    if (std::isfinite(e)) norm += e * e, count++;
  const bool is_float = a.element[0] != 'i';
  const double allowed = is_float && count > 0 ? a.bound * std::sqrt(norm / count) : 0;
  bool finite = true;
  for (int64_t i = 0; i < a.elements; i++) {
    const double e = a.expected[static_cast<std::size_t>(i)], v = decode(a.element, &found[static_cast<std::size_t>(i * a.size)]);
    if (std::isnan(e)) continue;
    if (std::isinf(e)) {
      finite = finite && e == v;
      continue;
    }
    if (!std::isfinite(v)) finite = false;
    const double off = std::fabs(v - e);
    error += off * off;
    const int exponent = e == 0 ? least_exponent(a.element) : std::max(std::ilogb(e), least_exponent(a.element));
    const double ulp = is_float ? std::ldexp(1.0, exponent - mantissa_bits(a.element)) : 1.0;
    d.ulps = std::max(d.ulps, (off - allowed) / ulp);
  }
  d.relative = norm > 0 ? std::sqrt(error / norm) : std::sqrt(error);
  d.ok = finite && d.relative <= a.bound && d.ulps <= (is_float ? most_ulps : 0);
  if (!finite) d.relative = NAN;
  return d;
}

#ifdef TWILL_MOCK
inline void* allocate(std::size_t bytes) { return std::aligned_alloc(1024, (bytes + 2047) / 1024 * 1024); }
inline void release(void* memory) { std::free(memory); }
inline void upload(void* to, const void* from, std::size_t bytes) { std::memcpy(to, from, bytes); }
inline void download(void* to, const void* from, std::size_t bytes) { std::memcpy(to, from, bytes); }
inline void poison(void* to, std::size_t bytes) { std::memset(to, 0xff, bytes); }
#else
inline void* allocate(std::size_t bytes) {
  void* memory = nullptr;
  TW_CHECK(cudaMalloc(&memory, std::max<std::size_t>(bytes, 1)));  // no more than that: memcheck sees what goes past it
  return memory;
}
inline void release(void* memory) { TW_CHECK(cudaFree(memory)); }
inline void upload(void* to, const void* from, std::size_t bytes) { TW_CHECK(cudaMemcpy(to, from, bytes, cudaMemcpyHostToDevice)); }
inline void download(void* to, const void* from, std::size_t bytes) { TW_CHECK(cudaMemcpy(to, from, bytes, cudaMemcpyDeviceToHost)); }
inline void poison(void* to, std::size_t bytes) { TW_CHECK(cudaMemset(to, 0xff, bytes)); }
#endif

#ifndef TWILL_MOCK
inline int processors() {
  int count = 0;
  TW_CHECK(cudaDeviceGetAttribute(&count, cudaDevAttrMultiProcessorCount, 0));
  return count;
}
#endif

// Every array as the case gives it; what it does not give is NaN.
inline void prepare(Case& c) {
  for (auto& [name, a] : c.arrays) {
    const std::size_t bytes = static_cast<std::size_t>(a.elements) * static_cast<std::size_t>(a.size);
    if (!a.memory) a.memory = static_cast<unsigned char*>(allocate(bytes));
    if (a.given.empty()) {
      poison(a.memory, bytes);
    } else {
      upload(a.memory, a.given.data(), bytes);
    }
  }
}

// `,"relative_error":{...},"ulps":{...}` of the outputs (see `compare`; null: not finite) and whether all are right.
inline std::string outputs(const Case& c, bool& ok) {
  std::ostringstream errors, ulps;
  const char* comma = "";
  for (const auto& [name, a] : c.arrays) {
    if (a.expected.empty()) continue;
    std::vector<unsigned char> found(static_cast<std::size_t>(a.elements) * static_cast<std::size_t>(a.size));
    download(found.data(), a.memory, found.size());
    const Difference d = compare(a, found);
    errors << comma << "\"" << name << "\":";
    ulps << comma << "\"" << name << "\":";
    if (std::isnan(d.relative)) {
      errors << "null", ulps << "null";
    } else {
      errors << d.relative, ulps << d.ulps;
    }
    ok = ok && d.ok;
    comma = ",";
  }
  return ",\"relative_error\":{" + errors.str() + "},\"ulps\":{" + ulps.str() + "}";
}

struct Options {
  std::string batch = "cases.bin", trace;
  int time = 0, seeds = 1;
  unsigned seed = 1;
};
inline Options read_options(int argc, char** argv) {
  Options o;
  for (int i = 1; i + 1 < argc; i += 2) {
    const std::string key = argv[i], value = argv[i + 1];
    if (key == "--batch") {
      o.batch = value;
    } else if (key == "--time") {
      o.time = std::atoi(value.c_str());
    } else if (key == "--seed") {
      o.seed = static_cast<unsigned>(std::atoi(value.c_str()));
    } else if (key == "--seeds") {
      o.seeds = std::atoi(value.c_str());
    } else if (key == "--trace") {
      o.trace = value;
#ifndef TWILL_TRACE
      give_up("--trace: the program was built without -DTWILL_TRACE");
#endif
    } else {
      give_up("unknown option " + key);
    }
  }
  return o;
}

}  // namespace twd
#include "twill/driver_marks.hpp"

namespace twd {
#ifdef TWILL_MOCK
template <class P, class Parameters, class Run> std::string measure(Case& c, const Options& o, Parameters parameters, Run run, bool& ok) {
  std::string text;
  for (int i = 0; i < o.seeds && ok; i++) {
    prepare(c);
    const unsigned seed = o.seed + static_cast<unsigned>(i);
    const auto report = run_traced(parameters(c), o, c.name, [&](const P& p) { return run(p, seed); });
    if (!report.ok) {
      ok = false;
      return ",\"seed\":" + std::to_string(seed) + ",\"failure\":\"" + report.message + "\"";
    }
    text = outputs(c, ok);
  }
  return text;
}
#else
// Milliseconds by events (median), and the cycles of the busiest SM from its first to its last clock (median).
template <class P, class Parameters, class Run> std::string measure(Case& c, const Options& o, Parameters parameters, Run run, bool& ok) {
  prepare(c);
  P p = parameters(c);
  run_traced(p, o, c.name, [&](const P& traced) {
    run(traced, cudaStream_t{});
    TW_CHECK(cudaDeviceSynchronize());
    return true;
  });
  std::string text = outputs(c, ok);
  if (o.time <= 0) return text;
  const std::size_t blocks = static_cast<std::size_t>(c.grid[0]) * static_cast<std::size_t>(c.grid[1]) * static_cast<std::size_t>(c.grid[2]);
  long long* clocks = static_cast<long long*>(allocate(blocks * 24));
  std::vector<long long> read(blocks * 3);
  p.clocks = clocks;
  cudaEvent_t begin, end;
  TW_CHECK(cudaEventCreate(&begin));
  TW_CHECK(cudaEventCreate(&end));
  std::vector<double> milliseconds, cycles;
  std::size_t sms = 0;
  for (int i = 0; i < o.time + 2; i++) {
    TW_CHECK(cudaMemset(clocks, 0, blocks * 24));
    TW_CHECK(cudaEventRecord(begin));
    run(p, cudaStream_t{});
    TW_CHECK(cudaEventRecord(end));
    TW_CHECK(cudaEventSynchronize(end));
    float ms = 0;
    TW_CHECK(cudaEventElapsedTime(&ms, begin, end));
    download(read.data(), clocks, blocks * 24);
    std::map<long long, std::pair<long long, long long>> spans;
    for (std::size_t b = 0; b < blocks; b++) {
      if (read[3 * b + 2] == 0) continue;  // a persistent kernel has fewer blocks
      auto [at, fresh] = spans.try_emplace(read[3 * b], read[3 * b + 1], read[3 * b + 2]);
      if (!fresh) at->second = {std::min(at->second.first, read[3 * b + 1]), std::max(at->second.second, read[3 * b + 2])};
    }
    long long longest = 0;
    for (const auto& [sm, span] : spans) longest = std::max(longest, span.second - span.first);
    sms = spans.size();
    if (i >= 2) milliseconds.push_back(ms), cycles.push_back(double(longest));
  }
  std::sort(milliseconds.begin(), milliseconds.end());
  std::sort(cycles.begin(), cycles.end());
  const double ms = milliseconds[milliseconds.size() / 2], cy = cycles[cycles.size() / 2];
  cudaDeviceProp device;
  TW_CHECK(cudaGetDeviceProperties(&device, 0));
  std::ostringstream out;
  out << text << ",\"device\":\"" << device.name << "\",\"milliseconds\":" << ms << ",\"cycles\":" << cy << ",\"sms\":" << sms;
  if (c.flops > 0) out << ",\"tflops\":" << c.flops / ms * 1e-9;
  if (c.flops > 0 && c.peak > 0) out << ",\"tensor_busy\":" << c.flops / (cy * c.peak * device.multiProcessorCount);
  release(clocks);
  return out.str();
}
#endif

template <class P, class Parameters, class Run> int main(int argc, char** argv, Parameters parameters, Run run) {
  Options options = read_options(argc, argv);
  bool all = true;
  for (Case& c : read_batch(options.batch)) {
    bool ok = true;
    const std::string text = measure<P>(c, options, parameters, run, ok);
    std::printf("{\"case\":\"%s\",\"ok\":%s%s}\n", c.name.c_str(), ok ? "true" : "false", text.c_str());
    std::fflush(stdout);
    for (auto& [name, a] : c.arrays) release(a.memory);
    all = all && ok;
    options.trace.clear();
  }
  return all ? 0 : 1;
}
}  // namespace twd

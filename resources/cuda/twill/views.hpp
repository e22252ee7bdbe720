// Tiles in shared memory: where element (row, column) lies.
#pragma once

namespace tw {
// #ttg.nvmma_shared: columns (rows if Transposed) run on contiguously in blocks of `Swizzle` bytes; within a block,
// 16-byte chunks are XORed with the line number. The layout of TMA and of wgmma descriptors.
// PTX ISA, "Shared Memory Matrix Layout", swizzling modes. Swizzle 0: 16-byte blocks, nothing is XORed.
// Rows and Cols are the logical shape. `Lines`: lines of the whole tile that this is a part of (0: this is the whole).
template <class T, int Rows, int Cols, int Swizzle, bool Transposed, int Lines = 0> struct SharedTile {
  using element = T;
  static constexpr int rank = 2, rows = Rows, cols = Cols, swizzle = Swizzle;
  static constexpr bool transposed = Transposed;
  static constexpr int contiguous_dim = Transposed ? 0 : 1;
  static constexpr int lines = Transposed ? Cols : Rows, length = Transposed ? Rows : Cols;  // length: contiguous
  static constexpr int width = Swizzle == 0 ? 16 : Swizzle;                                  // bytes of a block's line
  static constexpr int block_bytes = (Lines == 0 ? lines : Lines) * width;
  static constexpr int blocks = (length * int(sizeof(T)) + width - 1) / width;
  static constexpr int bytes = blocks * lines * width;
  static constexpr int run = 16 / int(sizeof(T));  // elements that stay together
  unsigned char* base;

  TW_BOTH static int offset(int row, int col) {
    const int line = Transposed ? col : row, byte = (Transposed ? row : col) * int(sizeof(T));
    const int block = byte / width, inner = byte % width;
    const int twist = Swizzle == 128 ? line % 8 : Swizzle == 64 ? line / 2 % 4 : Swizzle == 32 ? line / 4 % 2 : 0;
    return block * block_bytes + line * width + (inner ^ (twist * 16));
  }
  TW_CALL T* at(int row, int col) const { return reinterpret_cast<T*>(base + offset(row, col)); }
  TW_CALL T* at(const int* c) const { return at(c[0], c[1]); }
  TW_CALL SharedTile<T, Cols, Rows, Swizzle, !Transposed, Lines> trans() const { return {base}; }
  // N rows (columns) from `First` on: whole blocks along the contiguous dimension, multiples of 8 lines along the other.
  template <int First, int N> TW_CALL SharedTile<T, N, Cols, Swizzle, Transposed, block_bytes / width> part_rows() const {
    static_assert(Transposed ? First * int(sizeof(T)) % width == 0 : First % 8 == 0, "a part begins with a block or a group of 8 lines");
    return {base + (Transposed ? First * int(sizeof(T)) / width * block_bytes : First * width)};
  }
  template <int First, int N> TW_CALL SharedTile<T, Rows, N, Swizzle, Transposed, block_bytes / width> part_cols() const {
    static_assert(!Transposed ? First * int(sizeof(T)) % width == 0 : First % 8 == 0, "a part begins with a block or a group of 8 lines");
    return {base + (!Transposed ? First * int(sizeof(T)) / width * block_bytes : First * width)};
  }
};

// #ttg.swizzled_shared: rows (columns if order = [0, 1]) one after another; groups of `Vec` elements are XORed with
// (line / PerPhase) % MaxPhase.
template <class T, int Rows, int Cols, int Vec, int PerPhase, int MaxPhase, bool Transposed> struct Swizzled {
  using element = T;
  static constexpr int rank = 2, rows = Rows, cols = Cols;
  static constexpr bool transposed = Transposed;
  static constexpr int contiguous_dim = Transposed ? 0 : 1;
  static constexpr int length = Transposed ? Rows : Cols;
  static constexpr int bytes = Rows * Cols * int(sizeof(T));
  static constexpr int run = MaxPhase == 1 ? (length < 16 / int(sizeof(T)) ? length : 16 / int(sizeof(T))) : Vec;
  unsigned char* base;

  TW_BOTH static int offset(int row, int col) {
    const int line = Transposed ? col : row, place = Transposed ? row : col;
    const int phase = line / PerPhase % MaxPhase;
    return (line * length + ((place / Vec ^ phase) * Vec + place % Vec)) * int(sizeof(T));
  }
  TW_CALL T* at(int row, int col) const { return reinterpret_cast<T*>(base + offset(row, col)); }
  TW_CALL T* at(const int* c) const { return at(c[0], c[1]); }
  TW_CALL Swizzled<T, Cols, Rows, Vec, PerPhase, MaxPhase, !Transposed> trans() const { return {base}; }
};

// A vector in shared memory.
template <class T, int N> struct SharedVector {
  using element = T;
  static constexpr int rank = 1, rows = 1, cols = N, bytes = N * int(sizeof(T)), contiguous_dim = 0;
  static constexpr int run = N < 16 / int(sizeof(T)) ? N : 16 / int(sizeof(T));
  unsigned char* base;
  TW_BOTH static int offset(int i) { return i * int(sizeof(T)); }
  TW_CALL T* at(int i) const { return reinterpret_cast<T*>(base + offset(i)); }
  TW_CALL T* at(const int* c) const { return at(c[0]); }
};
}  // namespace tw

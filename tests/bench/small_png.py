"""PNG files of windows, as small as they can be without anything to be seen of it: at most 256 colours."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from PySide6.QtGui import QImage

MOST_BYTES = 200_000
COLOURS = 256


def write_small(image: QImage, file: Path) -> None:
    """Writes a PNG with at most 256 colours: pictures of windows lose nothing that can be seen by it."""
    file.parent.mkdir(parents=True, exist_ok=True)
    reduce_colours(image).save(str(file), "PNG", 0)  # type: ignore[call-overload] - 0 is the smallest file
    size = file.stat().st_size
    print(
        f"{file.name:40} {image.width()} x {image.height()}  {size / 1000:.0f} kB{'  TOO LARGE' * (size > MOST_BYTES)}"
    )


def reduce_colours(image: QImage) -> QImage:
    """The picture in its most frequent colours, every other pixel in the one next to its own."""
    rgb = image.convertToFormat(QImage.Format.Format_RGB32)
    pixels = np.frombuffer(rgb.constBits(), np.uint32).reshape(rgb.height(), rgb.bytesPerLine() // 4)
    colours, where, counts = np.unique(pixels[:, : rgb.width()], return_inverse=True, return_counts=True)
    channels = np.stack([(colours >> shift) & 255 for shift in (16, 8, 0)], axis=1).astype(np.int32)
    chosen = pick(channels, counts)
    nearest = np.empty(len(colours), np.uint8)
    for begin in range(0, len(colours), 4096):
        part = channels[begin : begin + 4096]
        distance = ((part[:, None, :] - channels[chosen][None, :, :]) ** 2).sum(axis=2)
        nearest[begin : begin + 4096] = distance.argmin(axis=1)
    numbers = nearest[where].reshape(rgb.height(), rgb.width())
    result = QImage(rgb.width(), rgb.height(), QImage.Format.Format_Indexed8)
    result.setColorTable([int(0xFF000000 | colours[one]) for one in chosen])
    target = np.frombuffer(result.bits(), np.uint8).reshape(rgb.height(), result.bytesPerLine())
    target[:, : rgb.width()] = numbers
    return result


def pick(channels: np.ndarray, counts: np.ndarray) -> list[int]:
    """The numbers of at most COLOURS colours: the most frequent of each small cube of similar ones, cubes by weight."""
    cubes = (channels >> 3) @ np.array([1024, 32, 1])
    order = np.argsort(-counts, kind="stable")
    first = dict.fromkeys(int(cube) for cube in cubes[order])
    best = {int(cubes[number]): int(number) for number in order[::-1]}
    weight = np.bincount(cubes, weights=counts.astype(float) ** 0.6)
    return [best[cube] for cube in sorted(first, key=lambda cube: -weight[cube])[:COLOURS]]

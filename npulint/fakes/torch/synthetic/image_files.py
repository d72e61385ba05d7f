"""Made-up image files in the layouts of well-known data sets."""

from __future__ import annotations

import functools
import importlib
import json
import os
import random
import tempfile
from typing import Any

import numpy

_COUNT = 64
_WIDTH, _HEIGHT = 320, 256
_VOC = "person car chair dog bottle".split()


@functools.cache
def picture(number: int) -> Any:
    """A random image, as PIL has it."""
    images: Any = importlib.import_module("PIL.Image")
    small = numpy.random.default_rng(number).integers(0, 256, (_HEIGHT // 16, _WIDTH // 16, 3), dtype=numpy.uint8)
    return images.fromarray(small).resize((_WIDTH, _HEIGHT))


def _folder(*parts: str) -> str:
    made = os.path.join(tempfile.mkdtemp(prefix="synthetic-"), *parts)
    os.makedirs(made, exist_ok=True)
    return made


@functools.cache
def classes_of_images(classes: int, each: int) -> str:
    """A folder with a folder of images per class."""
    root = _folder()
    for number in range(classes):
        inner = os.path.join(root, f"class_{number:04}")
        os.makedirs(inner)
        for index in range(each):
            picture((number + index) % _COUNT).save(os.path.join(inner, f"{index}.jpg"))
    return root


Given = tuple[tuple[Any, ...], dict[str, Any]]


def image_folder(name: str, *args: Any, **kwargs: Any) -> Given:
    """The arguments of ``ImageFolder`` with a made-up folder."""
    return _with_root(args, kwargs, classes_of_images(10, 20))


def _with_root(args: tuple[Any, ...], kwargs: dict[str, Any], root: str, *more: Any) -> Given:
    if args:
        return (root, *more, *args[1 + len(more) :]), kwargs
    return (), {**kwargs, "root": root}


def coco(name: str, *args: Any, **kwargs: Any) -> Given:
    """The arguments of ``CocoDetection`` with made-up images and annotations."""
    root, file = _coco()
    return (root, file, *args[2:]), {key: one for key, one in kwargs.items() if key not in ("root", "annFile")}


@functools.cache
def _coco() -> tuple[str, str]:
    chosen = random.Random(0)
    root = _folder()
    images: list[dict[str, Any]] = []
    annotations: list[dict[str, Any]] = []
    for number in range(1, _COUNT + 1):
        picture(number).save(os.path.join(root, f"{number:012}.jpg"))
        images.append({"id": number, "file_name": f"{number:012}.jpg", "width": _WIDTH, "height": _HEIGHT})
        for _ in range(chosen.randint(1, 5)):
            left, top, wide, high = _box(chosen)
            corners = [left, top, left + wide, top, left + wide, top + high, left, top + high]
            annotations.append(
                {
                    "id": len(annotations) + 1,
                    "image_id": number,
                    "category_id": chosen.randint(1, 80),
                    "bbox": [left, top, wide, high],
                    "area": wide * high,
                    "segmentation": [corners],
                    "iscrowd": 0,
                    "caption": "A made-up picture.",
                }
            )
    categories = [{"id": number, "name": f"class {number}", "supercategory": "thing"} for number in range(1, 91)]
    path = os.path.join(_folder(), "instances.json")
    with open(path, "w", encoding="utf-8") as file:
        json.dump({"images": images, "annotations": annotations, "categories": categories}, file)
    return root, path


def _box(chosen: random.Random) -> tuple[int, int, int, int]:
    left, top = chosen.randint(0, _WIDTH // 2), chosen.randint(0, _HEIGHT // 2)
    return left, top, chosen.randint(20, _WIDTH // 2 - 1), chosen.randint(20, _HEIGHT // 2 - 1)


def voc(name: str, *args: Any, **kwargs: Any) -> Given:
    """The arguments of ``VOCDetection`` or ``VOCSegmentation`` with a made-up root."""
    year = str(kwargs.get("year", args[1] if len(args) > 1 else "2012"))
    kwargs = {**kwargs, "download": False}
    return _with_root(args[:3] + args[4:] if len(args) > 3 else args, kwargs, _voc(year))


@functools.cache
def _voc(year: str) -> str:
    images: Any = importlib.import_module("PIL.Image")
    chosen = random.Random(0)
    root = _folder()
    inner = "TrainVal/VOCdevkit/VOC2011" if year == "2011" else f"VOCdevkit/VOC{year}"
    base = os.path.join(root, inner)
    layout = "JPEGImages Annotations SegmentationClass ImageSets/Main ImageSets/Segmentation".split()
    for part in layout:
        os.makedirs(os.path.join(base, part))
    names = [f"{year}_{number:06}" for number in range(_COUNT)]
    for number, one in enumerate(names):
        picture(number).save(os.path.join(base, "JPEGImages", f"{one}.jpg"))
        mask = numpy.random.default_rng(number).integers(0, 21, (_HEIGHT, _WIDTH), dtype=numpy.uint8)
        images.fromarray(mask).save(os.path.join(base, "SegmentationClass", f"{one}.png"))
        with open(os.path.join(base, "Annotations", f"{one}.xml"), "w", encoding="utf-8") as file:
            file.write(_annotation(one, chosen))
    for part in ("Main", "Segmentation"):
        for split in ("train", "val", "trainval", "test"):
            with open(os.path.join(base, "ImageSets", part, f"{split}.txt"), "w", encoding="utf-8") as file:
                file.write("\n".join(names) + "\n")
    return root


def _annotation(name: str, chosen: random.Random) -> str:
    objects = ""
    for _ in range(chosen.randint(1, 3)):
        left, top, wide, high = _box(chosen)
        objects += (
            f"<object><name>{chosen.choice(_VOC)}</name><pose>Frontal</pose><truncated>0</truncated>"
            f"<difficult>0</difficult><bndbox><xmin>{left + 1}</xmin><ymin>{top + 1}</ymin>"
            f"<xmax>{left + wide}</xmax><ymax>{top + high}</ymax></bndbox></object>"
        )
    size = f"<size><width>{_WIDTH}</width><height>{_HEIGHT}</height><depth>3</depth></size>"
    return f"<annotation><filename>{name}.jpg</filename>{size}<segmented>0</segmented>{objects}</annotation>"

"""Data sets of torchvision that are missing. Where the real class reads files, made-up files are written for it, so
that everything else of it runs."""

from __future__ import annotations

import functools
import importlib
import json
import os
import random
import tempfile
from collections.abc import Callable
from types import ModuleType
from typing import Any

import numpy
import torch

from npulint.fakes.torch.synthetic.absent import is_absent
from npulint.fakes.torch.synthetic.said import say

# Made-up image files in the layouts of well-known data sets.

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
    return (root, file, *args[2:]), {key: value for key, value in kwargs.items() if key not in ("root", "annFile")}


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
    for number, name in enumerate(names):
        picture(number).save(os.path.join(base, "JPEGImages", f"{name}.jpg"))
        mask = numpy.random.default_rng(number).integers(0, 21, (_HEIGHT, _WIDTH), dtype=numpy.uint8)
        images.fromarray(mask).save(os.path.join(base, "SegmentationClass", f"{name}.png"))
        with open(os.path.join(base, "Annotations", f"{name}.xml"), "w", encoding="utf-8") as file:
            file.write(_annotation(name, chosen))
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


_KEPT = 512  # different images; a data set repeats them
_MNIST = ("MNIST", "QMNIST")  # and those made from them
_ARRAYS = {"SVHN": (32, 10, {"train": 73257, "test": 26032, "extra": 531131}), "STL10": (96, 10, {"train": 5000})}
_LABELLED = {  # classes, images
    **{"Flowers102": (102, 1020), "OxfordIIITPet": (37, 3680), "Food101": (101, 75750), "DTD": (47, 1880)},
    **{"Caltech101": (101, 8677), "Caltech256": (257, 30607), "EuroSAT": (10, 27000), "StanfordCars": (196, 8144)},
    **{"FGVCAircraft": (100, 3334), "GTSRB": (43, 26640), "SUN397": (397, 108754), "PCAM": (2, 262144)},
    **{"Places365": (365, 1803460), "Country211": (211, 31650), "INaturalist": (10000, 500000)},
}
_FILES: dict[str, Callable[..., tuple[tuple[Any, ...], dict[str, Any]]]] = {
    "ImageFolder": image_folder,
    "DatasetFolder": image_folder,
    "CocoDetection": coco,
    "CocoCaptions": coco,
    "VOCDetection": voc,
    "VOCSegmentation": voc,
}


def change(module: ModuleType) -> None:
    """Let the data sets be made up where they are missing."""
    members = vars(module)
    for name in _MNIST:
        _fall_back(members.get(name), _mnist)
    _fall_back(members.get("CIFAR10"), _cifar)
    for name, (side, classes, sizes) in _ARRAYS.items():
        _fall_back(members.get(name), functools.partial(_arrays, side, classes, sizes))
    for name, (classes, size) in _LABELLED.items():
        _fall_back(members.get(name), functools.partial(_labelled, classes, size))
    for name, files in _FILES.items():
        _fall_back(members.get(name), functools.partial(_from_files, files))
    _fall_back(members.get("ImageNet"), _imagenet)


def _fall_back(cls: Any, make: Callable[..., str]) -> None:
    """Let the constructor of a class make the data up if the real one does not find it. `make` says what it made."""
    if cls is None or "__init__" not in vars(cls):
        return
    original = cls.__init__

    @functools.wraps(original)
    def constructed(self: Any, *args: Any, **kwargs: Any) -> None:
        try:
            original(self, *args, **kwargs)
        except Exception as error:
            if not is_absent(error):
                raise
            say(f"{_name(self)}: {make(self, original, *args, **kwargs)}")

    cls.__init__ = constructed


def _name(self: Any) -> str:
    """The class of torchvision that an instance is of."""
    return next(base.__name__ for base in type(self).__mro__ if base.__module__.startswith("torchvision"))


def _transforms(self: Any, root: Any, transform: Any, target_transform: Any) -> None:
    vision: Any = next(base for base in type(self).__mro__ if base.__name__ == "VisionDataset")
    vision.__init__(self, root, transform=transform, target_transform=target_transform)


def _images(count: int, *shape: int) -> Any:
    """Random images, the first ones repeated."""
    some = numpy.random.default_rng(0).integers(0, 256, (min(count, _KEPT), *shape), dtype=numpy.uint8)
    return numpy.resize(some, (count, *shape))


def _labels(count: int, classes: int) -> Any:
    return numpy.random.default_rng(1).integers(0, classes, count)


def _mnist(
    self: Any,
    original: Any,
    root: Any,
    train: bool = True,
    transform: Any = None,
    target_transform: Any = None,
    **more: Any,
) -> str:
    _transforms(self, root, transform, target_transform)
    count = 60000 if train else 10000
    self.train = train
    self.data = torch.from_numpy(_images(count, 28, 28))
    self.targets = torch.from_numpy(_labels(count, 10))
    return f"{count} images 28x28, 10 classes"


def _cifar(
    self: Any,
    original: Any,
    root: Any,
    train: bool = True,
    transform: Any = None,
    target_transform: Any = None,
    **more: Any,
) -> str:
    _transforms(self, root, transform, target_transform)
    count, classes = 50000 if train else 10000, 100 if _name(self) == "CIFAR100" else 10
    self.train = train
    self.data = _images(count, 32, 32, 3)
    self.targets = _labels(count, classes).tolist()
    self.classes = [f"class {number}" for number in range(classes)]
    self.class_to_idx = {name: number for number, name in enumerate(self.classes)}
    return f"{count} images 32x32x3, {classes} classes"


def _arrays(
    side: int,
    classes: int,
    sizes: dict[str, int],
    self: Any,
    original: Any,
    root: Any,
    split: str = "train",
    *args: Any,
    **more: Any,
) -> str:
    _transforms(self, root, more.get("transform"), more.get("target_transform"))
    count = min(sizes.get(split, 8000), 30000)
    self.split, self.data, self.labels = split, _images(count, 3, side, side), _labels(count, classes)
    self.classes = [f"class {number}" for number in range(classes)]
    return f"{count} images 3x{side}x{side}, {classes} classes"


def _labelled(classes: int, size: int, self: Any, original: Any, root: Any = "", *args: Any, **more: Any) -> str:
    """A data set of image and label, whose items are made when asked for."""
    _transforms(self, root, more.get("transform"), more.get("target_transform"))
    self.classes = [f"class {number}" for number in range(classes)]
    self.class_to_idx = {name: number for number, name in enumerate(self.classes)}
    self.__class__ = type(type(self).__name__, (_Labelled, type(self)), {"count": size, "labels": classes})
    return f"{size} images of 320x256, {classes} classes"


class _Labelled:
    """Items of a made-up data set."""

    count = 0
    labels = 1

    def __len__(self) -> int:
        return self.count

    def __getitem__(self, index: int) -> tuple[Any, Any]:
        image, label = picture(index % 64), index % self.labels
        transforms = vars(self).get("transforms")
        return transforms(image, label) if transforms is not None else (image, label)


def _from_files(files: Any, self: Any, original: Any, *args: Any, **kwargs: Any) -> str:
    args, kwargs = files(type(self).__name__, *args, **kwargs)
    original(self, *args, **kwargs)
    return f"{len(self)} items in made-up files"


def _imagenet(self: Any, original: Any, root: Any, split: str = "train", **more: Any) -> str:
    folder: Any = next(base for base in type(self).__mro__ if base.__name__ == "ImageFolder")
    folder.__init__(self, classes_of_images(1000, 1), **more)
    self.root, self.split = root, split
    self.wnids, self.wnid_to_idx = self.classes, self.class_to_idx
    return f"{len(self)} images of 320x256, 1000 classes"

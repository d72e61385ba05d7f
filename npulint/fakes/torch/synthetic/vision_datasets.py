"""Data sets of torchvision that are missing. Where the real class reads files, made-up files are written for it, so
that everything else of it runs."""

from __future__ import annotations

import functools
from collections.abc import Callable
from types import ModuleType
from typing import Any

import numpy
import torch

from npulint.fakes.torch.synthetic import image_files
from npulint.fakes.torch.synthetic.absent import is_absent
from npulint.fakes.torch.synthetic.said import say

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
    "ImageFolder": image_files.image_folder,
    "DatasetFolder": image_files.image_folder,
    "CocoDetection": image_files.coco,
    "CocoCaptions": image_files.coco,
    "VOCDetection": image_files.voc,
    "VOCSegmentation": image_files.voc,
}


def change(module: ModuleType) -> None:
    """Let the data sets be made up where they are missing."""
    found = vars(module)
    for name in _MNIST:
        _fall_back(found.get(name), _mnist)
    _fall_back(found.get("CIFAR10"), _cifar)
    for name, (side, classes, sizes) in _ARRAYS.items():
        _fall_back(found.get(name), functools.partial(_arrays, side, classes, sizes))
    for name, (classes, size) in _LABELLED.items():
        _fall_back(found.get(name), functools.partial(_labelled, classes, size))
    for name, files in _FILES.items():
        _fall_back(found.get(name), functools.partial(_from_files, files))
    _fall_back(found.get("ImageNet"), _imagenet)


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
    return next(one.__name__ for one in type(self).__mro__ if one.__module__.startswith("torchvision"))


def _transforms(self: Any, root: Any, transform: Any, target_transform: Any) -> None:
    vision: Any = next(one for one in type(self).__mro__ if one.__name__ == "VisionDataset")
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
        image, label = image_files.picture(index % 64), index % self.labels
        transforms = vars(self).get("transforms")
        return transforms(image, label) if transforms is not None else (image, label)


def _from_files(files: Any, self: Any, original: Any, *args: Any, **kwargs: Any) -> str:
    args, kwargs = files(type(self).__name__, *args, **kwargs)
    original(self, *args, **kwargs)
    return f"{len(self)} items in made-up files"


def _imagenet(self: Any, original: Any, root: Any, split: str = "train", **more: Any) -> str:
    folder: Any = next(one for one in type(self).__mro__ if one.__name__ == "ImageFolder")
    folder.__init__(self, image_files.classes_of_images(1000, 1), **more)
    self.root, self.split = root, split
    self.wnids, self.wnid_to_idx = self.classes, self.class_to_idx
    return f"{len(self)} images of 320x256, 1000 classes"

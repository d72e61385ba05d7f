"""Small made-up data that public programs ask for, in the formats of the real ones.

``python -m scripts.trying.made_up FOLDER KIND [ARGUMENT ...]``, with the interpreter that has the program's packages.
Every kind is a function here; its arguments are words."""

from __future__ import annotations

import importlib
import json
import os
import pickle
import struct
import sys
import zlib
from pathlib import Path
from typing import Any

import numpy as np

WORDS = "the a model trains on small made up data and learns nothing from it but shape of words".split()

_CORNERS = ("xmin", "ymin", "xmax", "ymax")


def _numbers() -> Any:
    return np.random.default_rng(7)


def mnist(folder: Path, where: str, count: str = "600") -> None:
    """MNIST as torchvision stores it."""
    raw = folder / where / "MNIST" / "raw"
    raw.mkdir(parents=True, exist_ok=True)
    for name, number in (("train", int(count)), ("t10k", max(100, int(count) // 6))):
        images = _numbers().integers(0, 256, (number, 28, 28), dtype=np.uint8)
        labels = (np.arange(number) % 10).astype(np.uint8)
        head = struct.pack(">IIII", 2051, number, 28, 28)
        (raw / f"{name}-images-idx3-ubyte").write_bytes(head + images.tobytes())
        (raw / f"{name}-labels-idx1-ubyte").write_bytes(struct.pack(">II", 2049, number) + labels.tobytes())


def cifar10(folder: Path, where: str) -> None:
    """CIFAR-10 as torchvision stores it; the digests that it compares are those of the real files, so they are asked
    for no more."""
    there = folder / where / "cifar-10-batches-py"
    there.mkdir(parents=True, exist_ok=True)
    for name in (*(f"data_batch_{number}" for number in range(1, 6)), "test_batch"):
        data = _numbers().integers(0, 256, (200, 3072), dtype=np.uint8)
        (there / name).write_bytes(pickle.dumps({"data": data, "labels": [one % 10 for one in range(200)]}))
    (there / "batches.meta").write_bytes(pickle.dumps({"label_names": [str(number) for number in range(10)]}))


def images(folder: Path, where: str, classes: str = "2", each: str = "24", size: str = "64") -> None:
    """Folders of pictures, one per class."""
    from PIL import Image

    numbers = _numbers()
    for number in range(int(classes)):
        there = folder / where / f"class{number}"
        there.mkdir(parents=True, exist_ok=True)
        for one in range(int(each)):
            pixels = numbers.integers(0, 256, (int(size), int(size), 3), dtype=np.uint8)
            Image.fromarray(pixels).save(there / f"{one}.jpg")


def pictures(folder: Path, where: str, count: str = "24", size: str = "64", end: str = "jpg") -> None:
    """One folder of pictures."""
    from PIL import Image

    there = folder / where
    there.mkdir(parents=True, exist_ok=True)
    for one in range(int(count)):
        pixels = _numbers().integers(0, 256, (int(size), int(size), 3), dtype=np.uint8)
        Image.fromarray(pixels).save(there / f"{one}.{end}")


def masks(folder: Path, where: str, count: str = "24", size: str = "64") -> None:
    """Pictures of two values, for segmentation."""
    from PIL import Image

    there = folder / where
    there.mkdir(parents=True, exist_ok=True)
    for one in range(int(count)):
        pixels = (_numbers().integers(0, 2, (int(size), int(size))) * 255).astype(np.uint8)
        Image.fromarray(pixels).save(there / f"{one}.png")


def tokens(folder: Path, where: str, count: str = "20000") -> None:
    """Files of token numbers and of their vocabulary, as nanoGPT prepares them."""
    there = folder / where
    there.mkdir(parents=True, exist_ok=True)
    for name in ("train", "val"):
        _numbers().integers(0, 65, int(count)).astype(np.uint16).tofile(there / f"{name}.bin")
    (there / "meta.pkl").write_bytes(pickle.dumps({"vocab_size": 65}))


def empty(folder: Path, where: str) -> None:
    """A file without contents, such as a font that a program loads from the network if it is missing."""
    (folder / where).touch()


def text(folder: Path, where: str, lines: str = "400") -> None:
    """Lines of words."""
    path = folder / where
    path.parent.mkdir(parents=True, exist_ok=True)
    numbers = _numbers()
    made = (" ".join(numbers.choice(WORDS, 12)) for _ in range(int(lines)))
    path.write_text("\n".join(made) + "\n")


def sentences(folder: Path, where: str, columns: str = "sentence", lines: str = "64") -> None:
    """A table of sentences with labels; `columns` are joined by commas."""
    import csv

    path = folder / where
    path.parent.mkdir(parents=True, exist_ok=True)
    numbers = _numbers()
    with path.open("w", newline="") as file:
        out = csv.writer(file)
        out.writerow([*columns.split(","), "label"])
        for line in range(int(lines)):
            row = [str(line) if one == "idx" else " ".join(numbers.choice(WORDS, 8)) for one in columns.split(",")]
            out.writerow([*row, line % 2])


def glue(folder: Path, where: str = "nyu-mll/glue") -> None:
    """The data set MRPC of GLUE and its metric, as folders that `datasets` and `evaluate` find before the hub."""
    there = folder / where
    there.mkdir(parents=True, exist_ok=True)
    for name in ("train", "validation", "test"):
        sentences(folder, f"{where}/{name}.csv", "sentence1,sentence2,idx")
    files = "".join(f"  - split: {name}\n    path: {name}.csv\n" for name in ("train", "validation", "test"))
    (there / "README.md").write_text(f"---\nconfigs:\n- config_name: mrpc\n  data_files:\n{files}---\n")
    metric(folder, "glue")


def metric(folder: Path, name: str) -> None:
    """A metric that `evaluate` finds before the hub: the share of right answers."""
    there = folder / name
    there.mkdir(exist_ok=True)
    (there / f"{name}.py").write_text(
        "import datasets\nimport evaluate\n\n\nclass Share(evaluate.Metric):\n    def _info(self):\n"
        "        whole = datasets.Features({name: datasets.Value('int64') for name in ('predictions', 'references')})\n"
        "        return evaluate.MetricInfo('', '', features=whole)\n\n"
        "    def _compute(self, predictions, references):\n"
        "        return {'accuracy': sum(a == b for a, b in zip(predictions, references)) / len(references)}\n"
    )


def tokenizer(folder: Path, where: str, kind: str = "gpt2") -> None:
    """A tokenizer of few words."""
    from tokenizers import Tokenizer, models, pre_tokenizers, processors
    from transformers import PreTrainedTokenizerFast

    special = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]
    vocabulary = {word: number for number, word in enumerate([*special, *WORDS])}
    made = Tokenizer(models.WordLevel(vocabulary, unk_token="[UNK]"))
    made.pre_tokenizer = pre_tokenizers.Whitespace()
    if kind == "bert":
        made.post_processor = processors.TemplateProcessing(
            single="[CLS] $A [SEP]", pair="[CLS] $A [SEP] $B:1 [SEP]:1", special_tokens=[("[CLS]", 2), ("[SEP]", 3)]
        )
    fast = PreTrainedTokenizerFast(
        tokenizer_object=made,
        pad_token="[PAD]",
        unk_token="[UNK]",
        cls_token="[CLS]",
        sep_token="[SEP]",
        mask_token="[MASK]",
        eos_token="[SEP]",
        bos_token="[CLS]",
        model_max_length=64,
    )
    fast.save_pretrained(str(folder / where))


def bert(folder: Path, where: str) -> None:
    """A small BERT with its tokenizer."""
    import torch
    from transformers import BertConfig, BertForSequenceClassification

    torch.manual_seed(0)
    tokenizer(folder, where, "bert")
    small = BertConfig(
        vocab_size=64,
        hidden_size=32,
        num_hidden_layers=2,
        num_attention_heads=2,
        intermediate_size=64,
        max_position_embeddings=64,
    )
    BertForSequenceClassification(small).save_pretrained(str(folder / where))


def vit(folder: Path, where: str) -> None:
    """A small vision transformer with its processor of pictures."""
    import torch
    from transformers import ViTConfig, ViTForImageClassification, ViTImageProcessor

    torch.manual_seed(0)
    small = ViTConfig(
        hidden_size=32,
        num_hidden_layers=2,
        num_attention_heads=2,
        intermediate_size=64,
        image_size=32,
        patch_size=8,
        num_labels=2,
    )
    ViTForImageClassification(small).save_pretrained(str(folder / where))
    ViTImageProcessor(size={"height": 32, "width": 32}).save_pretrained(str(folder / where))


def unet(folder: Path, where: str) -> None:
    """The configuration of a small UNet for diffusion."""
    from diffusers import UNet2DModel

    small = UNet2DModel(
        sample_size=16,
        block_out_channels=(16, 32),
        norm_num_groups=8,
        layers_per_block=1,
        down_block_types=("DownBlock2D", "AttnDownBlock2D"),
        up_block_types=("AttnUpBlock2D", "UpBlock2D"),
        attention_head_dim=8,
    )
    small.save_config(str(folder / where))


def waves(folder: Path, where: str) -> None:
    """Sine waves as the example of sequences in time makes them."""
    import torch

    numbers = np.random.RandomState(2)
    made = np.array(range(200)) + numbers.randint(-80, 80, 20).reshape(20, 1)
    torch.save(np.sin(made / 1.0 / 20).astype("float64"), folder / where)


def yolo(folder: Path, where: str, count: str = "16") -> None:
    """Pictures with boxes in the format of YOLO, and a file that describes them."""
    pictures(folder, f"{where}/images/train", count, "96")
    labels = folder / where / "labels" / "train"
    labels.mkdir(parents=True, exist_ok=True)
    for one in range(int(count)):
        (labels / f"{one}.txt").write_text("0 0.5 0.5 0.4 0.4\n1 0.3 0.3 0.2 0.2\n")
    listed = [f"{where}/images/train/{one}.jpg" for one in range(int(count))]
    (folder / where / "train.txt").write_text("\n".join(listed) + "\n")
    (folder / where / "classes.names").write_text("one\ntwo\n")
    (folder / where / "custom.data").write_text(
        f"classes=2\ntrain={where}/train.txt\nvalid={where}/train.txt\nnames={where}/classes.names\n"
    )
    (folder / where / "data.yaml").write_text(
        f"path: {where}\ntrain: images/train\nval: images/train\nnames:\n  0: one\n  1: two\n"
    )


def graph(folder: Path, where: str, count: str = "300") -> None:
    """Papers that cite each other, as the data set Cora is stored."""
    there = folder / where
    there.mkdir(parents=True, exist_ok=True)
    numbers = _numbers()
    words = numbers.integers(0, 2, (int(count), 40))
    lines = (f"{one}\t" + "\t".join(map(str, words[one])) + f"\tclass{one % 7}" for one in range(int(count)))
    (there / "cora.content").write_text("\n".join(lines) + "\n")
    cited = (f"{one}\t{numbers.integers(0, int(count))}" for one in range(int(count)) for _ in range(3))
    (there / "cora.cites").write_text("\n".join(cited) + "\n")


def coco(folder: Path, where: str, count: str = "8") -> None:
    """Pictures with boxes as COCO stores them."""
    for part in ("train2017", "val2017"):
        pictures(folder, f"{where}/{part}", count, "96")
        boxes = [
            {"id": one + 1, "image_id": one, "category_id": 1, "bbox": [8, 8, 40, 40], "area": 1600, "iscrowd": 0}
            for one in range(int(count))
        ]
        found = [{"id": one, "file_name": f"{one}.jpg", "width": 96, "height": 96} for one in range(int(count))]
        whole = {"images": found, "annotations": boxes, "categories": [{"id": 1, "name": "one"}]}
        there = folder / where / "annotations"
        there.mkdir(parents=True, exist_ok=True)
        (there / f"instances_{part}.json").write_text(json.dumps(whole))


def lesions(folder: Path, where: str, count: str = "8") -> None:
    """Pictures of skin with masks, named as those of ISIC."""
    pictures(folder, where, count)
    masks(folder, f"{where}_GT", count)
    for one in range(int(count)):
        (folder / where / f"{one}.jpg").rename(folder / where / f"ISIC_{one}.jpg")
        (folder / f"{where}_GT" / f"{one}.png").rename(folder / f"{where}_GT" / f"ISIC_{one}_segmentation.png")


def voc(folder: Path, where: str, count: str = "8") -> None:
    """Pictures with boxes as Pascal VOC stores them."""
    pictures(folder, f"{where}/JPEGImages", count, "96")
    for part in ("Annotations", "ImageSets/Main"):
        (folder / where / part).mkdir(parents=True, exist_ok=True)
    for name in ("trainval", "test", "train", "val"):
        (folder / where / "ImageSets" / "Main" / f"{name}.txt").write_text(
            "\n".join(map(str, range(int(count)))) + "\n"
        )
    for one in range(int(count)):
        box = "".join(f"<{name}>{value}</{name}>" for name, value in zip(_CORNERS, (8, 8, 60, 60), strict=True))
        thing = f"<object><name>car</name><difficult>0</difficult><bndbox>{box}</bndbox></object>"
        (folder / where / "Annotations" / f"{one}.xml").write_text(f"<annotation>{thing}</annotation>")


def lanes(folder: Path, where: str, count: str = "8") -> None:
    """Pictures of roads with four lanes, listed as those of TuSimple."""
    from PIL import Image

    pictures(folder, f"{where}/clips", count, "288")
    for one in range(int(count)):
        marks = np.zeros((288, 288), dtype=np.uint8)
        for lane in range(4):
            marks[100:, 40 + 60 * lane : 46 + 60 * lane] = lane + 1
        Image.fromarray(marks).save(folder / where / "clips" / f"{one}.png")
    lines = (f"clips/{one}.jpg clips/{one}.png 1 1 1 1" for one in range(int(count)))
    (folder / where / "train_gt.txt").write_text("\n".join(lines) + "\n")


def shapes(folder: Path, where: str, count: str = "12") -> None:
    """Clouds of points with their parts, as ShapeNet stores them."""
    there = folder / where
    for part in ("train_test_split", *(f"{one}/{kind}" for one in ("1", "2") for kind in ("points", "points_label"))):
        (there / part).mkdir(parents=True, exist_ok=True)
    (there / "synsetoffset2category.txt").write_text("Airplane\t1\nChair\t2\n")
    numbers = _numbers()
    names = [f"shape_data/{number}/{one}" for number in ("1", "2") for one in range(int(count))]
    for name in names:
        _, kind, one = name.split("/")
        np.savetxt(there / kind / "points" / f"{one}.pts", numbers.random((300, 3)))
        np.savetxt(there / kind / "points_label" / f"{one}.seg", numbers.integers(1, 5, 300), fmt="%d")
    for part in ("train", "test", "val"):
        (there / "train_test_split" / f"shuffled_{part}_file_list.json").write_text(json.dumps(names))


def modelnet(folder: Path, where: str, count: str = "32") -> None:
    """Clouds of points with their classes in HDF5, as ModelNet40 is stored for PointNet."""
    h5py = importlib.import_module("h5py")
    there = folder / where
    there.mkdir(parents=True, exist_ok=True)
    for part in ("train", "test"):
        with h5py.File(there / f"{part}.h5", "w") as file:
            file["data"] = _numbers().random((int(count), 2048, 3)).astype(np.float32)
            file["label"] = (np.arange(int(count)) % 40).astype(np.uint8)[:, None]
        (there / f"{part}_files.txt").write_text(f"{where}/{part}.h5\n")


def cola(folder: Path, where: str, model: str) -> None:
    """Sentences with labels as the task CoLA has them, and in `model` the vocabulary and the sizes of a BERT without
    dropout."""
    for one in (where, model):
        (folder / one).mkdir(parents=True, exist_ok=True)
    numbers = _numbers()
    lines = [f"x\t{line % 2}\t*\t{' '.join(numbers.choice(WORDS, 8))}" for line in range(64)]
    for part in ("train", "dev", "test"):
        (folder / where / f"{part}.tsv").write_text("\n".join(lines) + "\n")
    (folder / model / "vocab.txt").write_text("\n".join(("[PAD]", "[UNK]", "[CLS]", "[SEP]", *sorted(set(WORDS)))))
    sizes = {"hidden_size": 32, "num_hidden_layers": 2, "num_attention_heads": 2, "intermediate_size": 64}
    still = {"hidden_dropout_prob": 0.0, "attention_probs_dropout_prob": 0.0}
    (folder / model / "bert_config.json").write_text(json.dumps({"vocab_size": 64, **sizes, **still}))


def translations(folder: Path, where: str, lines: str = "64") -> None:
    """Sentences in two made-up languages with their vocabularies, as tensorflow/nmt reads them."""
    there = folder / where
    there.mkdir(parents=True, exist_ok=True)
    numbers = _numbers()
    for part in ("train", "dev", "test"):
        written = [numbers.choice(WORDS, 6) for _ in range(int(lines))]
        for language, end in (("a", ""), ("b", "s")):
            text = "".join(" ".join(f"{word}{end}" for word in line) + "\n" for line in written)
            (there / f"{part}.{language}").write_text(text)
    for language, end in (("a", ""), ("b", "s")):
        names = ["<unk>", "<s>", "</s>", *(f"{word}{end}" for word in sorted(set(WORDS)))]
        (there / f"vocab.{language}").write_text("\n".join(names) + "\n")


def halves(folder: Path, where: str, count: str = "8", size: str = "256") -> None:
    """Pictures of two squares side by side, written without a library for pictures."""
    there = folder / where
    there.mkdir(parents=True, exist_ok=True)
    height, numbers = int(size), _numbers()

    def chunk(kind: bytes, data: bytes) -> bytes:
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    for number in range(int(count)):
        pixels = numbers.integers(0, 256, (height, 2 * height * 3), dtype=np.uint8)
        lines = b"".join(b"\0" + line.tobytes() for line in pixels)
        head = struct.pack(">IIBBBBB", 2 * height, height, 8, 2, 0, 0, 0)
        parts = chunk(b"IHDR", head) + chunk(b"IDAT", zlib.compress(lines)) + chunk(b"IEND", b"")
        (there / f"{number}.png").write_bytes(b"\x89PNG\r\n\x1a\n" + parts)


def weights(folder: Path, model: str, name: str) -> None:
    """The weights of a model of torchvision where it looks before it loads them from the network."""
    import torch
    import torchvision

    torch.manual_seed(0)
    there = Path(os.environ["TORCH_HOME"]) / "hub" / "checkpoints"
    there.mkdir(parents=True, exist_ok=True)
    torch.save(getattr(torchvision.models, model)().state_dict(), there / name)


def main(folder: str, kind: str, arguments: list[str]) -> None:
    """Make data of a kind in a folder."""
    os.makedirs(folder, exist_ok=True)
    globals()[kind](Path(folder), *arguments)


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], sys.argv[3:])

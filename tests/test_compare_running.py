"""Steps that only one program has: in branches, behind options, in methods that the other one inherits."""

from __future__ import annotations

from tests.compare_support import ShortDifference, differences, short_differences

HEAD = "import argparse\nimport torch\nimport torch_npu\nfrom apex import amp\n"
TRAIN = (
    HEAD
    + """
{outside}
def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--apex", action="store_true")
    parser.add_argument("--kind", default="small")
    parser.add_argument("--distributed", action="store_true")
    args = parser.parse_args()
    data = torch.utils.data.TensorDataset(torch.ones(8, 3))
    net = torch.nn.Linear(3, 3)
{inside}
    optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
    for x in torch.utils.data.DataLoader(data, batch_size=2, shuffle=True):
        loss = net(x[0]).sum()
{backward}
        optimizer.step()


if __name__ == "__main__":
    main()
"""
)
PLAIN = "        loss.backward()"
SCALED = """        if args.apex:
            with amp.scale_loss(loss, optimizer) as scaled:
                scaled.backward()
        else:
            loss.backward()"""


def text(inside: str = "", backward: str = PLAIN, outside: str = "") -> str:
    return TRAIN.format(inside=inside, backward=backward, outside=outside)


def parts(found: list[ShortDifference]) -> list[tuple[str, str]]:
    return [(part, change) for part, change, *_ in found]


def test_a_backward_pass_in_each_of_two_branches_is_one() -> None:
    assert parts(short_differences(text(), text(backward=SCALED))) == [("loss_scale", "added")]


def test_a_layer_that_the_options_leave_out_is_no_difference() -> None:
    other = '    if args.kind == "{0}":\n        net = torch.nn.Sequential(net, torch.nn.Dropout(0.3))\n'
    assert short_differences(text(), text(other.format("large"))) == []
    assert ("dropout", "added") in parts(short_differences(text(), text(other.format("small"))))


def test_a_function_that_only_such_code_names_is_no_difference() -> None:
    model = "class Large(torch.nn.Module):\n    def __init__(self):\n        super().__init__()\n"
    model += "        self.fc = torch.nn.Conv2d(3, 9, 5)\n        self.more = torch.nn.Conv2d(9, 9, 5)\n"
    made = '    if args.kind == "{0}":\n        net = Large()\n'
    assert short_differences(text(), text(made.format("large"), outside=model)) == []
    assert short_differences(text(), text(made.format("small"), outside=model))


def test_a_lambda_in_such_code_is_not_run_either() -> None:
    model = "def make(width):\n    return torch.nn.Sequential(torch.nn.Linear(3, width), torch.nn.Dropout(0.5))\n"
    made = '    if args.kind == "{0}":\n        create = lambda: make(4)\n        net = create()\n'
    assert short_differences(text(), text(made.format("large"), outside=model)) == []
    assert short_differences(text(), text(made.format("small"), outside=model))


def test_what_only_more_devices_need_is_one_difference_without_effect_on_one_device() -> None:
    many = """    if args.distributed:
        net = torch.nn.parallel.DistributedDataParallel(net)
        sampler = torch.utils.data.distributed.DistributedSampler(data)
        loader = torch.utils.data.DataLoader(data, batch_size=2, sampler=sampler, drop_last=True)
"""
    found = {one.part: one for one in differences(text(), text(many)) if one.change == "added"}
    assert set(found) == {"reduction", "drop_remainder"}
    assert found["reduction"].what == "DistributedDataParallel, DistributedSampler"
    assert (found["reduction"].effect, found["reduction"].certain) == ("idle", False)


BASE = HEAD + (
    "class Base(torch.nn.Module):\n    def __init__(self):\n        super().__init__()\n"
    "        self.fc = torch.nn.Linear(3, 3)\n"
    "    def configure(self):\n        return torch.optim.AdamW(self.parameters(), lr=0.1)\n"
    "class Task(Base):\n    def extra(self):\n        return self.fc(torch.ones(3))\n{0}"
    "task = Task()\noptimizer = task.configure()\ntask.extra().sum().backward()\noptimizer.step()\n"
)


def test_a_method_that_is_overridden_is_compared_with_what_is_inherited() -> None:
    own = "    def configure(self):\n        made = torch.optim.AdamW(self.parameters(), lr={0})\n{1}"
    own += "        return made\n"
    assert short_differences(BASE.format(""), BASE.format(own.format("0.1", ""))) == []
    assert short_differences(BASE.format(""), BASE.format(own.format("0.2", ""))) == [
        ("learning_rate", "changed", "AdamW(lr)", "0.1", "0.2")
    ]
    schedule = "        torch.optim.lr_scheduler.CosineAnnealingLR(made, 24)\n"
    assert parts(short_differences(BASE.format(""), BASE.format(own.format("0.1", schedule)))) == [
        ("schedule", "added")
    ]
    assert parts(short_differences(BASE.format(own.format("0.1", schedule)), BASE.format(""))) == [
        ("schedule", "removed")
    ]


def test_an_own_loader_that_is_derived_from_the_library_s_is_one() -> None:
    loader = "class Lasting(torch.utils.data.DataLoader):\n    def __init__(self, *args, **kwargs):\n"
    loader += "        super().__init__(*args, **kwargs)\n        self.kept = True\n"
    own = text(outside=loader).replace("in torch.utils.data.DataLoader(", "in Lasting(")
    assert short_differences(text(), own) == []
    assert parts(short_differences(text(), own.replace("batch_size=2", "batch_size=4"))) == [("batch_size", "changed")]


def test_the_seed_of_all_devices_may_be_set_in_two_ways() -> None:
    seed = "    torch.manual_seed(1)\n    torch.cuda.manual_seed_all(1)\n"
    both = seed.replace("cuda", "npu") + "    torch.npu.manual_seed(1)\n"
    assert short_differences(text(seed), text(both)) == []
    assert parts(short_differences(text(seed), text("    torch.manual_seed(1)\n"))) == [("seed", "removed")]


def test_casts_are_told_by_their_types() -> None:
    assert short_differences(text("    net = net.half()\n"), text("    net = net.to(torch.float16)\n")) == []
    assert parts(short_differences(text(), text("    net = net.to('npu').to(torch.float16)\n"))) == [
        ("half_cast", "added")
    ]
    assert short_differences(text(), text("    net = net.to('npu')\n")) == []


def test_a_scaler_that_is_given_is_told_with_what_it_clips() -> None:
    step = "def step(net, optimizer, loss, loss_scaler, limit):\n{0}\n"
    old = step.format("    loss_scaler(loss, optimizer, clip_grad=limit, parameters=net.parameters())")
    new = step.format("    loss.backward()\n    optimizer.step()")
    call = "    step(net, None, net(torch.ones(3)).sum(), None, 1.0)\n"
    found = parts(short_differences(text(call, outside=old), text(call, outside=new)))
    assert {("loss_scale", "removed"), ("clipping", "removed")} <= set(found)


def test_a_counter_of_items_that_became_one_of_batches() -> None:
    count = "    length = 0\n    for x in data:\n        length += {0}\n    print(length)\n"
    found = short_differences(text(count.format("x[0].size(0)")), text(count.format("1")))
    assert [one[:3] for one in found] == [("evaluation", "changed", "length")]
    assert short_differences(text(count.format("x[0].size(0)")), text(count.format("len(x[0])"))) == []


def test_settings_of_groups_of_parameters() -> None:
    rate = "def adjust(optimizer, epoch):\n    wd = 0.1\n    for group in optimizer.param_groups:\n"
    rate += "        group['lr'] = 0.1\n"
    call = "    adjust(torch.optim.SGD(net.parameters(), lr=0.1), 1)\n"
    found = short_differences(
        text(call, outside=rate), text(call, outside=rate + "        group['weight_decay'] = wd\n")
    )
    assert parts(found) == [("weight_decay", "added")]


def test_elements_behind_a_mask() -> None:
    mine = "import math\ndef mining(loss, labels):\n    loss = torch.nn.functional.relu(loss)\n"
    mine += "    loss[labels > 0] = {0}\n    return loss\n"
    call = "    mining(net(torch.ones(3)), torch.ones(3))\n"
    found = short_differences(text(call, outside=mine.format("-math.inf")), text(call, outside=mine.format("1e-14")))
    assert [(one[1], one[4]) for one in found] == [("changed", "1e-14")]


def test_the_order_in_which_data_sets_are_made_says_nothing() -> None:
    data = "from torchvision import datasets, transforms\n"
    steps = "transforms.RandomHorizontalFlip(), transforms.ToTensor()"
    train = f"    train = datasets.ImageFolder('t', transforms.Compose([{steps}]))\n"
    valid = (
        "    valid = datasets.ImageFolder('v', transforms.Compose([transforms.CenterCrop(9), transforms.ToTensor()]))\n"
    )
    assert short_differences(text(train + valid, outside=data), text(valid + train, outside=data)) == []
    turned = train.replace(
        "transforms.RandomHorizontalFlip(), transforms.ToTensor()",
        "transforms.ToTensor(), transforms.RandomHorizontalFlip()",
    )
    found = parts(short_differences(text(train + valid, outside=data), text(turned + valid, outside=data)))
    assert found and set(found) == {("transform", "reordered")}

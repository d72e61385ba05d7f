import torch
from torch.utils.data import TensorDataset
from transformers import AutoModelForSequenceClassification, Trainer, TrainingArguments


class WeightedTrainer(Trainer):
    def compute_loss(self, model, inputs, return_outputs=False, num_items_in_batch=None):
        labels = inputs.pop("labels")
        logits = model(**inputs)
        weight = torch.tensor([1.0, 2.0]).cuda()
        loss = torch.nn.functional.cross_entropy(logits, labels, weight=weight)
        print("loss", loss.item())
        return (loss, logits) if return_outputs else loss


def main():
    torch.manual_seed(0)
    model = AutoModelForSequenceClassification.from_pretrained("bert-base-uncased")
    rows = TensorDataset(torch.randn(32, 4), torch.randint(0, 2, (32,)))
    args = TrainingArguments("out", per_device_train_batch_size=8, learning_rate=0.1)
    WeightedTrainer(model=model, args=args, train_dataset=rows).train()


if __name__ == "__main__":
    main()

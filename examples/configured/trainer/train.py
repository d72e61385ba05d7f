import torch
from datasets import load_dataset
from transformers import AutoModelForCausalLM, AutoTokenizer, Trainer, TrainingArguments

NAME = "Qwen/Qwen2.5-1.5B"
tokenizer = AutoTokenizer.from_pretrained(NAME)
model = AutoModelForCausalLM.from_pretrained(NAME, attn_implementation="flash_attention_3", dtype=torch.bfloat16)


def tokenize(sample):
    tokens = tokenizer(sample["text"], truncation=True, max_length=1024, padding="max_length")
    return {**tokens, "labels": tokens["input_ids"]}


data = load_dataset("json", data_files="train.json", split="train").map(tokenize)
args = TrainingArguments(
    output_dir="out",
    per_device_train_batch_size=4,
    learning_rate=1e-5,
    num_train_epochs=1,
    seed=42,
    bf16=True,
    tf32=True,
    optim="adamw_bnb_8bit",
    deepspeed="ds_config.json",
)
Trainer(model=model, args=args, train_dataset=data).train()

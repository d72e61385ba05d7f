#!/bin/bash
CUDA_VISIBLE_DEVICES=0,1,2,3,4,5,6,7 \
NPROC_PER_NODE=8 \
swift sft \
    --model Qwen/Qwen2.5-7B-Instruct \
    --tuner_type lora \
    --dataset AI-ModelScope/alpaca-gpt4-data-en \
    --torch_dtype bfloat16 \
    --quant_method bnb \
    --quant_bits 4 \
    --packing true \
    --attn_impl sdpa \
    --use_liger_kernel true \
    --ddp_backend nccl \
    --per_device_train_batch_size 1 \
    --gradient_accumulation_steps 2 \
    --learning_rate 1e-4 \
    --seed 42 \
    --output_dir output

#!/bin/bash
export CUDA_DEVICE_MAX_CONNECTIONS=1
torchrun --nproc_per_node 8 pretrain_gpt.py \
    --tensor-model-parallel-size 8 \
    --sequence-parallel \
    --num-layers 32 --hidden-size 4096 --num-attention-heads 32 \
    --seq-length 4096 --max-position-embeddings 4096 \
    --micro-batch-size 1 --global-batch-size 32 \
    --lr 1e-5 --train-iters 2000 --seed 42 \
    --tokenizer-type Llama2Tokenizer --tokenizer-model tokenizer.model \
    --data-path data/corpus_text_document \
    --transformer-impl transformer_engine \
    --fp8-format hybrid \
    --tp-comm-overlap \
    --distributed-backend nccl \
    --bf16

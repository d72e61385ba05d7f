"""Classifies images with an estimator."""
import argparse
import os
import random

import numpy as np
import tensorflow as tf

import hyper
from input_fn import make_input_fn
from model_fn import model_fn


def parse_args():
    parser = argparse.ArgumentParser()
    parser.add_argument('--data_dir', default='/data/imagenet')
    parser.add_argument('--model_dir', default='./model')
    parser.add_argument('--train_epochs', type=int, default=90)
    parser.add_argument('--batch_size', type=int, default=128)
    parser.add_argument('--base_lr', type=float, default=0.1)
    parser.add_argument('--momentum', type=float, default=0.9)
    parser.add_argument('--label_smoothing', type=float, default=0.1)
    parser.add_argument('--eval_every', type=int, default=4)
    parser.add_argument('--warm_start', default=None)
    parser.add_argument('--worker_index', type=int, default=0)
    parser.add_argument('--workers', type=int, default=1)
    return parser.parse_args()


def seed_everything(seed):
    random.seed(seed)
    np.random.seed(seed)
    tf.compat.v1.set_random_seed(seed)


def run_config(args):
    session_config = tf.compat.v1.ConfigProto(allow_soft_placement=True)
    return tf.estimator.RunConfig(
        model_dir=args.model_dir,
        tf_random_seed=hyper.SEED,
        save_checkpoints_steps=5000,
        session_config=session_config,
    )


def build_params(args):
    steps_per_epoch = hyper.NUM_TRAIN // args.batch_size
    return {
        'base_lr': args.base_lr * args.batch_size / 256,
        'momentum': args.momentum,
        'weight_decay': hyper.WEIGHT_DECAY,
        'label_smoothing': args.label_smoothing,
        'warmup_steps': 5 * steps_per_epoch,
        'boundaries': [e * steps_per_epoch for e in hyper.BOUNDARIES],
        'decays': hyper.DECAYS,
        'use_nesterov': True,
        'num_classes': 1000,
        'total_steps': args.train_epochs * steps_per_epoch,
    }


def warm_start(args):
    if args.warm_start is None:
        return None
    return tf.estimator.WarmStartSettings(args.warm_start, vars_to_warm_start='^(?!.*dense)')


def main():
    args = parse_args()
    seed_everything(hyper.SEED)
    os.makedirs(args.model_dir, exist_ok=True)
    params = build_params(args)
    estimator = tf.estimator.Estimator(model_fn, config=run_config(args), params=params,
                                       warm_start_from=warm_start(args))
    train_input = make_input_fn(args.data_dir, True, args.batch_size, args.workers, args.worker_index)
    eval_input = make_input_fn(args.data_dir, False, args.batch_size)
    steps_per_epoch = hyper.NUM_TRAIN // args.batch_size
    for _ in range(args.train_epochs // args.eval_every):
        estimator.train(train_input, steps=args.eval_every * steps_per_epoch)
        result = estimator.evaluate(eval_input, steps=hyper.NUM_EVAL // args.batch_size)
        print('top 1: %s' % result['top_1'])


if __name__ == '__main__':
    main()

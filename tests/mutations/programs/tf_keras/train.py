"""Trains a segmentation network with a loop of its own."""
import argparse
import datetime
import os

import tensorflow as tf

from config import cfg
from data import make_dataset
from losses import combined_loss
from models.unet import UNet

parser = argparse.ArgumentParser(description='segmentation')
parser.add_argument('--data', default='./cells')
parser.add_argument('--output', default='./runs')
parser.add_argument('--epochs', type=int, default=cfg.TRAIN.EPOCHS)
parser.add_argument('--resume', action='store_true')


class WarmupCosine(tf.keras.optimizers.schedules.LearningRateSchedule):
    """Linear warm-up and half a cosine."""

    def __init__(self, base, warmup_steps, total_steps, alpha=0.01):
        super().__init__()
        self.base = base
        self.warmup_steps = warmup_steps
        self.total_steps = total_steps
        self.alpha = alpha

    def __call__(self, step):
        step = tf.cast(step, tf.float32)
        warm = self.base * step / self.warmup_steps
        progress = (step - self.warmup_steps) / (self.total_steps - self.warmup_steps)
        cosine = 0.5 * self.base * (1.0 + tf.cos(3.141592 * progress))
        return tf.where(step < self.warmup_steps, warm, tf.maximum(cosine, self.alpha * self.base))


class Trainer:
    """Holds the model and what trains it."""

    clip = 1.0
    log_every = 20

    def __init__(self, model, optimizer, average_decay=0.995):
        self.model = model
        self.optimizer = optimizer
        self.average_decay = average_decay
        self.averages = [tf.Variable(v, trainable=False) for v in model.trainable_variables]
        self.loss_mean = tf.keras.metrics.Mean()
        self.iou = tf.keras.metrics.MeanIoU(num_classes=cfg.MODEL.CLASSES)

    @tf.function
    def train_step(self, images, masks):
        with tf.GradientTape() as tape:
            logits = self.model(images, training=True)
            loss = combined_loss(masks, logits) + tf.add_n(self.model.losses)
        gradients = tape.gradient(loss, self.model.trainable_variables)
        gradients = [tf.clip_by_norm(g, self.clip) for g in gradients]
        self.optimizer.apply_gradients(zip(gradients, self.model.trainable_variables))
        for average, variable in zip(self.averages, self.model.trainable_variables):
            average.assign(self.average_decay * average + (1.0 - self.average_decay) * variable)
        return loss

    @tf.function
    def eval_step(self, images, masks):
        logits = self.model(images, training=False)
        self.iou.update_state(masks, tf.argmax(logits, axis=-1))

    def fit(self, train_set, eval_set, epochs):
        for epoch in range(epochs):
            self.loss_mean.reset_states()
            for step, (images, masks) in enumerate(train_set):
                loss = self.train_step(images, masks)
                self.loss_mean.update_state(loss)
                if step % self.log_every == 0:
                    print(f'epoch {epoch} step {step} loss {self.loss_mean.result():.4f}')
            if epoch % cfg.TRAIN.EVAL_EVERY == 0:
                self.evaluate(eval_set)

    def evaluate(self, eval_set):
        self.iou.reset_states()
        for images, masks in eval_set:
            self.eval_step(images, masks)
        print('iou', float(self.iou.result()))


def build_optimizer(steps_per_epoch, epochs):
    schedule = WarmupCosine(cfg.TRAIN.LR, cfg.TRAIN.WARMUP_EPOCHS * steps_per_epoch, epochs * steps_per_epoch)
    return tf.keras.optimizers.Adam(learning_rate=schedule, beta_1=0.9, beta_2=0.999, epsilon=1e-8)


def main():
    args = parser.parse_args()
    tf.random.set_seed(cfg.SEED)
    train_set = make_dataset(args.data, 'train', cfg.TRAIN.BATCH_SIZE, shuffle=True)
    eval_set = make_dataset(args.data, 'valid', cfg.TEST.BATCH_SIZE, shuffle=False)
    model = UNet(classes=cfg.MODEL.CLASSES, width=cfg.MODEL.WIDTH, dropout=cfg.MODEL.DROPOUT)
    model.build((None, cfg.DATA.SIZE, cfg.DATA.SIZE, 3))
    optimizer = build_optimizer(cfg.TRAIN.STEPS_PER_EPOCH, args.epochs)
    if args.resume:
        model.load_weights(os.path.join(args.output, 'last'))
    if cfg.MODEL.FREEZE_STEM:
        model.stem.trainable = False
    trainer = Trainer(model, optimizer)
    trainer.fit(train_set, eval_set, args.epochs)
    model.save_weights(os.path.join(args.output, 'last'))


if __name__ == '__main__':
    main()

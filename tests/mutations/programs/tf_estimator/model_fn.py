"""Model function of the estimator."""
import tensorflow as tf

import resnet


def learning_rate(params, global_step):
    step = tf.cast(global_step, tf.float32)
    warmup = params['base_lr'] * step / float(params['warmup_steps'])
    values = [params['base_lr'] * d for d in params['decays']]
    decayed = tf.compat.v1.train.piecewise_constant(global_step, params['boundaries'], values)
    return tf.where(global_step < params['warmup_steps'], warmup, decayed)


def l2_penalty(weight_decay):
    kept = [v for v in tf.compat.v1.trainable_variables() if 'batch_norm' not in v.name]
    return weight_decay * tf.add_n([tf.nn.l2_loss(tf.cast(v, tf.float32)) for v in kept])


def metrics(labels, logits):
    return {
        'top_1': tf.compat.v1.metrics.accuracy(labels, tf.argmax(logits, axis=1)),
        'top_5': tf.compat.v1.metrics.mean(tf.nn.in_top_k(labels, logits, k=5)),
    }


def model_fn(features, labels, mode, params):
    training = mode == tf.estimator.ModeKeys.TRAIN
    logits = resnet.build(features, training, params['num_classes'])
    one_hot = tf.one_hot(labels, params['num_classes'])
    cross_entropy = tf.compat.v1.losses.softmax_cross_entropy(
        one_hot, logits, label_smoothing=params['label_smoothing'])
    loss = cross_entropy + l2_penalty(params['weight_decay'])
    if mode == tf.estimator.ModeKeys.EVAL:
        return tf.estimator.EstimatorSpec(mode, loss=loss, eval_metric_ops=metrics(labels, logits))

    global_step = tf.compat.v1.train.get_or_create_global_step()
    rate = learning_rate(params, global_step)
    optimizer = tf.compat.v1.train.MomentumOptimizer(rate, params['momentum'], use_nesterov=params['use_nesterov'])
    update_ops = tf.compat.v1.get_collection(tf.compat.v1.GraphKeys.UPDATE_OPS)
    with tf.control_dependencies(update_ops):
        train_op = optimizer.minimize(loss, global_step=global_step)
    return tf.estimator.EstimatorSpec(mode, loss=loss, train_op=train_op)

"""Maps names of settings in options and configurations to parts of the training config."""

from __future__ import annotations

from functools import cache

from npulint.core.lazy_regex import lazy_compile

_HUMPS = lazy_compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")
_NO_WORDS = lazy_compile(r"[^a-z0-9]+")
_LONGEST = 80  # characters of a name that are matched

# Patterns are searched in a name whose words are separated by underscores: `_train_batch_size_`. The first match
# decides; an empty part means that the setting does not affect the numbers of a training.
_RULES: tuple[tuple[str, str], ...] = (
    (
        "loss_scale",
        r"_loss_?scal(?:e|er|ing)_|_scale_loss_|_lossscale|_(?:incr|decr)_(?:every|ratio)|_growth_(?:interval|factor)_"
        r"|_(?:init|initial)_scale_|_scale_window_|_grad_scal(?:er|e)_|_backoff_factor_",
    ),
    ("mix_list", r"_mix_?list_|_modify_mixlist_|_(?:black|white|gray)_?list_"),
    (
        "iterations_per_loop",
        r"_(?:iterations?|iters?|steps)_per_(?:training_|train_|tpu_|host_)?loop_|_host_call_every_n_",
    ),
    (
        "evaluation",
        r"_(?:eval|evaluation|val|valid|validation|test|testing|dev|predict|prediction|infer|inference)_.*batch",
    ),
    (
        "batch_size",
        r"_batch_?sizes?_|_bs_|_bsz_|_bz_|_mini_?batch(?:es)?_|_batch_$|_batch_(?:train|per_gpu|num|image|per_device)_"
        r"|_(?:samples|imgs|images|sentences|tokens|ims)_per_(?:gpu|batch|device|npu|card|step)_|_max_tokens_|_batchsz_"
        r"|_batchs_|_batchsize\w*_",
    ),
    (
        "dropout",
        r"_drop_?out|_drop_(?:path|rate|block|connect|prob|keep|ratio)_|^_drop_$|_keep_prob|_dropblock_|_dropconnect_"
        r"|_droppath_|_stochastic_depth_|_survival_prob_|_p_drop_|_zoneout_|_layerdrop_",
    ),
    ("clipping", r"_clip|_grad(?:ient)?_?norm_|_max_?(?:grad|gradient)_?norm_|_max_norm_|_gradient_threshold_"),
    ("transform", r"_mix_?up_|_cutmix_|_aug_|_augs_|_remode_"),
    (  # of the adapter, its diagnostics and other platforms
        "",
        r"_(?:over_dump|data_dump|dump|profiling|profiler|profile|prof|fusion_off|fusion_switch|auto_?tune|hcom|hccl|nccl"
        r"|xla|tpu|gcp|modelarts|obs|bigquery|etp|nvtx|trace|tensorrt|trt|onnx|opset|torchscript|jit|static|"
        r"op_select|enable_scope|enable_exception|graph_memory|variable_memory|aicore)_",
    ),
    (
        "",
        r"_(?:data|train)_url_|_(?:quiet|verbose|verbosity|debug|dry_run|run_eagerly|has_\w+|\w+_available|workspace|workspace_size)_"
        r"|^_(?:help|version|force|yes|config|cfg|conf|configs|options|opts|cfg_options|hparams|hyp|params_override|input|inputs|output|outputs|out"
        r"|outf|data|data_?root|result|results|source|src|dest|dst|format|gt|ref|type|performance|perf|clean|hooks|sys|params|_+)_$"
        r"|_\w*[a-z](?:dir|path|folder|root)_$",
    ),
    (
        "precision_mode",
        r"_precision_mode_|_(?:mix|mixed)_precision_|^_precision_|_dtype_|_data_type_|_compute_type_|_allow_fp32_",
    ),
    (
        "autocast",
        r"_amp_|_apex_|_(?:fp|bf|float|bfloat)_?16_|_half_|_opt_level_|_autocast_|_keep_batchnorm_fp32_|_use_half_"
        r"|_(?:fp|float)_?32_|_tf32_|_hf32_",
    ),
    (
        "checkpoint",
        r"_pre_?train(?:ed)?_(?:$|model|weights?|path|file|checkpoint|ckpt|backbone|net|dir|on|params?|bert|imagenet|url)"
        r"|_(?:init|initial|restore|resume|load)_(?:checkpoint|ckpt|model|weights?|from|path|file|dir|pretrained"
        r"|snapshot|g|d|net|epoch)_|_(?:resume|restore|reload|warm_start|pre_?trained|finetune|fine_?tun(?:e|ing)"
        r"|continue_train|from_scratch)_|^_weights_$|_(?:load|checkpoint|ckpt|snapshot|trained_model|trained_weights)_$|_no_resume_|_warm_start_from_",
    ),
    (
        "",
        r"_(?:input|output|out|source|src|dest|dst|target|result|results|save|saved|work|tmp|temp|cache|model|log|data)_"
        r"(?:path|dir|directory|folder|file|files|root|prefix|format|url)s?_",
    ),
    (
        "",
        r"_(?:path|paths|dir|dirs|directory|folder|filename|filenames|file|files|root|url|uri|port|ip|addr|address"
        r"|hosts?|hostname|logdir|tmpdir|outdir|savedir|workdir|csv|json|txt|pkl|h5|pb)_",
    ),
    (
        "",
        r"_(?:logs?|logger|logging|print|printing|display|show|plot|visuali[sz]e|visuali[sz]ation|vis|viz|visdom"
        r"|tensorboard|tb|wandb|mlflow|summary|summaries|save|saved|saving|saver|export|keep|keep_max|snapshot|prints|email"
        r"|title|legend|style|report|record_loss|progress|bar|html|image_path|sample_dir)_",
    ),
    (
        "",
        r"_(?:readers|nnodes|workers?|n_?workers|num_?workers|threads?|nthreads|nproc|n_?proc|processes|process|ranks?|local_rank"
        r"|world_size|worldsize|gpus?|ngpus?|gpu_?ids?|cuda|no_cuda|cpus?|devices?|npus?|nnpu|ascend|davinci|chip"
        r"|backend|distributed|multiprocessing|master|nodes?|cores|cluster|launcher|platform|dist_url|ddp|horovod|hvd"
        r"|parallel|parallelism|dataparallel|pin|memory|prefetch|prefetcher|cache|caching|ram|op_parallelism"
        r"|placement|allow_growth|parameter_servers?|ps|task_index|task_id|job|distribution|all_reduce|zone|strategy"
        r"|channels_last|data_format|use_multi_epochs_loader)_",
    ),
    (
        "determinism",
        r"_deterministic_|_determinism_|_cudnn_|_reproduc|_benchmark_$",
    ),
    ("seed", r"_seeds?_|_random_?seed_|_rng_|_manual_?seed_|_random_state_"),
    (
        "",
        r"_do_(?:train|eval|predict|test|export)_|^_(?:(?:is|only|just|run|for|use|no)_)?(?:evaluate|eval|test|train|predict|infer|mode"
        r"|phase|action|command|cmd|stage|inference|validate|validation|verify|training|testing|onlyeval|val)(?:_only|_mode|_phase)?_$"
        r"|_format_only_",
    ),
    (
        "learning_rate",
        r"_lr_mult_",
    ),
    (
        "update",
        r"_accum(?:ulate|ulation|ulated)?_|_grad_?accum|_gradient_accumulation|_iter_size_|_subdivisions?_"
        r"|_update_freq_|_n_?critic_|_critic_iters?_|_d_iters?_|_batch_split_|_update_interval_",
    ),
    (
        "",
        r"_(?:interval|intervals|freq|frequency|every|every_n|period|hist|between|per_save)_(?!.*(?:lr|decay|update|step_lr))"
        r"|_(?:n_iter|iters?|steps?|epochs?)_(?:per|between)_(?:save|log|print|eval|evals|display|checkpoint|summary)_"
        r"|_start_(?:epoch|iter|step)_|_last_epoch_|_benchmark|_(?:checkpoints?|ckpt)_|_(?:timeout|time|times)_$"
        r"|_(?:name|names|id|ids|uid|tag|tags|prefix|suffix|comment|note|notes|desc|description|expr?|experiment"
        r"|author|project|version|title|ext|extension)_$(?<!model_name_)(?<!dataset_name_)(?<!task_name_)(?<!data_name_)"
        r"(?<!net_name_)(?<!network_name_)(?<!optimizer_name_)(?<!backbone_name_)(?<!arch_name_)(?<!loss_name_)"
        r"(?<!scheduler_name_)(?<!encoder_name_)(?<!warmup_prefix_)",
    ),
    (
        "split",
        r"_(?:train|val|valid|validation|test|dev|eval)_(?:split|ratio|fraction|frac|portion|percent|percentage|set|subset|fold)_"
        r"|_splits?_$|_fold_|_folds_|_k_fold_|_(?:val|validation)_size_|_validation_split_|_resplit_|_holdout_",
    ),
    (
        "evaluation",
        r"_(?:eval|evaluate|evaluation|val|valid|validation|test|testing|dev|predict|prediction|infer|inference)_"
        r"|_(?:nms|conf_thres|conf_threshold|iou_thres|iou_threshold|score_threshold|confidence|metrics?|top_?k|n_best_size"
        r"|max_answer_length|null_score_diff_threshold|tta|beam|beam_size|beam_width|length_penalty|best_acc"
        r"|stop_threshold|include_outliers|ensemble)_",
    ),
    ("average", r"_ema_|_model_ema_|_moving_average|_averag|_swa_|_polyak_|_exponential_moving_"),
    (
        "layer",
        r"_(?:bn|batch_?norm|norm|layer_?norm|gn|sync_?bn)_(?:eps|epsilon|momentum|mom|decay|tf|type|mode|layer)_"
        r"|_(?:sync_?bn|syncbn|split_bn|dist_bn|use_bn|batch_?norm|fuse_conv_bn|freeze_bn)_",
    ),
    ("loss", r"_focal_|_fl_gamma_"),
    (
        "weight_decay",
        r"_decay_mult_|_weight_?decays?_|_wd_|_wdecay_|_decay_weight_|_decay_weights_|_weight_decay_rate_|_no_weight_decay_|_l2_decay_",
    ),
    (
        "schedule",
        r"_warm_?ups?_|_warm_?up|_milestones?_|_schedul(?:e|er|es|ers|ing)_|_sched_|_anneal|_cosine_|_cooldown|_lrf_"
        r"|_(?:lr|learning_rate)_(?:policy|mode|type|strategy|decay|steps?|step_size|drop|drops|factor|gamma|power|noise|"
        r"cycle|min|max|end|final|scheduler|schedule|milestones?|boundaries|update|mult|multi|ratio|config|step_epoch|"
        r"decay_\w+|step_\w+|noise_\w+|cycle_\w+)_|_(?:min|end|final|minimum|stop|eta_min|warm)_(?:lr|learning_rate)_"
        r"|_(?:lr|learning_?rate)decay_|_eta_min_|_lrdecay_|_lr_?decay|_t_max_|_boundaries_|_patience_|_plateau_"
        r"|_decay_(?:steps?|epochs?|rate|factor|every|iters?|interval|start|after|type|step_size|begin|gamma|power|freq|ratio|step_num)_"
        r"|_(?:rate|step|steps|epoch|epochs|exponential|linear|poly|polynomial|n_iter|niter|iters?)_decay_|_niter_decay_|_gamma_"
        r"|_step_?size_|_steps?_lr_|_adjust_(?:lr|learning_rate)|_restarts?_|_num_epochs_per_decay_|_hold_epochs?_|_lr_gamma_"
        r"|_poly_power_|_power_$|_decay_$(?<!weight_decay_)(?<!average_decay_)(?<!wd_decay_)",
    ),
    (
        "learning_rate",
        r"_(?:lr|lrs|learning_?rates?|learnrate|learning_r|blr|lr\d|base_?lr|init_?lr|lrate|eta|lr_?[gd]|[gd]_?lr)_",
    ),
    (
        "momentum",
        r"_momentums?_|_mom_|_betas?_?[12]?_(?:$|\d)|_beta_[12]_|_nesterov_|_(?:adam|opt|optimizer)_betas?|_rho_|_dampening_",
    ),
    (
        "optimizer",
        r"^_(?:eps|epsilon)_$|_optimi[sz]ers?_|_optim_|_opt_$|_(?:adam|opt|optimizer|optim)_(?:eps|epsilon|type|name|alg|kind|w)_"
        r"|_use_(?:adam|adamw|sgd|lamb|lars|rmsprop)_|_(?:adam|lamb|lars|rmsprop|adagrad|adadelta|ftrl)_",
    ),
    ("drop_remainder", r"_drop_(?:remainder|last|final)_|_droplast_"),
    ("reduction", r"_sync_replicas_|_replicas_to_aggregate_|_reduction_|_gradient_predivide_|_find_unused_"),
    ("shuffle", r"_shuffl|_no_shuffle_"),
    ("repeat", r"_repeats?_|_dupe_factor_"),
    ("shard", r"_shards?_|_sharding_|_num_shards_"),
    ("sampler", r"_sampler_|_sampling_|_n_?samples_|_balanced?_|_oversampl|_class_weights_sampling_"),
    (
        "dataset",
        r"_data_?sets?_$|_data_?set_(?:name|type|impl|mode|size|version)_|_data_name_|_datasets?_|_corpus_|_task_name_"
        r"|_(?:source|target|src|tgt)_lang_|_data_version_|_use_synthetic|_synthetic_|_fake_data_|_train_data_$"
        r"|_(?:num|n)_(?:train_)?(?:examples|images|samples|imgs)_|_train_(?:size|num)_|_data_type_|_(?:train|training)_(?:set|data)_",
    ),
    (
        "epochs",
        r"(?<!_per)_n?_?epochs?_|_nepochs?_|_num_?epochs?_|_epoch_num_|_max_?epochs?_|_epoches_|_epoch_nums?_|_nb_?epochs?_|_epochs_\w+_",
    ),
    (
        "steps",
        r"_steps?_|_iterations?_|_iters?_|_n_?iters?_|_max_?iters?_|_num_?steps_|_niters?_|_max_?steps?_|_stepnum_|_total_batch_",
    ),
    (
        "initialisation",
        r"_init_(?:type|gain|std|stddev|method|scale|weights?|range|mode|value|bias|func|fn|var|variance)_|_initiali[sz]er|"
        r"_initiali[sz]ation_|_xavier_|_kaiming_|_stddev_|_weight_init_|_init_$",
    ),
    ("frozen", r"_freez(?:e|ed|ing)|_frozen_|_trainable_|_fixed_layers_|_unfreez"),
    (
        "loss",
        r"_label_?smooth|_smoothing_|_smooth_|_loss(?:es)?_|_lambdas?_|_lambda|_focal_|_coefs?_|_coeff?s?_|_margin_|_criterion_"
        r"|_(?:class|cls|obj|box|aux|kl|gp|rec|recon|cycle|identity|adv|gan|mse|l1|dice|ce|bce|content|style|tv|perceptual|loss)"
        r"_(?:weights?|w|lambda|coef|gain|pw)_|_weight_(?:loss|kl|rec|gan|l1|cycle|adv|identity)_|_pos_weight_|_class_weights?_"
        r"|_gradient_penalty_|_gp_|_temperature_|_tau_|_fl_gamma_|_criterion_type_",
    ),
    (
        "regularisation",
        r"_l[12]_|_reg_|_l[12]_?(?:reg|loss|lambda|scale|weight|penalty|norm)|_regulari[sz]|_orthogonal_|_spectral_norm_",
    ),
    (
        "transform",
        r"_(?:crop|crops|resize|resized|resizing|flip|flips|hflip|vflip|fliplr|flipud|mirror|jitter|color|colour|brightness|contrast"
        r"|saturation|hue|hsv|augment|augmented|augmentation|augmentations|aug|augs|aug_splits|no_aug|aa|auto_?augment|rand_?augment|mixup"
        r"|mixup_\w+|mix_up|cutmix|cutmix_\w+|cut_?out|cutout|mosaic|reprob|remode|recount|erase|erasing|rotate|rotation|degrees?|angle"
        r"|translate|shear|perspective|scales|ratio|interpolation|mean|std|means|stds|rgb_mean|pixel_mean|pixel_std|normali[sz]e|normali[sz]ation"
        r"|normalizer|resolution|multi_?scale|preprocess|preprocessing|whiten|pad|padding|crop_pct|distort|sample_rate|n_fft|hop_length|"
        r"win_length|hop_size|win_size|n_mels|n_mfcc|mel|fmin|fmax|do_lower_case|lower_case|lowercase|case|doc_stride|max_seq_length|"
        r"max_query_length|max_seq_len|max_length|max_len|maxlen|seq_len|seq_length|sequence_length|short_seq_prob|masked_lm_prob|"
        r"max_predictions_per_seq|mask_prob|do_whole_word_mask|whole_word_mask|num_points?|npoints?|trim|fps|frames|num_frames|clip_len|"
        r"multiscale|rect|square|keep_ratio|gray|grayscale|train_interpolation|no_flip|load_size|fine_size|patch)_"
        r"|_(?:image|img|input|im|in|load|fine|crop|train|patch|train_image|frame|video|net|network|resize)_?(?:size|sz|height|width|shape|res"
        r"|dim|resolution|scale|h|w|length)s?_|_imgsz_|_imsize_|_image(?:size|height|width)_|^_(?:img|size|height|width|shape|length)_$",
    ),
    (
        "layer",
        r"_(?:arch|architecture|model|models|backbone|encoder|decoder|net|network|layers?|num_?layers|n_?layers|depth|width_mult|"
        r"widen_factor|growth|growth_rate|hidden|nhid|hidden_?(?:size|dim|units|layers|num)|filters?|channels?|nc|nf|ngf|ndf|heads?|n_?heads?|"
        r"embed|embedd?ings?|emb|emsize|dims?|num_?classes|n_?classes|nclasses|class_num|classes|vocab_?size|activation|act|relu|leaky|kernel|"
        r"kernels|kernel_size|dilation|dilations|stride|strides|patch_size|units|num_?units|features?|nfeat|bottleneck|attention|attn|"
        r"transformer|rnn|lstm|gru|cell|bidirectional|residual|blocks?|n_?blocks|cardinality|expansion|anchors?|groups|reduction|se|"
        r"pool|pooling|z_dim|nz|latent|noise_dim|code_size|upsample|deconv|conv|head|neck|stem|use_one_hot_embeddings|bert|version|variant"
        r"|multiplier|compress|theta|tie_weights)_",
    ),
)
_COMPILED = tuple((part, lazy_compile(pattern)) for part, pattern in _RULES)


@cache
def setting_part(name: str) -> str:
    """The part (a key of `npulint.facts.recipe.ITEM_OF`) of a setting of this name: `setting` if unrecognized, empty if
    it does not affect numbers (paths, logs, devices, names of experiments …)."""
    words = f"_{_NO_WORDS.sub('_', _HUMPS.sub('_', name[:_LONGEST]).lower()).strip('_')}_"
    if words == "__":
        return ""
    for part, pattern in _COMPILED:
        if pattern.search(words):
            return part
    return "setting"

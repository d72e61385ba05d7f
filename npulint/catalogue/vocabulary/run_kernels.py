"""Kinds of facts that kernel tables of a run have, and the one that every file of a run has."""

from __future__ import annotations

from npulint.catalogue.vocabulary.words import ANY, FLAG, Kinds, plain, words

FORMS = words(
    "kernel_table op_statistic api_statistic step_trace step_trace_time cluster_step_trace_time operator_details aicpu "
    "fusion_op task_time l2_cache memory_record module_memory operator_memory static_memory comparison trace "
    "communication communication_matrix communication_group profiler_info profiler_metadata device_info sample_info "
    "construct overflow fusion_result fusion_switch statistics_dump anomaly rank_table training_trace trace_summary "
    "comparison_advice precision_console series_table log events database overflow_dump tensor_dump"
)

FAMILIES = words("layout matrix foreach cast sum resize random stack python patches input arithmetic other")

KERNELS: Kinds = {
    "run_source": plain(
        form=FORMS,
        generation=ANY,
        rows=ANY,
        malformed=ANY,
        first_malformed=ANY,
        missing=ANY,
        note=words("empty header unread older first no-npu"),
    ),
    "run_kernels": plain(
        level=words("operators times none"),
        kernels=ANY,
        named=ANY,
        steps=ANY,
        compute_us=ANY,
        communication_us=ANY,
        communications=ANY,
        wait_us=ANY,
        aicpu=ANY,
        layout_us=ANY,
        layout_share=ANY,
        dynamic=ANY,
        dynamic_repeated=ANY,
        cube_us=ANY,
        cube_share=ANY,
        cube_float=ANY,
        cube_hf32=ANY,
    ),
    "run_op": plain(
        core=ANY,
        dtype=ANY,
        data_dtype=ANY,
        family=FAMILIES,
        wide=ANY,
        wide_result=ANY,
        single=words("yes no"),
        block=ANY,
        mix_block=ANY,
        cores=ANY,
        idle=ANY,
        count=ANY,
        total_us=ANY,
        share=ANY,
        max_us=ANY,
        mean_us=ANY,
        wait_us=ANY,
        dynamic=ANY,
        hf32=FLAG,
        node=ANY,
        shapes=ANY,
        dtypes=ANY,
        formats=ANY,
        out_shapes=ANY,
        out_dtypes=ANY,
        out_formats=ANY,
        rank=ANY,
        type_rank=ANY,
        type_share=ANY,
        type_us=ANY,
        type_count=ANY,
        leads=words("yes no"),
        table=ANY,
    ),
    "run_family": plain(
        form=words("kernel_table op_statistic"),
        covered=words("yes no"),
        count=ANY,
        types=ANY,
        total_us=ANY,
        share=ANY,
        rank=ANY,
        max_us=ANY,
        node=ANY,
        aicpu_us=ANY,
        float_share=ANY,
        hf32_share=ANY,
    ),
    "run_pair": plain(
        **{"from": ANY},
        to=ANY,
        between=ANY,
        direct=words("yes no"),
        rank=ANY,
        count=ANY,
        total_us=ANY,
        share=ANY,
        node=ANY,
    ),
    "run_repeated": plain(
        steps=ANY,
        shapes=ANY,
        count=ANY,
        per_step=ANY,
        mean_us=ANY,
        mean_wait_us=ANY,
        waits=words("yes no"),
        rank=ANY,
        total_us=ANY,
        share=ANY,
        node=ANY,
    ),
    "run_small": plain(
        steps=ANY,
        count=ANY,
        per_step=ANY,
        median_us=ANY,
        total_us=ANY,
        share=ANY,
        foreach_share=ANY,
        foreach_count=ANY,
    ),
}

"""The names of Spark's aggregate functions."""

from __future__ import annotations

from sqlglot import exp

AGGREGATES = frozenset(
    """any any_value approx_count_distinct approx_percentile approx_top_k approx_top_k_accumulate array_agg avg bit_and
    bit_or bit_xor bitmap_and_agg bitmap_construct_agg bitmap_or_agg bool_and bool_or collect_list collect_set corr
    count count_if count_min_sketch covar_pop covar_samp every first first_value histogram_numeric hll_sketch_agg
    hll_union_agg kll_merge_agg_bigint kll_merge_agg_double kll_merge_agg_float kll_sketch_agg_bigint
    kll_sketch_agg_double kll_sketch_agg_float kurtosis last last_value listagg max
    max_by mean measure median min min_by mode percentile percentile_approx percentile_cont percentile_disc product
    regr_avgx regr_avgy regr_count regr_intercept regr_r2 regr_slope regr_sxx regr_sxy regr_syy schema_of_variant_agg
    skewness some std stddev stddev_pop stddev_samp string_agg sum theta_intersection_agg theta_sketch_agg
    theta_union_agg try_avg try_sum var_pop var_samp variance""".split()  # noqa: SIM905
)


def aggregate_name(node: exp.Expr) -> str | None:
    """The name, in lower case, of the aggregate function that a node calls; None where it calls none."""
    if not isinstance(node, exp.Anonymous) or not isinstance(node.this, str):
        return None
    name = node.this.lower()
    return name if name in AGGREGATES else None


def has_aggregate(node: exp.Expr) -> bool:
    """True if an expression calls an aggregate function, at any depth."""
    return any(aggregate_name(call) for call in node.find_all(exp.Anonymous))

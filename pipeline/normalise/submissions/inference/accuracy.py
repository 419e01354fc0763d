"""The accuracy that a submission declares, in the form of the published tables.

Belongs here: finding the metrics in an ``accuracy.txt``. Which of them a benchmark publishes
stands in ``vocabulary/accuracy_metrics.csv``; the values are carried, not checked.
"""

import re

import polars as pl

from pipeline.normalise.vocabulary import entries

METRICS = {
    "acc": rb'^(?:\{"accuracy|accuracy)[": ]*=?\s*([\d.]+)',
    "AUC": rb"^AUC=([\d.]+)",
    "DLRM_NE": rb"metric/lifetime_ne/rating:\s*([\d.]+)",
    "DLRM_ACC": rb"metric/lifetime_accuracy/rating:\s*([\d.]+)",
    "DLRM_AUC": rb"metric/lifetime_gauc/rating:\s*([\d.]+)",
    "mAP": rb"(?:mAP=|'Total':)\s*([\d.]+)",
    "bleu": rb"^BLEU:\s*([\d.]+)",
    "F1": rb"^\{[\"']exact_match[\"']:\s*[\d.]+,\s*[\"']f1[\"']:\s*([\d.]+)\}",
    "F1_HIERARCHICAL": rb'\{"f1":\s*([\d.]+)',
    "WER": rb"Word Error Rate:.*, accuracy=([\d.]+)%",
    "ACCURACY": rb"Word Error Rate:.*, accuracy=([\d.]+)%",
    "DICE": rb"Accuracy:\s*mean\s*=\s*([\d.]+)",
    "ROUGE1": rb"'rouge1':\s+'?([\d.]+)",
    "ROUGE2": rb"'rouge2':\s+'?([\d.]+)",
    "ROUGEL": rb"'rougeL':\s+'?([\d.]+)",
    "ROUGELSUM": rb"'rougeLsum':\s+'?([\d.]+)",
    "GEN_LEN": rb"'gen_len':\s(?:np\.int64\()?([\d.]+)",
    "TOKENS_PER_SAMPLE": rb"'tokens_per_sample':\s(?:np\.float64\()?([\d.]+)",
    "CLIP_SCORE": rb"'CLIP_SCORE':\s+'?([\d.]+)",
    "FID_SCORE": rb"'FID_SCORE':\s+'?([\d.]+)",
    "gsm8k_accuracy": rb"'gsm8k':\s([\d.]+)",
    "mbxp_accuracy": rb"'mbxp':\s([\d.]+)",
    "exact_match": rb"'exact_match':\s([\d.]+)",
    "vbench_score": rb"'vbench_score':\s([\d.]+)",
}
"""How the evaluation scripts write each metric, by the name that tables publish it under."""

_PATTERNS = {metric: re.compile(text, re.MULTILINE) for metric, text in METRICS.items()}


def accuracy_fields(content: bytes) -> dict[str, str]:
    """Read every metric that an ``accuracy.txt`` states; of several statements the last counts."""
    found = {metric: pattern.findall(content) for metric, pattern in _PATTERNS.items()}
    return {metric: values[-1].decode() for metric, values in found.items() if values}


def published_accuracy() -> pl.Expr:
    """Return the metrics that the benchmark publishes, as ``KEY: value`` pairs, or null.

    The frame has ``canonical_benchmark`` and a column for each metric.
    """
    accuracy = pl.lit(None, dtype=pl.String)
    for line in entries("accuracy_metrics"):
        pairs = [pl.concat_str(pl.lit(f"{m}: "), pl.col(m)) for m in line["metrics"].split("|")]
        stated = pl.concat_str(pairs, separator="  ", ignore_nulls=True)
        is_benchmark = pl.col("canonical_benchmark") == line["benchmark"]
        accuracy = pl.when(is_benchmark).then(stated).otherwise(accuracy)
    return accuracy.replace("", None)

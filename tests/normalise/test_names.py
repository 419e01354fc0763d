import pytest

from pipeline.normalise.names import (
    Accelerator,
    Benchmark,
    Submitter,
    describe_accelerator,
    describe_benchmark,
    describe_submitter,
    plain,
    weight_data_types,
)
from pipeline.rounds import known_rounds

INFERENCE = known_rounds()["inference-6.0"]
TRAINING = known_rounds()["training-4.1"]

MI300X, MI325X, MI355X = (f"AMD Instinct MI{number}X" for number in (300, 325, 355))
MIXED = f"heterogeneous: {MI300X} + {MI325X}"


@pytest.mark.parametrize(
    ("published", "product", "vendor", "memory", "cap", "count"),
    [
        ("NVIDIA H200", "NVIDIA H200-SXM", "NVIDIA", 141, None, None),
        ("NVIDIA H200-SXM-141GB", "NVIDIA H200-SXM", "NVIDIA", 141, None, None),
        ("NVIDIA H200-NVL-141GB", "NVIDIA H200-NVL", "NVIDIA", 141, None, None),
        ("NVIDIA H100 80GB HBM3", "NVIDIA H100-SXM", "NVIDIA", 80, None, None),
        ("Virtualized NVIDIA H100-SXM-80GB", "NVIDIA H100-SXM", "NVIDIA", 80, None, None),
        ("NVIDIA H100-PCIe-80GB", "NVIDIA H100-PCIe", "NVIDIA", 80, None, None),
        ("AMD MI300X-NPS1-SPX-192GB-750W", MI300X, "AMD", 192, None, None),
        ("AMD Instinct MI355X 288GB HBM3e (x87)", MI355X, "AMD", 288, None, 87),
        (
            "AMD Instinct MI355X 288GB HBM3e (Power Cap 1000 W)",
            f"{MI355X} (1000 W cap)",
            "AMD",
            288,
            1000,
            None,
        ),
        ("AMD Instinct MI325X 256GB HBM3E", MI325X, "AMD", 256, None, None),
        ("AMD Instinct MI350X", "AMD Instinct MI350X", "AMD", 288, None, None),
        ("AMD Instinct MI350X 288GB HBM3e", "AMD Instinct MI350X", "AMD", 288, None, None),
        ("MS-Intel Arc Pro B60 Dual 48G Turbo", "Intel Arc Pro B60 Dual", "Intel", 48, None, None),
        (
            "[MAXSUN] MS-Intel Arc Pro B60 Dual 48G Turbo",
            "Intel Arc Pro B60 Dual",
            "Intel",
            48,
            None,
            None,
        ),
        ("NVIDIA\u00a0GB300 ", "NVIDIA GB300", "NVIDIA", 288, None, None),
        ("NVIDIA H100\u2011NVL\u201194GB", "NVIDIA H100-NVL", "NVIDIA", 94, None, None),
        ("TPU v6", "Google TPU v6e (Trillium)", "Google", 32, None, None),
    ],
)
def test_a_published_string_names_one_product(
    published: str, product: str, vendor: str, memory: int, cap: int | None, count: int | None
) -> None:
    assert describe_accelerator(published) == Accelerator(
        product, vendor, memory, cap, count_in_name=count
    )


@pytest.mark.parametrize(
    ("published", "product", "count"),
    [
        (
            f"{MI300X} 192GB HBM3 (x8) and {MI325X} 256GB HBM3e (x8) and {MI355X} 288GB HBM3e (x8)",
            f"{MIXED} + {MI355X}",
            24,
        ),
        (f"{MI300X} 192GB HBM3 (x32), {MI325X} 256GB HBM3e (x16)", MIXED, 48),
        (f"{MI300X} 192GB HBM3 (x32) {MI325X} 256GB HBM3e (x16)", MIXED, 48),
        (f"{MI325X} 256GB HBM3E (x16), {MI300X} 192GB HBM3 (x8)", MIXED, 24),
    ],
)
def test_several_counted_products_are_one_mixed_system(
    published: str, product: str, count: int
) -> None:
    assert describe_accelerator(published) == Accelerator(
        product, "AMD", is_heterogeneous=True, count_in_name=count
    )


def test_a_mixed_system_keeps_the_cap_of_each_part_and_names_each_maker() -> None:
    mixed = describe_accelerator(
        f"NVIDIA H200-SXM-141GB (x8), {MI355X} 288GB HBM3e (x8) (Power Cap 1000 W)"
    )
    assert mixed.accelerator == f"heterogeneous: {MI355X} (1000 W cap) + NVIDIA H200-SXM"
    assert mixed.accelerator_vendor == "AMD + NVIDIA"


def test_one_product_counted_in_parts_is_that_product_and_the_sum() -> None:
    assert describe_accelerator("NVIDIA GB200 (x72) and NVIDIA GB200 (x8)") == Accelerator(
        "NVIDIA GB200", "NVIDIA", 186, count_in_name=80
    )


def test_a_mixed_system_with_a_part_that_cannot_be_read_is_not_known() -> None:
    assert describe_accelerator("NVIDIA GB200 (x8), NVIDIA GB300 (x8)").is_known
    assert not describe_accelerator("NVIDIA GB200 (x8), NVIDIA GB300 (x8), Acme").is_known
    assert not describe_accelerator("NVIDIA GB200 (x8), Acme TNT (x8)").is_known


@pytest.mark.parametrize("published", ["", " ", "-", "N/A", "n/a", "None", "\u00a0", None])
def test_cpu_only_systems_have_no_accelerator(published: str | None) -> None:
    assert describe_accelerator(published) == Accelerator()


def test_an_unknown_accelerator_is_kept_as_published_and_has_no_vendor() -> None:
    assert describe_accelerator("NVIDIA R300  (x4)") == Accelerator(
        "NVIDIA R300", count_in_name=4, is_known=False
    )


@pytest.mark.parametrize(
    ("published", "submitter", "organisations"),
    [
        ("AMD ", "AMD", ["AMD"]),
        ("ORACLE", "Oracle", ["Oracle"]),
        ("coreweave", "CoreWeave", ["CoreWeave"]),
        ("The_Stage", "TheStage AI", ["TheStage AI"]),
        ("TheStage AI", "TheStage AI", ["TheStage AI"]),
        ("QCT", "Quanta Cloud Technology", ["Quanta Cloud Technology"]),
        ("Quanta_Cloud_Technology", "Quanta Cloud Technology", ["Quanta Cloud Technology"]),
        ("Dell_MangoBoost", "Dell+MangoBoost", ["Dell", "MangoBoost"]),
        ("Lambda_SIT", "Lambda+SIT", ["Lambda", "SIT"]),
        ("Supermicro_RedHat", "Supermicro+Red Hat", ["Supermicro", "Red Hat"]),
        ("RedHat-Supermicro", "Red Hat+Supermicro", ["Red Hat", "Supermicro"]),
        ("University-of-Florida", "University of Florida", ["University of Florida"]),
    ],
)
def test_a_joint_submitter_is_one_name_of_several_organisations_in_their_order(
    published: str, submitter: str, organisations: list[str]
) -> None:
    assert describe_submitter(published) == Submitter(submitter, organisations, is_known=True)


def test_an_unknown_submitter_is_kept_and_never_split() -> None:
    assert describe_submitter("Acme_Dell") == Submitter("Acme_Dell", ["Acme_Dell"], is_known=False)


@pytest.mark.parametrize(
    ("published", "benchmark", "family", "target"),
    [
        ("llama2-70b-99.9", "llama2-70b", "llama2-70b", "99.9"),
        ("llama2-70b-99", "llama2-70b", "llama2-70b", "99"),
        ("llama2-70b-interactive-99", "llama2-70b-interactive", "llama2-70b", "99"),
        ("llama3.1-8b-edge", "llama3.1-8b-edge", "llama3.1-8b", None),
        ("llama3.1-8b-datacenter", "llama3.1-8b", "llama3.1-8b", None),
        ("ResNet50", "resnet", "resnet", None),
        ("vlm", "qwen3-vl-235b-a22b", "qwen3-vl-235b-a22b", None),
        ("text to video", "wan-2.2-t2v-a14b", "wan-2.2-t2v-a14b", None),
        ("dlrm-v2-99.9", "dlrm-v2", "dlrm-v2", "99.9"),
    ],
)
def test_a_benchmark_is_named_without_its_accuracy_target(
    published: str, benchmark: str, family: str, target: str | None
) -> None:
    found = describe_benchmark(INFERENCE, published)
    assert found == Benchmark(benchmark, family, target, is_known=True)


def test_one_name_can_be_another_benchmark_in_the_other_suite() -> None:
    assert describe_benchmark(TRAINING, "gnn").benchmark == "rgat"
    assert not describe_benchmark(INFERENCE, "gnn").is_known
    assert describe_benchmark(TRAINING, "dlrm") != describe_benchmark(TRAINING, "dlrm_dcnv2")


def test_a_name_can_be_another_benchmark_in_another_round() -> None:
    named = {
        round: describe_benchmark(known_rounds()[f"training-{round}"], "ssd").benchmark
        for round in ("1.1", "2.0", "4.1")
    }
    assert named == {"1.1": "ssd_resnet34", "2.0": "retinanet", "4.1": "retinanet"}


def test_an_unknown_benchmark_is_kept_under_its_own_name() -> None:
    assert describe_benchmark(INFERENCE, "gpt-9") == Benchmark("gpt-9", "gpt-9", None, False)


@pytest.mark.parametrize(
    ("published", "text"),
    [
        (" (4x\u202fGB200\u2011186GB)\r\n", "(4x GB200-186GB)"),
        ("Road  Runner", "Road Runner"),
        ("  ", None),
        (None, None),
    ],
)
def test_names_have_plain_blanks_and_hyphens(published: str | None, text: str | None) -> None:
    assert plain(published) == text


@pytest.mark.parametrize(
    ("published", "types"),
    [
        ("INT8", "int8"),
        ("fp8, BF16 ,fp4", "bf16,fp4,fp8"),
        ("bf16/f32/f8_e4m3/u8", "bf16,fp32,fp8,uint8"),
        ("{'weights': 'fp8'}", "weights:fp8"),
        ("UNSET", None),
        ("dummy", None),
        ("", None),
        (None, None),
    ],
)
def test_weight_types_have_one_spelling(published: str | None, types: str | None) -> None:
    assert weight_data_types(published) == types

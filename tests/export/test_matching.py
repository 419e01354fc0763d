import pytest

from pipeline.errors import UnusableCall
from pipeline.export.matching import fitting, pair_of_a_kind

NAMES = {
    "AMD Instinct MI355X": ["AMD Instinct MI355X 288GB HBM3e"],
    "AMD Instinct MI355X (1000 W cap)": [],
    "heterogeneous: AMD Instinct MI300X + AMD Instinct MI355X": [],
    "NVIDIA B200-SXM": ["NVIDIA B200-SXM-180GB"],
    "NVIDIA GB200": [],
    "NVIDIA H100-PCIe": [],
    "NVIDIA H100-SXM": [],
    "Intel Arc 140T": [],
    "Intel Arc Pro B60": [],
    "Intel Arc Pro B60 Dual": [],
}


@pytest.mark.parametrize(
    ("wanted", "meant"),
    [
        ("mi355x", ["AMD Instinct MI355X"]),
        ("MI 355X", ["AMD Instinct MI355X"]),
        ("amd_instinct-mi355x", ["AMD Instinct MI355X"]),
        ("amd instinct mi355x 288gb hbm3e", ["AMD Instinct MI355X"]),
        ("mi355x 1000 w", ["AMD Instinct MI355X (1000 W cap)"]),
        ("b200", ["NVIDIA B200-SXM"]),
        ("h100sxm", ["NVIDIA H100-SXM"]),
        ("sxm h100", ["NVIDIA H100-SXM"]),
        ("h100", ["NVIDIA H100-PCIe", "NVIDIA H100-SXM"]),
        ("b60", ["Intel Arc Pro B60"]),
        ("intel arc", ["Intel Arc 140T", "Intel Arc Pro B60", "Intel Arc Pro B60 Dual"]),
        ("mi35", []),
        ("-", []),
    ],
)
def test_a_part_of_a_name_is_enough_where_it_leaves_no_doubt(wanted: str, meant: list[str]) -> None:
    assert fitting(wanted, NAMES) == meant


def test_a_name_that_is_both_goes_with_the_kind_that_the_other_one_has() -> None:
    kinds = {"accelerator": {"Nova X1": [], "Rex": []}, "submitter": {"Nova": [], "Acme": []}}
    assert pair_of_a_kind("nova", "rex", kinds) == ("accelerator", "Nova X1", "Rex")
    assert pair_of_a_kind("nova", "acme", kinds) == ("submitter", "Nova", "Acme")
    with pytest.raises(UnusableCall, match=r"rex is the accelerator Rex, acme the submitter Acme"):
        pair_of_a_kind("rex", "acme", kinds)

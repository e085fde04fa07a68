"""Change points: a known one is found, and none where there is none, within the stated error rate."""

from __future__ import annotations

import random
from fractions import Fraction

from netdyno.stats.change_points import change_points

# The yearly flow of the Nile at Aswan, 10^8 m^3, 1871 to 1970 (Cobb, Biometrika 65, 1978; R's `Nile`).
NILE = (
    "1120 1160 963 1210 1160 1160 813 1230 1370 1140 995 935 1110 994 1020 960 1180 799 958 1140 1100"
    " 1210 1150 1250 1260 1220 1030 1100 774 840 874 694 940 833 701 916 692 1020 1050 969 831 726 456 824"
    " 702 1120 1100 832 764 821 768 845 864 862 698 845 744 796 1040 759 781 865 845 944 984 897 822 1010"
    " 771 676 649 846 812 742 801 1040 860 874 848 890 744 749 838 1050 918 986 797 923 975 815 1020 906"
    " 901 1170 912 746 919 718 714 740"
)


def test_nile_changes_after_1898_and_never_else() -> None:
    flow = [Fraction(one) for one in NILE.split()]
    assert len(flow) == 100
    assert [1871 + place for place in change_points(flow)] == [1899]


def test_no_change_is_found_in_noise_but_for_one_series_in_twenty() -> None:
    draw = random.Random(1)
    false = sum(bool(change_points([Fraction(draw.gauss(100, 3)) for _ in range(12)])) for _ in range(100))
    # 5 are expected; 1 set in 100 has over 11.
    assert false <= 11


def test_a_step_of_eight_runs_is_found_and_a_single_one_off_is_not() -> None:
    draw = random.Random(2)
    level = [Fraction(draw.gauss(100, 0.3)) for _ in range(8)]
    assert change_points([*level[:4], *(one - 5 for one in level[4:])]) == (4,)
    assert change_points([*level[:7], level[7] - 50]) == ()


def test_a_run_that_is_far_off_does_not_hide_a_step() -> None:
    rates = [*(928 + run % 3 for run in range(10)), *(975 + run % 3 for run in range(10)), 3]
    assert change_points(list(map(Fraction, rates))) == (10,)


def test_two_steps_are_both_found() -> None:
    draw = random.Random(3)
    levels = [Fraction(draw.gauss(mean, 0.5)) for mean in (100, 90, 96) for _ in range(8)]
    assert change_points(levels) == (8, 16)


def test_few_and_equal_numbers_have_none() -> None:
    assert change_points([]) == ()
    assert change_points([Fraction(1), Fraction(2), Fraction(3)]) == ()
    assert change_points([Fraction(1)] * 20) == ()

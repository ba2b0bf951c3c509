from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from hypothesis import given
from hypothesis import strategies as st

from cogvault.indexing.plan import Content, Plan, Seen, plan
from cogvault.types import KnownFile, Stamp


@dataclass(frozen=True)
class File:
    """A file of a pretended disk. ``time`` stands for everything in a stamp but size."""

    text: str
    time: int = 1
    path: str = ""

    @property
    def stamp(self) -> Stamp:
        return Stamp(len(self.text), self.time, self.time, self.time)


Disk = Mapping[str, File]


def known_of(disk: Disk) -> dict[str, KnownFile]:
    return {id: KnownFile(file.path or id, file.stamp, file.text) for id, file in disk.items()}


def seen_of(disk: Disk) -> dict[str, Seen]:
    return {id: KnownFile(file.path or id, file.stamp, "") for id, file in disk.items()}


class Reader:
    def __init__(self, disk: Disk, broken: frozenset[str] = frozenset()) -> None:
        self.disk = disk
        self.broken = broken
        self.reads: list[str] = []

    def __call__(self, id: str) -> Content | None:
        self.reads.append(id)
        return None if id in self.broken else Content(self.disk[id].text, self.disk[id].stamp)


def plan_of(before: Disk, after: Disk, verify: bool = False) -> tuple[Plan, Reader]:
    reader = Reader(after)
    return plan(known_of(before), seen_of(after), reader, verify=verify), reader


def applied(known: Mapping[str, KnownFile], done: Plan, disk: Disk) -> dict[str, KnownFile]:
    """What the index knows after the plan was carried out."""
    gone = {*done.removed, *(old for old, _ in done.moved)}
    result = {id: row for id, row in known.items() if id not in gone}
    for id in (*done.added, *done.changed, *(new for _, new in done.moved)):
        result[id] = known_of(disk)[id]
    for id, stamp in done.touched.items():
        result[id] = KnownFile(result[id].path, stamp, result[id].hash)
    return result


def test_equal_stamps_are_not_read() -> None:
    done, reader = plan_of({"a.md": File("x")}, {"a.md": File("x")})
    assert done == Plan(same=("a.md",))
    assert reader.reads == []


def test_any_difference_of_a_stamp_counts_also_an_older_time() -> None:
    done, _ = plan_of({"a.md": File("x", time=9)}, {"a.md": File("y", time=2)})
    assert done.changed == ("a.md",)


def test_a_touched_file_gets_its_new_stamp_only() -> None:
    done, _ = plan_of({"a.md": File("x", time=1)}, {"a.md": File("x", time=2)})
    assert done == Plan(touched={"a.md": File("x", time=2).stamp})
    assert done.unchanged == ("a.md",)


def test_the_same_stamp_over_other_content_is_found_by_verifying() -> None:
    before, after = {"a.md": File("x")}, {"a.md": File("y")}
    assert plan_of(before, after)[0].changed == ()
    assert plan_of(before, after, verify=True)[0].changed == ("a.md",)


def test_verifying_reads_every_known_file() -> None:
    disk = {f"{i}.md": File(str(i)) for i in range(5)}
    done, reader = plan_of(disk, disk, verify=True)
    assert sorted(reader.reads) == sorted(disk)
    assert done.same == tuple(sorted(disk))


def test_an_emptied_file_is_changed_not_removed() -> None:
    done, _ = plan_of({"a.md": File("text", time=1)}, {"a.md": File("", time=2)})
    assert done == Plan(changed=("a.md",))


def test_a_move_needs_the_same_content() -> None:
    done, _ = plan_of({"a.md": File("x", time=5)}, {"b.md": File("x", time=7)})
    assert done == Plan(moved=(("a.md", "b.md"),))


def test_a_reused_inode_with_equal_size_and_time_is_no_move() -> None:
    done, _ = plan_of({"a.md": File("x", time=5)}, {"b.md": File("y", time=5)})
    assert done == Plan(added=("b.md",), removed=("a.md",))


def test_a_rename_in_case_only_is_a_move() -> None:
    assert plan_of({"A.md": File("x")}, {"a.md": File("x")})[0].moved == (("A.md", "a.md"),)


def test_empty_files_are_never_taken_for_moved() -> None:
    done, _ = plan_of({"a.md": File("")}, {"b.md": File("")})
    assert (done.added, done.removed, done.moved) == (("b.md",), ("a.md",), ())


def test_of_equal_files_those_with_the_same_name_belong_together() -> None:
    before = {"x/a.md": File("t"), "x/b.md": File("t")}
    after = {"y/b.md": File("t"), "y/c.md": File("t"), "y/d.md": File("t")}
    done, _ = plan_of(before, after)
    assert done.moved == (("x/a.md", "y/c.md"), ("x/b.md", "y/b.md"))
    assert done.added == ("y/d.md",)


def test_new_files_are_read_only_when_they_could_be_moved_ones() -> None:
    _, reader = plan_of({"gone.md": File("four")}, {"new.md": File("five!"), "same size.md": File("size")})
    assert reader.reads == ["same size.md"]


def test_a_name_that_changed_its_normal_form_on_disk_is_put_again() -> None:
    done, _ = plan_of({"é.md": File("x", path="e\u0301.md")}, {"é.md": File("x", path="é.md")})
    assert done.changed == ("é.md",)


def test_what_cannot_be_read_or_was_not_looked_at_stays() -> None:
    before = {"a.md": File("a"), "b.md": File("b"), "shut/c.md": File("c")}
    after = {"a.md": File("a", time=2)}
    reader = Reader(after, broken=frozenset({"a.md"}))
    done = plan(known_of(before), seen_of(after), reader, covers=lambda id: not id.startswith("shut/"))
    assert done == Plan(unread=("a.md",), removed=("b.md",), same=("shut/c.md",))


_disks = st.dictionaries(
    st.sampled_from([f"{folder}{name}.md" for folder in ("", "x/", "y/") for name in "abc"]),
    st.builds(File, st.sampled_from(["", "one", "two", "three"]), st.integers(1, 3)),
)


@given(before=_disks, after=_disks)
def test_carrying_out_a_verified_plan_gives_what_is_on_disk(before: Disk, after: Disk) -> None:
    done, _ = plan_of(before, after, verify=True)
    assert applied(known_of(before), done, after) == known_of(after)


@given(before=_disks, after=_disks)
def test_every_card_is_in_exactly_one_part_of_a_plan(before: Disk, after: Disk) -> None:
    done, _ = plan_of(before, after)
    parts = [*done.added, *done.changed, *done.removed, *done.unread, *done.unchanged]
    parts += [id for pair in done.moved for id in pair]
    assert sorted(parts) == sorted(before.keys() | after.keys())


@given(before=_disks, after=_disks)
def test_a_second_plan_has_nothing_to_do(before: Disk, after: Disk) -> None:
    first, _ = plan_of(before, after, verify=True)
    again = plan(applied(known_of(before), first, after), seen_of(after), Reader(after))
    assert again == Plan(same=tuple(sorted(after)))

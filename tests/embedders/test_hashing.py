from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cogvault.embedders import HashingEmbedder

PINNED = [0.0, -0.16, 0.0, -0.672, -0.092, -0.16, -0.092, 0.319, -0.16, 0.0, -0.357, 0.0, -0.353, 0.319, 0.0, 0.0]


def cosine(one: str, other: str) -> float:
    rows = HashingEmbedder().embed_documents([one, other])
    return float(rows[0] @ rows[1])


@pytest.mark.parametrize(
    ("near", "text", "far"),
    [
        ("embeddings models", "embedding model", "river bank"),
        ("Datenbankverbindung", "Datenbank Verbindung", "Pinguine im Winter"),
        ("настройки сервера", "настройка серверов", "зимние пингвины"),
        ("设备清单", "设备清单已更新", "企鹅在冬天"),
        ("उपकरण सूची", "उपकरणों की सूची", "सर्दियों में पेंगुइन"),
    ],
)
def test_words_that_share_letters_are_near_in_every_script(near: str, text: str, far: str) -> None:
    assert cosine(text, near) > 0.25 > cosine(text, far)


def test_case_and_composition_do_not_matter() -> None:
    assert cosine("CAFÉ", "cafe\u0301") == pytest.approx(1.0, abs=1e-6)


def test_repeating_a_text_changes_its_direction_little() -> None:
    assert cosine("blue whale", "blue whale " * 50) == pytest.approx(1.0, abs=1e-6)


def test_vectors_are_pinned_so_that_stored_ones_stay_valid() -> None:
    row = HashingEmbedder(16).embed_documents(["memory of agents"])[0]
    assert row.tolist() == pytest.approx(PINNED, abs=1e-3)
    assert HashingEmbedder(16).fingerprint == "hashing:v1:dim=16:seed=0"


def test_seeds_give_different_spaces() -> None:
    one, other = HashingEmbedder(seed=1), HashingEmbedder(seed=2)
    assert one.fingerprint != other.fingerprint
    assert not np.allclose(one.embed_query("whale"), other.embed_query("whale"))


def test_a_width_too_small_to_mean_anything_is_refused() -> None:
    with pytest.raises(ValueError, match="at least 8"):
        HashingEmbedder(4)


@given(st.text())
def test_any_text_gives_zeros_or_a_unit_vector(text: str) -> None:
    norm = float(np.linalg.norm(HashingEmbedder(32).embed_query(text)))
    assert norm == pytest.approx(1.0, abs=1e-5) or (norm == 0.0)
    if not text.strip():
        assert norm == 0.0


@given(st.text(st.characters(codec="utf-8")), st.text(st.characters(codec="utf-8")))
def test_tokens_of_two_lines_add_up(one: str, other: str) -> None:
    embedder = HashingEmbedder()
    assert sum(embedder.count_tokens([one, other])) == embedder.count_tokens([f"{one}\n{other}"])[0]

"""Every setting, its default, its bounds and what it means."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import (
    AfterValidator,
    BaseModel,
    ConfigDict,
    Field,
    ModelWrapValidatorHandler,
    ValidationError,
    ValidationInfo,
    model_validator,
)

from cogvault.config.cpus import available_cpus
from cogvault.config.problems import Source

# Settings of a machine or a person. A vault may come from somebody else, so its own file cannot set them.
MACHINE_FIELDS = frozenset({"tenant", "index_dir", "cache_dir", "state_dir", "log", "threads", "rerank_threads"})
# A name in one of these can be an address or a folder.
MODEL_FIELDS = frozenset({"model", "rerank_model", "summarizer"})


def _descending(values: tuple[float, ...]) -> tuple[float, ...]:
    if list(values) != sorted(values, reverse=True):
        raise ValueError("thresholds must fall from the first to the last")
    return values


def _distinct(values: tuple[str, ...]) -> tuple[str, ...]:
    if len(set(values)) != len(values):
        raise ValueError("each name may stand only once")
    return values


def _some_weight(values: tuple[float, float, float]) -> tuple[float, float, float]:
    if not any(values):
        raise ValueError("at least one weight must be above 0")
    return values


def _absolute(path: Path) -> Path:
    try:
        return path.expanduser().absolute()
    except RuntimeError as error:
        raise ValueError("nobody has such a home folder; write the whole path") from error


Share = Annotated[float, Field(ge=0, le=1)]
Weight = Annotated[float, Field(ge=0)]
Text = Annotated[str, Field(min_length=1)]
Folder = Annotated[Path, AfterValidator(_absolute)]


class Config(BaseModel):
    """Every setting of cogvault. Immutable; a field that is set here wins over environment and files.

    Raises:
        ConfigError: a key is unknown or a value is out of range; the message names the nearest valid key.
    """

    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False)

    tenant: Text | None = Field(None, description="Folder of the vault that commands use when `--tenant` is not given.")
    model: Text = Field(
        "auto",
        description="Embedding model: `auto`, `none`, `bundled`, a FastEmbed name, a local model folder, or "
        "`openai:MODEL@URL`.",
    )
    recursive: bool = Field(
        False,
        description="Walk all subfolders, not only `session`, `user`, `agent` and `resources`; ids are relative paths.",
    )
    ignore: tuple[Text, ...] = Field(
        (), description="Gitignore patterns of files to leave out, besides those of `.cogvaultignore`."
    )
    use_gitignore: bool = Field(False, description="Obey the `.gitignore` at the vault's root too.")
    strip_frontmatter: bool = Field(
        True, description="Keep the frontmatter block out of the body text; false indexes it raw as well."
    )
    max_card_bytes: int = Field(
        4 << 20, ge=1, le=1 << 30, description="Bytes of one file that are indexed; the rest is reported."
    )
    chunk_tokens: int = Field(
        200, ge=16, le=4096, description="Size that chunks aim at, in the model's tokens; never above its window."
    )
    rankers: Annotated[tuple[Text, ...], Field(min_length=1), AfterValidator(_distinct)] = Field(
        ("keyword", "semantic", "title"), description="Ways of finding candidates."
    )
    candidates: int = Field(100, ge=1, le=100_000, description="Candidates taken from each ranker.")
    fusion: Literal["layered", "rrf"] = Field(
        "layered", description="How rankings become one: absolute layered score, or reciprocal rank fusion."
    )
    rrf_k: int = Field(60, ge=1, description="Constant of reciprocal rank fusion.")
    layer_weights: Annotated[tuple[Weight, Weight, Weight], AfterValidator(_some_weight)] = Field(
        (0.4, 0.3, 0.3), description="Weights of L2 (chunk), L1 (its window) and L0 (whole card) in the score."
    )
    semantic_weight: Share = Field(0.4, description="Share of the semantic part in each layer's score.")
    window: int = Field(2, ge=0, le=100, description="Neighboring chunks on either side that make up L1.")
    min_score: Share | None = Field(
        None, description="Lowest score of a hit; none = the threshold ladder decides, query by query."
    )
    thresholds: Annotated[tuple[Share, ...], Field(min_length=1), AfterValidator(_descending)] = Field(
        (0.45, 0.35, 0.28), description="Rungs of the threshold ladder, falling; without vectors the last one moves."
    )
    hits_per_card: int = Field(1, ge=0, description="Hits that one card may give; 0 = no limit.")
    half_life_days: float | None = Field(
        None, gt=0, description="Age in days at which a card's score is halved; none = age does not matter."
    )
    decay_floor: Share = Field(0.2, description="Lowest factor that age can put on a score.")
    evergreen_types: tuple[Text, ...] = Field(
        ("feedback", "reference"), description="Card types that do not age. Pinned cards never do."
    )
    forgetting_enabled: bool = Field(
        False, description="Archive weak cards by schedule while the vault is watched; off = only when asked to."
    )
    forgetting_min_strength: Share = Field(0.3, description="Cards whose memory is weaker than this are archived.")
    forgetting_archive_before_delete: bool = Field(
        True, description="A sweep can only archive; false lets one that is told to purge delete at once."
    )
    forgetting_scan_interval_hours: float = Field(24.0, gt=0, description="Hours between two sweeps by schedule.")
    forgetting_grace_days: float = Field(
        30.0, ge=0, description="Cards that were made or changed within so many days are never archived by a sweep."
    )
    mmr_lambda: Share | None = Field(
        None, description="Diversity of hits: 1 = relevance only, 0 = difference only; none = off."
    )
    rerank_model: Text | None = Field(
        None, description="Cross-encoder that reranks the top 10: a FastEmbed name or a local folder; none = off."
    )
    summarizer: Text = Field(
        "extractive",
        description="What makes abstracts and overviews: `extractive` (no language model), or `openai:MODEL@URL`.",
    )
    refresh_seconds: float = Field(
        2.0, ge=0, description="A search looks for changed files at most this often, in seconds."
    )
    lock_timeout_seconds: float = Field(
        60.0, gt=0, description="How long a writer waits for another writer, in seconds."
    )
    threads: int = Field(
        default_factory=available_cpus,
        ge=1,
        description="Threads of models, and searches that compute at once; default: the usable CPUs.",
    )
    rerank_threads: int | None = Field(None, ge=1, description="Threads of the reranker; none = as `threads`.")
    index_dir: Folder | None = Field(
        None, description="Folder that holds the indexes of all vaults; none = `indexes` in the cache folder."
    )
    cache_dir: Folder | None = Field(
        None, description="Folder for derived files: converted models, vectors; none = the user cache folder."
    )
    state_dir: Folder | None = Field(
        None,
        description="Folder for what cannot be rebuilt from the files, such as use counts; none = `vaults` in the user "
        "state folder.",
    )
    log: Literal["off"] | Folder | None = Field(
        None, description="Query log: `off`, or its file; this version writes none yet."
    )

    @model_validator(mode="wrap")
    @classmethod
    def _explain(cls, data: Any, handler: ModelWrapValidatorHandler[Config], info: ValidationInfo) -> Config:
        try:
            return handler(data)
        except ValidationError as error:
            source = info.context if isinstance(info.context, Source) else Source()
            raise source.explain(error, list(cls.model_fields)) from error

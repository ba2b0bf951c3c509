"""What a tool accepts: lenient with the forms in which models send arguments, exact about their meaning."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Annotated, Any, TypeVar

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, ValidationError, model_validator

__all__ = ["Arguments", "ArgumentsFault", "Card", "Cards", "Pairs", "Words", "parsed", "schema"]

# Keywords of a schema that tell a model nothing, or that a provider refuses.
_LEFT_OUT = frozenset({"title", "additionalProperties", "$schema"})
# A source as recall tells it. No card's name ends so.
_SOURCE = re.compile(r"(?P<card>.+\.md)#L\d+(\+\d+)?(-L\d+)?", re.IGNORECASE | re.DOTALL)


class ArgumentsFault(Exception):
    """Arguments that no tool can take; the message names each and what it should be."""


def _words(value: Any) -> Any:
    """A list, a list as JSON text, words with commas, or one word; marks of quotation are not part of a word."""
    if isinstance(value, str):
        text = value.strip()
        if text.startswith(("[", '"')):
            try:
                value = json.loads(text)
            except ValueError:
                value = text.strip("[]")
        if isinstance(value, str):
            value = [_unquoted(word.strip()) for word in value.split(",")]
    if isinstance(value, list):
        return [item.strip() if isinstance(item, str) else item for item in value if item not in (None, "")]
    return [value] if isinstance(value, int | float) and not isinstance(value, bool) else value


def _unquoted(word: str) -> str:
    return word[1:-1] if len(word) > 1 and word[0] == word[-1] and word[0] in "\"'" else word


def _card(text: str) -> str:
    """The card that a source names; an id or address as it is."""
    match = _SOURCE.fullmatch(text.strip())
    return match["card"] if match else text


def _pairs(value: Any) -> Any:
    """An object, or an object as JSON text."""
    if isinstance(value, str):
        try:
            return json.loads(value) if value.strip() else {}
        except ValueError:
            return value
    return value


Words = Annotated[list[str], BeforeValidator(_words)]
Card = Annotated[str, AfterValidator(_card)]
Cards = Annotated[list[Card], BeforeValidator(_words)]
Pairs = Annotated[dict[str, Any], BeforeValidator(_pairs)]


class Arguments(BaseModel):
    """Arguments of one tool. Numbers as text, lists as text, nulls and keys that nobody knows are taken."""

    model_config = ConfigDict(extra="ignore", coerce_numbers_to_str=True, allow_inf_nan=False)

    @model_validator(mode="before")
    @classmethod
    def _without_nulls(cls, data: Any) -> Any:
        return {key: value for key, value in data.items() if value is not None} if isinstance(data, Mapping) else data


_A = TypeVar("_A", bound=Arguments)


def parsed(model: type[_A], arguments: Mapping[str, Any] | None) -> _A:
    """The arguments as a model.

    Raises:
        ArgumentsFault: one is missing or wrong.
    """
    try:
        return model.model_validate(dict(arguments or {}))
    except ValidationError as error:
        faults = []
        for item in error.errors(include_url=False, include_input=False):
            name = ".".join(str(part) for part in item["loc"]) or "arguments"
            faults.append(f"{name}: {item['msg'][:1].lower()}{item['msg'][1:]}")
        raise ArgumentsFault("; ".join(faults)) from None


def schema(model: type[BaseModel]) -> dict[str, Any]:
    """JSON schema that every provider takes: an object, each property with one type, nothing optional by null."""
    tidied = _tidy({key: value for key, value in model.model_json_schema().items() if key != "description"})
    assert isinstance(tidied, dict)
    return tidied


def _tidy(node: Any, *, is_names: bool = False) -> Any:
    if isinstance(node, list):
        return [_tidy(item) for item in node]
    if not isinstance(node, dict):
        return node
    choices = [choice for choice in node.get("anyOf", ()) if choice != {"type": "null"}]
    if len(choices) == 1:
        node = {**choices[0], **{key: value for key, value in node.items() if key != "anyOf"}}
    return {
        key: _tidy(value, is_names=key == "properties")
        for key, value in node.items()
        if is_names or not (key in _LEFT_OUT or (key == "default" and value in (None, "", [], {})))
    }

"""Places in a text that look like a key, a token or a password. Pure.

The kinds of detect-secrets (Yelp, Apache 2.0), loaded on first use, formats of tokens that it does not know yet, as
their issuers publish them, and values behind and below names such as ``password``. Neither entropy nor a model is
asked: hashes, ids and prose are no secrets.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cache
from importlib import import_module

from cogvault.text.secret_blocks import assigned_below
from cogvault.text.secret_names import assigned
from cogvault.types import SecretFound

__all__ = ["Secret", "find_secrets", "found_in", "redact"]

# Modules and classes of detect-secrets' plugins. Left out: those that guess by entropy, and those whose short patterns
# are found in prose.
_PLUGINS = {
    "aws": "AWSKeyDetector",
    "azure_storage_key": "AzureStorageKeyDetector",
    "basic_auth": "BasicAuthDetector",
    "discord": "DiscordBotTokenDetector",
    "github_token": "GitHubTokenDetector",
    "gitlab_token": "GitLabTokenDetector",
    "jwt": "JwtTokenDetector",
    "mailchimp": "MailchimpDetector",
    "npm": "NpmDetector",
    "openai": "OpenAIDetector",
    "pypi_token": "PypiTokenDetector",
    "sendgrid": "SendGridDetector",
    "slack": "SlackDetector",
    "square_oauth": "SquareOAuthDetector",
    "stripe": "StripeDetector",
    "telegram_token": "TelegramBotTokenDetector",
    "twilio": "TwilioKeyDetector",
}
_TOKENS = {
    "AI service key": r"\bsk-(?:ant-|proj-|svcacct-|or-v1-)[\w-]{20,}|\b(?:gsk_|xai-|r8_|pplx-)[A-Za-z0-9]{30,}",
    "OpenAI Token": r"\bsk-[A-Za-z0-9]{32,}",
    "Google API key": r"\bAIza[\w-]{35}|\bGOCSPX-[\w-]{28}|\bya29\.[\w-]{20,}",
    "Hugging Face token": r"\bhf_[A-Za-z0-9]{30,}",
    "GitHub Token": r"\bgithub_pat_\w{22,}",
    "npm token": r"\bnpm_[A-Za-z0-9]{36}",
    "DigitalOcean token": r"\bdo[opr]_v1_[a-f0-9]{64}",
    "HashiCorp token": r"\bhv[sbr]\.[\w-]{24,}|\b\w{14}\.atlasv1\.[\w-]{60,}",
    "Shopify token": r"\bshp(?:at|ca|pa|ss)_[a-fA-F0-9]{32}",
    "Databricks token": r"\bdapi[a-f0-9]{32}",
    "Linear API key": r"\blin_api_[A-Za-z0-9]{40}",
    "Notion token": r"\b(?:secret_[A-Za-z0-9]{43}|ntn_[A-Za-z0-9]{40,})",
    "Atlassian token": r"\bATATT3[\w=-]{50,}",
    "Docker token": r"\bdckr_(?:pat|oat)_[\w-]{27,}",
    "Grafana token": r"\bglsa_[A-Za-z0-9]{32}_[a-f0-9]{8}|\bglc_[A-Za-z0-9+/]{32,}={0,2}",
    "Supabase key": r"\bsbp_[a-f0-9]{40}|\bsb_secret_[\w-]{20,}",
    "Doppler token": r"\bdp\.(?:pt|st|ct|sa|scim|audit)\.[\w.-]{40,}",
    "Mailgun key": r"\bkey-[a-f0-9]{32}\b",
    "Netlify token": r"\bnfp_[A-Za-z0-9]{36}",
    "Fly token": r"\bfm[12][ar]?_[\w+/=-]{60,}|\bfo1_[\w-]{43}",
    "Sentry token": r"\bsntrys_[\w+/=-]{40,}|\bsntryu_[a-f0-9]{64}",
    "Postman key": r"\bPMAK-[a-f0-9]{24}-[a-f0-9]{34}",
    "Pulumi token": r"\bpul-[a-f0-9]{40}\b",
    "PlanetScale token": r"\bpscale_(?:tkn|pw|oauth)_[\w.-]{32,}",
    "Figma token": r"\bfig[duo][rh]?_[\w-]{40,}",
    "Tailscale key": r"\btskey-[a-z]+-[A-Za-z0-9]+-[A-Za-z0-9]{20,}",
    "RubyGems key": r"\brubygems_[a-f0-9]{48}",
    "Airtable token": r"\bpat[A-Za-z0-9]{14}\.[a-f0-9]{64}",
    "New Relic key": r"\bNRAK-[A-Z0-9]{27}",
    "age secret key": r"\bAGE-SECRET-KEY-1[0-9A-Z]{58}",
    "Slack Token": r"\bxapp-[0-9]-[A-Z0-9]+-[0-9]+-[a-f0-9]+",
    "Stripe Access Key": r"\b(?:rk|sk)_(?:live|test)_[A-Za-z0-9]{16,}|\bwhsec_[A-Za-z0-9+/=]{32,}",
    "Bearer token": r"(?i)\bauthorization[\"']?\s*[:=]\s*[\"']?(?:bearer|basic|token)\s+(?P<value>[\w.~+/=-]{20,})",
    "Basic Auth Credentials": r"://:(?P<value>[^\s/?#\[\]@:$<{]{4,})@",
    "Shared access signature": r"(?i)[?&]sig=(?P<value>[a-z0-9%+/]{40,}=?)",
    "Session cookie": (
        r"(?i)\bcookie:[^\n]{0,200}?\b\w{0,20}(?:sess(?:ion)?(?:_?id)?|sid|auth)=(?P<value>[\w%.+/=-]{20,})"
    ),
    "Docker login": r"\"auth\"\s*:\s*\"(?P<value>[A-Za-z0-9+/]{20,}={0,2})\"",
    "Password of curl": (
        r"\bcurl\b[^\n|]{0,200}?\s(?:-u|--user)[ =]?[\"']?[\w.@-]{1,60}:"
        r"(?P<value>(?![$<{])(?=[^\s\"']*\d)[^\s\"']{6,})"
    ),
    "Password in netrc": r"\blogin \S{1,100} password (?P<value>(?![$<{])(?=\S*\d)\S{6,})",
    "AWS secret key": r"(?i)\baws_?secret(?:_?access)?_?key[\"']?\s*[:=]\s*[\"']?(?P<value>[A-Za-z0-9/+]{40})\b",
}
_PRIVATE_KEY = re.compile(
    r"-----BEGIN (?:[A-Z0-9]+ ){0,3}PRIVATE KEY(?: BLOCK)?-----"
    r"(?:[^-]{0,8000}-----END (?:[A-Z0-9]+ ){0,3}PRIVATE KEY(?: BLOCK)?-----|(?:\s+[A-Za-z0-9+/=]{20,})+)?"
)
_ASSIGNED = "Password or key"
# More characters that belong to a token of which a pattern saw the beginning only.
_REST = re.compile(r"[\w+/=~-]*(?:\.[\w+/=~-]+)*")
# Characters of a line that are looked at together, and how many of them again with the next.
_PART = 2_000
_OVERLAP = 500


@dataclass(frozen=True, slots=True)
class Secret:
    """A place in a text: characters ``start`` to ``end``, not included."""

    kind: str
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class _Rule:
    """A pattern, and which group of it is the secret; more of a token than the pattern saw belongs to it too."""

    kind: str
    pattern: re.Pattern[str]
    group: int | str = 0
    is_token: bool = True


def find_secrets(text: str) -> list[Secret]:
    """What looks like a secret, in order, none inside another."""
    found = [Secret("Private Key", *match.span()) for match in _PRIVATE_KEY.finditer(text)]
    for start, part in _parts(text):
        found.extend(Secret(one.kind, one.start + start, one.end + start) for one in _in_part(part))
    found.extend(Secret(_ASSIGNED, *span) for span in assigned_below(text))
    return _apart(found)


def found_in(text: str, first_line: int = 1) -> tuple[SecretFound, ...]:
    """Kinds and lines of the secrets in a text whose newlines are ``\\n``.

    Args:
        text: the text.
        first_line: number of its first line.
    """
    return tuple(
        SecretFound(secret.kind, text.count("\n", 0, secret.start) + first_line) for secret in find_secrets(text)
    )


def redact(text: str) -> str:
    """The text with each secret replaced by its kind in parentheses.

    >>> redact("the old one was ghp_aBcDeFgHiJkLmNoPqRsTuVwXyZ0123456789")
    'the old one was (redacted GitHub Token)'
    """
    for secret in reversed(find_secrets(text)):
        text = f"{text[: secret.start]}(redacted {secret.kind}){text[secret.end :]}"
    return text


def _parts(text: str) -> Iterator[tuple[int, str]]:
    """Lines with their offsets; of a long one overlapping pieces, which bounds the time that a pattern takes."""
    start = 0
    for line in text.split("\n"):
        for at in range(0, max(1, len(line) - _OVERLAP), _PART - _OVERLAP):
            yield start + at, line[at : at + _PART]
        start += len(line) + 1


def _in_part(part: str) -> Iterator[Secret]:
    for rule in _rules():
        for match in rule.pattern.finditer(part):
            start, end = match.span(rule.group)
            rest = _REST.match(part, end) if rule.is_token else None
            yield Secret(rule.kind, start, rest.end() if rest else end)
    yield from (Secret(_ASSIGNED, *span) for span in assigned(part))


def _apart(found: Iterable[Secret]) -> list[Secret]:
    """In order, and of those that overlap one that spans them."""
    kept: list[Secret] = []
    for secret in sorted(found, key=lambda secret: (secret.start, -secret.end)):
        if kept and secret.start < kept[-1].end:
            last = kept.pop()
            secret = Secret(last.kind, last.start, max(last.end, secret.end))
        kept.append(secret)
    return kept


@cache
def _rules() -> tuple[_Rule, ...]:
    """Patterns of the library and ours."""
    rules = [
        _Rule(kind, pattern, "value" if "value" in pattern.groupindex else 0)
        for kind, pattern in ((kind, re.compile(text)) for kind, text in _TOKENS.items())
    ]
    for module, name in _PLUGINS.items():
        plugin = getattr(import_module(f"detect_secrets.plugins.{module}"), name)()
        is_token = module != "basic_auth"  # there the password alone is the secret: group 1
        rules.extend(_Rule(plugin.secret_type, pattern, 0 if is_token else 1, is_token) for pattern in plugin.denylist)
    return tuple(rules)

"""Keys and passwords of the usual kinds are found and masked; prose, hashes and ids are left alone."""

from __future__ import annotations

import random
import string

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cogvault.text.secrets import find_secrets, found_in, redact

_ALNUM = string.ascii_letters + string.digits


def _fake(length: int, alphabet: str = _ALNUM) -> str:
    chosen = random.Random(length)
    return "".join(chosen.choice(alphabet) for _ in range(length))


# Put together here, so that no scanner takes this file for a leak.
_HEX = "0123456789abcdef"
_JWT = f"eyJ{'hbGciOiJIUzI1NiJ9'}.eyJ{'zdWIiOiIxMjM0NTY3ODkwIn0'}.{_fake(43)}"
SECRETS = {
    "aws": "AKIA" + _fake(16, string.ascii_uppercase + string.digits),
    "aws example": "AKIA" + "IOSFODNN7EXAMPLE",
    "github": "ghp_" + _fake(36),
    "github fine-grained": f"github_pat_{_fake(22)}_{_fake(59)}",
    "gitlab": "glpat-" + _fake(20),
    "slack": f"xoxb-123456789012-123456789012-{_fake(24)}",
    "slack app": f"xapp-1-A0123456789-123456789012-{_fake(64, _HEX)}",
    "slack webhook": "https://hooks.slack.com/services/T00000000/B00000000/" + _fake(24),
    "stripe": "sk_live_" + _fake(24),
    "stripe test": "sk_test_" + _fake(24),
    "openai": f"sk-proj-{_fake(74)}T3BlbkFJ{_fake(74)}",
    "openai, old": f"sk-{_fake(20)}T3BlbkFJ{_fake(20)}",
    "openai, plain": "sk-" + _fake(48),
    "anthropic": f"sk-ant-api03-{_fake(93)}AA",
    "google": "AIza" + _fake(35),
    "hugging face": "hf_" + _fake(34, string.ascii_letters),
    "npm": "npm_" + _fake(36),
    "pypi": "pypi-AgEIcHlwaS5vcmcC" + _fake(120),
    "sendgrid": f"SG.{_fake(22)}.{_fake(43)}",
    "jwt": _JWT,
    "telegram": "1234567890:AA" + _fake(33),
    "twilio": "SK" + _fake(32, _HEX),
    "digitalocean": "dop_v1_" + _fake(64, _HEX),
    "azure": f"AccountKey={_fake(86)}==",
    "hashicorp": "hvs." + _fake(95),
    "linear": "lin_api_" + _fake(40),
    "age": "AGE-SECRET-KEY-1" + _fake(58, string.ascii_uppercase + string.digits),
    "shopify": "shpat_" + _fake(32, _HEX),
    "groq": "gsk_" + _fake(52),
    "databricks": "dapi" + _fake(32, _HEX),
    "xai": "xai-" + _fake(80),
    "grafana": f"glsa_{_fake(32)}_{_fake(8, _HEX)}",
    "supabase": "sbp_" + _fake(40, _HEX),
    "doppler": "dp.pt." + _fake(43),
    "mailgun": "key-" + _fake(32, _HEX),
    "netlify": "nfp_" + _fake(36),
    "fly": "fm2_" + _fake(80),
    "sentry": "sntryu_" + _fake(64, _HEX),
    "postman": f"PMAK-{_fake(24, _HEX)}-{_fake(34, _HEX)}",
    "pulumi": "pul-" + _fake(40, _HEX),
    "planetscale": "pscale_tkn_" + _fake(43),
    "figma": "figd_" + _fake(43),
    "tailscale": f"tskey-auth-{_fake(12)}-{_fake(32)}",
    "rubygems": "rubygems_" + _fake(48, _HEX),
    "airtable": f"pat{_fake(14)}.{_fake(64, _HEX)}",
    "new relic": "NRAK-" + _fake(27, string.ascii_uppercase + string.digits),
    "rsa": f"-----BEGIN RSA PRIVATE KEY-----\n{_fake(64)}\n{_fake(64)}\n-----END RSA PRIVATE KEY-----",
    "openssh": f"-----BEGIN OPENSSH PRIVATE KEY-----\n{_fake(70)}\n-----END OPENSSH PRIVATE KEY-----",
    "cut off": f"-----BEGIN PRIVATE KEY-----\n{_fake(64)}\n{_fake(64)}",
}
# What is before and behind the secret itself.
ASSIGNED = {
    "aws secret": ("aws_secret_access_key = ", _fake(40), ""),
    "password": ("password: ", "S3cr3t-P4ss!", ""),
    "short password": ("The password = ", "hunter2", "."),
    "env": ("DB_PASSWORD=", "correcthorsebattery9", ""),
    "quoted": ('api_key = "', _fake(32), '"'),
    "json": ('{"client_secret": "', _fake(24), '"}'),
    "markdown": ("**API key**: `", _fake(24), "`"),
    "bold to behind the colon": ("The staging **password:** ", "hunter2wombat", ""),
    "italic to behind the colon": ("- *Password:* `", "S3cr3t-P4ss!", "`"),
    "underlined": ("__api_key:__ ", _fake(24), ""),
    "bearer": ("Authorization: Bearer ", _fake(40), ""),
    "address": ("postgres://svc:", "hunter2pass", "@db.internal:5432/app"),
    "hash as key": ("api-key: ", _fake(32, _HEX), ""),
    "several": ("passwords: ", "hunter2wombat", ""),
    "address without a user": ("redis://:", "hunter2wombat", "@cache.internal:6379/0"),
    "shared access signature": ("https://a.example/b?sv=2022-11-02&sig=", f"{_fake(43)}%3D", "&se=2026"),
    "cookie": ("Cookie: theme=dark; sessionid=", _fake(40), "; x=1"),
    "docker": ('{"auths": {"r.example": {"auth": "', _fake(32), '"}}}'),
    "curl": ("curl -sS -u admin:", "hunter2wombat", " https://a.example"),
    "curl, quoted": ("curl https://a.example --user 'admin:", "hunter2wombat", "'"),
    "netrc": ("machine a.example login bob password ", "hunter2wombat", ""),
    "camel case": ('dbPassword: "', "hunter2wombat", '"'),
    "no separator": ("PGPASSWORD=", "hunter2wombat", ""),
    "option": ("mysql --password ", "hunter2wombat", " -u app"),
    "cell": ("| staging password | `", "hunter2wombat", "` |"),
    "xml": ("<password>", "hunter2wombat", "</password>"),
    "anchor": ("password: &shared ", "hunter2wombat", ""),
    "tag of yaml": ("password: !!str ", "hunter2wombat", ""),
    "flow list": ("password: [", "hunter2wombat", "]"),
    "flow mapping": ("credentials: {host: db, prod: ", "hunter2wombat", "}"),
    "russian": ("пароль: ", "hunter2wombat", ""),
    "chinese": ("密码：", "hunter2wombat", ""),
    "german": ("Passwort: ", "hunter2wombat", ""),
}
# Values below their name; X is one.
BELOW = [
    "password:\nX",
    "The staging password:\n\n`X`\n",
    "**Password:**\n\n```sh\nX\n```\n",
    "## Password\n\nX\n",
    "### Staging DB password ###\nX",
    "**Password**\nX",
    "> password:\n> X",
    "- password:\n  - X",
    "1. password:\n   X",
    "api_keys:\n- X\n",
    "password: |\n  X\n",
    "password: >-  # of staging\n  X",
    "password:\r\n  X\r\n",
    "password: &shared\n  X",
    "? password\n: X",
    "password:\n  prod: X",
    "password:\n  deep:\n    # the new one\n\n    prod: 'X' # since May",
    '  "auth": {\n    "tokens": [\n      "X",\n    ]\n  }',
    "password: [\n  one, X\n]",
    "| user | password |\n|---|---|\n| bob | X |\n",
    "user | password\n--- | :---:\nana | -\nbob | `X`\n",
    "密码:\nX",
    "Password\n--------\nX",
    "Staging DB password\n===\n\nX\n",
    "**Password:**\n-\nX",
    "- Password\n  --------\n  X",
    "> Password\n> ---\n> X",
    "env:\n- name: DB_PASSWORD\n  value: X\n",
    '{\n  "name": "password",\n  "value": "X"\n}',
]
ORDINARY = [
    "The password is stored in the vault; ask Ana for it.",
    "sha256 9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08",
    "commit 53dda6e0c55ad015a3bf4f1b2b0b822cd15d6c15 and 53dda6e",
    "md5: d41d8cd98f00b204e9800998ecf8427e",
    "550e8400-e29b-41d4-a716-446655440000",
    "token: 550e8400-e29b-41d4-a716-446655440000",
    "secret: rotate every 90 days",
    "password: see 1Password",
    "token = os.environ['TOKEN_V2']",
    "api_key: ${API_KEY_2}",
    "api_key = <your key 123>",
    "API key: your-api-key-123",
    "password=",
    "curl -u admin:$PASS2 https://a.example:8080",
    "curl -u admin:<password1> https://a.example",
    "login screen password policy of 90 days",
    "Cookie: consent=yes; the session is kept for 20 minutes",
    "the figures of fig_2 and fm2 radio, key-value stores, pattern.matching",
    "http://[::1]:8080/a@b and tel://:@",
    "https://a.example/?sig=short",
    "Password: none",
    "the secret: op://vault/item42/password",
    "token: 2048-dim",
    "chunk_tokens = 200, max_token: 4096",
    "https://example.com/a:b@c and user@example.com:8080",
    "sk-learn, task-force-one-two-three-four-five-six-seven",
    "npm_config_cache=/tmp/x1",
    "export TOKEN=$(cat file1)",
    "Passwort: liegt im Tresor 7",
    "пароль: в сейфе 12",
    "data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAUAAAAFCAYAAACNbyblAAAAHElEQVQI12P4",
    "The token: a JWT signed by the gateway; expires 2026-05-26T10:00:00Z",
    "secret key: 2026-05-26T10:00:00Z",
    "-----BEGIN CERTIFICATE-----",
    "password:\nsee 1Password entry",
    "## Token\n\nThe token is 2048wide here",
    "password: [see note2abc](x.md)",
    "password: [[note-2024a]]",
    "password: {{ vault_pw1 }} or {DB_PASS1}",
    "- token:\n- other2thing9",
    "token:\nkey: value1234abcd",
    "password:\n\n- step1 do it",
    "password:\n  user: bob\nname: abc123def",
    "password:\n  https://wiki.example.com/x1",
    "password:\n\nfirst look here\nhunter2wombat",
    "Secrets:\n\n- rotate every 90 days\n- ask ana2 first",
    "| token | count |\n|---|---|\n| gpt | 4096 |",
    "| user | password |\n|---|---|\n| bob2wombat | - |\n\nabc | hunter2wombat",
    "| password policy | 90days |",
    "compass: abc1234 and bypass: route66x",
    "| password |\nhunter2wombat",
    "The password of staging\n---\nhunter2wombat",
    "Password\n--------\nIt is in item42 of the vault.",
    "---\ntitle: Refresh token\n---\nrelease2024notes",
    "password:\n  see the wiki\n---\nhunter2wombat",
    "- name: password\n- value: hunter2wombat",
    "- name: password\n  type: hunter2wombat",
    "- name: password\n\n  hunter2wombat",
    "- name: DB_PASSWORD\n  value: $DB_PASSWORD2",
    "- name: DB_PASSWORD\n  value: '{{.Values.password2}}'",
    "- name: DB_PASSWORD\n  valueFrom: secret2wombat",
]


@pytest.mark.parametrize("kind", SECRETS)
def test_a_token_is_found_and_masked_whole(kind: str) -> None:
    text = f"note\nthe key is {SECRETS[kind]} since May.\nend"
    assert [found.line for found in found_in(text)] == [2]
    masked = redact(text)
    assert masked.startswith("note\nthe key is (redacted ")
    assert masked.endswith(") since May.\nend")


@pytest.mark.parametrize("kind", ASSIGNED)
def test_the_value_behind_a_telling_name_is_masked_alone(kind: str) -> None:
    before, secret, behind = ASSIGNED[kind]
    assert len(find_secrets(before + secret + behind)) == 1
    masked = redact(before + secret + behind)
    assert masked.startswith(f"{before}(redacted ")
    assert masked.endswith(f"){behind}")
    assert secret not in masked


@pytest.mark.parametrize("text", BELOW)
def test_the_value_below_a_telling_name_is_masked_alone(text: str) -> None:
    given, secret = text.replace("X", "hunter2wombat"), "(redacted Password or key)"
    assert [found.line for found in found_in(given)] == [text[: text.index("X")].count("\n") + 1]
    assert redact(given) == text.replace("X", secret)


def test_all_values_of_a_block_are_masked() -> None:
    text = "password:\n  prod: hunter2wombat\n  dev: wombat2hunter\n\n  old: [abc123, 'def456']\nport: abc123def\n"
    assert redact(text).count("(redacted") == 4
    assert redact(text).endswith("port: abc123def\n")


def test_a_block_is_looked_at_for_so_many_lines_only() -> None:
    text = "password:\n" + "  hunter2wombat\n" * 100
    assert 10 < len(find_secrets(text)) < 100


@pytest.mark.parametrize("text", ORDINARY)
def test_ordinary_text_is_left_alone(text: str) -> None:
    assert find_secrets(text) == []
    assert redact(text) == text


def test_what_was_masked_is_no_secret_any_more() -> None:
    text = "\n".join([*SECRETS.values(), *(f"{a}{b}{c}" for a, b, c in ASSIGNED.values())])
    masked = redact(text)
    assert redact(masked) == masked
    assert not any(secret in masked for secret in SECRETS.values())


@given(before=st.text(" ab\n", max_size=5000), behind=st.text(" ab\n", max_size=50))
def test_a_secret_is_found_wherever_it_stands(before: str, behind: str) -> None:
    text = f"{before} {SECRETS['github']} {behind}"
    assert [found.line for found in found_in(text)] == [before.count("\n") + 1]


_PARTS = ["password", ":", "\n", " ", "- ", "hunter2", "[", "]", ",", "|", "-", "# ", "a: ", "=", "name: ", "value: "]


@given(st.lists(st.sampled_from(_PARTS)))
def test_masking_blocks_ends_and_masks_once(parts: list[str]) -> None:
    masked = redact("".join(parts))
    assert redact(masked) == masked


@given(st.text(alphabet="sk-AKIeyJ.:/=@ \"'pasword1BEGIN\n", max_size=400))
def test_masking_ends_and_masks_once(text: str) -> None:
    masked = redact(text)
    assert redact(masked) == masked

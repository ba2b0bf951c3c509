"""Pairs of memories, judged by hand: the set that the threshold of near-duplicates was chosen on."""

from __future__ import annotations

# The same fact said again, corrected in a detail, or with a little more.
NEAR = [
    ("We use uv for Python packaging.", "For Python packaging we use uv."),
    ("We use uv for Python packaging.", "We use uv for packaging Python projects."),
    ("Ana prefers short answers without emoji.", "Ana prefers short answers, no emoji."),
    ("Deploys go out on Tuesday at 10:00.", "Deploys go out on Thursday at 10:00."),
    (
        "The staging database runs on db-2 and is reset every night at 02:00 UTC.",
        "The staging database runs on db-2; it is reset each night at 02:00 UTC.",
    ),
    (
        "Never force-push to main. Open a pull request and wait for one review.",
        "Never force-push to the main branch. Open a pull request and wait for one review.",
    ),
    ("Retry the payments API with exponential backoff.", "Retry payments API calls with an exponential backoff."),
    (
        "SQLite was chosen over PostgreSQL because the tool must work offline on laptops.",
        "We chose SQLite over PostgreSQL because the tool has to work offline on laptops.",
    ),
    (
        "Tests run with pytest -n 2; more workers exhaust the memory of the CI machine.",
        "Tests run with pytest -n 2, as more workers exhaust the CI machine's memory.",
    ),
    ("Користувач надає перевагу коротким відповідям.", "Користувач надає перевагу коротким відповідям без вступу."),
    ("Сервер staging перезапускається щоночі о 02:00.", "Щоночі о 02:00 сервер staging перезапускається."),
    ("用户喜欢简短的回答。", "用户喜欢简短回答。"),
    ("El servidor de pruebas se reinicia cada noche.", "El servidor de pruebas se reinicia todas las noches."),
    ("Die Datenbank wird jede Nacht gesichert.", "Die Datenbank wird jede Nacht um zwei gesichert."),
    (
        "# Release\n\n1. Bump the version\n2. Run make release\n3. Publish to PyPI\n",
        "# Release\n\n1. Bump the version\n2. Update the changelog\n3. Run make release\n4. Publish to PyPI\n",
    ),
    (
        "Bob is on vacation from 2026-07-01 to 2026-07-14; Carol reviews his pull requests.",
        "Bob is on vacation from 2026-07-01 to 2026-07-15; Carol reviews his pull requests.",
    ),
    ("The user's timezone is Europe/Kyiv.", "User's timezone: Europe/Kyiv"),
    ("Always run make lint before you commit.", "Always run `make lint` before committing."),
    # Another value in the place of the old one.
    ("The port is 80.", "The port is 443."),
    ("port is 80", "port is 443"),
    ("Deploys go out on Tuesday.", "Deploys go out on Friday."),
    (
        "The backup of the orders database runs at 02:00 on Sunday.",
        "The backup of the orders database runs at 03:30 on Monday.",
    ),
    ("Always run migrations on staging.", "Never run migrations on staging."),
    ("Ana likes tea.", "Ana likes coffee."),
    ("Ana's office is in Lisbon.", "Ana's office is in Porto."),
    ("Сервер працює на порту 80.", "Сервер працює на порту 443."),
    ("El despliegue es el martes.", "El despliegue es el viernes."),
    ("服务器在上海。", "服务器在北京。"),
    ("端口是80", "端口是443"),
]

# Another fact, though of the same form or about the same thing.
APART = [
    (
        "Server alpha-1 runs PostgreSQL 14 on port 5432.",
        "Server beta-2 runs Redis 7 on port 6379.",
    ),
    ("Deploys go out on Tuesday at 10:00.", "Deploys need two approvals from the platform team."),
    ("Ana prefers short answers without emoji.", "Ana works from Lisbon on Fridays."),
    ("POL-358: timeouts of the billing export.", "POL-412: wrong totals of the billing report."),
    ("We use uv for Python packaging.", "We use pnpm for JavaScript packaging."),
    ("We use uv for Python packaging.", "We use ruff for Python linting."),
    ("Never force-push to main.", "Never commit secrets to the repository."),
    (
        "The staging database runs on db-2 and is reset every night.",
        "The production database runs on db-1 and is backed up every hour.",
    ),
    ("Retry the payments API with exponential backoff.", "The payments API signs its webhooks with HMAC."),
    ("Bob likes tea.", "Bob likes hiking in the mountains."),
    ("Meeting of 2026-03-02: roadmap for search.", "Meeting of 2026-04-06: budget for hardware."),
    ("Користувач надає перевагу коротким відповідям.", "Користувач працює з Києва по п'ятницях."),
    ("用户喜欢简短的回答。", "用户在上海的办公室工作。"),
    ("El servidor de pruebas se reinicia cada noche.", "El servidor de correo acepta solo conexiones cifradas."),
    (
        "SQLite was chosen over PostgreSQL because the tool must work offline on laptops.",
        "The tool must start in less than a second on old laptops.",
    ),
    ("It is in the box.", "He is on the bus."),
    (
        "Tests run with pytest -n 2; more workers exhaust the memory of the CI machine.",
        "The CI machine has 2 cores and 8 GB of memory; benchmarks run there at night.",
    ),
    (
        "# Release\n\n1. Bump the version\n2. Run make release\n3. Publish to PyPI\n",
        "# Hotfix\n\n1. Branch from the last tag\n2. Cherry-pick the fix\n3. Ask for a review\n",
    ),
    ("Ticket 1041 is blocked by the vendor.", "Ticket 2077 waits for the design review."),
    ("Ticket 1041 is blocked by the vendor.", "Ticket 2077 is waiting for a review."),
    ("The port of Redis is 6379.", "The admin of Grafana is on floor 3."),
    ("Call Ana on 555-1234.", "Pay Bob by 2026-03-02."),
    ("The API key lives in the vault under team/ci.", "The TLS certificate lives in the vault under team/web."),
]

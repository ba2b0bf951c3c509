"""Words that mark a decision and names of months and days, one row a language. Adding a language is adding a row.

English, German, Ukrainian and Chinese dates come from ``text.date_words``; what is here adds the abbreviations and the
languages that have no table there.
"""

from __future__ import annotations

from cogvault.text.date_words import LANGUAGES

# Forms as they stand in sentences that say what was decided, found out or demanded, casefolded.
_DECISIONS = {
    "en": "decided decide decision decisions chose chosen choose agreed agreement approved rejected must never "
    "always because instead switched replaced fixed cause caused conclusion prefer prefers",
    "de": "entschieden entscheiden entscheidung beschlossen beschluss gewählt vereinbart genehmigt abgelehnt "
    "muss niemals immer weil stattdessen ersetzt behoben ursache bevorzugt",
    "uk": "вирішили вирішено вирішив вирішила рішення обрали обрано домовилися погодили затвердили відхилили "
    "мусить треба ніколи завжди тому замість замінили виправили виправлено причина",
    "ru": "решили решено решил решила решение выбрали выбрано договорились согласовали утвердили отклонили "
    "должен нужно никогда всегда потому вместо заменили исправили исправлено причина",
    "es": "decidimos decidió decidido decisión elegimos eligió elegido acordamos acordado acuerdo aprobado "
    "rechazado debe nunca siempre porque reemplazado corregido causa",
    "fr": "décidé décidons décision choisi choisissons convenu accord approuvé rejeté doit jamais toujours "
    "parce remplacé corrigé cause préfère",
    # Pairs of characters, as ``centrality.words`` gives them.
    "zh": "决定 選擇 选择 采用 決定 改用 同意 批准 拒绝 必须 禁止 因为 原因 结论 修复 替换",
}
DECISION_WORDS = frozenset(word for row in _DECISIONS.values() for word in row.split())

_MONTHS = (
    "jan feb mar apr may jun jul aug sep oct nov dec",
    "jan feb mär apr mai jun jul aug sept okt nov dez",
    "января февраля марта апреля мая июня июля августа сентября октября ноября декабря",
    "enero febrero marzo abril mayo junio julio agosto septiembre octubre noviembre diciembre",
    "janvier février mars avril mai juin juillet août septembre octobre novembre décembre",
)
MONTHS = {
    name.casefold(): number
    for names in (
        *(row.split() for row in _MONTHS),
        *(names for language in LANGUAGES if language.words for names in (language.months, language.month_names)),
    )
    for number, name in enumerate(names, 1)
}

# Written with capitals without being names of anything.
CALENDAR_WORDS = frozenset(MONTHS) | frozenset(day for language in LANGUAGES for day in language.weekdays)

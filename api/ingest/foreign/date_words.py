"""Names of months, weekdays, halves of the day and time zones in dates, as plain English texts.

``Mi., 1. Okt. 2025 6:15 Uhr MESZ`` becomes ``1 Oct 2025 6:15 +0200``, ``2025年10月1日 6時15分``
becomes ``2025-10-01 6:15``, ``1. 10. 2025`` becomes ``1.10.2025``.
"""

from __future__ import annotations

import re
import unicodedata
from typing import Final

_MONTHS: Final = {
    "Jan": "january januar janvier janv enero ene gennaio gen januari janeiro stycznia sty",
    "Feb": "february februar fevrier fevr fev febrero febbraio februari fevereiro lutego lut",
    "Mar": "march marz maerz mrz mars marzo maart mrt marco marca",
    "Apr": "april avril avr abril abr aprile kwietnia kwi",
    "May": "may mai mayo maggio mag mei maio maj maja",
    "Jun": "june juni juin junio giugno giu junho czerwca cze",
    "Jul": "july juli juillet juil julio luglio lug julho lipca lip",
    "Aug": "august aout agosto ago augustus augusti sierpnia sie",
    "Sep": "september sept septembre septiembre setiembre settembre set setembro wrzesnia wrz",
    "Oct": "october oktober okt octobre octubre ottobre ott outubro out pazdziernika paz",
    "Nov": "november novembre noviembre novembro listopada lis",
    "Dec": "december dezember dez decembre diciembre dic dicembre dezembro desember des grudnia"
    " gru",
}
_WEEKDAYS: Final = (
    "monday mon tuesday tue tues wednesday wed thursday thu thurs friday fri saturday sat sunday"
    " sun"
    " montag mo dienstag di mittwoch mi donnerstag do freitag fr samstag sa sonnabend sonntag so"
    " lundi lun mardi mercredi mer jeudi jeu vendredi ven samedi sam dimanche dim"
    " lunes martes miercoles mie jueves jue viernes vie sabado sab domingo dom"
    " lunedi martedi mercoledi giovedi gio venerdi sabato domenica"
    " maandag ma dinsdag woensdag wo donderdag vrijdag vr zaterdag za zondag zo"
)
_FILLERS: Final = "uhr um at de den le om kl klo del"
_ZONES: Final = {
    "utc": "+0000", "gmt": "+0000", "wet": "+0000", "west": "+0100", "bst": "+0100",
    "cet": "+0100", "mez": "+0100", "cest": "+0200", "mesz": "+0200", "eet": "+0200",
    "eest": "+0300", "est": "-0500", "edt": "-0400", "cst": "-0600", "cdt": "-0500",
    "mst": "-0700", "mdt": "-0600", "pst": "-0800", "pdt": "-0700", "akst": "-0900",
    "akdt": "-0800", "hst": "-1000", "aest": "+1000", "aedt": "+1100", "acst": "+0930",
    "awst": "+0800", "nzst": "+1200", "nzdt": "+1300",
}  # fmt: skip
_PLAIN: Final[dict[str, str]] = {
    **dict.fromkeys((*_WEEKDAYS.split(), *_FILLERS.split()), ""),
    **_ZONES,
    **{name: month for month, names in _MONTHS.items() for name in (month.lower(), *names.split())},
}
_SPACES: Final = str.maketrans("\u00a0\u202f\u2009", "   ")
_WORD: Final = re.compile(r"[^\W\d_]{2,}\.?")
_HALF: Final = re.compile(r"(?i)\b([ap])\.?\s?m\b\.?")
_AROUND: Final = re.compile(rf"[\s.,/-]*\b({'|'.join(_MONTHS)})\b[\s.,/-]*")
_OFFSET: Final = re.compile(r"(?:UTC|GMT)(?=[+-]\d)")
_CHARACTERS: Final = re.compile(r"(\d{4})\s?年\s?(\d{1,2})\s?月\s?(\d{1,2})\s?日")
_CHARACTER_CLOCK: Final = re.compile(r"(\d{1,2})\s?[時时点]\s?(\d{1,2})\s?分(?:\s?(\d{1,2})\s?秒)?")
_AT: Final = re.compile(r"(?i)\s(?:à|a|a las|a la|alle|às)\s(?=\d)")
_INTERVAL: Final = re.compile(
    r"((?:^|\s)\d{1,2}[:.h]\d\d)(?:\s?[-–]\s?|\s(?:bis|to|till|tot|a)\s)\d{1,2}[:.h]\d\d$"
)
_SPACED_DAY: Final = re.compile(r"\b(\d{1,2})\. (\d{1,2})\. (?=\d{4}\b)")


def plain_date(text: str) -> str:
    """The text with English abbreviations of months, AM or PM, and offsets for names of zones."""
    text = _OFFSET.sub("", text.translate(_SPACES).strip())
    text = _CHARACTERS.sub(lambda day: f"{day[1]}-{day[2]:>02}-{day[3]:>02}", text)
    text = _CHARACTER_CLOCK.sub(lambda at: ":".join(f"{n:>02}" for n in at.groups() if n), text)
    text = _INTERVAL.sub(r"\1", _AT.sub(" ", text))
    text = _SPACED_DAY.sub(r"\1.\2.", text)
    text = _HALF.sub(lambda half: f"{half[1].upper()}M", text)
    text = _AROUND.sub(r" \1 ", _WORD.sub(_plain_word, text))
    return " ".join(text.split()).strip(", ")


def is_month(text: str) -> bool:
    return plain_date(text) in _MONTHS


def _plain_word(match: re.Match[str]) -> str:
    letters = unicodedata.normalize("NFKD", match[0].lower().rstrip("."))
    return _PLAIN.get(letters.encode("ascii", "ignore").decode(), match[0])

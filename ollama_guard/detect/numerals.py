"""Numbers as requests write them: in figures, in words of a few languages, in Chinese numerals."""

import re

_WORDS = {
    5: "five fünf cinq cinco cinque",
    6: "six",
    7: "seven",
    8: "eight",
    9: "nine",
    10: "ten zehn dix diez dieci dez десять 열 عشر",
    12: "twelve zwölf douze doce dodici doze двенадцать",
    15: "fifteen fünfzehn quinze quince quindici пятнадцать",
    20: "twenty zwanzig vingt veinte venti vinte двадцать 스무 عشرين",
    25: "twenty-five",
    30: "thirty dreissig trente treinta trenta trinta тридцать 서른 ثلاثين",
    40: "forty vierzig quarante cuarenta quaranta quarenta сорок 마흔 أربعين",
    50: "fifty fünfzig cinquante cincuenta cinquanta cinquenta пятьдесят 쉰 خمسين",
    60: "sixty sechzig soixante sesenta sessanta sessenta шестьдесят",
    70: "seventy siebzig setenta settanta семьдесят",
    80: "eighty achtzig ochenta ottanta oitenta восемьдесят",
    90: "ninety neunzig noventa novanta девяносто",
    100: "hundred hundert cent cien cento cem сто 백 مئة مائة",
    200: "zweihundert doscientas двести",
    500: "fünfhundert quinientas пятьсот",
    1000: "thousand tausend mille mil тысячу 천 ألف",
}
_VALUES = {word: number for number, words in _WORDS.items() for word in words.split()}
_UNITS = {"two": 2, "three": 3, "four": 4, "five": 5, "six": 6, "seven": 7, "eight": 8, "nine": 9}
_HUNDREDS = re.compile(rf"\b({'|'.join(_UNITS)})\s+hundred\b")
_WORD = re.compile(r"[^\W\d_]+(?:-five)?")
_JOINED = "mal"
"""German says "fünfzigmal"."""
_HAN = {char: number for number, char in enumerate("零一二三四五六七八九")} | {"两": 2}
_HAN_TENS = {"十": 10, "百": 100, "千": 1000}


def in_figures(text: str) -> str:
    """The same text with its numbers in words (case folded, Chinese ones left out) as figures."""
    if "hundred" in text:
        text = _HUNDREDS.sub(lambda match: str(100 * _UNITS[match[1]]), text)
    return _WORD.sub(_figures, text)


def value(text: str) -> int:
    """The number that figures or Chinese numerals stand for."""
    return _han(text) if text[0] in _HAN or text[0] in _HAN_TENS else int(re.sub(r"\D", "", text))


def _figures(match: re.Match[str]) -> str:
    word = match[0]
    number = _VALUES.get(word)
    if number is not None:
        return str(number)
    number = _VALUES.get(word.removesuffix(_JOINED)) if word.endswith(_JOINED) else None
    return word if number is None else f"{number} {_JOINED}"


def _han(text: str) -> int:
    total, digit = 0, 0
    for char in text:
        if char in _HAN_TENS:
            total, digit = total + (digit or 1) * _HAN_TENS[char], 0
        else:
            digit = _HAN[char]
    return total + digit

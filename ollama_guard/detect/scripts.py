"""Scripts whose letters say more than others, or stand without blanks: ranges for character classes."""

import re

IDEOGRAPHS = "\u3040-\u30ff\u3400-\u9fff"
"""Chinese characters and kana."""
HAN = f"{IDEOGRAPHS}\uac00-\ud7af"
"""With Hangul: each letter is looked at as a word."""
UNSPACED = re.compile(f"[{HAN}\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff]")
"""A letter of a script that needs no blanks, or in which a number stands next to its word without one."""

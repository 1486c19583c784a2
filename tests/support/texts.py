"""Texts that people type, or might: every page takes any of them."""

from __future__ import annotations

LONG = " ".join(["python"] * 600)
TYPED = {
    "an empty text": "",
    "spaces": "   ",
    "one letter": "x",
    "600 words": LONG,
    "the longest text": "word " * 4000,
    "one endless word": "a" * 20_000,
    "emoji": "I 💛 my 🐍 and 👩‍👧",
    "a flag and a skin tone": "🇺🇦 👍🏽",
    "right to left": "אני אוהב את הפייתון שלי",
    "both directions": "say مرحبا to 12 pythons",
    "Chinese": "我喜欢蟒蛇",
    "combining signs": "z͑ͫ̓ͪ̂ͫ̽͏̴̙̤̞͉͚̯̞̠͍A̴̵̜̰͔ͫ͗͢L̠ͨͧͩ͘G̴̻͈͍͔̹̑͗̎̅͛́Ǫ̵̹̻̝̳͂̌̌͘!",
    "HTML": "<b>bold</b> <script>alert('python')</script>",
    "Markdown": "**bold** `code` [link](http://example.org) ![x](http://example.org/x.png)",
    "LaTeX and emoji codes": "$x^2$ :snake: :material/home: :red[python]",
    "NUL": "my pyt\x00hon \x00 is",
    "only NUL": "\x00",
    "control characters": "a\x01b \x1b[31mred\x7f",
    "line ends": "one\ntwo\r\nthree",
    "zero width": "\u200b\u200d\ufeff",
    "a typed mask": "I love my [MASK]",
    "typed special tokens": "[CLS] [SEP] [PAD] [UNK]",
    "percent and braces": "%{x} {0} %s %(a)s",
    "not normal forms": "ﬁne ｐｙｔｈｏｎ ﷽",
    "private and unassigned": "\ue000 \U000fffff \uffff",
}
"""Typed texts that a page must take."""

AWKWARD = {
    "double quotes": 'She said "python" and \'python\' and """python"""',
    "backslashes": r"C:\new\python\x41\u0041 \ python\\",
    "line ends": "one\npython\r\nthree\u2028four",
    "tabs and controls": "a\tpython\x07\x1b[31m",
    "emoji": "👩‍👧 loves her 🐍 python 🏳️‍🌈",
    "a NUL": "a \x00 python \x00\x00",
    "right to left": "אני אוהב את python שלי مرحبا",
    "direction marks": "a \u202epython\u202c b",
    "another script": "我 喜欢 python 和 日本語",
    "accents": "na\u00efve cafe\u0301 python ﬁne",
    "markup": "<b>python</b> {x} {0} %s $y$",
    "a typed special token": "[CLS] my [MASK] python [SEP]",
    "braces of a format": "{python} {max_length} {pool}",
    "beyond the first plane": "𝓹𝔂 python 𐍈",
}
"""Texts that a snippet must write so that Python reads them back."""
LABELS = (
    *("the", "python", "##on", "[CLS]", "[SEP]", "[UNK]", "[PAD]", "<s>", "a", "A", ".", "*", "`"),
    *("🐍", "👩‍👧", "🇺🇦", "שלי", "مرحبا", "蟒", "ﬁ", "e\u0301", "<b>", "$x$", ":snake:", "Ġthe"),
    *("▁the", "|", "http://a.b", "\\", "%s", "{0}", "0.50", "50%", "", "x" * 40, "x" * 41),
)
"""Names of tokens as models have them; some read alike when cut."""

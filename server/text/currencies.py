"""Currencies: signs, codes and names, to ISO 4217 codes."""

from typing import Final

from server.text.tokens import word_set

SIGNS: Final = {
    "$": "USD", "€": "EUR", "£": "GBP", "¥": "JPY", "₪": "ILS", "₹": "INR", "₩": "KRW",
    "₽": "RUB", "₺": "TRY", "₴": "UAH", "₦": "NGN", "₫": "VND", "฿": "THB", "₱": "PHP",
    "₡": "CRC", "₲": "PYG", "₸": "KZT", "₼": "AZN", "₾": "GEL", "₵": "GHS",
}  # fmt: skip

CODES: Final = word_set(
    "AED AFN ALL AMD AOA ARS AUD AWG AZN BAM BBD BDT BGN BHD BIF BMD BND BOB BRL BSD BTN BWP "
    "BYN BZD CAD CDF CHF CLP CNY COP CRC CUP CVE CZK DJF DKK DOP DZD EGP ERN ETB EUR FJD FKP "
    "GBP GEL GHS GIP GMD GNF GTQ GYD HKD HNL HTG HUF IDR ILS INR IQD IRR ISK JMD JOD JPY KES "
    "KGS KHR KMF KPW KRW KWD KYD KZT LAK LBP LKR LRD LSL LYD MAD MDL MGA MKD MMK MNT MOP MRU "
    "MUR MVR MWK MXN MYR MZN NAD NGN NIO NOK NPR NZD OMR PAB PEN PGK PHP PKR PLN PYG QAR RON "
    "RSD RUB RWF SAR SBD SCR SDG SEK SGD SHP SLE SOS SRD SSP STN SVC SYP SZL THB TJS TMT TND "
    "TOP TRY TTD TWD TZS UAH UGX USD UYU UZS VED VES VND VUV WST XAF XCD XOF XPF YER ZAR ZMW "
    "ZWL"
)
CODES_LOWER: Final = {code.lower(): code for code in CODES}

COMMON_WORDS: Final = word_set(
    "all ang cop cup gel kid lak mad mop mur nad pen sos top try won rand lev lei "
    "dong nis buck bucks real"
)
"""Codes and names that are other words as well: they count only next to a number."""

NAMES: Final = {
    "dollar": "USD", "buck": "USD", "euro": "EUR", "pound": "GBP", "sterling": "GBP",
    "quid": "GBP", "yen": "JPY", "shekel": "ILS", "sheqel": "ILS", "nis": "ILS",
    "rupee": "INR", "yuan": "CNY", "renminbi": "CNY", "rmb": "CNY", "franc": "CHF",
    "zloty": "PLN", "koruna": "CZK", "krona": "SEK", "kronor": "SEK", "krone": "DKK",
    "forint": "HUF", "lira": "TRY", "rouble": "RUB", "ruble": "RUB", "peso": "MXN",
    "rand": "ZAR", "baht": "THB", "ringgit": "MYR", "rupiah": "IDR", "won": "KRW",
    "dirham": "AED", "riyal": "SAR", "hryvnia": "UAH", "naira": "NGN",
    "leu": "RON", "lei": "RON", "lev": "BGN", "leva": "BGN", "dong": "VND",
}  # fmt: skip

_OFFICIAL: Final = {
    "us dollar": "USD", "american dollar": "USD", "u s dollar": "USD",
    "canadian dollar": "CAD", "australian dollar": "AUD", "new zealand dollar": "NZD",
    "hong kong dollar": "HKD", "singapore dollar": "SGD", "taiwan dollar": "TWD",
    "british pound": "GBP", "pound sterling": "GBP", "pounds sterling": "GBP",
    "egyptian pound": "EGP", "lebanese pound": "LBP",
    "japanese yen": "JPY", "chinese yuan": "CNY", "swiss franc": "CHF",
    "israeli shekel": "ILS", "new shekel": "ILS", "indian rupee": "INR",
    "pakistani rupee": "PKR", "sri lankan rupee": "LKR", "nepalese rupee": "NPR",
    "swedish krona": "SEK", "icelandic krona": "ISK", "norwegian krone": "NOK",
    "danish krone": "DKK", "czech koruna": "CZK", "polish zloty": "PLN",
    "hungarian forint": "HUF", "turkish lira": "TRY", "russian rouble": "RUB",
    "russian ruble": "RUB", "mexican peso": "MXN", "argentine peso": "ARS",
    "chilean peso": "CLP", "colombian peso": "COP", "philippine peso": "PHP",
    "brazilian real": "BRL", "south african rand": "ZAR", "thai baht": "THB",
    "south korean won": "KRW", "korean won": "KRW", "romanian leu": "RON",
    "bulgarian lev": "BGN", "saudi riyal": "SAR", "qatari riyal": "QAR",
    "uae dirham": "AED", "moroccan dirham": "MAD", "kuwaiti dinar": "KWD",
    "jordanian dinar": "JOD", "serbian dinar": "RSD",
}  # fmt: skip

PHRASES: Final = {tuple(name.split()): code for name, code in (NAMES | _OFFICIAL).items()} | {
    (*name.split()[:-1], name.split()[-1] + "s"): code
    for name, code in (NAMES | _OFFICIAL).items()
    if not name.endswith("s")
}
LONGEST_PHRASE: Final = max(map(len, PHRASES))
FIRST_WORDS: Final = frozenset(phrase[0] for phrase in PHRASES)

# US$, C$, A$ …
SIGN_PREFIXES: Final = {
    "us": "USD", "c": "CAD", "ca": "CAD", "a": "AUD", "au": "AUD", "nz": "NZD", "hk": "HKD",
    "s": "SGD", "r": "BRL", "mx": "MXN",
}  # fmt: skip

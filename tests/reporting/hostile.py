"""A hundred strings that act where they are not shown as text, and how to tell that one did."""

import re
from html.parser import HTMLParser

ESC, CSI, BELL = "\x1b", "\x9b", "\x07"

HTML = [
    "<script>document.title='ran'</script>",
    "</script><script>alert(1)</script>",
    "<img src=x onerror=alert(1)>",
    '"><img src=x onerror="alert(1)">',
    "'><svg onload=alert(1)>",
    "<svg/onload=alert(1)>",
    "<iframe src=javascript:alert(1)>",
    "<a href='javascript:1'>a</a>",
    "<style>*{display:none}</style>",
    "<link rel=stylesheet href=//x.example>",
    "<base href=//x.example>",
    "<meta http-equiv=refresh content=0;//x.example>",
    "<form action=//x.example><button>",
    "<b>bold</b>",
    "<!-- comment",
    "-->",
    "<![CDATA[x]]>",
    "<?xml version='1.0'?>",
    "&lt;b&gt;",
    "&#60;b&#62;",
    "&amp;amp;",
    "<details open ontoggle=alert(1)>",
    "<template><b>",
    "</title><h1>t",
    "</style><h1>s",
    "</main><h1>m",
    "<math><mi//xlink:href='data:x'>",
    "<input autofocus onfocus=alert(1)>",
    "<bdo dir=rtl>x",
    "<plaintext>",
    '" onmouseover="alert(1)',
    "' onclick='alert(1)",
    "` onload=alert(1) `",
    "javascript:alert(1)",
    'x" style="position:fixed',
    "expression(alert(1))",
    "url(//x.example/a.png)",
    "<object data=//x.example>",
]
MARKDOWN = [
    "[link](http://x.example)",
    "![image](http://x.example/a.png)",
    "[ref]: http://x.example",
    "<http://x.example>",
    "http://x.example",
    "www.x.example",
    "*em*",
    "**strong**",
    "_em_",
    "__strong__",
    "`code`",
    "```\ncode",
    "~~gone~~",
    "# heading",
    "> quote",
    "- item",
    "1. item",
    "a | b | c",
    "|---|",
    "\n\n# heading",
    "\\",
    "\\*",
    "[x] task",
    "$x^2$",
    "a  \nb",
    "***",
    "===",
    "    code",
    "[^1]",
    "![][x]",
]
TERMINAL = [
    f"{ESC}[31mred{ESC}[0m",
    f"{ESC}]0;title{BELL}",
    f"{ESC}[2J",
    f"{ESC}]8;;http://x.example{ESC}\\link",
    f"{CSI}31m",
    "\rover",
    "a\bb",
    BELL,
    "\x00nul",
    "a\tb",
    "a\nb",
    "a\x0bb",
    "\x85next",
    "\u2028line",
    "\u202ereversed",
    "\u2066isolated",
    "[bold]rich[/bold]",
    "[/]",
    "[link=http://x.example]x[/link]",
    ":smile:",
]
TEMPLATES = [
    "{{ 7 * 7 }}", "{% raw %}", "{# no #}", "{0}{name}%s%(x)s", "${7*7}", "=1+1", "@SUM(A1)",
    "+cmd|' /C calc'!A0",
    "$(touch x)", "; rm -rf x", "--help", "x" * 10_000,
]  # fmt: skip
STRINGS = [*HTML, *MARKDOWN, *TERMINAL, *TEMPLATES]

# Signs that a terminal obeys, that turn text round, and that end a line unseen.
LIVE = re.compile(
    "[\x00-\x09\x0b-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069\ud800-\udfff]"
)


class Elements(HTMLParser):
    """The elements of a page, each as its name and the names of its attributes, and its scripts."""

    def __init__(self, html):
        super().__init__(convert_charrefs=True)
        self.found, self.scripts, self.links = set(), set(), set()
        self._tag = None
        self.feed(html)
        self.close()

    def handle_starttag(self, tag, attrs):
        self.found.add((tag, tuple(sorted(name for name, _ in attrs))))
        self.links |= {value for name, value in attrs if name in ("href", "src", "action", "data")}
        self._tag = tag if dict(attrs).get("type") != "application/json" else None

    def handle_endtag(self, tag):
        self._tag = None

    def handle_data(self, data):
        if self._tag in ("script", "style"):
            self.scripts.add(data)

    def handle_comment(self, data):
        self.found.add(("comment", data))

    def handle_pi(self, data):
        self.found.add(("instruction", data))

    def unknown_decl(self, data):
        self.found.add(("declaration", data))


def assert_text_alone(html, like):
    """Fail where a page has an element, an attribute, a link or a script that a tame one lacks."""
    page, tame = Elements(html), Elements(like)
    assert page.found <= tame.found, page.found - tame.found
    assert page.scripts <= tame.scripts
    assert page.links <= tame.links
    assert not LIVE.search("".join(html.split("\n")).replace("\t", "")), "control characters"


def assert_inert(text):
    """Fail where a terminal would do more than show a text."""
    found = LIVE.search(text)
    assert found is None, (found, text[max(0, found.start() - 40) : found.end() + 40])

"""Write an outcome as JUnit XML, which pipelines of all makers show as tests."""

import re
from xml.etree import ElementTree

from gerrymend.reporting.pipeline.outcome import Outcome
from gerrymend.reporting.wording import visible

# Beside what `visible` writes out, XML 1.0 has no place for these, not even escaped.
_NO_XML = re.compile("[\ufffe\uffff]")


def junit_xml(outcome: Outcome) -> str:
    """Return a suite of one test, which is the gate.

    A gate that is shut because something was shown is a failure, and one that is undecided an
    error: JUnit knows no third, and both are red.

    >>> from gerrymend.reporting.pipeline.outcome import Outcome
    >>> told = {"is_reserved": False, "sentences": (), "warnings": (), "text": "All."}
    >>> outcome = Outcome("audit", "none exceeds gamma", 1, "Too much", reason="a < b", **told)
    >>> print(junit_xml(outcome))
    <?xml version="1.0" encoding="UTF-8"?>
    <testsuites tests="1" failures="1" errors="0">
      <testsuite name="gerrymend audit" tests="1" failures="1" errors="0" skipped="0">
        <testcase classname="gerrymend.audit" name="none exceeds gamma">
          <failure message="Too much. a &lt; b" type="exceeds">All.</failure>
        </testcase>
      </testsuite>
    </testsuites>
    """
    counted = {"tests": "1", "failures": str(int(outcome.fails)),
               "errors": str(int(not outcome.passes and not outcome.fails))}  # fmt: skip
    suites = ElementTree.Element("testsuites", counted)
    named = {"name": f"gerrymend {outcome.command}", **counted, "skipped": "0"}
    suite = ElementTree.SubElement(suites, "testsuite", named)
    case = ElementTree.SubElement(
        suite, "testcase", classname=f"gerrymend.{outcome.command}", name=_line(outcome.tested)
    )
    if outcome.passes:
        place = ElementTree.SubElement(case, "system-out")
    else:
        tag, kind = ("failure", "exceeds") if outcome.fails else ("error", "undecided")
        place = ElementTree.SubElement(case, tag, message=_line(outcome.brief), type=kind)
    place.text = _shown(outcome.text)
    ElementTree.indent(suites)
    return '<?xml version="1.0" encoding="UTF-8"?>\n' + ElementTree.tostring(suites, "unicode")


def _shown(text: str) -> str:
    """Return a text in letters that XML has."""
    return _NO_XML.sub(lambda match: f"⟨U+{ord(match[0]):04X}⟩", visible(text))


def _line(text: str) -> str:
    return " ".join(_shown(text).split())

"""The demonstration: the paper's toy example, audited, repaired, and audited again."""

from typing import Any

import numpy as np

from gerrymend.auditing import AuditReport, audit
from gerrymend.datasets import make_gerrymandered
from gerrymend.subgroups import LinearThresholds, SubgroupClass

"""Plan → plan, one rule a file; `driver` applies them in order."""

from dbsp.sql.rules.driver import apply_rules

__all__ = ["apply_rules"]

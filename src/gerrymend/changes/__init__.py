"""What changed: two audits compared (`compare`), and batches watched as they come (`watch`)."""

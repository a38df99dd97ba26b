"""Tell what a gate made of a command, in the forms that pipelines show."""

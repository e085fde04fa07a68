"""The report formats, one file each."""

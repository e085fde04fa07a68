"""What a T-Rex profile finds in the process that runs it: packets, streams and programs by T-Rex's names.

Written from T-Rex's documents and captures; nothing of T-Rex or Scapy is in it. What it lacks is refused by
name.
"""

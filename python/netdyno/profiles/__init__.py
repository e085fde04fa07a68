"""Traffic profiles of other testers as plans.

A profile of T-Rex is a Python program. `stl/` runs it in a process of its own and prints its streams as JSON;
`child.py` starts that process, and the rest turns the JSON into a plan.
"""

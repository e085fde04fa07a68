"""Configures a device for one case: rendered, checked, applied, verified, and undone even after a kill.

`render` makes the text of a template, `allow` checks which sections it touches, `journal` stores the undo
before anything is sent, `apply` sends, verifies and undoes it, and `replay` undoes what a killed run left.
`systems` has what belongs to each system, `dry` what would be sent.
"""

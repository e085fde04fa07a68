"""The options that `send` and `ndr` share, and the letters of iperf3."""

from __future__ import annotations

from collections.abc import Mapping

import click

from netdyno.cli.console import Command

IPERF3: Mapping[str, str] = {
    "-c": "needs no server: it sends from one port of this machine and receives on the other",
    "-s": "needs no server: it sends from one port of this machine and receives on the other",
    "-p": "needs no server, and so no port of it; `--to` is where frames go",
    "-l": "counts the whole frame: 46 B more than iperf3's datagram, `--size 1506B` for `-l 1460`",
    **dict.fromkeys(("-C", "-M", "-N", "-w"), "sends no TCP here: `method: tcp` of a plan does, with iperf3"),
    "-n": "sends for a time: `-t 10`",
    "-k": "sends for a time: `-t 10`",
    "-A": "chooses its core; in a plan, `cores` of the tester",
    "-B": "is given its ports: `netdyno send eth1 eth2`",
    **dict.fromkeys(("-S", "--dscp"), "has DSCP in a plan: `classes`"),
    "-O": "has no slow start to leave out",
    "-4": "sends IPv4 unless `--to` is an IPv6 address",
    "-6": "sends IPv6 to an IPv6 address: `--to 2001:db8::1`",
    "-f": "chooses the prefix of each number; `-J` has them without any",
    "-V": "says more of a run in its report: `netdyno report RUN`",
    "-Z": "has it of the card, where that can: `--backend af_xdp`",
    "-F": "makes its frames itself: `--size`, or `headers` of a plan",
    "-T": "has a title in a plan: `title`",
    "-L": "has the flow label in a plan: `headers`",
    **dict.fromkeys(
        ("-D", "-1"), "needs no server: it sends from one port of this machine and receives on the other"
    ),
    **dict.fromkeys(("--cport", "--dont-fragment"), "has headers in a plan: `headers`"),
    **dict.fromkeys(("--pacing-timer", "--fq-rate"), "paces each frame by itself: `-b`"),
    "--logfile": "prints to stdout: `| tee FILE`",
    "--get-server-output": "has both ends in what it prints",
    **dict.fromkeys(("-b", "-i"), "searches the load here; `netdyno send` sends one, a line a second"),
    "-u": "sends UDP unless a plan says otherwise: leave it out",
}
"""What iperf3's letters are here, those that the command does not have."""

LETTERS: Mapping[str, str] = {
    **{"--bitrate": "-b", "--bandwidth": "-b", "--parallel": "-P", "--udp": "-u"},
    **{"--client": "-c", "--server": "-s", "--port": "-p", "--length": "-l", "--window": "-w"},
    **{"--congestion": "-C", "--set-mss": "-M", "--no-delay": "-N", "--bytes": "-n", "--blockcount": "-k"},
    **{
        "--affinity": "-A",
        "--bind": "-B",
        "--tos": "-S",
        "--omit": "-O",
        "--version4": "-4",
        "--version6": "-6",
    },
    **{"--format": "-f", "--verbose": "-V", "--zerocopy": "-Z", "--file": "-F", "--title": "-T"},
    **{"--flowlabel": "-L", "--daemon": "-D", "--one-off": "-1"},
}
"""Their long words, those that netdyno does not have."""


class QuickCommand(click.Command):
    """A command that answers letters of iperf3."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """As any command, with iperf3's long words as its letters."""
        own = {word for one in self.params for word in one.opts}
        words: list[str] = []
        for arg in args:
            name, equals, value = arg.partition("=")
            letter = LETTERS.get(name)
            words += [letter, *([value] if equals else [])] if letter in own else [arg]
        try:
            return super().parse_args(ctx, words)
        except click.NoSuchOption as error:
            answer = IPERF3.get(LETTERS.get(error.option_name, error.option_name))
            if answer is None:
                raise
            raise click.UsageError(f"{error.option_name} of iperf3: netdyno {answer}", ctx) from error


def traffic_options(command: Command) -> Command:
    """The options that say which ports, and what is sent between them."""
    for option in reversed(
        (
            click.option(
                "--size",
                metavar="64B",
                help="Frame size with FCS, or a mix: imix.  [default: the least, 64B]",
            ),
            click.option(
                "-P", "--flows", metavar="N", type=click.IntRange(1), help="Flows.  [default: 4096]"
            ),
            click.option("--bidir", is_flag=True, help="Send both ways."),
            click.option("-R", "--reverse", is_flag=True, help="Send from the second port to the first."),
            click.option(
                "--vlan", metavar="10", type=click.IntRange(1, 4094), help="Tag frames on both ports."
            ),
            click.option("--to", metavar="ADDRESS", help="Where frames go: an address or a network."),
            click.option(
                "--via",
                metavar="GATEWAY[,GATEWAY]",
                help="The router's address at each port; without it frames go to the other port's MAC.",
            ),
            click.option(
                "--address",
                metavar="ADDRESS/LEN,...",
                help="The tester's own at each port, instead of the interface's.",
            ),
            click.option("--line", metavar="10Gbps", help="L1 rate of the lines, if not the interfaces'."),
            click.option(
                "--backend",
                metavar="NAME",
                default="auto",
                help="What carries an interface's frames: `netdyno ports`.",
            ),
            click.option("--emulated", metavar="KIND", help="An emulated device instead of ports: router."),
            click.option(
                "--setting", "settings", multiple=True, metavar="NAME=VALUE", help="Of the emulated device."
            ),
            click.option(
                "--memif",
                multiple=True,
                metavar="SOCKET",
                help="Memory shared with VPP or testpmd, not ports.",
            ),
            click.option("--force", is_flag=True, help="Load interfaces that this machine uses itself."),
        )
    ):
        command = option(command)
    return command

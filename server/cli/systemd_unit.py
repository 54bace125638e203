"""The text of a systemd unit that serves a project, and who can read what it needs."""

import os
import pwd
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

MARK: Final = "# Written by Orbit."
_HOMES: Final = ("/home", "/root", "/run/user")

_UNIT: Final = """\
{mark} Not to be changed by hand: `systemctl {scope}edit {name}` adds to it,
# `{remove}` removes it.
[Unit]
Description=Orbit ({config})
{after}
[Service]
Type=exec
ExecStart={command}
{reload}{environment}{user}Restart=on-failure
RestartSec=2s
TimeoutStopSec={stop_s:.0f}s
UMask=0077
LimitNOFILE=65536

# What a server of questions has no use for.
NoNewPrivileges=yes
LockPersonality=yes
MemoryDenyWriteExecute=yes
RestrictRealtime=yes
RestrictSUIDSGID=yes
RestrictNamespaces=yes
RestrictAddressFamilies=AF_INET AF_INET6 AF_UNIX
SystemCallArchitectures=native
SystemCallFilter=@system-service
SystemCallFilter=~@privileged
SystemCallErrorNumber=EPERM
{confined}
[Install]
WantedBy={target}
"""

_CONFINED: Final = """\

# It writes nowhere but to its data, and sees no more of the machine than it must.
{writes}
ProtectSystem=strict
ProtectHome={home}
PrivateTmp=yes
PrivateDevices=yes
PrivateUsers=yes
ProtectProc=invisible
ProtectClock=yes
ProtectHostname=yes
ProtectKernelLogs=yes
ProtectKernelModules=yes
ProtectKernelTunables=yes
ProtectControlGroups=yes
RemoveIPC=yes
CapabilityBoundingSet=
AmbientCapabilities=
"""


@dataclass(frozen=True, slots=True)
class Service:
    """What a unit is to run, and as whom: `user` for one of the system, None for one's own."""

    name: str
    command: Sequence[str]
    config: Path
    data_dir: Path
    remove: str
    stop_s: float
    user: str | None = None
    reloads: bool = False
    """Whether `systemctl reload` has it replace its workers, one after the other."""
    reads: Sequence[Path] = ()
    """Files and folders that it needs."""
    environment: Mapping[str, str] = field(default_factory=dict)

    @property
    def state_dir(self) -> Path:
        """Where a service of the system keeps its data unless it is told otherwise."""
        return Path("/var/lib") / self.name

    def text(self) -> str:
        of_system = self.user is not None
        variables = [f"{name}={value}" for name, value in self.environment.items()]
        return _UNIT.format(
            mark=MARK,
            name=self.name,
            scope="" if of_system else "--user ",
            remove=self.remove,
            config=_specifiers_escaped(str(self.config)),
            after="Wants=network-online.target\nAfter=network-online.target\n" if of_system else "",
            command=" ".join(map(unit_word, self.command)),
            reload="ExecReload=/bin/kill -HUP $MAINPID\n" if self.reloads else "",
            environment="".join(f"Environment={unit_word(each)}\n" for each in variables),
            user=f"User={self.user}\n" if of_system else "",
            stop_s=self.stop_s,
            # Without privileges these need user namespaces, which not every system allows.
            confined=self._confined() if of_system else "",
            target="multi-user.target" if of_system else "default.target",
        )

    def _confined(self) -> str:
        in_homes = any(path.is_relative_to(home) for path in self.reads for home in _HOMES)
        writes = f"StateDirectory={self.name}\nStateDirectoryMode=0700"
        if self.data_dir != self.state_dir:
            writes = f"ReadWritePaths={unit_word(str(self.data_dir))}"
        return _CONFINED.format(writes=writes, home="read-only" if in_homes else "yes")


def unit_word(text: str) -> str:
    """Return a word of a command line in a unit, in quotes where it needs them."""
    escaped = _specifiers_escaped(text).replace("$", "$$")
    if re.fullmatch(r"[\w@%+=:,./$-]+", escaped):
        return escaped
    return '"' + escaped.replace("\\", "\\\\").replace('"', '\\"') + '"'


def _specifiers_escaped(text: str) -> str:
    return text.replace("%", "%%")


def unreadable(paths: Sequence[Path], user: str) -> Iterator[Path]:
    """Yield the files and folders on the way to these that a user cannot read.

    One who is not there yet is taken for somebody without any group.
    """
    try:
        uid, gid = (found := pwd.getpwnam(user)).pw_uid, found.pw_gid
        groups = set(os.getgrouplist(user, gid))
    except KeyError:
        uid, groups = -1, set()
    for path in dict.fromkeys(step for each in paths for step in reversed((each, *each.parents))):
        if not path.exists():
            continue
        status, needed = path.stat(), 0o5 if path in paths and path.is_dir() else 0o1
        needed = needed if path.is_dir() else 0o4
        shift = 6 if status.st_uid == uid else 3 if status.st_gid in groups else 0
        if status.st_mode >> shift & needed != needed:
            yield path

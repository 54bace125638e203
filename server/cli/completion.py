"""`completion`: what makes a shell complete commands, options and names."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Annotated, Any, Final

import typer

from server.cli import candidates
from server.cli.output import fail, print_text

_BASH: Final = r"""_orbit_completion() {
  local found command=${COMP_WORDS[0]/#\~/$HOME}
  COMPREPLY=()
  while IFS= read -r found; do
    COMPREPLY+=("$found")
  done < <("$command" completion bash -- "${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null)
}
complete -o default -F _orbit_completion orbit orbit.sh"""
_ZSH: Final = r"""_orbit_completion() {
  local -a found
  found=(${(f)"$(${~words[1]} completion zsh -- "${(@)words[2,CURRENT]}" 2>/dev/null)"})
  if (( $#found )); then
    _describe orbit found
  else
    _files
  fi
}
compdef _orbit_completion orbit orbit.sh"""
_FISH: Final = r"""function __orbit_completion
    set -l before (commandline -opc)
    set -l last (commandline -ct)
    set -l command $before[1]
    set -e before[1]
    $command completion fish -- $before "$last" 2>/dev/null
end
complete -c orbit -a '(__orbit_completion)'
complete -c orbit.sh -a '(__orbit_completion)'"""
SCRIPTS: Final[Mapping[str, str]] = {"bash": _BASH, "zsh": _ZSH, "fish": _FISH}
_NAMES: Final[Mapping[str, Callable[[dict[str, Any]], Iterable[str]]]] = {
    "adapter": candidates.adapter_names,
    "template": candidates.template_ids,
}
"""What an option of that name takes."""


def completion(
    shell: Annotated[
        str,
        typer.Argument(
            metavar="SHELL", help="bash, zsh or fish.", autocompletion=lambda: list(SCRIPTS)
        ),
    ],
    words: Annotated[
        list[str] | None,
        typer.Argument(metavar="WORD", help="A line so far, to print what may come next."),
    ] = None,
) -> None:
    """Print a script for a shell to read, so that Tab completes commands, options and names.

    The script asks this command, with the words of the line, what the last of them may become.
    """
    if shell not in SCRIPTS:
        fail(f"{shell!r} is none of the shells {', '.join(SCRIPTS)}", exit_code=2)
    if words is None:
        print_text(SCRIPTS[shell])
        return
    for value, about in complete(words):
        print_text(_shown(shell, value, about))


def complete(words: Sequence[str]) -> Iterator[tuple[str, str]]:
    """Yield what the last word may become, each with what it is for; none where files are meant."""
    *before, last = _whole_options(words)
    command, line = _command_of(before)
    if command is None:
        return
    children = getattr(command, "commands", None)
    if children is not None:
        yield from ((name, "") for name in children if name.startswith(last))
        return
    option, given = _option_at(command, line, last)
    if option is None and last.startswith("-"):
        for each in command.params:
            for name in each.opts if each.param_type_name == "option" else ():
                if name.startswith(last) and (name not in line or each.multiple):
                    yield name, each.help or ""
        return
    if option is not None and line and line[-1] in option.opts:
        line = line[:-1]  # without its value nothing of the line would be read
    prefix = last.removesuffix(given)
    for value in _values(command, option or _argument_at(command, line), line):
        if value.startswith(given):
            yield prefix + value, ""


def _whole_options(words: Sequence[str]) -> list[str]:
    """The words of a line, of which bash makes three of `--name=value`."""
    found = [word for word in words if word != "="]
    return found if words and words[-1] != "=" else [*found, ""]


def _command_of(words: Sequence[str]) -> tuple[Any, Sequence[str]]:
    """The command that a line calls, or the group that it is at, and the words behind it."""
    from server.cli.main import COMMANDS, command_line

    if not words:
        return _Names(COMMANDS), ()
    if words[0] not in COMMANDS:
        return None, ()
    command: Any = typer.main.get_command(command_line(words[0]))
    while words and (children := getattr(command, "commands", None)) is not None:
        command, words = children.get(words[0]), words[1:]
    return command, words


class _Names:
    """The commands by name alone: they are imported only once one of them is typed."""

    def __init__(self, commands: Iterable[str]) -> None:
        self.commands = dict.fromkeys(commands)


def _option_at(command: Any, line: Sequence[str], last: str) -> tuple[Any, str]:
    """The option whose value the last word is, and what there is of the value."""
    name, equals, given = last.partition("=")
    if equals and (option := _option(command, name)) is not None:
        return option, given
    option = _option(command, line[-1]) if line else None
    return (None, last) if option is None or option.is_flag else (option, last)


def _option(command: Any, name: str) -> Any:
    options = (each for each in command.params if each.param_type_name == "option")
    return next((option for option in options if name in option.opts), None)


def _argument_at(command: Any, line: Sequence[str]) -> Any:
    """The argument that the word after these is."""
    place, is_value = 0, False
    for word in line:
        option = _option(command, word.partition("=")[0])
        if option is None and not is_value:
            place += 1
        is_value = option is not None and not option.is_flag and "=" not in word
    arguments = [each for each in command.params if each.param_type_name == "argument"]
    return arguments[min(place, len(arguments) - 1)] if arguments else None


def _values(command: Any, parameter: Any, line: Sequence[str]) -> Iterable[str]:
    if parameter is None:
        return
    with command.make_context("orbit", list(line), resilient_parsing=True) as context:
        if parameter.name in _NAMES and parameter.param_type_name == "option":
            yield from _NAMES[parameter.name](context.params)
            return
        found = parameter.shell_complete(context, "")
    yield from (item.value for item in found if item.type == "plain")


def _shown(shell: str, value: str, about: str) -> str:
    about = " ".join(about.split())
    if shell == "fish" and about:
        return f"{value}\t{about}"
    if shell == "zsh":
        value = value.replace("\\", "\\\\").replace(":", "\\:")
        return f"{value}:{about}" if about else value
    return value

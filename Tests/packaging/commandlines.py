"""The options of the program by its own --help, to which command lines in documents and manifests are compared."""
import re, subprocess


class Mismatch(Exception):
    """A command line that the program does not take, in words."""


class Helps:
    """The options of subcommands, by their --help."""

    def __init__(self, binary):
        self.binary, self.known = binary, {}

    def options(self, *words):
        if words not in self.known:
            answer = subprocess.run([self.binary, *words, "--help"], capture_output=True, text=True)
            if answer.returncode != 0:
                raise Mismatch(f"transfer {' '.join(words)} --help ends with {answer.returncode}")
            found = {}
            for line in answer.stdout.splitlines():
                match = re.match(r"  (-[^ ].*)", line)
                for name in re.findall(r"(?<![\w-])--?[\w-]+", re.split(r"<|  ", match[1])[0]) if match else ():
                    found[name] = "<" in line.split("   ")[0] or "<" in match[1]
            self.known[words] = found, "ARGUMENTS:" in answer.stdout
        return self.known[words]

    def verbs(self):
        answer = subprocess.run([self.binary, "--help"], capture_output=True, text=True, check=True).stdout
        return set(re.findall(r"^  (\w+)  ", answer.split("SUBCOMMANDS:")[1], re.M))

    def compare(self, verb, words, mayEndInOption=False):
        """Compares the words behind a verb with the options that it has, and with their need for a value."""
        words, (options, takesArguments) = list(words), self.options(*verb)
        name = " ".join(("transfer", *verb))
        while words:
            word = words.pop(0)
            if word.startswith("-") and word != "-":
                option, _, given = word.partition("=")
                if option not in options:
                    raise Mismatch(f"{name} has no {option}")
                if options[option] and not given:
                    if not words and mayEndInOption:
                        return
                    if not words or words[0].startswith("-") and words[0] != "-":
                        raise Mismatch(f"{option} of {name} needs a value")
                    words.pop(0)
            elif not takesArguments:
                raise Mismatch(f"{name} takes no {word}")

/// The completion script of a shell, as the parser writes it, with the corrections that it needs.
///
/// fish 3.6 refuses an option with a dot (`--http1.1`) in argparse(1), and the parser's loop then never ends. The same
/// holds for an option whose value is not typed yet. Each entry would also parse the whole line; entries of other
/// subcommands are left out before.
enum CompletionScript {
    private static let parse = #"argparse -sn "$commands" $option_specs -- $unparsed_tokens 2> /dev/null"#
    private static let parseOrEnd =
        #"argparse -isn "$commands" $option_specs -- $unparsed_tokens 2> /dev/null; or break"#
    private static let entries = [
        "function __transfer_should_offer_completions_for_flags_or_options -a expected_commands",
        "function __transfer_should_offer_completions_for_positional -a expected_commands",
    ]

    /// Returns the script with the corrections; a script of another shell is returned as it is.
    static func corrected(_ script: String) -> String {
        guard script.contains(entries[0]) else { return script }
        var names: [String] = []
        var lines: [String] = []
        for line in script.split(separator: "\n", omittingEmptySubsequences: false) {
            var text = String(line)
            if text.hasPrefix("        case '") { names.append(String(text.dropFirst(14).prefix { $0 != "'" })) }
            if text.contains("__transfer_parse_subcommand "), text.hasPrefix("   ") {
                text = text.split(separator: " ", omittingEmptySubsequences: false)
                    .filter { !$0.hasPrefix("'") || !$0.contains(".") }.joined(separator: " ")
            }
            lines.append(text.replacing(parse, with: parseOrEnd))
            if entries.contains(where: text.hasPrefix) {
                lines.append(#"    __transfer_may_mean "$expected_commands"; or return 1"#)
            }
        }
        return prefilter(names) + lines.joined(separator: "\n")
    }

    /// Returns the function that leaves out the entries of other subcommands, by the words of the line alone.
    private static func prefilter(_ names: [String]) -> String {
        """
        function __transfer_may_mean -a expected_commands
            set -l tokens (__transfer_tokens -pc)
            set -l expected (string split ' ' -- $expected_commands)
            if set -q expected[2]
                contains -- $expected[2] $tokens
            else
                not contains -- "$tokens[2]" \(names.joined(separator: " "))
            end
        end


        """
    }
}

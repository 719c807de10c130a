import ArgumentParser
import Testing

@testable import transfer

/// Help fits every terminal, and no paragraph has short lines in its middle.
@Suite struct HelpLayoutTests {
    static let commands = Transfer.configuration.subcommands.map { $0._commandName }

    private static func help(_ name: String) throws -> String {
        let command = try #require(Transfer.configuration.subcommands.first { $0._commandName == name })
        return Transfer.helpMessage(for: command, columns: 100_000)
    }

    @Test(arguments: commands, [40, 60, 80, 120]) func helpFitsTheTerminal(_ name: String, _ width: Int) throws {
        let help = try Self.help(name)
        let lines = HelpLayout.text(help, width: width).split(separator: "\n", omittingEmptySubsequences: false)
        #expect(lines.allSatisfy { DisplayWidth.of($0) <= width }, "\(lines.filter { DisplayWidth.of($0) > width })")
        // No word is lost, and none is added.
        let words = { (text: String) in text.filter { $0 != " " && $0 != "\n" } }
        #expect(words(lines.joined()) == words(help))
    }

    @Test(arguments: commands) func noShortLineIsInTheMiddleOfAParagraph(_ name: String) throws {
        let text = HelpLayout.text(try Self.help(name), width: 80)
        let lines = text.split(separator: "\n", omittingEmptySubsequences: false)
        let indent = String(repeating: " ", count: 26)
        for (line, next) in zip(lines, lines.dropFirst()) where line.hasPrefix(indent) && next.hasPrefix(indent) {
            let word = next.drop { $0 == " " }.prefix { $0 != " " }
            #expect(line.count + 1 + word.count > 80, "\(line)")
        }
    }

    @Test(arguments: ["get", "put", "copy", "run", "watch", "work"])
    func optionsAreInGroups(_ name: String) throws {
        let help = try Self.help(name)
        let groups = help.split(separator: "\n").filter { $0.first?.isUppercase == true && $0.hasSuffix(":") }
        #expect(groups.count >= 4, "\(groups)")
    }

    @Test func anEntryStandsBesideOrAboveItsDescription() {
        let help = "OPTIONS:\n  -x                      One two three.\n"
        #expect(HelpLayout.text(help, width: 60) == help)
        #expect(HelpLayout.text(help, width: 40) == "OPTIONS:\n  -x\n      One two three.\n")
    }

    @Test func aUsageLineKeepsOptionsAndTheirValuesTogether() {
        let usage = "USAGE: transfer x [--a <one two>] [--bb <three>] [<file> ...]"
        #expect(
            HelpLayout.text(usage, width: 40)
                == "USAGE: transfer x [--a <one two>]\n       [--bb <three>] [<file> ...]")
    }
}

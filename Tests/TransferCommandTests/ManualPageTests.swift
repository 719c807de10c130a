import Foundation
import Testing
import TransferTestSupport

/// The agreement of the manual pages with the options of the command.
@Suite struct ManualPageTests {
    private static let root = URL(fileURLWithPath: #filePath).resolvingSymlinksInPath().deletingLastPathComponent()
        .deletingLastPathComponent().deletingLastPathComponent()

    private static func page(_ name: String) throws -> String {
        try String(contentsOf: root.appendingPathComponent("man/\(name)"), encoding: .utf8)
    }

    /// Returns the command's section, and the sections of the common options.
    private static func sections(of command: String, in page: String) -> String {
        let commands = page.components(separatedBy: "\n.Ss ").dropFirst()
        let words = ["pause", "resume", "cancel", "retry"]
        let title = words.contains(command) ? "transfer pause | resume | cancel | retry" : "transfer \(command)"
        let common = page.components(separatedBy: "\n.Sh COMMON OPTIONS\n").last ?? ""
        return (commands.first { $0.hasPrefix(title) } ?? "") + "\n"
            + (common.components(separatedBy: "\n.Sh ").first ?? "")
    }

    /// Returns the options in the output of `--help`, such as `-j, --concurrency <n>`.
    private static func options(_ help: String) -> Set<String> {
        let lines = help.split(separator: "\n").filter { $0.hasPrefix("  -") }
        return Set(
            lines.flatMap { line in
                // The description is separated by two spaces.
                let names = line.dropFirst(2).components(separatedBy: "  ")[0]
                return names.matches(of: #/--[a-z][a-z0-9.-]*/#).map { String($0.output) }
            })
    }

    /// Returns the options of a page: `.It Fl d , Fl -directory Ar dir` and the like.
    private static func options(inPage text: String) -> Set<String> {
        let items = text.split(separator: "\n").filter { $0.hasPrefix(".It Fl") }
        return Set(items.flatMap { $0.matches(of: #/Fl (-[a-z][a-z0-9.-]*)/#).map { "-" + $0.output.1 } })
    }

    private static let commands = [
        "run", "get", "put", "copy", "watch", "work", "serve", "status", "top", "why", "verify",
        "curl", "wget", "aria2c", "network", "config", "wait",
        "pause",
        "resume",
        "cancel",
        "retry",
        "forget",
        "validate",
    ]

    private func help(_ arguments: String...) async throws -> String {
        let place = try Workplace()
        return try await place.command(arguments + ["--help"]).run().standardOutput
    }

    @Test(arguments: commands) func everyOptionOfACommandIsInThePage(_ command: String) async throws {
        let options = Self.options(try await help(command)).subtracting(["--version"])
        #expect(options.contains("--help"))
        let text = Self.sections(of: command, in: try Self.page("transfer.1"))
        let known = Self.options(inPage: text)
        #expect(options.subtracting(known) == [], "transfer \(command) takes options that man/transfer.1 does not know")
    }

    @Test func everyCommandAndNoOtherOptionIsInThePage() async throws {
        let overview = try await help()
        let subcommands = overview.components(separatedBy: "SUBCOMMANDS:").last ?? ""
        let names = subcommands.matches(of: #/\n  ([a-z][a-z0-9]+) /#).map { String($0.output.1) }
        #expect(Set(names).subtracting(["help"]) == Set(Self.commands))
        var options: Set<String> = ["--version"]
        for command in Self.commands { options.formUnion(Self.options(try await help(command))) }
        let known = Self.options(inPage: try Self.page("transfer.1"))
        #expect(known.subtracting(options) == [], "man/transfer.1 knows options that no command takes")
    }

    @Test func everyKeyOfAJobFileIsInThePage() throws {
        let data = try Data(contentsOf: Self.root.appendingPathComponent("jobs/transfer-jobs.schema.json"))
        var keys: Set<String> = []
        func collect(_ value: Any) {
            if let array = value as? [Any] { for element in array { collect(element) } }
            guard let object = value as? [String: Any] else { return }
            if let properties = object["properties"] as? [String: Any] { keys.formUnion(properties.keys) }
            for member in object.values { collect(member) }
        }
        collect(try JSONSerialization.jsonObject(with: data))
        let page = try Self.page("transfer-jobs.5")
        // The words after .Cm or in an item, without macros and punctuation.
        let words = Set(
            page.split(separator: "\n").filter { $0.contains("Cm ") }.flatMap { line in
                line.split { " ,:".contains($0) }.map(String.init)
            })
        #expect(keys.subtracting(words).sorted() == [], "man/transfer-jobs.5 does not know them")
    }

    /// The page has the keys that are not keys of a job file, and the example file.
    @Test func theConfigurationsKeysAndExampleAreInItsPage() async throws {
        let page = try Self.page("transfer-config.5")
        for key in [
            "version", "defaults", "limits", "origins", "links", "commands", "serve", "metrics", "queue", "perHost",
            "metered",
        ] {
            #expect(page.contains("Cm \(key)\n"), "\(key)")
        }
        let example = page.components(separatedBy: ".Bd -literal\n").last?.components(separatedBy: ".Ed").first ?? ""
        let place = try Workplace()
        try place.folder.write(example, to: "config.json")
        let result = try await place.run("config", "--config", "config.json", "https://cdn.example/x")
        #expect(result.exitCode == 0 && result.standardOutput.contains("origin.perHost"), "\(result)")
    }

    @Test(arguments: ["transfer.1", "transfer-config.5", "transfer-jobs.5"]) func groffReportsNoFault(
        _ name: String
    ) async throws {
        let groff = "/usr/bin/groff"
        guard FileManager.default.isExecutableFile(atPath: groff) else { return }
        let page = Self.root.appendingPathComponent("man/\(name)").path
        let command = ChildProcess.Command(groff, ["-ww", "-mdoc", "-Tutf8", "-z", page])
        let result = try await ChildProcess.start(command).result()
        #expect(result.exitCode == 0 && result.standardError.isEmpty, "\(result)")
    }
}

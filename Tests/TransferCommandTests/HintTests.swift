import ArgumentParser
import Foundation
import Testing
import TransferCore
import TransferTestSupport

@testable import TransferJobs
@testable import TransferQueue
@testable import TransferStore
@testable import transfer

/// Suggested commands, which can be pasted into a shell: it yields the intended arguments, and the command's own parser
/// accepts them.
@Suite struct HintTests {
    /// Names that have a special meaning to a shell, or to the parser.
    static let names = [
        "nightly", "my batch", "it's", "-x", "--failed", "$HOME", "`id`", "a;b", "*", "~", "#1", "a\nb", "tab\there",
        "Grüße",
        "a\\b", "\"q\"", "a&b|c", "",
    ]

    /// Returns every message with a suggested command, and the arguments that a shell has to make of it.
    static func hints(_ name: String, _ hint: CommandHint) -> [(text: String, words: [String])] {
        func words(_ verb: String, _ names: [String], _ options: [String] = []) -> [String] {
            let all = options + (hint.state.map { ["--state", $0] } ?? [])
            return [verb] + (names.contains { $0.hasPrefix("-") } ? all + ["--"] + names : names + all)
        }
        var hints: [(String, [String])] = [
            (hint.command("status"), words("status", [])),
            (hint.command("wait", name), words("wait", [name])),
            (hint.command("cancel", "\(name)/a b"), words("cancel", ["\(name)/a b"])),
        ]
        var report = EndReport(batch: name, hint: hint)
        report.receive(event(.batchStarted(totals(jobs: 1)), batch: name))
        report.receive(event(.batchFinished(totals(jobs: 1, failed: 1), duration: .seconds(1)), batch: name))
        let lines = report.lines(width: 80, charset: hint.isUTF8 ? .utf8 : .ascii).map(\.text)
        for (label, verb) in [("List:   ", "status"), ("Again:  ", "retry")] {
            for line in lines where line.hasPrefix(label) {
                hints.append((String(line.dropFirst(label.count)), words(verb, [name], ["--failed"])))
            }
        }
        for (reason, state, verb) in [
            (JobExplanation.Reason.paused, JobState.paused, "resume"), (.cancelled, .cancelled, "retry"),
        ] {
            let explanation = JobExplanation(batch: "b", job: "j", state: state, isUpload: false, reason: reason)
            let last =
                WhyText.lines(
                    explanation, charset: hint.isUTF8 ? .utf8 : .ascii, batch: name, hint: hint
                ).last ?? ""
            let command = last.components(separatedBy: "with: ").last ?? ""
            hints.append((command, words(verb, ["\(name)/j"])))
        }
        let again = RunAgain(
            file: "/srv/\(name).json", name: name, directory: "/srv/\(name)", state: hint.state, isUTF8: hint.isUTF8)
        let named = name.hasPrefix("-") ? ["--name=\(name)"] : ["--name", name]
        hints.append(
            (
                again.command,
                ["run", "/srv/\(name).json"] + named + ["-d", "/srv/\(name)"]
                    + (hint.state.map { ["--state", $0] } ?? [])
            ))
        return hints
    }

    @Test(arguments: names) func aShellYieldsTheIntendedArguments(_ name: String) async throws {
        for hint in [CommandHint(), CommandHint(state: "/srv/my queue"), CommandHint(state: "q", isUTF8: false)] {
            for (text, words) in Self.hints(name, hint) {
                #expect(hint.isUTF8 || text.utf8.allSatisfy { $0 < 0x80 }, "\(text)")
                #expect(!text.contains("\n"), "\(text)")
                let script = "transfer() { printf '%s\\0' \"$@\"; }; " + text
                let shell = ChildProcess.Command("/bin/bash", ["-c", script])
                let result = try await ChildProcess.start(shell).result()
                let given = result.standardOutput.split(separator: "\0", omittingEmptySubsequences: false).dropLast()
                #expect(given.map(String.init) == words, "\(text): \(result)")
            }
        }
    }

    /// An empty name is no name.
    @Test(arguments: names.dropLast()) func theParserAcceptsSuggestedCommands(_ name: String) throws {
        for (text, words) in Self.hints(name, CommandHint(state: "/srv/q")) {
            let parsed = try #require(try? Transfer.parseAsRoot(words), "\(text)")
            switch parsed {
            case let status as Status: #expect(status.batch == nil || status.batch == name)
            case let wait as Wait: #expect(wait.batch == name)
            case let run as Run: #expect(run.name == name && run.files == ["/srv/\(name).json"])
            case let retry as Retry: #expect(retry.target.names.allSatisfy { $0.hasPrefix(name) })
            case let cancel as Cancel: #expect(cancel.target.names == ["\(name)/a b"])
            case let resume as Resume: #expect(resume.target.names == ["\(name)/j"])
            default: Issue.record("\(text) is another command: \(type(of: parsed))")
            }
        }
    }

    @Test func aNameThatIsNearlyRightIsAnsweredWithTheRightOne() {
        let names = BatchNames(["/etc/mirror.json", "nightly"])
        let failure = CommandHint().noBatch("mirorr", among: names)
        #expect(failure.message == "no batch \"mirorr\"; did you mean mirror? transfer status lists them")
    }

    @Test(
        arguments: [
            ("get https://a.example/x.iso in /home/me", ["get-a.example", "get-a.example-x.iso"]),
            (
                "get https://a.example:8080/d/x +2 #0f1e2d in /home/me",
                ["get-a.example:8080", "get-a.example:8080-x", "get-a.example:8080-0f1e2d"]
            ),
            ("get list.txt in /srv/in /here", ["get-list.txt"]),
            ("get - #0f1e2d in /", ["get-stdin", "get-stdin-0f1e2d"]),
            ("put https://a.example/in/ in /srv", ["put-a.example", "put-a.example-in"]), ("getting in /srv", []),
        ])
    func aCommandsBatchIsNamedAfterItsFirstServer(_ name: String, _ forms: [String]) {
        #expect(OneOffName(name)?.forms ?? [] == forms)
    }
}

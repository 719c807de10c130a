import Foundation
import Testing
import TransferTestServer
import TransferTestSupport

/// Every fault in a job file that is found before a job starts: the message, exit status 65, and no changed file.
@Suite struct BadJobFileTests {
    struct Case: Sendable, CustomTestStringConvertible {
        var name: String
        /// The job file; `URL` stands for the server's URL.
        var text: String
        /// The complete standard error.
        var message: String
        var file = "jobs.json"
        var testDescription: String { name }
    }

    static let cases: [Case] = [
        Case(
            name: "malformed JSON",
            text: "{\n  \"version\": 1,\n  \"jobs\": [\n    { \"download\": \"URL/a\", \"to\" \"a\" }\n  ]\n}\n",
            message: """
                jobs.json:4:DIFF: error: expected ":" behind the key, found a string
                """),
        Case(
            name: "unknown key with the nearest known one",
            text: """
                {
                  "version": 1,
                  "jobs": [
                    {
                      "download": "URL/a",
                      "to": "a",
                      "chekcsum": "sha256:9f86"
                    }
                  ]
                }

                """,
            message: """
                jobs.json:7:7: error: unknown key "chekcsum"; did you mean "checksum"?
                  $.jobs[0].chekcsum
                    7 |       "chekcsum": "sha256:9f86"
                      |       ^~~~~~~~~~
                jobs.json: 1 error in 1 job; nothing was started

                """),
        Case(
            name: "unknown key far from any",
            text: #"{"version": 1, "jobs": [{"download": "URL/a", "to": "a", "colour": "red"}]}"#,
            message: """
                jobs.json:1:DIFF: error: unknown key "colour"
                  $.jobs[0].colour
                """),
        Case(
            name: "wrong types",
            text: """
                {
                  "version": "1",
                  "limits": { "concurrency": "many" },
                  "jobs": [
                    { "download": 7, "to": "a" },
                    { "download": "URL/b", "to": true },
                    { "download": "URL/c", "to": "c", "priority": "high", "remoteTime": 1, "needs": "x" },
                    { "download": "URL/d", "to": "d", "retry": { "limit": 1.5, "scale": [] } }
                  ]
                }

                """,
            message: """
                jobs.json:2:14: error: expected a number, found a string
                """),
        Case(
            name: "missing parts",
            text: """
                {
                  "version": 1,
                  "jobs": [
                    { "to": "a" },
                    { "download": "URL/b" },
                    { "download": "URL/c", "upload": "x", "to": "c" }
                  ]
                }

                """,
            message: """
                jobs.json:4:5: error: "download" or "upload" is missing
                """),
        Case(
            name: "unsupported schemes",
            text: """
                {
                  "version": 1,
                  "jobs": [
                    { "download": "gopher://a.example/x", "to": "a" },
                    { "download": "file:///etc/passwd", "to": "b" },
                    { "upload": "c", "to": "smtp://a.example/x" },
                    { "download": ["URL/d", "ldap://a.example/d"], "to": "d" }
                  ]
                }

                """,
            message: """
                jobs.json:4:19: error: unsupported scheme "gopher"; http, https, s3, ftp, ftps and sftp are supported
                  $.jobs[0].download
                    4 |     { "download": "gopher://a.example/x", "to": "a" },
                      |                   ^~~~~~~~~~~~~~~~~~~~~~
                jobs.json:5:19: error: unsupported scheme "file"; http, https, s3, ftp, ftps and sftp are supported
                  $.jobs[1].download
                    5 |     { "download": "file:///etc/passwd", "to": "b" },
                      |                   ^~~~~~~~~~~~~~~~~~~~
                jobs.json:6:28: error: unsupported scheme "smtp"; http, https, s3, ftp, ftps and sftp are supported
                  $.jobs[2].to
                    6 |     { "upload": "c", "to": "smtp://a.example/x" },
                      |                            ^~~~~~~~~~~~~~~~~~~~
                """),
        Case(
            name: "one destination, no ids",
            text: """
                {
                  "version": 1,
                  "jobs": [
                    { "download": "URL/a", "to": "x" },
                    { "download": "URL/b", "to": "./x" }
                  ]
                }

                """,
            message: """
                jobs.json:5:DIFF: error: same destination as another job (line 4): x; --collisions rename or path ("collisions" in a job file) gives each a name of its own
                  $.jobs[1].to
                """),
        Case(
            name: "one destination, differing ids",
            text: """
                {
                  "version": 1,
                  "jobs": [
                    { "id": "iso", "download": "URL/a", "to": "x" },
                    { "id": "other", "download": "URL/b", "to": "sub/../x" }
                  ]
                }

                """,
            message: """
                jobs.json:5:DIFF: error: same destination as job "iso" (line 4); --collisions rename or path ("collisions" in a job file) gives each a name of its own
                  $.jobs[1].to
                """),
        Case(
            name: "one id twice",
            text: """
                {
                  "version": 1,
                  "jobs": [
                    { "id": "iso", "download": "URL/a", "to": "x" },
                    { "id": "iso", "download": "URL/b", "to": "y" }
                  ]
                }

                """,
            message: """
                jobs.json:5:DIFF: error: same id as another job (line 4): iso
                  $.jobs[1].id
                """),
        Case(
            name: "a circle of needs",
            text: """
                {
                  "version": 1,
                  "jobs": [
                    { "id": "a", "needs": ["c"], "download": "URL/a", "to": "a" },
                    { "id": "b", "needs": ["a"], "download": "URL/b", "to": "b" },
                    { "id": "c", "needs": ["b"], "download": "URL/c", "to": "c" }
                  ]
                }

                """,
            message: """
                error: jobs need each other in a circle: a → c → b → a
                """),
        Case(
            name: "a job that needs itself",
            text: #"{"version": 1, "jobs": [{"id": "a", "needs": ["a"], "download": "URL/a", "to": "a"}]}"#,
            message: "error: jobs need each other in a circle: a → a"),
        Case(
            name: "an unknown need",
            text: """
                {
                  "version": 1,
                  "jobs": [
                    { "id": "a", "needs": ["nobody"], "download": "URL/a", "to": "a" }
                  ]
                }

                """,
            message: """
                jobs.json:4:28: error: job "a" needs "nobody", which is not in this batch
                  $.jobs[0].needs[0]
                """),
        Case(
            name: "a bad line of JSON Lines",
            text: """
                {"version": 1}
                {"download": "URL/a", "to": "a"}
                {"download": "URL/b", "to": "b"

                """,
            message: "jobs.jsonl:3:", file: "jobs.jsonl"),
        Case(
            name: "a bad line of a list",
            text: "URL/a\n  ouut=a\nnonsense\n",
            message: """
                jobs.txt:2:3: error: unsupported option "ouut"; did you mean "out"?
                """, file: "jobs.txt"),
        Case(
            name: "a user in a URL",
            text: #"{"version": 1, "jobs": [{"download": "http://me:hunter2@a.example/a", "to": "a"}]}"#,
            message: "error: a URL cannot carry a user or a password"),
        Case(
            name: "a secret that is written",
            text:
                #"{"version": 1, "jobs": [{"download": "URL/a", "to": "a", "headers": {"Authorization": "Bearer hunter2"}}]}"#,
            message: "error: a secret is named, never written"),
        Case(name: "an unknown version", text: #"{"version": 2, "jobs": []}"#, message: "error: version 2 is unknown"),
        Case(name: "an empty file", text: "", message: "jobs.json:1:1: error: "),
        Case(
            name: "a key that is there twice",
            text: #"{"version": 1, "jobs": [{"download": "URL/a", "to": "a", "to": "b"}]}"#, message: #"key "to""#),
    ]

    @Test(arguments: cases) func aFaultIsRefusedWithItsPlaceAndNothingIsTouched(_ example: Case) async throws {
        try await withTestServer { server in
            let place = try Workplace()
            server.serve("/a", .text("a"))
            try place.folder.write(example.text.replacingOccurrences(of: "URL", with: server.url("")), to: example.file)

            let result = try await place.run("run", example.file, "--json")

            #expect(result.exitCode == 65, "\(result)")
            Self.expect(result.standardError, contains: example.message, port: server.port)
            #expect(result.standardError.hasSuffix("; nothing was started\n"))
            #expect(result.standardOutput.isEmpty)
            #expect(!result.standardError.contains("hunter2"))
            #expect(server.requests.isEmpty)
            #expect(try await place.status().isEmpty, "no batch is left behind")
            #expect(try place.folder.files().filter { $0 != example.file && !$0.hasPrefix("state/") } == [])

            let checked = try await place.run("validate", example.file)
            #expect(checked.exitCode == 65, "\(checked)")
            #expect(checked.standardError.contains(Self.firstLine(result.standardError)), "\(checked)")
        }
    }

    @Test func aJobThatNeedsAFaultyOneHasNoFaultItself() async throws {
        let place = try Workplace()
        try place.folder.write(
            #"{"version": 1, "jobs": [{"id": "a", "download": "http://h/a"}, {"download": "http://h/b", "to": "b", "needs": ["a"]}]}"#,
            to: "jobs.json")
        let checked = try await place.run("validate", "jobs.json")
        #expect(checked.exitCode == 65)
        #expect(checked.standardError.contains(#"error: "to" is missing"#), "\(checked)")
        #expect(!checked.standardError.contains("is not in this batch"), "\(checked)")
    }

    /// Compares line by line, so that a failed test shows the missing line. `DIFF` stands for a column that depends on
    /// the length of the server's URL.
    private static func expect(_ text: String, contains message: String, port: UInt16) {
        for line in message.split(separator: "\n") {
            let parts = line.split(separator: "DIFF")
            let isThere = text.split(separator: "\n").contains { candidate in
                parts.count == 2
                    ? candidate.hasPrefix(parts[0]) && candidate.hasSuffix(parts[1]) : candidate.contains(line)
            }
            #expect(isThere, "\(line)\nis not in\n\(text)")
        }
    }

    private static func firstLine(_ text: String) -> String { String(text.prefix { $0 != "\n" }) }

    @Test func aFaultyEditLeavesTheBatchAsItWas() async throws {
        try await withTestServer { server in
            let place = try Workplace()
            server.serve("/a", .text("a"))
            try place.jobs([download(server.url("/a"), to: "a")])
            #expect(try await place.runJobs().exitCode == 0)
            let before = try await place.status()

            try place.jobs([
                download(server.url("/a"), to: "a", #""prioritty": 1"#), download(server.url("/b"), to: "b"),
            ])
            let result = try await place.runJobs()
            #expect(result.exitCode == 65)
            #expect(try await place.status() == before)
            #expect(server.requests.count == 1)
            #expect(!place.folder.exists("b"))
        }
    }

    @Test func twentyFaultsAreShownAndTheRestIsCounted() async throws {
        let place = try Workplace()
        try place.jobs((0..<30).map { #"{"download": "http://127.0.0.1:1/\#($0)", "to": "f\#($0)", "nmae": 1}"# })
        let result = try await place.run("validate", "jobs.json")
        #expect(result.exitCode == 65)
        let lines = result.standardError.split(separator: "\n")
        #expect(lines.filter { $0.contains(": error: unknown key \"nmae\"") }.count == 20)
        #expect(lines.last == "jobs.json: 30 errors in 30 jobs, the first 20 of them shown; nothing was started")
    }

    @Test func oneFaultyFileOfTwoStartsNeither() async throws {
        try await withTestServer { server in
            let place = try Workplace()
            server.serve("/a", .text("a"))
            try place.jobs([download(server.url("/a"), to: "a")])
            try place.folder.write("{", to: "second.json")
            let result = try await place.run("run", "jobs.json", "second.json")
            #expect(result.exitCode == 65, "\(result)")
            #expect(server.requests.isEmpty)
            #expect(!place.folder.exists("a"))
        }
    }
}

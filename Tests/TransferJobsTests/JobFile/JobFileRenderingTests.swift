import Testing
import TransferCore
import TransferQueueFixtures

@testable import TransferJobs

@Suite struct JobFileRenderingTests {
    @Test func rendersAsValidateShowsIt() throws {
        let reading = try read(
            """
            {
              "version": 1,
              "jobs": [
                {
                  "download": "http://h/f",
                  "to": "f",
                  "chekcsum": "sha256:9f86",
                  "segments": 0
                },
                {"download": "http://h/g", "to": "g"}
              ]
            }
            """)
        #expect(
            reading.report.rendered(file: "jobs.json") == """
                jobs.json:7:7: error: unknown key "chekcsum"; did you mean "checksum"?
                  $.jobs[0].chekcsum
                    7 |       "chekcsum": "sha256:9f86",
                      |       ^~~~~~~~~~
                jobs.json:8:19: error: 0 is out of range; 1 to 32 are possible
                  $.jobs[0].segments
                    8 |       "segments": 0
                      |                   ^
                jobs.json: 2 errors in 2 jobs; nothing was started

                """)
    }

    @Test func countsOneErrorAsOne() {
        var report = JobFileReport()
        report.add(JobFileFault(message: "m", path: "$", span: .init(line: 1, column: 1)))
        #expect(report.summary(file: "j") == "j: 1 error; nothing was started")
        report.jobCount = 1
        #expect(report.summary(file: "j") == "j: 1 error in 1 job; nothing was started")
    }

    /// A line, and its quotation.
    private static let lines: [(String, String)] = [
        ("{\t\"a\": 1}", "    1 | {    \"a\": 1}\n      |      ^~~\n"),
        ("{\"日本\": \"x\", \"a\": 1}", "    1 | {\"日本\": \"x\", \"a\": 1}\n      |  ^~~~~~\n"),
        (
            "{\"x-日本\": \"é\u{301}\", \"a\": 1}",
            "    1 | {\"x-日本\": \"é\u{301}\", \"a\": 1}\n      |                 ^~~\n"
        ),
        ("{\"x-\u{202E}\": 1, \"a\": 1}\r", "    1 | {\"x-\u{FFFD}\": 1, \"a\": 1}\n      |            ^~~\n"),
    ]

    @Test(arguments: lines)
    func marksTheFaultUnderTabsAndWideCharacters(line: String, quotation: String) throws {
        let fault = try #require(try read(line, as: .jsonLines).faults.first { $0.message.hasPrefix("unknown key") })
        #expect(fault.rendered(file: "f").hasSuffix(quotation))
    }

    @Test func cutsLongLinesAroundTheFault() throws {
        let filler = (0..<40).map { "\"x-\($0)\": \($0)" }.joined(separator: ", ")
        let reading = try read("{\(filler), \"bad\": 1, \(filler.replacing("x-", with: "x-y"))}", as: .jsonLines)
        let excerpt = try #require(reading.faults.first?.excerpt)
        #expect(excerpt.text == #"…: 37, "x-38": 38, "x-39": 39, "bad": 1, "x-y0": 0, "x-y1": 1, "x-y2": …"#)
        #expect(excerpt.indent == 31 && excerpt.width == 5)
        #expect(reading.faults.first?.span.column == 2 + filler.count + 2)
    }

    @Test func quotesOnlyTheJobWhenTheLineIsLong() throws {
        let jobs = (0..<1000).map { #"{"download":"http://h/\#($0)","to":"\#($0)"}"# }.joined(separator: ",")
        let fault = try #require(try read(#"{"version":1,"jobs":[\#(jobs),{"bad":1}]}"#).faults.first)
        #expect(fault.path == "$.jobs[1000].bad")
        #expect(fault.excerpt == SourceExcerpt(text: #"{"bad":1}]}"#, indent: 1, width: 5))
    }

    /// Members of a job that hold "hunter2".
    private static let secrets = [
        #""headers": {"Authorization": "Bearer hunter2"}"#,
        #""headers": {"X-Api-Key": "hunter2", "A B": "x"}"#,
        #""headers": {"Authorization": 0, "Cookie": ["hunter2"]}"#,
        #""headers": {"Authorization": {"env": "A", "value": "hunter2"}}"#,
        #""headers": {"Authorization": {"value": {"x": "hunter2"}}}"#,
        #""headers": {"Authorizaton": "hunter2"}, "bad": 1"#,
        #""headers": {"X": "Bearer hunter2"}, "bad": 1"#,
        #""headers": {"Cookie": "hunter2}}"#,
        #""headers": {"Cookie" "hunter2"}"#,
        #""headers": {"Cookie: "hunter2"}"#,
        #""headers": {Cookie: "hunter2"}"#,
        #""headers": {"Cookie": 'hun hunter2'}"#,
        #""headers": {"Cookie": hunter2}"#,
        #""headers": {"Cookie": "a\"hunter2"}, "bad": 1"#,
        #""auth": {"user": "ann", "password": "hunter2"}"#,
        #""auth": {"user": "ann", "pasword": "hunter2"}"#,
        #""auth": {"password": ["hunter2"]}"#,
        #""proxy": "http://ann:hunter2@p""#,
        #""proxy": "http:/ann:hunter2@p""#,
        #""proxy": "http://ann:1/hunter2@p", "bad": 1"#,
        #""proxy": {"url": "http://ann:hunter2@p"}"#,
        #""proxy": {"url": "http://p", "user": "ann", "password": "hunter2"}"#,
        #""proxy": {"url": "http://p", "user": "ann", "passwd": "hunter2"}"#,
        #""proxy": {"url": "http://p", "user": "ann", "password": {"value": "hunter2"}}"#,
        #""tls": {"cert": "c", "keyPassphrase": "hunter2"}"#,
        #""tls": {"cert": "c", "keyPasphrase": "hunter2"}"#,
        #""tls": {"cert": "c", "passphrase": "hunter2"}"#,
        #""tls": {"cert": "c", "keyPassphrase": ["hunter2"]}"#,
        #""body": "https://h/?X-Amz-Signature=hunter2", "bad": 1"#,
        #""bad": "http://ann:hunter2@h/""#,
    ]

    @Test(arguments: secrets, [false, true])
    func neverShowsASecret(members: String, onLines: Bool) throws {
        let text = #"{"version": 1, "jobs": [{"download": "http://h/", "to": "f", \#(members)}]}"#
        // Each value stands on a line of its own, so that its key is not on the quoted line.
        let reading = try read(onLines ? text.replacing(": ", with: ":\n  ").replacing("{\"", with: "{\n\"") : text)
        #expect(!reading.faults.isEmpty)
        for fault in reading.faults {
            let shown = fault.rendered(file: "f")
            #expect(!shown.contains("hunter2"), "\(shown)")
        }
        #expect(!"\(reading.report)".contains("hunter2"))
    }

    @Test(arguments: [
        "http://ann:hunter2@h/", "http://h/\n header=Authorization: Bearer hunter2", "http://h/\n http-passwd=hunter2",
        "http://h/\tftp://ann:hunter2@h/", "http://h/\n header=Cookie:hunter2\n",
    ])
    func neverShowsASecretOfAList(text: String) throws {
        let reading = try read(text, as: .urlList)
        #expect(reading.faults.count == 1)
        #expect(!reading.report.rendered(file: "f").contains("hunter2"), "\(reading.report.rendered(file: "f"))")
    }

    @Test func reportsTheReplacementForASecret() throws {
        let reading = try readJob(#""headers": {"Authorization": "Bearer x"}, "auth": {"user": "a", "password": "b"}"#)
        let advice = #"write {"env": "NAME"}, {"file": "PATH"} or {"credential": "NAME"}"#
        #expect(
            reading.faults.map(\.message) == [
                "a secret is named, never written; \(advice)", "a password is named, never written; \(advice)",
            ])
        #expect(
            reading.faults[0].excerpt?.text.contains(#""headers": {"Authorization": "***"}"#) == true,
            "\(reading.faults[0].rendered(file: "f"))")
        let url = try read(#"{"version": 1, "jobs": [{"download": "http://u:p@h/", "to": "f"}]}"#)
        #expect(url.faults.first?.message == "a URL cannot carry a user or a password; \(URLRule.authAdvice)")
        let ssh = try read(#"{"version": 1, "jobs": [{"download": "SFTP://ann@h/", "to": "f"}]}"#)
        #expect(
            ssh.faults.first?.message
                == #"a URL cannot carry a user or a password; write "ssh": {"user": "NAME"}, with a password "auth": {"user": "NAME", "password": {"env": "NAME"}} or {"netrc": true}"#
        )
    }
}

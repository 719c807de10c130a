import Foundation
import Testing
import TransferTestServer
import TransferTestSupport

/// Names from servers, which have to end up inside the destination folder, as plain visible files.
@Suite struct UnsafeNameTests {
    /// The field's value, and the resulting name.
    static let dispositions: [(String, String)] = [
        (#"attachment; filename="report 2026.pdf""#, "report 2026.pdf"),
        (#"attachment; filename="../../escaped""#, "escaped"),
        (#"attachment; filename="/etc/absolute""#, "absolute"),
        (#"attachment; filename="..\\..\\windows""#, "windows"),
        ("attachment; filename*=UTF-8''..%2F..%2Fescaped", "escaped"),
        ("attachment; filename*=UTF-8''nul%00byte", "nul_byte"),
        ("attachment; filename*=UTF-8''bell%07and%1B%5B31mred", "bell_and_[31mred"),
        ("attachment; filename*=UTF-8''new%0Aline", "new_line"),
        ("attachment; filename*=UTF-8''exe%E2%80%AEtxt.cod", "exe_txt.cod"),
        ("attachment; filename=CON", "_CON"),
        ("attachment; filename=nul.txt", "_nul.txt"),
        ("attachment; filename=.bashrc", "_bashrc"),
        (#"attachment; filename="..""#, "f"),
        (#"attachment; filename=".""#, "f"),
        (#"attachment; filename="""#, "f"),
        ("attachment; filename=/", "f"),
        ("attachment; filename*=UTF-8''na%C3%AFve.txt; filename=naive.txt", "naïve.txt"),
        ("inline", "f"),
    ]

    @Test(arguments: dispositions)
    func contentDispositionIsMadeSafe(_ value: String, _ name: String) async throws {
        try await withTestServer { server in
            let place = try Workplace()
            server.serve("/f", ServedFile(.text("content"), headers: ["Content-Disposition": value]))
            try place.jobs([download(server.url("/f"), to: "out/in/")])
            let result = try await place.runJobs()
            #expect(result.exitCode == 0, "\(result)")
            #expect(
                try place.folder.files().filter { !$0.hasPrefix("state/") } == ["jobs.json", "out/in/\(name)"].sorted())
            #expect(try place.folder.text("out/in/\(name)") == "content")
            #expect(
                try result.events().named("job.finished").first?["path"]?.string == place.folder.path("out/in/\(name)"))
        }
    }

    /// The path of the URL, and the resulting name.
    static let paths: [(String, String)] = [
        ("/plain.txt", "plain.txt"), ("/a/b/%2E%2E", "index.html"), ("/x%2F..%2Fy", "y"), ("/dir/", "index.html"),
        ("/a%00b", "a_b"), ("/a%0Ab", "a_b"), ("/con", "_con"), ("/%2Ehidden", "_hidden"), ("/", "index.html"),
    ]

    @Test(arguments: paths) func namesOfURLsAreMadeSafe(_ path: String, _ name: String) async throws {
        try await withTestServer { server in
            let place = try Workplace()
            server.handle("GET", "/*") { _ in Response(body: .text("content")) }
            let result = try await place.run("get", server.url(path), "-d", place.folder.path("out"))
            #expect(result.exitCode == 0, "\(result)")
            #expect(try place.folder.files().filter { !$0.hasPrefix("state/") } == ["out/\(name)"])
        }
    }

    @Test func aNameFromTheServerNeverReplacesAForeignFile() async throws {
        try await withTestServer { server in
            let place = try Workplace()
            try place.folder.write("mine", to: "out/passwords")
            server.serve(
                "/f", ServedFile(.text("theirs"), headers: ["Content-Disposition": "attachment; filename=passwords"]))
            try place.jobs([download(server.url("/f"), to: "out/")])
            let result = try await place.runJobs()
            #expect(result.exitCode == 1, "\(result)")
            #expect(try place.folder.text("out/passwords") == "mine")
            let message = try #require(try result.events().named("job.failed").first?["message"]?.string)
            #expect(message.contains("passwords.1"), "a free name is proposed: \(message)")
        }
    }

    @Test func twoJobsWithOneNameFromTheServerDoNotReplaceEachOther() async throws {
        try await withTestServer { server in
            let place = try Workplace()
            for path in ["/a", "/b"] {
                server.serve(
                    path,
                    ServedFile(
                        .text("content of \(path)"), headers: ["Content-Disposition": "attachment; filename=same"]))
            }
            try place.jobs([download(server.url("/a"), to: "out/"), download(server.url("/b"), to: "out/")])
            let result = try await place.runJobs()
            #expect(result.exitCode == 1, "\(result)")
            let ends = try result.events().ends.values.sorted()
            #expect(ends == ["failed", "finished"], "\(result)")
            #expect(try place.folder.files(below: "out") == ["same"])
        }
    }

    /// Text from a server or a file must not move the cursor, ring the bell or colour a user's terminal.
    @Test func noControlCharacterReachesTheLog() async throws {
        try await withTestServer { server in
            let place = try Workplace()
            server.serve(
                "/f",
                ServedFile(
                    .text("x"), etag: "\"\u{9B}31m\"",
                    headers: ["Content-Disposition": "attachment; filename*=UTF-8''%1B%5B2J"]))
            try place.jobs([
                download(server.url("/f"), to: "out/"), download(server.url("/%1B%5B2Jmissing"), to: "out/"),
            ])
            let result = try await place.runJobs("-v")
            let text = result.standardError.unicodeScalars
            #expect(
                text.allSatisfy { $0 == "\n" || ($0.value >= 0x20 && !(0x7F...0x9F).contains($0.value)) }, "\(result)")
        }
    }
}

import Foundation
import Testing
import TransferTestServer
import TransferTestSupport

/// `.netrc` and its machines: during a redirect, and with several users.
@Suite("netrc of the command") struct NetrcTests {
    private static func basic(_ login: String) -> String { "Basic " + Data(login.utf8).base64EncodedString() }

    private func place(_ netrc: String) throws -> Workplace {
        let place = try Workplace()
        try place.folder.write(netrc, to: "home/.netrc")
        return place
    }

    /// Returns the URL of the same server by its other name, which is a different origin and a different machine.
    private func renamed(_ url: String) -> String { url.replacingOccurrences(of: "127.0.0.1", with: "localhost") }

    @Test func singleSignOnOpensTheFile() async throws {
        try await withTestServer { server in
            let place = try self.place("machine localhost login ada password hunter2hunter2\n")
            server.handle("GET", "/f") { request in
                request.headers["Cookie"] == "sess=1"
                    ? Response(status: 200, body: .text("there"))
                    : Response(status: 302, headers: ["Location": self.renamed(server.url("/login"))])
            }
            server.handle("GET", "/login") { request in
                request.headers["Authorization"] == Self.basic("ada:hunter2hunter2")
                    ? Response(status: 302, headers: ["Location": server.url("/back")])
                    : Response(status: 401, headers: ["WWW-Authenticate": "Basic realm=\"login\""])
            }
            server.script(
                "/back", [],
                afterwards: .status(302, headers: ["Location": "/f", "Set-Cookie": "sess=1; Path=/"]))
            let result = try await place.run("get", "--netrc", "--json", "-o", "out", server.url("/f"))
            #expect(result.exitCode == 0, "\(result)")
            #expect(try place.folder.text("out") == "there")
            let used = try result.events().named("job.authorized")
            #expect(used.map { $0["machine"]?.string } == ["localhost"])
            #expect(used.first?["url"]?.string == renamed(server.url("/login")))
            #expect(result.standardError.contains("gets localhost's entry of .netrc"), "\(result)")
            for text in [result.standardOutput, result.standardError] { #expect(!text.contains("hunter2hunter2")) }
            let authorized = server.requests.filter { $0.headers["Authorization"] != nil }.map(\.path)
            #expect(authorized == ["/login"])
        }
    }

    @Test func theUserOfTheURLChoosesAmongSeveralEntries() async throws {
        try await withTestServer { server in
            let place = try self.place(
                "machine 127.0.0.1 login first password p1\nmachine 127.0.0.1 login second password p2\n")
            server.serve("/f", .text("there"))
            let named = server.url("/f").replacingOccurrences(of: "http://", with: "http://second@")
            for arguments in [[named], ["--user", "second", server.url("/f")]] {
                let result = try await place.command(
                    ["get", "--netrc", "--if-exists", "overwrite", "-o", "out"] + arguments
                ).run()
                #expect(result.exitCode == 0, "\(result)")
            }
            try place.jobs([
                download(server.url("/f"), to: "f", #""auth": {"netrc": true, "user": "second"}"#),
                download(server.url("/f"), to: "g", #""auth": {"netrc": true}"#),
            ])
            #expect(try await place.runJobs("-j", "1").exitCode == 0)
            let sent = server.requests(to: "/f").map { $0.headers["Authorization"] }
            let second = Self.basic("second:p2")
            #expect(sent == [second, second, second, Self.basic("first:p1")])
        }
    }

    /// The file is named by the option or by the key; a named file has to exist.
    @Test func anotherFileHoldsTheEntries() async throws {
        try await withTestServer { server in
            let place = try self.place("machine 127.0.0.1 login own password p1\n")
            try place.folder.write("machine 127.0.0.1 login other password p2\n", to: "logins")
            try place.folder.write("x", to: "up")
            server.serve("/f", .text("there"))
            _ = server.acceptUploads("/up")
            try place.jobs([download(server.url("/f"), to: "g", #""auth": {"netrc": "logins"}"#)])
            try place.folder.write(server.url("/f") + "\n out=h\n", to: "list.txt")
            for arguments in [
                ["get", "--netrc-file", "logins", "-o", "f", server.url("/f")],
                ["get", "--netrc-file", "logins", "-i", "list.txt"],
                ["put", "--netrc-file", "logins", "up", server.url("/up")], ["run", "jobs.json"],
            ] {
                let result = try await place.command(arguments).run()
                #expect(result.exitCode == 0, "\(arguments): \(result)")
            }
            let sent = Set(server.requests.map { $0.headers["Authorization"] })
            #expect(sent == [Self.basic("other:p2")])
            let missing = try await place.run("get", "--netrc-file", "nowhere", "-o", "x", server.url("/f"))
            #expect(missing.exitCode == 1 && missing.standardError.contains("nowhere"), "\(missing)")
        }
    }

    @Test func aUserWithoutAnEntryIsReportedAndNoOtherPasswordIsSent() async throws {
        try await withTestServer { server in
            let place = try self.place("machine 127.0.0.1 login first password p1\n")
            server.serve("/f", .text("there"))
            let result = try await place.run("get", "--netrc", "--user", "third", "-o", "out", server.url("/f"))
            #expect(result.exitCode == 1)
            #expect(
                result.standardError.contains("/home/.netrc has no password of third at 127.0.0.1"), "\(result)")
            #expect(server.requests.isEmpty)
        }
    }
}

import Foundation
import Testing
import TransferTestServer
import TransferTestSupport

@Suite struct RedirectTests {
    private func run(_ server: TestServer, _ more: String = "", _ place: Workplace? = nil) async throws -> ProcessResult
    {
        let place = try place ?? Workplace()
        try place.jobs([download(server.url("/f"), to: "f", more)])
        return try await place.runJobs()
    }

    private func failure(_ result: ProcessResult) throws -> JSONValue {
        #expect(result.exitCode == 1, "\(result)")
        return try #require(try result.events().named("job.failed").first)
    }

    @Test(arguments: [
        "file:///etc/passwd", "FILE:/etc/passwd", "ftp://a.example/x", "gopher://a.example/",
    ])
    func onlyHTTPIsFollowed(_ location: String) async throws {
        try await withTestServer { server in
            let place = try Workplace()
            server.script("/f", [], afterwards: .redirect(to: location))
            let result = try await run(server, "", place)
            let event = try failure(result)
            #expect(event["code"]?.string == "redirectRefused")
            #expect(
                event["message"]?.string?.hasSuffix("refused: only http and https are followed") == true, "\(event)")
            #expect(event["attempts"]?.int == 1)
            #expect(server.requests.count == 1)
            #expect(try place.traces().filter { !$0.hasPrefix("state/") } == [])
        }
    }

    @Test(arguments: ["data:text/plain,x", "javascript:alert(1)", "http://", "http:///x"])
    func anInvalidLocationIsNotFollowed(_ location: String) async throws {
        try await withTestServer { server in
            server.script("/f", [], afterwards: .redirect(to: location))
            let event = try failure(try await run(server))
            #expect(["redirectRefused", "badResponse"].contains(event["code"]?.string), "\(event)")
            #expect(event["attempts"]?.int == 1)
            #expect(server.requests.count == 1)
        }
    }

    @Test func tenRedirectsAreFollowedAndTheEleventhIsNot() async throws {
        try await withTestServer { server in
            let place = try Workplace()
            for hop in 0..<10 { server.script("/\(hop)", [], afterwards: .redirect(to: "/\(hop + 1)")) }
            server.serve("/10", .text("there"))
            server.script("/f", [], afterwards: .redirect(to: "/0"))
            try place.jobs([download(server.url("/0"), to: "ten"), download(server.url("/f"), to: "eleven")])
            let result = try await place.runJobs()
            let events = try result.events()
            #expect(try place.folder.text("ten") == "there")
            #expect(events.of("ten").named("job.finished").first?["finalURL"]?.string == server.url("/10"))
            let failed = try #require(events.of("eleven").named("job.failed").first)
            #expect(failed["code"]?.string == "tooManyRedirects")
            #expect(failed["message"]?.string == "more than 10 redirects, the last to \(server.url("/10"))")
            #expect(failed["attempts"]?.int == 1, "asking again would go round again")
            #expect(!place.folder.exists("eleven") && !place.folder.exists("eleven.part"))
        }
    }

    @Test func aLoopEnds() async throws {
        try await withTestServer { server in
            server.script("/f", [], afterwards: .redirect(to: "/f"))
            let event = try failure(try await run(server))
            #expect(event["code"]?.string == "tooManyRedirects")
            #expect(server.requests.count == 11)
        }
    }

    @Test func aLimitOfNoneFollowsNone() async throws {
        try await withTestServer { server in
            server.script("/f", [], afterwards: .redirect(to: "/g"))
            let event = try failure(try await run(server, #""maxRedirects": 0"#))
            let words = #"the redirect to \#(server.url("/g")) is not followed: "maxRedirects" is 0 (-L of curl)"#
            #expect(event["message"]?.string == words)
            #expect(server.requests.count == 1)
        }
    }

    /// Two servers are two origins.
    @Test(arguments: [301, 302, 303, 307, 308])
    func anotherOriginGetsNoSecrets(_ status: Int) async throws {
        try await withTestServer { first in
            try await withTestServer { second in
                let place = try Workplace()
                second.serve("/g", .text("there"))
                first.script("/f", [], afterwards: .redirect(to: second.url("/g"), status: status))
                first.script("/same", [], afterwards: .redirect(to: "/kept", status: status))
                first.serve("/kept", .text("here"))
                let headers = #"""
                    "headers": {"Authorization": {"env": "TOKEN"}, "Cookie": {"env": "COOKIE"}, "X-Custom": "custom",
                        "Accept-Language": "de", "User-Agent": "mine/1"}
                    """#
                try place.jobs([
                    download(first.url("/f"), to: "f", headers), download(first.url("/same"), to: "same", headers),
                ])
                var command = place.command(["run", "jobs.json", "--json"])
                command.environment["TOKEN"] = "Bearer hunter2"
                command.environment["COOKIE"] = "session=hunter3"
                let result = try await command.run()
                #expect(result.exitCode == 0, "\(result)")

                let asked = try #require(first.requests(to: "/f").first)
                #expect(
                    asked.headers["Authorization"] == "Bearer hunter2" && asked.headers["Cookie"] == "session=hunter3")
                let crossed = try #require(second.requests.first)
                #expect(crossed.headers["Authorization"] == nil && crossed.headers["Cookie"] == nil)
                #expect(crossed.headers["X-Custom"] == nil && crossed.headers["Referer"] == nil)
                #expect(crossed.headers["Accept-Language"] == "de" && crossed.headers["User-Agent"] == "mine/1")
                let allowed = ["host", "accept", "accept-language", "accept-encoding", "user-agent"]
                #expect(
                    crossed.headers.fields.allSatisfy { allowed.contains($0.name.lowercased()) }, "\(crossed.headers)")
                // On the same origin the secrets are sent along.
                let kept = try #require(first.requests(to: "/kept").first)
                #expect(kept.headers["Authorization"] == "Bearer hunter2" && kept.headers["X-Custom"] == "custom")
            }
        }
    }

    @Test func theWayBackDoesNotBringTheSecretsAgain() async throws {
        try await withTestServer { first in
            try await withTestServer { second in
                let place = try Workplace()
                first.script("/f", [], afterwards: .redirect(to: second.url("/g")))
                second.script("/g", [], afterwards: .redirect(to: first.url("/h")))
                first.serve("/h", .text("there"))
                try place.jobs([download(first.url("/f"), to: "f", #""headers": {"Authorization": {"env": "TOKEN"}}"#)])
                var command = place.command(["run", "jobs.json"])
                command.environment["TOKEN"] = "Bearer hunter2"
                #expect(try await command.run().exitCode == 0)
                #expect(first.requests(to: "/h").first?.headers["Authorization"] == nil)
            }
        }
    }

    @Test func aRedirectWithUserinfoShowsNone() async throws {
        try await withTestServer { server in
            let place = try Workplace()
            server.serve("/g", .text("there"))
            server.script("/f", [], afterwards: .redirect(to: "http://eve:hunter2@127.0.0.1:\(server.port)/g"))
            let result = try await run(server, "", place)
            #expect(!result.standardOutput.contains("hunter2") && !result.standardError.contains("hunter2"))
            #expect(try place.secretIsNowhere("hunter2"))
        }
    }

    @Test func aRedirectWithoutATargetIsReported() async throws {
        try await withTestServer { server in
            server.script("/f", [], afterwards: .status(302))
            let event = try failure(try await run(server))
            #expect(event["message"]?.string == "302 without a usable Location")
        }
    }
}

extension Workplace {
    /// Returns whether no file of the folder except those named contains the text, in any stored form.
    func secretIsNowhere(_ secret: String, but exceptions: Set<String> = []) throws -> Bool {
        let needle = Data(secret.utf8)
        for file in try folder.files() where !exceptions.contains(file) && !file.hasSuffix(".sock") {
            if try folder.data(file).range(of: needle) != nil {
                Issue.record("\(secret) stands in \(file)")
                return false
            }
        }
        return true
    }
}

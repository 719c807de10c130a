import Foundation
import Synchronization
import Testing
import TransferCrypto
import TransferTestServer
import TransferTestSupport

/// `onFinish` with a webhook.
@Suite struct WebhookTests {
    /// A record of the posted requests.
    private final class Inbox: Sendable {
        private let posts = Mutex<[Request]>([])
        private let answers: Mutex<[Response]>

        init(_ answers: [Response] = []) { self.answers = Mutex(answers) }

        func take(_ request: Request) -> Response {
            posts.withLock { $0.append(request) }
            return answers.withLock { $0.isEmpty ? Response(status: 204) : $0.removeFirst() }
        }

        var all: [Request] { posts.withLock { $0 } }
    }

    private static let settings = #""defaults": {"retry": {"scale": 0, "jitter": false, "limit": 2}}, "#

    private func hook(_ server: TestServer, _ more: String = "") -> String {
        Self.settings + #""onFinish": {"url": "\#(server.url("/hook"))"\#(more)}, "#
    }

    private func run(_ place: Workplace) async throws -> ProcessResult {
        var command = place.command(["run", "jobs.json", "--json"])
        command.environment["HOOK_KEY"] = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"
        return try await command.run()
    }

    @Test func aSignedMessageIsResentWithTheSameIDUntilItIsAccepted() async throws {
        try await withTestServer { server in
            let place = try Workplace("webhook")
            let inbox = Inbox([Response(status: 503), Response(status: 503)])
            server.handle("POST", "/hook") { inbox.take($0) }
            server.serve("/a", .text("abc"))
            try place.jobs(
                [download(server.url("/a"), to: "a", #""headers": {"X-Own": "1"}"#)],
                extra: hook(server, #", "secret": {"env": "HOOK_KEY"}"#))
            let result = try await run(place)
            #expect(result.exitCode == 0, "\(result)")
            let posts = inbox.all
            #expect(posts.count == 3 && Set(posts.map { $0.head.headers["webhook-id"] }).count == 1)
            let post = try #require(posts.last)
            let id = try #require(post.head.headers["webhook-id"])
            let time = try #require(post.head.headers["webhook-timestamp"])
            let body = String(decoding: post.body, as: UTF8.self)
            let message = try JSONValue.parse(Data(body.utf8))
            #expect(message["id"]?.string == id && message["event"]?.string == "batch.finished")
            #expect(abs((Double(time) ?? 0) - Date().timeIntervalSince1970) < 60)
            let key = [UInt8](try #require(Data(base64Encoded: "MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw")))
            let code = try MessageAuthentication.sha256(Array("\(id).\(time).\(body)".utf8), key: key)
            #expect(post.head.headers["webhook-signature"] == "v1,\(Data(code).base64EncodedString())")
            #expect(post.head.headers["Content-Type"] == "application/json")
            // The field is meant for the job's own server.
            #expect(post.head.headers["X-Own"] == nil)
            #expect(!result.standardOutput.contains("MfKQ9r8") && !result.standardError.contains("MfKQ9r8"))
        }
    }

    @Test func noRedirectIsFollowed() async throws {
        try await withTestServer { server in
            let place = try Workplace("redirected")
            let elsewhere = server.url("/elsewhere")
            server.handle("POST", "/hook") { _ in Response(status: 307, headers: ["Location": elsewhere]) }
            server.serve("/a", .text("abc"))
            try place.jobs([download(server.url("/a"), to: "a")], extra: hook(server))
            let result = try await run(place)
            #expect(result.exitCode == 1, "\(result)")
            #expect(server.requests(to: "/elsewhere").isEmpty)
            let failed = try #require(try result.events().named("hook.failed").first)
            #expect(failed["message"]?.string?.contains("307") == true && failed["attempts"]?.int == 1, "\(failed)")
        }
    }

    @Test func aURLMayBeASecretAndAMissingOneIsReported() async throws {
        try await withTestServer { server in
            let place = try Workplace("named")
            server.handle("POST", "/hook") { _ in Response(status: 200) }
            server.serve("/a", .text("abc"))
            let named = Self.settings + #""onFinish": {"url": {"env": "HOOK_URL"}}, "#
            try place.jobs([download(server.url("/a"), to: "a")], extra: named)
            var command = place.command(["run", "jobs.json", "--json"])
            let missing = try await command.run()
            #expect(missing.exitCode == 1 && missing.standardError.contains("HOOK_URL is not set"), "\(missing)")
            command.environment["HOOK_URL"] = server.url("/hook?token=5ecret")
            let result = try await command.run()
            #expect(result.exitCode == 0, "\(result)")
            #expect(server.requests(to: "/hook").count == 1)
            #expect(!result.standardOutput.contains("5ecret") && !result.standardError.contains("5ecret"))
        }
    }

    /// Returns a handler that accepts a message from a client with the login.
    private func guarded(_ inbox: Inbox) -> @Sendable (Request) -> Response {
        { request in
            guard request.head.headers["Authorization"] != nil else {
                return Response(status: 401, headers: ["WWW-Authenticate": "Basic realm=\"hooks\""])
            }
            return inbox.take(request)
        }
    }

    @Test func theConfigurationSetsTheConnectionToTheWebhook() async throws {
        try await withTestServer { server in
            try await withTestProxy(.http) { proxy in
                let place = try Workplace("configured")
                let inbox = Inbox()
                let hooks = "http://hooks.example:\(server.port)"
                server.handle("POST", "/hook", guarded(inbox))
                server.serve("/a", .text("abc"))
                let section =
                    #""proxy": "\#(proxy.url("http"))", "headers": {"X-Hook": "1"}, "#
                    + #""auth": {"user": "hook", "password": {"env": "HOOK_PASSWORD"}}"#
                try place.folder.write(
                    #"{"version": 1, "origins": {"\#(hooks)": {\#(section)}, "127.0.0.1": {"proxy": ""}}}"#,
                    to: "config.json")
                let own =
                    #""headers": {"X-Own": "1"}, "auth": {"user": "job", "password": {"env": "JOB_PASSWORD"}}, "#
                    + #""onFinish": {"url": "\#(hooks)/hook"}"#
                try place.jobs(
                    [download(server.url("/a"), to: "a", own)],
                    extra: Self.settings + #""onFinish": {"url": "\#(hooks)/hook"}, "#)
                var command = place.command(["run", "jobs.json", "--json", "--config", "config.json"])
                command.environment["HOOK_PASSWORD"] = "hunter2"
                command.environment["JOB_PASSWORD"] = "hunter3"
                let result = try await command.run()
                #expect(result.exitCode == 0, "\(result)")
                // The messages are those of the job's end and the batch's end.
                #expect(inbox.all.count == 2)
                let login = "Basic \(Data("hook:hunter2".utf8).base64EncodedString())"
                for post in inbox.all {
                    #expect(post.head.headers["Authorization"] == login && post.head.headers["X-Hook"] == "1")
                    #expect(post.head.headers["X-Own"] == nil)
                }
                #expect(proxy.records.count >= 1 && !"\(result)".contains("hunter"))
            }
        }
    }

    @Test func noLoginOfAJobOrOfAllJobsGoesToAWebhook() async throws {
        try await withTestServer { server in
            let place = try Workplace("own-login")
            server.handle("POST", "/hook", guarded(Inbox()))
            server.serve("/a", .text("abc"))
            let login = #""auth": {"user": "all", "password": {"env": "PASSWORD"}}, "headers": {"X-All": "1"}"#
            try place.folder.write(#"{"version": 1, "defaults": {\#(login)}}"#, to: "config.json")
            try place.jobs(
                [download(server.url("/a"), to: "a", #""auth": {"user": "job", "password": {"env": "PASSWORD"}}"#)],
                extra: hook(server))
            var command = place.command(["run", "jobs.json", "--json", "--config", "config.json"])
            command.environment["PASSWORD"] = "hunter2"
            let result = try await command.run()
            #expect(result.exitCode == 1, "\(result)")
            let posts = server.requests(to: "/hook")
            #expect(!posts.isEmpty)
            #expect(posts.allSatisfy { $0.headers["Authorization"] == nil && $0.headers["X-All"] == nil })
        }
    }

    @Test func anOptionMayBeAWebhook() async throws {
        try await withTestServer { server in
            let place = try Workplace("get")
            let inbox = Inbox()
            server.handle("POST", "/hook") { inbox.take($0) }
            server.serve("/a", .text("abc"))
            let result = try await place.run("get", server.url("/a"), "--on-finish", server.url("/hook"))
            #expect(result.exitCode == 0, "\(result)")
            #expect(inbox.all.count == 1 && inbox.all[0].head.headers["webhook-signature"] == nil)
        }
    }
}
